"""Tables lose the columns that nobody reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation
from xdsl.rewriter import Rewriter

from tilework.analysis.functions import body_of
from tilework.dialects.bag import BagType, CodesOp, FoldOp, ToMatrixOp, bag_of
from tilework.transforms.base import TileworkPass


@dataclass(frozen=True)
class PruneColumns(TileworkPass):
    """Let functions take tables of those columns alone that something in them reads.

        func.func @f(%t: !bag.bag<N x [age: f64, pay: f64]>) {
          %x = bag.to_matrix %t {columns = ["age"]}
    ->
        func.func @f(%t: !bag.bag<N x [age: f64]>) {
          %x = bag.to_matrix %t {columns = ["age"]}

    Whoever calls the function gives it what its type asks for. This is an algorithm and no pattern: the type of an
    argument follows from all of its uses. Requires nothing; a table that is used otherwise, or of which no column is
    read, keeps its columns.
    """

    name = "bag-prune-columns"

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, ModuleOp)
        for function in [f for f in op.ops if isinstance(f, FuncOp) and not f.is_declaration]:
            for argument in body_of(function).args:
                if isinstance(argument.type, BagType):
                    _prune(argument)
            inputs = list(body_of(function).arg_types)
            function.function_type = FunctionType.from_lists(inputs, list(function.function_type.outputs))


def _prune(table: BlockArgument) -> None:
    uses = [use.operation for use in table.uses]
    if not uses or not all(isinstance(op, ToMatrixOp | CodesOp | FoldOp) for op in uses):
        return
    bag, read = bag_of(table), {name for op in uses for name in _read(op)}
    columns = {name: type_ for name, type_ in bag.columns.items() if name in read}
    if len(columns) < len(bag.columns):
        Rewriter.replace_value_with_new_type(table, BagType.of(bag.rows, columns, bag.may_be_missing))


def _read(op: Operation) -> Iterator[str]:
    if isinstance(op, ToMatrixOp):
        yield from (name.data for name in op.columns)
    elif isinstance(op, CodesOp):
        yield op.column.data
    elif isinstance(op, FoldOp):
        yield from (*op.names, *([] if op.group is None else [op.group.data]))
