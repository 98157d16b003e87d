"""Numbers that an input holds and that say where a slice ends, what a shape is, or how far a range goes."""

from __future__ import annotations

import numpy as np
import pytest
from onnx_models import Array, check_onnxruntime, model, node, numbers

import tilework as tw
from tilework.algebra.errors import TileworkError
from tilework.runtime.cache import KernelCache


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def integers(*values: int) -> Array:
    return np.array(values, np.int64)


@pytest.mark.parametrize("step", [1, 3, -1, -2])
def test_bounds_count_from_either_end(step: int, cache: KernelCache):
    """They may lie beyond the axis, too; of a constant length or an open one."""
    nodes = [node("Slice", "x i i2 axis step", "a"), node("Slice", "z i i2 axis step", "b")]
    made = model(nodes, {"x": ["N"], "z": [5], "i": [1], "i2": [1]}, "a b", {"axis": [0], "step": [step]})
    ends = [(0, 3), (-2, 9), (-9, -1), (4, 1), (-1, -4), (3, -20), (7, 7)]
    feeds = [{"x": numbers(n), "z": numbers(5), "i": integers(i), "i2": integers(j)} for n in (0, 4) for i, j in ends]
    check_onnxruntime(made, cache, *feeds)


def test_one_bound_of_two_axes_of_one_size(cache: KernelCache):
    """What is cut off at one place fits together; whether what is counted fits, too, is found out by the call."""
    nodes = [
        *(node("Slice", f"{x} zero i", f"{x}_cut") for x in "xz"),
        node("Add", "x_cut z_cut", "same"),
        node("Range", "nought n one", "counted"),
        node("Cast", "counted", "floats", to=1),
        node("Add", "same floats", "y"),
    ]
    nodes.insert(0, node("Squeeze", "i", "n"))
    constants = {"zero": [0], "nought": np.array(0), "one": np.array(1)}
    made = model(nodes, {"x": [6], "z": [6], "i": [1]}, "y", constants)
    check_onnxruntime(made, cache, *({"x": numbers(6), "z": numbers(6, seed=1), "i": integers(n)} for n in (2, 0, 6)))
    with pytest.raises(TileworkError, match="which are neither equal nor is one of them 1"):
        tw.compile(made, cache=cache)(numbers(6), numbers(6), integers(-1))


@pytest.mark.parametrize("shapes", [(2, "N", 4), (24, 1, 1)], ids=["open", "known"])
def test_shapes_that_keep_dimensions_or_leave_one_open(shapes: tuple[int | str, ...], cache: KernelCache):
    made = model([node("Reshape", "x i", "y")], {"x": shapes, "i": [3]}, "y")
    given = numbers(2, 3, 4) if "N" in shapes else numbers(24, 1, 1)
    wanted = [(4, 3, 2), (-1, 2, 3), (6, -1, 2), (0, -1, 1), (24, 1, -1)]
    check_onnxruntime(made, cache, *({"x": given, "i": integers(*shape)} for shape in wanted))
    module = tw.compile(made, cache=cache)
    for shape in ((-1, -1, 4), (5, -1, 2), (2, 3, 5)):
        with pytest.raises(TileworkError, match="cannot reshape|is less than 0"):
            module(given, integers(*shape))


def test_a_size_that_is_told_and_one_that_is_known(cache: KernelCache):
    """A dimension of 0 is kept though others are known, and none is where `allowzero` says so."""
    nodes = [node("Concat", "i rest", "shape", axis=0), node("Reshape", "x shape", "y")]
    made = model(nodes, {"x": ["N", 4], "i": [1]}, "y", {"rest": [-1]})
    check_onnxruntime(made, cache, *({"x": numbers(3, 4), "i": integers(n)} for n in (0, 2, 12)))
    made = model([node("Reshape", "x i", "y", allowzero=1)], {"x": ["N", 4], "i": [2]}, "y", opset=14)
    feeds = [{"x": numbers(3, 4), "i": integers(6, 2)}, {"x": numbers(0, 4), "i": integers(7, 0)}]
    check_onnxruntime(made, cache, *feeds)


def test_a_vector_of_a_length_that_is_told(cache: KernelCache):
    made = model([node("Reshape", "x i", "y")], {"x": [2, 12], "i": [1]}, "y")
    check_onnxruntime(made, cache, *({"x": numbers(2, 12), "i": integers(n)} for n in (24, -1)))


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.float32])
def test_ranges_run_either_way(dtype: type[np.generic], cache: KernelCache):
    made = model([node("Range", "start limit step", "y")], {"start": [], "limit": [], "step": []}, "y")
    for value in made.graph.input:
        value.type.tensor_type.elem_type = {np.int64: 7, np.int32: 6, np.float32: 1}[dtype]
    runs = [(0, 5, 1), (5, 0, -1), (5, -4, -3), (1, 2, 7), (0, -1, 2), (3, 3, -1), (-2, 9, 4)]
    names = ("start", "limit", "step")
    check_onnxruntime(made, cache, *({n: np.array(v, dtype) for n, v in zip(names, run, strict=True)} for run in runs))
    with pytest.raises(TileworkError, match="Range 'Range_0': its step is 0"):
        tw.compile(made, cache=cache)(*(np.array(n, dtype) for n in (1, 2, 0)))


def test_a_range_of_sizes_and_data(cache: KernelCache):
    """A limit that is a size, counted down to a number that an input holds."""
    nodes = [node("Shape", "x", "shape"), node("Squeeze", "shape", "n"), node("Range", "n i minus", "y")]
    made = model(nodes, {"x": ["N"], "i": []}, "y", {"minus": np.array(-2)})
    check_onnxruntime(made, cache, *({"x": numbers(n), "i": np.array(i)} for n, i in ((7, 0), (3, 5), (4, -3))))
