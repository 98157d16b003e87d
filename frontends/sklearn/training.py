"""From an estimator that is to be fitted to a program that learns it, and one that says how well for held-out rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from xdsl.dialects.builtin import FunctionType, ModuleOp, f64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Region, SSAValue

from tilework.algebra.index_expr import var
from tilework.dialects import graph
from tilework.dialects.bag import BagType, bag_of
from tilework.dialects.matrix import MatrixType, MomentsOp
from tilework.dialects.support.shapes import tensor_type
from tilework.frontends.sklearn.emitter import (
    ROWS,
    Array,
    Columns,
    Emitter,
    Learned,
    Numbers,
    TrainingData,
    convert,
)
from tilework.frontends.sklearn.steps.linear import Regression, require_learned
from tilework.frontends.sklearn.untyped import is_exactly, last_of
from tilework.runtime.pipelines.interface import Input

FIT, VALIDATE = "fit", "validate"
"""What the functions are called."""

SCORES = ("r2", "neg_mean_squared_error", "neg_root_mean_squared_error")
"""Scores that follow from sums over the rows that are held out."""

HELD_OUT = var("M")
"""How many rows these are."""


@dataclass(frozen=True)
class Training:
    """Functions @fit and @validate on a table, a target and penalties.

    keys, dtypes: of the columns that there are. inputs: those of the table, by name. learned: what @fit returns, in
    order, before the coefficients, intercepts and what else is told.
    """

    module: ModuleOp
    parameters: dict[str, Array]
    keys: tuple[Any, ...]
    dtypes: dict[Any, np.dtype[Any] | None]
    inputs: dict[str, Input]
    learned: tuple[Learned, ...]


def import_training(estimator: Any, data: TrainingData, penalties: int, score: str) -> Training:
    """The program that fits an estimator, the last step of which is linear, for so many penalties at once.

    Raises Unsupported.
    """
    fitting, validating = Emitter(data.dtypes, data), Emitter(data.dtypes, data)
    _, fit = _fitted(fitting, estimator, data.keys, penalties)
    learned = tuple(fitting.learned.values())
    returned = [vector for each in learned for vector in each.vectors.values()]
    functions = [_function(fitting, FIT, [*returned, fit.coef, fit.intercept, *fit.told])]

    steps, fit = _fitted(validating, estimator, data.keys, penalties)
    train = bag_of(validating.table)
    held = validating.block.insert_arg(BagType.of(HELD_OUT, train.columns, train.may_be_missing), 2)
    held_y = validating.block.insert_arg(MatrixType.of(HELD_OUT, f64, ["y"]), 3)
    held.name_hint, held_y.name_hint = "held_out", "held_out_y"
    validating.table = held
    residuals = fit.residuals(validating, _features(validating, steps, data.keys), held_y)
    functions.append(_function(validating, VALIDATE, [_score(validating, score, residuals, held_y)]))
    parameters = {**fitting.parameters, **validating.parameters}
    return Training(ModuleOp(functions), parameters, data.keys, data.dtypes, fitting.inputs, learned)


def _fitted(e: Emitter, estimator: Any, keys: tuple[Any, ...], penalties: int) -> tuple[list[Any], Regression]:
    """Append the fit of an estimator to a table, a target and penalties, which become arguments; its steps before."""
    y = e.block.insert_arg(MatrixType.of(ROWS, f64, ["y"]), 1)
    given = e.block.insert_arg(tensor_type((penalties,), f64), 2)
    y.name_hint, given.name_hint = "y", "penalties"
    last = last_of(estimator)
    require_learned(last)
    steps: list[Any] = [inner for _, inner in estimator.steps[:-1]] if is_exactly(estimator, Pipeline) else []
    x = _features(e, steps, keys)
    return steps, Regression.of(e, last, x, y, given)


def _features(e: Emitter, steps: list[Any], keys: tuple[Any, ...]) -> Numbers:
    x: Any = Columns(keys)
    for step in steps:
        if step is not None and not isinstance(step, str):
            x = convert(e, step, x)
    return e.refuse_missing(e.numbers(x))


def _score(e: Emitter, score: str, residuals: SSAValue, y: SSAValue) -> SSAValue:
    """The score of each penalty."""
    moments = MomentsOp.of(residuals)
    e.insert(moments)
    squared = e.insert(graph.MulOp.of(moments.mean, moments.mean))
    error = e.insert(graph.AddOp.of(squared, moments.variance))
    if score == "r2":
        target = MomentsOp.of(y)
        e.insert(target)
        share = e.insert(graph.DivOp.of(error, target.variance))
        return e.insert(graph.SubOp.of(e.parameter("whole", np.ones(1)), share))
    return e.insert(graph.NegOp.of(e.insert(graph.SqrtOp.of(error)) if score.startswith("neg_root") else error))


def _function(e: Emitter, name: str, results: list[SSAValue]) -> FuncOp:
    e.block.add_op(ReturnOp(*results))
    types = FunctionType.from_lists(list(e.block.arg_types), [value.type for value in results])
    return FuncOp(name, types, Region(e.block))
