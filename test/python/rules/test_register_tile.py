"""What decides about register tiles: how operands lie, and where they come from."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import TensorType, f32

from tilework.algebra.index_expr import Expr, const, var
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te import ComputeOp
from tilework.dialects.te.builder import KernelBuilder, Reduction, Scalar
from tilework.rules.cpu.costs import reduction_cycles
from tilework.rules.cpu.fetching import Operand
from tilework.rules.cpu.reads import Read, reads_of
from tilework.rules.cpu.register_tile import Tile, choose_tile
from tilework.targets import parse_target

X, Y, R, S = map(var, "xyrs")
N, T = map(var, "NT")
ZNVER4 = "llvm -mcpu=znver4 -cache-sizes=32768,1048576,33554432"


def read(indices: list[Expr], dims: list[int]) -> Read:
    return Read(tuple(indices), tuple(map(const, dims)))


@pytest.mark.parametrize(
    ("indices", "points", "expected"),
    [
        ([Y + R, X + S], {"y": range(4), "r": range(3), "s": range(3)}, 6 * 3),  # windows overlap
        ([2 * Y + R, X], {"y": range(4), "r": range(3)}, 9),
        ([3 * Y + R, X], {"y": range(4), "r": range(3)}, 12),  # they meet
        ([5 * Y + R, X], {"y": range(4), "r": range(3)}, 12),  # or lie apart
        ([Y + R, X], {"y": range(4), "r": range(1 << 20)}, (1 << 20) + 3),
        ([Y, X], {"x": range(0, 32, 16)}, 2),
        ([X // 16, Y, X % 16], {"x": range(0, 32, 16)}, 2),  # of blocks an axis counts once
        ([Y, R], {"s": range(5)}, 1),
    ],
)
def test_elements_read_at_several_points(indices: list[Expr], points: dict[str, range], expected: int):
    assert read(indices, [64] * len(indices)).distinct(points) == expected


@pytest.mark.parametrize(
    ("indices", "dims", "expected"),
    [
        ([Y, X], [8, 64], True),
        ([Y, X], [8, 60], False),  # rows begin anywhere
        ([Y, X + S], [8, 64], False),
        ([Y, X + 16], [8, 64], True),
        ([Y + R, X], [8, 16], True),
    ],
)
def test_vectors_that_begin_with_a_cache_line(indices: list[Expr], dims: list[int], expected: bool):
    assert read(indices, dims).is_aligned("x", 16) == expected


@pytest.mark.parametrize(("row", "count", "expected"), [(1024, 6, 6), (512, 6, 3), (1040, 64, 1), (100, 64, 1)])
def test_rows_that_share_a_place_of_the_cache(row: int, count: int, expected: int):
    assert read([Y, R], [4096, row]).crowd("y", count, 4, parse_target(ZNVER4)) == expected


@pytest.mark.parametrize(
    ("row", "most"), [(1024, 6), (512, 12), (1536, 12), (256, 24), (1040, 64), (1000, 64)], ids=str
)
def test_so_many_rows_leave_room_in_the_cache(row: int, most: int):
    rows, target = read([Y, R], [4096, row]), parse_target(ZNVER4)
    assert not rows.crowds("y", most, 4, target)
    assert rows.crowds("y", most + 1, 4, target) == (most < 64)


def test_waiting_for_an_operand_from_memory():
    shared, again = (Operand(0.5, 0.25, {"y": 8}, stays=stays) for stays in (True, False))
    target = parse_target(ZNVER4)
    alone = again.waiting(1.0, {"y": 8}, target)
    shows = 3 / 16
    assert alone == pytest.approx(shows * 0.5 * 0.5)  # a single pass multiplies long enough
    assert (
        shared.waiting(1.0, {"y": 1}, target) == shared.waiting(1.0, {"y": 8}, target) == alone
    )  # each fetches the next
    first, second = shows * 0.5, shows * 0.25 * 0.5  # as long as multiplying; half as long
    assert again.waiting(1.0, {"y": 4}, target) == pytest.approx(first + second)


def dense_compute(rows: int, columns: int, sums: int) -> ComputeOp:
    k = KernelBuilder("dense")
    x, w = k.argument(TensorType(f32, [rows, sums]), "x"), k.argument(TensorType(f32, [columns, sums]), "w")
    y = k.compute("dense", (rows, columns), lambda i, j: k.sum((sums,), lambda r: x[i, r] * w[j, r]))
    [compute] = k.finish([y]).computes
    return compute


def dense_tile(rows: int, columns: int, sums: int, target: str = ZNVER4) -> Tile:
    compute = dense_compute(rows, columns, sums)
    tile = choose_tile(compute, reads_of(compute, frozenset([1])), parse_target(target))
    assert tile is not None
    return tile


def rows_of(tile: Tile) -> int:
    [rows] = tile.factors.values()
    return rows


def test_weights_that_do_not_stay_are_passed_fewer_times():
    near, far = dense_tile(32, 512, 200), dense_tile(32, 512, 16008)
    assert -(-32 // rows_of(far)) < -(-32 // rows_of(near))


def test_one_matrix_of_several_stays_though_all_of_them_do_not():
    """The heads of attention are multiplied one after the other in a loop around blocks of rows."""
    k = KernelBuilder("heads")
    x, w = k.argument(TensorType(f32, [6, 1500, 1500]), "x"), k.argument(TensorType(f32, [6, 1500, 64]), "w")
    y = k.compute("y", (6, 1500, 64), lambda b, i, j: k.sum((1500,), lambda r: x[b, i, r] * w[b, r, j]))
    [compute] = k.finish([y]).computes
    target = parse_target("llvm -mcpu=skylake-avx512 -num-cores=1 -cache-sizes=32768,1048576,33554432")
    alone = choose_tile(compute, reads_of(compute), target, ("i", 32), fixed=("b",))
    assert alone is not None and alone.lanes == 16 and alone.waiting == 0.0


def test_rows_that_drive_each_other_out_of_the_cache_are_few():
    assert rows_of(dense_tile(96, 512, 1024)) <= 6 < rows_of(dense_tile(96, 512, 1040))


@pytest.mark.parametrize(
    ("cores", "sums", "vectors"),
    [(2, 4096, 4), (4, 4096, 2), (1, 4096, 8), (2, 512, 8), (64, 4096, 2)],  # where more threads are worth it
)
def test_there_is_a_tile_for_every_core(cores: int, sums: int, vectors: int):
    assert dense_tile(1, 128, sums, f"{ZNVER4} -num-cores={cores}").vectors == vectors


def test_no_core_has_a_part_of_a_vector():
    assert dense_tile(1, 16, 1 << 16, f"{ZNVER4} -num-cores=4").lanes == 16


def test_the_estimate_is_that_of_one_core():
    compute = dense_compute(1, 128, 4096)
    targets = [parse_target(f"{ZNVER4} -num-cores={cores}") for cores in (1, 8)]
    alone, one_of_eight = (reduction_cycles(compute, t, {1}) for t in targets)
    assert alone == one_of_eight


def test_tiles_of_a_block_are_those_of_one_core():
    compute = dense_compute(64, 128, 4096)
    targets = [parse_target(f"{ZNVER4} -num-cores={cores}") for cores in (1, 64)]
    alone, one_of_many = (choose_tile(compute, reads_of(compute, {1}), t, ("i", 8)) for t in targets)
    assert alone == one_of_many


def filters_tile(points: int) -> Tile:
    k = KernelBuilder("filters")
    x, w = k.argument(TensorType(f32, [64, points]), "x"), k.argument(TensorType(f32, [64, 64]), "w")
    y = k.compute("filters", (64, points), lambda o, p: k.sum((64,), lambda c: x[c, p] * w[o, c]))
    [compute] = k.finish([y]).computes
    tile = choose_tile(compute, reads_of(compute, frozenset([1])), parse_target(ZNVER4))
    assert tile is not None
    return tile


@pytest.mark.parametrize(
    ("points", "vector", "row"),
    [
        (7, "o", "p"),  # lanes along a row of 7 would be few; 7 vectors of filters are 16 rows
        (64, "p", None),  # lanes are side by side
        (3, "o", None),  # too few to be transposed
    ],
)
def test_results_that_are_transposed_to_be_stored_in_rows(points: int, vector: str, row: str | None):
    tile = filters_tile(points)
    assert (tile.vector, tile.row) == (vector, row)


@pytest.mark.parametrize(("filters", "slots"), [(128, 1.0), (16, 1.0), (8, 1.0), (12, 12.0), (4, 12.0)])
def test_a_channel_of_a_group_is_one_element_for_lanes_of_its_filters(filters: int, slots: float):
    """Where vectors are whole parts of a group; else lanes are loaded one by one."""
    channels = read([X // filters * 3 + R, Y], [96, 27])
    assert channels.cost("x", 8, 48, parse_target(ZNVER4)) == slots
    assert channels.is_apart("x", 8, 48) == (slots > 1.0)


def test_filters_of_groups_are_lanes():
    """Although rows of 27 could be: the weights may be packed."""
    k = KernelBuilder("conv")
    x, w = k.argument(TensorType(f32, (96, 31, 31)), "x"), k.argument(TensorType(f32, (256, 48, 5, 5)), "w")

    def element(o: Expr, y: Expr, x_: Expr):
        return k.sum((48, 5, 5), lambda c, s, t: x[o // 128 * 48 + c, y + s, x_ + t] * w[o, c, s, t])

    compute = k.finish([k.compute("conv", (256, 27, 27), element)]).computes[0]
    tile = choose_tile(compute, reads_of(compute, {1}), parse_target("llvm -mcpu=haswell"))
    assert tile is not None and tile.vector == compute.spatial[0][0] and tile.span == 16


@pytest.mark.parametrize(("size", "rows"), [(112, 6), (14, 6), (7, 7)])
def test_straight_line_windows_leave_registers_for_weights_that_the_next_tile_reads(size: int, rows: int):
    """Nine of them, beside the results and the image's rows; where a tile is all of an image, the next has others."""
    k = KernelBuilder("depthwise")
    x, w = k.argument(TensorType(f32, (32, size + 2, size + 2)), "x"), k.argument(TensorType(f32, (32, 3, 3)), "w")

    def element(c: Expr, y: Expr, x_: Expr):
        return k.sum((3, 3), lambda s, t: x[c, y + s, x_ + t] * w[c, s, t])

    compute = k.finish([k.compute("depthwise", (32, size, size), element)]).computes[0]
    tile = choose_tile(compute, reads_of(compute), parse_target(ZNVER4))
    assert tile is not None and tile.straight
    assert tile.factors == {"y": rows}


