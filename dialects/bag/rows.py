"""Functions of a row: on every row of a table, of those that are kept, and summed over all of them."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Self

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, FunctionType, StringAttr, TensorType, f64, i1
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator, Pure
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import var
from tilework.dialects.bag.conversion import Table, bag_of, column_of, scalar_of
from tilework.dialects.bag.types import BagType
from tilework.dialects.matrix.base import Array, MatrixOp, Value
from tilework.dialects.scalar_meaning import straight_line
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te.builder import KernelBuilder, Scalar

KINDS: Mapping[str, tuple[np.ufunc, float]] = {
    "add": (np.add, 0.0),
    "min": (np.minimum, float("inf")),
    "max": (np.maximum, float("-inf")),
}
"""How values of rows are joined, and the value that changes nothing."""

RowFunction = Callable[..., Sequence[Scalar]]
"""Writes the function of a row, with a builder, given its columns and then the scalars."""


@irdl_op_definition
class YieldOp(IRDLOperation):
    """What a function of a row makes.

    bag.yield %a, %b : f64, f64
    """

    name = "bag.yield"
    values = var_operand_def()
    assembly_format = "$values attr-dict `:` type($values)"
    traits = traits_def(IsTerminator())

    def __init__(self, values: Sequence[SSAValue]):
        super().__init__(operands=[list(values)])


class RowsOp(MatrixOp, ABC):
    """Base of operations with a function of a row: of the columns that it reads, and of scalars that all rows share."""

    input = operand_def(BagType)
    scalars = var_operand_def(TensorType)
    reads = prop_def(ArrayAttr[StringAttr])
    body = region_def("single_block")
    KEPT: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def by(
        cls,
        table: SSAValue,
        reads: Sequence[str],
        scalars: Sequence[SSAValue],
        function: RowFunction,
        **properties: Attribute,
    ) -> Self:
        """The operation by a function that writes scalars as in te kernels."""
        types = [scalar_of(column_of(bag_of(table), name)) for name in reads]
        block = Block(arg_types=[*types, *(f64 for _ in scalars)])
        k = KernelBuilder("row")
        with k.inside(block):
            made = function(k, *(Scalar(argument, k) for argument in block.args))
            block.add_op(YieldOp([scalar.value for scalar in made]))
        return cls.holding(table, reads, scalars, Region(block), **properties)

    @classmethod
    def holding(
        cls, table: SSAValue, reads: Sequence[str], scalars: Sequence[SSAValue], body: Region, **properties: Attribute
    ) -> Self:
        """The operation with this body."""
        properties["reads"] = ArrayAttr([StringAttr(name) for name in reads])
        probe = cls.create(operands=[table, *scalars], properties=properties, regions=[body])
        types = probe.infer()
        probe.detach_region(body)
        probe.drop_all_references()  # else the operands would keep a use by an operation that is nowhere
        return cls.create(operands=[table, *scalars], properties=properties, regions=[body], result_types=types)

    @property
    def names(self) -> list[str]:
        """The columns that the function reads, in order."""
        return [name.data for name in self.reads]

    @property
    def yielded(self) -> Sequence[SSAValue]:
        """What the function makes."""
        last = self.body.block.last_op
        if not isinstance(last, YieldOp):
            raise VerifyException("the function of a row ends in bag.yield")
        return last.values

    def verify_(self) -> None:
        bag = bag_of(self.input)
        wanted = [*(scalar_of(column_of(bag, name)) for name in self.names), *(f64 for _ in self.scalars)]
        if list(self.body.block.arg_types) != wanted:
            found = ", ".join(map(str, self.body.block.arg_types))
            raise VerifyException(f"the function takes {', '.join(map(str, wanted))}, not {found}")
        for scalar in self.scalars:
            if scalar.type != tensor_type((), f64):
                raise VerifyException(f"what all rows share is a tensor<f64>, not {scalar.type}")
        super().verify_()

    def applied(self, table: Table, scalars: Sequence[Array]) -> list[Array]:
        """What the function makes of all rows."""
        columns = [table[name] for name in self.names]
        rows = len(next(iter(table.values())))
        made = straight_line(self.body.block, [*columns, *scalars])
        return [np.broadcast_to(value, (rows,)) for value in made]

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        table = parser.parse_unresolved_operand()
        scalars = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
        properties = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        pos = parser.pos
        type_ = parser.parse_type()
        if not isinstance(type_, FunctionType):
            parser.raise_error("expected a function type", pos, parser.pos)
        operands = parser.resolve_operands([table, *(scalars or [])], type_.inputs.data, pos)
        body = parser.parse_region()
        return cls.create(operands=operands, result_types=type_.outputs.data, properties=properties, regions=[body])

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.input)
        if self.scalars:
            printer.print_string(" (")
            printer.print_list(self.scalars, printer.print_ssa_value)
            printer.print_string(")")
        printer.print_string(" ")
        printer.print_attr_dict(self.properties)
        printer.print_string(" : ")
        printer.print_attribute(FunctionType.from_lists(list(self.operand_types), list(self.result_types)))
        printer.print_string(" ")
        printer.print_region(self.body)


@irdl_op_definition
class MapOp(RowsOp):
    """The table with columns that a function of each row makes: new ones behind the others, or in the place of some.

    %u = bag.map %t (%mean) {reads = ["pay"], writes = ["above"]}
        : (!bag.bag<N x [pay: f64]>, tensor<f64>) -> !bag.bag<N x [pay: f64, above: f64]> {
    ^bb0(%pay: f64, %m: f64):
      %r = arith.subf %pay, %m : f64
      bag.yield %r : f64
    }
    """

    name = "bag.map"
    writes = prop_def(ArrayAttr[StringAttr])
    result = result_def(BagType)
    traits = traits_def(IsolatedFromAbove(), Pure())

    @property
    def written(self) -> list[str]:
        """The columns that the function makes, in order."""
        return [name.data for name in self.writes]

    def infer(self) -> Sequence[Attribute]:
        bag, made = bag_of(self.input), [value.type for value in self.yielded]
        if made != [f64] * len(self.writes):
            raise VerifyException(f"the function makes {len(self.writes)} of f64, not {', '.join(map(str, made))}")
        columns = {**bag.columns, **dict.fromkeys(self.written, f64)}
        return [bag.with_columns(columns, bag.may_be_missing | {*self.written})]

    def evaluate(self, *inputs: Value) -> Table:
        table, *scalars = inputs
        return {**table, **dict(zip(self.written, self.applied(table, scalars), strict=True))}


@irdl_op_definition
class FilterOp(RowsOp):
    """The rows of which a function is true; how many these are is called `rows`.

    %u = bag.filter %t {reads = ["age"], rows = "K"} : (!bag.bag<N x [age: f64]>) -> !bag.bag<K x [age: f64]> {
    ^bb0(%age: f64):
      %c = arith.constant 18.0 : f64
      %r = arith.cmpf oge, %age, %c : f64
      bag.yield %r : i1
    }
    """

    name = "bag.filter"
    rows = prop_def(StringAttr)
    result = result_def(BagType)
    traits = traits_def(IsolatedFromAbove(), Pure())

    def infer(self) -> Sequence[Attribute]:
        bag = bag_of(self.input)
        if [value.type for value in self.yielded] != [i1]:
            raise VerifyException("the function of a filter makes one i1")
        return [bag.with_rows(var(self.rows.data))]

    def evaluate(self, *inputs: Value) -> Table:
        table, *scalars = inputs
        [kept] = self.applied(table, scalars)
        return {name: column[kept] for name, column in table.items()}


@irdl_op_definition
class FoldOp(RowsOp):
    """What a function makes of each row, joined over all rows: added, or the least or greatest of, as `kinds` says.

    With `by`, a column of a dictionary, that is so for the rows with each of its values. Of no row, sums are 0, the
    least is infinity and the greatest its negative.

    %s, %h = bag.fold %t {reads = ["pay"], kinds = ["add", "max"]}
        : (!bag.bag<N x [pay: f64]>) -> (tensor<f64>, tensor<f64>) {
    ^bb0(%pay: f64):
      bag.yield %pay, %pay : f64, f64
    }
    """

    name = "bag.fold"
    kinds = prop_def(ArrayAttr[StringAttr])
    group = opt_prop_def(StringAttr, prop_name="by")
    results_ = var_result_def(TensorType)
    traits = traits_def(IsolatedFromAbove(), Pure())

    def infer(self) -> Sequence[Attribute]:
        kinds = [kind.data for kind in self.kinds]
        if unknown := [kind for kind in kinds if kind not in KINDS]:
            raise VerifyException(f"values are joined by {', '.join(KINDS)}, not by {unknown[0]}")
        if [value.type for value in self.yielded] != [f64] * len(kinds):
            made = ", ".join(str(value.type) for value in self.yielded)
            raise VerifyException(f"the function makes {len(kinds)} of f64, not {made}")
        return [tensor_type(self.shape, f64)] * len(kinds)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of each result: none, or one element for each value of the dictionary."""
        if self.group is None:
            return ()
        bag = bag_of(self.input)
        column_of(bag, self.group.data)
        if self.group.data not in bag.dictionaries:
            raise VerifyException(f"column {self.group.data} holds numbers, not codes of a dictionary")
        return (bag.dictionaries[self.group.data],)

    def evaluate(self, *inputs: Value) -> Sequence[Array]:
        table, *scalars = inputs
        made: list[Array] = []
        for kind, values in zip(self.kinds, self.applied(table, scalars), strict=True):
            join, begin = KINDS[kind.data]
            found = np.full(self.shape, begin)
            if self.group is None:
                made.append(np.asarray(join.reduce(values, initial=begin)))
                continue
            codes = table[self.group.data]
            join.at(found, codes[codes >= 0], values[codes >= 0])
            made.append(found)
        return made
