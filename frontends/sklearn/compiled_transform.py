"""The method `transform` of a fitted estimator as one compiled pass over the rows."""

from __future__ import annotations

import warnings
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
from tilework.runtime.pipelines.columns import column, dtype_of, is_array, names_of, taken
from tilework.runtime.pipelines.interface import Interface


def kind_of(rows: Any) -> tuple[Any, ...]:
    """What a program is made for: the names of the columns of rows, if they have names, and the types of all columns.

    Rows are what `as_rows` gives.
    """
    names = names_of(rows)
    if is_array(rows) and rows.dtype != object:
        return None, rows.shape[1], rows.dtype
    keys = range(rows.shape[1]) if names is None else names
    return None if names is None else tuple(names), *(dtype_of(column(rows, key)) for key in keys)


@dataclass(frozen=True)
class Transform:
    """The compiled method `transform` of a fitted estimator, and the fitted numbers that it is given.

    said: what scikit-learn warns of at each call, for rows with names of columns or without them.
    """

    native: Module | None
    interface: Interface
    numbers: tuple[Array, ...]
    said: tuple[Warning, ...] = ()

    @staticmethod
    def to(fitted: Any, rows: Any, engine: Engine, example: Any = None) -> Transform:
        """Make the transform of an estimator for rows like these, given an example of its result if there is one.

        Raises Unsupported.
        """
        said: tuple[Warning, ...] = ()
        few = taken(rows, np.arange(min(SAMPLE, rows.shape[0])))
        if example is None:
            example, said = _example(fitted, few)
        program = import_method(fitted, few, "transform", example)
        if program.module is None:
            return Transform(None, program.interface, (), said)
        [function] = program.module.ops
        assert isinstance(function, FuncOp)
        names = take_parameters(function)
        numbers = tuple(program.parameters[name] for name in names)
        return Transform(engine.compile(program.module), program.interface, numbers, said)

    def of_data(self, data: Rows) -> Any:
        """What it makes of the rows that the estimator has been fitted to."""
        blocks = data.blocks(self.interface.parts)
        return result_of(self.native, self.interface.output, blocks, len(data), self.numbers)

    def of_partition(self, rows: Any, nothing: Any) -> Any:
        """What it makes of a partition, and `nothing` of one without rows."""
        return self.of_rows(rows) if len(rows) else nothing

    def of_rows(self, rows: Any) -> Any:
        """What it makes of rows. Raises ValueError for what scikit-learn refuses."""
        for warning in self.said:
            warnings.warn(warning, stacklevel=2)
        rows = self.interface.checked(rows)
        return result_of(self.native, self.interface.output, self.interface.blocks(rows), rows.shape[0], self.numbers)


def _example(fitted: Any, rows: Any) -> tuple[Any, tuple[Warning, ...]]:
    """What an estimator makes of a few rows, and what it says of the names of their columns."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        made = fitted.transform(rows)
    said = [each.message for each in told if isinstance(each.message, Warning)]
    return made, tuple(each for each in said if "feature names" in str(each))
