"""Which maps of a matrix are affine: x * factor + offset, with another number in the place of what is missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import FloatAttr, f64
from xdsl.ir import Operation as IROperation
from xdsl.ir import SSAValue

from tilework.dialects import arith
from tilework.dialects.matrix import MapOp, YieldOp

_PREDICATE_NE = "une"


@dataclass(frozen=True)
class Vector:
    """The element of one of the map's vectors, by its place."""

    place: int


@dataclass(frozen=True)
class Operation:
    """Two numbers of a column, added, subtracted, multiplied or divided: `+`, `-`, `*`, `/`."""

    sign: str
    left: Number
    right: Number


Number: TypeAlias = "Vector | Operation | float"
"""A number that is the same for a whole column."""


@dataclass(frozen=True)
class Affine:
    """x * factor + offset; where x is missing, `fill`, or what is missing stays so."""

    factor: Number
    offset: Number
    fill: Number | None = None


class _Missing:
    """The condition that the element of the matrix is missing."""


_Meaning: TypeAlias = "Affine | Number | _Missing"

SIGNS: dict[type[IROperation], str] = {arith.AddfOp: "+", arith.SubfOp: "-", arith.MulfOp: "*", arith.DivfOp: "/"}
"""What the signs of operations on two numbers are."""


def affine_of(op: MapOp) -> Affine | None:
    """What a map of double-precision numbers does to an element, or None where it is not affine."""
    block = op.body.block
    if any(argument.type != f64 for argument in block.args):
        return None
    element, *vectors = block.args
    known: dict[SSAValue, _Meaning] = {element: Affine(1.0, 0.0)}
    known |= {argument: Vector(i) for i, argument in enumerate(vectors)}
    for inner in block.ops:
        if isinstance(inner, YieldOp):
            made = known.get(inner.value)
            return made if isinstance(made, Affine) else None
        meaning = _meaning(inner, known)
        if meaning is None:
            return None
        known[inner.results[0]] = meaning
    return None


def _meaning(op: object, known: dict[SSAValue, _Meaning]) -> _Meaning | None:
    match op:
        case arith.ConstantOp(value=FloatAttr() as value):
            return float(value.value.data)
        case arith.CmpfOp():
            same = op.lhs is op.rhs and known.get(op.lhs) == Affine(1.0, 0.0)
            asks = arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data] == _PREDICATE_NE
            return _Missing() if same and asks else None
        case arith.SelectOp():
            return _chosen(known.get(op.cond), known.get(op.lhs), known.get(op.rhs))
        case arith.AddfOp() | arith.SubfOp() | arith.MulfOp() | arith.DivfOp():
            return _combined(SIGNS[type(op)], known.get(op.lhs), known.get(op.rhs))
        case _:
            return None


def _chosen(condition: _Meaning | None, fill: _Meaning | None, other: _Meaning | None) -> _Meaning | None:
    """select(missing, fill, affine), where a number is affine as well."""
    if not isinstance(condition, _Missing) or fill is None or isinstance(fill, Affine | _Missing):
        return None
    if other is None or isinstance(other, _Missing):
        return None
    if not isinstance(other, Affine):
        return Affine(0.0, other, fill)
    return None if other.fill is not None else Affine(other.factor, other.offset, fill)


def _combined(sign: str, left: _Meaning | None, right: _Meaning | None) -> _Meaning | None:
    if left is None or right is None or isinstance(left, _Missing) or isinstance(right, _Missing):
        return None
    if isinstance(left, Affine):
        return None if isinstance(right, Affine) else _with_number(sign, left, right)
    if isinstance(right, Affine):
        return _with_number(sign, right, left) if sign in "+*" else None
    return Operation(sign, left, right)


def _with_number(sign: str, x: Affine, number: Number) -> Affine:
    """x and then a number: both parts are multiplied or divided, or the offset alone grows."""

    def each(part: Number) -> Number:
        return Operation(sign, part, number)

    fill = None if x.fill is None else each(x.fill)
    if sign in "*/":
        return Affine(each(x.factor), each(x.offset), fill)
    return Affine(x.factor, each(x.offset), fill)
