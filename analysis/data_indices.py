"""Which arguments of a te kernel are read to find elements of other tensors, and below what they must stay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import BlockArgument, Operation, SSAValue

from tilework.algebra.index_expr import Expr
from tilework.dialects.loop import LoadOp, StoreOp
from tilework.dialects.support.shapes import dims_of, element_type
from tilework.dialects.te import ComputeOp, ExternOp, KernelOp, ReadOp, externs_of


def index_limits(kernel: KernelOp) -> dict[int, list[Expr]]:
    """For every argument of integers that indices are made of, the sizes of the dimensions that they index."""
    limits: dict[int, list[Expr]] = {}
    for index, size in _subscripts(kernel):
        data = [cast(SSAValue, key) for key in index.variables() if isinstance(key, SSAValue)]
        for argument in (a for value in data for a in _sources(value, set())):
            limits.setdefault(argument.index, []).append(size)
    return limits


def _subscripts(kernel: KernelOp) -> Iterator[tuple[Expr, Expr]]:
    """Every subscript, with the size of the dimension that it is for."""
    for read in (op for compute in kernel.computes for op in compute.reads):
        yield from zip(read.exprs, dims_of(read.tensor.type), strict=True)
    for extern in externs_of(kernel):
        buffers: list[SSAValue] = [*extern.input_buffers, *extern.output_buffers]
        tensors = dict(zip(buffers, (*extern.inputs, *extern.results), strict=True))
        for access in extern.body.walk():
            if isinstance(access, LoadOp | StoreOp) and access.memref in tensors:
                yield from zip(access.exprs, dims_of(tensors[access.memref].type), strict=True)


def _sources(value: SSAValue, seen: set[SSAValue]) -> Iterator[BlockArgument]:
    """The kernel's arguments of integers that a value inside a compute comes from."""
    if value in seen:
        return
    seen.add(value)
    owner = value.owner
    if isinstance(value, BlockArgument):
        around = value.block.parent_op()
        if isinstance(around, KernelOp) and isinstance(element_type(value.type), IntegerType):
            yield value
        elif isinstance(around, ExternOp) and value in around.input_buffers:
            yield from _sources(around.inputs[value.index], seen)
    elif isinstance(owner, ComputeOp):
        for element in owner.terminator.values:
            yield from _sources(element, seen)
    elif isinstance(owner, ReadOp):
        yield from _sources(owner.tensor, seen)
    elif isinstance(owner, Operation):
        for operand in owner.operands:
            yield from _sources(operand, seen)
