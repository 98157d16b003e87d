"""The monadic view of tables: loops over their rows, with guards, and what each round makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Self

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, FunctionType, IntegerAttr, StringAttr, TensorType, f64, i1, i64
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import const, var
from tilework.dialects.bag.conversion import Table, bag_of, column_of, scalar_of
from tilework.dialects.bag.rows import YieldOp
from tilework.dialects.bag.types import BagType
from tilework.dialects.matrix.base import MatrixOp, Value
from tilework.dialects.scalar_meaning import straight_line

Names = ArrayAttr[ArrayAttr[StringAttr]]
"""Columns of each of the tables."""


@irdl_op_definition
class ComprehensionOp(MatrixOp):
    """A row for each choice of one row of every table for which all guards hold: `for p in people for t in towns if`.

    The tables are the generators, the later ones in the inner loops. The function takes the columns of each that it
    `reads`, and then scalars. It makes as many truth values as there are `guards`, and behind them the numbers that the
    head `writes`. The head has also those columns of each table that it `keeps`. How many rows there are is called
    `rows`, where there are guards.

    %u = bag.comprehension %people, %towns {reads = [["town"], ["name", "size"]], keeps = [["town"], []],
        guards = 1 : i64, writes = ["size"], rows = "K"}
        : (!bag.bag<N x [town: !bag.dict<3>]>, !bag.bag<M x [name: !bag.dict<3>, size: f64]>)
        -> !bag.bag<K x [town: !bag.dict<3>, size: f64?]> {
    ^bb0(%town: i32, %name: i32, %size: f64):
      %same = arith.cmpi eq, %town, %name : i32
      bag.yield %same, %size : i1, f64
    }
    """

    name = "bag.comprehension"
    tables = var_operand_def(BagType)
    scalars = var_operand_def(TensorType)
    reads = prop_def(Names)
    keeps = prop_def(Names)
    guards = prop_def(IntegerAttr)
    writes = prop_def(ArrayAttr[StringAttr])
    rows = opt_prop_def(StringAttr)
    result = result_def(BagType)
    body = region_def("single_block")
    traits = traits_def(IsolatedFromAbove(), Pure())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @classmethod
    def holding(
        cls,
        tables: Sequence[SSAValue],
        scalars: Sequence[SSAValue],
        body: Region,
        *,
        reads: Sequence[Sequence[str]],
        keeps: Sequence[Sequence[str]],
        guards: int,
        writes: Sequence[str],
        rows: str | None,
    ) -> Self:
        """The comprehension with this body."""
        properties: dict[str, Attribute] = {
            "reads": _names(reads),
            "keeps": _names(keeps),
            "guards": IntegerAttr(guards, i64),
            "writes": ArrayAttr([StringAttr(name) for name in writes]),
        }
        if rows is not None:
            properties["rows"] = StringAttr(rows)
        unknown = BagType.of(0, {})
        probe = cls.build(operands=[tables, scalars], properties=properties, regions=[body], result_types=[unknown])
        types = probe.infer()
        probe.detach_region(body)
        probe.drop_all_references()  # else the operands would keep a use by an operation that is nowhere
        return cls.build(operands=[tables, scalars], properties=properties, regions=[body], result_types=types)

    @property
    def read(self) -> list[list[str]]:
        """The columns of each table that the function takes."""
        return [[name.data for name in names] for names in self.reads]

    @property
    def kept(self) -> list[list[str]]:
        """The columns of each table that the head has."""
        return [[name.data for name in names] for names in self.keeps]

    @property
    def written(self) -> list[str]:
        """The columns that the function makes."""
        return [name.data for name in self.writes]

    @property
    def yielded(self) -> Sequence[SSAValue]:
        """The guards, and then the numbers of the head."""
        last = self.body.block.last_op
        if not isinstance(last, YieldOp):
            raise VerifyException("the function of a comprehension ends in bag.yield")
        return last.values

    @property
    def places(self) -> Mapping[SSAValue, tuple[int, str]]:
        """Which column of which table each of the function's arguments is."""
        columns = [(i, name) for i, names in enumerate(self.read) for name in names]
        return dict(zip(self.body.block.args, columns, strict=False))

    def infer(self) -> Sequence[Attribute]:
        bags = [bag_of(table) for table in self.tables]
        if not bags or not len(bags) == len(self.reads) == len(self.keeps):
            raise VerifyException("a comprehension has tables, and reads and keeps columns of each of them")
        guards = self.guards.value.data
        if (guards == 0) != (self.rows is None):
            raise VerifyException("the number of rows has a name where there are guards, and there alone")
        wanted = [*[i1] * guards, *[f64] * len(self.writes)]
        if (made := [value.type for value in self.yielded]) != wanted:
            raise VerifyException(f"the function makes {', '.join(map(str, wanted))}, not {', '.join(map(str, made))}")
        columns: dict[str, Attribute] = {}
        optional = {*self.written}
        for bag, names in zip(bags, self.kept, strict=True):
            if twice := columns.keys() & {*names}:
                raise VerifyException(f"the head keeps column {min(twice)} of two tables")
            columns |= {name: column_of(bag, name) for name in names}
            optional |= bag.may_be_missing & {*names}
        columns |= dict.fromkeys(self.written, f64)
        rows = prod((bag.rows for bag in bags), start=const(1)) if self.rows is None else var(self.rows.data)
        return [BagType.of(rows, columns, optional, columnar=bags[0].is_columnar)]

    def verify_(self) -> None:
        pairs = zip(self.tables, self.read, strict=True)
        columns = [column_of(bag_of(table), name) for table, names in pairs for name in names]
        wanted = [*map(scalar_of, columns), *(f64 for _ in self.scalars)]
        if list(self.body.block.arg_types) != wanted:
            found = ", ".join(map(str, self.body.block.arg_types))
            raise VerifyException(f"the function takes {', '.join(map(str, wanted))}, not {found}")
        super().verify_()

    def evaluate(self, *inputs: Value) -> Table:
        tables, scalars = inputs[: len(self.tables)], inputs[len(self.tables) :]
        sizes = [len(next(iter(table.values()))) for table in tables]
        chosen = np.indices(sizes).reshape(len(sizes), -1)
        read = zip(tables, chosen, self.read, strict=True)
        columns = [table[name][at] for table, at, names in read for name in names]
        made = [np.broadcast_to(x, chosen.shape[1:]) for x in straight_line(self.body.block, [*columns, *scalars])]
        guards = self.guards.value.data
        held = np.logical_and.reduce(made[:guards], axis=0) if guards else np.ones(chosen.shape[1], bool)
        kept = {
            name: table[name][at[held]]
            for table, at, names in zip(tables, chosen, self.kept, strict=True)
            for name in names
        }
        return kept | {name: values[held] for name, values in zip(self.written, made[guards:], strict=True)}

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        tables = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        scalars = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        properties = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        pos = parser.pos
        type_ = parser.parse_type()
        if not isinstance(type_, FunctionType):
            parser.raise_error("expected a function type", pos, parser.pos)
        operands = parser.resolve_operands([*tables, *(scalars or [])], type_.inputs.data, pos)
        body = parser.parse_region()
        given = [operands[: len(tables)], operands[len(tables) :]]
        return cls.build(operands=given, properties=properties, regions=[body], result_types=list(type_.outputs))

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list(self.tables, printer.print_ssa_value)
        if self.scalars:
            printer.print_string(" (")
            printer.print_list(self.scalars, printer.print_ssa_value)
            printer.print_string(")")
        printer.print_string(" ")
        printer.print_attr_dict({n: p for n, p in self.properties.items() if n != "operandSegmentSizes"})
        printer.print_string(" : ")
        printer.print_attribute(FunctionType.from_lists(list(self.operand_types), list(self.result_types)))
        printer.print_string(" ")
        printer.print_region(self.body)


def _names(names: Sequence[Sequence[str]]) -> Names:
    return ArrayAttr([ArrayAttr([StringAttr(name) for name in each]) for each in names])
