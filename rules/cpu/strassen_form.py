"""What a kernel of a product by Strassen's algorithm consists of, and how its rows are taken in blocks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from tilework.algebra.index_expr import Expr, var
from tilework.algebra.strassen import PRODUCTS
from tilework.analysis.sizes import bits_of
from tilework.dialects.graph.algorithms.strassen import PRODUCT, RESULT, ROLES, SUMS, role_of
from tilework.dialects.te import ComputeOp, KernelOp
from tilework.rules.common.axes import Axes
from tilework.rules.common.fast_products import balanced, inlined_stages, part_of, sizes_of, takes
from tilework.rules.cpu.reads import reads_of
from tilework.targets.cpu.target import CpuTarget


def _inner(part: str, levels: int) -> list[str]:
    """The roles of the stages that those with SUMS and RESULT are computed from, level by level."""
    return [role_of(part, left) for left in range(1, levels)]


@dataclass(frozen=True)
class Blocks:
    """Rows of a part are taken in blocks of `rows`.

    together: all sums of quarters are there before any is multiplied; else each block's by itself, for all weights.
    again: bytes of sums of quarters that are read more than once.
    """

    rows: int
    together: bool
    again: int


@dataclass(frozen=True)
class StrassenForm:
    """The stages by what they compute, once those `inlined` are.

    first: what reads the quarters, `data` if there is one level. levels: on which quarters are taken of quarters.
    of_data, of_result: the names of the stages between two levels that sum quarters, and products, level by level.
    images: whether the last one is an image in blocks of channels; else its last axes are rows and outputs. block: how
    many outputs lie side by side, or are taken so. A product is computed for `rows` rows and `vectors` of `lanes`
    outputs at a time.
    """

    inlined: list[str]
    first: ComputeOp
    data: ComputeOp
    product: ComputeOp
    final: ComputeOp
    levels: int
    of_data: Sequence[str]
    of_result: Sequence[str]
    images: bool
    lanes: int
    block: int
    vectors: int
    blocks: Blocks
    rows: int

    @property
    def batch(self) -> Axes:
        """The axes of a product in front of its sums, rows and outputs."""
        return tuple(self.product.spatial[: -self.levels - 2])

    @property
    def count(self) -> int:
        """Blocks of rows of a part."""
        return -(-self.part[0] // self.blocks.rows)

    @property
    def passes(self) -> int:
        """How often weights are read."""
        return 1 if self.blocks.together else self.count

    @property
    def computed(self) -> float:
        """How many rows are computed for each: more than one where the last block is moved inwards."""
        return self.count * self.blocks.rows / self.part[0]

    @property
    def span(self) -> int:
        """How many outputs are computed at a time."""
        return self.lanes * self.vectors

    @property
    def parts(self) -> int:
        """Into how many parts rows, inputs and outputs are cut."""
        return 2**self.levels

    @property
    def part(self) -> tuple[int, int]:
        """Rows and outputs of a part."""
        *_, rows, outputs = sizes_of(self.product)
        return rows, outputs


def strassen_form(kernel: KernelOp, target: CpuTarget) -> StrassenForm | None:
    """The form of a kernel, None if it is another, its sizes are not known, or do not fill vectors and blocks."""
    whole, summed = part_of(kernel, PRODUCT), part_of(kernel, RESULT)
    if whole is None or summed is None:
        return None
    levels = len(whole.spatial) - len(summed.spatial)
    found = inlined_stages(kernel, [*ROLES, *_inner(SUMS, levels), *_inner(RESULT, levels)])
    if found is None:
        return None
    inlined, stages, final = found
    data, product = stages[SUMS], stages[PRODUCT]
    lanes, channels = target.lanes(bits_of(final.result.type)), sizes_of(data)[-1]
    *batch, rows, outputs = sizes_of(product)
    del batch[len(batch) - levels :]
    images = len(final.spatial) == len(batch) + 4 and sizes_of(final)[-1] % lanes == 0
    block = sizes_of(final)[-1] if images else lanes
    if 0 in (*batch[1:], rows, outputs, channels) or outputs % block or channels % lanes:
        return None
    if not takes(final, RESULT, _taken(final, images)):
        return None
    first = stages[[SUMS, *_inner(SUMS, levels)][-1]]
    vectors = max(block // lanes, 1 if outputs % (2 * lanes) else 2)
    tile_rows = _rows_at_once(product, vectors, target)
    products = PRODUCTS**levels
    blocks = _blocks(prod(batch), products, rows, outputs, channels, vectors * lanes, tile_rows, target)
    if 2 * blocks.rows < min(rows, tile_rows):
        return None
    at_once = balanced(blocks.rows, tile_rows)
    of_data, of_result = ([stages[r].stage.data for r in _inner(part, levels)] for part in (SUMS, RESULT))
    return StrassenForm(
        *([*inlined, stages[RESULT].stage.data], first, data, product, final),
        *(levels, of_data, of_result, images, lanes, block, vectors, blocks, at_once),
    )


def _rows_at_once(product: ComputeOp, vectors: int, target: CpuTarget) -> int:
    """As many as there are registers for, but for those whose sums drive each other out of the nearest cache."""
    row, element_bytes = product.spatial[-2][0], bits_of(product.result.type) // 8
    registers = (target.vector_registers - 2 - vectors) // vectors
    reads = reads_of(product)
    stays = (n for n in range(registers, 1, -1) if not any(r.crowds(row, n, element_bytes, target) for r in reads))
    return next(stays, 1)


def _taken(final: ComputeOp, images: bool) -> tuple[Expr, ...]:
    """Where the last stage should read the result."""
    axes = [var(name) for name, _ in final.spatial]
    if not images:
        return tuple(axes)
    *batch, o, y, x, lane = axes
    *_, (_, width), (_, lanes) = final.spatial
    return (*batch, y * width + x, o * lanes + lane)


def _blocks(
    matrices: int, products: int, rows: int, outputs: int, channels: int, span: int, tile_rows: int, target: CpuTarget
) -> Blocks:
    """The blocks, as large as stays near: products of a block, and its sums of quarters unless all of these come first.

    Of one matrix, each core takes blocks of its own, the last perhaps moved inwards, where reading weights again takes
    less time than reading sums that other cores have just written. Sizes are those of a part.
    """
    buffers, near = target.machine.buffers, target.machine.buffers.block
    each = 4 * products  # bytes for one element of a part
    together = _shared(rows, near // each // span, tile_rows, outputs // span, target.cores)
    alone = _shared(rows, near // each // (span + channels), tile_rows, 1, target.cores)
    stays = each * rows * channels <= target.near_bytes
    data_again = 0 if stays else each * (outputs // span - 1) * rows * channels
    weights = each * outputs * channels
    weights_again = (rows // alone - 1) * weights if alone else data_again
    if data_again > weights_again:
        return Blocks(alone, together=False, again=0)
    others = (target.cores - 1) / target.cores
    exchanging = each * rows * channels * others / target.bandwidth.exchange
    most = min(buffers.largest_block, int(target.cache_bytes[1] * target.machine.caches.block_share)) // each

    def fits(block: int) -> bool:
        return channels * block + span * _with_room(block, tile_rows) <= most

    own = _of_each_core(rows, fits, tile_rows, target.cores) if matrices == 1 else 0
    own_again = (-(-rows // own) - 1) * weights if own else 0
    kept = target.kept_speed(matrices * each * rows * channels)
    if own and own_again / target.bandwidth.shared < exchanging + data_again / kept:
        return Blocks(own, together=False, again=0)
    return Blocks(together, together=True, again=data_again)


def _of_each_core(rows: int, fits: Callable[[int], bool], tile_rows: int, cores: int) -> int:
    """The longest blocks that fit, as many for each core; 0 where they are too short."""
    blocks = (-(-rows // (cores * count)) for count in range(1, max(rows // cores, 1) + 1))
    own = next(filter(fits, blocks), 0)
    return own if 2 * own >= tile_rows else 0


def _shared(rows: int, most: int, tile_rows: int, tasks: int, cores: int) -> int:
    """The longest equal blocks of rows that fit, unless cores share some half as long better; 0 if none fits.

    Products are computed for at most `tile_rows` rows at a time; with the last of them, a block has room
    for at most so many. tasks: for each block.
    """
    sizes = [n for n in range(1, min(rows, most) + 1) if rows % n == 0 and _with_room(n, tile_rows) <= most]
    long = [n for n in sizes if 2 * n >= sizes[-1]]
    return min(long, key=lambda n: (-(-rows // n * tasks // cores) * n, -n), default=0)


def _with_room(rows: int, tile_rows: int) -> int:
    at_once = balanced(rows, tile_rows)
    return -(-rows // at_once) * at_once
