"""Builds the function: constants and parameters on first use, operators with the location of their node."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import cast

import numpy as np
from xdsl.dialects.builtin import (
    AnyDenseElement,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
    NameLoc,
    StringAttr,
    TensorType,
    UnknownLoc,
    i1,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilework.algebra.index_expr import Expr, const, var
from tilework.dialects import arith
from tilework.dialects.graph import AddOp, CastOp, ConcatOp, RangeOp, ReshapeOp
from tilework.dialects.graph.structure import ParameterOp
from tilework.dialects.index_attr import DimsAttr
from tilework.dialects.shapes import dims_of, tensor_type
from tilework.frontends.onnx.types import element_type, numpy_element_type, numpy_type
from tilework.frontends.onnx.values import Array, Known, Value, as_dims

INLINE_BYTES = 1024
"""A constant of at most so many bytes is written into the program; a larger one is a parameter."""

ONNX_NAME = "tilework.onnx_name"
"""The attribute that keeps a parameter's ONNX name where that cannot be its symbol name."""


@dataclass(frozen=True)
class Requirement:
    """A truth value, without dimensions, that is to hold when the model runs, and what is wrong where it does not."""

    holds: SSAValue
    text: str


class Emitter:
    """Appends to the block of `@main`, or of a step inside. `parameters` collects the arrays by symbol name.

    requirements: what has to hold of the block's values.
    """

    def __init__(self, block: Block):
        self.block = block
        self.parameters: dict[str, Array] = {}
        self.requirements: list[Requirement] = []
        self._main = block
        self._emitted: dict[Known, SSAValue] = {}
        self._symbols: dict[Known, str] = {}

    def inside(self, block: Block) -> Emitter:
        """One that appends to the block of a step."""
        emitter = Emitter(block)
        emitter.parameters, emitter._main, emitter._symbols = self.parameters, self._main, self._symbols
        return emitter

    def insert(self, op: Operation, title: str) -> SSAValue:
        """Append an operation that comes from the node (or initializer) `title`; its first result."""
        op.location = NameLoc(StringAttr(title), UnknownLoc())
        self.block.add_op(op)
        return op.results[0]

    def require(self, holds: SSAValue, text: str) -> None:
        """Note that a truth value has to hold when the model runs."""
        self.requirements.append(Requirement(holds, text))

    def tensor(self, value: Value) -> SSAValue:
        """The value as an SSA value: a known array becomes an inline constant or a parameter, once."""
        if isinstance(value, SSAValue):
            return value
        if value not in self._emitted:
            self._emitted[value] = self._emit_known(value)
        return self._emitted[value]

    def told_by(self, sizes: Iterable[Expr]) -> list[SSAValue]:
        """The inputs that have the symbols in expressions as dimensions, as every symbol is one of some input."""
        symbols = dict.fromkeys(key for e in sizes for key in e.variables())
        inputs = self._main.args
        return list(dict.fromkeys(next(v for v in inputs if var(key) in dims_of(v.type)) for key in symbols))

    def range(self, first: Expr, count: Expr, step: int, title: str) -> SSAValue:
        """`count` numbers: first, first + step, ... As no size is below zero, what the first one is less is added."""
        below = min(first.constant or 0, 0)
        sizes = {"first": DimsAttr.of([first - below]), "count": DimsAttr.of([count])}
        numbers = self.insert(RangeOp.of(*self.told_by([first, count]), **sizes, step=IntegerAttr(step, i64)), title)
        return self.insert(AddOp.of(numbers, self.tensor(Known(np.array(below), title))), title) if below else numbers

    def _emit_sizes(self, value: Known) -> SSAValue:
        """Integers that depend on symbolic dimensions."""
        numbers = [self.range(e, const(1), 1, value.name) for e in as_dims(value.array)]
        result = numbers[0]
        if len(numbers) > 1:
            result = self.insert(ConcatOp.of(*numbers, axis=IntegerAttr(0, i64)), value.name)
        shape = DimsAttr.of([const(n) for n in value.array.shape])
        result = self.insert(ReshapeOp.of(result, shape=shape), value.name)
        element = element_type(numpy_type(value.element), f"'{value.name}'")
        return result if element == i64 else self.insert(CastOp.of(result, to=element), value.name)

    def _emit_known(self, value: Known) -> SSAValue:
        if value.is_symbolic:
            return self._emit_sizes(value)
        array = value.array
        type_ = tensor_type(array.shape, numpy_element_type(array, f"'{value.name}'"))
        if array.nbytes <= INLINE_BYTES:
            return self._insert_named(arith.ConstantOp(dense(array, type_.element_type)), value.name)
        if value not in self._symbols:
            self._symbols[value] = self._symbol(value.name)
        symbol = self._symbols[value]
        self.parameters[symbol] = array
        op = ParameterOp(symbol, type_)
        if symbol != value.name:
            op.attributes[ONNX_NAME] = StringAttr(value.name)
        return self._insert_named(op, value.name)

    def _insert_named(self, op: Operation, name: str) -> SSAValue:
        result = self.insert(op, name)
        result.name_hint = ssa_name(name)
        return result

    def _symbol(self, name: str) -> str:
        """An identifier like `name` that no parameter has yet."""
        base = re.sub(r"[^\w.$]", "_", name, flags=re.ASCII)
        base = base if re.match(r"[A-Za-z_]", base) else f"_{base}"
        symbol, n = base, 1
        while symbol in self.parameters:
            symbol, n = f"{base}_{n}", n + 1
        return symbol


def ssa_name(name: str) -> str | None:
    """A name for an SSA value like an ONNX name, which may hold any character; None where nothing is like it."""
    cleaned = re.sub(r"\W", "_", name, flags=re.ASCII)
    return cleaned if SSAValue.is_valid_name(cleaned) else None


def dense(array: Array, element: Attribute) -> DenseIntOrFPElementsAttr:
    """`dense<...>` of an array."""
    type_ = cast(TensorType[AnyDenseElement], tensor_type(array.shape, element))
    if element == i1:
        return DenseIntOrFPElementsAttr.from_list(cast(TensorType[IntegerType], type_), [int(x) for x in array.flat])
    return DenseIntOrFPElementsAttr(type_, BytesAttr(np.ascontiguousarray(array).tobytes()))
