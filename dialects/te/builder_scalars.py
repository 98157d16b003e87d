"""The scalars of a te kernel while it is written in Python, and how its tensors are read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects import math
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerType, Signedness
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.utils.hints import isa

from tilework.algebra.index_expr import Expr, ExprLike
from tilework.dialects import arith
from tilework.dialects.support.shapes import dims_of, element_type
from tilework.dialects.te.reduce import Number

ScalarLike: TypeAlias = "Scalar | float | int"
IndexLike: TypeAlias = "ExprLike | Scalar"
"""An index: an expression over axes, or a scalar of integer type, which is data."""

_FLOAT = {"+": arith.AddfOp, "-": arith.SubfOp, "*": arith.MulfOp, "/": arith.DivfOp, "%": arith.RemFOp}
_SIGNED = {
    "+": arith.AddiOp,
    "-": arith.SubiOp,
    "*": arith.MuliOp,
    "/": arith.DivSIOp,
    "%": arith.RemSIOp,
    "&": arith.AndIOp,
    "|": arith.OrIOp,
    "^": arith.XOrIOp,
    "<<": arith.ShLIOp,
    ">>": arith.ShRSIOp,
    "max": arith.MaxSIOp,
    "min": arith.MinSIOp,
}
_UNSIGNED = {
    **_SIGNED,
    "/": arith.DivUIOp,
    "%": arith.RemUIOp,
    ">>": arith.ShRUIOp,
    "max": arith.MaxUIOp,
    "min": arith.MinUIOp,
}
BINARY: Mapping[str, Mapping[str, Callable[[SSAValue, SSAValue], Operation]]] = {
    "float": {**_FLOAT, "max": arith.MaximumfOp, "min": arith.MinimumfOp, "pow": math.PowFOp, "atan2": math.Atan2Op},
    "signed": _SIGNED,
    "unsigned": _UNSIGNED,
}
"""What two scalars of one type make, by the kind of their type."""

UNARY = {
    "exp": math.ExpOp,
    "exp2": math.Exp2Op,
    "expm1": math.ExpM1Op,
    "tanh": math.TanhOp,
    "erf": math.ErfOp,
    "log": math.LogOp,
    "log2": math.Log2Op,
    "log10": math.Log10Op,
    "log1p": math.Log1pOp,
    "sqrt": math.SqrtOp,
    "rsqrt": math.RsqrtOp,
    "abs": math.AbsFOp,
    "floor": math.FloorOp,
    "ceil": math.CeilOp,
    "trunc": math.TruncOp,
    "round": math.RoundEvenOp,
    "sin": math.SinOp,
    "cos": math.CosOp,
    "tan": math.TanOp,
    "asin": math.AsinOp,
    "acos": math.AcosOp,
    "atan": math.AtanOp,
    "sinh": math.SinhOp,
    "cosh": math.CoshOp,
    "asinh": math.AsinhOp,
    "acosh": math.AcoshOp,
    "atanh": math.AtanhOp,
}
"""Functions of one floating-point number."""

UNARY_INTEGER = {
    "abs": math.AbsIOp,
    "ctpop": math.CtPopOp,
    "ctlz": math.CountLeadingZerosOp,
    "cttz": math.CountTrailingZerosOp,
}
"""Functions of one integer."""


class Writer(ABC):
    """Where the operations of scalars go: the body that is being written."""

    @abstractmethod
    def insert(self, op: Operation) -> Scalar:
        """Append an operation to the body being written; its result, if it has one."""

    @abstractmethod
    def scalar(self, value: ScalarLike, dtype: Attribute | None) -> Scalar:
        """A scalar as it is; a Python number as a constant of type `dtype`."""

    @abstractmethod
    def read(self, tensor: Tensor, indices: Sequence[IndexLike]) -> Scalar:
        """An element of a tensor; an integer scalar among the indices is data."""


@dataclass(frozen=True)
class Tensor:
    """A kernel argument or a result of a compute: index it inside a compute to read an element."""

    value: SSAValue
    builder: Writer

    @property
    def dims(self) -> tuple[Expr, ...]:
        """The dimensions, possibly symbolic."""
        return dims_of(self.value.type)

    @property
    def dtype(self) -> Attribute:
        """The element type."""
        return element_type(self.value.type)

    def __getitem__(self, indices: IndexLike | tuple[IndexLike, ...]) -> Scalar:
        return self.builder.read(self, indices if isinstance(indices, tuple) else (indices,))


@dataclass(frozen=True)
class Scalar:
    """One element while a compute's body is written. `unsigned`: an integer whose bits are a number without sign."""

    value: SSAValue
    builder: Writer
    unsigned: bool = False

    @property
    def dtype(self) -> Attribute:
        """The element type, with its sign."""
        type_: Attribute = self.value.type
        if self.unsigned and isa(type_, IntegerType):
            return IntegerType(type_.width.data, Signedness.UNSIGNED)
        return type_

    @property
    def is_integer(self) -> bool:
        """Whether the element is an integer."""
        return isinstance(self.value.type, IntegerType)

    @property
    def kind(self) -> str:
        """float, signed or unsigned; an i1 is unsigned, its values being 0 and 1."""
        if not self.is_integer:
            return "float"
        return "unsigned" if self.unsigned or self.value.type == IntegerType(1) else "signed"

    def binary(self, sign: str, other: ScalarLike, swapped: bool = False) -> Scalar:
        """This scalar and another one of its type joined by an operator; a TypeError where the type has it not."""
        table = BINARY[self.kind]
        if sign not in table:
            raise TypeError(f"'{sign}' is not for {self.dtype}")
        a, b = self.value, self.builder.scalar(other, self.value.type).value
        a, b = (b, a) if swapped else (a, b)
        return Scalar(self.builder.insert(table[sign](a, b)).value, self.builder, self.unsigned)

    def __add__(self, other: ScalarLike) -> Scalar:
        return self.binary("+", other)

    def __radd__(self, other: ScalarLike) -> Scalar:
        return self.binary("+", other, swapped=True)

    def __sub__(self, other: ScalarLike) -> Scalar:
        return self.binary("-", other)

    def __rsub__(self, other: ScalarLike) -> Scalar:
        return self.binary("-", other, swapped=True)

    def __mul__(self, other: ScalarLike) -> Scalar:
        return self.binary("*", other)

    def __rmul__(self, other: ScalarLike) -> Scalar:
        return self.binary("*", other, swapped=True)

    def __truediv__(self, other: ScalarLike) -> Scalar:
        return self.binary("/", other)

    def __rtruediv__(self, other: ScalarLike) -> Scalar:
        return self.binary("/", other, swapped=True)

    def __mod__(self, other: ScalarLike) -> Scalar:
        return self.binary("%", other)

    def __and__(self, other: ScalarLike) -> Scalar:
        return self.binary("&", other)

    def __or__(self, other: ScalarLike) -> Scalar:
        return self.binary("|", other)

    def __xor__(self, other: ScalarLike) -> Scalar:
        return self.binary("^", other)

    def __lshift__(self, other: ScalarLike) -> Scalar:
        return self.binary("<<", other)

    def __rshift__(self, other: ScalarLike) -> Scalar:
        return self.binary(">>", other)

    def __neg__(self) -> Scalar:
        return 0 - self if self.is_integer else self.builder.insert(arith.NegfOp(self.value))

    def __invert__(self) -> Scalar:
        return self ^ -1

    def compare(self, relation: str, other: ScalarLike) -> Scalar:
        """eq, ne, lt, le, gt or ge with another scalar of the type, an i1; with NaN only `ne` holds."""
        b = self.builder.scalar(other, self.value.type).value
        if not self.is_integer:
            return self.builder.insert(arith.CmpfOp(self.value, b, f"{'u' if relation == 'ne' else 'o'}{relation}"))
        sign = "" if relation in ("eq", "ne") else self.kind[0]
        return self.builder.insert(arith.CmpiOp(self.value, b, f"{sign}{relation}"))


