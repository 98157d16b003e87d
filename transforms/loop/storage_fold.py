"""Keep only the live part of what a loop fills step by step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, FunctionType, MemRefType
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.algebra.index_expr import Expr, const, var
from tilework.algebra.predicate import less_than
from tilework.analysis.accesses import memref_type
from tilework.analysis.domains import kernel_scope, loops_around, scope_at
from tilework.dialects.loop import ForOp, KernelOp, Kind, LoadOp, StoreOp
from tilework.dialects.support.index_attr import DimsAttr
from tilework.transforms.loop.rewriting import set_access
from tilework.transforms.patterns import PatternPass


@dataclass(frozen=True)
class StorageFold(PatternPass):
    """Fold scratch that a serial loop fills row by row, and that is read a few rows back at most, to these rows.

    scratch(%h: memref<100x8xf32>)                     scratch(%h: memref<2x8xf32>)
      loop.for %t = 0 to 99 "t" {                        loop.for %t = 0 to 99 "t" {
        %v = loop.load %h[%t, 0]                  ->       %v = loop.load %h[%t mod 2, 0]
        loop.store %w, %h[%t + 1, 0]                       loop.store %w, %h[(%t + 1) mod 2, 0]
      }                                                  }
      %v = loop.load %h[99, 0]                           %v = loop.load %h[1, 0]

    So the history of a scan of which only the end is read takes the room of a few steps. What is stored before the loop
    stays too; after it only the last rows may be read.
    Requires that loops with one iteration are gone (`loop-simplify`) and scalar accesses; leaves accesses of as many
    dimensions.
    """

    name = "loop-storage-fold"
    anchor = KernelOp

    def operations(self, op: Operation) -> Iterable[Operation]:
        return [op]  # whose arguments scratch is


class FoldScratch(RewritePattern):
    """Row r of scratch of which n rows are live at a time is row r mod n."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: KernelOp, rewriter: PatternRewriter) -> None:
        if op.is_declaration:
            return
        for argument in op.scratch:
            rows = _rows_needed(op, argument)
            if rows is not None and not _has_at_most(op, argument, rows):
                _fold(op, argument, rows)
                rewriter.notify_op_modified(op)


def _rows_needed(kernel: KernelOp, buffer: BlockArgument) -> int | None:
    """How many rows of a buffer are live at a time; None where that is not known to be few.

    Loops around the one that fills it must each fill a slice of their own.
    """
    uses = [use.operation for use in buffer.uses]
    accesses = [a for a in uses if isinstance(a, LoadOp | StoreOp) and a.exprs]
    if len(accesses) < len(uses):
        return None
    filling = _filling_loop(accesses)
    if filling is None:
        return None
    loop, written = filling
    inside = [a for a in accesses if loop.is_ancestor(a)]
    if not all(_has_own_slice(outer.index, inside) for outer in loops_around(loop)):
        return None
    behind = [_rows_behind(loop, written, a) for a in accesses]
    if None in behind:
        return None
    return 1 + max(rows for rows in behind if rows is not None)


def _filling_loop(accesses: Sequence[LoadOp | StoreOp]) -> tuple[ForOp, Expr] | None:
    """The serial loop that stores one row an iteration, and that row; None where there is none."""
    for store in (a for a in accesses if isinstance(a, StoreOp)):
        row = store.exprs[0]
        for loop in loops_around(store):
            if loop.kind.data is Kind.SERIAL and (row - var(loop.index)).is_constant:
                return loop, row
    return None


def _has_own_slice(index: SSAValue, accesses: Sequence[LoadOp | StoreOp]) -> bool:
    """Whether all accesses have the index of a loop as one and the same subscript behind the row."""
    rank = len(accesses[0].exprs)
    return any(all(a.exprs[i] == var(index) for a in accesses) for i in range(1, rank))


def _rows_behind(loop: ForOp, written: Expr, access: LoadOp | StoreOp) -> int | None:
    """How far behind the row that the loop writes the one is that an access reaches; None where that is not known."""
    row, root = access.exprs[0], _at_root(access)
    if loop.is_ancestor(access):
        distance = (written - row).constant
        wrong = distance is None or distance < 0 or (isinstance(access, StoreOp) and distance != 0)
        return None if wrong else distance
    if root is _at_root(loop):
        return None
    if root.is_before_in_block(_at_root(loop)):
        first = written.substitute({loop.index: loop.lower})
        return _farthest(access, first - row) if isinstance(access, StoreOp) else None
    if isinstance(access, StoreOp):
        return None
    last = written.substitute({loop.index: loop.upper - 1})
    distance = (last - row).constant
    return None if distance is None or distance < 0 else distance


def _farthest(access: StoreOp, distance: Expr) -> int | None:
    """How many rows a store before the loop fills, one less; it must fill none of the loop's own."""
    scope = scope_at(access)
    if scope.proves(less_than(0, distance)) is not True:
        return None
    most = scope.domain.upper(distance)
    return None if most is None else most - 1


def _at_root(op: Operation) -> Operation:
    """The operation of the kernel's block that holds an operation."""
    while not isinstance(parent := op.parent_op(), KernelOp):
        assert parent is not None
        op = parent
    return op


def _has_at_most(kernel: KernelOp, buffer: BlockArgument, rows: int) -> bool:
    return kernel_scope(kernel).proves(less_than(kernel.dims_of(buffer)[0], const(rows + 1))) is True


def _fold(kernel: KernelOp, buffer: BlockArgument, rows: int) -> None:
    old = memref_type(buffer.type)
    new = MemRefType(old.element_type, [rows, *old.get_shape()[1:]], old.layout, old.memory_space)
    for access in {use.operation for use in buffer.uses}:
        assert isinstance(access, LoadOp | StoreOp)
        row, *others = access.exprs
        set_access(access, [row % rows, *others], first=access.lane_first, count=access.lane_count)
    at, block, dims = buffer.index, kernel.body.block, list(kernel.dims.data)
    smaller = block.insert_arg(new, at)
    smaller.name_hint = buffer.name_hint
    buffer.replace_all_uses_with(smaller)
    block.erase_arg(buffer)
    dims[at] = DimsAttr((const(rows), *dims[at].data[1:]))
    kernel.properties["dims"] = ArrayAttr(dims)
    kernel.properties["function_type"] = FunctionType.from_lists(list(block.arg_types), [])
