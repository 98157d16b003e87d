"""Every arith, math and vector operation of the emitter, on scalars and on vectors, against numpy."""

import re

import numpy as np
import pytest
from scipy import special  # a dependency of scikit-learn

LANES, N = 8, 64
DTYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i1": np.bool_}
DTYPES |= {f"i{bits}": np.dtype(f"int{bits}").type for bits in (8, 16, 32, 64)}
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.5]


def dtype(name: str) -> type:
    return np.int64 if name == "index" else DTYPES[name]


def kernel(operation: str, types: dict[str, str], vector: bool) -> str:
    """Applies `%r = operation` to every element; `types` names those of %x, %y, %z and %r."""
    lanes = lambda t: f"vector<{LANES}x{t}>" if vector else t  # noqa: E731
    suffix = lambda t: f", {lanes(t)}" if vector else ""  # noqa: E731
    inputs = [v for v in "xyz" if v in types]
    at = f"{LANES} * %i" if vector else "%i"
    loads = "\n".join(f"%{v} = loop.load %in_{v}[{at}] : memref<{N}x{types[v]}>{suffix(types[v])}" for v in inputs)
    body = re.sub(r"\{(\w)\}", lambda m: lanes(types[m[1]]), operation)
    arguments = ", ".join(f"%in_{v}: memref<{N}x{types[v]}>" for v in inputs)
    return f"""
loop.kernel @k {f"ins({arguments})" if inputs else ""} outs(%out: memref<{N}x{types["r"]}>) {{
  loop.for %i = 0 to {N // LANES if vector else N} "i" {{
    {loads}
    %r = {body}
    loop.store %r, %out[{at}] : memref<{N}x{types["r"]}>{suffix(types["r"])}
  }}
}}"""


def data(name: str, seed: int, positive: bool = False) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if name == "i1":
        return rng.integers(0, 2, N).astype(bool)
    if name.startswith("i"):
        values = rng.integers(1 if positive else -20, 100, N)
        return np.where(values == 0, 7, values).astype(dtype(name))
    values = rng.uniform(0.1 if positive else -4, 4, N).astype(dtype(name))
    if not positive:
        values[seed : seed + len(SPECIAL)] = SPECIAL
    return values


def check(compile_kernel, operation, types, reference, *, positive=False, ulp=0, vector=True):
    """Compare an operation with numpy's on scalars and, unless xDSL has it on scalars only, on vectors."""
    arrays = [data(types[v], seed, positive) for seed, v in enumerate("xyz") if v in types]
    with np.errstate(all="ignore"):
        expected = np.asarray(reference(*arrays)).astype(dtype(types["r"]))
    for is_vector in (False, True) if vector else (False,):
        result = np.zeros(N, dtype(types["r"]))
        compile_kernel(kernel(operation, types, is_vector))(*arrays, result)
        if ulp and result.dtype.kind == "f":
            np.testing.assert_array_equal(np.isnan(result), np.isnan(expected))
            finite = np.isfinite(expected)
            np.testing.assert_array_equal(result[~finite], expected[~finite])
            np.testing.assert_array_max_ulp(result[finite], expected[finite], ulp)
        else:
            np.testing.assert_array_equal(result, expected)
            if result.dtype.kind == "f":
                np.testing.assert_array_equal(np.signbit(result), np.signbit(expected))


FLOAT_BINARY = {
    "addf": np.add,
    "subf": np.subtract,
    "mulf": np.multiply,
    "divf": np.divide,
    "maximumf": np.maximum,  # NaN propagates
    "minimumf": np.minimum,
    "maxnumf": np.fmax,  # a number beats NaN
    "minnumf": np.fmin,
}


@pytest.mark.parametrize("type_", ["f16", "f32", "f64"])
@pytest.mark.parametrize("name", FLOAT_BINARY)
def test_float_binary(compile_kernel, name, type_):
    types = dict.fromkeys("xyr", type_)

    def reference(x, y):
        r = FLOAT_BINARY[name](x, y)
        if name.startswith(("max", "min")):  # numpy leaves the order of 0 and -0 open
            both_zero = (x == 0) & (y == 0)
            sign = np.signbit(x) & np.signbit(y) if name.startswith("max") else np.signbit(x) | np.signbit(y)
            r = np.where(both_zero, np.where(sign, -0.0, 0.0), r)
        return np.where(np.isnan(r), np.nan, r)

    arrays = [data(type_, seed) for seed in (0, 1)]
    for vector in (False, True):
        result = np.zeros(N, dtype(type_))
        compile_kernel(kernel(f"arith.{name} %x, %y : {{r}}", types, vector))(*arrays, result)
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(result, reference(*arrays).astype(dtype(type_)))


