"""Stages in blocks, as the tensors around them are: `graph.pack` and `graph.unpack` leave these in the indices.

Between an input that is read at [n, c floordiv 16, y, x, c mod 16] and a result made of [n, 16 * co + ci, y, x], a
stage with axes (n, c, y, x) is stored as (n, co, y, x, ci) too: its innermost axis then fills vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.rewriter import Rewriter

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Compound, Expr, var
from tilework.dialects.schedule_builder import ScheduleBuilder, StageHandle
from tilework.dialects.te import ComputeOp, KernelOp, ReadOp
from tilework.rules.cpu.readers import readers_of
from tilework.transforms.schedule.apply_dataflow import apply_dataflow


@dataclass(frozen=True)
class Blocks:
    """The stage is cut along `axis` into blocks of `size`; the place inside a block is its last axis."""

    stage: str
    axis: str
    size: int

    @property
    def stored(self) -> str:
        """The name of the stage that computes the blocks."""
        return f"{self.stage}.global"


def block_stages(kernel: KernelOp) -> list[Blocks]:
    """Store stages of a kernel in blocks where what they read or what reads them is; producers first."""
    found: list[Blocks] = []
    for compute in list(kernel.computes):
        blocks = _blocks_of(kernel, compute)
        if blocks is not None:
            s = ScheduleBuilder(kernel)
            store_in_blocks(s, blocks)
            apply_dataflow(kernel, s.finish())
            found.append(blocks)
    return found


def store_in_blocks(s: ScheduleBuilder, blocks: Blocks) -> StageHandle:
    """Let a new stage compute the blocks, and inline the old one, which reads them; the new one."""
    compute = s.kernel.compute(blocks.stage)
    assert compute is not None
    stage, axis = s.stage(blocks.stage), blocks.axis
    outer, inner = s.split(stage.axes[axis], blocks.size)
    spatial, reduction = [n for n, _ in compute.spatial], [n for n, _ in compute.reduction]
    leaves = {axis: outer, f"{axis}.inner": inner, **{n: stage.axes[n] for n in (*spatial, *reduction) if n != axis}}
    order = [*spatial, f"{axis}.inner", *reduction]
    s.reorder([leaves[n] for n in order])
    stored = s.cache_write(stage, "global", [f"{axis}.outer" if n == axis else n for n in order])
    s.compute_inline(s.stage_with_axes(blocks.stage, spatial))
    return stored


def simplify_reads(compute: ComputeOp) -> None:
    """Resolve quotients and remainders in the stage's indices, given what its axes range over.

    Axes of one element stay in the indices, where axes are looked for.
    """
    axes = [*compute.spatial, *compute.reduction]
    domain = Domain({name: (0, extent - 1 if extent != 1 else 1) for name, extent in axes})
    for read in [op for op in compute.body.walk() if isinstance(op, ReadOp)]:
        exprs = [domain.simplify(e) for e in read.exprs]
        if tuple(exprs) != read.exprs:
            Rewriter.replace_op(read, ReadOp(read.tensor, exprs))


def _blocks_of(kernel: KernelOp, compute: ComputeOp) -> Blocks | None:
    if len(compute.results) > 1 or compute.result in kernel.results_returned:
        return None
    if not all(isinstance(use.operation, ReadOp) for use in compute.result.uses):
        return None  # a scan or an extern takes it as a whole
    for axis, size in (*_as_read(compute), *_as_it_reads(compute)):
        extent = dict(compute.spatial)[axis].constant
        if extent is not None and extent % size == 0:
            return Blocks(compute.stage.data, axis, size)
    return None


def _as_read(compute: ComputeOp) -> Iterator[tuple[str, int]]:
    """The axes that readers take block by block, their last axis being the place in a block of so many."""
    for reader, read in readers_of(compute):
        lane, extent = reader.spatial[-1] if reader.spatial else ("", None)
        for (axis, _), e in zip(compute.spatial[:-1], read.exprs, strict=False):
            if extent is not None and extent.constant and _is_block_of(e, lane, extent.constant):
                yield axis, extent.constant


def _is_block_of(e: Expr, lane: str, size: int) -> bool:
    """Whether an index is `size` times another variable, and the lane."""
    others = [key for key in e.variables() if key != lane]
    return len(others) == 1 and e == size * var(others[0]) + var(lane)


def _as_it_reads(compute: ComputeOp) -> Iterator[tuple[str, int]]:
    """The axes along which the stage itself reads blocks: at [a floordiv 16, a mod 16]."""
    spatial = {n for n, _ in compute.spatial}
    for read in [op for op in compute.body.walk() if isinstance(op, ReadOp)]:
        for e in read.exprs:
            place = place_in_block(e)
            if place is not None and place[0] in spatial and var(place[0]) // place[1] in read.exprs:
                yield place


def place_in_block(e: Expr) -> tuple[str, int] | None:
    """(a, 16) of an index that is a mod 16."""
    atom = e.terms[0][0] if len(e.terms) == 1 else None
    if not isinstance(atom, Compound) or atom.kind != "mod" or e != Expr(((atom, 1),), 0):
        return None
    axis, size = atom.args[0].as_var, atom.args[1].constant
    return (axis, size) if isinstance(axis, str) and size else None
