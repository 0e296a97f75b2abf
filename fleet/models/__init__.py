"""The tables of `fleet`: one file per concept."""

from fleet.models.finding import Finding
from fleet.models.gpu import Gpu, GpuPlacement, GpuUse
from fleet.models.gpu_hour import ChangedHour, GpuHour, MeteredSpan, RemeteredHour
from fleet.models.idle_run import IdleRun
from fleet.models.instance import Account, Instance, InstanceState, InstanceVersion
from fleet.models.job import Job
from fleet.models.ownership import Claim, OwnershipRule
from fleet.models.policy import Exemption, IdleRuleVersion, Policy
from fleet.models.power import PowerBaseline
from fleet.models.run import JobRun
from fleet.models.sample import SampleHour
from fleet.models.source import BadSample, Source, SourcePull, Target
from fleet.models.verdict import GpuClock, Verdict
from fleet.models.waiting import Waiting

__all__ = [
    "Account",
    "BadSample",
    "ChangedHour",
    "Claim",
    "Exemption",
    "Finding",
    "Gpu",
    "GpuClock",
    "GpuHour",
    "GpuPlacement",
    "GpuUse",
    "IdleRuleVersion",
    "IdleRun",
    "Instance",
    "InstanceState",
    "InstanceVersion",
    "Job",
    "JobRun",
    "MeteredSpan",
    "OwnershipRule",
    "Policy",
    "PowerBaseline",
    "RemeteredHour",
    "SampleHour",
    "Source",
    "SourcePull",
    "Target",
    "Verdict",
    "Waiting",
]