INTEGER_BINARY = {
    "addi": np.add,
    "subi": np.subtract,
    "muli": np.multiply,
    "divsi": lambda x, y: np.floor_divide(x, y) + ((np.fmod(x, y) != 0) & ((x < 0) != (y < 0))),
    "remsi": np.fmod,
    "floordivsi": np.floor_divide,
    "andi": np.bitwise_and,
    "ori": np.bitwise_or,
    "xori": np.bitwise_xor,
    "maxsi": np.maximum,
    "minsi": np.minimum,
    "shli": np.left_shift,
    "shrsi": np.right_shift,
}
UNSIGNED = {
    "divui": np.floor_divide,
    "remui": np.remainder,
    "maxui": np.maximum,
    "minui": np.minimum,
    "shrui": np.right_shift,
}


def check_integers(compile_kernel, operation, name, reference):
    """All pairs of numbers, among them 0, -1, the least and the greatest, and as many as the type has bits."""
    limits, bits = np.iinfo(dtype(name)), np.iinfo(dtype(name)).bits
    numbers = [0, 1, -1, 2, -3, 7, bits - 1, bits, bits + 1, -bits, limits.min, limits.min + 1, limits.max, 100, -100]
    pairs = [(x, y) for x in numbers for y in numbers]
    for start in range(0, len(pairs), N):
        part = pairs[start : start + N]
        x, y = np.array([*part, *[(1, 1)] * (N - len(part))], dtype(name)).T.copy()
        with np.errstate(all="ignore"):
            expected = reference(x, y)
        for vector in (False, True):
            result = np.zeros(N, dtype(name))
            compile_kernel(kernel(operation, dict.fromkeys("xyr", name), vector))(x, y, result)
            np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("type_", ["i8", "i16", "i32", "i64"])
@pytest.mark.parametrize("name", INTEGER_BINARY)
def test_integer_binary(compile_kernel, name, type_):
    check_integers(compile_kernel, f"arith.{name} %x, %y : {{r}}", type_, INTEGER_BINARY[name])


@pytest.mark.parametrize("type_", ["i8", "i16", "i32", "i64"])
@pytest.mark.parametrize("name", UNSIGNED)
def test_unsigned_binary(compile_kernel, name, type_):
    unsigned = np.dtype(f"u{np.dtype(dtype(type_))}")
    reference = lambda x, y: UNSIGNED[name](x.view(unsigned), y.view(unsigned)).view(x.dtype)  # noqa: E731
    check_integers(compile_kernel, f"arith.{name} %x, %y : {{r}}", type_, reference)


