"""What operators that choose, order and compare make of NaN, infinities, signed zeros and equal elements.

Every operator, in every element type that the standard gives it, makes what numpy's function of that name makes:

- NaN counts as the greatest number. It is the maximum, and so the minimum, of whatever it is among; TopK takes it first
  among the largest and last among the smallest.
- Of elements that are equal, among them zeros of either sign and NaN beside NaN, the first is found.
- The sign of a zero that is a maximum or minimum is open, as numpy leaves it.

onnxruntime differs where there is NaN: its ArgMax, ArgMin and MaxPool pass over it, and what its TopK makes depends on
where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from onnx import helper, numpy_helper
from onnx_models import Array, node

import tilework as tw
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function
from tilework.runtime.cache import KernelCache

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = [np.dtype(name) for name in ("float32", "float64", "float16")] + [BFLOAT16]
INTEGERS = [np.dtype(f"{sign}int{bits}") for sign in ("", "u") for bits in (8, 16, 32, 64)]
WIDE_INTEGERS = [dtype for dtype in INTEGERS if dtype.itemsize > 2]
BYTES_AND_WIDE = [dtype for dtype in INTEGERS if dtype.itemsize != 2]

LENGTHS = (1, 3, 67)
"""The lengths of rows: one element, less than a vector of any processor, and some vectors with a rest."""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def wide(x: Array) -> Array:
    """Numbers that numpy computes with: of 16 bits those in single precision."""
    return x.astype(np.float32) if x.dtype in (np.float16, BFLOAT16) else x


def rows(dtype: np.dtype[Any], n: int) -> Array:
    """Rows of small numbers, many of them equal, and among them what is special: first, last, in the middle, or all."""
    x = np.random.default_rng(n).integers(0 if dtype.kind == "u" else -3, 4, (12, n))
    if dtype in INTEGERS:
        limits = np.iinfo(dtype)
        x = x.astype(dtype)
        x[0, 0], x[1, n // 2], x[2, -1] = limits.max, limits.min, limits.max
        x[3], x[4], x[5] = limits.max, limits.min, 1
        return x
    x = x.astype(np.float32)
    x[0, 0] = x[1, n // 2] = x[2, -1] = x[3] = x[4, ::3] = np.nan
    x[5], x[6], x[7, n // 2] = -np.inf, np.inf, -np.inf
    x[8, 0], x[8, -1] = np.inf, np.nan
    x[9, ::2], x[9, 1::2] = 0.0, -0.0
    x[10] = 1
    x[11, 0], x[11, -1] = np.inf, -np.inf
    return x.astype(dtype)


@dataclass(frozen=True)
class Case:
    """A node of x and perhaps more inputs, and what it makes, given x as numbers that numpy computes with.

    exact: elements themselves, not numbers that are computed and rounded. core: compiled in every element type.
    """

    node: onnx.NodeProto
    want: Callable[[Array], Sequence[Array]]
    dtypes: Sequence[np.dtype[Any]]
    exact: bool = True
    core: bool = False


def case(
    op: str, want: Callable[[Array], Array], dtypes: Sequence[np.dtype[Any]], inputs: str = "x", **more: Any
) -> Case:
    """A case of one result, which is computed."""
    return Case(node(op, inputs, op, **more), lambda x: [want(x)], dtypes, exact=False)


# ---- Along an axis ---------------------------------------------------------------------------------------------------


def found(find: Callable[..., Array], axis: int, last: bool = False) -> Callable[[Array], Sequence[Array]]:
    """Where numpy finds the first such element, or the last."""

    def want(x: Array) -> Sequence[Array]:
        return [x.shape[axis] - 1 - find(np.flip(x, axis), axis) if last else find(x, axis)]

    return want


def ordered(axis: int, k: int, largest: int) -> Callable[[Array], Sequence[Array]]:
    """numpy's stable order, of the largest ones from the back, where equal elements have to come from the back too."""

    def want(x: Array) -> Sequence[Array]:
        order = np.argsort(np.flip(x, axis) if largest else x, axis, kind="stable")
        order = x.shape[axis] - 1 - np.flip(order, axis) if largest else order
        order = order.take(range(min(k, x.shape[axis])), axis)
        return [np.take_along_axis(x, order, axis), order]

    return want


