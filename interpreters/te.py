"""What a te kernel means, in numpy: spatial axes as arrays, reduce axes in blocks, element by element in axis order.

`run_kernel` computes whole results, `run_kernel_at` chosen elements on demand. Arithmetic is done in the element type
of the program; a reduction starts from its identity and combines in the order of its axes, last axis fastest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, cast

import numpy as np
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from tilework.algebra.index_expr import Expr, Key
from tilework.algebra.predicate import Predicate
from tilework.dialects.diagnostics import CompileError, UsageError
from tilework.dialects.graph.base import Array
from tilework.dialects.shapes import dims_of
from tilework.dialects.te import ComputeOp, IfThenElseOp, KernelOp, ReadOp, ReduceOp, YieldOp
from tilework.interpreters.scalar import element_dtype, evaluate
from tilework.interpreters.symbols import bind_symbols

BLOCK = 1 << 18
"""How many elements are computed at a time: a block stays in the cache."""

Mask = Any
"""Where values are needed: a boolean array that broadcasts against them, or None for everywhere."""


def run_kernel(kernel: KernelOp, arrays: Sequence[Array]) -> list[Array]:
    """The results of a kernel. Raises UsageError where arrays do not fit, CompileError for a read out of bounds."""
    evaluation = _Evaluation(kernel, arrays)
    for compute in kernel.computes:
        evaluation.tensors[compute.result] = _Whole(evaluation.whole(compute))
    return [evaluation.tensors[value].array() for value in kernel.results_returned]


def run_kernel_at(kernel: KernelOp, arrays: Sequence[Array], result: int, points: Array) -> Array:
    """Result number `result` at `points`, an integer array [k, rank]: k values, at the cost of what they depend on."""
    evaluation = _Evaluation(kernel, arrays)
    for compute in kernel.computes:
        evaluation.tensors[compute.result] = _OnDemand(evaluation, compute)
    tensor = evaluation.tensors[kernel.results_returned[result]]
    return tensor.take(np.asarray(np.ravel_multi_index(tuple(points.T), tensor.shape)), None)


def kernel_symbols(kernel: KernelOp, arrays: Sequence[Array]) -> dict[Key, int]:
    """The values of a kernel's symbols, told by the shapes of its arguments."""
    if len(arrays) != len(kernel.body.block.args):
        raise UsageError(f"@{kernel.sym_name.data} takes {len(kernel.body.block.args)} arrays, got {len(arrays)}")
    dims = [dims_of(a.type) for a in kernel.body.block.args]
    names = [f"@{kernel.sym_name.data}: argument {i}" for i in range(len(arrays))]
    return bind_symbols(names, dims, [a.shape for a in arrays])


def reducer(kind: str, dtype: np.dtype[Any]) -> tuple[np.ufunc, Any]:
    """A reducer as a function, and its identity."""
    if kind in ("add", "mul"):
        return (np.add, dtype.type(0)) if kind == "add" else (np.multiply, dtype.type(1))
    function, sign = (np.maximum, -1) if kind == "max" else (np.minimum, 1)
    if dtype.kind == "f":
        return function, dtype.type(sign * np.inf)
    if dtype.kind == "b":
        return function, dtype.type(sign > 0)
    limits = np.iinfo(dtype)
    return function, dtype.type(limits.max if sign > 0 else limits.min)


