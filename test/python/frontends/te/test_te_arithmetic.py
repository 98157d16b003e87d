"""te in Python: arithmetic on every element type, compiled and compared with numpy."""

import numpy as np
import pytest
from scipy.special import erf

from tilework import te


def integers(*shape: int, dtype: str = "float32", seed: int = 0) -> np.ndarray:
    """Small integers, so that sums are exact."""
    return np.random.default_rng(seed).integers(-8, 9, shape).astype(dtype)


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
)
def test_every_element_type(run_te, dtype):
    A, B = te.placeholder((19,), dtype, "A"), te.placeholder((19,), dtype, "B")
    k = te.reduce_axis((0, 19), "k")
    C = te.compute((19,), lambda i: te.max(A[i] * 2 + B[i], te.min(A[i], B[i])) - 1, name="C")
    D = te.compute((1,), lambda _: te.max(A[k], axis=k), name="D")
    E = te.compute((1,), lambda _: te.sum(A[k], axis=k), name="E")
    rng = np.random.default_rng(0)
    a, b = rng.integers(1, 7, 19).astype(dtype), rng.integers(1, 7, 19).astype(dtype)
    if dtype.startswith("uint"):
        a[3] = np.iinfo(dtype).max  # as a signed number it would be the least
    c, d, e = run_te(te.create_schedule([C.op, D.op, E.op]), [A, B, C, D, E], a, b)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(c, np.maximum(a * a.dtype.type(2) + b, np.minimum(a, b)) - a.dtype.type(1))
        assert d[0] == a.max() and e[0] == a.sum(dtype=dtype)


def test_bool(run_te):
    A, B = te.placeholder((30,), "bool", "A"), te.placeholder((30,), name="B")
    k = te.reduce_axis((0, 30), "k")
    C = te.compute((30,), lambda i: te.any(te.all(A[i], B[i] > 0), ~A[i] & (i < 5)), name="C")
    D = te.compute((1,), lambda _: te.any(A[k], axis=k), name="D")
    E = te.compute((1,), lambda _: te.all(A[k], axis=k), name="E")
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, 30).astype(bool), integers(30)
    c, d, e = run_te(te.create_schedule([C.op, D.op, E.op]), [A, B, C, D, E], a, b)
    np.testing.assert_array_equal(c, (a & (b > 0)) | (~a & (np.arange(30) < 5)))
    assert d[0] == a.any() and e[0] == a.all()


FUNCTIONS = {
    "exp": np.exp,
    "exp2": np.exp2,
    "exp10": lambda x: 10**x,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "erf": erf,
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asin": lambda x: np.arcsin(x),
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "atanh": np.arctanh,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": np.round,
    "nearbyint": np.rint,
    "abs": np.abs,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(run_te, name):
    A = te.placeholder((20,), name="A")
    B = te.compute((20,), lambda i: getattr(te, name)(A[i]), name="B")
    a = np.random.default_rng(0).uniform(0.01, 0.99, 20).astype(np.float32)
    s = te.create_schedule(B.op)
    s[B].vectorize(s[B].split(B.op.axis[0], factor=8)[1])
    np.testing.assert_allclose(run_te(s, [A, B], a), FUNCTIONS[name](a.astype(np.float64)), rtol=3e-6)


def test_remainders_of_numbers_far_apart(run_te):
    """Exact, as C's fmod: the quotient is not rounded in between."""
    A, B = te.placeholder((4,), name="A"), te.placeholder((4,), name="B")
    C = te.compute((4,), lambda i: te.fmod(A[i], B[i]), name="C")
    a, b = np.array([3, 1e20, -7.5, 1e-3], np.float32), np.array([np.inf, 3, 2, 7e-20], np.float32)
    np.testing.assert_array_equal(run_te(te.create_schedule(C.op), [A, B, C], a, b), np.fmod(a, b))


def test_functions_of_two(run_te):
    A, B = te.placeholder((20,), name="A"), te.placeholder((20,), name="B")
    rules = {
        "power": (te.power, np.power),
        "fmod": (te.fmod, np.fmod),
        "hypot": (te.hypot, np.hypot),
        "copysign": (lambda x, y: te.copysign(x, -y), lambda x, y: np.copysign(x, -y)),
        "div": (te.div, np.divide),
    }
    a, b = np.random.default_rng(0).uniform(0.1, 3, (2, 20)).astype(np.float32)
    for ours, numpys in rules.values():
        C = te.compute((20,), lambda i, ours=ours: ours(A[i], B[i]), name="C")
        np.testing.assert_allclose(run_te(te.create_schedule(C.op), [A, B, C], a, b), numpys(a, b), rtol=1e-5)


@pytest.mark.parametrize("exponent", [2.0, 3.0, 0.5, 0.75, 0.6])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_power_of_a_known_exponent(run_te, exponent, dtype):
    A = te.placeholder((16,), dtype, "A")
    C = te.compute((16,), lambda i: te.power(A[i], te.const(exponent, dtype)), name="C")
    a = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2, -2, 0.3, 7.5, 1e-20, 1e20, -1e9, 1e-40, 3], dtype)
    found = run_te(te.create_schedule(C.op), [A, C], a)
    with np.errstate(all="ignore"):
        expected = np.power(a, np.full_like(a, exponent))
    np.testing.assert_allclose(found, expected, rtol=3e-7)
    np.testing.assert_array_equal(np.signbit(found[~np.isnan(found)]), np.signbit(expected[~np.isnan(expected)]))


