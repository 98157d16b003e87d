"""The one pass over the rows that sums the products of their numbers, once it is native code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tilework.analysis.statistics_basis import Basis
from tilework.frontends.sklearn.emitter import Array
from tilework.frontends.sklearn.engine import Engine
from tilework.frontends.sklearn.programs import alone, parts_of
from tilework.frontends.sklearn.training_data import Rows
from tilework.interpreters.graph import find_function
from tilework.runtime.module import Module
from tilework.runtime.pipelines.folding import State
from tilework.runtime.pipelines.interface import Input, Part
from tilework.transforms.matrix.split_statistics import ROWS


@dataclass(frozen=True)
class Sums:
    """basis: the numbers whose products are summed. parts: in which arrays the table lies."""

    basis: Basis
    parts: tuple[Part, ...]
    native: Module

    @staticmethod
    def of(module: ModuleOp, inputs: dict[str, Input], engine: Engine) -> Sums:
        """Those of a module that has gone through `optimize-training`."""
        rows = find_function(module, ROWS)
        assert rows is not None
        tables = list(rows.function_type.inputs)[:-1]
        return Sums(Basis.of(tables), parts_of(tables[0], inputs), engine.compile(alone(rows)))

    def placed(self, shifts: Sequence[Array]) -> Array:
        """The shift of each number of the basis, from those of the arrays of numbers, one after the other."""
        made = np.zeros((self.basis.size, 1))
        made[self.basis.values, 0] = np.concatenate(shifts)
        return made

    def of_groups(self, engine: Engine, data: Rows, shift: Array, groups: Array, count: int) -> list[State]:
        """What is known of each group of rows: sums, and extremes where they are asked for."""
        return engine.states(self.native, data, self.parts, shift, groups, count)
