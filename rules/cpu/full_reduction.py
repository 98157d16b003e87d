"""How a reduction with a single result runs: every so many elements apart, as vectors on all cores, and then these."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tilework.analysis.sizes import bits_of, size_of
from tilework.dialects.schedule.builder import ScheduleBuilder, StageHandle
from tilework.dialects.te import ComputeOp
from tilework.rules.common.axes import iterations, joins_parts
from tilework.rules.common.block_sums import block_lengths, sum_in_blocks
from tilework.rules.common.fast_products import vectors_and_lanes
from tilework.rules.cpu.any_order import is_any_order
from tilework.rules.cpu.parallel import PARALLEL_WORK
from tilework.rules.cpu.row_blocks import PARTS, STEPS, whole_chains
from tilework.rules.cpu.row_form import in_one_piece
from tilework.targets.cpu.target import CpuTarget


def schedule_full_reduction(s: ScheduleBuilder, stage: StageHandle, compute: ComputeOp, target: CpuTarget) -> None:
    """Schedule a reduction without spatial axes: on all cores if they can share it evenly, in whole vectors.

    Of one with too few elements for a vector, of unknown extents, with several results or by a reducer that joins no
    parts, nothing is asked.
    """
    if len(compute.results) > 1 or not all(e.constant for _, e in compute.reduction) or not joins_parts(compute):
        return
    lanes, piece = target.lanes(bits_of(compute.result.type)), in_one_piece(compute)
    length, others = size_of(piece), [n for n, _ in compute.reduction[: -len(piece)]]
    if length < lanes:
        return
    is_plain = is_any_order(compute, target)
    whole = whole_chains(length, lanes, target)
    span = 1 if is_plain else lanes * (whole or min(target.machine.core.chains, length // lanes))
    name, axis = ".".join(n for n, _ in piece), s.fuse([stage.axes[n] for n, _ in piece])
    cores: list[str] = []
    if target.cores > 1 and iterations(compute) >= PARALLEL_WORK and length % (target.cores * span) == 0:
        core, _ = s.split(axis, nparts=target.cores)
        cores, name = [f"{name}.outer"], f"{name}.inner"
        stage, _ = s.rfactor(stage, core, [*cores, *others, name])
        axis = stage.axes[name]
        s.parallel(stage.axes[cores[0]])
    if is_plain:
        return
    part, step = f"{name}.inner", f"{name}.outer"
    parts, left = s.rfactor(stage, s.split(axis, span)[1], [*cores, part, *others, step], factor_axis=-1)
    for core in cores:
        s.compute_at(parts, stage.axes[core], "local")
    for lanes_at_once in block_lengths(compute, span, PARTS):
        sums, _ = s.rfactor(
            stage, s.split(left, lanes_at_once)[0], [*cores, f"{part}.outer", f"{part}.inner"], len(cores)
        )
        for core in cores:
            s.compute_at(sums, stage.axes[core], "local")
    scope = "register" if whole else "local"  # registers take no masks
    inside = s.cache_write(parts, scope)
    around, lane = s.split(parts.axes[part], span)
    s.reorder([*(parts.axes[n] for n in cores), around, *vectors_and_lanes(s, lane, lanes)])

    def order(stage: StageHandle, summed: Sequence[SSAValue]) -> None:
        s.reorder([*(stage.axes[n] for n in cores), *summed, *vectors_and_lanes(s, stage.axes[part], lanes)])

    terms = -(-length // (span * (target.cores if cores else 1)))
    sum_in_blocks(s, inside, [*others, step], step, block_lengths(compute, terms, STEPS), around, scope, order)