def softmax(x: Array, axis: int) -> Array:
    exps = np.exp(x - x.max(axis, keepdims=True))
    return exps / exps.sum(axis, keepdims=True)


def log_softmax(x: Array, axis: int) -> Array:
    shifted = x - x.max(axis, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(axis, keepdims=True))


def hardmax(x: Array, axis: int) -> Array:
    result = np.zeros_like(x)
    np.put_along_axis(result, x.argmax(axis, keepdims=True), 1, axis)
    return result


def running_sum(x: Array, axis: int, exclusive: int, reverse: int) -> Array:
    x = np.flip(x, axis) if reverse else x
    sums = np.cumsum(x, axis, dtype=x.dtype)
    if exclusive:
        sums = np.concatenate([np.zeros_like(x.take([0], axis)), sums.take(range(x.shape[axis] - 1), axis)], axis)
    return np.flip(sums, axis) if reverse else sums


def along(axis: int) -> Iterator[Case]:
    """Operators of rows, or of columns."""
    numbers = [*FLOATS, *INTEGERS]
    for name, find in (("ArgMax", np.argmax), ("ArgMin", np.argmin)):
        for last in (0, 1):
            made = node(name, "x", "place", axis=axis, keepdims=0, select_last_index=last)
            yield Case(made, found(find, axis, bool(last)), numbers, core=axis == 1 and last == (find is np.argmin))
    for name, reduce in (("ReduceMax", np.max), ("ReduceMin", np.min)):
        made, dtypes = node(name, f"x axis{axis}", "extremum", keepdims=0), [*FLOATS, *BYTES_AND_WIDE]
        yield Case(made, lambda x, reduce=reduce: [reduce(x, axis)], dtypes, core=axis == 1)
    for k, largest in ((1, 1), (1, 0), (3, 1), (3, 0), (67, 1), (67, 0)):
        made = node("TopK", f"x k{k}_of{axis}", "values places", axis=axis, largest=largest)
        yield Case(made, ordered(axis, k, largest), numbers, core=axis == 1 and k == 3 and largest == 1)
    for name, function in (("Softmax", softmax), ("LogSoftmax", log_softmax), ("Hardmax", hardmax)):
        yield case(name, lambda x, function=function: function(x, axis), FLOATS, axis=axis)
    for exclusive, reverse in ((0, 0), (1, 0), (0, 1), (1, 1)):
        given = {"exclusive": exclusive, "reverse": reverse}
        sums = WIDE_INTEGERS if not exclusive and not reverse else []
        yield case("CumSum", lambda x, g=given: running_sum(x, axis, **g), [*FLOATS, *sums], f"x at{axis}", **given)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS], ids=str)
def test_along_an_axis(dtype: np.dtype[Any], length: int, cache: KernelCache):
    """Rows of each length are interpreted, long ones compiled as well: in vectors, and columns beside each other."""
    check([c for axis in (0, 1) for c in along(axis)], rows(dtype, length), cache if length == max(LENGTHS) else None)


# ---- Element by element ----------------------------------------------------------------------------------------------

SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1, -1, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 3.5, 100, -100, 7, -7]


def softplus(x: Array) -> Array:
    return np.logaddexp(x, 0)


def clipped(low: float | None, high: float | None) -> Case:
    """numpy's maximum first, then its minimum: where the bounds are in the wrong order, the upper one counts."""
    names = ["" if bound is None else f"bound{bound}" for bound in (low, high)]

    def want(x: Array) -> Sequence[Array]:
        x = x if low is None else np.maximum(x, x.dtype.type(low))
        return [x if high is None else np.minimum(x, x.dtype.type(high))]

    return Case(helper.make_node("Clip", ["x", *names], ["clipped"]), want, FLOATS)


