"""Schedule rules: for a target family, how kernels of some form are run.

A rule is one class in a file of `rules/<family>/`; it is found by folder, like a pass. Of the rules that match a kernel
the one with the highest `BENEFIT` makes the plan for it: how long it takes, in which layouts it wants its parameters,
and its schedule.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from tilework.dialects.schedule import SequenceOp
from tilework.dialects.schedule.builder import ScheduleBuilder
from tilework.dialects.te import KernelOp
from tilework.targets import Target

Machine = TypeVar("Machine", bound=Target)
"""The targets of a family."""


@dataclass(frozen=True)
class Packing:
    """A layout for an argument: what `graph.pack` makes of its `axis` with that `block`."""

    argument: int
    axis: int
    block: int


@dataclass(frozen=True, eq=False)
class Plan(ABC, Generic[Machine]):
    """What a rule does with a kernel. What is asked of it are names and numbers, none of them a value of the IR.

    kernel: the plan's own, which nobody changes. A plan is for every kernel of the same text, and lasts longer than the
    one that it was made for. parameters: the arguments, by number, that are known when a model is compiled, so that
    another layout of them costs nothing when it runs.
    """

    kernel: KernelOp
    target: Machine
    parameters: Set[int]

    @property
    def cycles(self) -> float:
        """An estimate of how long one core takes, to compare kernels that compute the same in different ways.

        The parameters are taken to have the layouts that `packings` asks for. A rule that does not estimate keeps its
        kernels as they are: none takes less than no time.
        """
        return 0.0

    @property
    def packings(self) -> Sequence[Packing]:
        """Layouts in which the schedule would rather read some of the parameters."""
        return ()

    @property
    def computes_in_parts(self) -> bool:
        """Whether the schedule computes what one reduction reads of another part by part, right before it is read.

        One kernel of both is better than two then.
        """
        return False

    @abstractmethod
    def write(self, s: ScheduleBuilder) -> None:
        """Write the schedule."""

    def schedule(self, kernel: KernelOp) -> SequenceOp:
        """The schedule for a kernel with the text of the plan's own, whatever its name."""
        s = ScheduleBuilder(kernel)
        self.write(s)
        return s.finish()


class ScheduleRule(ABC, Generic[Machine]):
    """Base of the rules for a family of targets. No rule names a model or a layer size."""

    BENEFIT: ClassVar[int] = 1

    @abstractmethod
    def match(self, kernel: KernelOp, target: Machine, parameters: Set[int]) -> Plan[Machine] | None:
        """The plan for a kernel that has the form that this rule is for, which may keep the kernel; None for another.

        The arguments numbered `parameters` may get other layouts. The kernel is not changed.
        """
