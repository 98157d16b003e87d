"""Tiles: matrices of 16 rows of 64 bytes, of which Intel's servers multiply two with one instruction.

A tile is a part of a one-dimensional buffer: a subscript says where its first row begins, a stride how many elements
apart rows lie. Tiles of a buffer of scope "amx" are registers: when code is emitted their subscripts are constants, and
different ones are different registers. Names are those of MLIR's dialect.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self, cast

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import (
    DenseArrayBase,
    IndexType,
    MemRefType,
    NoneAttr,
    StringAttr,
    VectorType,
    bf16,
    container_of,
    f32,
    i32,
    i64,
)
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    eq,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, ExprLike, to_expr
from tilework.dialects.loop.common import integers, memref_of, resolve, verify_positions
from tilework.dialects.loop.parts import Form, Part, PartsOp
from tilework.dialects.support.index_attr import (
    LoopIndexAttr,
    over_values,
    parse_expr_list,
    print_with_operands,
    to_operands,
)
from tilework.dialects.support.scalar_op import ScalarOp

SCOPE = "amx"
"""Of buffers whose tiles are registers."""

ROWS, COLUMNS, PAIR = 16, 16, 2
"""Rows of a tile; columns of f32 in one, or of pairs of bf16; numbers in a pair."""


_SEGMENTS = AttrSizedOperandSegments.attribute_name


class TileOp(PartsOp):
    """What operations on tiles have in common: where each of their tiles is."""

    memrefs = var_operand_def(MemRefType)
    index_operands = var_operand_def(IndexType)
    indices = prop_def(LoopIndexAttr)
    strides = prop_def(DenseArrayBase)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    FORMS: ClassVar[tuple[Form, ...]] = ()
    """Of the operation's tiles, in order."""

    def __init__(self, memrefs: Sequence[SSAValue], positions: Sequence[ExprLike], strides: Sequence[int]):
        """Positions are expressions over SSA values."""
        operands, exprs = to_operands([to_expr(e) for e in positions])
        super().__init__(
            operands=[memrefs, operands],
            properties={"indices": LoopIndexAttr(exprs), "strides": DenseArrayBase.from_list(i64, strides)},
        )

    @property
    def parts(self) -> tuple[Part, ...]:
        values = over_values(self.index_operands)
        exprs = [e.substitute(values) for e in self.indices]
        return tuple(map(Part, self.memrefs, exprs, integers(self.strides), self.FORMS))

    def set_positions(self, positions: Sequence[Expr]) -> None:
        operands, exprs = to_operands(positions)
        self.properties["indices"] = LoopIndexAttr(exprs)
        self.properties[_SEGMENTS] = DenseArrayBase.from_list(i32, [len(self.memrefs), len(operands)])
        self.operands = [*self.memrefs, *operands]

    def verify_(self) -> None:
        wanted = len(self.FORMS)
        if (len(self.memrefs), len(self.indices), len(self.strides)) != (wanted,) * 3:
            raise VerifyException(f"expected {wanted} tiles, each with a subscript and a stride")
        verify_positions(self.indices.data, len(self.index_operands))
        for tile in self.parts:
            _verify_tile(tile)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        memrefs: list[UnresolvedOperand] = []
        positions: list[Expr] = []
        strides: list[int] = []

        def parse_tile() -> None:
            unresolved: list[UnresolvedOperand] = []
            memrefs.append(parser.parse_unresolved_operand())
            place = parser.pos
            exprs = parse_expr_list(parser, unresolved)
            if len(exprs) != 1:
                parser.raise_error(f"a tile has one subscript, not {len(exprs)}", place, parser.pos)
            positions.append(exprs[0].substitute(over_values(resolve(parser, unresolved))))
            parser.parse_keyword("stride")
            strides.append(parser.parse_integer())

        parser.parse_comma_separated_list(parser.Delimiter.NONE, parse_tile)
        parser.parse_punctuation(":")
        place = parser.pos
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        return cls(parser.resolve_operands(memrefs, types, place), positions, strides)

    def print(self, printer: Printer) -> None:
        separator = " "
        for memref, index, stride in zip(self.memrefs, self.indices, integers(self.strides), strict=True):
            printer.print_string(separator)
            printer.print_ssa_value(memref)
            printer.print_string("[")
            print_with_operands(printer, str(index), self.index_operands)
            printer.print_string(f"] stride {stride}")
            separator = ", "
        printer.print_string(" : ")
        printer.print_list(self.memrefs.types, printer.print_attribute)