class _Evaluation:
    """One run: the tensors by value, the symbols, and how to compute elements."""

    def __init__(self, kernel: KernelOp, arrays: Sequence[Array]):
        self.symbols = kernel_symbols(kernel, arrays)
        self.tensors: dict[SSAValue, _Whole | _OnDemand] = {}
        for argument, array in zip(kernel.body.block.args, arrays, strict=True):
            expected = element_dtype(cast(Attribute, argument.type.element_type))  # pyright: ignore
            if array.dtype != expected:
                raise UsageError(f"{_tensor_name(argument)} has elements of {expected}, the array of {array.dtype}")
            self.tensors[argument] = _Whole(array)

    def shape(self, extents: Sequence[tuple[str, Expr]]) -> tuple[int, ...]:
        return tuple(max(0, int(e.evaluate(self.symbols))) for _, e in extents)

    def whole(self, compute: ComputeOp) -> Array:
        """Every element of a compute."""
        shape = self.shape(compute.spatial)
        axes = np.ogrid[(slice(0, 1), *(slice(0, n) for n in shape))][1:]  # dimension 0 is the reduction's
        return self._elements(compute, shape, axes)

    def at(self, compute: ComputeOp, flat: Array) -> Array:
        """The elements of a compute at flat positions [k]."""
        points = np.unravel_index(flat, self.shape(compute.spatial))
        return self._elements(compute, flat.shape, [p[None, :] for p in points])

    def _elements(self, compute: ComputeOp, shape: tuple[int, ...], axes: Sequence[Array]) -> Array:
        """The elements, of shape `shape`, where the spatial axes have these indices, each of shape [1, ...]."""
        names: dict[Key, Any] = dict(self.symbols)
        names.update(zip((n for n, _ in compute.spatial), axes, strict=True))
        dtype = element_dtype(compute.result.type.element_type)
        with np.errstate(all="ignore"):
            if not compute.reduction:
                value = _Body(self, compute, names).value(None)
                return np.array(np.broadcast_to(value, (1, *shape))[0], dtype=dtype)
            return self._reduce(compute, shape, names, dtype)

    def _reduce(self, compute: ComputeOp, shape: tuple[int, ...], names: dict[Key, Any], dtype: np.dtype[Any]) -> Array:
        combine, identity = reducer(cast(ReduceOp, compute.terminator).kind.data, dtype)
        extents = self.shape(compute.reduction)
        total = np.full(shape, identity, dtype=dtype)
        step = max(1, BLOCK // max(1, total.size))
        for first in range(0, prod(extents), step):
            block = np.arange(first, min(first + step, prod(extents)))
            positions = np.unravel_index(block, extents)
            for (name, _), position in zip(compute.reduction, positions, strict=True):
                names[name] = position.reshape(-1, *[1] * len(shape))
            terms = np.broadcast_to(_Body(self, compute, names).value(None), (len(block), *shape))
            if total.size > len(block):
                for term in terms:
                    combine(total, term, out=total)
            else:
                total = combine.accumulate(np.concatenate([total[None], terms]), axis=0)[-1]
        return total


@dataclass
class _Whole:
    """A tensor whose elements are all known."""

    elements: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return self.elements.shape

    def array(self) -> Array:
        return self.elements

    def take(self, flat: Array, mask: Mask) -> Array:
        """The elements at flat positions; every position lies inside."""
        return self.elements.reshape(-1).take(flat)


class _OnDemand:
    """A compute of which only elements that were asked for are known."""

    def __init__(self, evaluation: _Evaluation, compute: ComputeOp):
        self.evaluation = evaluation
        self.compute = compute
        self.shape = evaluation.shape(compute.spatial)
        self.values = np.zeros(prod(self.shape), dtype=element_dtype(compute.result.type.element_type))
        self.known = np.zeros(prod(self.shape), dtype=bool)

    def array(self) -> Array:
        return self.take(np.arange(len(self.values)), None).reshape(self.shape)

    def take(self, flat: Array, mask: Mask) -> Array:
        """The elements at flat positions, computed where they are needed for the first time."""
        wanted = flat if mask is None else np.broadcast_arrays(flat, mask)[0][np.broadcast_arrays(flat, mask)[1]]
        missing = np.unique(wanted[~self.known[wanted]])
        if missing.size:
            self.values[missing] = self.evaluation.at(self.compute, missing)
            self.known[missing] = True
        return self.values.take(flat)


@dataclass
class _Body:
    """The scalar body of a compute at arrays of indices."""

    evaluation: _Evaluation
    compute: ComputeOp
    names: Mapping[Key, Any]

    def value(self, mask: Mask) -> Any:
        return self._block(self.compute.body.block, {}, mask)

    def _block(self, block: Block, values: dict[SSAValue, Any], mask: Mask) -> Any:
        for op in block.ops:
            match op:
                case YieldOp() | ReduceOp():
                    return values[op.value]
                case ReadOp():
                    values[op.result] = self._read(op, mask)
                case IfThenElseOp():
                    values[op.result] = self._choose(op, values, mask)
                case _:
                    values[op.results[0]] = evaluate(op, [values[operand] for operand in op.operands])
        raise CompileError(f"the body of compute '{self.compute.stage.data}' does not end", self.compute)

    def _choose(self, op: IfThenElseOp, values: dict[SSAValue, Any], mask: Mask) -> Any:
        """Evaluate each branch where it is chosen only."""
        holds = conjunction(list(op.when), self.names)
        chosen: list[Array] = []
        for body, condition in ((op.then_body, holds), (op.else_body, np.logical_not(holds))):
            inside = condition if mask is None else condition & mask
            if np.any(inside):
                everywhere = None if np.all(inside) else inside
                chosen.append(np.asarray(self._block(body.block, dict(values), everywhere)))
            else:
                chosen.append(np.zeros((), element_dtype(op.result.type)))
        return np.where(holds, chosen[0], chosen[1])

    def _read(self, op: ReadOp, mask: Mask) -> Any:
        tensor = self.evaluation.tensors[op.tensor]
        flat: Any = 0
        for axis, (expr, size) in enumerate(zip(op.indices, tensor.shape, strict=True)):
            index = np.asarray(expr.evaluate(self.names))
            if index.size and (index.min() < 0 or index.max() >= size):
                self._refuse_outside(op, axis, index, size, mask)
                index = index.clip(0, max(0, size - 1))
            flat = flat * size + index
        shape = np.shape(flat)
        if not prod(tensor.shape):  # nothing was chosen, or nothing is to be computed
            return np.zeros(shape, dtype=element_dtype(op.result.type))
        return tensor.take(np.asarray(flat), mask)

    def _refuse_outside(self, op: ReadOp, axis: int, index: Array, size: int, mask: Mask) -> None:
        """Raise CompileError where an index is out of bounds and its element is needed."""
        outside = (index < 0) | (index >= size)
        if mask is not None:
            index, outside = np.broadcast_arrays(index, outside & mask)
        if not outside.any():
            return
        at = np.unravel_index(int(np.argmax(outside)), outside.shape)
        named = {
            str(key): np.broadcast_to(value, np.broadcast_shapes(np.shape(value), outside.shape))[at]
            for key, value in self.names.items()
            if key in list(op.indices)[axis].variables()
        }
        raise CompileError(
            f"compute '{self.compute.stage.data}' reads {_tensor_name(op.tensor)} out of bounds: "
            f"axis {axis} has {size} elements, index {list(op.indices)[axis]} = {index[at]}"
            + (f" at {', '.join(f'{name} = {value}' for name, value in named.items())}" if named else ""),
            op,
        )


def conjunction(when: Sequence[Predicate], names: Mapping[Any, Any]) -> Any:
    """Where all predicates hold: a boolean, or an array of them."""
    holds: Any = np.True_
    for predicate in when:
        holds = holds & np.asarray(predicate.evaluate(names))
    return holds


def _tensor_name(value: SSAValue) -> str:
    owner: Operation | Block = value.owner
    if isinstance(owner, ComputeOp):
        return f"tensor '{owner.stage.data}'"
    position = f"argument {value.index}" if isinstance(value, BlockArgument) else "a tensor"
    return position if value.name_hint is None else f"{position} (%{value.name_hint})"