def test_straight_line_windows_leave_registers_for_pixels_that_several_taps_read():
    """Filters are lanes; each pixel is for all of them."""
    k = KernelBuilder("conv")
    x, w = k.argument(TensorType(f32, (3, 226, 226)), "x"), k.argument(TensorType(f32, (3, 3, 3, 16)), "w")

    def element(y: Expr, x_: Expr, o: Expr):
        return k.sum((3, 3, 3), lambda c, s, t: x[c, 2 * y + s, 2 * x_ + t] * w[c, s, t, o])

    compute = k.finish([k.compute("conv", (112, 112, 16), element)]).computes[0]
    tile = choose_tile(compute, reads_of(compute), parse_target(ZNVER4))
    assert tile is not None
    assert tile.accumulators < 28 or not tile.straight


def test_windows_are_no_straight_line_code_where_their_weights_would_be_on_the_stack():
    """Those of 12 filters for each of 27 taps: tiles along a row of pixels all read them."""
    k = KernelBuilder("conv")
    x, w = k.argument(TensorType(f32, (3, 226, 226)), "x"), k.argument(TensorType(f32, (24, 3, 3, 3)), "w")

    def element(o: Expr, y: Expr, x_: Expr):
        return k.sum((3, 3, 3), lambda c, s, t: x[c, 2 * y + s, 2 * x_ + t] * w[o, c, s, t])

    compute = k.finish([k.compute("conv", (24, 112, 112), element)]).computes[0]
    tile = choose_tile(compute, reads_of(compute), parse_target(ZNVER4))
    assert tile is not None and tile.accumulators == 24 and not tile.straight


