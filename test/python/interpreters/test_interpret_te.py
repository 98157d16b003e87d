"""The te interpreter: whole results, chosen elements, symbols, laziness, reads out of bounds."""

import numpy as np
import pytest
from xdsl.dialects.builtin import TensorType, f32, i32
from xdsl.ir import Attribute

from tilework.algebra.index_expr import Expr, var
from tilework.algebra.predicate import at_least, less_than
from tilework.dialects.support.diagnostics import CompileError, UsageError
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te import KernelOp
from tilework.dialects.te.builder import KernelBuilder, Tensor
from tilework.interpreters.te import kernel_symbols, run_kernel, run_kernel_at

RANDOM = np.random.default_rng(0)


def integers(*shape: int) -> np.ndarray:
    return RANDOM.integers(-4, 5, shape).astype(np.float32)


def padded_conv() -> KernelOp:
    """3x3 convolution of 2x5x5 with padding 1, then relu: three computes."""
    k = KernelBuilder("conv_relu")
    x = k.argument(TensorType(f32, [1, 2, 5, 5]), "x")
    w = k.argument(TensorType(f32, [3, 2, 3, 3]), "w")
    inside = lambda i: [at_least(i, 1), less_than(i, 6)]  # noqa: E731
    pad = k.compute(
        "pad",
        (1, 2, 7, 7),
        lambda n, c, y, z: k.if_then_else([*inside(y), *inside(z)], lambda: x[n, c, y - 1, z - 1], lambda: 0.0, f32),
    )
    conv = k.compute(
        "conv",
        (1, 3, 5, 5),
        lambda n, o, y, z: k.sum((2, 3, 3), lambda c, r, s: pad[n, c, y + r, z + s] * w[o, c, r, s]),
    )
    return k.finish([k.compute("relu", (1, 3, 5, 5), lambda n, o, y, z: k.max(conv[n, o, y, z], 0.0))])