def test_tests_of_numbers(run_te):
    A = te.placeholder((4,), name="A")
    C = te.compute((4,), lambda i: (te.isnan(A[i]), te.isinf(A[i]), te.isfinite(A[i])), name="C")
    a = np.array([1, np.nan, np.inf, -np.inf], np.float32)
    found = run_te(te.create_schedule(C[0].op), [A, *C], a)
    for result, expected in zip(found, (np.isnan(a), np.isinf(a), np.isfinite(a)), strict=True):
        np.testing.assert_array_equal(result, expected)


def rows_with_nan(dtype: str) -> np.ndarray:
    """First, in the middle, last, everywhere, and nowhere, and -inf everywhere."""
    a = integers(6, 67, dtype=dtype)
    a[0, 0] = a[1, 33] = a[2, -1] = a[3] = np.nan
    a[5] = -np.inf
    return a


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("way", ["element by element", "rows beside each other", "parts of a row"])
def test_a_maximum_or_minimum_is_nan_where_there_is_one(run_te, dtype, way):
    A = te.placeholder((6, 67), dtype, "A")
    k, r = te.reduce_axis((0, 67), "k"), te.reduce_axis((0, 67), "r")
    C = te.compute((6,), lambda i: te.max(A[i, k], axis=k), name="C")
    D = te.compute((6,), lambda i: te.min(A[i, r], axis=r), name="D")
    s = te.create_schedule([C.op, D.op])
    for T, axis in ((C, k), (D, r)):
        if way == "rows beside each other":
            s[T].reorder(axis, T.op.axis[0])
            s[T].vectorize(T.op.axis[0])
        elif way == "parts of a row":
            parts = s.rfactor(T, s[T].split(axis, 16)[1])
            s[parts].reorder(*s[parts].op.reduce_axis, s[parts].op.axis[0])
            s[parts].vectorize(s[parts].op.axis[0])
    a = rows_with_nan(dtype)
    largest, smallest = run_te(s, [A, C, D], a)
    np.testing.assert_array_equal(largest, a.max(1))
    np.testing.assert_array_equal(smallest, a.min(1))


@pytest.mark.parametrize("in_parts", [False, True])
def test_a_reducer_that_finds_the_first_of_equal_elements(run_te, in_parts):
    """NaN among them, as numpy finds it: also where parts of a row are joined in any order."""

    def is_first(x, y):
        larger = te.any(x[1] > y[1], te.all(te.isnan(x[1]), ~te.isnan(y[1])))
        equal = te.any(x[1] == y[1], te.all(te.isnan(x[1]), te.isnan(y[1])))
        return te.any(larger, te.all(equal, x[0] < y[0]))

    argmax = te.comm_reducer(
        lambda x, y: tuple(te.Select(is_first(x, y), x[i], y[i]) for i in (0, 1)),
        lambda index, value: (te.max_value(index), te.const(-np.inf, value)),
    )
    A = te.placeholder((6, 67), name="A")
    k = te.reduce_axis((0, 67), "k")
    place, best = te.compute((6,), lambda i: argmax((k, A[i, k]), axis=k), name="best")
    s = te.create_schedule(place.op)
    if in_parts:
        s.rfactor(place, s[place].split(k, 16)[1])
    a = rows_with_nan("float32")
    places, values = run_te(s, [A, place, best], a)
    np.testing.assert_array_equal(places, a.argmax(1))
    np.testing.assert_array_equal(values, a.max(1))


