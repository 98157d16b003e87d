"""xDSL's `arith`, with two differences. Import it from here, never from xDSL: contexts register this dialect.

Comparisons, select and conversions are on vectors too, as MLIR has them and xDSL 0.74 has not. And operations on
integers are defined for all operands, as in numpy, where MLIR leaves some of them undefined. A division by 0 gives 0
and leaves 0; that of the least integer by -1 wraps around to the least integer, and leaves 0. A shift by as many bits
as the type has, or more, leaves zeros, or to the right of a signed number copies of its sign; the distance is unsigned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.dialects import arith as upstream
from xdsl.dialects.arith import (
    CMPF_COMPARISON_OPERATIONS,
    CMPI_COMPARISON_OPERATIONS,
    AddfOp,
    AddiOp,
    AndIOp,
    BitcastOp,
    CeilDivSIOp,
    CeilDivUIOp,
    ConstantOp,
    DivfOp,
    ExtFOp,
    FastMathFlagsAttr,
    FloatingPointLikeBinaryOperation,
    MaximumfOp,
    MaxnumfOp,
    MaxSIOp,
    MaxUIOp,
    MinimumfOp,
    MinnumfOp,
    MinSIOp,
    MinUIOp,
    MulfOp,
    MuliOp,
    NegfOp,
    OrIOp,
    ShLIOp,
    ShRSIOp,
    ShRUIOp,
    SignlessIntegerBinaryOperation,
    SignlessIntegerBinaryOperationHasCanonicalizationPatternsTrait,
    SubfOp,
    SubiOp,
    TruncFOp,
    XOrIOp,
    floatingPointLike,
    signlessIntegerLike,
)
from xdsl.dialects.builtin import AnyFloatConstr, IndexType, IntegerAttr, IntegerType, VectorType, container_of, i1
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    base,
    eq,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

__all__ = [
    "CONTRACT",
    "AddfOp",
    "AddiOp",
    "AndIOp",
    "Arith",
    "BitcastOp",
    "CMPF_COMPARISON_OPERATIONS",
    "CMPI_COMPARISON_OPERATIONS",
    "CeilDivSIOp",
    "CeilDivUIOp",
    "CmpfOp",
    "CmpiOp",
    "ConstantOp",
    "DivSIOp",
    "DivUIOp",
    "DivfOp",
    "ExtFOp",
    "ExtSIOp",
    "ExtUIOp",
    "FPToSIOp",
    "FPToUIOp",
    "FastMathFlag",
    "FastMathFlagsAttr",
    "FloorDivSIOp",
    "IndexCastOp",
    "MaxSIOp",
    "MaxUIOp",
    "MaximumfOp",
    "MaxnumfOp",
    "MinSIOp",
    "MinUIOp",
    "MinimumfOp",
    "MinnumfOp",
    "MulfOp",
    "MuliOp",
    "NegfOp",
    "OrIOp",
    "RemFOp",
    "RemSIOp",
    "RemUIOp",
    "SIToFPOp",
    "SelectOp",
    "ShLIOp",
    "ShRSIOp",
    "ShRUIOp",
    "SubfOp",
    "SubiOp",
    "TruncFOp",
    "TruncIOp",
    "UIToFPOp",
    "XOrIOp",
]

CONTRACT = FastMathFlagsAttr([FastMathFlag.ALLOW_CONTRACT])
"""The flag of a product and of a sum that may be rounded as one number."""

_BOOL = container_of(eq(i1))
_INTEGER = container_of(base(IntegerType))
_FLOAT = container_of(AnyFloatConstr)
_INDEX = container_of(base(IndexType))


def _shape(type_: Attribute) -> tuple[int, ...] | None:
    """The shape of a vector type; None for a scalar."""
    return type_.get_shape() if isinstance(type_, VectorType) else None


def _element(type_: Attribute) -> Attribute:
    return cast(VectorType[Attribute], type_).element_type if isinstance(type_, VectorType) else type_


def _bools(like: Attribute) -> Attribute:
    """The type of a comparison of two values of a type."""
    return VectorType(i1, like.get_shape(), like.scalable_dims) if isinstance(like, VectorType) else i1


def _parse_comparison(parser: Parser, predicates: Sequence[str]) -> tuple[SSAValue, SSAValue, str]:
    predicate = parser.parse_identifier()
    if predicate not in predicates:
        parser.raise_error(f"unknown predicate '{predicate}': expected one of {', '.join(predicates)}")
    parser.parse_punctuation(",")
    lhs = parser.parse_unresolved_operand()
    parser.parse_punctuation(",")
    rhs = parser.parse_unresolved_operand()
    parser.parse_punctuation(":")
    type_ = parser.parse_type()
    return parser.resolve_operand(lhs, type_), parser.resolve_operand(rhs, type_), predicate


def _print_comparison(printer: Printer, predicate: str, op: CmpiOp | CmpfOp) -> None:
    printer.print_string(f" {predicate}, ")
    printer.print_list(op.operands, printer.print_operand)
    printer.print_string(" : ")
    printer.print_attribute(op.lhs.type)


def _verify_comparison(op: CmpiOp | CmpfOp) -> None:
    if op.lhs.type != op.rhs.type or op.result.type != _bools(op.lhs.type):
        raise VerifyException(f"{op.lhs.type} and {op.rhs.type} do not compare into {op.result.type}")


@irdl_op_definition
class CmpiOp(IRDLOperation):
    """Compare integers: `arith.cmpi slt, %a, %b : vector<8xi32>` is a `vector<8xi1>`."""

    name = "arith.cmpi"
    predicate = prop_def(IntegerAttr)
    lhs = operand_def(signlessIntegerLike)
    rhs = operand_def(signlessIntegerLike)
    result = result_def(_BOOL)
    traits = traits_def(Pure())

    def __init__(self, lhs: Operation | SSAValue, rhs: Operation | SSAValue, predicate: str):
        super().__init__(
            operands=[lhs, rhs],
            result_types=[_bools(SSAValue.get(lhs).type)],
            properties={"predicate": IntegerAttr(CMPI_COMPARISON_OPERATIONS.index(predicate), 64)},
        )

    @classmethod
    def parse(cls, parser: Parser) -> CmpiOp:
        return cls(*_parse_comparison(parser, CMPI_COMPARISON_OPERATIONS))

    def print(self, printer: Printer) -> None:
        _print_comparison(printer, CMPI_COMPARISON_OPERATIONS[self.predicate.value.data], self)

    def verify_(self) -> None:
        _verify_comparison(self)


@irdl_op_definition
class CmpfOp(IRDLOperation):
    """Compare floats: `arith.cmpf olt, %a, %b : vector<8xf32>`; u-predicates are true where an operand is NaN."""

    name = "arith.cmpf"
    predicate = prop_def(IntegerAttr)
    fastmath = prop_def(FastMathFlagsAttr, default_value=FastMathFlagsAttr("none"))
    lhs = operand_def(floatingPointLike)
    rhs = operand_def(floatingPointLike)
    result = result_def(_BOOL)
    traits = traits_def(Pure())

    def __init__(self, lhs: Operation | SSAValue, rhs: Operation | SSAValue, predicate: str):
        super().__init__(
            operands=[lhs, rhs],
            result_types=[_bools(SSAValue.get(lhs).type)],
            properties={
                "predicate": IntegerAttr(CMPF_COMPARISON_OPERATIONS.index(predicate), 64),
                "fastmath": FastMathFlagsAttr("none"),
            },
        )

    @classmethod
    def parse(cls, parser: Parser) -> CmpfOp:
        return cls(*_parse_comparison(parser, CMPF_COMPARISON_OPERATIONS))

    def print(self, printer: Printer) -> None:
        _print_comparison(printer, CMPF_COMPARISON_OPERATIONS[self.predicate.value.data], self)

    def verify_(self) -> None:
        _verify_comparison(self)


class _QuotientOp(SignlessIntegerBinaryOperation):
    """A quotient of integers, which may be computed where it is not asked for: there is one for all operands."""

    traits = traits_def(Pure(), SignlessIntegerBinaryOperationHasCanonicalizationPatternsTrait())

    @staticmethod
    def is_right_unit(attr: IntegerAttr) -> bool:
        return attr == IntegerAttr(1, attr.type)


@irdl_op_definition
class DivSIOp(_QuotientOp):
    """The quotient of signed integers, cut off towards zero; that by 0 is 0."""

    name = "arith.divsi"


@irdl_op_definition
class DivUIOp(_QuotientOp):
    """The quotient of unsigned integers, rounded down; that by 0 is 0."""

    name = "arith.divui"


@irdl_op_definition
class FloorDivSIOp(_QuotientOp):
    """The quotient of signed integers, rounded down; that by 0 is 0."""

    name = "arith.floordivsi"


@irdl_op_definition
class RemSIOp(SignlessIntegerBinaryOperation):
    """What `arith.divsi` leaves, with the sign of the first operand; of a division by 0 that is 0."""

    name = "arith.remsi"
    traits = traits_def(Pure())


@irdl_op_definition
class RemUIOp(SignlessIntegerBinaryOperation):
    """What `arith.divui` leaves; of a division by 0 that is 0."""

    name = "arith.remui"
    traits = traits_def(Pure())


@irdl_op_definition
class RemFOp(FloatingPointLikeBinaryOperation):
    """What is left of a float by another, with the sign of the first: C's fmod."""

    name = "arith.remf"
    traits = traits_def(Pure())


