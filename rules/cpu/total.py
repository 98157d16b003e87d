"""How a reduction with a single result runs: every so many elements apart, as vectors on all cores, and then these."""

from __future__ import annotations

from xdsl.ir import SSAValue

from tilework.dialects.schedule_builder import ScheduleBuilder, StageHandle
from tilework.dialects.te import ComputeOp
from tilework.rules.cpu.fast_products import vectors_and_lanes
from tilework.rules.cpu.parallel import PARALLEL_WORK
from tilework.rules.cpu.reads import bits_of, iterations, size_of
from tilework.rules.cpu.row_blocks import CHAINS, whole_chains
from tilework.rules.cpu.row_form import in_one_piece
from tilework.targets.target import Target


def schedule_total(s: ScheduleBuilder, stage: StageHandle, compute: ComputeOp, target: Target) -> None:
    """Of one with too few elements for a vector, or of unknown extents, nothing is asked."""
    if len(compute.results) > 1 or not all(e.constant for _, e in compute.reduction):
        return
    lanes, piece = target.lanes(bits_of(compute.result.type)), in_one_piece(compute)
    length = size_of(piece)
    if length < lanes:
        return
    whole = whole_chains(length, lanes)
    span = lanes * (whole or min(CHAINS, length // lanes))
    cores = target.cores if iterations(compute) >= PARALLEL_WORK and length % (target.cores * span) == 0 else 1
    spatial, others = [n for n, _ in compute.spatial], [n for n, _ in compute.reduction[: -len(piece)]]
    name, axis = ".".join(n for n, _ in piece), s.fuse([stage.axes[n] for n, _ in piece])
    core: SSAValue | None = None
    if cores > 1:
        of_core, _ = s.split(axis, nparts=cores)
        name, spatial = f"{name}.inner", [*spatial, f"{name}.outer"]
        stage, _ = s.rfactor(stage, of_core, [*spatial, *others, name], factor_axis=-1)
        axis, core = stage.axes[name], stage.axes[spatial[-1]]
        s.parallel(core)
    part, step = f"{name}.inner", f"{name}.outer"
    parts, _ = s.rfactor(stage, s.split(axis, span)[1], [*spatial, part, *others, step], factor_axis=-1)
    if core is not None:
        s.compute_at(parts, core, "local")
    inside = s.cache_write(parts, "register" if whole else "local")  # registers take no masks
    around, lane = s.split(parts.axes[part], span)
    s.reorder([*(parts.axes[n] for n in spatial), around, *vectors_and_lanes(s, lane, lanes)])
    s.compute_at(inside, around)
    within = [inside.axes[n] for n in (*spatial, *others, step)]
    s.reorder([*within, *vectors_and_lanes(s, inside.axes[part], lanes)])
