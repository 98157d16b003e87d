"""The types of tables: rows by named columns, some of which hold codes of a dictionary."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import AnyFloat, ArrayAttr, BoolAttr, Float32Type, Float64Type, IntAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, ExprLike, to_expr
from tilework.dialects.matrix.types import parse_name, parse_rows, print_name
from tilework.dialects.support.index_attr import DimsAttr


@irdl_attr_definition
class DictType(ParametrizedAttribute, TypeAttribute):
    """`!bag.dict<3>`: codes from 0 on of so many known values; -1 stands for every other one."""

    name = "bag.dict"
    size: IntAttr

    @staticmethod
    def of(size: int) -> DictType:
        """The type of codes of so many values."""
        return DictType(IntAttr(size))

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return [IntAttr(parser.parse_integer(allow_boolean=False, allow_negative=False))]

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self.size.data}>")


@irdl_attr_definition
class BagType(ParametrizedAttribute, TypeAttribute):
    """`!bag.bag<N x [age: f64?, pay: f64, town: !bag.dict<3>]>`: a table of N rows, whose ages may be missing: NaN.

    In memory, columns of one type lie side by side in one tensor. `!bag.bag<N x [age: f64], columnar>` has a tensor for
    each column.
    """

    name = "bag.bag"
    count: DimsAttr
    names: ArrayAttr[StringAttr]
    types: ArrayAttr[Attribute]
    optional: ArrayAttr[StringAttr]
    columnar: BoolAttr

    @staticmethod
    def of(
        rows: ExprLike, columns: Mapping[str, Attribute], optional: Collection[str] = (), *, columnar: bool = False
    ) -> BagType:
        """The type with so many rows and these columns, of which those that are `optional` may have missing numbers."""
        missing = _strings(name for name in columns if name in optional)
        types = ArrayAttr([*columns.values()])
        return BagType(DimsAttr((to_expr(rows),)), _strings(columns), types, missing, BoolAttr.from_bool(columnar))

    def with_columns(self, columns: Mapping[str, Attribute], optional: Collection[str]) -> BagType:
        """The type with as many rows, which lie as these do, and other columns."""
        return BagType.of(self.rows, columns, optional, columnar=self.is_columnar)

    def with_rows(self, rows: ExprLike) -> BagType:
        """The type with these columns and so many rows."""
        return BagType.of(rows, self.columns, self.may_be_missing, columnar=self.is_columnar)

    @property
    def is_columnar(self) -> bool:
        """Whether each column lies in a tensor of its own."""
        return bool(self.columnar)

    @property
    def rows(self) -> Expr:
        """How many rows there are."""
        return self.count.data[0]

    @property
    def columns(self) -> dict[str, Attribute]:
        """The type of each column, by name, in order."""
        return {name.data: type_ for name, type_ in zip(self.names, self.types, strict=True)}

    @property
    def may_be_missing(self) -> frozenset[str]:
        """The columns in which numbers may be missing."""
        return frozenset(name.data for name in self.optional)

    @property
    def numbers(self) -> dict[str, AnyFloat]:
        """Those columns that hold numbers."""
        return {name: cast(AnyFloat, t) for name, t in self.columns.items() if not isinstance(t, DictType)}

    @property
    def dictionaries(self) -> dict[str, int]:
        """How many values are known of those columns that hold codes."""
        return {name: t.size.data for name, t in self.columns.items() if isinstance(t, DictType)}

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        def column() -> tuple[str, Attribute, bool]:
            name = parse_name(parser)
            parser.parse_punctuation(":")
            return name, parser.parse_type(), parser.parse_optional_punctuation("?") is not None

        with parser.in_angle_brackets():
            rows = parse_rows(parser)
            columns = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, column)
            columnar = parser.parse_optional_punctuation(",") is not None
            if columnar:
                parser.parse_keyword("columnar")
        names, types, missing = zip(*columns, strict=True) if columns else ((), (), ())
        optional = [name for name, is_optional in zip(names, missing, strict=True) if is_optional]
        return [rows, _strings(names), ArrayAttr(types), _strings(optional), BoolAttr.from_bool(columnar)]

    def print_parameters(self, printer: Printer) -> None:
        def column(item: tuple[str, Attribute]) -> None:
            print_name(printer, item[0])
            printer.print_string(": ")
            printer.print_attribute(item[1])
            if item[0] in self.may_be_missing:
                printer.print_string("?")

        printer.print_string(f"<{self.rows} x [")
        printer.print_list(self.columns.items(), column)
        printer.print_string("], columnar>" if self.is_columnar else "]>")

    def verify(self) -> None:
        if len(self.count) != 1:
            raise VerifyException(f"a bag has one number of rows, not {len(self.count)}")
        if len(self.columns) != len(self.names):
            raise VerifyException("two columns of a bag have the same name")
        if unknown := self.may_be_missing - self.numbers.keys():
            raise VerifyException(f"column {min(unknown)} holds no numbers that may be missing")
        for name, type_ in self.columns.items():
            if not isinstance(type_, Float32Type | Float64Type | DictType):
                raise VerifyException(f"column {name} holds numbers, f32 or f64, or codes, !bag.dict, not {type_}")


def _strings(names: Iterable[str]) -> ArrayAttr[StringAttr]:
    return ArrayAttr([StringAttr(name) for name in names])
