"""The method `transform` of a fitted estimator as one compiled pass over the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.func import FuncOp

from tilework.frontends.sklearn.emitter import Array
from tilework.frontends.sklearn.engine import Engine
from tilework.frontends.sklearn.importer import import_method
from tilework.frontends.sklearn.programs import take_parameters
from tilework.frontends.sklearn.training_data import SAMPLE, Rows
from tilework.runtime.module import Module
from tilework.runtime.pipelines.calls import result_of
from tilework.runtime.pipelines.columns import column, dtype_of, names_of, taken
from tilework.runtime.pipelines.interface import Interface


@dataclass(frozen=True)
class Transform:
    """The compiled method `transform` of a fitted estimator, and the fitted numbers that it is given."""

    native: Module | None
    interface: Interface
    numbers: tuple[Array, ...]
    dtypes: dict[Any, np.dtype[Any] | None]

    @staticmethod
    def to(fitted: Any, rows: Any, engine: Engine, example: Any = None) -> Transform:
        """Make the transform of an estimator for rows like these, given an example of its result if there is one.

        Raises Unsupported.
        """
        program = import_method(fitted, taken(rows, np.arange(min(SAMPLE, rows.shape[0]))), "transform", example)
        dtypes = {key: dtype_of(column(rows, key)) for key in program.interface.keys}
        if program.module is None:
            return Transform(None, program.interface, (), dtypes)
        [function] = program.module.ops
        assert isinstance(function, FuncOp)
        names = take_parameters(function)
        numbers = tuple(program.parameters[name] for name in names)
        return Transform(engine.compile(program.module), program.interface, numbers, dtypes)

    def takes(self, rows: Any) -> bool:
        """Whether the columns of rows have the types that it was made for, or are not those that it was made for."""
        names = names_of(rows)
        if names is None and rows.shape[1] != len(self.dtypes) or not {*self.dtypes} <= {*(names or self.dtypes)}:
            return True
        return all(dtype_of(column(rows, key)) == dtype for key, dtype in self.dtypes.items())

    def of_data(self, data: Rows) -> Any:
        """What it makes of the rows that the estimator has been fitted to."""
        blocks = data.blocks(self.interface.parts)
        return result_of(self.native, self.interface.output, blocks, len(data), self.numbers)

    def of_partition(self, rows: Any, nothing: Any) -> Any:
        """What it makes of a partition, and `nothing` of one without rows."""
        return self.of_rows(rows) if len(rows) else nothing

    def of_rows(self, rows: Any) -> Any:
        """What it makes of rows. Raises ValueError for what scikit-learn refuses."""
        rows = self.interface.checked(rows)
        return result_of(self.native, self.interface.output, self.interface.blocks(rows), rows.shape[0], self.numbers)
