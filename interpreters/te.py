"""What a te kernel means, in numpy: spatial axes as arrays, reduce axes in blocks, element by element in axis order.

`run_kernel` computes whole results, `run_kernel_at` chosen elements on demand. Arithmetic is done in the element type
of the program; a reduction starts from its identity and combines in the order of its axes, last axis fastest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias, cast

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, SSAValue

from tilework.algebra.index_expr import Expr, Key
from tilework.dialects.graph.base import Array
from tilework.dialects.scalar_meaning import element_dtype
from tilework.dialects.support.diagnostics import UsageError
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te import ComputeOp, ExternOp, KernelOp, ReduceOp, ScanOp, externs_of, scans_of
from tilework.dialects.te.bounds import tensor_name
from tilework.interpreters.symbols import bind_symbols
from tilework.interpreters.te_bodies import Body, Mask, extents_at
from tilework.interpreters.te_externs import run_extern
from tilework.interpreters.te_reduce import reducer_of

BLOCK = 1 << 18
"""How many elements are computed at a time: a block stays in the cache."""


Symbols: TypeAlias = Mapping[Key, int]
"""Values of symbols, by name."""


def run_kernel(kernel: KernelOp, arrays: Sequence[Array], known: Symbols | None = None) -> list[Array]:
    """The results of a kernel. Raises UsageError where arrays do not fit, CompileError for a read out of bounds.

    known: symbols that shapes need not tell.
    """
    evaluation = _Evaluation(kernel, arrays, known)
    evaluation.run(kernel)
    return [evaluation.tensors[value].array() for value in kernel.results_returned]


def run_kernel_at(
    kernel: KernelOp, arrays: Sequence[Array], result: int, points: Array, known: Symbols | None = None
) -> Array:
    """Result number `result` at `points`, an integer array [k, rank]: k values, at the cost of what they depend on."""
    evaluation = _Evaluation(kernel, arrays, known)
    if scans_of(kernel) or externs_of(kernel):
        evaluation.run(kernel)  # a step needs all those before it, an extern its whole inputs
    else:
        evaluation.prepare(kernel)
    tensor = evaluation.tensors[kernel.results_returned[result]]
    return tensor.take(np.asarray(np.ravel_multi_index(tuple(points.T), tensor.shape)), None)


def kernel_symbols(kernel: KernelOp, arrays: Sequence[Array], known: Symbols | None = None) -> dict[Key, int]:
    """The values of a kernel's symbols that are `known`, or told by the shapes of its arguments."""
    if len(arrays) != len(kernel.body.block.args):
        raise UsageError(f"@{kernel.sym_name.data} takes {len(kernel.body.block.args)} arrays, got {len(arrays)}")
    dims = [dims_of(a.type) for a in kernel.body.block.args]
    names = [f"@{kernel.sym_name.data}: argument {i}" for i in range(len(arrays))]
    return bind_symbols(names, dims, [a.shape for a in arrays], known)


