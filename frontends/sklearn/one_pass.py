"""Transformers whose steps learn in one compiled pass over the rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Region

from tilework.dialects.matrix import CovarianceOp
from tilework.dialects.matrix.folds import STATES
from tilework.frontends.sklearn.emitter import Array, Columns, Emitter, Unsupported, convert
from tilework.frontends.sklearn.engine import Engine
from tilework.frontends.sklearn.outputs import note_outputs
from tilework.frontends.sklearn.programs import alone, optimized, parts_of
from tilework.frontends.sklearn.steps.composed import fitted_parts
from tilework.frontends.sklearn.sums import Sums
from tilework.frontends.sklearn.training_data import Rows
from tilework.frontends.sklearn.untyped import clone
from tilework.interpreters.graph import evaluate_function, find_function
from tilework.runtime.pipelines.interface import Part
from tilework.transforms.matrix.split_folds import ROWS

FIT = "fit"
"""What the function is called that learns."""


def learned(estimator: Any, data: Rows, engine: Engine) -> tuple[Any, Any]:
    """A clone of an estimator that is fitted to data, and an example of what it makes; None where that may differ.

    Raises Unsupported.
    """
    e = Emitter(data.dtypes, data, wide=True)
    convert(e, estimator, Columns(data.keys))
    known = [Part((given,)) for given in e.inputs.values()]
    sample = data.sample(known)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a few rows may be too few for what is computed of them, and is replaced
        fitted = clone(estimator)
        example = fitted.fit_transform(sample)
    counterparts = dict(fitted_parts(estimator, fitted))
    vectors = iter(_vectors(e, data, engine))
    for each in e.learned.values():
        own = {name: np.asarray(next(vectors)) for name in each.vectors}
        each.finish(counterparts[id(each.estimator)], own, len(data))
    if not e.is_open:
        return fitted, example
    ones = {id(counterparts[own]): count for own, count in e.ones.items()}
    note_outputs(fitted, sample, len(data), lambda inner: ones.get(id(inner)))
    return fitted, None


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
