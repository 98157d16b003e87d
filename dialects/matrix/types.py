"""The type of a matrix whose rows are those of a table: its size, and where each column comes from."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import cast

from xdsl.dialects.builtin import AnyFloat, ArrayAttr, StringAttr, TensorType
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, ExprLike, to_expr
from tilework.algebra.parse import parse_expr
from tilework.dialects.support.index_attr import DimsAttr, ParserTokens
from tilework.dialects.support.shapes import tensor_type


@irdl_attr_definition
class MatrixType(ParametrizedAttribute, TypeAttribute):
    """`!matrix.matrix<N x 5 x f64, [age, pay, town * 3]>`: N rows of five numbers, of which the last three are town's.

    The names are those of the columns of a bag from which the numbers come, or of a product that made them.
    """

    name = "matrix.matrix"
    count: DimsAttr
    element_type: AnyFloat
    origins: ArrayAttr[StringAttr]

    @staticmethod
    def of(rows: ExprLike, element_type: Attribute, origins: Sequence[str]) -> MatrixType:
        """The type with so many rows and a column for each of the names."""
        names = ArrayAttr([StringAttr(name) for name in origins])
        return MatrixType(DimsAttr((to_expr(rows),)), cast(AnyFloat, element_type), names)

    @property
    def rows(self) -> Expr:
        """How many rows there are."""
        return self.count.data[0]

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return len(self.origins)

    @property
    def names(self) -> tuple[str, ...]:
        """The name of what each column comes from."""
        return tuple(name.data for name in self.origins)

    @property
    def tensor(self) -> TensorType[Attribute]:
        """The type of the tensor with its elements."""
        return tensor_type((self.rows, self.columns), self.element_type)

    def with_columns(self, origins: Sequence[str]) -> MatrixType:
        """The type with as many rows and these columns."""
        return MatrixType.of(self.rows, self.element_type, origins)

    def with_rows(self, rows: ExprLike) -> MatrixType:
        """The type with so many rows of these columns."""
        return MatrixType.of(rows, self.element_type, self.names)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            rows = parse_rows(parser)
            columns = parser.parse_integer(allow_boolean=False, allow_negative=False)
            parser.parse_keyword("x")
            element = parser.parse_type()
            parser.parse_punctuation(",")
            runs = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_run(parser))
            origins = [name for name, count in runs for _ in range(count)]
            if len(origins) != columns:
                parser.raise_error(f"the matrix has {columns} columns, but {len(origins)} names")
        return [rows, element, ArrayAttr([StringAttr(name) for name in origins])]

    def print_parameters(self, printer: Printer) -> None:
        printer.print_string(f"<{self.rows} x {self.columns} x ")
        printer.print_attribute(self.element_type)
        runs = [(name, len(list(run))) for name, run in groupby(self.names)]
        printer.print_string(", [")
        printer.print_list(runs, lambda run: _print_run(printer, *run))
        printer.print_string("]>")

    def verify(self) -> None:
        if len(self.count) != 1:
            raise VerifyException(f"a matrix has one number of rows, not {len(self.count)}")


def parse_rows(parser: AttrParser) -> DimsAttr:
    """A number of rows, `N x `, as types of tables begin."""
    rows = parse_expr(ParserTokens(parser))
    parser.parse_keyword("x")
    return DimsAttr((rows,))


def parse_name(parser: AttrParser) -> str:
    """The name of a column: a word, or a string of any characters."""
    word = parser.parse_optional_identifier()
    return parser.parse_str_literal() if word is None else word


def print_name(printer: Printer, name: str) -> None:
    """Print the name of a column as `parse_name` takes it."""
    if name.isidentifier() and name.isascii():
        printer.print_string(name)
    else:
        printer.print_string_literal(name)


def _parse_run(parser: AttrParser) -> tuple[str, int]:
    name = parse_name(parser)
    if parser.parse_optional_punctuation("*") is None:
        return name, 1
    return name, parser.parse_integer(allow_boolean=False, allow_negative=False)


def _print_run(printer: Printer, name: str, count: int) -> None:
    print_name(printer, name)
    if count > 1:
        printer.print_string(f" * {count}")
