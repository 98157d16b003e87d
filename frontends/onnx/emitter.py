"""Builds the function: constants and parameters on first use, operators with the location of their node."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

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

from tilework.algebra.index_expr import Compound, Expr, Key, const, to_expr, var
from tilework.algebra.predicate import Predicate
from tilework.algebra.requirement import Requirement
from tilework.analysis.parameters import parameters_read
from tilework.dialects import arith
from tilework.dialects.graph import AddOp, BitcastOp, CastOp, ConcatOp, DivOp, RangeOp, ReshapeOp
from tilework.dialects.graph.narrow import in_bytes, is_narrow
from tilework.dialects.graph.require import RequireOp
from tilework.dialects.graph.structure import ParameterOp
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.shapes import dims_of, tensor_type
from tilework.frontends.onnx.fractions import SizeFraction
from tilework.frontends.onnx.given import arguments_read, may_be_known
from tilework.frontends.onnx.types import element_type, numpy_element_type, numpy_type
from tilework.frontends.onnx.values import Array, Known, Value, as_numbers

INLINE_BYTES = 1024
"""A constant of at most so many bytes is written into the program; a larger one is a parameter."""

ONNX_NAME = "tilework.onnx_name"
"""The attribute that keeps a parameter's ONNX name where that cannot be its symbol name."""


@dataclass(frozen=True)
class DataRequirement:
    """A truth value, without dimensions, that is to hold when the model runs, and what is wrong where it does not."""

    holds: SSAValue
    text: str


