"""What a kernel may do at no point that it comes to: read outside of a tensor, and divide an index by 0.

Only what certainly happens is refused. A read under conditions is looked at where these hold; one under a condition on
data, or that an `arith.select` may throw away, is let pass, and so is an index that may be within its tensor.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tilework.algebra.index_expr import Compound, Expr, Key, const
from tilework.algebra.iterations import Clause, Iterations, Point, opposite
from tilework.algebra.predicate import at_least, equal, less_than
from tilework.dialects import arith
from tilework.dialects.diagnostics import CompileError
from tilework.dialects.shapes import dims_of
from tilework.dialects.te.scalars import IfThenElseOp, IndexOp, ReadOp
from tilework.dialects.te.structure import ComputeOp, KernelOp


def refuse_undefined_indices(kernel: KernelOp) -> None:
    """Raise CompileError, about the operation, for a read out of bounds and for an index that is divided by 0."""
    firsts = _first_times(kernel)
    for compute in kernel.computes:
        ranges = _ranges(compute, firsts.get(compute, const(0)))
        _Checker(compute, ranges, kernel.symbols).block(compute.body.block, [])


def _first_times(kernel: KernelOp) -> dict[ComputeOp, Expr]:
    """Of the computes that are part of a scan's steps, the first time that is computed."""
    from tilework.dialects.te.scan import ScanOp  # which imports what this file is imported by

    scans = [op for op in kernel.body.block.ops if isinstance(op, ScanOp)]
    return {compute: scan.first for scan in scans for compute in scan.steps}


def _ranges(compute: ComputeOp, first: Expr) -> dict[Key, tuple[Expr, Expr]]:
    """The inclusive ends of the axes, of which the first one starts at `first`."""
    starts = [first, *[const(0)] * (len(compute.spatial) - 1)] if compute.spatial else []
    ends = [(start, extent - 1) for start, (_, extent) in zip(starts, compute.spatial, strict=True)]
    names = [name for name, _ in (*compute.spatial, *compute.reduction)]
    return dict(zip(names, [*ends, *((const(0), extent - 1) for _, extent in compute.reduction)], strict=True))


class _Checker:
    """Looks at the operations of one compute."""

    def __init__(self, compute: ComputeOp, ranges: dict[Key, tuple[Expr, Expr]], symbols: Sequence[Key]):
        self.compute = compute
        self.ranges = ranges
        self.symbols = symbols

    def block(self, block: Block, clauses: Sequence[Clause]) -> None:
        """Check what a block holds, which is computed where all clauses hold."""
        iterations = Iterations(self.ranges, clauses, self.symbols)
        for op in block.ops:
            self._refuse_division(op, iterations)
            if isinstance(op, ReadOp) and not _is_thrown_away(op.result):
                self._refuse_outside(op, iterations)
            if isinstance(op, IfThenElseOp):
                conditions = op.conditions
                self.block(op.then_body.block, [*clauses, *((p,) for p in conditions)])
                fails = tuple(other for p in conditions for other in opposite(p))
                self.block(op.else_body.block, [*clauses, fails])

    def _refuse_outside(self, op: ReadOp, iterations: Iterations) -> None:
        for axis, (index, size) in enumerate(zip(op.exprs, dims_of(op.tensor.type), strict=True)):
            for inside, outside in (
                (at_least(index, 0), less_than(index, 0)),
                (less_than(index, size), at_least(index, size)),
            ):
                if iterations.domain.proves(inside):
                    continue
                point = iterations.point_where(outside)
                if point is not None:
                    what = f"compute '{self.compute.stage.data}' reads {tensor_name(op.tensor)} out of bounds"
                    where = f"axis {axis} has {size} elements, index {_shown(index)}"
                    raise CompileError(f"{what}: {where}{_described(index, point, iterations)}", op)

    def _refuse_division(self, op: Operation, iterations: Iterations) -> None:
        for e in _indices_of(op):
            for divided in _divisions(e):
                divisor = divided.args[1]
                if divisor.is_constant or iterations.domain.proves(at_least(divisor, 1)):
                    continue
                point = iterations.point_where(equal(divisor, 0))
                if point is not None:
                    at = _place(point, divisor)
                    what = f"compute '{self.compute.stage.data}' divides an index by 0{at}: "
                    raise CompileError(f"{what}{_shown(divisor)} in {divided}", op)


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


def _is_thrown_away(value: SSAValue) -> bool:
    """Whether what is computed of a value may be thrown away: it is an arm of a select, and nothing else."""
    for use in value.uses:
        user = use.operation
        if isinstance(user, arith.SelectOp):
            if use.index == 0:
                return False
        elif user.regions or not user.results or not all(map(_is_thrown_away, user.results)):
            return False
    return True


# -- for messages


def tensor_name(value: SSAValue) -> str:
    """A tensor, for messages."""
    owner: Operation | Block = value.owner
    if isinstance(owner, ComputeOp):
        return f"tensor '{owner.stage.data}'"
    position = f"argument {value.index}" if isinstance(value, BlockArgument) else "a tensor"
    return position if value.name_hint is None else f"{position} (%{value.name_hint})"


def key_name(key: Key) -> str:
    """A variable of an index, for messages."""
    return f"%{key.name_hint or '?'}" if isinstance(key, SSAValue) else str(key)


def _shown(e: Expr) -> Expr:
    return e.rename(key_name)


def _described(index: Expr, point: Point, iterations: Iterations) -> str:
    """What an index is at a point, and between which ends it runs."""
    if index.is_constant:
        return ""
    reach = iterations.reach(index)
    runs = "" if reach is None else f" runs from {reach[0]} to {reach[1]}, and"
    value = _shown(index.substitute(point))
    return f"{runs} is {value}{_place(point, index)}"


def _place(point: Point, e: Expr) -> str:
    """The variables of an expression at a point, each with its value."""
    named = [f"{key_name(key)} = {_shown(point[key])}" for key in e.variables() if key in point]
    return f" at {', '.join(named)}" if named else ""
