"""What a kernel of a product by Strassen's algorithm consists of, and how its rows are taken in blocks."""

from __future__ import annotations

from dataclasses import dataclass

from tilework.algebra.index_expr import Expr, var
from tilework.algebra.strassen import PRODUCTS
from tilework.dialects.te import ComputeOp, KernelOp
from tilework.rules.cpu.fast_products import NEAR_BYTES, PLENTY_BYTES, balanced, inlined_stages, sizes_of
from tilework.rules.cpu.reads import bits_of
from tilework.targets.target import Target

DATA, PRODUCT, RESULT = STAGES = "strassen_data", "strassen_product", "strassen_result"


@dataclass(frozen=True)
class Blocks:
    """Rows of a quarter are taken in blocks of `rows`.

    together: all sums of quarters are there before any is multiplied; else each block's by itself, for all weights.
    again: bytes of either that are read once more than the other way round.
    """

    rows: int
    together: bool
    again: int


@dataclass(frozen=True)
class StrassenForm:
    """The stages by what they compute, once those `inlined` are.

    images: whether the last one is an image in blocks of channels; else its last axes are rows and outputs. A product
    is computed for `rows` rows and `vectors` of `lanes` outputs at a time.
    """

    inlined: list[str]
    data: ComputeOp
    product: ComputeOp
    final: ComputeOp
    images: bool
    lanes: int
    vectors: int
    blocks: Blocks
    rows: int

    @property
    def span(self) -> int:
        """Outputs at a time."""
        return self.lanes * self.vectors

    @property
    def quarter(self) -> tuple[int, int]:
        """Rows and outputs of a quarter."""
        *_, rows, outputs = sizes_of(self.product)
        return rows, outputs


def strassen_form(kernel: KernelOp, target: Target) -> StrassenForm | None:
    """The form of a kernel, None if it is another, its sizes are not known, or do not fill vectors and blocks."""
    found = inlined_stages(kernel, STAGES)
    if found is None:
        return None
    inlined, stages, final = found
    data, product, result = (stages[name] for name in STAGES)
    lanes, channels = target.lanes(bits_of(final.result.type)), sizes_of(data)[-1]
    *batch, _, rows, outputs = sizes_of(product)
    images = len(final.spatial) == len(batch) + 4 and sizes_of(final)[-1] == lanes
    if 0 in (*batch[1:], rows, outputs, channels) or outputs % lanes or channels % lanes:
        return None
    if not any(r.tensor == result.result and r.exprs == _taken(final, images) for r in final.reads):
        return None
    vectors = 1 if outputs % (2 * lanes) else 2
    registers = (target.vector_registers - 2 - vectors) // vectors
    blocks = _blocks(rows, outputs, channels, vectors * lanes, registers, target)
    if not _is_long(blocks.rows, rows, registers):
        return None
    at_once = balanced(blocks.rows, registers)
    return StrassenForm([*inlined, RESULT], data, product, final, images, lanes, vectors, blocks, at_once)


def _taken(final: ComputeOp, images: bool) -> tuple[Expr, ...]:
    """Where the last stage should read the result."""
    axes = [var(name) for name, _ in final.spatial]
    if not images:
        return tuple(axes)
    *batch, o, y, x, lane = axes
    *_, (_, width), (_, lanes) = final.spatial
    return (*batch, y * width + x, o * lanes + lane)


def _blocks(rows: int, outputs: int, channels: int, span: int, registers: int, target: Target) -> Blocks:
    """As large as stays near: products of a block, and its sums of quarters unless all of these come first.

    Sizes are those of a quarter.
    """
    each = 4 * PRODUCTS  # bytes for one element of a quarter
    together = _shared(rows, NEAR_BYTES // each // span, registers, outputs // span, target.cores)
    alone = _alone(rows, each * (span + channels), registers, target.cores)
    stays = each * rows * channels <= target.cache_bytes[1] * 3 // 4
    data_again = 0 if stays else each * (outputs // span - 1) * rows * channels
    weights_again = each * (rows // alone - 1) * outputs * channels if alone else data_again
    exchanged = each * rows * channels * (target.cores - 1) // target.cores
    speed = target.bandwidth
    is_together = not alone or data_again / speed.shared + exchanged / speed.exchange <= weights_again / speed.shared
    return Blocks(together, True, data_again) if is_together else Blocks(alone, False, weights_again)


def _alone(rows: int, each: int, registers: int, cores: int) -> int:
    """The longest blocks whose sums and products, `each` bytes a row, stay near; one for each core may take more.

    0 where these are too short to multiply with.
    """
    own = rows // cores if rows % cores == 0 else 0
    if not own or _with_room(own, registers) * each > PLENTY_BYTES:
        own = _shared(rows, NEAR_BYTES // each, registers, 1, cores)
    return own if _is_long(own, rows, registers) else 0


def _shared(rows: int, most: int, registers: int, tasks: int, cores: int) -> int:
    """The longest equal blocks of rows that fit, unless cores share some half as long better; 0 if none fits.

    Products are computed for so many rows at a time as there are `registers`; with the last of them, a block has room
    for at most so many. tasks: for each block.
    """
    sizes = [n for n in range(1, min(rows, most) + 1) if rows % n == 0 and _with_room(n, registers) <= most]
    long = [n for n in sizes if 2 * n >= sizes[-1]]
    return min(long, key=lambda n: (-(-rows // n * tasks // cores) * n, -n), default=0)


def _is_long(block: int, rows: int, registers: int) -> bool:
    """Whether a block of so many rows fills half of the registers, or is all of them."""
    return 2 * block >= min(rows, registers)


def _with_room(rows: int, registers: int) -> int:
    at_once = balanced(rows, registers)
    return -(-rows // at_once) * at_once
