"""Products of dequantized numbers become products of bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import (
    BoolAttr,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    TensorType,
    f32,
    i8,
    i32,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tilework.algebra.index_expr import Expr, const
from tilework.analysis.functions import graphs_of
from tilework.analysis.parameters import is_compiled, is_splat, values_from_parameters
from tilework.dialects import arith
from tilework.dialects.graph.accumulation import UNSIGNED_BYTE
from tilework.dialects.graph.base import GraphOp, ints
from tilework.dialects.graph.broadcast import AddOp, MulOp, SubOp
from tilework.dialects.graph.cast import CastOp
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.dense import DenseOp, MatmulOp
from tilework.dialects.graph.movement import PadOp, TransposeOp
from tilework.dialects.graph.reduction import ReduceSumOp
from tilework.dialects.graph.reshape import ReshapeOp
from tilework.dialects.index_attr import DimsAttr
from tilework.dialects.locations import copy_location
from tilework.dialects.shapes import dims_of, element_type
from tilework.dialects.words import BYTES
from tilework.targets.parse import parse_target
from tilework.targets.target import Target
from tilework.transforms.base import TileworkPass

Product = ConvOp | DenseOp | MatmulOp

SIGN = 128
"""How far apart the zeros of bytes with and without a sign are."""

LARGEST = 255 * 128
"""The size of a product of bytes, at most."""


@dataclass(frozen=True)
class QuantizedProducts(TileworkPass):
    """Multiply bytes, and move what was done to them before behind the product, where it is done to every sum once.

    %d = graph.cast %x {to = i32}                          %s = graph.conv %x, %w : (.. ui8, .. i8) -> .. i32
    %e = graph.sub %d, %zero                          ->   %z = %zero times the sum of each filter
    %f = graph.mul (graph.cast %e {to = f32}), %scale      %t = graph.sub %s, %z
    %y = graph.conv %f, (the same of %w)                   %y = graph.mul (graph.cast %t {to = f32}), %scales

    Of dequantized numbers, and of the integers themselves. The sums are exact, where those of f32 are rounded. Padding
    is with the zero point. Only where the target multiplies bytes faster than floats, weights are parameters whose own
    zero is in the middle of their range, one scale and zero point is for all of the other operand, and words of bytes
    can be taken from memory: rows of whole words, or images computed here, which can be put in blocks of channels.
    Requires nothing; run it before graph-transpose-weights.
    """

    name = "graph-quantized-products"
    anchor: ClassVar = FuncOp
    numerics: ClassVar = "reassociates"

    target: str = "llvm"

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, FuncOp)
        target = parse_target(self.target)
        if not is_compiled(op) or not target.dot_bits:
            return
        known = values_from_parameters(op)
        for product in [o for graph in graphs_of(op) for o in graph.ops if isinstance(o, Product)]:
            data, weight = product.operands
            if weight in known and data not in known and _can_be_in_words(product, target):
                _Rewriting(product).run()


def _can_be_in_words(product: Product, target: Target) -> bool:
    data, weight = product.dims(0), product.dims(1)
    if not all(d.constant for d in weight):
        return False
    if isinstance(product, ConvOp):
        channels, blocks = data[1].constant or 0, target.lanes(i32.bitwidth)
        is_image = not all(d == const(1) for d in data[2:])
        return is_image and channels % blocks == 0 and (weight[1].constant or 0) % BYTES == 0
    summed = weight[1] if isinstance(product, DenseOp) else weight[0]
    return len(weight) == 2 and len(data) > 1 and (summed.constant or 0) % BYTES == 0


@dataclass(frozen=True)
class _Distances:
    """Bytes, and the zero point that a tensor holds their distances from, as i32; None for zero itself."""

    bytes: SSAValue
    zero: SSAValue | None


def _distances(value: SSAValue) -> _Distances | None:
    match value.owner:
        case CastOp() as cast if element_type(cast.input.type) in (UNSIGNED_BYTE, i8) and cast.to == i32:
            return _Distances(cast.input, None)
        case SubOp() as sub:
            found = _distances(sub.left)
            return _Distances(found.bytes, sub.right) if found is not None and found.zero is None else None
        case _:
            return None


def _scaled(value: SSAValue) -> tuple[SSAValue, SSAValue] | None:
    """The integers and the scale of floats that are their products."""
    match value.owner:
        case MulOp() as mul if isinstance(cast := mul.left.owner, CastOp) and element_type(cast.input.type) == i32:
            return (cast.input, mul.right) if mul.result.type == mul.left.type and cast.to == f32 else None
        case _:
            return None


def _number(value: SSAValue | None) -> int | None:
    """An integer that is known and the same for all elements; that which is not there is zero."""
    if value is None:
        return 0
    owner = value.owner
    if isinstance(owner, CastOp) and not isinstance(element_type(owner.input.type), IntegerType):
        return None
    if isinstance(owner, CastOp):
        return _number(owner.input)
    if isinstance(owner, arith.ConstantOp) and is_splat(owner) and isinstance(owner.value, DenseIntOrFPElementsAttr):
        return int(owner.value.get_values()[0])
    return None


class _Rewriting:
    """One product, if its operands are bytes."""

    def __init__(self, product: Product):
        self._product = product
        self._made: list[Operation] = []

    def run(self) -> None:
        """Replace it, or leave it as it is."""
        data, weight = self._product.operands
        scales: Sequence[SSAValue] = ()
        if element_type(data.type) == f32:
            left, right = _scaled(data), _scaled(weight)
            if left is None or right is None or not self._fits(left[1], right[1]):
                return
            (data, *_), (weight, *_) = left, right
            scales = left[1], right[1]
        total = self._total(data, weight)
        if total is None:
            _erase(self._made)
            return
        if scales:
            scale = self._make(MulOp.of(self._as_scalar(scales[0]), self._by_output(scales[1])))
            total = self._make(MulOp.of(self._make(CastOp.of(total, to=f32)), scale))
        total.name_hint = self._product.result.name_hint
        for op in self._made:
            copy_location(op, self._product)
        Rewriter.insert_op(self._made, InsertPoint.before(self._product))
        Rewriter.replace_op(self._product, [], [total])

    def _make(self, op: GraphOp | arith.ConstantOp) -> SSAValue:
        self._made.append(op)
        return op.results[0]

    def _fits(self, data_scale: SSAValue, weight_scale: SSAValue) -> bool:
        """Whether the sums of dequantized numbers are such of bytes times a scale for each output."""
        terms = prod(d.offset for d in self._weight_dims) // self._outputs.offset
        single = all(d == const(1) for d in dims_of(data_scale.type))
        return single and terms * LARGEST < 1 << (i32.bitwidth - 1) and self._is_by_output(weight_scale)

    @property
    def _weight_dims(self) -> Sequence[Expr]:
        return self._product.dims(1)

    @property
    def _output_axis(self) -> int:
        """Of the weight."""
        return 1 if isinstance(self._product, MatmulOp) else 0

    @property
    def _outputs(self) -> Expr:
        return self._weight_dims[self._output_axis]

    def _is_by_output(self, value: SSAValue) -> bool:
        """Whether what is broadcast to the weight has one number for each output, or for all."""
        dims = dims_of(value.type)
        aligned = [const(1)] * (len(self._weight_dims) - len(dims)) + [*dims]
        return all(d == const(1) for axis, d in enumerate(aligned) if axis != self._output_axis)

    def _by_output(self, value: SSAValue) -> SSAValue:
        """What is broadcast to the weight, to be broadcast to the result."""
        count = prod((d.offset for d in dims_of(value.type)), start=1)
        return self._make(ReshapeOp.of(value, shape=DimsAttr((const(count), *self._spatial))))

    def _as_scalar(self, value: SSAValue) -> SSAValue:
        return self._make(ReshapeOp.of(value, shape=DimsAttr(())))

    @property
    def _spatial(self) -> Sequence[Expr]:
        """The axes of a result behind that of its outputs, of size 1."""
        return [const(1)] * (len(self._weight_dims) - 2) if isinstance(self._product, ConvOp) else []

    # -- integers

    def _total(self, data: SSAValue, weight: SSAValue) -> SSAValue | None:
        """The product of two tensors of distances, None if they are not such of bytes."""
        left, signed = _distances(data), self._signed(weight)
        if left is None or signed is None or not all(d == const(1) for d in _dims(left.zero)):
            return None
        unsigned, zero = self._unsigned(left)
        total = self._multiplied(unsigned, signed, zero)
        if total is None or _number(zero) == 0:
            return total
        assert zero is not None
        axes = ints(range(1, len(dims_of(signed.type))))
        filters = self._make(
            ReduceSumOp.of(self._make(CastOp.of(signed, to=i32)), axes=axes, keep_dims=BoolAttr.from_bool(False))
        )
        shift = self._make(MulOp.of(filters, self._as_scalar(zero)))
        shape = DimsAttr((self._outputs, *self._spatial))
        return self._make(SubOp.of(total, self._make(ReshapeOp.of(shift, shape=shape))))

    def _signed(self, weight: SSAValue) -> SSAValue | None:
        """Distances as bytes with a sign, one row for each output, if they fit."""
        found = _distances(weight)
        if found is None:
            return None
        dtype, zero = element_type(found.bytes.type), _number(found.zero)
        if (dtype, zero) == (i8, 0):
            signed = found.bytes
        elif (dtype, zero) == (UNSIGNED_BYTE, SIGN):
            signed = self._make(CastOp.of(weight, to=i8))
        else:
            return None
        if isinstance(self._product, MatmulOp):
            return self._make(TransposeOp.of(signed, permutation=ints([1, 0])))
        return signed

    def _unsigned(self, data: _Distances) -> tuple[SSAValue, SSAValue | None]:
        """Bytes without sign, and their zero point as i32."""
        if element_type(data.bytes.type) == UNSIGNED_BYTE:
            return data.bytes, data.zero
        moved = self._make(AddOp.of(self._make(CastOp.of(data.bytes, to=i32)), self._constant(SIGN)))
        number = _number(data.zero)
        if number is None:
            assert data.zero is not None
            zero = self._make(AddOp.of(data.zero, self._constant(SIGN)))
        else:
            zero = self._constant(number + SIGN)
        return self._make(CastOp.of(moved, to=UNSIGNED_BYTE)), zero

    def _multiplied(self, unsigned: SSAValue, signed: SSAValue, zero: SSAValue | None) -> SSAValue | None:
        """The sums of products, None where padding is not known."""
        product = self._product
        if not isinstance(product, ConvOp):
            return self._make(DenseOp.of(unsigned, signed))
        properties = dict(product.properties)
        windows, number = product.windows, _number(zero)
        if any((*windows.before, *windows.after)) and number != 0:
            if number is None:
                return None
            pads = ints([0, 0, *windows.before, 0, 0, *windows.after])
            unsigned = self._make(PadOp.of(unsigned, pads=pads, value=IntegerAttr(number, UNSIGNED_BYTE)))
            properties["pads"] = ints([0] * 2 * len(windows.before))
        return self._make(ConvOp.of(unsigned, signed, **properties))

    def _constant(self, number: int) -> SSAValue:
        return self._make(arith.ConstantOp(DenseIntOrFPElementsAttr.from_list(TensorType(i32, []), [number])))


def _dims(value: SSAValue | None) -> Sequence[Expr]:
    return () if value is None else dims_of(value.type)


def _erase(ops: Sequence[Operation]) -> None:
    for op in reversed(ops):
        op.erase()
