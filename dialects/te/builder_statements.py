"""Statements of the loop level as Python writes them, for operators whose kernels are `te.extern`s.

def write(buffers, here):
    x, y = (Buffer(k, value, f32) for value in buffers)
    k.for_each([here(n)], lambda i: y.store([i], x[i] + 1.0))
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType, i64
from xdsl.ir import Attribute, Block, Region, SSAValue

from tilework.algebra.index_expr import Expr, ExprLike, const, to_expr, var
from tilework.algebra.predicate import Predicate, at_least
from tilework.dialects import loop
from tilework.dialects.support.shapes import scalar_type
from tilework.dialects.te.builder import KernelBuilder, Scalar, ScalarLike
from tilework.dialects.te.builder_scalars import is_unsigned
from tilework.dialects.te.operands import INDEX


@dataclass(frozen=True)
class Buffer:
    """Memory of statements: a tensor that they read or fill, or what they allocate. `dtype` is its element type."""

    k: KernelBuilder
    memref: SSAValue
    dtype: Attribute

    def __getitem__(self, index: ExprLike | Sequence[ExprLike]) -> Scalar:
        """The element that is there now."""
        loaded = self.k.insert(loop.LoadOp(self.memref, _subscripts(index)))
        return Scalar(loaded.value, self.k, is_unsigned(self.dtype))

    def store(self, index: ExprLike | Sequence[ExprLike], value: ScalarLike) -> None:
        """Replace an element."""
        self.k.insert(loop.StoreOp(self.k.scalar(value, self.dtype).value, self.memref, _subscripts(index)))


def allocate(k: KernelBuilder, dtype: Attribute, count: int = 1) -> Buffer:
    """Memory for so many numbers, for the statements behind in the same block."""
    type_ = MemRefType(scalar_type(dtype), [count])
    op = memref.AllocaOp(operands=[[], []], result_types=[type_], properties={"alignment": None})
    k.insert(op)
    return Buffer(k, op.memref, dtype)


@contextmanager
def when(k: KernelBuilder, *conditions: Predicate | Scalar) -> Generator[None]:
    """Statements for where all conditions hold: on indices, or scalars of type i1."""
    predicates = [at_least(index_of(k, c), 1) if isinstance(c, Scalar) else c for c in conditions]
    block = Block()
    k.insert(loop.IfOp(predicates, Region(block)))
    with k.inside(block):
        yield


def index_of(k: KernelBuilder, number: Scalar) -> Expr:
    """An integer, or a truth value as 0 or 1, as an index."""
    return var(k.cast(k.cast(number, i64), INDEX).value)


def bit_length(k: KernelBuilder, number: Scalar) -> Scalar:
    """How many binary digits an i64 from 0 on has."""
    found = allocate(k, i64)
    found.store(0, 0)

    def digit(i: Expr) -> None:
        found.store(0, found[0] + k.cast((number >> number_of(k, i)).compare("gt", 0), i64))

    k.for_each([const(63)], digit)
    return found[0]


def number_of(k: KernelBuilder, index: ExprLike, dtype: Attribute = i64) -> Scalar:
    """An index as a number of that type."""
    return k.cast(k.cast(k.insert(loop.ApplyOp(to_expr(index))), i64), dtype)


def _subscripts(index: ExprLike | Sequence[ExprLike]) -> Sequence[ExprLike]:
    return [index] if isinstance(index, Expr | int) else index
