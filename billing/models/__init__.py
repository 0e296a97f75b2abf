"""The tables of `billing`: one file per concept."""

from billing.models.cost import GpuHourCost, InstanceHourCost, MachineDay, PricingBasis, StaleDay, TeamDay
from billing.models.declared import Budget, Commitment, Mapping
from billing.models.price import InstancePrice, Price

__all__ = [
    "Budget",
    "Commitment",
    "GpuHourCost",
    "InstanceHourCost",
    "InstancePrice",
    "MachineDay",
    "Mapping",
    "Price",
    "PricingBasis",
    "StaleDay",
    "TeamDay",
]
