"""The tables of `billing`: one file per concept."""

from billing.models.cost import GpuHourCost, InstanceHourCost, PricingBasis, StaleDay, TeamDay
from billing.models.declared import Budget, Commitment, Mapping
from billing.models.price import InstancePrice, Price
from billing.models.rollup import JobTotal, MachineDay, MachineMonth

__all__ = [
    "Budget",
    "Commitment",
    "GpuHourCost",
    "InstanceHourCost",
    "InstancePrice",
    "JobTotal",
    "MachineDay",
    "MachineMonth",
    "Mapping",
    "Price",
    "PricingBasis",
    "StaleDay",
    "TeamDay",
]