class Emitter:
    """Appends to the block of `@main`, or of a step inside. `parameters` collects the arrays by symbol name.

    `whole` holds dividends and divisors of which a requirement says that nothing is left over, `defaults` the symbols
    of parameters that the caller may replace, by their names, `asked_of_data` what has to hold of the block's values.
    """

    def __init__(self, block: Block):
        self.block = block
        self.parameters: dict[str, Array] = {}
        self.whole: set[tuple[Expr, ...]] = set()
        self.defaults: dict[str, str] = {}
        self.fixed_defaults: dict[str, str] = {}
        self.inputs: dict[SSAValue, str] = {}
        """The names of the model's inputs."""
        self.asked_of_data: list[DataRequirement] = []
        self._required: set[tuple[Predicate, ...]] = set()
        self._main = block
        self._emitted: dict[Known, SSAValue] = {}
        self._symbols: dict[Known, str] = {}
        self._bound: dict[Key, SSAValue] = {}
        """For each symbol that an operator binds a tensor that has it as a dimension."""
        self._named: set[str] = set()
        self.told: dict[SSAValue, Expr] = {}
        """The symbols that numbers of the running model are."""
        self.elements: dict[tuple[SSAValue, int], SSAValue] = {}
        """Elements that were taken out of vectors."""
        self.in_front: dict[tuple[SSAValue, Expr], Expr] = {}
        """How many elements of an axis of a size are in front of a bound of the running model."""

    def inside(self, block: Block) -> Emitter:
        """One that appends to the block of a step."""
        emitter = Emitter(block)
        emitter.parameters, emitter.whole, emitter._required = self.parameters, self.whole, self._required
        emitter._main, emitter._symbols, emitter.defaults = self._main, self._symbols, self.defaults
        emitter.inputs = self.inputs
        emitter._bound, emitter._named = dict(self._bound), self._named
        emitter.told, emitter.elements = dict(self.told), dict(self.elements)
        emitter.in_front = dict(self.in_front)
        return emitter

    @contextmanager
    def undone(self, *errors: type[Exception]) -> Generator[None]:
        """Take back what is emitted meanwhile; where errors are named, only if one of them is raised."""
        ends = [(block, block.last_op) for block in dict.fromkeys((self.block, self._main))]
        asked = list(self.asked_of_data)
        noted = self._bound, self.told, self.elements, self.in_front
        holders = self.parameters, self._emitted, self._symbols, self.whole, self._required, *noted
        before = [held.copy() for held in holders]
        is_taken_back = not errors
        try:
            yield
        except errors:
            is_taken_back = True
            raise
        finally:
            if is_taken_back:
                self.asked_of_data = asked
                for held, content in zip(holders, before, strict=True):
                    held.clear()
                    cast("Any", held).update(content)
                for block, last in ends:
                    while (op := block.last_op) is not None and op is not last:
                        op.detach()
                        op.erase(safe_erase=False)

    def fresh_symbol(self, hint: str) -> Expr:
        """A symbol like `hint` that no dimension has yet."""
        inputs = (d for v in self._main.args for d in dims_of(v.type))
        taken = {str(key) for d in inputs for key in d.variables()} | self._named
        base = re.sub(r"\W", "_", hint, flags=re.ASCII)
        name, n = base, 1
        while name in taken:
            name, n = f"{base}_{n}", n + 1
        self._named.add(name)
        return var(name)

    def bind(self, symbol: Expr, carrier: SSAValue) -> None:
        """Say which tensor tells from now on what a new symbol is: one that has it as a dimension."""
        [name] = symbol.variables()
        self._bound[name] = carrier

    def is_told(self, symbol: Key) -> bool:
        """Whether it is the running model that tells what a symbol is, no input."""
        return symbol in self._bound

    def carrier(self, symbol: Key) -> SSAValue:
        """What was said to `bind` a symbol of the running model."""
        return self._bound[symbol]

    def require(self, requirement: Requirement, title: str) -> None:
        """Let `@main` require what a node of that title needs of sizes; of those that data tell, where they do."""
        if requirement.any_of in self._required:
            return
        self._required.add(requirement.any_of)
        op = RequireOp(requirement)
        op.location = NameLoc(StringAttr(title), UnknownLoc())
        is_told_here = any(map(self.is_told, requirement.variables()))
        (self.block if is_told_here else self._main).add_op(op)
        match requirement.any_of:
            case (Predicate(expr=Expr(terms=((Compound(kind="mod", args=args), _),), offset=0), kind="=="),):
                self.whole.add(args)
            case _:
                pass

    def fix_default(self, value: Known) -> None:
        """Keep what the caller may give by that name again, though nothing else in its place."""
        symbol = self._symbol(value.name)
        self.parameters[symbol] = value.array
        self.fixed_defaults[value.name] = symbol

    def default(self, value: Known) -> SSAValue:
        """A parameter that the caller may replace by that name."""
        symbol = self._symbol(value.name)
        self.parameters[symbol] = value.array
        self.defaults[value.name] = symbol
        op = ParameterOp(symbol, tensor_type(value.array.shape, numpy_element_type(value.array, f"'{value.name}'")))
        op.attributes[ONNX_NAME] = StringAttr(value.name)
        return self._insert_named(op, value.name)

    def defaults_in(self, value: SSAValue) -> set[str]:
        """The names of parameters that the caller may replace and that a value is computed from."""
        names = {symbol: name for name, symbol in self.defaults.items()}
        return {names[symbol] for symbol in parameters_read(value) if symbol in names}

    def inputs_read(self, value: SSAValue) -> frozenset[str]:
        """The names of the inputs that decide about a value; none where one of them is data, of which there is much."""
        read = [self.inputs[argument] for argument in arguments_read(value) if argument in self.inputs]
        are_few = all(may_be_known(argument) for argument in arguments_read(value) if argument in self.inputs)
        return frozenset(read) if are_few else frozenset()

    def insert(self, op: Operation, title: str) -> SSAValue:
        """Append an operation that comes from the node (or initializer) `title`; its first result."""
        op.location = NameLoc(StringAttr(title), UnknownLoc())
        self.block.add_op(op)
        return op.results[0]

    def ask_of_data(self, holds: SSAValue, text: str) -> None:
        """Note that a truth value has to hold when the model runs."""
        self.asked_of_data.append(DataRequirement(holds, text))

    def tensor(self, value: Value) -> SSAValue:
        """The value as an SSA value: a known array becomes an inline constant or a parameter, once."""
        if isinstance(value, SSAValue):
            return value
        if value not in self._emitted:
            self._emitted[value] = self._emit_known(value)
        return self._emitted[value]

    def inputs_with_symbols(self, sizes: Iterable[Expr]) -> list[SSAValue]:
        """Tensors that have the symbols in expressions as dimensions: those that bind them, inputs for all others."""
        symbols = dict.fromkeys(key for e in sizes for key in e.variables())
        return list(dict.fromkeys(self._telling(key) for key in symbols))

    def _telling(self, symbol: Key) -> SSAValue:
        if symbol in self._bound:
            return self._bound[symbol]
        return next(v for v in self._main.args if var(symbol) in dims_of(v.type))

    def range(self, first: Expr, count: Expr, step: int, title: str) -> SSAValue:
        """`count` numbers: first, first + step, ... As no size is below zero, what the first one is less is added."""
        below = min(first.constant or 0, 0)
        sizes = {"first": DimsAttr.of([first - below]), "count": DimsAttr.of([count])}
        known = self.inputs_with_symbols([first, count])
        numbers = self.insert(RangeOp.of(*known, **sizes, step=IntegerAttr(step, i64)), title)
        return self.insert(AddOp.of(numbers, self.tensor(Known(np.array(below), title))), title) if below else numbers

    def _emit_sizes(self, value: Known) -> SSAValue:
        """Numbers that depend on symbolic dimensions."""
        numbers = [self._number(e, value) for e in as_numbers(value.array).flat]
        result = numbers[0]
        if len(numbers) > 1:
            result = self.insert(ConcatOp.of(*numbers, axis=IntegerAttr(0, i64)), value.name)
        shape = DimsAttr.of([const(n) for n in value.array.shape])
        result = self.insert(ReshapeOp.of(result, shape=shape), value.name)
        element = element_type(numpy_type(value.element), f"'{value.name}'")
        if element == i64 or value.element.kind == "f":
            return result
        return self.insert(CastOp.of(result, to=element), value.name)

    def _number(self, number: SizeFraction | Expr | float, value: Known) -> SSAValue:
        """One of those as a vector: of int64, or a fraction of the type that it has."""
        if isinstance(number, float):
            return self.tensor(Known(np.array([number], value.element), value.name))
        if not isinstance(number, SizeFraction):
            return self.range(to_expr(number), const(1), 1, value.name)
        element = element_type(numpy_type(value.element), f"'{value.name}'")
        dividend = self.range(number.dividend, const(1), 1, value.name)
        result = self.insert(CastOp.of(dividend, to=element), value.name)
        if number.divisor == 1:
            return result
        divisor = self.tensor(Known(np.array([number.divisor], value.element), value.name))
        return self.insert(DivOp.of(result, divisor), value.name)

    def _emit_known(self, value: Known) -> SSAValue:
        if value.is_symbolic:
            return self._emit_sizes(value)
        array = value.array
        type_ = tensor_type(array.shape, numpy_element_type(array, f"'{value.name}'"))
        if is_narrow(type_.element_type):
            bytes_ = self._emit_known(Known(in_bytes(np.ascontiguousarray(array)), value.name))
            return self.insert(BitcastOp.of(bytes_, to=type_.element_type), value.name)
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
