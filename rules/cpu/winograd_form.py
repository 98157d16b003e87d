"""What a kernel of `graph.winograd_conv` consists of, and how its tiles are taken in blocks.

Blocks are of rows and columns of tiles, of images of unknown size parts of single rows. Where a kernel counts tiles
through, row after row, they are of tiles that follow each other: only the last one of an image has fewer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tilework.algebra.index_expr import Expr, ceildiv, var
from tilework.analysis.sizes import bits_of, size_of, usual_size
from tilework.dialects.graph.algorithms.winograd import COLUMNS, DATA, IMAGE, IMAGE_RANK, PRODUCT, RESULT, ROLES, ROWS
from tilework.dialects.te import ComputeOp, KernelOp
from tilework.rules.common.axes import iterations
from tilework.rules.common.fast_products import balanced, inlined_stages, sizes_of, takes
from tilework.rules.cpu.reads import reads_of
from tilework.targets.cpu.target import CpuTarget

MOST_OPEN = 8
"""Tiles that are multiplied at a time where nobody knows how many there are: each number of them is code of its own."""

MOST_IN_BLOCK = 64
"""Tiles of a block where nobody knows how many there are: the buffers of a whole one are there for few, too."""

COUNTED_RANK = 5
"""The rank of transformed data where tiles are counted through."""


@dataclass(frozen=True)
class Blocks:
    """Tiles, each of `tile` x `tile` outputs, are taken in blocks of `rows` x `columns` of each of so many `images`.

    together: all tiles are transformed before any is multiplied; else each block by itself, for all weights. `passes`:
    how many times a core reads the weights for a block of images. parts: of the filters, each of which transforms the
    block for itself. Where tiles are counted through, a block is a single row of them.
    """

    images: int
    rows: int
    columns: int
    tile: int
    together: bool
    passes: int
    parts: int = 1


@dataclass(frozen=True)
class Last:
    """The last stage. block: how many filters lie side by side in it; 0 where its rows do."""

    compute: ComputeOp
    block: int

    @property
    def axes(self) -> list[str]:
        """The axes of images, filters, perhaps slices, rows and columns."""
        names = [name for name, _ in self.compute.spatial]
        return names[:-1] if self.block else names

    @property
    def images(self) -> int:
        """How many there are along the innermost axis that counts them: of slices, if there are any; 0 if not known."""
        sizes = sizes_of(self.compute)
        return sizes[2] if len(self.axes) > IMAGE_RANK else sizes[0]


@dataclass(frozen=True)
class WinogradForm:
    """The stages by role and the last one, as they look once the stages `inlined` are.

    A product is computed for tiles of `at_once` (images, rows, columns; or images, tiles) and `vectors` of `lanes`
    filters at a time, tiles are transformed for `channel_lanes` channels.
    """

    inlined: list[str]
    stages: Mapping[str, ComputeOp]
    last: Last
    lanes: int
    channel_lanes: int
    vectors: int
    blocks: Blocks
    at_once: tuple[int, ...]

    @property
    def is_counted(self) -> bool:
        """Whether tiles are counted through."""
        return are_counted(self.stages)

    @property
    def in_block(self) -> tuple[int, ...]:
        """How many there are in a block of what `at_once` counts."""
        blocks = self.blocks
        return (blocks.images, blocks.columns) if self.is_counted else (blocks.images, blocks.rows, blocks.columns)

    @property
    def span(self) -> int:
        """How many filters are computed at a time."""
        return self.lanes * self.vectors

    @property
    def filter_blocks(self) -> int:
        """How many blocks of `span` filters there are."""
        return sizes_of(self.stages[PRODUCT])[-1] // self.span

    @property
    def image_blocks(self) -> int:
        """How many blocks of images there are, 1 where that is not known."""
        return max(sizes_of(self.stages[PRODUCT])[0] // self.blocks.images, 1)

    @property
    def tasks(self) -> int:
        """Blocks of filters of all blocks of images."""
        return self.image_blocks * self.filter_blocks


def form_of(kernel: KernelOp, target: CpuTarget) -> WinogradForm | None:
    """The form of a kernel, None if it is another, sizes but those of images are not known or do not fill vectors."""
    found = inlined_stages(kernel, ROLES)
    if found is None:
        return None
    inlined, stages, final = found
    lanes = target.lanes(bits_of(final.result.type))
    last = _last(final, stages)
    if last is None or last.block % lanes or not _is_regular(stages, lanes, target):
        return None
    if are_counted(stages):
        return _counted_form(inlined, stages, last, lanes, target)
    return _shared_by_cores(inlined, stages, last, lanes, target)


def are_counted(stages: Mapping[str, ComputeOp]) -> bool:
    """Whether the stages count tiles through, with axes n, t, i, j, c, instead of n, p, q, i, j, c."""
    return len(stages[DATA].spatial) == COUNTED_RANK


def _last(final: ComputeOp, stages: Mapping[str, ComputeOp]) -> Last | None:
    """The last stage, if it takes the results as they are."""
    axes, sizes = [var(name) for name, _ in final.spatial], sizes_of(final)
    for block in (0, sizes[-1]):
        places = axes[:-1] if block else axes
        if len(places) in (IMAGE_RANK, IMAGE_RANK + 1):  # without or with slices
            n, o, *slices, y, x = places
            image = n * final.spatial[2][1] + slices[0] if slices else n
            place = _place_in_tiles(y, x, final.spatial[len(places) - 1][1], stages) if are_counted(stages) else (y, x)
            if takes(final, RESULT, (image, *place, o * block + axes[-1] if block else o)):
                return Last(final, block)
    return None


def _place_in_tiles(y: Expr, x: Expr, width: Expr, stages: Mapping[str, ComputeOp]) -> tuple[Expr, Expr, Expr]:
    """The tile that has a result, and where in it."""
    tile = tile_of(stages)
    return y // tile * ceildiv(width, tile) + x // tile, y % tile, x % tile


def tile_of(stages: Mapping[str, ComputeOp]) -> int:
    """How many results there are along each axis of a tile."""
    return sizes_of(stages[COLUMNS])[-3]


def _counted_form(
    inlined: list[str], stages: Mapping[str, ComputeOp], last: Last, lanes: int, target: CpuTarget
) -> WinogradForm:
    """Blocks of as many tiles as stay near beside the weights, or of more where weights are too many for that.

    Where an image usually has too few for all cores, these share filters, or blocks are of fewer.
    """
    product = stages[PRODUCT]
    *_, count, filters = sizes_of(product)
    channels, tile = sizes_of(stages[DATA])[-1], tile_of(stages)
    vectors = max(1, last.block // lanes, 1 if filters % (2 * lanes) else 2)
    span = vectors * lanes
    weights = 4 * size_of([*product.spatial[-3:], *product.reduction])
    each = 4 * (count**2 * (channels + span) + tile**2 * span)
    buffers = target.machine.buffers
    room = buffers.block if weights <= target.near_bytes else buffers.largest_block
    fitting = min(max(room // each, 1), MOST_IN_BLOCK)
    part = min(MOST_OPEN, fitting, (target.vector_registers - 2 - vectors) // vectors)
    tiles = stages[DATA].spatial[1]
    usual, sharing = usual_size([tiles]), min(target.cores, 1 + filters // target.machine.work.transformed_filters)
    shares = max(n for n in range(1, sharing + 1) if filters // span % n == 0)
    most = fitting if shares > 1 else min(fitting, max(-(-usual // target.cores), part))
    block = most // part * part
    parts = shares if usual <= block * (target.cores - 1) else 1
    blocks = Blocks(1, 1, block, tile, together=False, passes=-(-size_of([tiles]) // block), parts=parts)
    return WinogradForm(
        inlined, stages, last, lanes, _channel_lanes(channels, lanes, target), vectors, blocks, (1, part)
    )


def _shared_by_cores(
    inlined: list[str], stages: Mapping[str, ComputeOp], last: Last, lanes: int, target: CpuTarget
) -> WinogradForm:
    """Two vectors of filters at a time or a block of more, or one where cores would wait for each other at the end."""
    least = max(1, last.block // lanes)
    vectors = max(least, 1 if sizes_of(stages[PRODUCT])[-1] % (2 * lanes) else 2)
    form = _form_with(vectors, inlined, stages, last, lanes, target)
    if vectors == least or not form.blocks.together or form.tasks % target.cores == 0:
        return form
    halves = _form_with(1, inlined, stages, last, lanes, target)
    return halves if _turns(halves, target) < 2 * _turns(form, target) else form


def _form_with(
    vectors: int, inlined: list[str], stages: Mapping[str, ComputeOp], last: Last, lanes: int, target: CpuTarget
) -> WinogradForm:
    registers = (target.vector_registers - 2 - vectors) // vectors
    _, _, columns, *_ = sizes_of(stages[DATA])
    if not columns:
        registers = min(registers, MOST_OPEN)
    blocks = _blocks(stages, last, vectors * lanes, lanes, registers, target)
    at_once = _at_once(blocks, registers)
    channel_lanes = _channel_lanes(sizes_of(stages[DATA])[-1], lanes, target)
    return WinogradForm(inlined, stages, last, lanes, channel_lanes, vectors, blocks, at_once)


def _at_once(blocks: Blocks, registers: int) -> tuple[int, int, int]:
    """Images, rows and columns of tiles that are multiplied at a time: of a row as many as registers hold; then rows or
    images first, which of them leaves fewer parts."""
    columns = balanced(blocks.columns, registers)
    rows = balanced(blocks.rows, registers // columns)
    by_rows = balanced(blocks.images, registers // (columns * rows)), rows, columns
    images = balanced(blocks.images, registers // columns)
    by_images = images, balanced(blocks.rows, registers // (columns * images)), columns

    def parts(at_once: tuple[int, int, int]) -> int:
        return -(-blocks.images // at_once[0]) * -(-blocks.rows // at_once[1])

    return min(by_rows, by_images, key=parts)


def _channel_lanes(channels: int, lanes: int, target: CpuTarget) -> int:
    """The longest vectors that channels fill; of several, none of a length that takes several loads."""
    widths = [w for w in range(1, min(channels, lanes) + 1) if channels % w == 0]
    whole = [w for w in widths if w == channels or target.partial_bits or w & (w - 1) == 0]
    return whole[-1]


def _turns(form: WinogradForm, target: CpuTarget) -> int:
    """How many blocks of filters one core computes after the other."""
    return -(-form.tasks // target.cores)


def _is_regular(stages: Mapping[str, ComputeOp], lanes: int, target: CpuTarget) -> bool:
    """Whether sizes but the images' are known, filters fill vectors and channels halves of them at least."""
    places = {n: 2 if are_counted(stages) and n != IMAGE else 3 for n in stages}
    sizes = [e.constant for n, c in stages.items() for _, e in (*c.spatial[places[n] :], *c.reduction)]
    channels, filters = (sizes_of(stages[name])[-1] for name in (DATA, PRODUCT))
    if None in sizes or channels == 0 or 2 * _channel_lanes(channels, lanes, target) < min(channels, lanes):
        return False
    return filters % lanes == 0


