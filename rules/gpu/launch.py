"""Launches: what a device runs at once, and the rules for how it does.

A kernel is put together from launches. A rule for launches of some form is one class in a file of
`rules/gpu/launches/`; it is found by folder, like a rule for kernels. Of those that match a launch the one with the
highest `BENEFIT` schedules it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from tilework.dialects.schedule.builder import ScheduleBuilder
from tilework.dialects.te import ComputeOp
from tilework.rules.gpu.product_form import Product
from tilework.targets.gpu.target import GpuTarget


@dataclass(frozen=True, eq=False)
class Launch:
    """A stage, and what is computed inside of it; stages are as they look once others are inlined.

    root: the stage. summed: the reduction whose results it takes element by element, itself perhaps; None where it
    takes those of none. product: that reduction, if it multiplies two tensors and is not the root of something else.
    """

    root: ComputeOp
    summed: ComputeOp | None
    product: Product | None


class LaunchSchedule(ABC):
    """How a launch runs. It is made of names and numbers, none of them a value of the IR."""

    @abstractmethod
    def write(self, s: ScheduleBuilder) -> None:
        """Write the part of the kernel's schedule that is about the launch."""


class LaunchRule(ABC):
    """Base of the rules for launches. No rule names a model or a layer size."""

    BENEFIT: ClassVar[int] = 1

    @abstractmethod
    def match(self, launch: Launch, target: GpuTarget) -> LaunchSchedule | None:
        """How a launch of the form runs that this rule is for; None for another. The launch is not changed."""
