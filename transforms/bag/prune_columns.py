"""Tables lose the columns that nobody reads."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.rewriter import Rewriter

from tilework.analysis.functions import body_of
from tilework.dialects.bag import BagType, CodesOp, ColumnOp, FilterOp, FoldOp, JoinOp, MapOp, ToMatrixOp, bag_of
from tilework.transforms.bag.types_behind import infer_behind
from tilework.transforms.base import TileworkPass


@dataclass(frozen=True)
class PruneColumns(TileworkPass):
    """Let functions take tables of those columns alone that something in them reads.

        func.func @f(%t: !bag.bag<N x [age: f64, pay: f64]>) {
          %x = bag.to_matrix %t {columns = ["age"]}
    ->
        func.func @f(%t: !bag.bag<N x [age: f64]>) {
          %x = bag.to_matrix %t {columns = ["age"]}

    Whoever calls the function gives it what its type asks for. Columns that go through maps and filters are followed to
    what reads them in the end. This is an algorithm and no pattern: the type of an argument follows from all of its
    uses. Requires nothing; a table that is used otherwise, or of which no column is read, keeps its columns.
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
    bag, read = bag_of(table), _read(table)
    if read is None:
        return
    columns = {name: type_ for name, type_ in bag.columns.items() if name in read}
    if columns and len(columns) < len(bag.columns):
        infer_behind(Rewriter.replace_value_with_new_type(table, bag.with_columns(columns, bag.may_be_missing)))


def _read(table: SSAValue) -> set[str] | None:
    """The columns that are read of a table or of what rows become; None where nobody can say."""
    found: set[str] = set()
    for op in (use.operation for use in table.uses):
        match op:
            case ToMatrixOp():
                found.update(op.names)
            case CodesOp() | ColumnOp():
                found.add(op.column.data)
            case FoldOp():
                found.update([*op.names, *([] if op.group is None else [op.group.data])])
            case FilterOp() | MapOp():
                behind = _read(op.result)
                if behind is None:
                    return None
                found |= {*op.names} | (behind - {*op.written} if isinstance(op, MapOp) else behind)
            case JoinOp():
                behind = _read(op.result)
                if behind is None:
                    return None
                found |= {op.keys[0]} | (behind - {*op.taken}) if op.left is table else set[str]()
                found |= {op.keys[1], *op.taken.values()} if op.right is table else set[str]()
            case _:
                return None
    return found