class _Evaluation:
    """One run: the tensors by value, the symbols, and how to compute elements."""

    def __init__(self, kernel: KernelOp, arrays: Sequence[Array], known: Symbols | None):
        self.symbols = kernel_symbols(kernel, arrays, known)
        self.tensors: dict[SSAValue, _Whole | _OnDemand] = {}
        for argument, array in zip(kernel.body.block.args, arrays, strict=True):
            expected = tensor_dtype(argument)
            if array.dtype != expected:
                raise UsageError(f"{tensor_name(argument)} has elements of {expected}, the array of {array.dtype}")
            self.tensors[argument] = _Whole(array)

    def shape(self, extents: Sequence[tuple[str, Expr]]) -> tuple[int, ...]:
        return tuple(max(0, int(e.evaluate(self.symbols))) for _, e in extents)

    def prepare(self, kernel: KernelOp) -> None:
        """Let every tensor be computed where it is asked for."""
        for compute in kernel.computes:
            known = _KnownElements(self, compute)
            self.tensors.update({result: _OnDemand(known, i) for i, result in enumerate(compute.results)})

    def run(self, kernel: KernelOp) -> None:
        """Compute every tensor whole."""
        in_steps = {compute for scan in scans_of(kernel) for compute in scan.steps}
        for op in kernel.body.block.ops:
            if isinstance(op, ComputeOp) and op not in in_steps:
                arrays = self.whole(op)
            elif isinstance(op, ScanOp):
                arrays = self.scan(op)
            elif isinstance(op, ExternOp):
                arrays = self.extern(op)
            else:
                continue
            self.tensors.update({r: _Whole(a) for r, a in zip(op.results, arrays, strict=True)})

    def scan(self, scan: ScanOp) -> list[Array]:
        """The histories of all states, and what the steps put out."""
        first, last = (int(e.evaluate(self.symbols)) for e in (scan.first, scan.last))
        steps = scan.steps
        made: dict[SSAValue, Array] = {
            r: np.zeros(self.shape(c.spatial), tensor_dtype(r)) for c in steps for r in c.results
        }
        for init, update, state in zip(scan.inits, scan.updates, scan.states, strict=True):
            made[update][:first] = self.tensors[init].array()[:last]
            made[state] = made[update]
        self.tensors.update({value: _Whole(array) for value, array in made.items()})
        for time in range(first, last):
            for compute in steps:
                for result, element in zip(compute.results, self.step(compute, time), strict=True):
                    made[result][time] = element[0]
        return [*(made[u] for u in scan.updates), *(made[o][first:] for o in scan.outputs)]

    def extern(self, extern: ExternOp) -> list[Array]:
        """What the statements store; elements that they leave out hold NaN, or the least integer."""
        shapes = [[("", e) for e in dims_of(r.type)] for r in extern.results]
        outputs = [np.empty(self.shape(s), tensor_dtype(r)) for s, r in zip(shapes, extern.results, strict=True)]
        inputs = [np.asarray(self.tensors[v].array(), order="C") for v in extern.inputs]
        run_extern(extern, inputs, outputs, self.symbols)
        return outputs

    def step(self, compute: ComputeOp, time: int) -> list[Array]:
        """A compute's results at one position of its first axis."""
        rest = self.shape(compute.spatial)[1:]
        axes = np.ogrid[(slice(0, 1), slice(time, time + 1), *(slice(0, n) for n in rest))][1:]
        return self._elements(compute, (1, *rest), axes)

    def whole(self, compute: ComputeOp) -> list[Array]:
        """Every element of a compute's results."""
        shape = self.shape(compute.spatial)
        axes = np.ogrid[(slice(0, 1), *(slice(0, n) for n in shape))][1:]  # dimension 0 is the reduction's
        return self._elements(compute, shape, axes)

    def at(self, compute: ComputeOp, flat: Array) -> list[Array]:
        """The elements of a compute's results at flat positions [k]."""
        points = np.unravel_index(flat, self.shape(compute.spatial))
        return self._elements(compute, flat.shape, [p[None, :] for p in points])

    def _elements(self, compute: ComputeOp, shape: tuple[int, ...], axes: Sequence[Array]) -> list[Array]:
        """The elements, of shape `shape`, where the spatial axes have these indices, each of shape [1, ...]."""
        names: dict[Key, Any] = dict(self.symbols)
        names.update(zip((n for n, _ in compute.spatial), axes, strict=True))
        with np.errstate(all="ignore"):
            if compute.reduction:
                found = self._reduce(compute, shape, names)
            else:
                values = Body(self.tensors, compute, names).values(None)
                found = [np.broadcast_to(value, (1, *shape))[0] for value in values]
        dtypes = [element_dtype(v.type) for v in compute.terminator.values]
        arrays = [np.array(value, dtype=dtype) for value, dtype in zip(found, dtypes, strict=True)]
        return [array.view(tensor_dtype(result)) for array, result in zip(arrays, compute.results, strict=True)]

    def _reduce(self, compute: ComputeOp, shape: tuple[int, ...], names: dict[Key, Any]) -> list[Array]:
        reducer = reducer_of(cast(ReduceOp, compute.terminator))
        limits = extents_at(compute.reduction, names)
        extents = [int(np.max(limit, initial=0)) for limit in limits]
        total = [np.full(shape, one) for one in reducer.identities]
        step = max(1, BLOCK // max(1, total[0].size))
        for first in range(0, prod(extents), step):
            block = np.arange(first, min(first + step, prod(extents)))
            mask: Mask = None
            for (name, _), position, limit in zip(
                compute.reduction, np.unravel_index(block, extents), limits, strict=True
            ):
                names[name] = position.reshape(-1, *[1] * len(shape))
                if limit.ndim:  # it depends on the spatial axes
                    inside = names[name] < limit
                    mask = inside if mask is None else mask & inside
            terms, taken = Body(self.tensors, compute, names).terms(mask)
            wide = [np.broadcast_to(term, (len(block), *shape)) for term in terms]
            total = reducer.fold(total, wide, taken)
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


class _KnownElements:
    """The elements of a compute's results that were asked for, by flat position."""

    def __init__(self, evaluation: _Evaluation, compute: ComputeOp):
        self.evaluation = evaluation
        self.compute = compute
        self.shape = evaluation.shape(compute.spatial)
        self.values = [np.zeros(prod(self.shape), dtype=tensor_dtype(result)) for result in compute.results]
        self.known = np.zeros(prod(self.shape), dtype=bool)

    def require(self, flat: Array) -> None:
        """Compute the elements that are needed for the first time."""
        missing = np.unique(flat[~self.known[flat]])
        if missing.size:
            for values, found in zip(self.values, self.evaluation.at(self.compute, missing), strict=True):
                values[missing] = found
            self.known[missing] = True


class _OnDemand:
    """A result of a compute of which only elements that were asked for are known."""

    def __init__(self, elements: _KnownElements, result: int):
        self.elements = elements
        self.result = result
        self.shape = elements.shape

    def array(self) -> Array:
        return self.take(np.arange(prod(self.shape)), None).reshape(self.shape)

    def take(self, flat: Array, mask: Mask) -> Array:
        """The elements at flat positions, computed where they are needed for the first time."""
        self.elements.require(flat if mask is None else _chosen(flat, mask))
        return self.elements.values[self.result].take(flat)


def _chosen(flat: Array, mask: Array) -> Array:
    positions, chosen = np.broadcast_arrays(flat, mask)
    return positions[chosen]


def tensor_dtype(value: SSAValue) -> np.dtype[Any]:
    """The element type of a tensor in numpy."""
    return element_dtype(cast("TensorType[Attribute]", value.type).element_type)
