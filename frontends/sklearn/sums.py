"""The one pass over the rows that sums the products of their numbers, once it is native code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tilework.analysis.statistics_basis import ONE, Basis
from tilework.analysis.statistics_basis import Part as Places
from tilework.frontends.sklearn.emitter import Array, Unsupported
from tilework.frontends.sklearn.engine import Engine
from tilework.frontends.sklearn.programs import alone, parts_of
from tilework.frontends.sklearn.training_data import Rows
from tilework.interpreters.graph import find_function
from tilework.runtime.module import Module
from tilework.runtime.pipelines.folding import State
from tilework.runtime.pipelines.interface import Input, Part
from tilework.runtime.pipelines.source import digest_of
from tilework.transforms.matrix.split_statistics import ROWS

LEAST_SPREAD = 1e-6
"""Below this share of the squares about the shift a variance has lost too many digits."""


SUMS = "sums of products"
"""What a pass over the rows computes."""


@dataclass(frozen=True)
class Sums:
    """The sums of a program: what they are of, and what computes them.

    basis: the numbers whose products are summed. parts: in which arrays the table lies. program: a hash of its text.
    """

    basis: Basis
    parts: tuple[Part, ...]
    program: bytes
    native: Module

    @staticmethod
    def of(module: ModuleOp, inputs: dict[str, Input], engine: Engine) -> Sums:
        """Those of a module that has gone through `optimize-training`."""
        rows = find_function(module, ROWS)
        assert rows is not None
        tables = list(rows.function_type.inputs)[:-1]
        program = alone(rows)
        text = sha256(str(program).encode()).digest()
        return Sums(Basis.of(tables), parts_of(tables[0], inputs), text, engine.compile(program))

    def placed(self, shifts: Sequence[Array]) -> Array:
        """The shift of each number of the basis, from those of the arrays of numbers, one after the other."""
        made = np.zeros((self.basis.size, 1))
        made[self.basis.values, 0] = np.concatenate(shifts)
        return made

    def of_groups(self, engine: Engine, data: Rows, shift: Array, groups: Array, count: int) -> list[State]:
        """What is known of each group of rows: sums, and extremes where they are asked for."""
        inputs = digest_of(shift, groups) if data.target is None else digest_of(shift, groups, data.target)
        return data.derived.of(
            SUMS,
            (self.program, self.parts, inputs, engine.client is None),  # workers add in another order
            lambda: engine.states(self.native, data, self.parts, shift, groups, count),
        )

    def require_numbers(self, state: State) -> None:
        """Raise Unsupported for the state of rows in which every number of a column is missing."""
        unknown = [name for name, place in self.basis.parts[0].there.items() if not state[0][ONE, place]]
        if unknown:
            raise Unsupported(f"rows that are to be learned from have no value of {', '.join(unknown)}")

    def far_from_shift(self, state: State, places: Places) -> list[str]:
        """The columns of which the rows with this state say too little: they lie far from the shift, close together.

        Rows that all lie at the shift say everything.
        """
        squares = self.squares(state, places)
        means = state[0][ONE, [*places.values.values()]] / state[0][ONE, [*places.there.values()]]
        is_far = squares - means**2 < LEAST_SPREAD * squares
        return [name for name, far in zip(places.values, is_far, strict=True) if far]

    def squares(self, state: State, places: Places) -> Array:
        """The mean square of the distances of each column's numbers from the shift, in the rows with this state."""
        values = [*places.values.values()]
        return state[0][values, values] / state[0][ONE, [*places.there.values()]]
