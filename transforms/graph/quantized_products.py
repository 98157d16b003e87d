"""Products of dequantized numbers become products of bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import (
    BoolAttr,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    TensorType,
    f32,
    i8,
    i32,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from tilework.algebra.index_expr import const
from tilework.analysis.parameters import values_from_parameters
from tilework.analysis.program_targets import target_of
from tilework.analysis.quantized import BYTE_TYPES, Distances, distances_of, is_whole, scaled_integers
from tilework.dialects import arith
from tilework.dialects.graph.accumulation import UNSIGNED_BYTE
from tilework.dialects.graph.base import GraphOp, ints
from tilework.dialects.graph.broadcast import AddOp, MulOp, SubOp
from tilework.dialects.graph.cast import CastOp
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.dense import DenseOp, MatmulOp
from tilework.dialects.graph.movement import PadOp, TransposeOp
from tilework.dialects.graph.reduction import ReduceSumOp
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.shapes import dims_of, element_type
from tilework.dialects.support.words import BYTES
from tilework.transforms.graph.choosing import chosen_again, chosen_from
from tilework.transforms.graph.erasing import erase_unused
from tilework.transforms.graph.moved_weights import dequantized_last
from tilework.transforms.graph.numbers import as_scalar, by_output, constant
from tilework.transforms.graph.patterns import GraphPatternPass
from tilework.transforms.graph.writer import Writer

Product = ConvOp | DenseOp | MatmulOp

SIGN = 128
"""How far apart the zeros of bytes with and without a sign are."""

FEWEST = 3
"""Bytes that are worth a word."""

LARGEST_BYTE = 255

LARGEST = LARGEST_BYTE * SIGN
"""The size of a product of bytes, at most."""


@dataclass(frozen=True)
class QuantizedProducts(GraphPatternPass):
    """Multiply bytes, and move what was done to them before behind the product, where it is done to every sum once.

    %d = graph.cast %x {to = i32}                          %s = graph.conv %x, %w : (.. ui8, .. i8) -> .. i32
    %e = graph.sub %d, %zero                          ->   %z = %zero times the sum of each filter
    %f = graph.mul (graph.cast %e {to = f32}), %scale      %t = graph.sub %s, %z
    %y = graph.conv %f, (the same of %w)                   %y = graph.mul (graph.cast %t {to = f32}), %scales

    Of dequantized numbers, and of the integers themselves. The sums are exact, where those of f32 are rounded. Padding
    is with the zero point. Only where the target multiplies bytes faster than floats, weights are parameters whose own
    zero is in the middle of their range, one scale and zero point is for all of the other operand, and what is summed
    fills words of four bytes well enough. Requires nothing; run it before graph-transpose-weights.
    """

    name = "graph-quantized-products"
    numerics: ClassVar = "reassociates"

    def operations(self, op: Operation) -> Iterable[Operation]:
        operations = list(super().operations(op))
        products = [o for o in operations if isinstance(o, Product)]
        return products if products and any(map(_has_bytes, operations)) and target_of(op).dot_bits else ()

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        assert isinstance(op, FuncOp)
        known = values_from_parameters(op)
        return [TakeSignOff(known), DequantizeLast(known), MultiplyBytes(known)]


@dataclass(frozen=True)
class TakeSignOff(RewritePattern):
    """A whole float made a signed byte is that float plus 128 made an unsigned one, less 128 as an integer.

    What a product multiplies are bytes without a sign then. known: the values that depend on parameters only.
    """

    known: Set[SSAValue]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvOp | DenseOp | MatmulOp, rewriter: PatternRewriter) -> None:
        found = _distances_of_scaled(op.operands[0]) if _is_worth(op, self.known) else None
        if found is None:
            return
        source, between = chosen_from(found.bytes)
        signed = source.owner
        if not isinstance(signed, CastOp) or signed.to != i8 or not is_whole(signed.input):
            return
        unsigned = _without_sign(signed, rewriter)
        if between:
            owner = found.bytes.owner
            assert isinstance(owner, GraphOp)
            chosen = chosen_again(unsigned, between, Writer(rewriter, owner), more=SIGN)
            _read_without_sign(found.bytes, chosen, rewriter)


@dataclass(frozen=True)
class DequantizeLast(RewritePattern):
    """move(dequantize(w)), where w are the bytes of a weight, is dequantize(move(w)).

    known: the values that depend on parameters only, to which the new weight is added.
    """

    known: set[SSAValue]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvOp | DenseOp | MatmulOp, rewriter: PatternRewriter) -> None:
        if not _is_worth(op, self.known):
            return
        weight = op.operands[1]
        moved = dequantized_last(weight, _output_axis_of(op), rewriter)
        if moved is None:
            return
        self.known.add(moved)
        rewriter.replace_all_uses_with(weight, moved)
        erase_unused(weight, rewriter)


@dataclass(frozen=True)
class MultiplyBytes(RewritePattern):
    """The product of (x - z) * s and w * t is (xw - z * sum(w)) * (s * t), where xw multiplies the bytes x and w.

    known: the values that depend on parameters only.
    """

    known: Set[SSAValue]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvOp | DenseOp | MatmulOp, rewriter: PatternRewriter) -> None:
        product = _ProductOfBytes(op) if _is_worth(op, self.known) else None
        total = None if product is None else product.result()
        if product is None or total is None:
            return
        operands, write = list(op.operands), Writer(rewriter, op)
        for made in product.made:
            write.insert(made)
        rewriter.replace(op, [], [total])
        for operand in operands:
            erase_unused(operand, rewriter)


def _has_bytes(op: Operation) -> bool:
    """Whether an operator takes or makes a tensor of bytes."""
    return any(element_type(v.type) in BYTE_TYPES for v in (*op.operands, *op.results))


def _output_axis_of(product: Product) -> int:
    """Which axis of its weight counts the outputs."""
    return 1 if isinstance(product, MatmulOp) else 0


def _is_worth(product: Product, known: Set[SSAValue]) -> bool:
    """Whether it is by a weight, words of four bytes are by far fewer than bytes, and how many there are is known."""
    if product.operands[1] not in known or product.operands[0] in known:
        return False
    data, weight = product.dims(0), product.dims(1)
    if not all(d.constant for d in weight) or len(data) < 2:
        return False
    axis = 0 if isinstance(product, MatmulOp) else 1
    summed = weight[axis].offset
    if isinstance(product, ConvOp):
        return summed >= FEWEST if product.groups.value.data == 1 else summed % BYTES == 0
    return len(weight) == 2 and summed >= FEWEST


def _distances_of_scaled(data: SSAValue) -> Distances | None:
    """The bytes whose distances from a zero point are what is multiplied, perhaps by way of floats."""
    scaled = scaled_integers(data)
    return distances_of(data if scaled is None else scaled[0])


def _without_sign(signed: CastOp, rewriter: PatternRewriter) -> SSAValue:
    """Bytes without a sign in the place of those that a cast makes, 128 more each."""
    more = constant(SIGN, f32)
    moved = AddOp.of(signed.input, more.result)
    unsigned = CastOp.of(moved.result, to=UNSIGNED_BYTE)
    copy_location((more, moved, unsigned), signed)
    rewriter.insert((more, moved, unsigned), InsertPoint.after(signed))
    _read_without_sign(signed.result, unsigned.result, rewriter)
    return unsigned.result


def _read_without_sign(signed: SSAValue, unsigned: SSAValue, rewriter: PatternRewriter) -> None:
    """Let what takes bytes as integers take those without a sign, and 128 off."""
    for reader in [use.operation for use in signed.uses]:
        if isinstance(reader, CastOp) and reader.to == i32:
            write = Writer(rewriter, reader)
            wide, less = write.insert(CastOp.of(unsigned, to=i32)), write.insert(constant(SIGN, i32))
            rewriter.replace(reader, [], [write.insert(SubOp.of(wide, less))])
    erase_unused(signed, rewriter)


class _ProductOfBytes:
    """What a product is, if its operands are bytes: operators that are in no graph yet, in order."""

    def __init__(self, product: Product):
        self._product = product
        self._data, self._weight = product.operands
        self._output_axis = _output_axis_of(product)
        self.made: list[Operation] = []

    def result(self) -> SSAValue | None:
        """The result of the product; None where its operands are no such bytes, and nothing is made then."""
        data, weight, scales = self._data, self._weight, None
        if element_type(data.type) == f32:
            left, right = scaled_integers(data), scaled_integers(weight)
            if left is None or right is None or not self._fits(left[1], right[1]):
                return None
            data, weight, scales = left[0], right[0], (left[1], right[1])
        total = self._total(data, weight)
        if total is None:
            self._discard()
            return None
        if scales is None:
            return total
        scale = self._make(MulOp.of(self._as_scalar(scales[0]), self._by_output(scales[1])))
        return self._make(MulOp.of(self._make(CastOp.of(total, to=f32)), scale))

    def _discard(self) -> None:
        for op in reversed(self.made):
            op.erase()
        self.made.clear()

    def _make(self, op: GraphOp | arith.ConstantOp) -> SSAValue:
        self.made.append(op)
        return op.results[0]

    # -- scales

    def _fits(self, data_scale: SSAValue, weight_scale: SSAValue) -> bool:
        """Whether sums of dequantized numbers are such of bytes times a scale for each output."""
        dims, outer = dims_of(self._weight.type), dims_of(weight_scale.type)
        terms = prod(d.offset for d in dims) // dims[self._output_axis].offset
        aligned = [*[const(1)] * (len(dims) - len(outer)), *outer]
        by_output = all(d == const(1) for axis, d in enumerate(aligned) if axis != self._output_axis)
        return _is_single(data_scale) and by_output and terms * LARGEST < 1 << (i32.bitwidth - 1)

    def _as_scalar(self, value: SSAValue) -> SSAValue:
        return self._make(as_scalar(value))

    def _by_output(self, value: SSAValue) -> SSAValue:
        return self._make(by_output(value, len(self._product.dims(1)) - 2))

    # -- integers

    def _total(self, data: SSAValue, weight: SSAValue) -> SSAValue | None:
        """The product of two tensors of distances, None if they are not such of bytes."""
        left, signed = distances_of(data), self._signed(weight)
        if left is None or signed is None or (left.zero is not None and not _is_a_byte(left.zero)):
            return None
        unsigned, number = left.bytes, left.number
        if element_type(unsigned.type) == i8:
            more = self._make(AddOp.of(self._make(CastOp.of(unsigned, to=i32)), self._make(constant(SIGN, i32))))
            unsigned, number = self._make(CastOp.of(more, to=UNSIGNED_BYTE)), number + SIGN
        if not 0 <= number <= LARGEST_BYTE:
            return None
        if left.zero is None:
            total = self._multiplied(unsigned, signed, number)
            sums = self._sums(signed) if number else None
        else:
            total = self._multiplied(unsigned, signed)
            sums = self._sums_inside(signed)
            if sums is None:
                return None
        return total if sums is None else self._make(SubOp.of(total, self._times(sums, number, left.zero)))

    def _signed(self, weight: SSAValue) -> SSAValue | None:
        """Distances as bytes with a sign, one row for each output, if they fit."""
        found = distances_of(weight)
        if found is None or found.zero is not None:
            return None
        match element_type(found.bytes.type), found.number:
            case dtype, 0 if dtype == i8:
                signed = found.bytes
            case dtype, number if dtype == UNSIGNED_BYTE and number == SIGN:
                signed = self._make(CastOp.of(weight, to=i8))
            case _:
                return None
        return self._make(TransposeOp.of(signed, permutation=ints([1, 0]))) if self._output_axis else signed

    def _multiplied(self, unsigned: SSAValue, signed: SSAValue, around: int = 0) -> SSAValue:
        """The product of bytes, those around an image being such numbers."""
        if not isinstance(self._product, ConvOp):
            return self._make(DenseOp.of(unsigned, signed))
        properties, windows = dict(self._product.properties), self._product.windows
        if around and self._is_padded:
            pads = ints([0, 0, *windows.before, 0, 0, *windows.after])
            unsigned = self._make(PadOp.of(unsigned, pads=pads, value=IntegerAttr(around, UNSIGNED_BYTE)))
            properties["pads"] = ints([0] * 2 * len(windows.before))
        return self._make(ConvOp.of(unsigned, signed, **properties))

    @property
    def _is_padded(self) -> bool:
        return isinstance(self._product, ConvOp) and any(self._product.pads.get_values())

    def _sums(self, signed: SSAValue) -> SSAValue:
        """The sums of the weights of each output."""
        wide, axes = self._make(CastOp.of(signed, to=i32)), ints(range(1, len(dims_of(signed.type))))
        return self._by_output(self._make(ReduceSumOp.of(wide, axes=axes, keep_dims=BoolAttr.from_bool(False))))

    def _sums_inside(self, signed: SSAValue) -> SSAValue | None:
        """The sums of those weights that do not lie on padding, at each place; None for images of unknown size."""
        if not self._is_padded:
            return self._sums(signed)
        shape = [d.constant for d in self._product.dims(0)[1:]]
        if None in shape:
            return None
        ones = TensorType(UNSIGNED_BYTE, [1, *(n for n in shape if n is not None)])
        image = self._make(arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(ones, [1])))
        return self._multiplied(image, signed)

    def _times(self, sums: SSAValue, number: int, zero: SSAValue | None) -> SSAValue:
        """The zero point times each of these sums."""
        point = None if zero is None else self._as_scalar(zero)
        if point is None or number:
            fixed = self._make(constant(number, i32))
            point = fixed if point is None else self._make(AddOp.of(point, fixed))
        return self._make(MulOp.of(sums, point))


def _is_a_byte(zero: SSAValue) -> bool:
    """Whether a zero point is one for all, and made of a byte."""
    widened = zero.owner
    return isinstance(widened, CastOp) and element_type(widened.input.type) in BYTE_TYPES and _is_single(zero)


def _is_single(value: SSAValue) -> bool:
    return all(d == const(1) for d in dims_of(value.type))
