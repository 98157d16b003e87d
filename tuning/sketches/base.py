"""What a sketch is made of: for each stage of a kernel a decision, made by a rule.

A rule is one class in a file of `tuning/sketches/<family>/`, in the tree or in a plugin; it is found by folder. It says
in which ways a stage may run. A decision is made of names and numbers, so that one sketch shares it with others; what
the search may choose it leaves to knobs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from tilework.dialects.schedule import SequenceOp
from tilework.dialects.te import ComputeOp, KernelOp
from tilework.targets import Target
from tilework.tuning.sketches.writer import SketchWriter


@dataclass(frozen=True)
class Decision(ABC):
    """How the stage runs."""

    stage: str

    @property
    def covers(self) -> frozenset[str]:
        """The stages that it decides about."""
        return frozenset({self.stage})

    @property
    def levels(self) -> Sequence[str]:
        """Names of the loops in which stages that it reads may be computed, the outermost first."""
        return ()

    def fits(self, is_inside: bool) -> bool:
        """Whether the stage may run so inside a loop of what reads it; or else at the root."""
        return True

    def limits(self, kernel: KernelOp, target: Target) -> Sequence[Limit]:
        """What the knobs that it writes must be within: what is beyond is never measured."""
        return ()

    @abstractmethod
    def rewrite(self, w: SketchWriter) -> None:
        """Write the primitives that make new stages."""

    @abstractmethod
    def write(self, w: SketchWriter) -> None:
        """Write the loops of the stage, which is computed at its place."""


class SketchRule(ABC):
    """Base of the rules."""

    @abstractmethod
    def decisions(self, compute: ComputeOp, kernel: KernelOp, target: Target) -> Sequence[Decision]:
        """Ways to run a stage; none for a stage of a form that the rule is not for."""


@dataclass(frozen=True)
class Limit:
    """The product of some knobs is at most so much; a knob that the schedule does not have counts as one."""

    knobs: tuple[str, ...]
    most: int

    def allows(self, values: Mapping[str, int]) -> bool:
        """Whether these values, by knob, are within the limit."""
        return prod(values.get(knob, 1) for knob in self.knobs) <= self.most


@dataclass(frozen=True)
class Sketch:
    """A schedule with knobs, and what their values must be within. name: what was decided, for people."""

    name: str
    sequence: SequenceOp
    limits: tuple[Limit, ...] = ()
