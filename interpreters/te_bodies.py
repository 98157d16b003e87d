"""The scalar bodies of computes in numpy, at arrays of indices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol

import numpy as np
from xdsl.ir import Block, SSAValue

from tilework.algebra.index_expr import Expr, Key
from tilework.algebra.predicate import Predicate
from tilework.dialects.graph.base import Array
from tilework.dialects.scalar_meaning import element_dtype, evaluate
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.out_of_bounds import key_name
from tilework.dialects.te import ComputeOp, IfThenElseOp, IndexOp, ReadOp, ReduceOp, YieldOp
from tilework.dialects.te.bounds import tensor_name

Mask = Any
"""Where values are needed: a boolean array that broadcasts against them, or None for everywhere."""


class Tensor(Protocol):
    """A tensor whose elements are read."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The dimensions."""
        ...

    def take(self, flat: Array, mask: Mask) -> Array:
        """The elements at flat positions; every position lies inside."""
        ...


@dataclass
class Body:
    """The scalar body of a compute where the axes have these indices."""

    tensors: Mapping[SSAValue, Tensor]
    compute: ComputeOp
    names: Mapping[Key, Any]

    def values(self, mask: Mask) -> list[Any]:
        """What the body ends in, one value for every result."""
        return self._block(self.compute.body.block, {}, mask)

    def terms(self, mask: Mask) -> tuple[list[Any], Mask]:
        """What a reduction joins, and where: those of the mask for which the condition holds."""
        reduce = self.compute.terminator
        values: dict[SSAValue, Any] = {}
        terms = self._block(self.compute.body.block, values, mask)
        if not isinstance(reduce, ReduceOp) or reduce.where is None:
            return terms, mask
        where = values[reduce.where]
        return terms, where if mask is None else where & mask

    def _block(self, block: Block, values: dict[SSAValue, Any], mask: Mask) -> list[Any]:
        for op in block.ops:
            match op:
                case YieldOp() | ReduceOp():
                    return [values[v] for v in op.values]
                case ReadOp():
                    values[op.result] = self._read(op, values, mask)
                case IndexOp():
                    index: Any = op.value.evaluate(self._named(op, values))
                    values[op.result] = np.asarray(index, dtype=np.int64)
                case IfThenElseOp():
                    values[op.result] = self._choose(op, values, mask)
                case _:
                    values[op.results[0]] = evaluate(op, [values[operand] for operand in op.operands])
        raise CompileError(f"the body of compute '{self.compute.stage.data}' does not end", self.compute)

    def _named(self, op: ReadOp | IndexOp | IfThenElseOp, values: Mapping[SSAValue, Any]) -> Mapping[Key, Any]:
        """The axes, the symbols, and the values that the operation's expressions use."""
        if not op.index_operands:
            return self.names
        return {**self.names, **{v: values[v] for v in op.index_operands}}

    def _choose(self, op: IfThenElseOp, values: dict[SSAValue, Any], mask: Mask) -> Any:
        """Evaluate each branch where it is chosen only."""
        holds = conjunction(op.conditions, self._named(op, values))
        chosen: list[Array] = []
        for body, condition in ((op.then_body, holds), (op.else_body, np.logical_not(holds))):
            inside = condition if mask is None else condition & mask
            if np.any(inside):
                everywhere = None if np.all(inside) else inside
                chosen.append(np.asarray(self._block(body.block, dict(values), everywhere)[0]))
            else:
                chosen.append(np.zeros((), element_dtype(op.result.type)))
        return np.where(holds, chosen[0], chosen[1])

    def _read(self, op: ReadOp, values: Mapping[SSAValue, Any], mask: Mask) -> Any:
        tensor, names = self.tensors[op.tensor], self._named(op, values)
        flat: Any = 0
        for axis, (expr, size) in enumerate(zip(op.exprs, tensor.shape, strict=True)):
            index = np.asarray(expr.evaluate(names))
            if index.size and (index.min() < 0 or index.max() >= size):
                self._refuse_outside(op, axis, index, size, names, mask)
                index = index.clip(0, max(0, size - 1))
            flat = flat * size + index
        dtype = element_dtype(op.result.type)
        if not prod(tensor.shape):  # nothing was chosen, or nothing is to be computed
            return np.zeros(np.shape(flat), dtype)
        return tensor.take(np.asarray(flat), mask).view(dtype)

    def _refuse_outside(
        self, op: ReadOp, axis: int, index: Array, size: int, names: Mapping[Key, Any], mask: Mask
    ) -> None:
        """Raise CompileError where an index is out of bounds and its element is needed."""
        outside = (index < 0) | (index >= size)
        if mask is not None:
            index, outside = np.broadcast_arrays(index, outside & mask)
        if not outside.any():
            return
        at = np.unravel_index(int(np.argmax(outside)), outside.shape)
        expr = op.exprs[axis]
        named = {
            key_name(key): np.broadcast_to(value, np.broadcast_shapes(np.shape(value), outside.shape))[at]
            for key, value in names.items()
            if key in expr.variables()
        }
        raise CompileError(
            f"compute '{self.compute.stage.data}' reads {tensor_name(op.tensor)} out of bounds: "
            f"axis {axis} has {size} elements, index {expr.rename(key_name)} = {index[at]}"
            + (f" at {', '.join(f'{name} = {value}' for name, value in named.items())}" if named else ""),
            op,
        )


def conjunction(when: Sequence[Predicate], names: Mapping[Any, Any]) -> Any:
    """Where all predicates hold: a boolean, or an array of them."""
    holds: Any = np.True_
    for predicate in when:
        holds = holds & np.asarray(predicate.evaluate(names))
    return holds


def extents_at(axes: Sequence[tuple[str, Expr]], names: Mapping[Key, Any]) -> list[Array]:
    """The extents of axes where names have these values, none below zero."""
    return [np.maximum(np.asarray(e.evaluate(names)), 0) for _, e in axes]
