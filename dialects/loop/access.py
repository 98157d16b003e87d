"""Reading and writing buffers, and index expressions as values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    MemRefType,
    VectorType,
    i64,
)
from xdsl.interfaces import HasCanonicalizationPatternsInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.pattern_rewriter import RewritePattern
from xdsl.printer import Printer
from xdsl.traits import (
    MemoryReadEffect,
    MemoryWriteEffect,
    Pure,
)
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, ExprLike, to_expr
from tilework.algebra.parse import parse_expr
from tilework.dialects.loop.common import (
    INDEX,
    memref_of,
    parse_access,
    print_vector_type,
    resolve,
    verify_positions,
)
from tilework.dialects.support.index_attr import (
    LoopIndexAttr,
    ParserTokens,
    over_values,
    print_with_operands,
    to_operands,
)
from tilework.dialects.support.shapes import is_narrow, scalar_type


class _AccessOp(IRDLOperation):
    """Subscripts, lane stride and the lanes that count, common to load and store.

    A vector access touches `lanes` elements, `stride` apart along the last dimension: only the first `count` of them
    where a count is given, and those only from lane `first` on where that is given.
    """

    @property
    def exprs(self) -> tuple[Expr, ...]:
        """The subscripts, over SSA values."""
        a = cast(LoadOp | StoreOp, self)
        values = over_values(a.index_operands)
        return tuple(e.substitute(values) for e in a.indices)

    @property
    def lane_count(self) -> Expr | None:
        """How many lanes are touched, over SSA values; None for all."""
        a = cast(LoadOp | StoreOp, self)
        return None if a.count is None else a.count.data[0].substitute(over_values(a.index_operands))

    @property
    def lane_first(self) -> Expr | None:
        """The first lane that is touched, over SSA values; None for lane 0."""
        a = cast(LoadOp | StoreOp, self)
        return None if a.first is None else a.first.data[0].substitute(over_values(a.index_operands))

    @property
    def lane_stride(self) -> int:
        """The distance between lanes in elements of the last dimension; 1 for a scalar access."""
        a = cast(LoadOp | StoreOp, self)
        return 1 if a.stride is None else a.stride.value.data

    def _verify_access(self, memref: SSAValue, accessed: Attribute) -> None:
        a = cast(LoadOp | StoreOp, self)
        buffer = memref_of(memref)
        if len(a.indices) != buffer.get_num_dims():
            raise VerifyException(f"{len(a.indices)} subscripts into {buffer}")
        bounds = [bound.data[0] for bound in (a.first, a.count) if bound is not None]
        verify_positions((*a.indices, *bounds), len(a.index_operands))
        if scalar_type(accessed) != scalar_type(buffer):
            raise VerifyException(f"access of {accessed} to {buffer}")
        if not isinstance(accessed, VectorType) and (a.stride, a.first, a.count) != (None, None, None):
            raise VerifyException("stride, first lane and count are for vectors")
        if self.lane_stride == 0 and (a.first is not None or (isinstance(a, LoadOp) and a.otherwise is not None)):
            raise VerifyException("lanes of stride 0 are one element: none is left out")
        if a.first is not None and is_narrow(buffer):
            raise VerifyException("lanes of less than a byte are touched from lane 0 on")

    def _print_access(self, printer: Printer, memref: SSAValue) -> None:
        a = cast(LoadOp | StoreOp, self)
        printer.print_ssa_value(memref)
        printer.print_string("[")
        print_with_operands(printer, ", ".join(map(str, a.indices)), a.index_operands)
        printer.print_string("]")
        if a.stride is not None:
            printer.print_string(f" stride {a.stride.value.data}")
        for keyword, bound in (("from", a.first), ("count", a.count)):
            if bound is not None:
                printer.print_string(f" {keyword} ")
                print_with_operands(printer, str(bound.data[0]), a.index_operands)


Subscripts: TypeAlias = Sequence[ExprLike]


def _access_properties(
    indices: Subscripts, stride: int | None, count: ExprLike | None, first: ExprLike | None
) -> tuple[list[SSAValue], dict[str, Attribute | None]]:
    lanes = {name: to_expr(e) for name, e in (("count", count), ("first", first)) if e is not None}
    operands, mapped = to_operands([*(to_expr(e) for e in indices), *lanes.values()])
    return operands, {
        "indices": LoopIndexAttr(mapped[: len(indices)]),
        "stride": None if stride is None or stride == 1 else IntegerAttr(stride, i64),
        **{name: LoopIndexAttr((e,)) for name, e in zip(lanes, mapped[len(indices) :], strict=True)},
    }


@irdl_op_definition
class LoadOp(_AccessOp):
    """Read one element, or a vector of elements; of a buffer of unsigned integers, their bits without a sign.

    Lanes that are not touched are `otherwise`, and anything where that is not given. `loop.load %x[%i - 1] from 1 count
    14 else %zero` loads 13 lanes of 16, the others being zero.
    """

    name = "loop.load"
    memref = operand_def(MemRefType)
    index_operands = var_operand_def(IndexType)
    otherwise = opt_operand_def()
    indices = prop_def(LoopIndexAttr)
    stride = opt_prop_def(IntegerAttr)
    count = opt_prop_def(LoopIndexAttr)
    first = opt_prop_def(LoopIndexAttr)
    result = result_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryReadEffect())

    def __init__(
        self,
        memref: SSAValue,
        indices: Subscripts,
        result_type: Attribute | None = None,
        stride: int | None = None,
        count: ExprLike | None = None,
        first: ExprLike | None = None,
        otherwise: SSAValue | None = None,
    ):
        """Subscripts are expressions over SSA values; without a result type the access is scalar."""
        operands, properties = _access_properties(indices, stride, count, first)
        super().__init__(
            operands=[memref, operands, otherwise],
            properties=properties,
            result_types=[result_type or scalar_type(memref.type)],
        )

    def verify_(self) -> None:
        self._verify_access(self.memref, self.result.type)
        if self.otherwise is None:
            return
        if self.first is None and self.count is None:
            raise VerifyException("all lanes are touched, and none is left for what is behind 'else'")
        if is_narrow(memref_of(self.memref)):
            raise VerifyException("lanes of less than a byte have no 'else'")
        if self.otherwise.type != (element := scalar_type(self.result.type)):
            raise VerifyException(f"lanes of {element} are otherwise {self.otherwise.type}")

    @classmethod
    def parse(cls, parser: Parser) -> LoadOp:
        memref, indices, lanes = parse_access(parser)
        otherwise = parser.parse_unresolved_operand() if parser.parse_optional_keyword("else") else None
        parser.parse_punctuation(":")
        buffer = parser.parse_type()
        vector = parser.parse_type() if parser.parse_optional_punctuation(",") else None
        value = parser.resolve_operand(memref, buffer)
        rest = None if otherwise is None else parser.resolve_operand(otherwise, scalar_type(vector or buffer))
        return LoadOp(value, indices, vector, otherwise=rest, **lanes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        self._print_access(printer, self.memref)
        if self.otherwise is not None:
            printer.print_string(" else ")
            printer.print_ssa_value(self.otherwise)
        printer.print_string(" : ")
        printer.print_attribute(memref_of(self.memref))
        print_vector_type(printer, self.result.type)


@irdl_op_definition
class StoreOp(_AccessOp):
    """Write one element, or a vector of elements."""

    name = "loop.store"
    value = operand_def()
    memref = operand_def(MemRefType)
    index_operands = var_operand_def(IndexType)
    indices = prop_def(LoopIndexAttr)
    stride = opt_prop_def(IntegerAttr)
    count = opt_prop_def(LoopIndexAttr)
    first = opt_prop_def(LoopIndexAttr)
    traits = traits_def(MemoryWriteEffect())

    def __init__(
        self,
        value: SSAValue,
        memref: SSAValue,
        indices: Subscripts,
        stride: int | None = None,
        count: ExprLike | None = None,
        first: ExprLike | None = None,
    ):
        """Subscripts are expressions over SSA values."""
        operands, properties = _access_properties(indices, stride, count, first)
        super().__init__(operands=[value, memref, operands], properties=properties)

    def verify_(self) -> None:
        self._verify_access(self.memref, self.value.type)

    @classmethod
    def parse(cls, parser: Parser) -> StoreOp:
        value = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        memref, indices, lanes = parse_access(parser)
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        stored = parser.parse_type() if parser.parse_optional_punctuation(",") else scalar_type(type_)
        return StoreOp(
            parser.resolve_operand(value, stored),
            parser.resolve_operand(memref, type_),
            indices,
            **lanes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.value)
        printer.print_string(", ")
        self._print_access(printer, self.memref)
        printer.print_string(" : ")
        printer.print_attribute(memref_of(self.memref))
        print_vector_type(printer, self.value.type)


@irdl_op_definition
class ApplyOp(IRDLOperation, HasCanonicalizationPatternsInterface):
    """An index expression as a value, for operations of other dialects: sizes and offsets on the host."""

    name = "loop.apply"
    index_operands = var_operand_def(IndexType)
    expr = prop_def(LoopIndexAttr)
    result = result_def(IndexType)
    traits = traits_def(Pure())

    def __init__(self, expr: ExprLike):
        operands, exprs = to_operands((to_expr(expr),))
        super().__init__(operands=[operands], properties={"expr": LoopIndexAttr(exprs)}, result_types=[INDEX])

    @property
    def value(self) -> Expr:
        """The expression, over SSA values."""
        return self.expr.data[0].substitute(over_values(self.index_operands))

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tilework.dialects.loop.canonicalization import TrivialApply  # which imports this file

        return (TrivialApply(),)

    def verify_(self) -> None:
        verify_positions(self.expr.data, len(self.index_operands))

    @classmethod
    def parse(cls, parser: Parser) -> ApplyOp:
        unresolved: list[UnresolvedOperand] = []
        expr = parse_expr(ParserTokens(parser, unresolved))
        return ApplyOp(expr.substitute(over_values(resolve(parser, unresolved))))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_with_operands(printer, str(self.expr.data[0]), self.index_operands)