UNARY: dict[str, Callable[[Array], Array]] = {
    "Relu": lambda x: np.maximum(x, 0),
    "LeakyRelu": lambda x: np.where(x < 0, x * 0.01, x),
    "Elu": lambda x: np.where(x < 0, np.expm1(x), x),
    "ThresholdedRelu": lambda x: np.where(x > 1, x, 0),
    "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "HardSigmoid": lambda x: np.clip(0.2 * x + 0.5, 0, 1),
    "HardSwish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    "Softplus": softplus,
    "Softsign": lambda x: x / (1 + np.abs(x)),
    "Mish": lambda x: x * np.tanh(softplus(x)),
    "Tanh": np.tanh,
    "Exp": np.exp,
    "Log": np.log,
    "Sqrt": np.sqrt,
    "Reciprocal": lambda x: 1 / x,
    "Sin": np.sin,
    "Atan": np.arctan,
    "Acosh": np.arccosh,
}
"""Functions whose results are rounded."""

EXACT: dict[str, Callable[[Array], Array]] = {
    "Abs": np.abs,
    "Neg": np.negative,
    "Sign": np.sign,
    "Floor": np.floor,
    "Ceil": np.ceil,
    "Round": np.round,
    "IsNaN": np.isnan,
    "IsInf": np.isinf,
}

BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "Max": np.maximum,
    "Min": np.minimum,
    "Less": np.less,
    "Greater": np.greater,
    "LessOrEqual": np.less_equal,
    "GreaterOrEqual": np.greater_equal,
    "Equal": np.equal,
    "Mod": np.fmod,
}

BOUNDS = [(-1.0, 1.0), (1.0, -1.0), (np.nan, 1.0), (-1.0, np.nan), (np.inf, 1.0), (-1.0, None), (None, 1.0)]


def element_by_element() -> Iterator[Case]:
    """Operators of x, and of x and y, which is x transposed."""
    for name, function in UNARY.items():
        yield case(name, function, FLOATS)
    for name, function in EXACT.items():
        yield Case(node(name, "x", name), lambda x, f=function: [f(x)], FLOATS)
    for name, function in BINARY.items():
        fmod = {"fmod": 1} if name == "Mod" else {}
        made = node(name, "x y", name, **fmod)
        yield Case(made, lambda x, f=function: [f(x, x.T)], FLOATS, core=name in ("Max", "Less"))
    yield case("Pow", lambda x: np.power(x, x.T), FLOATS, "x y")
    yield case("PRelu", lambda x: np.where(x < 0, x * x.T, x), FLOATS, "x y")
    yield Case(node("Where", "positive x y", "chosen"), lambda x: [np.where(x > 0, x, x.T)], FLOATS)
    yield from (clipped(*bounds) for bounds in BOUNDS)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_element_by_element(dtype: np.dtype[Any], cache: KernelCache):
    """Every special number meets every other one."""
    x = np.repeat(np.array(SPECIAL)[:, None], len(SPECIAL), 1).astype(dtype)
    check(list(element_by_element()), x, cache, [node("Transpose", "x", "y"), node("Greater", "x zero", "positive")])


# ---- Windows ---------------------------------------------------------------------------------------------------------


