"""The tables of `billing`: one file per concept."""

from billing.models.cost import GpuHourCost, InstanceHourCost, PricingBasis, StaleDay, TeamDay
from billing.models.declared import Budget, Commitment, Mapping
from billing.models.price import InstancePrice, Price

__all__ = [
    "Budget",
    "Commitment",
    "GpuHourCost",
    "InstanceHourCost",
    "InstancePrice",
    "Mapping",
    "Price",
    "PricingBasis",
    "StaleDay",
    "TeamDay",
]