@pytest.mark.parametrize(("axis", "expected"), [("x", True), ("y", False), ("s", True)])
def test_steps_along_an_axis_are_known_where_what_is_inside_it_is(axis: str, expected: bool):
    assert Read((R, Y, X), (N, const(8), N)).has_known_steps(axis) == expected


def images_tile(rows: int, columns: int, cpu: str) -> Tile:
    """The tile of [n, i, j] = sum of x[n, i, k] * w[k, j] for an unknown number of images."""
    k = KernelBuilder("images")
    x, w = k.argument(tensor_type([N, rows, 64], f32), "x"), k.argument(TensorType(f32, (64, columns)), "w")

    def element(n: Expr, i: Expr, j: Expr) -> Reduction:
        def term(r: Expr) -> Scalar:
            return x[n, i, r] * w[r, j]

        return k.sum((64,), term)

    [compute] = k.finish([k.compute("images", (N, rows, columns), element)]).computes
    tile = choose_tile(compute, reads_of(compute), parse_target(f"llvm -mcpu={cpu}"))
    assert tile is not None
    return tile


@pytest.mark.parametrize("cpu", ["x86-64", "haswell", "znver4"])
@pytest.mark.parametrize("columns", [16, 64, 100])
def test_axes_of_unknown_extent_are_tiled_by_few_factors(columns: int, cpu: str):
    """Their extents are multiples of these more often than of others."""
    tile = images_tile(1, columns, cpu)
    assert tile.vector == "j" and tile.factors["n"] in (4, 8)