@pytest.mark.parametrize("number", [0, 1, -1, 3, -4, 31, 32, 40, -(2**31)])
@pytest.mark.parametrize("name", ["divsi", "divui", "floordivsi", "remsi", "remui", "shli", "shrsi", "shrui"])
def test_constant_operands_of_divisions_and_shifts(compile_kernel, name, number):
    x = np.array([0, 1, -1, 5, -7, 100, 2**31 - 1, -(2**31)] * (N // 8), np.int32)
    y = np.full(N, number, np.int32)
    function, unsigned = {**INTEGER_BINARY, **UNSIGNED}[name], name in UNSIGNED
    with np.errstate(all="ignore"):
        expected = function(*((a.view(np.uint32) if unsigned else a) for a in (x, y))).view(np.int32)
    for is_vector in (False, True):
        source = kernel(f"arith.{name} %x, %y : {{r}}", {"x": "i32", "r": "i32"}, is_vector)
        operand = f"%c = arith.constant {number} : i32\n"
        operand += f"%y = vector.broadcast %c : i32 to vector<{LANES}xi32>\n" if is_vector else ""
        result = np.zeros(N, np.int32)
        compile_kernel(source.replace("    %r", f"{operand if is_vector else operand.replace('%c', '%y')}    %r"))(
            x, result
        )
        np.testing.assert_array_equal(result, expected)


FLOAT_COMPARISONS = {
    "oeq": lambda x, y: x == y,
    "ogt": lambda x, y: x > y,
    "oge": lambda x, y: x >= y,
    "olt": lambda x, y: x < y,
    "ole": lambda x, y: x <= y,
    "one": lambda x, y: (x < y) | (x > y),
    "ord": lambda x, y: ~(np.isnan(x) | np.isnan(y)),
    "ueq": lambda x, y: ~((x < y) | (x > y)),
    "ugt": lambda x, y: ~(x <= y),
    "uge": lambda x, y: ~(x < y),
    "ult": lambda x, y: ~(x >= y),
    "ule": lambda x, y: ~(x > y),
    "une": lambda x, y: x != y,
    "uno": lambda x, y: np.isnan(x) | np.isnan(y),
}


@pytest.mark.parametrize("name", FLOAT_COMPARISONS)
def test_float_comparisons(compile_kernel, name):
    types = {"x": "f32", "y": "f32", "r": "i1"}
    check(compile_kernel, f"arith.cmpf {name}, %x, %y : {{x}}", types, FLOAT_COMPARISONS[name], vector=False)


@pytest.mark.parametrize("name", ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"])
def test_integer_comparisons(compile_kernel, name):
    operator = {"eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater"}
    compare = getattr(np, operator.get(name if name in ("eq", "ne") else name[1:], "greater_equal"))
    view = (lambda a: a.view(np.uint32)) if name.startswith("u") else (lambda a: a)
    types = {"x": "i32", "y": "i32", "r": "i1"}
    check(
        compile_kernel,
        f"arith.cmpi {name}, %x, %y : {{x}}",
        types,
        lambda x, y: compare(view(x), view(y)),
        vector=False,
    )


def test_select(compile_kernel):
    types = {"x": "i1", "y": "f32", "z": "f32", "r": "f32"}
    check(compile_kernel, "arith.select %x, %y, %z : {r}", types, np.where, vector=False)


def test_negf(compile_kernel):
    check(compile_kernel, "arith.negf %x : {r}", {"x": "f32", "r": "f32"}, np.negative)


CASTS = [
    ("extf", "f16", "f32"),
    ("extf", "f32", "f64"),
    ("truncf", "f64", "f32"),
    ("truncf", "f32", "f16"),
    ("sitofp", "i32", "f32"),
    ("sitofp", "i64", "f64"),
    ("sitofp", "i8", "f32"),
    ("uitofp", "i1", "f32"),
    ("extsi", "i8", "i32"),
    ("extui", "i1", "i64"),
    ("trunci", "i64", "i8"),
    ("index_cast", "i32", "index"),
    ("index_cast", "index", "i32"),
    ("index_cast", "i64", "index"),
]


@pytest.mark.parametrize(("name", "source", "target"), CASTS)
def test_casts(compile_kernel, name, source, target):
    types = {"x": source, "r": target}
    check(compile_kernel, f"arith.{name} %x : {{x}} to {{r}}", types, lambda x: x, vector=name in ("extf", "truncf"))


@pytest.mark.parametrize(("name", "target", "unsigned"), [("fptosi", "i32", False), ("fptoui", "i8", True)])
def test_float_to_integer(compile_kernel, name, target, unsigned):
    convert = lambda x: x.astype(np.uint8).view(np.int8) if unsigned else np.trunc(x)  # noqa: E731
    types = {"x": "f32", "r": target}
    check(compile_kernel, f"arith.{name} %x : {{x}} to {{r}}", types, convert, positive=True, vector=False)


def test_bitcast(compile_kernel):
    operation = "arith.bitcast %x : {x} to {r}"
    check(compile_kernel, operation, {"x": "f32", "r": "i32"}, lambda x: x.view(np.int32))


MATH_EXACT = {
    "absf": np.abs,
    "sqrt": np.sqrt,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "roundeven": np.round,
    "round": lambda x: np.where(np.isfinite(x), np.copysign(np.floor(np.abs(x) + 0.5), x), x),
}
MATH_ROUNDED = {
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "erf": special.erf,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log10": np.log10,
    "log1p": np.log1p,
    "log2": np.log2,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
}


@pytest.mark.parametrize("type_", ["f32", "f64"])
@pytest.mark.parametrize("name", MATH_EXACT)
def test_exact_math(compile_kernel, name, type_):
    def reference(x):
        r = MATH_EXACT[name](x)
        return np.where(np.isnan(r) & (name == "sqrt"), np.nan, r)

    types = {"x": type_, "r": type_}
    check(compile_kernel, f"math.{name} %x : {{r}}", types, reference, positive=name == "sqrt")


@pytest.mark.parametrize("type_", ["f32", "f64"])
@pytest.mark.parametrize("name", MATH_ROUNDED)
def test_rounded_math(compile_kernel, name, type_):
    reference = lambda x: MATH_ROUNDED[name](x.astype(np.float64))  # noqa: E731
    check(compile_kernel, f"math.{name} %x : {{r}}", {"x": type_, "r": type_}, reference, ulp=4)


@pytest.mark.parametrize("name", ["exp", "tanh", "erf", "sin"])
def test_half_precision_math_goes_through_float(compile_kernel, name):
    reference = lambda x: MATH_ROUNDED[name](x.astype(np.float64))  # noqa: E731
    check(compile_kernel, f"math.{name} %x : {{r}}", {"x": "f16", "r": "f16"}, reference, ulp=1)


@pytest.mark.parametrize(("name", "reference"), [("powf", np.power), ("atan2", np.arctan2), ("copysign", np.copysign)])
def test_binary_math(compile_kernel, name, reference):
    wide = lambda x, y: reference(x.astype(np.float64), y.astype(np.float64))  # noqa: E731
    check(compile_kernel, f"math.{name} %x, %y : {{r}}", dict.fromkeys("xyr", "f32"), wide, ulp=2)


@pytest.mark.parametrize("operation", ["math.fma %x, %y, %z : {r}", "vector.fma %x, %y, %z : {r}"])
def test_fma_rounds_once(compile_kernel, operation):
    types = dict.fromkeys("xyzr", "f32")
    x, y, z = (data("f32", seed, positive=True) for seed in range(3))
    result = np.zeros(N, np.float32)
    compile_kernel(kernel(operation, types, vector=True))(x, y, z, result)
    np.testing.assert_array_equal(result, (x.astype(np.float64) * y + z).astype(np.float32))


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("absi", np.abs),
        ("ctpop", lambda x: np.array([bin(v & 0xFFFFFFFF).count("1") for v in x.tolist()])),
        ("ctlz", lambda x: np.array([32 - (v & 0xFFFFFFFF).bit_length() for v in x.tolist()])),
        ("cttz", lambda x: np.array([(v & -v).bit_length() - 1 for v in x.tolist()])),
    ],
)
def test_integer_math(compile_kernel, name, reference):
    check(compile_kernel, f"math.{name} %x : {{r}}", {"x": "i32", "r": "i32"}, reference)


@pytest.mark.parametrize(
    ("type_", "text", "value"),
    [
        ("f32", "0.1", 0.1),
        ("f32", "0x7FC00000", np.nan),
        ("f32", "0xFF800000", -np.inf),
        ("f32", "1.0e-45", 1e-45),
        ("f64", "0.1", 0.1),
        ("f16", "0.1", 0.1),
        ("i8", "-7", -7),
        ("i64", "9000000000000000000", 9000000000000000000),
        ("i1", "true", True),
        ("index", "-3", -3),
    ],
)
def test_constants(compile_kernel, type_, text, value):
    expected = np.full(N, value).astype(dtype(type_))
    scalar = f"arith.constant {text}" + ("" if text == "true" else f" : {type_}")
    for is_vector in (False, True):
        body = f"vector.broadcast %c : {type_} to {{r}}" if is_vector else scalar
        source = kernel(body, {"r": type_}, is_vector).replace("    %r", f"    %c = {scalar}\n%r")
        result = np.zeros(N, dtype(type_))
        compile_kernel(source)(result)
        np.testing.assert_array_equal(result, expected)


def test_vector_constants_lane_by_lane(compile_kernel):
    literal = "arith.constant dense<[0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5]> : {r}"
    result = np.zeros(N, np.float32)
    compile_kernel(kernel(literal, {"r": "f32"}, vector=True))(result)
    np.testing.assert_array_equal(result, np.tile(np.arange(8, dtype=np.float32) + 0.5, 8))
