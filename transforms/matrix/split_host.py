"""Programs of which numpy computes a part become one that is compiled and one that is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from tilework.analysis.functions import body_of
from tilework.dialects import matrix
from tilework.interpreters.graph import find_function
from tilework.transforms.base import TileworkPass

MAIN, FINISH = "main", "finish"
"""The function that is compiled, and the one that numpy computes of what it returns."""

HOST_OPS: tuple[type[Operation], ...] = (matrix.SolveOp, matrix.FoldGramsOp, matrix.R2Op)
"""What numpy computes."""


@dataclass(frozen=True)
class SplitHost(TileworkPass):
    """Move what numpy computes, and all that depends on it, to a function of its own.

        func.func @main(%x: tensor<2x2xf64>, %b: tensor<2x1xf64>) -> tensor<2x1xf64> {
          %g = graph.matmul %x, %x
          %w = matrix.solve %g, %b
          func.return %w
    ->
        func.func @main(%x: tensor<2x2xf64>, %b: tensor<2x1xf64>) -> (tensor<2x2xf64>, tensor<2x1xf64>) {
          %g = graph.matmul %x, %x
          func.return %g, %b
        func.func @finish(%g: tensor<2x2xf64>, %b: tensor<2x1xf64>) -> tensor<2x1xf64> {
          %w = matrix.solve %g, %b
          func.return %w

    This is an algorithm and no pattern: what is moved depends on the whole function. Requires a function @main; one
    without such operations is left as it is.
    """

    name = "matrix-split-host"
    numerics: ClassVar = "exact"

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, ModuleOp)
        main = find_function(op, MAIN)
        if main is None or not (moved := _moved(main)):
            return
        returned = body_of(main).last_op
        assert isinstance(returned, ReturnOp)
        crossing = _crossing(moved, returned)
        op.body.block.add_op(_finish(moved, returned, crossing))
        body_of(main).insert_op_before(ReturnOp(*crossing), returned)
        for each in (returned, *reversed(moved)):
            each.detach()
            each.erase()
        types = [value.type for value in crossing]
        main.function_type = FunctionType.from_lists(list(main.function_type.inputs), types)


def split_host(module: ModuleOp) -> ModuleOp | None:
    """Leave in a module what is compiled, in place. What numpy computes of its results; None where that is nothing."""
    SplitHost().apply(Context(), module)
    finish = find_function(module, FINISH)
    if finish is None:
        return None
    finish.detach()
    return ModuleOp([finish])


def _moved(main: FuncOp) -> list[Operation]:
    """What numpy computes, and what depends on it, in order."""
    moved: list[Operation] = []
    for op in body_of(main).ops:
        if not isinstance(op, ReturnOp) and (
            isinstance(op, HOST_OPS) or any(value.owner in moved for value in op.operands)
        ):
            moved.append(op)
    return moved


def _crossing(moved: list[Operation], returned: ReturnOp) -> list[SSAValue]:
    """The values that are computed before and read behind the border, each once."""
    read = [value for op in (*moved, returned) for value in op.operands]
    return list(dict.fromkeys(value for value in read if value.owner not in moved))


def _finish(moved: list[Operation], returned: ReturnOp, crossing: list[SSAValue]) -> FuncOp:
    block = Block(arg_types=[value.type for value in crossing])
    mapped: dict[SSAValue, SSAValue] = dict(zip(crossing, block.args, strict=True))
    for value, argument in mapped.items():
        argument.name_hint = value.name_hint
    for op in (*moved, returned):
        block.add_op(op.clone(mapped))
    types = [value.type for value in returned.operands]
    return FuncOp(FINISH, ([value.type for value in crossing], types), Region(block))