def _verify_tile(tile: Part) -> None:
    type_, form = memref_of(tile.memref), tile.form
    if type_.get_num_dims() != 1 or not isinstance(type_.layout, NoneAttr) or type_.element_type != form.element:
        raise VerifyException(f"a tile of {type_}: expected a buffer of {form.element} with one dimension")
    space = type_.memory_space.data if isinstance(type_.memory_space, StringAttr) else None
    if form.in_register and space != SCOPE:
        raise VerifyException(f'a tile register of {type_}: expected a buffer of scope "{SCOPE}"')
    if not form.in_register and space in (SCOPE, "register"):
        raise VerifyException(f"a tile in memory of {type_}: registers have no addresses")
    least = form.columns if form.is_written else 1
    if tile.stride < least:
        raise VerifyException(f"rows of {form.columns} elements are at least {least} apart, not {tile.stride}")


_NEW_SUM = Form(ROWS, COLUMNS, f32, in_register=True, is_read=False, is_written=True)
_SUM = Form(ROWS, COLUMNS, f32, in_register=True, is_read=True, is_written=True)
_READ_SUM = Form(ROWS, COLUMNS, f32, in_register=True, is_read=True, is_written=False)
_FACTOR = Form(ROWS, COLUMNS * PAIR, bf16, in_register=False, is_read=True, is_written=False)
_STORED = Form(ROWS, COLUMNS, f32, in_register=False, is_read=False, is_written=True)


@irdl_op_definition
class TileZeroOp(TileOp):
    """Fill a tile register with zeros.

    `amx.tile_zero %acc[512] stride 32 : memref<1024xf32, "amx">`
    """

    name = "amx.tile_zero"
    FORMS: ClassVar[tuple[Form, ...]] = (_NEW_SUM,)
    traits = traits_def(MemoryWriteEffect())

    def evaluate(self, *read: Any) -> Any:
        return np.float32(0)


@irdl_op_definition
class TileMulFOp(TileOp):
    """Multiply two tiles of bf16 and add the products to a tile register of f32.

    Row `m` of the first factor holds numbers `k`, row `i` of the second for each column `n` the pair of numbers `k`
    that are `2 * i` and `2 * i + 1`: to element `(m, n)` come the products of all 32 numbers.
    Processors take numbers that are too small for a full mantissa for zeros.

    `amx.tile_mulf %acc[0] stride 32, %a[%i] stride 64, %b[%i] stride 32 : memref<1024xf32, "amx">, memref<1024xbf16>,
    memref<1024xbf16>`
    """

    name = "amx.tile_mulf"
    FORMS: ClassVar[tuple[Form, ...]] = (_SUM, _FACTOR, _FACTOR)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def evaluate(self, *read: Any) -> Any:
        before, rows, pairs = read
        return before + rows.astype(np.float32) @ _unpaired(pairs.astype(np.float32))


def _unpaired(pairs: Any) -> Any:
    """Rows that hold two neighbours of each column as twice as many rows."""
    split = pairs.reshape(*pairs.shape[:-1], COLUMNS, PAIR)
    return np.moveaxis(split, -1, -2).reshape(*pairs.shape[:-2], PAIR * ROWS, COLUMNS)


@irdl_op_definition
class TileStoreOp(TileOp):
    """Write a tile register to memory.

    `amx.tile_store %acc[0] stride 32, %y[%i] stride 64 : memref<1024xf32, "amx">, memref<4096xf32>`
    """

    name = "amx.tile_store"
    FORMS: ClassVar[tuple[Form, ...]] = (_READ_SUM, _STORED)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def evaluate(self, *read: Any) -> Any:
        [source] = read
        return source


@irdl_op_definition
class RoundOp(ScalarOp):
    """The nearest number of bf16, ties to even; as in tiles, what is smaller than the smallest normal number is zero.

    Of vectors lane by lane. One instruction, where `arith.truncf` to bf16 takes several to keep small numbers.

    `%y = amx.round %x : vector<16xf32> to vector<16xbf16>`
    """

    name = "amx.round"
    input = operand_def(container_of(eq(f32)))
    result = result_def(container_of(eq(bf16)))
    assembly_format = "$input attr-dict `:` type($input) `to` type($result)"
    traits = traits_def(Pure())

    def __init__(self, input: SSAValue):
        super().__init__(
            operands=[input], result_types=[bf16 if (n := _lanes(input.type)) is None else VectorType(bf16, n)]
        )

    def verify_(self) -> None:
        if _lanes(self.input.type) != _lanes(self.result.type):
            raise VerifyException(f"{self.input.type} is rounded lane by lane, not to {self.result.type}")

    def evaluate(self, *operands: Any) -> Any:
        a = np.asarray(operands[0])
        normal = np.where(np.abs(a) < np.finfo(np.float32).tiny, np.copysign(np.float32(0), a), a)
        return normal.astype(ml_dtypes.bfloat16)[()]


def _lanes(type_: Attribute) -> tuple[int, ...] | None:
    """Of a vector; None of a scalar."""
    return cast("VectorType[Attribute]", type_).get_shape() if isinstance(type_, VectorType) else None


Amx = Dialect("amx", [TileZeroOp, TileMulFOp, TileStoreOp, RoundOp])
