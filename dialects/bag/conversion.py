"""Columns of a table become matrices."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, BoolAttr, Float32Type, Float64Type, StringAttr, TensorType, UnitAttr, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from tilework.dialects.bag.types import BagType, DictType
from tilework.dialects.graph.base import numpy_dtype
from tilework.dialects.matrix.base import Array, MatrixOp, float_of
from tilework.dialects.matrix.types import MatrixType
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.shapes import dims_of, tensor_type

Table = Mapping[str, Array]
"""A bag while a program is interpreted: its columns by name."""


@dataclass(frozen=True)
class Part:
    """The tensor that columns of a bag lie in, side by side in this order."""

    type: TensorType[Attribute]
    columns: tuple[str, ...]


def layout_of(bag: BagType) -> tuple[Part, ...]:
    """The tensors that hold a bag: one for each type of numbers, then one of codes; of a columnar one, each column."""
    elements = {name: scalar_of(type_) for name, type_ in bag.columns.items()}
    if bag.is_columnar:
        return tuple(Part(tensor_type((bag.rows, 1), element), (name,)) for name, element in elements.items())
    groups: dict[Attribute, list[str]] = {element: [] for element in bag.numbers.values()}
    for name, element in elements.items():
        groups.setdefault(element, []).append(name)
    return tuple(Part(tensor_type((bag.rows, len(names)), element), tuple(names)) for element, names in groups.items())


def tensors_of(type_: Attribute) -> list[TensorType[Attribute]]:
    """The types of the tensors in which a value of this type lies once programs are on tensors."""
    match type_:
        case BagType():
            return [part.type for part in layout_of(type_)]
        case MatrixType():
            return [type_.tensor]
        case _:
            return [type_] if isa(type_, TensorType[Attribute]) else []


def table_of(bag: BagType, arrays: Iterator[Array]) -> Table:
    """The columns of a bag that lies in the next arrays."""
    parts = [(part, next(arrays)) for part in layout_of(bag)]
    columns = {name: array[:, i] for part, array in parts for i, name in enumerate(part.columns)}
    return {name: columns[name] for name in bag.columns}


@irdl_op_definition
class PackOp(MatrixOp):
    """A table whose columns lie side by side in tensors: in one the numbers of a type, in the last one the codes.

    With `columnar`, a tensor for each column, in order.

    %t = bag.pack %numbers, %codes {columns = ["age", "pay", "town"], types = [f64, f64, !bag.dict<3>], optional = []}
        : (tensor<?x2xf64, #graph.dims<[N, 2]>>, tensor<?x1xi32, #graph.dims<[N, 1]>>)
        -> !bag.bag<N x [age: f64, pay: f64, town: !bag.dict<3>]>
    """

    name = "bag.pack"
    tensors = var_operand_def(TensorType)
    columns = prop_def(ArrayAttr[StringAttr])
    types = prop_def(ArrayAttr)
    optional = prop_def(ArrayAttr[StringAttr])
    columnar = opt_prop_def(UnitAttr)
    result = result_def(BagType)
    traits = traits_def(Pure())

    @classmethod
    def holding(cls, tensors: Sequence[SSAValue], bag: BagType) -> Self:
        """The table of that type which lies in these tensors."""
        columnar = {"columnar": UnitAttr()} if bag.is_columnar else {}
        return cls.of(*tensors, columns=bag.names, types=bag.types, optional=bag.optional, **columnar)

    def infer(self) -> Sequence[Attribute]:
        if not self.tensors or not dims_of(self.tensors[0].type):
            raise VerifyException("a bag has at least one column, in a tensor of rows")
        rows, columnar = DimsAttr(dims_of(self.tensors[0].type)[:1]), BoolAttr.from_bool(self.columnar is not None)
        bag = BagType(rows, self.columns, self.types, self.optional, columnar)
        wanted, given = [part.type for part in layout_of(bag)], [*self.tensors.types]
        if wanted != given:
            raise VerifyException(
                f"these columns are in {', '.join(map(str, wanted))}, not in {', '.join(map(str, given))}"
            )
        return [bag]

    def evaluate(self, *inputs: Array) -> Table:
        return table_of(bag_of(self.result), iter(inputs))


@irdl_op_definition
class ToMatrixOp(MatrixOp):
    """Columns of numbers of one type, side by side.

    %x = bag.to_matrix %t {columns = ["age", "pay"]} : (!bag.bag<N x [age: f64, pay: f64, town: !bag.dict<3>]>)
        -> !matrix.matrix<N x 2 x f64, [age, pay]>
    """

    name = "bag.to_matrix"
    input = operand_def(BagType)
    columns = prop_def(ArrayAttr[StringAttr])
    result = result_def(MatrixType)
    traits = traits_def(Pure())

    @property
    def names(self) -> list[str]:
        """The columns, in order."""
        return [name.data for name in self.columns]

    def infer(self) -> Sequence[Attribute]:
        bag = bag_of(self.input)
        types = dict.fromkeys(column_of(bag, name) for name in self.names)
        if len(types) != 1 or not isinstance(element := next(iter(types)), Float32Type | Float64Type):
            raise VerifyException(f"columns of one type of numbers become a matrix, not of {[*map(str, types)]}")
        return [MatrixType.of(bag.rows, element, self.names)]

    def evaluate(self, *inputs: Table) -> Array:
        return np.stack([inputs[0][name.data] for name in self.columns], axis=1)


@irdl_op_definition
class ColumnOp(MatrixOp):
    """The numbers, or the codes, of one column.

    %v = bag.column %t {column = "town"} : (!bag.bag<N x [town: !bag.dict<3>]>) -> tensor<?xi32, #graph.dims<[N]>>
    """

    name = "bag.column"
    input = operand_def(BagType)
    column = prop_def(StringAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def infer(self) -> Sequence[Attribute]:
        bag = bag_of(self.input)
        return [tensor_type((bag.rows,), scalar_of(column_of(bag, self.column.data)))]

    def evaluate(self, *inputs: Table) -> Array:
        return np.asarray(inputs[0][self.column.data])


class CodesOp(MatrixOp, ABC):
    """Base of what is read off the codes of one column."""

    input = operand_def(BagType)
    column = prop_def(StringAttr)
    result = result_def(MatrixType)
    traits = traits_def(Pure())

    @property
    def known_values(self) -> int:
        """How many values the column's dictionary has. Raises VerifyException for a column of numbers."""
        bag, name = bag_of(self.input), self.column.data
        column_of(bag, name)
        if name not in bag.dictionaries:
            raise VerifyException(f"column {name} holds numbers, not codes of a dictionary")
        return bag.dictionaries[name]


@irdl_op_definition
class OneHotOp(CodesOp):
    """A column for each value of a dictionary, which is 1 in the rows with that value, else 0.

    %x = bag.one_hot %t {column = "town", dtype = f64} : (!bag.bag<N x [town: !bag.dict<3>]>)
        -> !matrix.matrix<N x 3 x f64, [town * 3]>
    """

    name = "bag.one_hot"
    dtype = prop_def(Float32Type | Float64Type)

    def infer(self) -> Sequence[Attribute]:
        origins = [self.column.data] * self.known_values
        return [MatrixType.of(bag_of(self.input).rows, self.dtype, origins)]

    def evaluate(self, *inputs: Table) -> Array:
        codes = inputs[0][self.column.data]
        return (codes[:, None] == np.arange(self.known_values)).astype(numpy_dtype(self.dtype))


@irdl_op_definition
class LookupOp(CodesOp):
    """The row of a table for each value of a dictionary; the last one stands for values that it does not know.

    %x = bag.lookup %t, %table {column = "town"} : (!bag.bag<N x [town: !bag.dict<3>]>, tensor<4x2xf64>)
        -> !matrix.matrix<N x 2 x f64, [town * 2]>
    """

    name = "bag.lookup"
    input = operand_def(BagType)  # again: an operand of the base would stand behind the table
    table = operand_def(TensorType)

    def infer(self) -> Sequence[Attribute]:
        dims, size = dims_of(self.table.type), self.known_values
        if len(dims) != 2 or dims[1].constant is None or dims[0] != size + 1:
            message = f"a dictionary of {size} values needs a table of {size + 1} rows, one for others"
            raise VerifyException(f"{message}, not {self.table.type}")
        origins = [self.column.data] * dims[1].constant
        return [MatrixType.of(bag_of(self.input).rows, float_of(self.table), origins)]

    def evaluate(self, *inputs: Table | Array) -> Array:
        bag, table = inputs
        assert isinstance(bag, Mapping) and isinstance(table, np.ndarray)
        return table[bag[self.column.data]]  # -1 is the last row


def scalar_of(column: Attribute) -> Attribute:
    """What a row has of a column: a number, or a code."""
    return i32 if isinstance(column, DictType) else column


def bag_of(value: SSAValue) -> BagType:
    """The type of a bag. Raises VerifyException for another value."""
    if not isinstance(value.type, BagType):
        raise VerifyException(f"expected a bag, got {value.type}")
    return value.type


def column_of(bag: BagType, name: str) -> Attribute:
    """The type of a column. Raises VerifyException that names the columns that there are."""
    if name not in bag.columns:
        raise VerifyException(f"the bag has no column {name}; it has {', '.join(bag.columns)}")
    return bag.columns[name]