@pytest.mark.parametrize("dtype", ["int32", "uint8", "int64"])
def test_integer_functions(run_te, dtype):
    A, B = te.placeholder((40,), dtype, "A"), te.placeholder((40,), dtype, "B")
    C = te.compute(
        (40,),
        lambda i: (
            A[i] // B[i],
            A[i] % B[i],
            te.truncdiv(A[i], B[i]),
            te.truncmod(A[i], B[i]),
            (A[i] & 12) | (B[i] ^ 5),
            A[i] << 2,
            A[i] >> 1,
            ~A[i],
            te.popcount(A[i]),
            te.clz(A[i]),
        ),
        name="C",
    )
    rng = np.random.default_rng(0)
    a = rng.integers(0 if dtype[0] == "u" else -100, 100, 40).astype(dtype)
    b = rng.integers(1, 9, 40).astype(dtype)
    found = run_te(te.create_schedule(C[0].op), [A, B, *C], a, b)
    bits = a.dtype.itemsize * 8
    unsigned = [int(x) & ((1 << bits) - 1) for x in a]
    truncated = np.trunc(a / b).astype(dtype)
    expected = [a // b, a % b, truncated, a - truncated * b, (a & 12) | (b ^ 5), a << 2, a >> 1, ~a]
    expected += [[x.bit_count() for x in unsigned], [bits - x.bit_length() for x in unsigned]]
    for result, wanted in zip(found, expected, strict=True):
        np.testing.assert_array_equal(result, wanted)


def test_types_meet_as_in_tvm(run_te):
    A, B = te.placeholder((5,), "int8", "A"), te.placeholder((5,), "float64", "B")
    U = te.placeholder((5,), "uint8", "U")
    C = te.compute((5,), lambda i: A[i] + B[i], name="C")
    D = te.compute((5,), lambda i: A[i] * 0.5, name="D")
    E = te.compute((5,), lambda i: A[i] + U[i].astype("uint32"), name="E")
    F = te.compute((5,), lambda i: B[i] * 0.1, name="F")
    assert (C.dtype, D.dtype, E.dtype, F.dtype) == ("float64", "float32", "int32", "float64")
    a, b, u = integers(5, dtype="int8"), np.random.default_rng(1).random(5), np.arange(200, 205, dtype=np.uint8)
    c, d, e, f = run_te(te.create_schedule([C.op, D.op, E.op, F.op]), [A, B, U, C, D, E, F], a, b, u)
    np.testing.assert_array_equal(c, a + b)
    np.testing.assert_array_equal(d, a * np.float32(0.5))
    np.testing.assert_array_equal(e, a.astype(np.int32) + u)
    np.testing.assert_array_equal(f, b * 0.1)  # not rounded to float32 on the way


def test_casts(run_te):
    A = te.placeholder((6,), name="A")
    dtypes = ["int32", "uint8", "bool", "float16", "float64", "int8"]
    C = te.compute((6,), lambda i: tuple(A[i].astype(d) for d in dtypes), name="C")
    a = np.array([0, 1.5, 2.5, 100.25, 3, 0], np.float32)
    for found, dtype in zip(run_te(te.create_schedule(C[0].op), [A, *C], a), dtypes, strict=True):
        np.testing.assert_array_equal(found, a.astype(dtype))


def test_bfloat16(run_te):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    A = te.placeholder((16,), "bfloat16", "A")
    B = te.compute((16,), lambda i: A[i] * 2 + 1, name="B")
    a = np.arange(16).astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(run_te(te.create_schedule(B.op), [A, B], a).astype(np.float32), np.arange(16) * 2 + 1)


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]

