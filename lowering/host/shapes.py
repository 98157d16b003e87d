"""Dimensions on the host: symbols bound from the inputs' shapes and checked, and expressions over them as values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.builder import Builder
from xdsl.dialects import cf, memref
from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, MemRefType, NoneAttr, StridedLayoutAttr, TensorType
from xdsl.ir import Attribute, SSAValue

from tilework.algebra.index_expr import Expr, Key, var
from tilework.algebra.predicate import Predicate
from tilework.algebra.requirement import Requirement
from tilework.analysis.program_targets import HOST
from tilework.dialects import arith
from tilework.dialects.loop import INDEX, ApplyOp, SymbolOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.tilework import DeviceAttr


@dataclass(frozen=True)
class HostInput:
    """An input by its name, its buffer, what the graph calls it, and why it takes fewer sizes than it declares."""

    name: str
    buffer: SSAValue
    value: SSAValue
    needs: str = ""


class HostShapes:
    """The values of index expressions at one point of a host function, each computed once."""

    def __init__(self, at: Builder):
        self._at = at
        self._symbols: dict[Key, SSAValue] = {}
        self._values: dict[Expr, SSAValue] = {}

    def inside(self, at: Builder) -> HostShapes:
        """The same inside of a loop, where new values are computed at `at`."""
        shapes = HostShapes(at)
        shapes._symbols, shapes._values = self._symbols, dict(self._values)
        return shapes

    def bind(self, inputs: Sequence[HostInput]) -> None:
        """Bind every symbol to the first dimension that is the symbol itself; check all other dimensions with one."""
        sources: dict[Key, str] = {}
        checks: list[tuple[SSAValue, Expr, str, str]] = []
        for given in inputs:
            for axis, dim in enumerate(dims_of(given.value.type)):
                if dim.is_constant:
                    continue
                extent = self._at.insert(memref.DimOp(given.buffer, self.value(axis))).result
                where = f"dimension {axis} of input '{given.name}'"
                symbol = dim.as_var
                if symbol is None or symbol in self._symbols:
                    checks.append((extent, dim, where, f"; {given.needs}" if given.needs else ""))
                    continue
                extent.name_hint = str(symbol)
                self._symbols[symbol], sources[symbol] = extent, where
        for extent, dim, where, reason in checks:
            self._check(extent, dim, where, reason, sources)

    def _check(self, extent: SSAValue, dim: Expr, where: str, reason: str, sources: dict[Key, str]) -> None:
        unbound = [str(symbol) for symbol in dim.variables() if symbol not in sources]
        if unbound:
            raise CompileError(f"{where} is {dim}, but no input has a dimension that is {unbound[0]} itself")
        origins = " and ".join(f"{symbol} is {sources[symbol]}" for symbol in dim.variables())
        equal = self._at.insert(arith.CmpiOp(extent, self.value(dim), "eq")).result
        self._at.insert(cf.AssertOp(equal, f"{where} is not {dim}, where {origins}{reason}"))

    def name(self, symbol: Expr, value: SSAValue, most: Expr | None) -> None:
        """Bind a symbol to a number that is known now, from 0 to a limit where there is one."""
        [key] = symbol.variables()
        self._symbols[key] = self._at.insert(SymbolOp(str(key), value, most)).result

    def name_checked(self, symbol: Expr, value: SSAValue, most: Expr | None, refusal: str) -> None:
        """The same for a number that may be another one: the function fails then, with that text."""
        holds = self._at.insert(arith.CmpiOp(value, self.value(0), "sge")).result
        if most is not None:
            is_below = self._at.insert(arith.CmpiOp(value, self.value(most), "sle")).result
            holds = self._at.insert(arith.AndIOp(holds, is_below)).result
        self._at.insert(cf.AssertOp(holds, refusal))
        self.name(symbol, value, most)

    def require(self, requirement: Requirement) -> None:
        """Let the function fail where a requirement is not met."""
        holds, *others = (self._truth(condition) for condition in requirement.any_of)
        for other in others:
            holds = self._at.insert(arith.OrIOp(holds, other)).result
        self._at.insert(cf.AssertOp(holds, requirement.text))

    def _truth(self, condition: Predicate) -> SSAValue:
        relation = "sge" if condition.kind == ">=" else "eq"
        return self._at.insert(arith.CmpiOp(self.value(condition.expr), self.value(0), relation)).result

    def values_of(self, *exprs: Expr) -> dict[Key, Expr]:
        """The value of each symbol in expressions."""
        return {key: var(self._symbols[key]) for expr in exprs for key in expr.variables()}

    def value(self, expr: Expr | int) -> SSAValue:
        """The value of an expression over symbols and index values."""
        expr = expr if isinstance(expr, Expr) else Expr((), expr)
        symbol = expr.as_var
        if symbol is not None:
            return cast(SSAValue, symbol) if isinstance(symbol, SSAValue) else self._symbols[symbol]
        if expr not in self._values:
            self._values[expr] = self._compute(expr)
        return self._values[expr]

    def _compute(self, expr: Expr) -> SSAValue:
        if expr.constant is not None:
            constant = self._at.insert(arith.ConstantOp(IntegerAttr(expr.constant, INDEX))).result
            constant.name_hint = f"c{expr.constant}" if expr.constant >= 0 else None
            return constant
        return self._at.insert(ApplyOp(expr.substitute({k: var(v) for k, v in self._symbols.items()}))).result

    def sizes(self, dims: Sequence[Expr]) -> list[SSAValue | int]:
        """Dimensions as memref operations take them: integers, and values of the others."""
        return [self.value(d) if d.constant is None else d.constant for d in dims]

    def dynamic_sizes(self, dims: Sequence[Expr]) -> list[SSAValue]:
        """The values of those dimensions that are no integers."""
        return [self.value(d) for d in dims if d.constant is None]


def memref_type(
    tensor: Attribute, layout: StridedLayoutAttr | NoneAttr | None = None, space: Attribute | None = None
) -> MemRefType[Attribute]:
    """The buffer that holds a tensor; without gaps where no layout is given, on the host where no memory space is."""
    shape = [DYNAMIC_INDEX if d.constant is None else d.constant for d in dims_of(tensor)]
    element = cast("TensorType[Attribute]", tensor).element_type
    return MemRefType(element, shape, layout or NoneAttr(), space or NoneAttr())


def space_of(device: str) -> Attribute:
    """The memory space of a device's buffers."""
    return NoneAttr() if device == HOST else DeviceAttr(device)
