"""What a kernel may do at no point that it comes to: read outside of a tensor, and divide an index by 0.

Only what certainly happens is refused. A read under conditions is looked at where these hold; one under a condition on
data, or that an `arith.select` may throw away, is let pass, and so is an index that may be within its tensor. Where
that depends on sizes, `sizes_for_reads` says on which.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tilework.algebra.index_expr import Compound, Expr, Key, const, product
from tilework.algebra.iterations import Clause, Iterations, Point, opposite
from tilework.algebra.predicate import at_least, equal
from tilework.dialects.loop.bounds import refuse_accesses_outside
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.out_of_bounds import described, is_thrown_away, place, point_outside, shown
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te.extern import externs_of
from tilework.dialects.te.scalars import IfThenElseOp, IndexOp, ReadOp
from tilework.dialects.te.scan import ScanOp
from tilework.dialects.te.structure import ComputeOp, KernelOp

Ranges: TypeAlias = dict[Key, tuple[Expr, Expr]]
"""The inclusive ends of axes, by name."""


def refuse_undefined_indices(kernel: KernelOp) -> None:
    """Raise CompileError, about the operation, for an access out of bounds and for an index that is divided by 0."""
    for compute, ranges in _domains(kernel):
        _Checker(compute, ranges, kernel.symbols).block(compute.body.block, [])
    for extern in externs_of(kernel):
        refuse_accesses_outside(extern.body.block, extern.sizes_of, extern.symbol_values)


def sizes_for_reads(kernel: KernelOp) -> dict[Expr, str]:
    """Expressions over symbols that are 0 or more where reads under no condition are in bounds, and what is so else.

    Of an index that is linear in the axes, that its ends are; of any other one, that there is an element at all.
    """
    found: dict[Expr, str] = {}
    for compute, ranges in _domains(kernel) if kernel.symbols else ():
        count = product(last - first + 1 for first, last in ranges.values())  # where it is 0, nothing is read
        iterations = Iterations(ranges, (), kernel.symbols)
        reads = [op for op in compute.body.block.ops if isinstance(op, ReadOp)]
        for read in (read for read in reads if not is_thrown_away(read.result)):
            for axis in range(len(read.indices)):
                asked = _asked_for(compute, read, axis, iterations, ranges)
                found |= {e * count: text for e, text in asked.items() if not iterations.domain.proves(at_least(e, 0))}
    return {e: text for e, text in found.items() if set(e.variables()) <= set(kernel.symbols)}


def _asked_for(compute: ComputeOp, read: ReadOp, axis: int, iterations: Iterations, ranges: Ranges) -> dict[Expr, str]:
    """What has to be 0 or more for one index, and what is so else."""
    index, size = read.exprs[axis], dims_of(read.tensor.type)[axis]
    is_data = any(isinstance(key, SSAValue) for key in index.variables())
    if is_data or not all(index.is_affine_in(key) for key in ranges):
        what = f"compute '{compute.stage.data}' reads {tensor_name(read.tensor)}"
        return {size - 1: f"{what}, of which axis {axis} is empty"}
    lowest = {inside: _lowest(inside, ranges) for inside in (index, size - 1 - index)}
    return {
        inside.substitute(point): _out_of_bounds(compute, read, axis, point, iterations)
        for inside, point in lowest.items()
    }


def _lowest(e: Expr, ranges: Ranges) -> Point:
    """Where an expression that is linear in variables is lowest."""
    point: dict[Key, Expr] = {}
    for key, (first, last) in ranges.items():
        point[key] = (first if e.coefficient(key) >= 0 else last).substitute(point)
    return point


def _domains(kernel: KernelOp) -> Iterator[tuple[ComputeOp, Ranges]]:
    """The computes with the inclusive ends of their axes."""
    firsts = _first_times(kernel)
    for compute in kernel.computes:
        yield compute, _ranges(compute, firsts.get(compute, const(0)))


def _first_times(kernel: KernelOp) -> dict[ComputeOp, Expr]:
    """A mapping from each compute that is part of a scan's steps to the first time that it computes."""
    scans = [op for op in kernel.body.block.ops if isinstance(op, ScanOp)]
    return {compute: scan.first for scan in scans for compute in scan.steps}