@dataclass(frozen=True)
class Reduction:
    """What `KernelBuilder.sum` and its like return: the body of a reduction, written when its compute is.

    `reducer` is a name for all types, or identities and a region that joins. `body` gives one value, or as many as
    there are identities; `where` of the same axes an i1 that says whether the element takes part.
    """

    reducer: str | tuple[Sequence[Number], Region]
    extents: tuple[ExprLike, ...]
    body: Callable[..., ScalarLike | Sequence[ScalarLike]]
    where: Callable[..., Scalar] | None = None


def conversion(value: SSAValue, source: Attribute, to: Attribute) -> Operation | None:
    """The operation that converts a scalar; None where nothing is to be done. Fractions are cut off.

    `source` and `to` are element types with their signs: an unsigned source is extended by zeros. Integers wrap around;
    a float that does not fit an integer becomes some number of that type.
    """
    if isinstance(source, IndexType) or isinstance(to, IndexType):
        return None if source == to else arith.IndexCastOp(value, to)
    if isa(source, IntegerType) and isa(to, IntegerType):
        return _between_integers(value, source, to)
    if isa(source, IntegerType):
        return arith.UIToFPOp(value, to) if _zero_extends(source) else arith.SIToFPOp(value, to)
    if isa(to, IntegerType):
        bits = IntegerType(to.width.data)
        return arith.FPToUIOp(value, bits) if is_unsigned(to) else arith.FPToSIOp(value, bits)
    if source == to:
        return None
    wide, narrow = _float_width(to), _float_width(source)
    return arith.ExtFOp(value, to) if wide > narrow else arith.TruncFOp(value, to)


def _between_integers(value: SSAValue, source: IntegerType, to: IntegerType) -> Operation | None:
    bits = IntegerType(to.width.data)
    if bits.width.data == source.width.data:
        return None
    if bits.width.data < source.width.data:
        return arith.TruncIOp(value, bits)
    return arith.ExtUIOp(value, bits) if _zero_extends(source) else arith.ExtSIOp(value, bits)


def is_unsigned(type_: Attribute) -> bool:
    """Whether an element type is an unsigned integer."""
    return isa(type_, IntegerType) and type_.signedness.data is Signedness.UNSIGNED


def _zero_extends(type_: IntegerType) -> bool:
    return is_unsigned(type_) or type_.width.data == 1


def _float_width(type_: Attribute) -> int:
    assert isinstance(type_, AnyFloat)
    return type_.bitwidth
