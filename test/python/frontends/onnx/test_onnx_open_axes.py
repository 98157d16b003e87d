"""Slices in steps, and padding, of axes of unknown size: what numpy does, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx_models import model, node, refusal

import tilework as tw
from tilework.algebra.errors import UsageError
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function
from tilework.runtime.cache import KernelCache

END, FRONT = 2**63 - 1, -(2**63) + 1


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


# ---- Slices ----------------------------------------------------------------------------------------------------------


def slice_model(
    shape: Sequence[int | str], axes: Sequence[int], starts: Sequence[int], ends: Sequence[int], steps: Sequence[int]
) -> onnx.ModelProto:
    constants = {"starts": starts, "ends": ends, "axes": axes, "steps": steps}
    nodes = [node("Slice", "x starts ends axes steps", "y")]
    return model(nodes, {"x": shape}, "y", {name: np.array(numbers) for name, numbers in constants.items()})


def check(made: onnx.ModelProto, cache: KernelCache, wanted: Any, *shapes: Sequence[int]) -> None:
    """`wanted(x)`, interpreted and compiled, for an input of each shape."""
    imported, module = import_onnx(made), tw.compile(made, cache=cache, processes=1)
    for shape in shapes:
        x = np.arange(1, np.prod(shape) + 1, dtype=np.float32).reshape(shape)
        [interpreted] = run_function(imported.module, "main", [x], imported.parameters)
        for result in (interpreted, module(x)):
            assert result.shape == wanted(x).shape
            np.testing.assert_array_equal(result, wanted(x))


@pytest.mark.parametrize(
    ("start", "end", "taken"),
    [
        (0, END, slice(None, None, 2)),
        (1, END, slice(1, None, 3)),
        (2, 2**31 - 1, slice(2, None, 2)),
        (3, 2**31 - 2, slice(3, None, 5)),
        (-1, FRONT, slice(None, None, -1)),
        (END, FRONT, slice(None, None, -2)),
        (2**31 - 1, -(2**31) + 1, slice(None, None, -3)),
    ],
    ids=str,
)
def test_every_so_manyth_element(start: int, end: int, taken: slice, cache: KernelCache):
    made = slice_model([2, "N", 3], [1], [start], [end], [taken.step])
    check(made, cache, lambda x: x[:, taken], *((2, n, 3) for n in (3, 4, 5, 6, 7, 17)))


def test_the_only_axis(cache: KernelCache):
    check(slice_model(["N"], [-1], [0], [END], [2]), cache, lambda x: x[::2], (1,), (8,))
    check(slice_model(["N"], [-1], [-1], [FRONT], [-1]), cache, lambda x: x[::-1], (1,), (8,))


def test_patches_of_an_image(cache: KernelCache):
    """Both axes of unknown size, beside an axis of constant size."""
    made = slice_model(["H", "W", 6], [0, 1, 2], [0, 1, 5], [END, END, FRONT], [2, 2, -2])
    check(made, cache, lambda x: x[::2, 1::2, 5::-2], (4, 4, 6), (5, 3, 6), (1, 1, 6))


def test_an_axis_that_begins_later_than_it_ends(cache: KernelCache):
    made = slice_model(["N"], [0], [3], [END], [2])
    check(made, cache, lambda x: x[3::2], *((n,) for n in (0, 1, 3, 4, 9)))


@pytest.mark.parametrize(
    ("start", "end", "taken"),
    [
        (0, 9, slice(0, 9, 2)),
        (0, -1, slice(0, -1, 2)),
        (-4, END, slice(-4, None, 2)),
        (5, FRONT, slice(5, None, -1)),
        (-1, 0, slice(-1, 0, -1)),
        (-1, -5, slice(-1, -5, -2)),
        (2, 6, slice(2, 6)),
        (-5, -2, slice(-5, -2)),
        (4, -3, slice(4, -3, 3)),
    ],
    ids=str,
)
def test_between_two_places_that_may_lie_outside(start: int, end: int, taken: slice, cache: KernelCache):
    made = slice_model([2, "N"], [1], [start], [end], [taken.step or 1])
    check(made, cache, lambda x: x[:, taken], *((2, n) for n in (0, 1, 2, 3, 4, 5, 7, 9, 13)))


@pytest.mark.parametrize("step", [1, 2, -3])
def test_between_bounds_that_sizes_decide(step: int, cache: KernelCache):
    first, last = ("half", "end") if step > 0 else ("end", "half")
    nodes = [
        node("Shape", "x", "sizes"),
        node("Div", "sizes two", "half"),
        node("Mul", "sizes two", "end"),
        node("Slice", f"x {first} {last} axes step", "y"),
    ]
    made = model(nodes, {"x": ["N"]}, "y", {"two": np.array([2]), "axes": np.array([0]), "step": np.array([step])})
    check(made, cache, lambda x: x[len(x) // 2 :: step] if step > 0 else x[: len(x) // 2 : step], (1,), (6,), (11,))


def test_a_bound_that_may_be_less_than_0_is_asked_for_when_it_runs(cache: KernelCache):
    nodes = [node("Shape", "x", "sizes"), node("Sub", "sizes two", "less"), node("Slice", "x less end", "y")]
    made = model(nodes, {"x": ["N"]}, "y", {"two": np.array([2]), "end": np.array([END])})
    module = tw.compile(made, cache=cache, processes=1)
    np.testing.assert_array_equal(module(np.arange(5, dtype=np.float32)), [3, 4])
    with pytest.raises(UsageError, match=r"its start, N - 2, is less than 0, .* \(N = 1 is dimension 0 of input 'x'\)"):
        module(np.zeros(1, np.float32))


def test_a_bound_that_is_less_than_0_counts_from_the_end(cache: KernelCache):
    """As many elements as another input has, or all that there are."""
    nodes = [node("Shape", "z", "size"), node("Neg", "size", "start"), node("Slice", "x start end", "y")]
    made = model(nodes, {"x": ["N"], "z": ["M"]}, "y", {"end": np.array([END])})
    module, x = tw.compile(made, cache=cache, processes=1), np.arange(5, dtype=np.float32)
    for count in (1, 3, 5, 7):
        np.testing.assert_array_equal(module(x, np.zeros(count, np.float32)), x[-count:])
    with pytest.raises(
        UsageError, match=r"its start, -M, is not less than 0, .* \(M = 0 is dimension 0 of input 'z'\)"
    ):
        module(x, np.zeros(0, np.float32))


# ---- Padding ---------------------------------------------------------------------------------------------------------


def skip_model(mode: str = "constant") -> onnx.ModelProto:
    """Images made half as large and twice as large again, padded to their size before, as in a U-Net, and added."""
    nodes = [
        node("MaxPool", "x", "half", kernel_shape=[2, 2], strides=[2, 2]),
        node("Resize", "half  scales", "back", mode="nearest", coordinate_transformation_mode="asymmetric"),
        node("Shape", "x", "wanted"),
        node("Shape", "back", "given"),
        node("Sub", "wanted given", "missing"),
        node("Concat", "zeros missing", "pads", axis=0),
        node("Pad", "back pads", "padded", mode=mode),
        node("Add", "x padded", "y"),
    ]
    constants = {"scales": np.float32([1, 1, 2, 2]), "zeros": np.zeros(4, np.int64)}
    return model(nodes, {"x": [1, 2, "H", "W"]}, "y", constants)


def skip(x: np.ndarray) -> np.ndarray:
    height, width = (n // 2 * 2 for n in x.shape[2:])
    halves = x[:, :, :height, :width].reshape(1, 2, height // 2, 2, width // 2, 2).max(axis=(3, 5))
    back = halves.repeat(2, axis=2).repeat(2, axis=3)
    return x + np.pad(back, [(0, 0), (0, 0), (0, x.shape[2] - height), (0, x.shape[3] - width)])


def test_padding_to_the_size_of_a_skip_connection(cache: KernelCache):
    module = tw.compile(skip_model(), cache=cache, processes=1)
    for height, width in [(4, 6), (5, 6), (4, 7), (7, 9), (17, 33)]:
        x = np.random.default_rng(0).standard_normal((1, 2, height, width)).astype(np.float32)
        np.testing.assert_array_equal(module(x), skip(x))


@pytest.mark.parametrize("opset", [11, 13, 18])
def test_padding_at_both_ends(opset: int, cache: KernelCache):
    """Half of what is missing in front, as exporters write it, of an image that lost its border."""
    nodes = [
        node("AveragePool", "x", "inner", kernel_shape=[1, 4], strides=[1, 1]),
        node("Shape", "x", "wanted"),
        node("Shape", "inner", "given"),
        node("Sub", "wanted given", "missing"),
        node("Div", "missing two", "front"),
        node("Sub", "missing front", "behind"),
        node("Concat", "front behind", "pads", axis=0),
        node("Pad", "inner pads", "y"),
    ]
    made = model(nodes, {"x": [1, 1, "H", "W"]}, "y", {"two": np.array(2)}, opset)

    def wanted(x: np.ndarray) -> np.ndarray:
        inner = sum(x[..., i : x.shape[-1] - 3 + i] for i in range(4)) / 4
        return np.pad(inner, [(0, 0), (0, 0), (0, 0), (1, 2)])

    check(made, cache, wanted, (1, 1, 2, 4), (1, 1, 3, 9))


def pad_model(
    shape: Sequence[int | str], begins: str, value: Any = None, opset: int = 13, **constants: Any
) -> onnx.ModelProto:
    """A model that pads by what `begins` says of the sizes of `x`, in front of each axis, and by none behind."""
    nodes = [
        node("Shape", "x", "sizes"),
        node(begins, "sizes other", "widths"),
        node("Concat", "widths zeros", "pads", axis=0),
        node("Pad", "x pads value axes" if "axes" in constants else "x pads value", "y"),
    ]
    known = {"zeros": np.zeros(len(shape), np.int64), "value": np.array(value or 0, np.float32), **constants}
    return model(nodes, {"x": shape}, "y", {name: np.asarray(array) for name, array in known.items()}, opset)


@pytest.mark.parametrize("opset", [11, 13, 18, 21])
def test_a_number_in_front(opset: int, cache: KernelCache):
    """As many as there are already."""
    made = pad_model(["N", 3], "Mul", 7, opset, other=[1, 0])
    wanted = lambda x: np.pad(x, [(len(x), 0), (0, 0)], constant_values=7)  # noqa: E731
    check(made, cache, wanted, (1, 3), (4, 3), (0, 3))


def test_a_number_in_front_of_axes_that_are_named(cache: KernelCache):
    """They are named in any order."""
    made = pad_model(["N", 3], "Mul", 7, 18, other=[0, 2], axes=[1, -2])
    made.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(np.array([1, 0]), "zeros"))
    wanted = lambda x: np.pad(x, [(6, 0), (0, 1)], constant_values=7)  # noqa: E731
    check(made, cache, wanted, (1, 3), (4, 3))
    made = pad_model(["N", 3], "Mul", 7, 18, other=[2, 0], axes=[-2, 1])
    wanted = lambda x: np.pad(x, [(2 * len(x), 0), (0, 0)], constant_values=7)  # noqa: E731
    check(made, cache, wanted, (1, 3), (4, 3))


def test_up_to_a_multiple(cache: KernelCache):
    """Windows of 8: whole ones are padded by nothing."""
    nodes = [
        node("Shape", "x", "sizes"),
        node("Add", "sizes seven", "more"),
        node("Div", "more eight", "windows"),
        node("Mul", "windows eight", "wanted"),
        node("Sub", "wanted sizes", "missing"),
        node("Concat", "zeros missing", "pads", axis=0),
        node("Pad", "x pads", "y"),
    ]
    constants = {"seven": np.array([7, 0]), "eight": np.array([8, 1]), "zeros": np.zeros(2, np.int64)}
    made = model(nodes, {"x": ["N", 3]}, "y", constants)
    check(made, cache, lambda x: np.pad(x, [(0, -len(x) % 8), (0, 0)]), (1, 3), (8, 3), (13, 3), (16, 3))


@pytest.mark.parametrize(
    ("begins", "constants", "message"),
    [
        ("Mul", {"other": [1, 0], "zeros": [0]}, "2 axes need 4 pads, not 3"),
        ("Mul", {"other": [1, 0], "axes": [0]}, "1 axes need 2 pads, not 4"),
    ],
)
def test_pads_that_are_refused(begins: str, constants: dict[str, Any], message: str):
    assert message in refusal(pad_model(["N", 3], begins, opset=18, **constants))


def test_pads_below_zero_cut(cache: KernelCache):
    """There are 5 rows afterwards, of fewer or of more."""
    nodes = [
        node("Shape", "x", "sizes"),
        node("Sub", "wanted sizes", "missing"),
        node("Concat", "zeros missing", "pads", axis=0),
        node("Pad", "x pads value", "y"),
    ]
    constants = {"wanted": np.array([5, 3]), "zeros": np.zeros(2, np.int64), "value": np.float32(7)}
    made = model(nodes, {"x": ["N", 3]}, "y", constants)
    wanted = lambda x: np.pad(x, [(0, 5), (0, 0)], constant_values=7)[:5]  # noqa: E731
    check(made, cache, wanted, (5, 3), (1, 3), (0, 3), (17, 3))


def test_pads_of_an_open_axis_that_cut(cache: KernelCache):
    made = model([node("Pad", "x pads", "y")], {"x": ["N", 4]}, "y", {"pads": np.array([-2, 1, 1, -3])})
    wanted = lambda x: np.pad(x, [(0, 1), (1, 0)])[2:, :-3]  # noqa: E731
    check(made, cache, wanted, (2, 4), (9, 4), (1, 4))
    with pytest.raises(UsageError, match=r"dimension 0 of the result of pad 'Pad_0' would be N - 1 \(N = 0 is"):
        tw.compile(made, cache=cache, processes=1)(np.zeros((0, 4), np.float32))


@pytest.mark.parametrize("mode", ["reflect", "edge"])
def test_modes_of_open_pads(mode: str, cache: KernelCache):
    """Images that are continued to windows of 8."""
    nodes = [
        node("Shape", "x", "sizes"),
        node("Add", "sizes seven", "more"),
        node("Div", "more eight", "windows"),
        node("Mul", "windows eight", "wanted"),
        node("Sub", "wanted sizes", "missing"),
        node("Concat", "zeros missing", "pads", axis=0),
        node("Pad", "x pads", "y", mode=mode),
    ]
    constants = {"seven": np.array([7, 0]), "eight": np.array([8, 1]), "zeros": np.zeros(2, np.int64)}
    made = model(nodes, {"x": ["N", 3]}, "y", constants)
    shapes = [(n, 3) for n in (0, 5, 8, 13, 16)]
    check(made, cache, lambda x: np.pad(x, [(0, -len(x) % 8), (0, 0)], mode=mode), *shapes)
    if mode == "reflect":
        with pytest.raises(
            UsageError, match=r"axis 0 of the input of extend 'Pad_6', of size N, is too short: .*N = 4"
        ):
            tw.compile(made, cache=cache, processes=1)(np.zeros((4, 3), np.float32))


@pytest.mark.parametrize(("before", "after"), [(2, 3), (7, 0), (-1, 4)])
def test_an_open_axis_that_goes_around(before: int, after: int, cache: KernelCache):
    made = model(
        [node("Pad", "x pads", "y", mode="wrap")], {"x": ["N", 2]}, "y", {"pads": np.array([before, 0, after, 0])}, 19
    )

    def wanted(x: np.ndarray) -> np.ndarray:
        return np.pad(x[max(-before, 0) :], [(max(before, 0), after), (0, 0)], mode="wrap")

    check(made, cache, wanted, (2, 2), (5, 2), (9, 2))


@pytest.mark.parametrize("step", [2, -1])
def test_steps_along_an_axis_of_no_element(step: int, cache: KernelCache):
    made = slice_model(["N"], [-1], [0 if step > 0 else -1], [END if step > 0 else FRONT], [step])
    check(made, cache, lambda x: x[::step], (0,))


def test_symbols_that_have_to_be_equal(cache: KernelCache):
    """The shape of one input is that of another, but for a symbol; that both fit is asked when it runs."""
    nodes = [
        node("Shape", "z", "sizes"),
        node("Slice", "sizes zero two", "front"),
        node("Concat", "front rest", "shape", axis=0),
        node("Reshape", "x shape", "r"),
        node("Add", "r z", "y"),
    ]
    constants = {"zero": np.array([0]), "two": np.array([2]), "rest": np.array([4])}
    for rest in (4, -1):
        made = model(nodes, {"x": ["A", "B", 2, 2], "z": ["A", "N", 4]}, "y", {**constants, "rest": np.array([rest])})
        module = tw.compile(made, cache=cache, processes=1)
        x, z = (np.arange(60, dtype=np.float32).reshape(shape) for shape in ((3, 5, 2, 2), (3, 5, 4)))
        np.testing.assert_array_equal(module(x, z), x.reshape(3, 5, 4) + z)
        with pytest.raises(UsageError, match="N"):
            module(x[:, :4], z)
