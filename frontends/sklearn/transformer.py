"""Transformers, and pipelines that begin with them, which learn in one pass over the rows and transform in another."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Region

from tilework.algebra.errors import UsageError
from tilework.dialects.matrix import CovarianceOp
from tilework.dialects.matrix.folds import STATES
from tilework.frontends.sklearn.emitter import Array, Columns, Emitter, Unsupported, convert
from tilework.frontends.sklearn.engine import Engine
from tilework.frontends.sklearn.importer import import_method
from tilework.frontends.sklearn.learner import fitted_regression
from tilework.frontends.sklearn.optimized import Optimized
from tilework.frontends.sklearn.programs import alone, optimized, parts_of, take_parameters
from tilework.frontends.sklearn.steps.composed import fitted_parts
from tilework.frontends.sklearn.steps.linear import LEARNED
from tilework.frontends.sklearn.sums import Sums
from tilework.frontends.sklearn.training_data import SAMPLE, Rows, RowsAndTarget, one_target
from tilework.frontends.sklearn.untyped import clone, is_exactly, issparse
from tilework.interpreters.graph import evaluate_function, find_function
from tilework.runtime.module import Module
from tilework.runtime.pipelines.calls import in_blocks
from tilework.runtime.pipelines.columns import as_rows, column, dtype_of, names_of, selected, taken
from tilework.runtime.pipelines.interface import Interface, Part
from tilework.transforms.matrix.split_folds import ROWS

TRANSFORM = "; transform stays scikit-learn's: "
"""What stands in an explanation before the reason."""

FIT = "fit"
"""What the function is called that learns."""


class OptimizedTransformer(Optimized):
    """A transformer, or a pipeline, whose fit and transform are one compiled pass over the rows each.

    The last step of a pipeline may be an estimator that is not known: scikit-learn fits it to what the others make.
    """

    def __init__(self, estimator: Any, engine: Engine, *, strict: bool = False):
        super().__init__(estimator, engine, strict=strict)
        self._transform: Transform | None = None

    def fit_transform(self, X: Any, y: Any = None, **params: Any) -> Any:  # noqa: N803  as scikit-learn calls them
        """Fit to rows, and transform the same rows. Raises as the estimator does."""
        try:
            data = Rows(X)
            self._explanation = self._fit_to(data, y, params)
        except Unsupported as why:
            self._stays(why)
            return self.fitted.fit_transform(X, y, **params)
        compiled = self._compiled(data.frame)
        return self.fitted.transform(X) if compiled is None else compiled.of_data(data)

    def transform(self, X: Any) -> Any:  # noqa: N803
        """What the fitted estimator makes of rows. Raises as it does."""
        if issparse(X):
            return self.fitted.transform(X)
        compiled = self._compiled(as_rows(X))
        return self.fitted.transform(X) if compiled is None else compiled.of_rows(X)

    def _compiled(self, rows: Any) -> Transform | None:
        """The compiled transform; None where it stays scikit-learn's, which `explain` tells then."""
        try:
            return self._transform_of(rows)
        except Unsupported as why:
            self._explanation = f"{self._explanation.partition(TRANSFORM)[0]}{TRANSFORM}{why}"
            if self.strict:
                raise UsageError(f"strict=True: {why}") from None
            return None

    def _fit(self, rows: Any, target: Any, params: Mapping[str, Any]) -> str:
        return self._fit_to(Rows(rows), target, params)

    def _fit_to(self, data: Rows, target: Any, params: Mapping[str, Any]) -> str:
        if params:
            raise Unsupported(f"fit is given {', '.join(params)}")
        estimator, self._transform = self.fitted, None
        if is_exactly(estimator, Pipeline) and estimator.memory is not None:
            raise Unsupported("the pipeline is given a memory")
        if not is_exactly(estimator, Pipeline) or hasattr(estimator, "transform"):
            self.fitted = learned(estimator, data, self._engine)
            return "all steps learn in one pass over the rows"
        *_, (name, last) = estimator.steps
        if any(is_exactly(last, type_) for type_ in LEARNED):
            self.fitted = fitted_regression(estimator, RowsAndTarget(data.frame, one_target(target)), self._engine)
            return "all steps learn in one pass over the rows"
        if len(estimator.steps) < 2:
            raise Unsupported(f"the fit of {type(last).__name__} is no sum over rows")
        first = learned(estimator[:-1], data, self._engine)
        made = Transform.to(first, data.frame, self._engine).of_data(data)
        self.fitted = clone(estimator)
        self.fitted.steps = [*first.steps, (name, clone(last).fit(made, target))]
        return f"all steps before {name} learn in one pass over the rows; {name} is fitted by scikit-learn"

    def _transform_of(self, rows: Any) -> Transform:
        found = self._transform
        if found is None:
            found = self._transform = Transform.to(self.fitted, rows, self._engine)
        elif not found.takes(rows):
            found = self._transform = Transform.to(self.fitted, selected(rows, found.interface.keys), self._engine)
        return found


