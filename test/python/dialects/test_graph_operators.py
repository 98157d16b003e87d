"""What the cross-check against ONNX does not show: symbolic sizes, NaN and infinity, empty tensors, the base class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from operator_definitions import by_definition, make, tensor
from xdsl.dialects.builtin import (
    BoolAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    Signedness,
    StringAttr,
    TensorType,
    UnitAttr,
    f32,
    i32,
    i64,
)
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute, Operation
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.errors import TileworkError
from tilework.algebra.index_expr import ExprLike, var
from tilework.dialects import graph
from tilework.dialects.graph.base import GraphOp, ints, numpy_dtype
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.shapes import dims_of, tensor_type
from tilework.dialects.te import IfThenElseOp
from tilework.dialects.te.builder import KernelBuilder
from tilework.rules.algorithms.winograd import Winograd

N, M = var("N"), var("M")
YES, NO = BoolAttr.from_bool(True), BoolAttr.from_bool(False)


def f(value: float) -> FloatAttr[Any]:
    return FloatAttr(value, f32)


def pool(kernel: int, stride: int, *pads: int, ceil_mode: BoolAttr = NO) -> dict[str, Attribute]:
    return {
        "kernel": ints([kernel] * 2),
        "strides": ints([stride] * 2),
        "pads": ints(pads),
        "dilations": ints([1, 1]),
        "ceil_mode": ceil_mode,
    }


def resize(*shape: ExprLike, mode: str, **coefficient: Attribute) -> dict[str, Attribute]:
    """Resize by 3/2 along the first axis, by 2 along the second, pixels being centred."""
    numbers = {"steps": ints([4, 2]), "offsets": ints([-1, -1]), "divisors": ints([6, 4])}
    return {"shape": DimsAttr.of(shape), "mode": StringAttr(mode), **numbers, **coefficient}


CONV = {"strides": ints([2, 1]), "pads": ints([1, 0, 1, 2]), "dilations": ints([1, 2]), "groups": IntegerAttr(2, i64)}

SYMBOLIC: list[tuple[type[GraphOp], list[TensorType[Attribute]], dict[str, Attribute]]] = [
    (graph.ConvOp, [tensor(N, 4, 9, 7), tensor(6, 2, 3, 3)], CONV),
    (graph.ConvOp, [tensor(1, 4, N + 2, M + 5), tensor(6, 2, 3, 3)], CONV),
    (graph.MaxPoolOp, [tensor(1, 2, N + 2, M + 2)], pool(3, 2, 1, 0, 1, 1)),
    (graph.AveragePoolOp, [tensor(1, 2, N + 2, M + 2)], pool(3, 2, 1, 0, 1, 1, ceil_mode=YES) | {"count_padding": NO}),
    (graph.MaxPoolOp, [tensor(1, 2, 2, 2)], pool(3, 2, 0, 0, 0, 0, ceil_mode=YES)),  # reaches beyond the data
    (graph.BatchNormOp, [tensor(N, 3, M), *[tensor(3)] * 4], {"epsilon": f(0.1)}),
    (graph.SoftmaxOp, [tensor(N, M)], {"axis": IntegerAttr(1, i64)}),
    (graph.DenseOp, [tensor(N, 5), tensor(3, 5)], {}),
    (graph.MatmulOp, [tensor(N, M, 5), tensor(5, M)], {}),
    (graph.AddOp, [tensor(N, 1, M), tensor(M)], {}),
    (graph.ReshapeOp, [tensor(N, 3, 4)], {"shape": DimsAttr.of([N, 12])}),
    (graph.ReshapeOp, [tensor(N, 3, 4)], {"shape": DimsAttr.of([N * 3, 2, 2])}),
    (graph.ReshapeOp, [tensor(N, 3, M, 4)], {"shape": DimsAttr.of([N, 3, M * 4])}),
    (graph.ReshapeOp, [tensor(2, N, M)], {"shape": DimsAttr.of([M * 2, N])}),
    (graph.TransposeOp, [tensor(N, 3, M)], {"permutation": ints([2, 0, 1])}),
    (graph.ConcatOp, [tensor(2, N), tensor(2, M), tensor(2, 3)], {"axis": IntegerAttr(1, i64)}),
    (graph.PackOp, [tensor(N, 6, M)], {"axis": IntegerAttr(1, i64), "block": IntegerAttr(3, i64)}),
    (graph.PackOp, [tensor(N, 5, M)], {"axis": IntegerAttr(1, i64), "block": IntegerAttr(3, i64)}),
    (graph.UnpackOp, [tensor(N, 2, M, 3)], {"axis": IntegerAttr(1, i64), "size": IntegerAttr(6, i64)}),
    (graph.UnpackOp, [tensor(N, 2, M, 3)], {"axis": IntegerAttr(1, i64), "size": IntegerAttr(5, i64)}),
    (graph.WinogradWeightOp, [tensor(N, M, 3, 3)], {"tile": IntegerAttr(4, i64), "stride": IntegerAttr(1, i64)}),
    (
        graph.WinogradConvOp,
        [tensor(N, 2, 5, M + 2), tensor(3, 6, 6, 2)],
        {"tile": IntegerAttr(4, i64), "stride": IntegerAttr(1, i64), "pads": ints([1, 0, 1, 2])},
    ),
    (graph.WinogradWeightOp, [tensor(N, M, 2, 3, 3)], {"tile": IntegerAttr(2, i64), "stride": IntegerAttr(1, i64)}),
    (
        graph.WinogradConvOp,
        [tensor(N, 2, 7, 5, M + 2), tensor(3, 4, 4, 6)],
        {
            "tile": IntegerAttr(2, i64),
            "stride": IntegerAttr(1, i64),
            "pads": ints([1, 0, 1, 2]),
            "slices": ints([3, 2, 0, 1]),
        },
    ),
    (
        graph.WinogradWeightOp,
        [tensor(N, M, 3, 3)],
        {"tile": IntegerAttr(3, i64), "stride": IntegerAttr(2, i64), "phases_as_channels": UnitAttr()},
    ),
    (
        graph.WinogradConvOp,
        [tensor(N, 3, 5, M + 2), tensor(5, 4, 4, 12)],
        {
            "tile": IntegerAttr(3, i64),
            "stride": IntegerAttr(2, i64),
            "pads": ints([1, 0, 1, 2]),
            "phases_as_channels": UnitAttr(),
        },
    ),
    (graph.StrassenDenseOp, [tensor(N, M, 4), tensor(3, 7, 2)], {}),
    (graph.StrassenDenseOp, [tensor(N, M, 4), tensor(2, 7, 7, 1)], {}),
    (graph.StrassenWeightOp, [tensor(4, 8)], {"levels": IntegerAttr(2, i64)}),
    (graph.StrassenWeightOp, [tensor(4, 2, 1, 1)], {"levels": IntegerAttr(1, i64)}),
    (graph.StrassenConvOp, [tensor(N, 4, 5, M), tensor(3, 7, 2)], {"strides": ints([2, 1])}),
    (graph.PadOp, [tensor(N, M)], {"pads": ints([1, 0, 0, 2]), "value": f(7.0)}),
    (graph.BroadcastOp, [tensor(N, 1, M)], {"shape": DimsAttr.of([2, N, N, M])}),
    (graph.ExtendOp, [tensor(N, M + 2)], {"pads": ints([2, 1, 3, 2]), "mode": StringAttr("edge")}),
    (graph.ExtendOp, [tensor(N, M + 2)], {"pads": ints([0, 1, 0, 2]), "mode": StringAttr("reflect")}),
    (graph.ResizeOp, [tensor(N + 1, 2 * M)], resize((N * 3 + 3) // 2, 4 * M, mode="nearest")),
    (graph.ResizeOp, [tensor(N + 1, 2 * M)], resize((N * 3 + 3) // 2, 4 * M, mode="linear")),
    (graph.ResizeOp, [tensor(N + 1, 2 * M)], resize((N * 3 + 3) // 2, 4 * M, mode="cubic", coefficient=f(-0.5))),
    (graph.ReduceMeanOp, [tensor(N, 3, M)], {"axes": ints([0, 2]), "keep_dims": YES}),
    (graph.ReduceMaxOp, [tensor(N, 3, M)], {"axes": ints([0, 2]), "keep_dims": NO}),
]


@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 5), (7, 2)])
@pytest.mark.parametrize(("kind", "types", "properties"), SYMBOLIC, ids=lambda value: getattr(value, "name", ""))
def test_symbolic_sizes(
    kind: type[GraphOp], types: list[TensorType[Attribute]], properties: dict[str, Attribute], n: int, m: int
):
    op = make(kind, types, **properties)
    op.verify()
    rng = np.random.default_rng(n)
    arrays = [
        rng.uniform(0.5, 1.5, [d.evaluate({"N": n, "M": m}) for d in op.dims(i)]).astype(np.float32)
        for i in range(len(types))
    ]
    meaning = np.asarray(op.evaluate(*arrays))
    (result,) = op.result_types
    assert list(meaning.shape) == [d.evaluate({"N": n, "M": m}) for d in dims_of(result)]
    largest = np.abs(meaning).max(initial=1)  # Winograd adds and subtracts terms as large as the largest result.
    np.testing.assert_allclose(by_definition(op, *arrays), meaning, rtol=1e-5, atol=1e-7 * largest)


SPECIAL = np.array([np.nan, np.inf, -np.inf, -1.0, 2.0, -0.0], np.float32)


@pytest.mark.parametrize(
    ("kind", "properties", "expected"),
    [
        (graph.ReluOp, {}, [np.nan, np.inf, 0, 0, 2, 0]),
        (graph.LeakyReluOp, {"alpha": f(0.5)}, [np.nan, np.inf, -np.inf, -0.5, 2, 0]),
        (graph.ClipOp, {"low": f(0.0), "high": f(1.0)}, [np.nan, 1, 0, 0, 1, 0]),
        (graph.ClipOp, {"low": f(0.0)}, [np.nan, np.inf, 0, 0, 2, 0]),
        (graph.SigmoidOp, {}, [np.nan, 1, 0, 0.26894142, 0.880797, 0.5]),
        (graph.EluOp, {"alpha": f(2.0)}, [np.nan, np.inf, -2, -1.2642411, 2, 0]),
    ],
)
def test_nan_and_infinity_pass(kind: type[GraphOp], properties: dict[str, Attribute], expected: list[float]):
    op = make(kind, [tensor(6)], **properties)
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(op.evaluate(SPECIAL), expected, rtol=1e-6)
        np.testing.assert_allclose(by_definition(op, SPECIAL), expected, rtol=1e-6)


def test_nan_wins_every_maximum():
    image = np.zeros((1, 1, 2, 4), np.float32)
    image[0, 0, 0, 0], image[0, 0, :, 2:] = np.nan, -np.inf
    pooled = make(graph.MaxPoolOp, [tensor(1, 1, 2, 4)], **pool(2, 2, 0, 0, 0, 0))
    reduced = make(graph.ReduceMaxOp, [tensor(1, 1, 2, 4)], axes=ints([2, 3]), keep_dims=NO)
    larger = make(graph.MaxOp, [tensor(1, 1, 2, 4)] * 2)
    for result in (pooled.evaluate(image), by_definition(pooled, image)):
        np.testing.assert_array_equal(result, [[[[np.nan, -np.inf]]]])
    for result in (reduced.evaluate(image), by_definition(reduced, image)):
        np.testing.assert_array_equal(result, [[np.nan]])
    for result in (larger.evaluate(image, image * 0), by_definition(larger, image, image * 0)):
        assert np.isnan(np.asarray(result)[0, 0, 0, 0])


def test_extremum_of_nothing_is_an_infinity():
    op = make(graph.ReduceMaxOp, [tensor(2, 0)], axes=ints([1]), keep_dims=NO)
    nothing = np.zeros((2, 0), np.float32)
    np.testing.assert_array_equal(op.evaluate(nothing), [-np.inf, -np.inf])
    np.testing.assert_array_equal(by_definition(op, nothing), [-np.inf, -np.inf])


def test_concat_chooses_by_bisection():
    """A chain of 100 choices would be too deep for what walks it."""
    k = KernelBuilder("concat")
    op = make(graph.ConcatOp, [tensor(2, 1)] * 100, axis=IntegerAttr(1, i64))
    op.define(k, *(k.argument(t, f"x{i}") for i, t in enumerate(op.operand_types)))
    [choice, _] = next(iter(k.block.ops)).regions[0].block.ops
    assert _depth(choice) == 7
    columns = list(np.arange(200, dtype=np.float32).reshape(100, 2, 1))
    np.testing.assert_array_equal(by_definition(op, *columns), op.evaluate(*columns))


def _depth(op: Operation) -> int:
    inner = (_depth(o) for region in op.regions for o in region.block.ops)
    return max(inner, default=0) + isinstance(op, IfThenElseOp)


def test_packing_of_nothing():
    nothing = np.zeros((8, 0), np.float32)
    pack = make(graph.PackOp, [tensor(8, 0)], axis=IntegerAttr(0, i64), block=IntegerAttr(4, i64))
    packed = np.asarray(pack.evaluate(nothing))
    assert packed.shape == (2, 0, 4)
    unpack = make(graph.UnpackOp, [tensor(2, 0, 4)], axis=IntegerAttr(0, i64), size=IntegerAttr(8, i64))
    assert np.asarray(unpack.evaluate(packed)).shape == (8, 0)


def test_softmax_does_not_overflow():
    op = make(graph.SoftmaxOp, [tensor(1, 2)], axis=IntegerAttr(1, i64))
    large = np.array([[1e4, 1e4]], np.float32)
    np.testing.assert_array_equal(op.evaluate(large), [[0.5, 0.5]])
    np.testing.assert_array_equal(by_definition(op, large), [[0.5, 0.5]])


def test_gather_stays_in_range():
    op = make(graph.GatherOp, [tensor(N), tensor_type([6], i64)], axis=IntegerAttr(0, i64))
    table, indices = np.array([10, 20, 30], np.float32), np.array([-(2**62), -4, -3, 2, 3, 2**62])
    expected = [10, 10, 10, 30, 30, 30]
    np.testing.assert_array_equal(op.evaluate(table, indices), expected)
    np.testing.assert_array_equal(by_definition(op, table, indices), expected)


@pytest.mark.parametrize("combine", ["replace", "add", "mul", "max", "min"])
@pytest.mark.parametrize(("named", "new", "axis"), [((5, 1), (5, 4), 0), ((5, 4), (5, 4), 0), ((2, 9), (2, 9), 1)])
@pytest.mark.parametrize("dtype", [f32, i32, IntegerType(8, Signedness.UNSIGNED)], ids=str)
def test_scatter(combine: str, named: tuple[int, ...], new: tuple[int, ...], axis: int, dtype):
    """One update after the other; what is out of range, however far, changes nothing."""
    types = [tensor_type((3, 4), dtype), tensor_type(named, i64), tensor_type(new, dtype)]
    op = make(graph.ScatterOp, types, axis=IntegerAttr(axis, i64), combine=StringAttr(combine))
    rng = np.random.default_rng(0)
    x, updates = (rng.integers(0, 4, dims).astype(numpy_dtype(dtype)) for dims in ((3, 4), new))
    indices = rng.choice([-(2**63), -5, -4, -1, 0, 0, 1, 2, 2**63 - 1], named)
    expected = x.copy()
    joined = {"replace": lambda a, b: b, "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum}
    for i in np.ndindex(*new):
        at = int(np.broadcast_to(indices, new)[i])
        at += x.shape[axis] if at < 0 else 0
        place = (at, i[1]) if axis == 0 else (i[0], at)
        if 0 <= at < x.shape[axis]:
            expected[place] = joined[combine](expected[place], updates[i])
    np.testing.assert_array_equal(op.evaluate(x, indices, updates), expected)
    np.testing.assert_array_equal(by_definition(op, x, indices, updates), expected)


def test_operands_get_no_use_from_inference():
    source = TestOp(result_types=[tensor(3)])
    op = graph.ReluOp.of(source.results[0])
    assert [use.operation for use in source.results[0].uses] == [op]


def test_refused_operands_get_no_use():
    source = TestOp(result_types=[tensor(3), tensor(4)])
    with pytest.raises(VerifyException, match="do not broadcast: 3 is not 4"):
        graph.AddOp.of(*source.results)
    assert not any(list(value.uses) for value in source.results)


def test_every_operator_has_a_docstring_and_a_category():
    for op in graph.OPERATORS:
        has_category = hasattr(op, "CATEGORY") or op.category is not GraphOp.category
        assert op.__doc__ and has_category, op.name


@pytest.mark.parametrize(
    ("window", "tile", "stride"),
    [(3, 2, 1), (3, 4, 1), (5, 2, 1), (2, 3, 1), (2, 5, 1), (3, 2, 2), (3, 4, 2), (5, 3, 2), (2, 2, 2), (5, 2, 3)],
)
@pytest.mark.parametrize(
    ("height", "width", "pads"), [(9, 7, (1, 1, 1, 1)), (5, 16, (0, 0, 0, 0)), (6, 5, (2, 0, 1, 3))]
)
def test_winograd_is_convolution(window: int, tile: int, stride: int, height: int, width: int, pads: tuple[int, ...]):
    image, weight = tensor(2, 3, height, width), tensor(4, 3, window, window)
    rng = np.random.default_rng(window * tile)
    x, w = (rng.standard_normal([d.offset for d in dims_of(t)], np.float32) for t in (image, weight))
    form = {"tile": IntegerAttr(tile, i64), "stride": IntegerAttr(stride, i64)}
    transform = make(graph.WinogradWeightOp, [weight], **form)
    conv = make(graph.WinogradConvOp, [image, transform.result.type], **form, pads=ints(pads))
    ones = {"strides": ints([stride, stride]), "dilations": ints([1, 1]), "groups": IntegerAttr(1, i64)}
    direct = make(graph.ConvOp, [image, weight], pads=ints(pads), **ones)
    assert conv.result.type == direct.result.type
    found, expected = conv.evaluate(x, transform.evaluate(w)), direct.evaluate(x, w)
    np.testing.assert_allclose(found, expected, atol=2e-5 * float(np.abs(expected).max()))


@pytest.mark.parametrize(
    ("window", "tile", "stride"), [(3, 4, 2), (4, 2, 2), (7, 3, 2), (7, 4, 2), (5, 3, 3), (8, 4, 4)]
)
@pytest.mark.parametrize(
    ("height", "width", "pads"), [(13, 11, (1, 1, 1, 1)), (8, 23, (0, 0, 0, 0)), (9, 8, (2, 0, 1, 3))]
)
def test_phases_may_be_channels(window: int, tile: int, stride: int, height: int, width: int, pads: tuple[int, ...]):
    """The compiler makes it so, of windows whose missing taps meet padding."""
    image, weight = tensor(2, 3, height, width), tensor(4, 3, window, window)
    ones = {"strides": ints([stride, stride]), "dilations": ints([1, 1]), "groups": IntegerAttr(1, i64)}
    direct = make(graph.ConvOp, [image, weight], pads=ints(pads), **ones)
    algorithm = Winograd(tile, phases=True)
    [transform] = algorithm.transform(direct.weight, direct)
    [conv] = algorithm.multiply(direct, transform.results[0])
    assert isinstance(transform, graph.WinogradWeightOp) and isinstance(conv, graph.WinogradConvOp)
    assert conv.results[0].type == direct.result.type
    rng = np.random.default_rng(window * tile)
    x, w = (rng.standard_normal([d.offset for d in dims_of(t)], np.float32) for t in (image, weight))
    found, expected = conv.evaluate(x, transform.evaluate(w)), direct.evaluate(x, w)
    np.testing.assert_allclose(found, expected, atol=2e-5 * float(np.abs(expected).max()))


@pytest.mark.parametrize(
    ("taps", "move", "dilation", "pads"), [(3, 1, 1, (1, 1)), (2, 3, 1, (0, 2)), (3, 2, 2, (1, 3))]
)
@pytest.mark.parametrize("phases", [False, True])
def test_winograd_along_the_last_two_of_three_axes(
    taps: int, move: int, dilation: int, pads: tuple[int, int], phases: bool
):
    image, weight = tensor(2, 3, 7, 9, 8), tensor(4, 3, taps, 3, 3)
    stride, (front, behind) = 2 if phases else 1, pads
    form = {"strides": ints([move, stride, stride]), "dilations": ints([dilation, 1, 1]), "groups": IntegerAttr(1, i64)}
    direct = make(graph.ConvOp, [image, weight], pads=ints([front, 1, 0, behind, 1, 2]), **form)
    algorithm = Winograd(2, phases)
    [transform] = algorithm.transform(direct.weight, direct)
    [conv] = algorithm.multiply(direct, transform.results[0])
    assert isinstance(transform, graph.WinogradWeightOp) and isinstance(conv, graph.WinogradConvOp)
    assert conv.results[0].type == direct.result.type
    rng = np.random.default_rng(taps)
    x, w = (rng.standard_normal([d.offset for d in dims_of(t)], np.float32) for t in (image, weight))
    found, expected = conv.evaluate(x, transform.evaluate(w)), direct.evaluate(x, w)
    np.testing.assert_allclose(found, expected, atol=2e-5 * float(np.abs(expected).max()))


@pytest.mark.parametrize("levels", [1, 2, 3])
@pytest.mark.parametrize("shape", [(6, 8), (7, 8), (1, 16), (0, 8), (3, 5, 8), (2, 1, 6, 8)], ids=str)
def test_strassen_is_dense(shape: tuple[int, ...], levels: int):
    """Exactly, on small integers; rows of odd number too."""
    data, weight = tensor(*shape), tensor(24, shape[-1])
    rng = np.random.default_rng(0)
    x, w = (rng.integers(-4, 5, [d.offset for d in dims_of(t)]).astype(np.float32) for t in (data, weight))
    transform = make(graph.StrassenWeightOp, [weight], levels=IntegerAttr(levels, i64))
    dense = make(graph.StrassenDenseOp, [data, transform.result.type])
    direct = make(graph.DenseOp, [data, weight])
    assert dense.result.type == direct.result.type
    np.testing.assert_array_equal(dense.evaluate(x, transform.evaluate(w)), direct.evaluate(x, w))


@pytest.mark.parametrize("levels", [1, 2])
@pytest.mark.parametrize("strides", [(1, 1), (2, 1), (2, 3)])
@pytest.mark.parametrize(("height", "width"), [(6, 8), (7, 5), (1, 1)])
def test_strassen_is_convolution(strides: tuple[int, int], height: int, width: int, levels: int):
    image, weight = tensor(2, 4, height, width), tensor(12, 4, 1, 1)
    rng = np.random.default_rng(0)
    x, w = (rng.integers(-4, 5, [d.offset for d in dims_of(t)]).astype(np.float32) for t in (image, weight))
    transform = make(graph.StrassenWeightOp, [weight], levels=IntegerAttr(levels, i64))
    conv = make(graph.StrassenConvOp, [image, transform.result.type], strides=ints(strides))
    plain = {"pads": ints([0] * 4), "dilations": ints([1, 1]), "groups": IntegerAttr(1, i64)}
    direct = make(graph.ConvOp, [image, weight], strides=ints(strides), **plain)
    assert conv.result.type == direct.result.type
    np.testing.assert_array_equal(conv.evaluate(x, transform.evaluate(w)), direct.evaluate(x, w))


def test_a_size_that_no_dimension_tells_by_itself_is_not_guessed():
    half, whole = N // 2, DimsAttr.of([2 * (N // 4)])
    section = make(graph.SectionOp, [tensor(half)], axis=IntegerAttr(0, i64), start=DimsAttr.of([0]), size=whole)
    with pytest.raises(
        TileworkError, match=r"graph.section: no dimension of an operand tells what 2 \* \(N floordiv 4\)"
    ):
        section.evaluate(np.zeros(4, np.float32))
