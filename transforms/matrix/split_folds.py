"""Programs on rows become programs on what one pass over the rows tells of each column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp, f64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

from tilework.analysis.functions import body_of
from tilework.dialects import graph
from tilework.dialects.bag import BagType, ToMatrixOp, bag_of
from tilework.dialects.matrix import CountOp, ExtremesOp, MomentsOp, SummaryOp
from tilework.dialects.matrix.folds import STATES
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.shapes import tensor_type
from tilework.transforms.base import TileworkPass
from tilework.transforms.matrix.writer import TensorWriter

ROWS = "rows"
"""What the function is called that passes over the rows."""

Fold = MomentsOp | ExtremesOp | CountOp


@dataclass(frozen=True)
class SplitFolds(TileworkPass):
    """Fuse all folds of a table into one `matrix.summary`, which a function of its own computes, and let the function
    that asked for them take what this tells.

        func.func @fit(%t: !bag.bag<N x [age: f64?, pay: f64]>) -> (...) {
          %x = bag.to_matrix %t {columns = ["age"]}
          %mean, %variance, %known = matrix.moments %x
          %y = bag.to_matrix %t {columns = ["pay"]}
          %low, %high = matrix.extremes %y
    ->
        func.func @rows(%t: !bag.bag<N x [age: f64?, pay: f64]>, %shift: tensor<2xf64>) -> (...) {
          %x = bag.to_matrix %t {columns = ["age", "pay"]}
          %rows, %known, %total, %squares, %low, %high = matrix.summary %x, %shift
        func.func @fit(%shift: tensor<2xf64>, %rows: tensor<2xf64>, %known: tensor<2xf64>, ...) -> (...) {

    What each fold asked for is computed of its columns' states, so that several folds of one table are one (the banana
    split). This is an algorithm and no pattern: what is folded depends on all folds. Requires folds of columns of the
    table itself, as `matrix-derive-folds` leaves them; refuses what else is done with rows, with its name.
    """

    name = "matrix-split-folds"
    numerics: ClassVar[Literal["exact", "reassociates"]] = "reassociates"

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, ModuleOp)
        functions = [f for f in op.ops if isinstance(f, FuncOp) and _tables(f)]
        if not functions:
            return
        if len(functions) > 1 or len(_tables(functions[0])) > 1:
            raise CompileError("one function of one table is split into folds", functions[-1])
        if rows := _split(functions[0]):
            op.body.block.insert_op_before(rows, functions[0])


def _tables(function: FuncOp) -> list[BlockArgument]:
    return [argument for argument in body_of(function).args if isinstance(argument.type, BagType)]


def _split(function: FuncOp) -> FuncOp | None:
    """Let a function take states, and return the function that computes them; None where there is no fold."""
    [table] = _tables(function)
    folds, sources = _folds_of(table)
    read = {name for fold in folds for name in _columns(fold)}
    names = [name for name in bag_of(table).columns if name in read]
    vector, block = tensor_type((len(names),), f64), body_of(function)
    arguments = [block.insert_arg(vector, i) for i in range(1 + len(STATES))] if names else []
    for value, hint in zip(arguments, ("shift", *STATES), strict=False):
        value.name_hint = hint
    for fold in folds:
        write = TensorWriter(lambda op, fold=fold: block.insert_op_before(op, fold))
        places = [names.index(name) for name in _columns(fold)]
        own = [write.taken(value, places) for value in arguments]
        for result, value in zip(fold.results, _computed(write, fold, *own), strict=True):
            result.replace_all_uses_with(value)
    for op in (*folds, *sources):
        op.detach()
        op.erase()
    rows = _pass_over(bag_of(table), names) if names else None
    block.erase_arg(table)
    function.function_type = FunctionType.from_lists(list(block.arg_types), list(function.function_type.outputs))
    return rows


def _folds_of(table: BlockArgument) -> tuple[list[Fold], list[Operation]]:
    """The folds of a table, and the conversions that they read."""
    folds: list[Fold] = []
    sources: list[Operation] = []
    for use in table.uses:
        source = use.operation
        if not isinstance(source, ToMatrixOp):
            raise CompileError(f"{source.name} is no fold of a column", source)
        sources.append(source)
        for inner in source.result.uses:
            fold = inner.operation
            if not isinstance(fold, Fold):
                raise CompileError(f"{fold.name} is no fold of a column of the table", fold)
            folds.append(fold)
    return folds, sources


def _columns(fold: Fold) -> list[str]:
    source = fold.input.owner
    assert isinstance(source, ToMatrixOp)
    return [name.data for name in source.columns]


def _computed(write: TensorWriter, fold: Fold, shift: SSAValue, *states: SSAValue) -> Sequence[SSAValue]:
    """The results of a fold from the states of its columns."""
    rows, known, total, squares, low, high = states
    if isinstance(fold, CountOp):
        return [rows]
    if isinstance(fold, ExtremesOp):
        return [low, high]
    moved = write.binary("/", total, known)
    variance = write.binary("-", write.binary("/", squares, known), write.binary("*", moved, moved))
    differs = write.of(graph.LessOp.of(low, high))  # what does not has its mean and variance without rounding
    mean = write.of(graph.WhereOp.of(differs, write.binary("+", moved, shift), low))
    return [mean, write.of(graph.WhereOp.of(differs, write.not_negative(variance), write.number(0.0, []))), known]


def _pass_over(table: BagType, names: Sequence[str]) -> FuncOp:
    vector = tensor_type((len(names),), f64)
    block = Block(arg_types=[table, vector])
    given, shift = block.args
    given.name_hint, shift.name_hint = "table", "shift"
    write = TensorWriter(block.add_op)
    summary = SummaryOp.of(write.columns(given, names), shift)
    block.add_op(summary)
    block.add_op(ReturnOp(*summary.results))
    return FuncOp(ROWS, (list(block.arg_types), list(summary.result_types)), Region(block))