@pytest.mark.parametrize("cpu", ["x86-64", "haswell", "znver4"])
@pytest.mark.parametrize("rows", [8, 12, 16])
def test_axes_of_unknown_extent_stay_whole_where_known_ones_are_long_enough(rows: int, cpu: str):
    tile = images_tile(rows, 64, cpu)
    assert tile.vector == "j" and tile.extent("n") == 1 < tile.extent("i")


def test_axes_of_unknown_extent_are_tiled_beside_short_ones():
    tile = images_tile(2, 16, "znver4")
    assert tile.factors == {"n": 8, "i": 2}


def test_a_tile_has_vectors_enough_where_unknown_axes_have_one_element():
    """With two of them and eight images, sums would wait for those before as soon as there is one image."""
    tile = images_tile(1, 64, "znver4")
    assert (tile.vectors, tile.factors) == (4, {"n": 4})


def scores_tile(cpu: str, *, transposed: bool) -> Tile:
    """The tile of [i, j] = sum of q[i, d] * k[d, j], both sizes unknown; transposed, columns are stored as rows."""
    k = KernelBuilder("scores")
    q, w = k.argument(tensor_type([N, 64], f32), "q"), k.argument(tensor_type([64, T], f32), "k")

    def rows(i: Expr, j: Expr) -> Reduction:
        def term(d: Expr) -> Scalar:
            return q[i, d] * w[d, j]

        return k.sum((64,), term)

    def columns(j: Expr, i: Expr) -> Reduction:
        return rows(i, j)

    y = k.compute("scores", (T, N) if transposed else (N, T), columns if transposed else rows)
    [compute] = k.finish([y]).computes
    tile = choose_tile(compute, reads_of(compute), parse_target(f"llvm -mcpu={cpu}"))
    assert tile is not None and tile.vector == "j"
    return tile


@pytest.mark.parametrize(
    ("cpu", "transposed", "expected"),
    [
        ("haswell", False, True),
        ("znver4", False, True),
        ("x86-64", False, False),  # loads have no masks
        ("haswell", True, False),  # results are stored an unknown distance apart
        ("znver4", True, False),
    ],
)
def test_several_vectors_along_an_unknown_axis_need_masks_and_known_steps(cpu: str, transposed: bool, expected: bool):
    tile = scores_tile(cpu, transposed=transposed)
    assert (tile.aligned, tile.vectors > 1) == (expected, expected)


def points_tile(points: Expr, cpu: str, *, rows: bool) -> Tile:
    """The tile of 64 filters at the points of an image, which lie side by side, or each in a row of its channels."""
    k = KernelBuilder("points")
    x = k.argument(tensor_type([points, 64] if rows else [64, points], f32), "x")
    w = k.argument(TensorType(f32, (64, 64)), "w")

    def of_rows(p: Expr, o: Expr) -> Reduction:
        def term(c: Expr) -> Scalar:
            return x[p, c] * w[c, o]

        return k.sum((64,), term)

    def side_by_side(o: Expr, p: Expr) -> Reduction:
        def term(c: Expr) -> Scalar:
            return x[c, p] * w[o, c]

        return k.sum((64,), term)

    y = k.compute("points", (points, 64) if rows else (64, points), of_rows if rows else side_by_side)
    [compute] = k.finish([y]).computes
    tile = choose_tile(compute, reads_of(compute, {1}), parse_target(f"llvm -mcpu={cpu}"))
    assert tile is not None
    return tile


@pytest.mark.parametrize(("points", "vectors"), [(N, 1), (N * T, 3), (9 * T, 3)], ids=str)
def test_points_of_an_image_are_more_than_a_symbol_usually_is(points: Expr, vectors: int):
    """Vectors along them are rarely a rest."""
    tile = points_tile(points, "znver4", rows=False)
    assert (tile.vector, tile.vectors) == ("p", vectors)


@pytest.mark.parametrize("cpu", ["haswell", "znver4"])
@pytest.mark.parametrize("points", [N * T, 9 * T, (T + 1) // 2], ids=str)
def test_points_of_an_image_are_not_single_where_symbols_are_1(points: Expr, cpu: str):
    """A single word has few products, for which sums wait; an image of one point is no use."""
    words, pixels = (points_tile(extent, cpu, rows=True) for extent in (N, points))
    assert words.vector == pixels.vector == "o"
    assert pixels.factors["p"] >= words.factors["p"] == 4
    assert pixels.factors["p"] > 4 or cpu == "haswell"
