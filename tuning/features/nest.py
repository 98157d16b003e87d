"""Features of all configurations of a schedule with knobs, from one lowering."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilework.algebra.errors import UsageError
from tilework.algebra.index_expr import Key
from tilework.dialects.schedule import KnobAttr, SequenceOp, knobs_of
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.te import KernelOp
from tilework.scheduling.open_knobs import KnobMustBeSet, OpenKnobs, symbol_of
from tilework.targets import Target
from tilework.targets.cpu.target import CpuTarget
from tilework.tuning.features import columns
from tilework.tuning.features.limits import within_limits
from tilework.tuning.features.lowering import lowered
from tilework.tuning.features.measured import Measured, main_body
from tilework.tuning.features.numbers import Array, Number
from tilework.tuning.features.program import Loop, Program
from tilework.tuning.features.reading import read_program

ROWS = 8192
"""So many configurations are worked out at a time: arrays of them stay near the core."""

Values = Mapping[str, "NDArray[Any] | Sequence[int]"]


@dataclass(frozen=True)
class Lowered:
    """The program of one lowering, and what is known of it for all choices of its open knobs."""

    program: Program
    knobs: OpenKnobs
    lengths: Mapping[Key, int]
    main: int


class SymbolicNest:
    """The loop nest of a kernel under a schedule, whose knobs are symbols.

    It is lowered when it is made; where loops are not alike for all choices of some knobs, once for each combination of
    those. `set_apart` names them.
    """

    def __init__(self, kernel: KernelOp, sequence: SequenceOp, target: Target):
        if not isinstance(target, CpuTarget):
            raise UsageError(f"features are those of processors; '{target}' is none")
        if kernel.symbols:
            sizes = ", ".join(kernel.symbols)
            raise UsageError(f"kernel @{kernel.sym_name.data} has sizes that are not known: {sizes}; give them numbers")
        self._kernel, self._sequence, self._target = kernel, sequence, target
        self._knobs = knobs_of(sequence)
        self.set_apart: tuple[str, ...] = ()
        self._lowered: dict[tuple[int, ...], Lowered | None] = {}
        self._begin()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features, the same for every nest."""
        return columns.names()

    def features(self, values: Values) -> Array:
        """The features of n configurations as an array of n rows, a column for each name.

        values: for every knob, n of its choices. Rows of configurations that the schedule refuses are 0. Raises
        UsageError where a knob is missing or unknown, and for numbers that are no choices.
        """
        return self._for_all(values, len(self.names), self._feature_rows)

    def valid(self, values: Values) -> NDArray[np.bool_]:
        """Which of n configurations are within all limits, and not refused. values: as `features` takes them."""
        return self._for_all(values, 1, self._limit_rows)[:, 0] > 0

    def features_and_valid(self, values: Values) -> tuple[Array, NDArray[np.bool_]]:
        """Both, for which much of the work is the same."""

        def rows(lowered: Lowered, measured: Measured, count: int) -> Array:
            return np.hstack([self._feature_rows(lowered, measured, count), self._limit_rows(lowered, measured, count)])

        table = self._for_all(values, len(self.names) + 1, rows)
        return table[:, :-1], table[:, -1] > 0

    def _feature_rows(self, lowered: Lowered, measured: Measured, count: int) -> Array:
        return columns.table(measured, lowered.main, count)

    def _limit_rows(self, lowered: Lowered, measured: Measured, count: int) -> Array:
        return np.broadcast_to(np.asarray(within_limits(measured, self._target), float), (count,))[:, None]

    # -- lowering

    def _begin(self) -> None:
        """Lower with all knobs open, or with as many as can be."""
        while True:
            first = tuple(self._knobs[name].chosen.value.data for name in self.set_apart)
            try:
                self._lowered[first] = self._lower(first)
                return
            except KnobMustBeSet as needed:
                self.set_apart = (*self.set_apart, *needed.knobs)
            except CompileError:
                # it may be the knobs that are open, of which one choice or another is refused
                if len(self.set_apart) == len(self._knobs):
                    raise
                self.set_apart = tuple(self._knobs)

    def _lower(self, choice: tuple[int, ...]) -> Lowered:
        """Lower with these values of the knobs that are set apart."""
        knobs = OpenKnobs({n: k.values for n, k in self._knobs.items() if n not in self.set_apart})
        nest = lowered(self._kernel, self._sequence, knobs, dict(zip(self.set_apart, choice, strict=True)))
        program = read_program(nest)
        lengths = {loop.index: _length(loop, knobs) for body in program.bodies for loop in body.loops}
        middle: dict[Key, Number] = {symbol_of(n): float(_middle(self._knobs[n])) for n in knobs.choices}
        return Lowered(program, knobs, lengths, main_body(Measured(program, middle, lengths, self._target)))

    def _lowered_for(self, choice: tuple[int, ...]) -> Lowered | None:
        """The same, once for each; None where the schedule is refused."""
        if choice not in self._lowered:
            try:
                self._lowered[choice] = self._lower(choice)
            except CompileError:
                self._lowered[choice] = None
        return self._lowered[choice]

    # -- rows

    def _for_all(self, values: Values, width: int, rows: Callable[[Lowered, Measured, int], Array]) -> Array:
        """What `rows` gives for each piece of the configurations, in their order."""
        given = self._checked(values)
        count = len(next(iter(given.values()))) if given else 1
        result = np.zeros((count, width))
        for choice, where in self._groups(given, count):
            found = self._lowered_for(choice)
            if found is None:
                continue
            table = np.empty((len(where), width))
            for at in range(0, len(where), ROWS):
                piece = where[at : at + ROWS]
                symbols: dict[Key, Number] = {symbol_of(n): given[n][piece].astype(float) for n in found.knobs.choices}
                measured = Measured(found.program, symbols, found.lengths, self._target)
                table[at : at + ROWS] = rows(found, measured, len(piece))
            result[where] = table
        return result

    def _groups(self, given: Mapping[str, Array], count: int) -> Iterator[tuple[tuple[int, ...], Array]]:
        """The configurations by the values of the knobs that are set apart."""
        if not self.set_apart:
            yield (), np.arange(count)
            return
        apart = np.stack([given[name] for name in self.set_apart], axis=1)
        choices, which = np.unique(apart, axis=0, return_inverse=True)
        for at, choice in enumerate(choices):
            yield tuple(map(int, choice)), np.flatnonzero(which.ravel() == at)

    def _checked(self, values: Values) -> Mapping[str, Array]:
        """The values as arrays."""
        known = ", ".join(self._knobs) or "none"
        for name in values:
            if name not in self._knobs:
                raise UsageError(f"the schedule has no knob '{name}'; its knobs are {known}")
        if missing := [name for name in self._knobs if name not in values]:
            raise UsageError(f"no values for knob '{missing[0]}'; the schedule's knobs are {known}")
        given = {name: np.asarray(values[name]) for name in self._knobs}
        lengths = {name: array.shape for name, array in given.items()}
        for name, array in given.items():
            if array.ndim != 1 or array.shape != next(iter(lengths.values())):
                texts = ", ".join(f"'{n}' of shape {list(shape)}" for n, shape in lengths.items())
                raise UsageError(f"values of knobs are one row of numbers for all knobs, not {texts}")
            odd = array[~np.isin(array, self._knobs[name].values)]
            if odd.size:
                listed = ", ".join(map(str, self._knobs[name].values))
                raise UsageError(f"knob '{name}' cannot be {odd[0]}; its choices are {listed}")
        return given


def symbolic_nest(kernel: KernelOp, sequence: SequenceOp, target: Target) -> SymbolicNest:
    """The nest of a kernel under a schedule with knobs, neither of which is changed.

    Raises CompileError for a schedule that is refused, and UsageError for a kernel with symbolic sizes or a target that
    is no processor.
    """
    return SymbolicNest(kernel, sequence, target)


def _length(loop: Loop, knobs: OpenKnobs) -> int:
    """How often a loop runs at most, whatever the knobs are set to; a large number where that varies in the nest."""
    return max(1, min((knobs.most(end) for end in loop.ends), default=1 << 20))


def _middle(knob: KnobAttr) -> int:
    return sorted(knob.values)[len(knob.values) // 2]