@dataclass(frozen=True)
class _Tiles:
    """The tiles of all images, and what buffers for some of them take.

    products: along an axis of a tile. step: elements from tile to tile. part: how many columns are multiplied at once,
    at most; transformed data is there for all of them, in the last part too.
    """

    images: int
    rows: int
    columns: int
    tile: int
    products: int
    step: int
    channels: int
    span: int
    lanes: int
    part: int
    last: Last

    @classmethod
    def of(cls, stages: Mapping[str, ComputeOp], last: Last, span: int, lanes: int, part: int) -> _Tiles:
        """Those of a kernel, for so many filters at a time."""
        _, rows, columns, products, _, channels = sizes_of(stages[DATA])
        _, _, (column, _), *_ = stages[ROWS].spatial
        *_, of_column, _ = reads_of(stages[ROWS])[0].indices  # n, step * p + .., step * q + .., c
        tile, step = tile_of(stages), of_column.coefficient(column)
        images = max(last.images, 1)
        sizes = {"images": images, "rows": rows, "columns": columns, "tile": tile, "products": products, "step": step}
        return cls(**sizes, channels=channels, span=span, lanes=lanes, part=part, last=last)

    @property
    def of_image(self) -> int:
        """How many tiles an image has."""
        return self.rows * self.columns

    def products_fit(self, down: int, across: int, most: int) -> bool:
        """Whether a block's products and results take so many bytes at most."""
        return self.products_take(down, across) <= most

    def products_take(self, down: int, across: int) -> int:
        """How many bytes these are."""
        return self._take(down, self._reached(across), 0)

    def all_fit(self, down: int, across: int, most: int) -> bool:
        """Whether these do, and its transformed data."""
        part = balanced(across, self.part)
        across = -(-self._reached(across) // part) * part
        return self._take(down, across, 4 * self.channels * self.products**2) <= most

    def _take(self, down: int, across: int, data: int) -> int:
        multiplied = 4 * self.span * (self.products**2 + self.tile**2)
        image = 4 * self.lanes * self.products * ((across - 1) * self.step + 2 * self.products)
        return down * across * (multiplied + data) + image

    def _reached(self, across: int) -> int:
        """Tiles that are there: of all vectors of a block, where rows of an image are lanes."""
        lane = 1 if self.last.block else lanes_along(across * self.tile, self.lanes)
        return -(-(-(-across * self.tile // lane) * lane) // self.tile)


def _blocks(
    stages: Mapping[str, ComputeOp], last: Last, span: int, lanes: int, at_once: int, target: CpuTarget
) -> Blocks:
    """The largest blocks whose buffers stay near: of single rows of tiles, if these are long enough, or of as many as
    are multiplied at a time, or one for each core; of several images, if these are small.

    at_once: how many tiles are multiplied at a time, at most.
    """
    tiles = _Tiles.of(stages, last, span, lanes, at_once)
    rows, columns, tile = tiles.rows, tiles.columns, tiles.tile
    buffers, work = target.machine.buffers, target.machine.work
    if not rows or not columns:
        return _blocks_of_open_images(tiles, stages, target)
    across = _fitting(columns, lambda n: tiles.all_fit(1, n, buffers.block))
    if tiles.all_fit(1, across, buffers.block) and across >= min(work.tiles_again, tiles.images * tiles.of_image):
        down = max(1, at_once // across) if across == columns else 1
        down = down if tiles.all_fit(down, across, buffers.large_block) and _is_shared(rows, down, target.cores) else 1
        return Blocks(1, down, across, tile, together=False, passes=-(-rows // down) * -(-columns // across))
    down = -(-rows // target.cores)
    if tiles.all_fit(down, columns, buffers.large_block) and _is_sooner(stages, down, span, target):
        return Blocks(1, down, columns, tile, together=False, passes=1)
    return _blocks_of_images(tiles, stages, target)


def _blocks_of_open_images(tiles: _Tiles, stages: Mapping[str, ComputeOp], target: CpuTarget) -> Blocks:
    """Those of images of unknown size: parts of single rows whose buffers stay near."""
    buffers = target.machine.buffers
    if tiles.columns:
        across = _fitting(tiles.columns, lambda n: tiles.all_fit(1, n, buffers.block))
    else:
        fitting = [n for n in range(1, MOST_IN_BLOCK + 1) if tiles.all_fit(1, n, buffers.block)]
        across = max(fitting, key=lambda n: (n // tiles.part, n <= tiles.part, n), default=1)
    rows, columns = (size_of([axis]) for axis in stages[DATA].spatial[1:3])
    return Blocks(1, 1, across, tiles.tile, together=False, passes=rows * -(-columns // across))


def _blocks_of_images(tiles: _Tiles, stages: Mapping[str, ComputeOp], target: CpuTarget) -> Blocks:
    """Those of images with few tiles: as many images as fit, each block by itself or all tiles transformed first."""
    rows, columns, tile = tiles.rows, tiles.columns, tiles.tile
    buffers, work = target.machine.buffers, target.machine.work
    batch, *_, filters = sizes_of(stages[PRODUCT])
    blocks = {n: max(batch // n, 1) for n in range(1, tiles.images + 1) if tiles.images % n == 0}
    near = [n for n in blocks if blocks[n] % target.cores == 0 and tiles.all_fit(n * rows, columns, buffers.block)]
    reading = _Reading.of(stages, filters // tiles.span)
    images = max(near, default=0)
    are_many = batch > 1 and images * tiles.of_image >= work.tiles_again
    if are_many and blocks[images] * reading.weights < reading.all_data:
        return Blocks(images, rows, columns, tile, together=False, passes=1)
    across = _fitting(columns, lambda n: tiles.products_fit(1, n, buffers.block))
    most = _fitting(rows, lambda n: tiles.products_fit(n, across, buffers.large_block)) if across == columns else 1
    down = balanced(rows, most)
    if (down, across) != (rows, columns):
        return Blocks(1, down, across, tile, together=True, passes=1)
    images = _images_together(tiles, reading, blocks, target)
    return Blocks(images, rows, columns, tile, together=True, passes=1)


def _images_together(tiles: _Tiles, reading: _Reading, blocks: Mapping[int, int], target: CpuTarget) -> int:
    """How many images, of those numbers that leave so many blocks, are multiplied after all tiles are transformed."""
    down = {n: n * tiles.rows for n in blocks}
    buffers, work = target.machine.buffers, target.machine.work
    fitting = [n for n in blocks if tiles.products_fit(down[n], tiles.columns, buffers.large_block)] or [1]
    fed = [n for n in fitting if blocks[n] * reading.filter_blocks % target.cores == 0] or fitting
    if (
        reading.weights <= target.cache_bytes[1] * target.machine.caches.weights_again_share
    ):  # they come from the second cache while others are multiplied
        return next((n for n in fed if n * tiles.of_image >= work.tiles_again), fed[-1])
    room = target.near_bytes
    read = {n: reading.of_blocks(blocks[n], room - tiles.products_take(down[n], tiles.columns)) for n in fed}
    return next(n for n in fed if read[n] <= work.images_again * min(read.values()))


@dataclass(frozen=True)
class _Reading:
    """Bytes of all transformed weights and tiles; weights are read in so many blocks of filters."""

    weights: int
    data: int
    filter_blocks: int

    @classmethod
    def of(cls, stages: Mapping[str, ComputeOp], filter_blocks: int) -> _Reading:
        """The costs of a kernel."""
        product = stages[PRODUCT]
        weights = [*product.spatial[3:], *product.reduction]
        return cls(4 * size_of(weights), 4 * size_of(stages[DATA].spatial), filter_blocks)

    @property
    def all_data(self) -> int:
        """The cycles of reading the tiles of all images for each block of filters."""
        return self.data * self.filter_blocks

    def of_blocks(self, count: int, room: int) -> int:
        """The cycles of reading weights for so many blocks of images, and tiles: only once if those of a block have
        room."""
        stay = self.data // count + self.weights // self.filter_blocks <= room
        return self.weights * count + (self.data if stay else self.all_data)


def _is_sooner(stages: Mapping[str, ComputeOp], down: int, span: int, target: CpuTarget) -> bool:
    """Whether a core is done sooner with so many rows of one image for all filters than with all rows for its filters.

    It need not wait for tiles that other cores transform then, but reads their weights as well.
    """
    product, others = stages[PRODUCT], (target.cores - 1) / target.cores
    batch, rows, *_, filters = sizes_of(product)
    if batch != 1 or others == 0:
        return False
    # at best: with what loads cost on Intel's servers rows were taken more often, which took residual networks longer
    multiplying = iterations(product) / target.lanes(32) / target.vectors_per_cycle
    tiles, weights = (4 * size_of(axes) for axes in (stages[DATA].spatial, [*product.spatial[3:], *product.reduction]))
    if weights > target.near_bytes:
        return False
    by_rows = down / rows * multiplying + others * weights / target.bandwidth.shared
    blocks = filters // span
    by_filters = -(-blocks // target.cores) / blocks * multiplying + others * tiles / target.bandwidth.exchange
    return by_rows < by_filters


def _is_shared(rows: int, down: int, cores: int) -> bool:
    """Whether cores that take so many rows at a time are done as soon as with single ones."""
    blocks = -(-rows // down)
    return -(-blocks // cores) * down <= -(-rows // cores)


def _fitting(count: int, fits: Callable[[int], bool]) -> int:
    """The longest blocks that `count` is cut into that fit, at least 1: equal ones, unless these were much shorter."""
    most = max((n for n in range(1, count + 1) if fits(n)), default=1)
    equal = max(n for n in range(1, most + 1) if count % n == 0)
    return equal if 2 * equal >= most else most


def lanes_along(width: int, lanes: int) -> int:
    """The longest vectors that fill a row; full ones with a rest where they would be less than half as long."""
    fitting = max(n for n in range(1, min(width, lanes) + 1) if width % n == 0)
    return fitting if 2 * fitting > min(width, lanes) else min(width, lanes)
