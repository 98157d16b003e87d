"""te in general: several results, reducers of one's own, conditions, data as indices, element types; all levels."""

import ctypes
import platform
from collections.abc import Callable, Sequence

import ml_dtypes
import numpy as np
import pytest
from programs import text_for
from xdsl.dialects.builtin import IntegerType, Signedness, bf16, f16, f32, f64, i1, i8, i32, i64
from xdsl.ir import Attribute

from tilework.algebra.index_expr import var
from tilework.algebra.predicate import at_least, less_than
from tilework.dialects.schedule import Tail
from tilework.dialects.schedule.builder import ScheduleBuilder
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te import KernelOp
from tilework.dialects.te.builder import KernelBuilder, Scalar
from tilework.driver.build_kernel import build_kernel
from tilework.runtime.devices.llvm.native import load_objects

RANDOM = np.random.default_rng(0)
u8 = IntegerType(8, Signedness.UNSIGNED)
u32 = IntegerType(32, Signedness.UNSIGNED)


def best_of(k: KernelBuilder, relation: str):
    """The reducer of argmax (`gt`) or argmin (`lt`): the first of equal ones wins."""

    def join(a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
        equal = a[0].compare("eq", b[0]) & a[1].compare("lt", b[1])
        better = a[0].compare(relation, b[0]) | equal
        return [k.select(better, x, y) for x, y in zip(a, b, strict=True)]

    return join


def argmax_kernel(rows: int = 8, columns: int = 64, relation: str = "gt") -> KernelOp:
    """The largest element of each row, and where it is."""
    k = KernelBuilder("best")
    x = k.argument(tensor_type((rows, columns), f32), "x")
    worst = float("-inf" if relation == "gt" else "inf")
    identities = [(worst, f32), (2**31 - 1, i32)]
    best = k.compute_all(
        "best",
        (rows,),
        lambda i: k.reduce(best_of(k, relation), identities, (columns,), lambda j: (x[i, j], k.index(j, i32))),
    )
    return k.finish(best)


def scheduled(kernel: KernelOp, write: Callable[[ScheduleBuilder], None]):
    s = ScheduleBuilder(kernel)
    write(s)
    return s.finish()


@pytest.mark.parametrize("relation", ["gt", "lt"])
def test_argmax_with_ties_takes_the_first(run_kernel_everywhere, relation: str):
    x = RANDOM.integers(-3, 4, (8, 64)).astype(np.float32)
    values, places = run_kernel_everywhere(argmax_kernel(relation=relation), [x])
    np.testing.assert_array_equal(values, x.max(1) if relation == "gt" else x.min(1))
    np.testing.assert_array_equal(places, x.argmax(1) if relation == "gt" else x.argmin(1))


def test_argmax_split_reordered_and_computed_at(run_kernel_everywhere):
    kernel = argmax_kernel(19, 30)

    def write(s: ScheduleBuilder) -> None:
        best = s.stage("best")
        cache = s.cache_write(best, "local")
        outer, inner = s.split(best.axes["i"], 4)
        s.compute_at(cache, outer, "local")
        k_outer, k_inner = s.split(cache.axes["j"], 7)
        s.reorder([k_outer, k_inner, cache.axes["i"]])
        s.vectorize(cache.axes["i"])
        s.parallel(outer)
        s.unroll(inner)

    x = RANDOM.integers(-3, 4, (19, 30)).astype(np.float32)
    values, places = run_kernel_everywhere(kernel, [x], scheduled(kernel, write))
    np.testing.assert_array_equal(places, x.argmax(1))
    np.testing.assert_array_equal(values, x.max(1))


def test_argmax_of_one_long_row(run_kernel_everywhere):
    x = RANDOM.integers(-9, 10, (1, 70_001)).astype(np.float32)
    values, places = run_kernel_everywhere(argmax_kernel(1, 70_001), [x])
    assert (values[0], places[0]) == (9, x.argmax())


def test_the_log_of_a_sum_of_exponentials_as_a_pair(run_kernel_everywhere):
    k = KernelBuilder("logsumexp")
    x = k.argument(tensor_type((5, 33), f32), "x")

    def join(a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
        top = k.max(a[0], b[0])
        scaled = [p[1] * k.call("exp", p[0] - top) for p in (a, b)]
        return [top, scaled[0] + scaled[1]]

    top, total = k.compute_all(
        "pair", (5,), lambda i: k.reduce(join, [(-1e30, f32), (0, f32)], (33,), lambda j: (x[i, j], 1.0))
    )
    result = k.compute("result", (5,), lambda i: top[i] + k.call("log", total[i]))
    x_value = RANDOM.normal(size=(5, 33), scale=30).astype(np.float32)
    [y] = run_kernel_everywhere(k.finish([result]), [x_value], rtol=1e-5)
    np.testing.assert_allclose(y, np.logaddexp.reduce(x_value.astype(np.float64), axis=1), rtol=1e-5)


def test_a_result_that_nobody_returns_is_scratch(run_kernel_everywhere):
    k = KernelBuilder("both")
    x = k.argument(tensor_type((6,), f32), "x")
    plus, minus = k.compute_all("both", (6,), lambda i: (x[i] + 1.0, x[i] - 1.0))
    product = k.compute("product", (6,), lambda i: plus[i] * minus[5 - i])
    x_value = np.arange(6, dtype=np.float32)
    y, below = run_kernel_everywhere(k.finish([product, minus]), [x_value])
    np.testing.assert_array_equal(y, (x_value + 1) * (x_value - 1)[::-1])
    np.testing.assert_array_equal(below, x_value - 1)


def test_any_and_all(run_kernel_everywhere):
    k = KernelBuilder("logic")
    x = k.argument(tensor_type((4, 40), i1), "x")
    some = k.compute("some", (4,), lambda i: k.any((40,), lambda j: x[i, j]))
    every = k.compute("every", (4,), lambda i: k.all((40,), lambda j: x[i, j]))
    x_value = np.stack([np.zeros(40, bool), np.ones(40, bool), np.arange(40) == 39, np.arange(40) != 0])
    found = run_kernel_everywhere(k.finish([some, every]), [x_value])
    np.testing.assert_array_equal(found, [x_value.any(1), x_value.all(1)])


@pytest.mark.parametrize("rows", [1, 37])
def test_only_elements_for_which_the_condition_holds_take_part(run_kernel_everywhere, rows: int):
    k = KernelBuilder("positive")
    x = k.argument(tensor_type((rows, 50), f32), "x")
    positive = lambda i: lambda j: x[i, j].compare("gt", 0.0)  # noqa: E731
    total = k.compute("total", (rows,), lambda i: k.sum((50,), lambda j: x[i, j], where=positive(i)))
    least = k.compute("least", (rows,), lambda i: k.reduce_min((50,), lambda j: x[i, j], where=positive(i)))
    x_value = RANDOM.integers(-4, 5, (rows, 50)).astype(np.float32)
    found = run_kernel_everywhere(k.finish([total, least]), [x_value])
    np.testing.assert_array_equal(found[0], np.where(x_value > 0, x_value, 0).sum(1))
    np.testing.assert_array_equal(found[1], np.where(x_value > 0, x_value, np.inf).min(1))


FLOATS = {"float32": f32, "float64": f64, "float16": f16, "bfloat16": bf16}
DTYPES = {**FLOATS, "int8": i8, "int32": i32, "int64": i64, "uint8": u8}


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("kind", ["sum", "prod", "reduce_max", "reduce_min"])
def test_reducers_and_their_identities(run_kernel_everywhere, kind: str, name: str):
    k = KernelBuilder("reduced")
    x = k.argument(tensor_type((3, var("N")), DTYPES[name]), "x")
    reduce = getattr(k, kind)
    kernel = k.finish([k.compute("reduced", (3,), lambda i: reduce((var("N"),), lambda j: x[i, j]))])
    low, high = (0, 256) if name == "uint8" else (-4, 5)
    x_value = RANDOM.integers(low, high, (3, 6)).astype(name)
    [y] = run_kernel_everywhere(kernel, [x_value])
    function = {"sum": np.sum, "prod": np.prod, "reduce_max": np.max, "reduce_min": np.min}[kind]
    extra = {"dtype": name} if kind in ("sum", "prod") else {}
    np.testing.assert_array_equal(y, function(x_value, axis=1, **extra))
    assert y.dtype == x_value.dtype
    [of_none] = run_kernel_everywhere(kernel, [x_value[:, :0]])
    limits = np.iinfo(name) if "int" in name else None
    lowest, largest = (limits.min, limits.max) if limits else (-np.inf, np.inf)
    expected = {"sum": 0, "prod": 1, "reduce_max": lowest, "reduce_min": largest}[kind]
    np.testing.assert_array_equal(of_none, np.full(3, expected, name))


def triangle(n: int) -> KernelOp:
    """The sums of the rows of a lower triangle."""
    k = KernelBuilder("triangle")
    x = k.argument(tensor_type((n, n), f32), "x")
    return k.finish([k.compute("rows", (n,), lambda i: k.sum((i + 1,), lambda j: x[i, j]))])


def plain(s: ScheduleBuilder) -> None:
    s.stage("rows")


def split_both(s: ScheduleBuilder) -> None:
    rows = s.stage("rows")
    s.split(rows.axes["i"], 4)
    outer, _ = s.split(rows.axes["j"], 3)
    s.split(outer, 2)


def split_into_parts(s: ScheduleBuilder) -> None:
    s.split(s.stage("rows").axes["j"], nparts=3)


def cached(s: ScheduleBuilder) -> None:
    rows = s.stage("rows")
    cache = s.cache_write(rows, "local")
    outer, _ = s.split(rows.axes["i"], 5)
    s.compute_at(cache, outer, "local")
    s.split(cache.axes["j"], 4)


def masked(s: ScheduleBuilder) -> None:
    rows = s.stage("rows")
    s.vectorize(s.split(rows.axes["i"], 4, Tail.MASK)[1])


@pytest.mark.parametrize("write", [plain, split_both, split_into_parts, cached, masked])
def test_an_extent_that_depends_on_an_axis(run_kernel_everywhere, write: Callable[[ScheduleBuilder], None]):
    kernel = triangle(13)
    x = RANDOM.integers(-4, 5, (13, 13)).astype(np.float32)
    [y] = run_kernel_everywhere(kernel, [x], scheduled(kernel, write))
    np.testing.assert_array_equal(y, np.tril(x).sum(1))


def test_an_extent_that_depends_on_an_axis_by_the_default_rule(run_kernel_everywhere):
    x = RANDOM.integers(-4, 5, (70, 70)).astype(np.float32)
    [y] = run_kernel_everywhere(triangle(70), [x])
    np.testing.assert_array_equal(y, np.tril(x).sum(1))


def test_a_gather_and_a_lookup_of_computed_rows(run_kernel_everywhere):
    k = KernelBuilder("gather")
    table = k.argument(tensor_type((10, 4), f32), "table")
    rows = k.argument(tensor_type((var("N"),), i32), "rows")
    twice = k.compute("twice", (10, 4), lambda i, j: table[i, j] * 2.0)
    y = k.compute("gather", (var("N"), 4), lambda i, j: twice[rows[i], j] + table[rows[i], 0])
    total = k.compute("total", (4,), lambda j: k.sum((var("N"),), lambda i: table[rows[i], j]))
    t = RANDOM.integers(-4, 5, (10, 4)).astype(np.float32)
    n = RANDOM.integers(0, 10, 23).astype(np.int32)
    found = run_kernel_everywhere(k.finish([y, total]), [t, n])
    np.testing.assert_array_equal(found[0], 2 * t[n] + t[n, :1])
    np.testing.assert_array_equal(found[1], t[n].sum(0))


@pytest.mark.parametrize("inlined", [False, True])
def test_a_producer_read_at_data_is_computed_whole_or_inlined(run_kernel_everywhere, inlined: bool):
    k = KernelBuilder("lookup")
    x, n = k.argument(tensor_type((8,), f32), "x"), k.argument(tensor_type((20,), i64), "n")
    inside = lambda i: [at_least(i, 2), less_than(i, 10)]  # noqa: E731
    padded = k.compute("padded", (12,), lambda i: k.if_then_else(inside(i), lambda: x[i - 2], lambda: -1.0, f32))
    kernel = k.finish([k.compute("y", (20,), lambda i: padded[n[i]] + k.index(i, f32))])

    def write(s: ScheduleBuilder) -> None:
        padded, y = s.stage("padded"), s.stage("y")
        if inlined:
            s.compute_inline(padded)
        else:
            s.compute_at(padded, s.split(y.axes["i"], 6)[0], "local")

    x_value, n_value = np.arange(8, dtype=np.float32), RANDOM.integers(0, 12, 20)
    [y] = run_kernel_everywhere(kernel, [x_value, n_value], scheduled(kernel, write))
    np.testing.assert_array_equal(y, np.pad(x_value, 2, constant_values=-1)[n_value] + np.arange(20))


def test_a_choice_on_data_reads_nothing_where_it_does_not_hold(run_kernel_everywhere):
    k = KernelBuilder("guarded")
    x, n = k.argument(tensor_type((5,), f32), "x"), k.argument(tensor_type((9,), i32), "n")
    known = lambda i: n[i].compare("ge", 0) & n[i].compare("lt", 5)  # noqa: E731
    kernel = k.finish([k.compute("y", (9,), lambda i: k.if_then_else([known(i)], lambda: x[n[i]], lambda: -1.0, f32))])
    n_value = np.array([0, 4, 5, -1, 2, 1000, 3, 1, -1000], np.int32)
    x_value = np.arange(5, dtype=np.float32)
    [y] = run_kernel_everywhere(kernel, [x_value, n_value])
    np.testing.assert_array_equal(y, [0, 4, -1, -1, 2, -1, 3, 1, -1])


def test_a_scalar_kernel(run_kernel_everywhere):
    k = KernelBuilder("scalar")
    a, b = k.argument(tensor_type((), f32), "a"), k.argument(tensor_type((), f32), "b")
    s = k.compute("s", (), lambda: a[()] + b[()])
    kernel = k.finish([k.compute("t", (), lambda: s[()] * 2.0)])
    [y] = run_kernel_everywhere(kernel, [np.array(2, np.float32), np.array(3, np.float32)])
    assert y.shape == () and y == 10


def test_a_sum_of_everything(run_kernel_everywhere):
    k = KernelBuilder("sum")
    x = k.argument(tensor_type((7, 9), f32), "x")
    kernel = k.finish([k.compute("s", (), lambda: k.sum((7, 9), lambda i, j: x[i, j]))])
    x_value = RANDOM.integers(-4, 5, (7, 9)).astype(np.float32)
    [y] = run_kernel_everywhere(kernel, [x_value])
    assert y.shape == () and y == x_value.sum()


BIT_FUNCTIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "ctpop": lambda x: np.bitwise_count(x.view(np.uint32)),
    "ctlz": lambda x: np.array([32 - int(v).bit_length() for v in x.view(np.uint32)], np.uint32),
    "cttz": lambda x: np.array([(int(v) & -int(v)).bit_length() - 1 if v else 32 for v in x], np.uint32),
}


@pytest.mark.parametrize("name", BIT_FUNCTIONS)
@pytest.mark.parametrize("dtype", [i32, u32])
def test_bit_functions(run_kernel_everywhere, name: str, dtype: Attribute):
    k = KernelBuilder("bits")
    x = k.argument(tensor_type((40,), dtype), "x")
    kernel = k.finish([k.compute("y", (40,), lambda i: k.call(name, x[i]))])
    x_value = RANDOM.integers(-(2**31), 2**31, 40).astype(np.int32) >> np.arange(40, dtype=np.int32) % 32
    x_value = np.where(np.arange(40) == 39, 0, x_value).astype(np.int32 if dtype == i32 else np.uint32)
    [y] = run_kernel_everywhere(kernel, [x_value])
    np.testing.assert_array_equal(y, BIT_FUNCTIONS[name](x_value))


OPERATORS: dict[str, tuple[Callable[[Scalar, Scalar], Scalar], Callable[[np.ndarray, np.ndarray], np.ndarray]]] = {
    "arithmetic": (lambda a, b: a * b - a + b, lambda a, b: a * b - a + b),
    "quotient": (lambda a, b: a / b, lambda a, b: np.trunc(a / b).astype(a.dtype)),
    "remainder": (lambda a, b: a % b, np.fmod),
    "logic": (lambda a, b: (a & b) ^ (a | 5), lambda a, b: (a & b) ^ (a | 5)),
    "shift": (lambda a, b: a >> 2, lambda a, b: a >> 2),
    "extremes": (
        lambda a, b: a.builder.max(a, b) - a.builder.min(a, 3),
        lambda a, b: np.maximum(a, b) - np.minimum(a, 3),
    ),  # type: ignore[attr-defined]
}


@pytest.mark.parametrize("name", OPERATORS)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32"])
def test_integer_arithmetic(run_kernel_everywhere, name: str, dtype: str):
    element = {"int8": i8, "uint8": u8, "int32": i32, "uint32": u32}[dtype]
    written, meant = OPERATORS[name]
    k = KernelBuilder("integers")
    a, b = k.argument(tensor_type((100,), element), "a"), k.argument(tensor_type((100,), element), "b")
    kernel = k.finish([k.compute("y", (100,), lambda i: written(a[i], b[i]))])
    limits = np.iinfo(dtype)
    x = RANDOM.integers(limits.min, limits.max, 100, dtype=dtype, endpoint=True)
    y = RANDOM.integers(1, min(limits.max, 120), 100).astype(dtype)
    [found] = run_kernel_everywhere(kernel, [x, y])
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(found, meant(x, y))


def test_casts_between_element_types(run_kernel_everywhere):
    k = KernelBuilder("casts")
    a, b = k.argument(tensor_type((50,), u8), "a"), k.argument(tensor_type((50,), f32), "b")
    results = [
        k.compute("half", (50,), lambda i: k.cast(a[i], f16)),
        k.compute("wide", (50,), lambda i: k.cast(a[i], i32) + 1),
        k.compute("bytes", (50,), lambda i: k.cast(b[i], u8)),
        k.compute("truth", (50,), lambda i: k.cast(b[i], i1)),
        k.compute("number", (50,), lambda i: k.cast(b[i].compare("gt", 100.0), f64)),
    ]
    x, y = RANDOM.integers(0, 256, 50).astype(np.uint8), RANDOM.integers(0, 200, 50).astype(np.float32)
    found = run_kernel_everywhere(k.finish(results), [x, y])
    expected = [x.astype(np.float16), x.astype(np.int32) + 1, y.astype(np.uint8), y != 0, (y > 100).astype(np.float64)]
    for got, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(got, wanted)
        assert got.dtype == wanted.dtype


@pytest.mark.parametrize(("dtype", "numpy_type"), [(f16, np.float16), (bf16, ml_dtypes.bfloat16)])
def test_half_precision_is_rounded_after_every_operation(run_kernel_everywhere, dtype, numpy_type):
    k = KernelBuilder("half")
    a, b = k.argument(tensor_type((64,), dtype), "a"), k.argument(tensor_type((64,), dtype), "b")
    quotient = k.compute("y", (64,), lambda i: k.max(a[i] / b[i], 0.25))
    root = k.compute("root", (64,), lambda i: k.cast(k.call("sqrt", k.cast(a[i], f64)), dtype))
    x, y = (RANDOM.uniform(0.5, 9, 64).astype(numpy_type) for _ in range(2))
    found = run_kernel_everywhere(k.finish([quotient, root]), [x, y])
    np.testing.assert_array_equal(found[0], np.maximum(x / y, numpy_type(0.25)))
    np.testing.assert_array_equal(found[1], np.sqrt(x.astype(np.float64)).astype(numpy_type))


BFLOAT = """
loop.kernel @k ins(%x: memref<40xf32>) outs(%y: memref<40xbf16>) {
  loop.for %i = 0 to 40 "i" {
    %v = loop.load %x[%i] : memref<40xf32>
    %w = arith.truncf %v : f32 to bf16
    loop.store %w, %y[%i] : memref<40xbf16>
  }
}
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="for a processor of that family")
def test_a_machine_without_instructions_rounds_to_bfloat():
    code, _ = build_kernel(text_for(BFLOAT, "llvm -mcpu=x86-64"), "k")
    library = load_objects([code])
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32)(library.get_function("k"))
    x = np.concatenate([RANDOM.normal(size=36), [np.nan, np.inf, 1.00390625, 1.01171875]]).astype(np.float32)
    y = np.zeros(40, ml_dtypes.bfloat16)
    function(x.ctypes.data, y.ctypes.data, 1)
    np.testing.assert_array_equal(y.astype(np.float32), x.astype(ml_dtypes.bfloat16).astype(np.float32))
