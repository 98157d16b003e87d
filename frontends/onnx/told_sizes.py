"""Integers of the running model as sizes: each becomes an expression over symbols that `graph.size` binds."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, i64
from xdsl.ir import SSAValue

from tilework.algebra.index_expr import Expr, const, product
from tilework.dialects.arith import ConstantOp
from tilework.dialects.graph import CastOp, ConcatOp, RangeOp, ReshapeOp, SizeOp, SliceOp
from tilework.dialects.graph.base import ints
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.shapes import dims_of, element_type
from tilework.frontends.onnx.emitter import Emitter

MOST_SIZES = 16
"""No list of sizes is longer."""


def size_told(emitter: Emitter, number: SSAValue, most: Expr | None, title: str) -> Expr:
    """An i64 without dimensions as a size from 0 to a limit; the same number is the same symbol.

    The running model refuses another number.
    """
    if number not in emitter.told:
        symbol = emitter.fresh_symbol(title)
        emitter.bind(symbol, emitter.insert(SizeOp(str(symbol), number, most), title))
        emitter.told[number] = symbol
    return emitter.told[number]


def sizes_told(emitter: Emitter, numbers: SSAValue, most: Expr | None, title: str) -> list[Expr] | None:
    """The elements of a vector of integers, or of one, as sizes; None where there are too many, or open many."""
    found = numbers_told(emitter, numbers, title)
    if found is None:
        return None
    return [number if isinstance(number, Expr) else size_told(emitter, number, most, title) for number in found]


def numbers_told(emitter: Emitter, numbers: SSAValue, title: str) -> list[Expr | SSAValue] | None:
    """The elements of a vector of integers, or of one integer: what is known, or told already, and tensors of one i64.

    What a vector was put together of is looked for, so that a size that is known stays known. None where there are too
    many, or open many.
    """
    count = product(dims_of(numbers.type)).constant
    if len(dims_of(numbers.type)) > 1 or count is None or count > MOST_SIZES:
        return None
    match numbers.owner:
        case ConcatOp() as concat:
            parts = [numbers_told(emitter, part, title) for part in concat.inputs]
            return None if None in parts else [number for part in parts if part is not None for number in part]
        case ReshapeOp() as reshape if len(dims_of(reshape.input.type)) <= 1:
            return numbers_told(emitter, reshape.input, title)
        case CastOp() as cast if element_type(cast.input.type) == i64:
            return numbers_told(emitter, cast.input, title)
        case RangeOp() as counted if count == 1:
            return [counted.first.data[0]]
        case ConstantOp(value=DenseIntOrFPElementsAttr() as constant):
            held = [const(number) for number in constant.get_values() if isinstance(number, int)]
            return [*(held[:1] * count if constant.is_splat() else held)]
        case _:
            elements = [_element(emitter, numbers, i, title) for i in range(count)]
            return [emitter.told.get(element, element) for element in elements]


def _element(emitter: Emitter, numbers: SSAValue, i: int, title: str) -> SSAValue:
    """One element of a vector as an i64 without dimensions; the same operators for the same element."""
    if not dims_of(numbers.type) and element_type(numbers.type) == i64:
        return numbers
    if (numbers, i) not in emitter.elements:
        taken = numbers if element_type(numbers.type) == i64 else emitter.insert(CastOp.of(numbers, to=i64), title)
        if dims_of(numbers.type) not in ((), (const(1),)):
            bounds = {"axes": ints([0]), "starts": ints([i]), "stops": ints([i + 1]), "steps": ints([1])}
            taken = emitter.insert(SliceOp.of(taken, **bounds), title)
        if dims_of(taken.type):
            taken = emitter.insert(ReshapeOp.of(taken, shape=DimsAttr.of([])), title)
        emitter.elements[numbers, i] = taken
    return emitter.elements[numbers, i]
