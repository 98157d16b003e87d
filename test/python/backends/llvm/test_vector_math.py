"""Vector functions against float64: all magnitudes, a dense sweep where results vary, special values."""

import ctypes
import re
from collections.abc import Callable

import numpy as np
import pytest
from scipy import special  # a dependency of scikit-learn

from tilework.backends.elementary import OF_LIBM, VECTOR_FUNCTIONS
from tilework.backends.llvm.math import math_function, math_function_name
from tilework.runtime.devices.llvm.compile import assembly, compile_ir
from tilework.runtime.devices.llvm.native import load_objects
from tilework.targets import Target, parse_target
from tilework.targets.cpu.host import host_target

REFERENCE: dict[str, Callable[..., np.ndarray]] = {
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "erf": special.erf,
    "pow": np.power,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
}
MAX_ULP = {"exp": 1.2, "log": 1.2, "tanh": 1.5, "erf": 1.2, "pow": 0.6}
MAX_ULP |= {"sin": 0.6, "cos": 0.6, "tan": 1.0, "asin": 2.0, "acos": 2.0, "atan": 2.0}
SMALLEST, LARGEST, NORMAL = (np.float32(x) for x in (2.0**-149, 3.4028235e38, 2.0**-126))
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, SMALLEST, -SMALLEST, NORMAL, -NORMAL, LARGEST, -LARGEST, 1.0, -1.0]
BOUNDS = [88.72283, 88.72284, -103.97208, -103.97209, -87.33655, 0.625, 0.92773, 4.0, 9.0, 10.0, -16.635532, 2 / 3]


def sweep(lanes: int) -> np.ndarray:
    every = np.arange(0, 2**32, 32771, dtype=np.uint64).astype(np.uint32).view(np.float32)
    dense = np.linspace(-105, 90, 100_001, dtype=np.float32), np.linspace(-6, 6, 100_001, dtype=np.float32)
    points = np.concatenate([every, *dense, np.array([*SPECIAL, *BOUNDS], dtype=np.float32)])
    return np.concatenate([points, np.ones(-len(points) % lanes, dtype=np.float32)])


def bases_and_exponents(lanes: int) -> list[np.ndarray]:
    """All pairs of special values; any two floats; bases whose powers are floats."""
    values = np.array([*SPECIAL, 0.5, -0.5, 0.75, 2, -2, 3, -3, 2**23 + 1, -(2**24) - 2], dtype=np.float32)
    any_, rng = np.arange(0, 2**32, 32771, dtype=np.uint64).astype(np.uint32).view(np.float32), np.random.default_rng(7)
    whole = rng.integers(-40, 40, 50_000).astype(np.float32)
    near = rng.uniform(-12, 12, 50_000).astype(np.float32)
    positive = np.exp(rng.uniform(-10, 10, 200_000)).astype(np.float32)
    bases = np.concatenate([np.repeat(values, len(values)), any_, near, positive])
    exponents = np.concatenate(
        [np.tile(values, len(values)), rng.permutation(any_), whole, rng.uniform(-9, 9, 200_000).astype(np.float32)]
    )
    padding = np.ones(-len(bases) % lanes, dtype=np.float32)
    return [np.concatenate([bases, padding]), np.concatenate([exponents, padding])]