def expected_conv(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    return np.maximum(np.einsum("ncyxrs,ocrs->noyx", windows, w), 0)


def row_sum(kind: str = "sum", dtype: Attribute = f32) -> KernelOp:
    """A reduction over the rows of an N x M matrix."""
    k = KernelBuilder("rows")
    x = k.argument(tensor_type((var("N"), var("M")), dtype), "x")
    reduce = getattr(k, kind)
    return k.finish([k.compute("rows", (var("N"),), lambda i: reduce((var("M"),), lambda j: x[i, j]))])


def test_a_convolution_with_lazy_padding():
    x, w = integers(1, 2, 5, 5), integers(3, 2, 3, 3)
    [y] = run_kernel(padded_conv(), [x, w])
    np.testing.assert_array_equal(y, expected_conv(x, w))
    assert y.dtype == np.float32


def test_chosen_elements_are_those_of_the_whole():
    x, w = integers(1, 2, 5, 5), integers(3, 2, 3, 3)
    points = np.array([[0, 0, 0, 0], [0, 2, 4, 4], [0, 1, 2, 3], [0, 1, 2, 3]])
    at = run_kernel_at(padded_conv(), [x, w], 0, points)
    np.testing.assert_array_equal(at, expected_conv(x, w)[tuple(points.T)])


def test_chosen_elements_compute_no_others():
    k = KernelBuilder("window")
    x = k.argument(TensorType(f32, [4]), "x")
    beyond = k.compute("beyond", (8,), lambda i: x[i])  # elements 4 to 7 cannot be computed
    kernel = k.finish([k.compute("out", (8,), lambda i: beyond[i])])
    at = run_kernel_at(kernel, [np.arange(4, dtype=np.float32)], 0, np.array([[0], [3]]))
    np.testing.assert_array_equal(at, [0, 3])
    with pytest.raises(CompileError, match="out of bounds"):
        run_kernel_at(kernel, [np.arange(4, dtype=np.float32)], 0, np.array([[4]]))


def test_f32_sums_are_accumulated_in_axis_order():
    x = np.array([[1e8, 1.0, -1e8, 1.0]], np.float32)
    [y] = run_kernel(row_sum(), [x])
    assert y[0] == 1.0  # ((1e8 + 1) - 1e8) + 1 in f32; any other order gives 0 or 2


@pytest.mark.parametrize(
    ("kind", "identity"), [("sum", 0), ("prod", 1), ("reduce_max", -np.inf), ("reduce_min", np.inf)]
)
def test_a_reduction_over_nothing_is_its_identity(kind: str, identity: float):
    [y] = run_kernel(row_sum(kind), [np.zeros((3, 0), np.float32)])
    np.testing.assert_array_equal(y, np.full(3, identity, np.float32))


def test_zero_rows_make_an_empty_result():
    [y] = run_kernel(row_sum(), [np.zeros((0, 3), np.float32)])
    assert y.shape == (0,)


def test_maximum_of_integers_and_nan():
    x = RANDOM.integers(-9, 9, (2, 5)).astype(np.int32)
    np.testing.assert_array_equal(run_kernel(row_sum("reduce_max", i32), [x])[0], x.max(1))
    assert np.isnan(run_kernel(row_sum("reduce_max"), [np.array([[np.nan, 1.0]], np.float32)])[0][0])


def test_many_terms_a_block_and_many_blocks():
    x = RANDOM.integers(-4, 5, (3, 700_001)).astype(np.float32)
    np.testing.assert_array_equal(run_kernel(row_sum(), [x])[0], x.astype(np.float64).sum(1))


def read_at(index: int) -> KernelOp:
    k = KernelBuilder("shifted")
    x = k.argument(TensorType(f32, [4]), "x")
    read = lambda t: lambda i: t[i + index]  # noqa: E731
    copy: Tensor = k.compute("copy", (4,), lambda i: x[i])
    return k.finish([k.compute("shift", (4,), read(copy))])


@pytest.mark.parametrize(("shift", "named"), [(1, "i \\+ 1 = 4 at i = 3"), (-1, "i - 1 = -1 at i = 0")])
def test_a_read_out_of_bounds_names_everything(shift: int, named: str):
    message = f"compute 'shift' reads tensor 'copy' out of bounds: axis 0 has 4 elements, index {named}"
    with pytest.raises(CompileError, match=message):
        run_kernel(read_at(shift), [integers(4)])
    with pytest.raises(CompileError, match="out of bounds"):
        run_kernel_at(read_at(shift), [integers(4)], 0, np.array([[0], [3]]))


def test_arrays_that_do_not_fit_are_refused():
    with pytest.raises(UsageError, match="@rows takes 1 arrays, got 2"):
        run_kernel(row_sum(), [integers(1, 1), integers(1)])
    with pytest.raises(UsageError, match="@rows: argument 0 has 1 dimensions, expected 2: \\[N, M\\]"):
        run_kernel(row_sum(), [integers(3)])
    with pytest.raises(UsageError, match="argument 0 has a dimension of 5 where 4 = 4 is expected"):
        run_kernel(read_at(0), [integers(5)])
    with pytest.raises(UsageError, match="argument 0 \\(%x\\) has elements of float32, the array of float64"):
        run_kernel(read_at(0), [np.zeros(4)])


def points(n: Expr) -> KernelOp:
    """The points of an image, of which a kernel sees one axis."""
    k = KernelBuilder("points")
    x = k.argument(tensor_type([n], f32), "x")
    return k.finish([k.compute("y", (n,), lambda i: x[i] + x[i])])


def test_symbols_that_a_caller_knows():
    """One product of sizes does not tell two; what is known is checked like what is told."""
    kernel, x = points(var("H") * var("W")), integers(6)
    with pytest.raises(UsageError, match="H"):
        run_kernel(kernel, [x])
    known = {"H": 2, "W": 3}
    np.testing.assert_array_equal(run_kernel(kernel, [x], known)[0], 2 * x)
    np.testing.assert_array_equal(run_kernel_at(kernel, [x], 0, np.array([[5], [0]]), known), 2 * x[[5, 0]])
    assert kernel_symbols(kernel, [x], known) == known
    with pytest.raises(UsageError, match="argument 0 has a dimension of 6 where H \\* W = 8 is expected"):
        run_kernel(kernel, [x], {"H": 2, "W": 4})
    assert kernel_symbols(points(var("H") + 1), [x]) == {"H": 5}
    with pytest.raises(UsageError, match="has a dimension of 6 where H \\+ 1 = 5 is expected"):
        run_kernel(points(var("H") + 1), [x], {"H": 4})
