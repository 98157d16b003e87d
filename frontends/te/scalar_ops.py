"""Which `arith` or `math` operation a function of values is, for each class of element types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from xdsl.dialects import math
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IndexType, IntegerAttr, IntegerType, i1
from xdsl.ir import Operation, SSAValue

from tilework.dialects import arith
from tilework.frontends.te.dtypes import bits_of, is_float, is_narrow, is_signed, type_of
from tilework.frontends.te.scalar import Constant

Make = Callable[..., Operation]
Number = IntegerAttr[IntegerType] | FloatAttr[AnyFloat]

_FLOAT: dict[str, Make] = {
    "add": arith.AddfOp,
    "sub": arith.SubfOp,
    "mul": arith.MulfOp,
    "div": arith.DivfOp,
    "max": arith.MaximumfOp,
    "min": arith.MinimumfOp,
    "neg": arith.NegfOp,
    "abs": math.AbsFOp,
    "exp": math.ExpOp,
    "exp2": math.Exp2Op,
    "log": math.LogOp,
    "log2": math.Log2Op,
    "log10": math.Log10Op,
    "log1p": math.Log1pOp,
    "sqrt": math.SqrtOp,
    "rsqrt": math.RsqrtOp,
    "erf": math.ErfOp,
    "tanh": math.TanhOp,
    "sin": math.SinOp,
    "cos": math.CosOp,
    "tan": math.TanOp,
    "sinh": math.SinhOp,
    "cosh": math.CoshOp,
    "asin": math.AsinOp,
    "acos": math.AcosOp,
    "atan": math.AtanOp,
    "asinh": math.AsinhOp,
    "acosh": math.AcoshOp,
    "atanh": math.AtanhOp,
    "floor": math.FloorOp,
    "ceil": math.CeilOp,
    "trunc": math.TruncOp,
    "round": math.RoundOp,
    "nearbyint": math.RoundEvenOp,
    "power": math.PowFOp,
    "fmod": arith.RemFOp,
    "copysign": math.CopySignOp,
}
_INTEGER: dict[str, Make] = {
    "add": arith.AddiOp,
    "sub": arith.SubiOp,
    "mul": arith.MuliOp,
    "and": arith.AndIOp,
    "or": arith.OrIOp,
    "xor": arith.XOrIOp,
    "shl": arith.ShLIOp,
    "popcount": math.CtPopOp,
    "clz": math.CountLeadingZerosOp,
}
_SIGNED: dict[str, Make] = {
    "max": arith.MaxSIOp,
    "min": arith.MinSIOp,
    "floordiv": arith.FloorDivSIOp,
    "truncdiv": arith.DivSIOp,
    "truncmod": arith.RemSIOp,
    "shr": arith.ShRSIOp,
    "abs": math.AbsIOp,
}
_UNSIGNED: dict[str, Make] = {
    "max": arith.MaxUIOp,
    "min": arith.MinUIOp,
    "floordiv": arith.DivUIOp,
    "floormod": arith.RemUIOp,
    "truncdiv": arith.DivUIOp,
    "truncmod": arith.RemUIOp,
    "shr": arith.ShRUIOp,
}
_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
_REDUCERS = {"max": "maxui", "min": "minui"}


class ScalarWriter:
    """Writes functions of values; `insert` appends an operation to the body and returns its result."""

    def __init__(self, insert: Callable[[Operation], SSAValue]):
        self.insert = insert

    def apply(self, function: str, dtype: str, *operands: SSAValue) -> SSAValue:
        """A function of operands that are all of type `dtype`."""
        if function in _COMPARISONS:
            return self._compare(function, dtype, *operands)
        if function == "not":
            true = self.constant(Constant("bool", 1))
            return self.insert(arith.XOrIOp(operands[0], true))
        if is_float(dtype):
            return self.insert(_FLOAT[function](*operands))
        if function in _INTEGER:
            return self.insert(_INTEGER[function](*operands))
        if is_signed(dtype):
            return self._signed(function, *operands)
        if function == "abs":
            return operands[0]
        return self.insert(_UNSIGNED[function](*operands))

    def _signed(self, function: str, *operands: SSAValue) -> SSAValue:
        if function == "floormod":
            return self.floor_remainder(*operands)
        return self.insert(_SIGNED[function](*operands))

    def floor_remainder(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """What is left of a signed integer or an index where the quotient is rounded down; 0 of a division by 0."""
        whole = self.insert(arith.MuliOp(self.insert(arith.FloorDivSIOp(a, b)), b))
        rest = self.insert(arith.SubiOp(a, whole))
        if isinstance(b.owner, arith.ConstantOp):  # which is not 0: that is refused
            return rest
        zero = self.insert(arith.ConstantOp(IntegerAttr(0, cast("IntegerType | IndexType", b.type))))
        return self.select(self.insert(arith.CmpiOp(b, zero, "eq")), zero, rest)

    def _compare(self, function: str, dtype: str, a: SSAValue, b: SSAValue) -> SSAValue:
        if is_float(dtype):
            # not equal holds where one of the two is no number; the other comparisons do not
            return self.insert(arith.CmpfOp(a, b, "une" if function == "ne" else f"o{function}"))
        sign = "" if function in ("eq", "ne") else "s" if is_signed(dtype) else "u"
        return self.insert(arith.CmpiOp(a, b, sign + function))

    def constant(self, number: Constant) -> SSAValue:
        """Make a constant of a number."""
        return self.insert(arith.ConstantOp(number_attribute(number)))

    def select(self, condition: SSAValue, then: SSAValue, otherwise: SSAValue) -> SSAValue:
        """Select one of two values."""
        return self.insert(arith.SelectOp(condition, then, otherwise))

    def cast(self, value: SSAValue, source: str, to: str) -> SSAValue:
        """A value of type `source` as one of type `to`."""
        if to == "bool":
            return self._compare("ne", source, value, self.constant(Constant(source, 0)))
        type_: Any = type_of(to)
        if is_float(source) and is_float(to):
            if bits_of(source) == bits_of(to):  # float16 and bfloat16
                return self.cast(self.cast(value, source, "float32"), "float32", to)
            return self.insert((arith.ExtFOp if bits_of(to) > bits_of(source) else arith.TruncFOp)(value, type_))
        if is_float(source) and is_narrow(to):
            return self.cast(self.cast(value, source, "int32"), "int32", to)  # so that it wraps around
        if is_float(source):
            return self.insert((arith.FPToSIOp if is_signed(to) else arith.FPToUIOp)(value, type_))
        if is_float(to):
            return self.insert((arith.SIToFPOp if is_signed(source) else arith.UIToFPOp)(value, type_))
        if bits_of(to) == bits_of(source):
            return value
        if bits_of(to) < bits_of(source):
            return self.insert(arith.TruncIOp(value, type_))
        return self.insert((arith.ExtSIOp if is_signed(source) else arith.ExtUIOp)(value, type_))


def number_attribute(number: Constant) -> Number:
    """A number as an attribute; one of an unsigned type by its bits."""
    type_: Any = type_of(number.dtype)
    if is_float(number.dtype):
        return FloatAttr(float(number.number), type_)
    return IntegerAttr(int(number.number), type_, truncate_bits=True)


def reducer_name(kind: str, dtype: str) -> str:
    """The reducer of that kind for a type: unsigned integers have a maximum and a minimum of their own."""
    unsigned = not is_float(dtype) and not is_signed(dtype) and type_of(dtype) != i1
    return _REDUCERS.get(kind, kind) if unsigned else kind
