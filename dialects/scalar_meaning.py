"""What the scalar operations of `arith`, `math` and machines mean, on numpy values of any shape.

The te, loop and host interpreters share this table, and verifiers look up in it what a program says. Operands are numpy
scalars or arrays of one element type that broadcast; the result has the element type of the operation's result, so f32
arithmetic is done in f32. `maximumf` and `minimumf` propagate NaN, integers wrap around.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import ml_dtypes
import numpy as np
from xdsl.dialects import math
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    Signedness,
    VectorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.hints import isa

from tilework.algebra.error_function import erf
from tilework.dialects import arith
from tilework.dialects.graph.base import numpy_dtype
from tilework.dialects.support.call_intrinsic import CallIntrinsic
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.shapes import is_narrow
from tilework.dialects.te.intrinsics import declaration_of

Value: TypeAlias = Any
"""A numpy scalar or array; for values of type index a Python integer too."""

INT4 = np.dtype(ml_dtypes.int4)
UINT4 = np.dtype(ml_dtypes.uint4)

_Meaning: TypeAlias = Callable[..., Value]
_Conversion: TypeAlias = Callable[[Value], Value]


def _unsigned(function: _Meaning) -> _Meaning:
    """`function` on the operands' bits read as unsigned integers."""

    def applied(a: Value, b: Value) -> Value:
        x, y = np.asarray(a), np.asarray(b)
        if x.dtype.kind != "i":
            return function(x, y)
        unsigned = np.dtype(f"u{x.dtype}")
        result = np.asarray(function(x.astype(unsigned), y.astype(unsigned)))
        return (result if result.dtype == bool else result.astype(x.dtype))[()]

    return applied


def _divide_towards_zero(a: Value, b: Value) -> Value:
    quotient = np.floor_divide(a, b)
    return quotient + ((quotient < 0) & (quotient * b != a))


def _bits(count: Callable[[Any], Value]) -> _Meaning:
    """`count` of an operand's bits, a number of its type."""

    def applied(a: Value) -> Value:
        x = np.asarray(a)
        return count(x.view(np.dtype(f"u{x.dtype.itemsize}"))).astype(x.dtype)[()]

    return applied


def _leading_zeros(bits: Any) -> Value:
    """Fill all bits below the highest one and count them."""
    width = 8 * bits.itemsize
    shift = 1
    while shift < width:
        bits = bits | bits >> shift
        shift *= 2
    return width - np.bitwise_count(bits).astype(np.int64)


def _trailing_zeros(bits: Any) -> Value:
    """The bits below the lowest one, counted."""
    return np.bitwise_count(~bits & (bits - 1))


def _reciprocal_root(a: Value) -> Value:
    root: Value = np.sqrt(a)
    return np.divide(root.dtype.type(1), root)


def _power(a: Value, b: Value) -> Value:
    """Compute a power as C does; where the exponent is 0.5 throughout, numpy would take the square root, of -0 and -inf
    too."""
    choose: _Meaning = np.where
    root: Value = np.abs(np.sqrt(choose(a == -np.inf, -a, a)))
    return choose(b == 0.5, root, np.power(a, b))


def _round_half_away(a: Value) -> Value:
    whole: Value = np.trunc(a)
    return whole + np.where(np.abs(a - whole) >= 0.5, np.sign(a), 0).astype(whole.dtype)


def multiply_add(a: Value, b: Value, c: Value) -> Value:
    """Multiply and add, rounded twice."""
    return a * b + c


