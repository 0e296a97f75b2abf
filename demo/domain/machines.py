"""The machines of the story: who has them and what they are for. `demo/fleet.yaml` declares the same ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from demo.domain.noise import key_of
from fleet.domain.gpu_models import board

H100, H200, A100 = "H100-SXM5-80GB", "H200-SXM-141GB", "A100-SXM4-80GB"


class Habit(StrEnum):
    """What a machine is for."""

    TRAINING = "training"  # jobs of days at 90 percent
    BATCH = "batch"  # jobs of hours, with nothing held between them
    SERVING = "serving"  # follows the day; hardly asked at night
    NOTEBOOK = "notebook"  # office hours, and memory held long after
    SIMULATION = "simulation"  # always on, never much
    BY_HAND = "by_hand"  # somebody's programs, under nobody's name


@dataclass(frozen=True)
class Work:
    """The jobs of a machine: ``hours`` long, then ``pause`` hours of nothing; ``name`` as users see it.

    Machines of one ``name`` work on one job together. ``offset`` hours shift where jobs begin.
    """

    name: str
    hours: float = 0.0
    pause: float = 0.0
    offset: float = 0.0
    gpus: int = 8  # of a machine; the others stay empty


@dataclass(frozen=True)
class Machine:
    """One machine."""

    host: str
    account: str
    team: str  # empty: nobody's
    model: str
    habit: Habit
    work: Work
    gpus: int = 8
    scheduler: str = "pod"  # pod, slurm, none: how jobs show in labels

    @property
    def memory_mib(self) -> float:
        """The memory of each GPU."""
        found = board(self.model)
        assert found is not None
        return float(found.memory_total_mib)

    @property
    def power_limit_watts(self) -> float:
        """The power limit of each GPU."""
        found = board(self.model)
        assert found is not None
        return float(found.power_limit_watts)

    def uuid(self, index: int) -> str:
        """Give the identity of a GPU."""
        parts = [key_of(f"{self.host} {index} {part}") for part in range(4)]
        text = "".join(f"{part:08x}" for part in parts)
        return f"GPU-{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def _some(count: int, group: Machine) -> list[Machine]:
    """Give machines like ``group``, numbered."""
    return [replace(group, host=f"{group.host}-{number:02d}") for number in range(1, count + 1)]


_WAVE = Work("llm-70b-pretrain", 150, 1.5, offset=40)
_ALIGN = Work("dpo-align", 44, 0.75, offset=5)
_REWARD = Work("reward-model", 260, 2, offset=8)
_DETECT = Work("detector-train", 9, 1.25)
_TRACK = Work("tracker-train", 13, 0.75, offset=4, gpus=6)
_VOICE = Work("tts-finetune", 20, 0.75, offset=9)
_SIM = Work("warehouse-sim", 400, 1, offset=30)
_GRASP = Work("grasp-policy", 11, 1.0, offset=2)
_DEDUP = Work("dedup-embed", 7, 0.75, offset=3)
_PEOPLE = ("chloe", "ravi", "marta", "jonas", "aiko", "pedro", "nadia", "tom")
_GROUPS = (
    (6, Machine("cw-fnd", "coreweave-train", "foundation", H100, Habit.TRAINING, _WAVE)),
    (2, Machine("cw-pst", "coreweave-train", "post-training", H200, Habit.TRAINING, _ALIGN)),
    (4, Machine("aws-inf", "aws-prod", "inference", H100, Habit.SERVING, Work("chat-gateway"))),
    (3, Machine("aws-vis", "aws-prod", "vision", H100, Habit.BATCH, _DETECT)),
    (2, Machine("aws-spc", "aws-prod", "speech", H100, Habit.BATCH, _VOICE)),
    (1, Machine("aws-misc", "aws-prod", "", H100, Habit.BY_HAND, Work(""), scheduler="none")),
    (2, Machine("lam-rob", "lambda-dev", "robotics", A100, Habit.BATCH, _GRASP)),
    (8, Machine("lam-apr", "lambda-dev", "applied-research", H100, Habit.NOTEBOOK, Work("jupyter"), gpus=1)),
    (4, Machine("fra-dat", "fra1-owned", "data-platform", A100, Habit.BATCH, _DEDUP, scheduler="slurm")),
)
_SPECIAL: dict[str, tuple[Habit, Work]] = {
    "cw-pst-02": (Habit.TRAINING, _REWARD),
    "aws-vis-03": (Habit.BATCH, _TRACK),
    "lam-rob-01": (Habit.SIMULATION, _SIM),
    **{f"lam-apr-{n:02d}": (Habit.NOTEBOOK, Work(f"jupyter-{who}")) for n, who in enumerate(_PEOPLE, start=1)},
}


def _as_itself(machine: Machine) -> Machine:
    habit, work = _SPECIAL.get(machine.host, (machine.habit, machine.work))
    return replace(machine, habit=habit, work=work)


MACHINES = tuple(_as_itself(machine) for count, group in _GROUPS for machine in _some(count, group))
