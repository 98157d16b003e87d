"""A schedule rule: for a target family, how kernels of some form are run.

A rule is one class in a file of `rules/<family>/`; it is found by folder, like a pass. Of the rules that match a kernel
the one with the highest `BENEFIT` writes its schedule.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence, Set
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from tilework.dialects.schedule import SequenceOp
from tilework.dialects.te import KernelOp
from tilework.targets import Target

Machine = TypeVar("Machine", bound=Target, contravariant=True)
"""The targets of a family."""


@dataclass(frozen=True)
class Packing:
    """A layout for an argument: what `graph.pack` makes of its `axis` with that `block`."""

    argument: int
    axis: int
    block: int


class ScheduleRule(ABC, Generic[Machine]):
    """Base of the rules for a family of targets. No rule names a model or a layer size."""

    BENEFIT: ClassVar[int] = 1

    @abstractmethod
    def matches(self, kernel: KernelOp, target: Machine) -> bool:
        """Whether the kernel has the form that this rule is for."""

    @abstractmethod
    def schedule(self, kernel: KernelOp, target: Machine) -> SequenceOp:
        """The schedule of a kernel that matches."""

    def cycles(self, kernel: KernelOp, target: Machine, parameters: Set[int]) -> float:
        """An estimate of how long one core takes, to compare kernels that compute the same in different ways.

        The arguments numbered `parameters` are taken to have the layouts that `packings` asks for. A rule that does not
        estimate keeps its kernels as they are: none takes less than no time.
        """
        return 0.0

    def computes_in_parts(self, kernel: KernelOp, target: Machine) -> bool:
        """Whether its schedule computes what one reduction reads of another part by part, right before it is read.

        One kernel of both is better than two then.
        """
        return False

    def packings(self, kernel: KernelOp, target: Machine, parameters: Set[int]) -> Sequence[Packing]:
        """Layouts in which the schedule would rather read some of the arguments numbered `parameters`.

        They are known when a model is compiled, so that another layout costs nothing when it runs.
        """
        return ()
