"""Kernels some of whose inputs or results are packed: the same, behind `graph.unpack` and before `graph.pack`."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilework.dialects.graph.layout import PackOp, UnpackOp
from tilework.dialects.graph.structure import FusedOp
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.shapes import dims_of


def pack_of(value: SSAValue, axis: int, block: int) -> PackOp:
    """`graph.pack` of a value, in no graph yet."""
    pack = PackOp.of(value, axis=IntegerAttr(axis, i64), block=IntegerAttr(block, i64))
    pack.result.name_hint = value.name_hint
    return pack


def unpack_argument(group: FusedOp, number: int, axis: int, block: int) -> None:
    """Let the body of a group take an argument packed; the operand is left as it was."""
    body = group.body.block
    argument = body.args[number]
    probe = pack_of(argument, axis, block)
    packed = body.insert_arg(probe.result.type, number)
    probe.erase()
    packed.name_hint = argument.name_hint
    size = dims_of(argument.type)[axis].offset
    unpack = UnpackOp.of(packed, axis=IntegerAttr(axis, i64), size=IntegerAttr(size, i64))
    copy_location(unpack, group)
    Rewriter.insert_op(unpack, InsertPoint.at_start(body))
    argument.replace_all_uses_with(unpack.result)
    body.erase_arg(argument)


def pack_result(group: FusedOp, number: int, axis: int, block: int) -> None:
    """Let the body of a group yield a result packed; the result's type is left as it was."""
    yielded = group.body.block.last_op
    assert yielded is not None
    pack = pack_of(yielded.operands[number], axis, block)
    copy_location(pack, group)
    Rewriter.insert_op(pack, InsertPoint.before(yielded))
    yielded.operands[number] = pack.result
