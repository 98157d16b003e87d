"""Dot products of bytes: four products and their sum at once, of words of bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, IntegerType, UnitAttr, i8, i64
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from tilework.algebra.index_expr import const
from tilework.analysis.layout_classes import CHANNELS
from tilework.analysis.post_dominators import VIEW
from tilework.analysis.precision import Precision
from tilework.dialects.graph.accumulation import UNSIGNED_BYTE
from tilework.dialects.graph.base import ints
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.layout import UnpackOp, WordsOp
from tilework.dialects.graph.movement import PadOp
from tilework.dialects.graph.structure import FusedOp, YieldOp
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.shapes import dims_of, element_type
from tilework.dialects.support.words import BYTES
from tilework.rules.algorithms.base import Algorithm, Product
from tilework.targets import Target


@dataclass(frozen=True)
class Dot4(Algorithm):
    """Words are the same memory where their bytes are side by side, in rows or in blocks of channels; or another kernel
    puts them together, `apart`."""

    ACCURACY: ClassVar[str] = "Exact: integers are added."
    BENEFIT: ClassVar[int] = 0

    apart: bool = False

    @property
    def levels(self) -> int:
        return 0

    @classmethod
    def proposals(cls, product: Product, precision: Precision, target: Target) -> Iterator[Dot4]:
        if target.dot_bits and (product.dtype(0), product.dtype(1)) == (UNSIGNED_BYTE, i8):
            yield from (cls(apart) for apart in (False, True) if _argument(product, apart) is not None)

    def transform(self, weight: SSAValue, product: Product) -> Sequence[Operation]:
        return _words_of(weight, 1)

    def multiply(self, product: Product, transformed: SSAValue) -> Sequence[Operation]:
        _take_words(product, self.apart)
        return [type(product).of(product.input, transformed, **product.properties, words=UnitAttr())]

    def argument(self, product: Product) -> int | None:
        argument = _argument(product, self.apart)
        assert argument is not None
        return argument.index

    def prepare(self, product: Product, value: SSAValue) -> Operation:
        axis = _axis(product, self.apart)
        if self.apart:
            return _words_group(value, axis)
        [words] = _words_of(value, axis)
        words.attributes[VIEW] = UnitAttr()
        return words


def _words_of(value: SSAValue, axis: int) -> list[Operation]:
    """`graph.words` of a value, behind zeros that fill the last word, in no graph yet."""
    dims = dims_of(value.type)
    missing = -(dims[axis].constant or 0) % BYTES
    made: list[Operation] = []
    if missing:
        pads = [missing if at == len(dims) + axis else 0 for at in range(2 * len(dims))]
        dtype = element_type(value.type)
        assert isa(dtype, IntegerType)
        made.append(PadOp.of(value, pads=ints(pads), value=IntegerAttr(0, dtype)))
    made.append(WordsOp.of(made[0].results[0] if made else value, axis=IntegerAttr(axis, i64)))
    for op in made:
        op.results[0].name_hint = value.name_hint
    return made


def _words_group(value: SSAValue, axis: int) -> FusedOp:
    """A kernel that makes words of a tensor, in no graph yet."""
    body = Block(arg_types=[value.type])
    made = _words_of(body.args[0], axis)
    body.add_ops([*made, YieldOp(made[-1].results)])
    return FusedOp("words", [value], made[-1].result_types, Region(body))


def _argument(product: Product, apart: bool) -> BlockArgument | None:
    """The argument of a group that is multiplied, if words can be made of its bytes, and nothing else reads it.

    All bytes of a word are side by side, in blocks of channels or in rows; or a kernel `apart` puts them together.
    """
    data = product.input
    if product.words is not None or product.dtype(0) == product.dtype(1) or not data.has_one_use():
        return None
    is_conv = isinstance(product, ConvOp)
    if is_conv and product.groups.value.data > 1 and dims_of(product.weight.type)[1] % BYTES != const(0):
        return None
    if is_conv and not apart:
        unpack = data.owner
        if not isinstance(unpack, UnpackOp) or unpack.axis.value.data != CHANNELS:
            return None
        data = unpack.input
    in_words = apart or dims_of(data.type)[-1] % BYTES == const(0)
    return data if in_words and isinstance(data, BlockArgument) and data.has_one_use() else None


def _axis(product: Product, apart: bool) -> int:
    """The axis of the argument along which bytes become words."""
    argument = _argument(product, apart)
    assert argument is not None
    return CHANNELS if apart and isinstance(product, ConvOp) else len(dims_of(argument.type)) - 1


def _take_words(product: Product, apart: bool) -> None:
    """Let a group take the argument in words, and the product as well, which is not right any more; the group's operand
    is left as it was."""
    argument = _argument(product, apart)
    assert argument is not None
    made = _words_of(argument, _axis(product, apart))
    block = argument.owner
    words = block.insert_arg(made[-1].results[0].type, argument.index)
    for op in reversed(made):
        op.erase()
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
