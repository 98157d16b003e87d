"""Which arguments of a te kernel are read to find elements of other tensors, and below what they must stay."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import BlockArgument, Operation, SSAValue

from tilework.algebra.index_expr import Expr
from tilework.dialects.shapes import dims_of, element_type
from tilework.dialects.te import ComputeOp, KernelOp, ReadOp


def index_limits(kernel: KernelOp) -> dict[int, list[Expr]]:
    """For every argument of integers that indices are made of, the sizes of the dimensions that they index."""
    limits: dict[int, list[Expr]] = {}
    for read in (op for compute in kernel.computes for op in compute.reads):
        for index, size in zip(read.exprs, dims_of(read.tensor.type), strict=True):
            data = [cast(SSAValue, key) for key in index.variables() if isinstance(key, SSAValue)]
            for argument in (a for value in data for a in _sources(value, set())):
                limits.setdefault(argument.index, []).append(size)
    return limits


def _sources(value: SSAValue, seen: set[SSAValue]) -> Iterator[BlockArgument]:
    """The kernel's arguments of integers that a value inside a compute comes from."""
    if value in seen:
        return
    seen.add(value)
    owner = value.owner
    if isinstance(value, BlockArgument):
        if isinstance(element_type(value.type), IntegerType):
            yield value
    elif isinstance(owner, ComputeOp):
        for element in owner.terminator.values:
            yield from _sources(element, seen)
    elif isinstance(owner, ReadOp):
        yield from _sources(owner.tensor, seen)
    elif isinstance(owner, Operation):
        for operand in owner.operands:
            yield from _sources(operand, seen)
