"""Intrinsics in loops: instructions of machines on parts of buffers, and on scalars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    FlatSymbolRefAttrConstr,
    IndexType,
    MemRefType,
    NoneAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, irdl_op_definition, opt_prop_def, prop_def, traits_def, var_operand_def
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr
from tilework.dialects.loop.buffer_regions import BufferRegion, BufferRegionsOp, Form
from tilework.dialects.loop.common import integers, memref_of, resolve, verify_positions
from tilework.dialects.support.call_intrinsic import CallIntrinsic
from tilework.dialects.support.index_attr import (
    LoopIndexAttr,
    over_values,
    parse_expr_list,
    print_with_operands,
    to_operands,
)
from tilework.dialects.support.memory_scopes import has_no_addresses

_SEGMENTS = AttrSizedOperandSegments.attribute_name


@irdl_op_definition
class CallIntrinsicOp(CallIntrinsic):
    """What an intrinsic on scalars makes of numbers, or, lane by lane, of vectors of them.

    `%d = loop.call_intrinsic @dot4.ui8i8(%x, %w) : (vector<16xi32>, vector<16xi32>) -> vector<16xi32>`
    """

    name = "loop.call_intrinsic"


@irdl_op_definition
class IntrinsicOp(BufferRegionsOp):
    """Do what an intrinsic says with parts of buffers: write the first one, or update it, from the others.

    A part is said by where it begins, by its shape, and by how many elements apart its elements are along each
    dimension. What it computes is said by the declaration, `te.intrinsic`.

    loop.intrinsic @dot8 updates %y[%i] of [] strides [] from %a[8 * %i] of [8] strides [1], %b[0] of [8] strides [1]
        : memref<64xf32>, memref<512xf32>, memref<8xf32>
    """

    name = "loop.intrinsic"
    callee = prop_def(FlatSymbolRefAttrConstr)
    memrefs = var_operand_def(MemRefType)
    index_operands = var_operand_def(IndexType)
    indices = prop_def(LoopIndexAttr)
    shapes = prop_def(ArrayAttr[DenseArrayBase])
    strides = prop_def(ArrayAttr[DenseArrayBase])
    updates = opt_prop_def(UnitAttr)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self,
        callee: str,
        updates: bool,
        memrefs: Sequence[SSAValue],
        positions: Sequence[Expr],
        shapes: Sequence[Sequence[int]],
        strides: Sequence[Sequence[int]],
    ):
        """Positions are expressions over SSA values."""
        operands, exprs = to_operands(positions)
        super().__init__(
            operands=[memrefs, operands],
            properties={
                "callee": SymbolRefAttr(callee),
                "indices": LoopIndexAttr(exprs),
                "shapes": _lists(shapes),
                "strides": _lists(strides),
                "updates": UnitAttr() if updates else None,
            },
        )

    @property
    def intrinsic(self) -> str:
        """The name of the intrinsic."""
        return self.callee.root_reference.data

    @property
    def buffer_regions(self) -> tuple[BufferRegion, ...]:
        values = over_values(self.index_operands)
        exprs = [e.substitute(values) for e in self.indices]
        strides = map(integers, self.strides.data)
        return tuple(map(BufferRegion, self.memrefs, exprs, strides, (self._form(i) for i in range(len(self.memrefs)))))

    def _form(self, i: int) -> Form:
        type_ = memref_of(self.memrefs[i])
        space = type_.memory_space.data if isinstance(type_.memory_space, StringAttr) else None
        in_register = has_no_addresses(space)
        is_read, is_written = i > 0 or self.updates is not None, i == 0
        return Form(integers(self.shapes.data[i]), type_.element_type, in_register, is_read, is_written)

    def set_positions(self, positions: Sequence[Expr]) -> None:
        operands, exprs = to_operands(positions)
        self.properties["indices"] = LoopIndexAttr(exprs)
        self.properties[_SEGMENTS] = DenseArrayBase.from_list(i32, [len(self.memrefs), len(operands)])
        self.operands = [*self.memrefs, *operands]

    def verify_(self) -> None:
        count = len(self.memrefs)
        if not count or (len(self.indices), len(self.shapes), len(self.strides)) != (count,) * 3:
            raise VerifyException("every buffer needs a subscript, a shape and strides")
        verify_positions(self.indices.data, len(self.index_operands))
        for part in self.buffer_regions:
            _verify_part(part)

    # -- text

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        memrefs: list[UnresolvedOperand] = []
        positions: list[Expr] = []
        shapes: list[Sequence[int]] = []
        strides: list[Sequence[int]] = []

        def parse_numbers() -> Sequence[int]:
            return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)

        def parse_part() -> None:
            unresolved: list[UnresolvedOperand] = []
            memrefs.append(parser.parse_unresolved_operand())
            place = parser.pos
            exprs = parse_expr_list(parser, unresolved)
            if len(exprs) != 1:
                parser.raise_error(f"a part has one subscript, not {len(exprs)}", place, parser.pos)
            positions.append(exprs[0].substitute(over_values(resolve(parser, unresolved))))
            parser.parse_keyword("of")
            shapes.append(parse_numbers())
            parser.parse_keyword("strides")
            strides.append(parse_numbers())

        name = parser.parse_symbol_name().data
        updates = parser.parse_optional_keyword("updates") is not None
        if not updates:
            parser.parse_keyword("writes")
        parse_part()
        if parser.parse_optional_keyword("from"):
            parser.parse_comma_separated_list(parser.Delimiter.NONE, parse_part)
        parser.parse_punctuation(":")
        place = parser.pos
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        operands = parser.resolve_operands(memrefs, types, place)
        return cls(name, updates, operands, positions, shapes, strides)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_attribute(self.callee)
        between = " writes " if self.updates is None else " updates "
        for i, memref in enumerate(self.memrefs):
            printer.print_string(between)
            printer.print_ssa_value(memref)
            printer.print_string("[")
            print_with_operands(printer, str(self.indices.data[i]), self.index_operands)
            shape, strides = (list(integers(a.data[i])) for a in (self.shapes, self.strides))
            printer.print_string(f"] of {shape} strides {strides}")
            between = ", " if i else " from "
        printer.print_string(" : ")
        printer.print_list(self.memrefs.types, printer.print_attribute)


def _lists(of: Sequence[Sequence[int]]) -> ArrayAttr[DenseArrayBase]:
    return ArrayAttr(DenseArrayBase.from_list(i64, list(numbers)) for numbers in of)


def _verify_part(part: BufferRegion) -> None:
    type_, form = cast("MemRefType[Attribute]", part.memref.type), part.form
    if type_.get_num_dims() != 1 or not isinstance(type_.layout, NoneAttr):
        raise VerifyException(f"a part of {type_}: expected a buffer with one dimension")
    if len(part.strides) != len(form.shape):
        raise VerifyException(f"{len(part.strides)} strides for {len(form.shape)} dimensions")
    if any(extent < 1 for extent in form.shape):
        raise VerifyException(f"a part of shape {list(form.shape)} has no elements")
    if form.is_written and part.overlaps_itself:
        raise VerifyException(f"a part of shape {list(form.shape)} with strides {list(part.strides)} overlaps itself")