@irdl_op_definition
class SelectOp(IRDLOperation):
    """One of two values: `arith.select %c, %a, %b : f32`; with a vector of conditions, lane by lane:
    `arith.select %c, %a, %b : vector<8xi1>, vector<8xf32>`."""

    name = "arith.select"
    T: ClassVar = VarConstraint("T", AnyAttr())
    cond = operand_def(_BOOL)
    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(T)
    traits = traits_def(Pure())

    def __init__(self, cond: Operation | SSAValue, lhs: Operation | SSAValue, rhs: Operation | SSAValue):
        super().__init__(operands=[cond, lhs, rhs], result_types=[SSAValue.get(lhs).type])

    @classmethod
    def parse(cls, parser: Parser) -> SelectOp:
        operands = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        if len(operands) != 3:
            parser.raise_error(f"expected a condition and two values, found {len(operands)} operands")
        parser.parse_punctuation(":")
        condition, type_ = i1, parser.parse_type()
        if parser.parse_optional_punctuation(","):
            condition, type_ = type_, parser.parse_type()
        return cls(*(parser.resolve_operand(o, t) for o, t in zip(operands, (condition, type_, type_), strict=True)))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)
        printer.print_string(" : ")
        if self.cond.type != i1:
            printer.print_attribute(self.cond.type)
            printer.print_string(", ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        if self.cond.type != i1 and _shape(self.cond.type) != _shape(self.result.type):
            raise VerifyException(f"conditions of type {self.cond.type} choose between values of {self.result.type}")


class _ConversionOp(IRDLOperation):
    """Convert numbers from one element type to another, lane by lane."""

    assembly_format = "$input attr-dict `:` type($input) `to` type($result)"
    traits = traits_def(Pure())

    def __init__(self, value: Operation | SSAValue, target_type: Attribute):
        super().__init__(operands=[value], result_types=[target_type])

    def verify_(self) -> None:
        source, target = self.operands[0].type, self.results[0].type
        if _shape(source) != _shape(target):
            raise VerifyException(f"{source} and {target} differ in shape")
        widths = [e.bitwidth if isinstance(e, IntegerType) else 0 for e in (_element(source), _element(target))]
        self.verify_widths(*widths)

    def verify_widths(self, source: int, target: int) -> None:
        """Bits of an element before and after, 0 for what is no integer."""


@irdl_op_definition
class FPToSIOp(_ConversionOp):
    """Float to signed integer, towards zero."""

    name = "arith.fptosi"
    input = operand_def(_FLOAT)
    result = result_def(_INTEGER)


@irdl_op_definition
class FPToUIOp(_ConversionOp):
    """Float to unsigned integer, towards zero."""

    name = "arith.fptoui"
    input = operand_def(_FLOAT)
    result = result_def(_INTEGER)


@irdl_op_definition
class SIToFPOp(_ConversionOp):
    """Convert a signed integer to a float."""

    name = "arith.sitofp"
    input = operand_def(_INTEGER)
    result = result_def(_FLOAT)


@irdl_op_definition
class UIToFPOp(_ConversionOp):
    """Convert an unsigned integer to a float."""

    name = "arith.uitofp"
    input = operand_def(_INTEGER)
    result = result_def(_FLOAT)


class _ExtensionOp(_ConversionOp):
    """Extend a number to an integer of more bits."""

    input = operand_def(_INTEGER)
    result = result_def(_INTEGER)

    def verify_widths(self, source: int, target: int) -> None:
        if target <= source:
            raise VerifyException(f"{target} bits are no extension of {source}")


@irdl_op_definition
class ExtSIOp(_ExtensionOp):
    """Copies of the sign on top."""

    name = "arith.extsi"


@irdl_op_definition
class ExtUIOp(_ExtensionOp):
    """Extend an integer with zeros on top."""

    name = "arith.extui"


@irdl_op_definition
class TruncIOp(_ConversionOp):
    """The lowest bits of an integer."""

    name = "arith.trunci"
    input = operand_def(_INTEGER)
    result = result_def(_INTEGER)

    def verify_widths(self, source: int, target: int) -> None:
        if target >= source:
            raise VerifyException(f"{target} bits are no truncation of {source}")


@irdl_op_definition
class IndexCastOp(_ConversionOp):
    """Convert between integers and indices: extend by the sign, or keep the lowest bits."""

    name = "arith.index_cast"
    input = operand_def(_INTEGER | _INDEX)
    result = result_def(_INTEGER | _INDEX)

    def verify_(self) -> None:
        super().verify_()
        source, target = self.operands[0].type, self.results[0].type
        if isinstance(_element(source), IndexType) == isinstance(_element(target), IndexType):
            raise VerifyException(f"one of {source} and {target} is of index")


_OPERATIONS: tuple[type[Operation], ...] = (
    CmpfOp,
    CmpiOp,
    DivSIOp,
    DivUIOp,
    ExtSIOp,
    ExtUIOp,
    FloorDivSIOp,
    FPToSIOp,
    FPToUIOp,
    IndexCastOp,
    RemFOp,
    RemSIOp,
    RemUIOp,
    SelectOp,
    SIToFPOp,
    TruncIOp,
    UIToFPOp,
)

Arith = Dialect(
    "arith",
    list({op.name: op for op in (*upstream.Arith.operations, *_OPERATIONS)}.values()),
    list(upstream.Arith.attributes),
    [upstream.ArithConstantMaterializationInterface()],
)