DIVISIONS = {
    "floordiv": (lambda x, y: x // y, np.floor_divide),
    "floormod": (lambda x, y: x % y, np.remainder),
    "truncdiv": (te.truncdiv, lambda x, y: np.floor_divide(x, y) + ((np.fmod(x, y) != 0) & ((x < 0) != (y < 0)))),
    "truncmod": (te.truncmod, np.fmod),
    "shl": (lambda x, y: x << y, np.left_shift),
    "shr": (lambda x, y: x >> y, np.right_shift),
}


def every_pair(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """The pairs of numbers of that type among which are those that processors do not divide by, and do not shift by."""
    limits, bits = np.iinfo(dtype), np.iinfo(dtype).bits
    numbers = [0, 1, 2, 3, 7, 100, bits - 1, bits, bits + 1, limits.max, limits.max - 1, limits.min]
    numbers += [] if dtype.startswith("u") else [-1, -2, -3, -7, -100, limits.min + 1]
    a, b = np.meshgrid(np.array(numbers, dtype), np.array(numbers, dtype))
    return a.ravel(), b.ravel()


@pytest.mark.parametrize("vectorized", [False, True])
@pytest.mark.parametrize("name", DIVISIONS)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_divisions_and_shifts_by_every_number(run_te, dtype, name, vectorized):
    """The quotient by 0 is 0 and nothing is left; the least number by -1 wraps around; no shift is too far."""
    ours, numpys = DIVISIONS[name]
    a, b = every_pair(dtype)
    A, B = te.placeholder(a.shape, dtype, "A"), te.placeholder(b.shape, dtype, "B")
    C = te.compute(a.shape, lambda i: ours(A[i], B[i]), name="C")
    s = te.create_schedule(C.op)
    if vectorized:
        s[C].vectorize(s[C].split(C.op.axis[0], factor=4)[1])
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(run_te(s, [A, B, C], a, b), numpys(a, b))


def test_a_division_that_is_not_asked_for(run_te):
    """In front of a condition, or in an arm that is not taken, it stops nothing."""
    A, B = te.placeholder((6, 8), "int32", "A"), te.placeholder((6,), "int32", "B")
    k = te.reduce_axis((0, 8), "k")
    C = te.compute((6, 8), lambda i, j: te.if_then_else(B[i] != 0, A[i, j] // B[i], -1), name="C")
    D = te.compute((6, 8), lambda i, j: te.Select(B[i] != 0, A[i, j] % B[i], -1), name="D")
    E = te.compute((6,), lambda i: te.sum(A[i, k] // B[i], axis=k, where=B[i] != 0), name="E")
    s = te.create_schedule([C.op, D.op, E.op])
    s[C].vectorize(C.op.axis[1])
    s[D].vectorize(D.op.axis[1])
    a = np.random.default_rng(0).integers(-50, 50, (6, 8)).astype(np.int32)
    b = np.array([0, 3, -1, 0, -7, 2], np.int32)
    with np.errstate(all="ignore"):
        column = b[:, None]
        quotient, rest = a // column, a % column
    expected = [np.where(column, quotient, -1), np.where(column, rest, -1), np.where(b, quotient.sum(1), 0)]
    for found, wanted in zip(run_te(s, [A, B, C, D, E], a, b), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_indices_divided_by_data(run_te):
    """They are divided as numbers are: by 0 the index is 0."""
    A, B = te.placeholder((12,), name="A"), te.placeholder((12,), "int32", "B")
    C = te.compute((12,), lambda i: A[i // B[i]] + A[(i * B[i]) // B[i]] * 16 + A[i % B[i]] * 256, name="C")
    a, b = np.arange(12, dtype=np.float32), np.array([0, 1, 2, 0, 3, 4, 5, 0, 7, 8, 9, 0], np.int32)
    i = np.arange(12)
    with np.errstate(all="ignore"):
        expected = a[i // b] + a[(i * b) // b] * 16 + a[i % b] * 256
    np.testing.assert_array_equal(run_te(te.create_schedule(C.op), [A, B, C], a, b), expected)


@pytest.mark.parametrize("first", [1, 2, -3])
def test_indices_divided_by_an_axis(run_te, first):
    """One that takes the value 0 is refused, but where a condition keeps it away."""
    A = te.placeholder((8,), name="A")
    B = te.compute((8,), lambda i: A[i] * 2, name="B")
    r = te.reduce_axis((first, first + 5), "r")

    def element(i):
        return te.if_then_else(r > 0, B[(i + 2) % r] + B[(i + 2) // r % 8], 0.0)

    C = te.compute((8,), lambda i: te.max(element(i), axis=r), name="C")
    s = te.create_schedule(C.op)
    s[B].compute_at(s[C], C.op.axis[0])
    a = np.array([3, 1, 4, 1, 5, 9, 2, 6], np.float32)
    divisors = [r for r in range(first, first + 5) if r > 0]
    expected = [max(2 * a[(i + 2) % r] + 2 * a[(i + 2) // r % 8] for r in divisors) for i in range(8)]
    np.testing.assert_array_equal(run_te(s, [A, C], a), expected)