def apply(name: str, lanes: int, target: Target, *inputs: np.ndarray) -> np.ndarray:
    vector = "float" if lanes == 1 else f"<{lanes} x float>"
    first, last = inputs[0], inputs[-1]
    arguments = ", ".join(f"{vector} %{v}" for v in "vw"[: len(inputs)])
    text = f"""
    define void @map(ptr %x, ptr %z, ptr %y, i64 %n) {{
    entry:
      br label %loop
    loop:
      %i = phi i64 [0, %entry], [%next, %loop]
      %px = getelementptr {vector}, ptr %x, i64 %i
      %pz = getelementptr {vector}, ptr %z, i64 %i
      %py = getelementptr {vector}, ptr %y, i64 %i
      %v = load {vector}, ptr %px, align 4
      %w = load {vector}, ptr %pz, align 4
      %r = call {vector} @{math_function_name(name, lanes)}({arguments})
      store {vector} %r, ptr %py, align 4
      %next = add i64 %i, 1
      %more = icmp slt i64 %next, %n
      br i1 %more, label %loop, label %end
    end:
      ret void
    }}
    """
    library = load_objects([compile_ir(function_text(name, lanes, target) + text, target)])
    pointer = ctypes.c_void_p
    function = ctypes.CFUNCTYPE(None, pointer, pointer, pointer, ctypes.c_int64)(library.get_function("map"))
    y = np.empty_like(first)
    function(first.ctypes.data, last.ctypes.data, y.ctypes.data, first.size // lanes)
    return y


def function_text(name: str, lanes: int, target: Target) -> str:
    declaration = f"declare float @{name}f(float) nounwind willreturn memory(none)\n" if name in OF_LIBM else ""
    return declaration + math_function(name, lanes, target.scales)


def ulps(actual: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """Distance in units of the last place of the nearest float; infinite where one of the two is not a number."""
    with np.errstate(all="ignore"):
        nearest = exact.astype(np.float32)
        unit = np.spacing(np.abs(np.where(np.isfinite(nearest), nearest, LARGEST))).astype(np.float64)
        distance = np.abs(actual.astype(np.float64) - exact) / unit
    same = (actual == nearest) | (np.isnan(actual) & np.isnan(exact))
    return np.where(same, 0.0, np.where(np.isnan(distance), np.inf, distance))


@pytest.mark.parametrize("name", VECTOR_FUNCTIONS)
@pytest.mark.parametrize("lanes", [1, 4, 8, 16, 64])
def test_accuracy(name: str, lanes: int):
    check_accuracy(name, lanes, host_target())


@pytest.mark.skipif(host_target().architecture != "x86_64", reason="needs an x86 processor")
@pytest.mark.parametrize("name", VECTOR_FUNCTIONS)
def test_accuracy_without_fused_multiply_add(name: str):
    check_accuracy(name, 4, parse_target("llvm -mcpu=x86-64"))


def check_accuracy(name: str, lanes: int, target: Target) -> None:
    inputs = bases_and_exponents(lanes) if name == "pow" else [sweep(lanes)]
    with np.errstate(all="ignore"):
        exact = REFERENCE[name](*(x.astype(np.float64) for x in inputs))
    actual = apply(name, lanes, target, *inputs)
    error = ulps(actual, exact)
    worst = int(np.argmax(error))
    assert error[worst] <= MAX_ULP[name], f"{name}{[x[worst] for x in inputs]} = {actual[worst]}, not {exact[worst]}"
    number = ~np.isnan(exact)
    assert np.array_equal(np.signbit(actual[number]), np.signbit(exact[number]))


@pytest.mark.parametrize("name", VECTOR_FUNCTIONS)
def test_no_lane_is_computed_by_a_library_call(name: str):
    machines = "x86_64-linux-gnu -mcpu=x86-64", "x86_64-linux-gnu -mcpu=haswell", "x86_64-linux-gnu -mcpu=znver5"
    for machine in (*machines, "aarch64-linux-gnu"):
        target = parse_target(f"llvm -mtriple={machine}")
        text = function_text(name, 16, target).replace("define internal", "define")
        code, *_ = assembly(text, target).partition(f"tw.{name}.v16f32.far:")  # behind it, what is for far angles alone
        assert all(".far" in call for call in re.findall(r"\t(?:callq?|bl)\t.*", code))


def test_powers_of_two_are_one_instruction_where_there_is_one():
    target = parse_target("llvm -mtriple=x86_64-linux-gnu -mcpu=znver5")
    text = math_function("exp", 16, target.scales).replace("define internal", "define")
    assert assembly(text, target).count("vscalefps") == 1


def test_an_unknown_function_is_refused():
    known = "exp, log, tanh, erf, sin, cos, tan, asin, acos, atan, pow"
    with pytest.raises(ValueError, match=f"no vector function 'sinh': there are {known}, on"):
        math_function("sinh", 8)