_SIMPLE: dict[type[Operation], _Meaning] = {
    arith.AddfOp: np.add,
    arith.SubfOp: np.subtract,
    arith.MulfOp: np.multiply,
    arith.DivfOp: np.divide,
    arith.NegfOp: np.negative,
    arith.MaximumfOp: np.maximum,
    arith.MinimumfOp: np.minimum,
    arith.MaxnumfOp: np.fmax,
    arith.MinnumfOp: np.fmin,
    arith.AddiOp: np.add,
    arith.SubiOp: np.subtract,
    arith.MuliOp: np.multiply,
    arith.MaxSIOp: np.maximum,
    arith.MinSIOp: np.minimum,
    arith.AndIOp: np.bitwise_and,
    arith.OrIOp: np.bitwise_or,
    arith.XOrIOp: np.bitwise_xor,
    arith.ShLIOp: np.left_shift,
    arith.ShRSIOp: np.right_shift,
    arith.FloorDivSIOp: np.floor_divide,
    arith.DivSIOp: _divide_towards_zero,
    arith.RemFOp: np.fmod,
    arith.RemSIOp: np.fmod,
    arith.DivUIOp: _unsigned(np.floor_divide),
    arith.RemUIOp: _unsigned(np.remainder),
    arith.MaxUIOp: _unsigned(np.maximum),
    arith.MinUIOp: _unsigned(np.minimum),
    arith.ShRUIOp: _unsigned(np.right_shift),
    arith.SelectOp: np.where,
    math.AbsFOp: np.abs,
    math.AbsIOp: np.abs,
    math.Atan2Op: np.arctan2,
    math.CountLeadingZerosOp: _bits(_leading_zeros),
    math.CountTrailingZerosOp: _bits(_trailing_zeros),
    math.CtPopOp: _bits(np.bitwise_count),
    math.CeilOp: np.ceil,
    math.CosOp: np.cos,
    math.CoshOp: np.cosh,
    math.AcosOp: np.arccos,
    math.AcoshOp: np.arccosh,
    math.AsinOp: np.arcsin,
    math.AsinhOp: np.arcsinh,
    math.AtanOp: np.arctan,
    math.AtanhOp: np.arctanh,
    math.CopySignOp: np.copysign,
    math.ErfOp: erf,
    math.ExpOp: np.exp,
    math.Exp2Op: np.exp2,
    math.ExpM1Op: np.expm1,
    math.FloorOp: np.floor,
    math.FmaOp: multiply_add,
    math.LogOp: np.log,
    math.Log10Op: np.log10,
    math.Log1pOp: np.log1p,
    math.Log2Op: np.log2,
    math.PowFOp: _power,
    math.RoundOp: _round_half_away,
    math.RoundEvenOp: np.rint,
    math.RsqrtOp: _reciprocal_root,
    math.SinOp: np.sin,
    math.SinhOp: np.sinh,
    math.SqrtOp: np.sqrt,
    math.TanOp: np.tan,
    math.TanhOp: np.tanh,
    math.TruncOp: np.trunc,
}

_ORDERED: dict[str, _Meaning] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lt": np.less,
    "le": np.less_equal,
}

ROUNDING: tuple[type[Operation], ...] = (
    arith.DivfOp,
    arith.TruncFOp,
    math.AcosOp,
    math.AcoshOp,
    math.AsinOp,
    math.AsinhOp,
    math.AtanOp,
    math.AtanhOp,
    math.CosOp,
    math.CoshOp,
    math.ErfOp,
    math.Exp2Op,
    math.ExpM1Op,
    math.ExpOp,
    math.Log10Op,
    math.Log1pOp,
    math.Log2Op,
    math.LogOp,
    math.PowFOp,
    math.RsqrtOp,
    math.SinOp,
    math.SinhOp,
    math.SqrtOp,
    math.TanOp,
    math.TanhOp,
)
"""Operations whose result on small integers is in general no small integer: sums of it depend on their order."""


def evaluate(op: Operation, operands: Sequence[Value]) -> Value:
    """The result of one `arith` or `math` operation. Raises CompileError for one without a meaning here."""
    return meaning_of(op)(*operands)


def straight_line(block: Block, arguments: Sequence[Value]) -> list[Value]:
    """What a block of such operations ends in, for these arguments."""
    values: dict[SSAValue, Value] = dict(zip(block.args, arguments, strict=True))
    *operations, last = block.ops
    for op in operations:
        values[op.results[0]] = evaluate(op, [values[operand] for operand in op.operands])
    return [values[operand] for operand in last.operands]


def meaning_of(op: Operation) -> _Meaning:
    """The operation as a function of its operands' values; look it up once, call it often."""
    if op.operands and is_narrow(op.operands[0].type):
        _check_narrow(op)
    simple = _SIMPLE.get(type(op))
    if simple is not None:
        return simple
    match op:
        case CallIntrinsic():
            body = declaration_of(op, op.intrinsic).body.block
            return lambda *operands: straight_line(body, operands)[0]
        case arith.ConstantOp():
            value = constant(op)
            return lambda: value
        case arith.CmpfOp():
            return _compare_floats(arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data])
        case arith.CmpiOp():
            return _compare_integers(arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data])
        case _:
            return _conversion(op)


