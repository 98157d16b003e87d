"""Compute indices in 32 bits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Operation, SSAValue

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Compound, Expr
from tilework.analysis.domains import Scopes
from tilework.dialects.loop import INDEX, ApplyOp, ForOp, IfOp, KernelOp, LoadOp, StoreOp
from tilework.dialects.loop.annotations import INDEX_BITS
from tilework.transforms.base import TileworkPass

BITS = 32
"""The width of the registers of devices, which take two and several instructions for more."""


@dataclass(frozen=True)
class NarrowIndices(TileworkPass):
    """Say of a kernel that 32 bits are enough for all its index arithmetic, where the ranges of the indices show it.

    loop.kernel @k ins(%x: memref<1024xf32>) .. {        loop.kernel @k ins(..) attributes {loop.index_bits = 32} {
      loop.for %i = 0 to 1024 "i" blockIdx.x {     ->      loop.for %i = 0 to 1024 "i" blockIdx.x {
        %v = loop.load %x[%i]                                %v = loop.load %x[%i]

    Every sum in a bound, a subscript or a condition has to be in range however its terms are added up. A kernel with an
    index of which that is not known, such as one with sizes that are known at run time only, or with indices that are
    data, keeps its 64 bits.
    This is an algorithm and no pattern: one index that needs more bits keeps all of them wide. Requires accesses with
    one subscript (`loop-flatten-storage`), the distance from the first element; changes nothing but the attribute.
    """

    name = "loop-narrow-indices"
    anchor = KernelOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, KernelOp)
        if op.is_declaration or not all(map(_is_known, _index_values(op))):
            return
        scopes = Scopes()
        if all(_fits(e, scopes.at(inner).domain) for inner in op.body.walk() for e in _expressions(inner)):
            op.attributes[INDEX_BITS] = IntegerAttr(BITS, i64)


def _index_values(kernel: KernelOp) -> Iterator[SSAValue]:
    """The values of type index: sizes, the indices of loops, and results."""
    yield from (value for value in kernel.body.block.args if value.type == INDEX)
    for op in kernel.body.walk():
        yield from (result for result in op.results if result.type == INDEX)


def _is_known(value: SSAValue) -> bool:
    """Whether an index that is no loop's is computed from such ones."""
    return isinstance(value.owner, ApplyOp)


def _expressions(op: Operation) -> Iterator[Expr]:
    """The index expressions of an operation, what it holds excepted."""
    match op:
        case LoadOp() | StoreOp():
            yield from op.exprs
        case ForOp():
            yield from (op.lower, op.upper)
        case IfOp():
            yield from (predicate.expr for predicate in op.conditions)
        case ApplyOp():
            yield op.value
        case _:
            pass


def _fits(e: Expr, domain: Domain) -> bool:
    """Whether an expression, and all that is computed for it, is in range."""
    most = abs(e.offset)
    for atom, c in e.terms:
        if isinstance(atom, Compound) and not all(_fits(argument, domain) for argument in atom.args):
            return False
        own = Expr(((atom, 1),), 0)
        low, high = domain.lower(own), domain.upper(own)
        if low is None or high is None:
            return False
        most += abs(c) * max(abs(low), abs(high))
    return most < 1 << (BITS - 1)
