"""Layouts of parameters that register tiles read in one piece."""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set

from tilework.algebra.index_expr import const, var
from tilework.analysis.sizes import bits_of, bytes_of
from tilework.dialects.te import ComputeOp
from tilework.rules.base import Packing
from tilework.rules.cpu.reads import reads_of
from tilework.rules.cpu.register_tile import choose_tile
from tilework.rules.cpu.stages import StagePlan
from tilework.rules.cpu.tiled_reduction import block_sizes
from tilework.targets.base import LINE_BYTES
from tilework.targets.cpu.target import CpuTarget


def packings_for_tiles(plan: StagePlan, target: CpuTarget, parameters: Set[int]) -> Sequence[Packing]:
    """The layouts in which the tiles of a kernel would rather read some of the arguments numbered `parameters`, for
    which its stages are planned."""
    tiled = [*plan.anchored.values(), *(c for c in plan.roots if c.reduction and c.spatial)]
    wanted: dict[int, list[Packing]] = {}
    for compute in reversed(tiled):  # of several that read a parameter, the first has its way
        wanted |= _packings(compute, target, parameters)
    return [packing for packings in wanted.values() for packing in packings]


def _packings(compute: ComputeOp, target: CpuTarget, parameters: Set[int]) -> dict[int, list[Packing]]:
    """The layouts that the best tile of a stage wants, by parameter: it reads blocks along its vector axis at once.

    Reduce axes that run block by block get blocks around these, so that one piece follows another from tile to tile.
    Where windows are summed, these are blocks of channels that fill a line of a cache.
    """
    reads = reads_of(compute, parameters)
    tile = choose_tile(compute, reads, target)
    if tile is None or not tile.aligned:
        return {}
    sizes = _lines_of_channels(compute) | block_sizes(compute)
    wanted: dict[int, list[Packing]] = {}
    for read, op in zip(reads, compute.reads, strict=True):
        axis, block = read.axis_to_pack(tile.vector), tile.block(bytes_of(op.tensor.type), target)
        if read.argument is None or axis is None or read.dims[axis:] == (const(block),) or read.argument in wanted:
            continue
        packings = wanted[read.argument] = list[Packing]()
        if len([e for _, e in compute.reduction if e != const(1)]) > 1:  # blocks of a single axis follow each other
            places = [(d, sizes.get(e.as_var)) for d, e in enumerate(read.indices)]
            packings += [Packing(read.argument, d, b) for d, b in places if b and (read.dims[d] % b).constant == 0]
        packings.append(Packing(read.argument, axis, block))
    return wanted


def _lines_of_channels(reduction: ComputeOp) -> dict[Hashable, int]:
    """The reduce axes along which no window reaches, and how many elements of them fill a line of a cache."""
    indices = [e for r in reduction.reads for e in r.exprs]
    alone = [name for name, _ in reduction.reduction if all(e == var(name) for e in indices if name in e.variables())]
    return dict.fromkeys(alone, LINE_BYTES * 8 // bits_of(reduction.results[0].type))


def pack_outputs(product: ComputeOp, span: int, parameters: Set[int]) -> list[Packing]:
    """The parameters that a product reads, in blocks of so many outputs, along its last axis."""
    outputs = product.spatial[-1][0]
    wanted = [(r.argument, r.axis_to_pack(outputs)) for r in reads_of(product, parameters)]
    return [Packing(a, axis, span) for a, axis in wanted if a is not None and axis is not None]
