"""Kernels that multiply bytes: which of them can take words, and the same with an argument of words."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import BlockArgument, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilework.algebra.index_expr import const
from tilework.analysis.layout_classes import CHANNELS
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.dense import DenseOp
from tilework.dialects.graph.layout import UnpackOp, WordsOp
from tilework.dialects.locations import copy_location
from tilework.dialects.shapes import dims_of
from tilework.dialects.words import BYTES


def words_of(value: SSAValue, axis: int) -> WordsOp:
    """`graph.words` of a value, in no graph yet."""
    words = WordsOp.of(value, axis=IntegerAttr(axis, i64))
    words.result.name_hint = value.name_hint
    return words


def argument_for_words(product: ConvOp | DenseOp) -> BlockArgument | None:
    """The argument of a group that is multiplied, if all bytes of a word are side by side in it: blocks of channels, or
    rows; and if nothing else reads it."""
    data, weight = product.input, product.weight
    if product.words is not None or product.dtype(0) == product.dtype(1) or dims_of(weight.type)[1] % BYTES != const(0):
        return None
    if isinstance(product, ConvOp):
        unpack = data.owner
        if not isinstance(unpack, UnpackOp) or unpack.axis.value.data != CHANNELS or not data.has_one_use():
            return None
        data = unpack.input
    in_words = dims_of(data.type)[-1] % BYTES == const(0)
    return data if in_words and isinstance(data, BlockArgument) and data.has_one_use() else None


def take_words(product: ConvOp | DenseOp) -> None:
    """Let a group take the argument in words, and the product as well, which is not right any more; the group's operand
    is left as it was."""
    argument = argument_for_words(product)
    assert argument is not None
    probe = words_of(argument, len(dims_of(argument.type)) - 1)
    block = argument.owner
    words = block.insert_arg(probe.result.type, argument.index)
    probe.erase()
    words.name_hint = argument.name_hint
    unpack = product.input.owner
    if isinstance(unpack, UnpackOp):
        size = IntegerAttr(unpack.size.value.data // BYTES, i64)
        in_order = UnpackOp.of(words, axis=unpack.axis, size=size)
        copy_location(in_order, unpack)
        Rewriter.insert_op(in_order, InsertPoint.before(unpack))
        product.operands[0] = in_order.result
        unpack.detach()
        unpack.erase()
    else:
        product.operands[0] = words
    block.erase_arg(argument)