def _ranges(compute: ComputeOp, first: Expr) -> Ranges:
    """The inclusive ends of the axes, of which the first one starts at `first`."""
    starts = [first, *[const(0)] * (len(compute.spatial) - 1)] if compute.spatial else []
    ends = [(start, extent - 1) for start, (_, extent) in zip(starts, compute.spatial, strict=True)]
    names = [name for name, _ in (*compute.spatial, *compute.reduction)]
    return dict(zip(names, [*ends, *((const(0), extent - 1) for _, extent in compute.reduction)], strict=True))


class _Checker:
    """Looks at the operations of one compute."""

    def __init__(self, compute: ComputeOp, ranges: Ranges, symbols: Sequence[Key]):
        self.compute = compute
        self.ranges = ranges
        self.symbols = symbols

    def block(self, block: Block, clauses: Sequence[Clause]) -> None:
        """Check what a block holds, which is computed where all clauses hold."""
        iterations = Iterations(self.ranges, clauses, self.symbols)
        for op in block.ops:
            self._refuse_division(op, iterations)
            if isinstance(op, ReadOp) and not is_thrown_away(op.result):
                self._refuse_outside(op, iterations)
            if isinstance(op, IfThenElseOp):
                conditions = op.conditions
                self.block(op.then_body.block, [*clauses, *((p,) for p in conditions)])
                fails = tuple(other for p in conditions for other in opposite(p))
                self.block(op.else_body.block, [*clauses, fails])

    def _refuse_outside(self, op: ReadOp, iterations: Iterations) -> None:
        for axis, (index, size) in enumerate(zip(op.exprs, dims_of(op.tensor.type), strict=True)):
            point = point_outside(index, size, iterations)
            if point is not None:
                raise CompileError(_out_of_bounds(self.compute, op, axis, point, iterations), op)

    def _refuse_division(self, op: Operation, iterations: Iterations) -> None:
        for e in _indices_of(op):
            for divided in _divisions(e):
                divisor = divided.args[1]
                if divisor.is_constant or iterations.domain.proves(at_least(divisor, 1)):
                    continue
                point = iterations.point_where(equal(divisor, 0))
                if point is not None:
                    at = place(point, divisor)
                    what = f"compute '{self.compute.stage.data}' divides an index by 0{at}: "
                    raise CompileError(f"{what}{shown(divisor)} in {divided}", op)


def _indices_of(op: Operation) -> Sequence[Expr]:
    """The expressions that an operation computes before what its regions hold."""
    match op:
        case ReadOp():
            return op.exprs
        case IndexOp():
            return [op.value]
        case IfThenElseOp():
            return [p.expr for p in op.conditions]
        case _:
            return ()


def _divisions(e: Expr) -> Iterator[Compound]:
    """The quotients and remainders in an expression."""
    for atom in (atom for atom, _ in e.terms if isinstance(atom, Compound)):
        for argument in atom.args:
            yield from _divisions(argument)
        if atom.kind in ("floordiv", "mod"):
            yield atom


# -- for messages


def tensor_name(value: SSAValue) -> str:
    """A tensor, for messages."""
    owner: Operation | Block = value.owner
    if isinstance(owner, ComputeOp):
        return f"tensor '{owner.stage.data}'"
    position = f"argument {value.index}" if isinstance(value, BlockArgument) else "a tensor"
    return position if value.name_hint is None else f"{position} (%{value.name_hint})"


def _out_of_bounds(compute: ComputeOp, read: ReadOp, axis: int, point: Point, iterations: Iterations) -> str:
    """The message that an index is out of bounds at a point."""
    index, size = read.exprs[axis], dims_of(read.tensor.type)[axis]
    what = f"compute '{compute.stage.data}' reads {tensor_name(read.tensor)} out of bounds"
    return f"{what}: axis {axis} has {size} elements, index {described(index, point, iterations)}"