@dataclass(frozen=True)
class Transform:
    """The compiled method `transform` of a fitted estimator, and the fitted numbers that it is given."""

    native: Module
    interface: Interface
    numbers: tuple[Array, ...]
    dtypes: dict[Any, np.dtype[Any] | None]

    @staticmethod
    def to(fitted: Any, rows: Any, engine: Engine) -> Transform:
        """Make the transform of an estimator for rows like these. Raises Unsupported."""
        program = import_method(fitted, taken(rows, np.arange(min(SAMPLE, rows.shape[0]))), "transform")
        [function] = program.module.ops
        assert isinstance(function, FuncOp)
        names = take_parameters(function)
        dtypes = {key: dtype_of(column(rows, key)) for key in program.interface.keys}
        numbers = tuple(program.parameters[name] for name in names)
        return Transform(engine.compile(program.module), program.interface, numbers, dtypes)

    def takes(self, rows: Any) -> bool:
        """Whether the columns of rows have the types that it was made for, or are not those that it was made for."""
        names = names_of(rows)
        if names is None and rows.shape[1] != len(self.dtypes) or not {*self.dtypes} <= {*(names or self.dtypes)}:
            return True
        return all(dtype_of(column(rows, key)) == dtype for key, dtype in self.dtypes.items())

    def of_data(self, data: Rows) -> Array:
        """What it makes of the rows that the estimator has been fitted to."""
        return in_blocks(self.native, data.blocks(self.interface.parts), len(data), self.numbers)

    def of_rows(self, rows: Any) -> Array:
        """What it makes of rows. Raises ValueError for what scikit-learn refuses."""
        rows = self.interface.checked(rows)
        return in_blocks(self.native, self.interface.blocks(rows), rows.shape[0], self.numbers)


def learned(estimator: Any, data: Rows, engine: Engine) -> Any:
    """A clone of an estimator that is fitted to data. Raises Unsupported."""
    e = Emitter(data.dtypes, data, wide=True)
    convert(e, estimator, Columns(data.keys))
    known = [Part((given,)) for given in e.inputs.values()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a few rows may be too few for what is computed of them, and is replaced
        fitted = clone(estimator).fit(data.sample(known))
    counterparts = dict(fitted_parts(estimator, fitted))
    vectors = iter(_vectors(e, data, engine))
    for each in e.learned.values():
        own = {name: np.asarray(next(vectors)) for name in each.vectors}
        each.finish(counterparts[id(each.estimator)], own, len(data))
    return fitted


def _vectors(e: Emitter, data: Rows, engine: Engine) -> list[Array]:
    """What the steps learn, one after the other."""
    returned = [vector for each in e.learned.values() for vector in each.vectors.values()]
    e.block.add_op(ReturnOp(*returned))
    types = FunctionType.from_lists(list(e.block.arg_types), [value.type for value in returned])
    module = ModuleOp([FuncOp(FIT, types, Region(e.block))])
    products = any(isinstance(op, CovarianceOp) for op in e.block.ops)  # of two columns; else each is folded alone
    optimized("optimize-training" if products else "optimize-folds", module)
    rows = find_function(module, ROWS)
    if products:
        sums = Sums.of(module, e.inputs, engine)
        shift = sums.placed([data.shift(part) for part in sums.parts if not part.holds_codes])
        [state] = sums.of_groups(engine, data, shift, np.zeros(len(data), int), 1)
        sums.require_numbers(state)
        states = [shift, *state]
    else:
        states = [] if rows is None else _folded(rows, e, data, engine)
    return evaluate_function(module, FIT, states, e.parameters)


def _folded(rows: FuncOp, e: Emitter, data: Rows, engine: Engine) -> list[Array]:
    """The shift and the states of all columns. Raises Unsupported for a column without any value."""
    [part], native = parts_of(rows.function_type.inputs.data[0], e.inputs), engine.compile(alone(rows))
    shift = data.shift(part)

    [(sums, low, high)] = engine.states(native, data, (part,), shift, np.zeros(len(data), int), 1)
    if not sums[STATES.index("known")].all():
        raise Unsupported("there is a column without any value")
    return [shift, *sums, low, high]
