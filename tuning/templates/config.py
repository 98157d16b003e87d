"""What a template asks: a configuration that collects what may be chosen, or one in which it is chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tilework.algebra.errors import TileworkError, UsageError, did_you_mean
from tilework.frontends.te.extents import extent_of
from tilework.frontends.te.index import IterVar
from tilework.tuning.templates.entities import (
    Annotate,
    OtherOption,
    Reorder,
    Split,
    annotates,
    filtered,
    orders,
    splits,
)

Entity = Split | Reorder | Annotate | OtherOption


class InstantiationError(TileworkError):
    """A template refuses a configuration."""


class Config:
    """The entities by name, and of each the ones to choose from. chosen: which one, by number; the first by default."""

    def __init__(self, chosen: dict[str, int] | None = None):
        self.options: dict[str, list[Any]] = {}
        self.flop = 0.0
        self._chosen = chosen or {}

    def __getitem__(self, name: str) -> Any:
        if name not in self.options:
            known = did_you_mean(name, self.options)
            raise UsageError(f"the template has defined nothing of the name '{name}'{known}")
        options = self.options[name]
        number = self._chosen.get(name, 0)
        if number >= len(options):
            raise InstantiationError(f"'{name}' has {len(options)} choices here, and number {number} was chosen")
        return options[number]

    @staticmethod
    def axis(of: IterVar | int) -> IterVar | int:
        """What a definition takes: an axis, or an extent."""
        return of

    def define_split(
        self,
        name: str,
        axis: IterVar | int,
        policy: str = "factors",
        num_outputs: int = 2,
        max_factor: int | None = None,
        filter: Callable[[Split], bool] | None = None,  # noqa: A002  AutoTVM's name
        candidate: Sequence[Sequence[int]] = (),
    ) -> None:
        """An axis in so many parts. policy: "factors" that divide it, "power2", "verbose" for all, or "candidate"."""
        self._define(name, splits(_extent(axis), policy, num_outputs, max_factor, candidate), filter)

    def define_reorder(
        self,
        name: str,
        axes: Sequence[IterVar],
        policy: str = "all",
        filter: Callable[[Reorder], bool] | None = None,  # noqa: A002
        candidate: Sequence[Sequence[int]] = (),
    ) -> None:
        """An order of axes. policy: "all", "identity", "interval_all" for one piece of them, or "candidate"."""
        self._define(name, orders(len(axes), policy, candidate), filter)

    def define_annotate(
        self,
        name: str,
        axes: Sequence[IterVar],
        policy: str = "try_unroll_vec",
        filter: Callable[[Annotate], bool] | None = None,  # noqa: A002
    ) -> None:
        """What the axes' loops become. policy: such as "try_unroll", "try_vec", "try_unroll_vec", "bind_gpu"."""
        self._define(name, annotates(len(axes), policy), filter)

    def define_knob(self, name: str, candidate: Sequence[Any]) -> None:
        """Any value of a list."""
        self._define(name, [OtherOption(value) for value in candidate], None)

    def add_flop(self, flop: float) -> None:
        """How many operations the program does."""
        self.flop += flop

    def raise_error(self, message: str) -> None:
        """Refuse this configuration. Raises InstantiationError."""
        raise InstantiationError(message)

    def _define(self, name: str, found: list[Any], keep: Callable[[Any], bool] | None) -> None:
        if name not in self.options:
            self.options[name] = filtered(found, keep, name)


def _extent(axis: IterVar | int) -> int:
    if isinstance(axis, int):
        return axis
    extent = None if axis.dom is None else extent_of(axis).constant
    if extent is None:
        raise UsageError(f"define_split: the extent of axis '{axis.name}' is not a number")
    return extent