def _check_narrow(op: Operation) -> None:
    """Integers of four bits are converted, chosen between and found equal or not; no arithmetic is done on them."""
    match op:
        case arith.CmpiOp() if arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data] in ("eq", "ne"):
            return
        case arith.ExtSIOp() | arith.ExtUIOp() | arith.TruncIOp() | arith.SIToFPOp() | arith.UIToFPOp():
            return
        case arith.IndexCastOp():
            return
        case _:
            raise CompileError(f"the interpreters give no meaning to '{op.name}' of {op.operands[0].type}", op)


def constant(op: arith.ConstantOp) -> Value:
    """The value of `arith.constant`: a numpy scalar, for a vector an array, for an index a Python integer."""
    match op.value:
        case IntegerAttr() as a if isinstance(a.type, IndexType):
            return a.value.data
        case IntegerAttr() | FloatAttr() as a:
            dtype = element_dtype(a.type)
            return np.array(a.value.data).astype(dtype)[()]  # astype wraps: -1 may be written for an unsigned type
        case DenseIntOrFPElementsAttr() as a:
            dtype = element_dtype(a.get_element_type())
            values = np.array(a.get_values()).astype(dtype)
            return values[0] if a.is_splat() else values.reshape(a.get_shape())
        case other:
            raise CompileError(f"the interpreters know no constant {other}", op)


def element_dtype(type_: Attribute) -> np.dtype[Any]:
    """The numpy type that holds a scalar, or the elements of a vector; an index is a 64-bit integer."""
    element = type_.element_type if isa(type_, VectorType) else type_
    if isinstance(element, IndexType):
        return np.dtype(np.int64)
    if is_narrow(element):
        return UINT4 if element == IntegerType(4, Signedness.UNSIGNED) else INT4
    return numpy_dtype(element)


def integer_limits(dtype: np.dtype[Any]) -> tuple[int, int]:
    """The least and the greatest number of an integer type."""
    limits: Any = cast(Any, ml_dtypes).iinfo(dtype)
    return int(limits.min), int(limits.max)


def _conversion(op: Operation) -> _Conversion:
    match op:
        case arith.ExtUIOp() | arith.UIToFPOp():
            source, target = element_dtype(op.operands[0].type), element_dtype(op.results[0].type)
            if source == np.dtype(bool):
                return lambda a: _astype(a, target)
            unsigned = _without_sign(source)
            return lambda a: _astype(np.asarray(a).view(unsigned), target)
        case arith.ExtSIOp() if element_dtype(op.operands[0].type) == np.dtype(bool):
            target = element_dtype(op.results[0].type)
            return lambda a: np.negative(_astype(a, target))  # the one bit is the sign
        case arith.TruncIOp() if element_dtype(op.results[0].type) == np.dtype(bool):
            return lambda a: np.bitwise_and(a, 1) != 0
        case arith.FPToUIOp():
            target = element_dtype(op.results[0].type)
            unsigned = _without_sign(target)
            return lambda a: np.asarray(_astype(a, unsigned)).view(target)[()]
        case (
            arith.ExtFOp()
            | arith.TruncFOp()
            | arith.SIToFPOp()
            | arith.FPToSIOp()
            | arith.IndexCastOp()
            | arith.ExtSIOp()
            | arith.TruncIOp()
        ):
            target = element_dtype(op.results[0].type)
            return lambda a: _astype(a, target)
        case arith.BitcastOp():
            target = element_dtype(op.results[0].type)
            return lambda a: np.asarray(a).view(target)[()]
        case _:
            raise CompileError(f"the interpreters give no meaning to '{op.name}'", op)


def _without_sign(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The unsigned integers of a signed integer type's width."""
    return UINT4 if dtype == INT4 else np.dtype(f"u{dtype}")


def _astype(a: Value, dtype: np.dtype[Any]) -> Value:
    return np.asarray(a).astype(dtype)[()]


def _compare_floats(predicate: str) -> _Meaning:
    """MLIR's float predicates: `o..` is false where an operand is NaN, `u..` is true there."""

    def compared(a: Value, b: Value) -> Value:
        unordered = np.isnan(a) | np.isnan(b)
        match predicate:
            case "true" | "false":
                return np.full(np.shape(unordered), predicate == "true")[()]
            case "ord" | "uno":
                return unordered == (predicate == "uno")
            case _:
                holds = _ORDERED[predicate[1:]](a, b)
                return holds & ~unordered if predicate.startswith("o") else holds | unordered

    return compared


def _compare_integers(predicate: str) -> _Meaning:
    if predicate in _ORDERED:
        return _ORDERED[predicate]
    relation = _ORDERED[predicate[1:]]
    return relation if predicate.startswith("s") else _unsigned(relation)