def windows(x: Array, padding: float) -> Array:
    """Windows of 3 by 3, one every two rows and columns, with padding of one element around the image."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=padding)
    return sliding_window_view(padded, (3, 3), (2, 3))[:, :, ::2, ::2]


def of_windows() -> Iterator[Case]:
    """The operators that take images."""
    window = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
    floats, bytes_ = FLOATS, [dtype for dtype in INTEGERS if dtype.itemsize == 1]

    def largest(x: Array) -> Sequence[Array]:
        return [windows(x, -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min).max((-1, -2))]

    yield Case(node("MaxPool", "x", "largest", **window), largest, [*floats, *bytes_], core=True)
    yield Case(node("GlobalMaxPool", "x", "largest_of_all"), lambda x: [x.max((2, 3), keepdims=True)], floats)
    yield case("AveragePool", lambda x: windows(x, 0).mean((-1, -2)), floats, **window, count_include_pad=1)
    yield case("LpPool", lambda x: np.abs(windows(x, 0)).sum((-1, -2)), floats, **window, p=1)
    yield case("GlobalAveragePool", lambda x: x.mean((2, 3), keepdims=True), floats)


@pytest.mark.parametrize("width", [5, 40])
@pytest.mark.parametrize("dtype", [*FLOATS, *(dtype for dtype in INTEGERS if dtype.itemsize == 1)], ids=str)
def test_windows(dtype: np.dtype[Any], width: int, cache: KernelCache):
    """A window of nothing but -inf has that as its maximum, as padding never is one; a window with NaN has NaN."""
    check(list(of_windows()), rows(dtype, width).reshape(2, 1, 6, width), cache if width == 40 else None)


# ---- How a case is checked -------------------------------------------------------------------------------------------


def check(cases: Sequence[Case], x: Array, cache: KernelCache | None, before: Sequence[onnx.NodeProto] = ()) -> None:
    """All cases of x's type, as one model: interpreted, and with a cache compiled. `before`: nodes of other inputs.

    In single precision all of them are compiled, in other types those of the core.
    """
    cases = [case for case in cases if x.dtype in case.dtypes]
    agree(cases, x, before, lambda model: interpreted(model, x))
    if cache is not None:
        chosen = [case for case in cases if case.core or x.dtype == np.float32]
        agree(chosen, x, before, lambda model: list(tw.compile(model, cache=cache).run({"x": x}).values()))


def interpreted(model: onnx.ModelProto, x: Array) -> Sequence[Array]:
    imported = import_onnx(model)
    return run_function(imported.module, "main", [x], imported.parameters)


def agree(
    cases: Sequence[Case],
    x: Array,
    before: Sequence[onnx.NodeProto],
    run: Callable[[onnx.ModelProto], Sequence[Array]],
) -> None:
    """What is run makes what every case wants."""
    nodes = [onnx.NodeProto.FromString(case.node.SerializeToString()) for case in cases]
    for i, made in enumerate(nodes):
        made.output[:] = [f"{name}_{i}" for name in made.output]
    outputs = [name for made in nodes for name in made.output]
    with np.errstate(all="ignore"):
        wanted = [(case, array) for case in cases for array in case.want(wide(x))]
    for name, result, (case, array) in zip(outputs, run(model_of([*before, *nodes], x, outputs)), wanted, strict=True):
        compare(name, result, array, x.dtype, case.exact)


def model_of(nodes: Sequence[onnx.NodeProto], x: Array, outputs: Sequence[str]) -> onnx.ModelProto:
    used = {name for made in nodes for name in made.input}
    numbers = {f"bound{n}": np.array(n) for n in (-1.0, 1.0, np.nan, np.inf)} | {"zero": np.array(0)}
    known = {name: array.astype(x.dtype) for name, array in numbers.items() if name in used}
    known |= {f"axis{axis}": np.array([axis]) for axis in (0, 1)} | {f"at{axis}": np.array(axis) for axis in (0, 1)}
    known |= {f"k{k}_of{axis}": np.array([min(k, x.shape[axis])]) for k in (1, 3, 67) for axis in (0, 1)}
    graph = helper.make_graph(
        nodes,
        "special",
        [helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape)],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in known.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 22)], ir_version=10)


def compare(name: str, result: Array, wanted: Array, dtype: np.dtype[Any], exact: bool) -> None:
    """Elements of x's type exactly, or nearly so; places and truth values as they are."""
    assert result.shape == wanted.shape and result.dtype in (dtype, np.int64, bool), name
    if exact:
        np.testing.assert_array_equal(wide(result), wanted, err_msg=name)
        return
    tolerance = max(1e-6, 2 * float(ml_dtypes.finfo(dtype).eps)) if dtype in FLOATS else 0
    np.testing.assert_allclose(wide(result), wide(wanted.astype(dtype)), tolerance, tolerance, err_msg=name)
