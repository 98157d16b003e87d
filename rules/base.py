"""A schedule rule: for a target family, how kernels of some form are run.

A rule is one class in a file of `rules/<family>/`; it is found by folder, like a pass. Of the rules that match a kernel
the one with the highest `BENEFIT` writes its schedule.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from tilework.dialects.schedule import SequenceOp
from tilework.dialects.te import KernelOp
from tilework.targets.target import Target


class ScheduleRule(ABC):
    """Base of the rules. No rule names a model or a layer size."""

    BENEFIT: ClassVar[int] = 1

    @abstractmethod
    def matches(self, kernel: KernelOp, target: Target) -> bool:
        """Whether the kernel has the form that this rule is for."""

    @abstractmethod
    def schedule(self, kernel: KernelOp, target: Target) -> SequenceOp:
        """The schedule of a kernel that matches."""
