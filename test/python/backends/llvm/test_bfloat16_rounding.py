"""Conversions of bfloat16, and arithmetic on it, as machine code for several processors."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import c_int32, c_int64, c_void_p
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from tilework.backends.llvm.emit_kernel import emit_kernels
from tilework.dialects.support.registration import make_context
from tilework.runtime.devices.llvm.compile import assembly, compile_ir
from tilework.runtime.devices.llvm.native import load_objects
from tilework.targets import Target, parse_target
from tilework.targets.cpu.host import host_target
from tilework.transforms.loop.widen_bfloat16 import WidenBfloat16

Array = np.ndarray[Any, Any]
BF16 = np.dtype(ml_dtypes.bfloat16)
RANDOM = np.random.default_rng(16)
LANES = 16

EVERY = np.arange(1 << 16, dtype=np.uint16).view(BF16)
NUMBERS = np.sort(EVERY[np.isfinite(EVERY.astype(np.float32))].astype(np.float64))
"""The finite ones, both zeros among them."""

LOOP = """
loop.kernel @k ins(%x: memref<?xSOURCE> [N]) outs(%y: memref<?xRESULT> [N]) symbols(%N) {
  loop.for %i = 0 to %N "i" {
    %v = loop.load %x[%i] : memref<?xSOURCE>
    BODY
    loop.store %r, %y[%i] : memref<?xRESULT>
  }
}
"""

VECTORS = """
loop.kernel @k ins(%x: memref<?xSOURCE> [N]) outs(%y: memref<?xRESULT> [N]) symbols(%N) {
  loop.for %i = 0 to %N floordiv 16 "i" {
    %v = loop.load %x[16 * %i] : memref<?xSOURCE>, vector<16xSOURCE>
    BODY
    loop.store %r, %y[16 * %i] : memref<?xRESULT>, vector<16xRESULT>
  }
}
"""
FORMS = {"scalars": (LOOP, "{}"), "vectors": (VECTORS, f"vector<{LANES}x{{}}>")}

PROCESSORS = ["host", "x86-64", "x86-64-v2", "haswell", "skylake-avx512"]


def target_of(processor: str) -> Target:
    """Skips where this machine cannot run its code."""
    host = host_target()
    if processor == "host":
        return host
    if host.architecture != "x86_64":
        pytest.skip("a processor of x86")
    target = parse_target(f"llvm -mtriple={host.triple} -mcpu={processor}")
    if not target.enabled <= host.enabled:
        pytest.skip(f"this machine lacks what a {processor} has")
    return target


@pytest.fixture(params=PROCESSORS)
def target(request: pytest.FixtureRequest) -> Target:
    return target_of(request.param)


def source(form: str, body: str, source: str, result: str) -> str:
    """A kernel's text; S and R in the body are the types."""
    text, type_ = FORMS[form]
    body = (
        body.replace("S;", type_.format(source)).replace("R;", type_.format(result)).replace("F;", type_.format("f32"))
    )
    return text.replace("BODY", body).replace("SOURCE", source).replace("RESULT", result)


def computed(module: ModuleOp, target: Target, x: Array, result: np.dtype[Any]) -> Array:
    WidenBfloat16().apply(make_context(), module)
    library = load_objects([compile_ir(emit_kernels(module, target), target)])
    function = ctypes.CFUNCTYPE(None, c_void_p, c_void_p, c_int64, c_int32)(library.get_function("k"))
    assert len(x) % LANES == 0
    y = np.empty(len(x), result)
    function(x.ctypes.data, y.ctypes.data, len(x), 1)
    return y


def nearest(x: Array) -> Array:
    """Round to the nearest, ties to even, by looking up the neighbours: what numbers ml_dtypes rounds twice, it rounds
    once."""
    size = np.abs(x)
    above = np.searchsorted(NUMBERS, size, "left").clip(max=len(NUMBERS) - 1)
    above = np.where(size > NUMBERS[-1], len(NUMBERS) - 1, above)
    below = np.where(NUMBERS[above] > size, above - 1, above)
    low, high = NUMBERS[below], NUMBERS[above]
    is_even = low.astype(BF16).view(np.uint16) % 2 == 0
    nearer = np.where(size - low == high - size, is_even, size - low < high - size)
    result = np.where(nearer, low, high)
    result = np.where(size >= NUMBERS[-1] + (NUMBERS[-1] - NUMBERS[-2]) / 2, np.inf, result)
    return np.copysign(np.where(np.isnan(x), np.nan, result), x)


def padded(x: Array) -> Array:
    return np.concatenate([x, np.zeros(-len(x) % LANES, x.dtype)])


def check_same(found: Array, expected: Array) -> None:
    wide, wanted = found.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_array_equal(wide, wanted)
    np.testing.assert_array_equal(np.signbit(wide), np.signbit(wanted))


def singles() -> Array:
    """Every bfloat16, what lies half between two and on both sides of that, NaN of all kinds, any patterns."""
    finite = NUMBERS.astype(np.float32)
    between = ((NUMBERS[:-1] + NUMBERS[1:]) / 2).astype(np.float32)
    beside = [np.nextafter(between, np.float32(side)) for side in (-np.inf, np.inf)]
    patterns = np.array([0x7F800001, 0xFF800001, 0x7F80FFFF, 0x7FFFFFFF, 0xFFFFFFFF, 0x7F7FFFFF, 0x7F7F7FFF], np.uint32)
    any_ = RANDOM.integers(0, 1 << 32, 1 << 18, dtype=np.uint32)
    return padded(np.concatenate([finite, between, *beside, patterns.view(np.float32), any_.view(np.float32)]))


@pytest.mark.parametrize("form", FORMS)
def test_rounding_of_f32(form: str, target: Target, parse_module: Callable[[str], ModuleOp]):
    x = singles()
    module = parse_module(source(form, "%r = arith.truncf %v : S; to R;", "f32", "bf16"))
    found = computed(module, target, x, BF16)
    with np.errstate(invalid="ignore"):
        expected = x.astype(BF16)
    check_same(found, expected)
    check_same(found, nearest(x.astype(np.float64)))


@pytest.mark.parametrize("form", FORMS)
def test_rounding_of_f64(form: str, target: Target, parse_module: Callable[[str], ModuleOp]):
    """Once, not by way of a float: just above half between two, a float lies half between."""
    between = (NUMBERS[:-1] + NUMBERS[1:]) / 2
    beside = [np.nextafter(between, side) for side in (-np.inf, np.inf)]
    x = padded(np.concatenate([NUMBERS, between, *beside, [1e300, -1e300, 5e-324, np.inf, -np.inf, np.nan]]))
    module = parse_module(source(form, "%r = arith.truncf %v : S; to R;", "f64", "bf16"))
    check_same(computed(module, target, x, BF16), nearest(x))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("result", ["f32", "f64"])
def test_extension_of_every_number(form: str, result: str, target: Target, parse_module: Callable[[str], ModuleOp]):
    module = parse_module(source(form, "%r = arith.extf %v : S; to R;", "bf16", result))
    found = computed(module, target, EVERY, np.dtype(result.replace("f", "float")))
    check_same(found, EVERY)


OPERATIONS: dict[str, tuple[str, Callable[[Array], Array]]] = {
    "negated": ("%r = arith.negf %v : S;", np.negative),
    "absolute": ("%r = math.absf %v : S;", np.abs),
    "doubled": ("%r = arith.addf %v, %v : S;", lambda x: x + x),
    "squared": ("%r = arith.mulf %v, %v : S;", lambda x: x * x),
    "cubed": ("%s = arith.mulf %v, %v : S;\n%r = arith.mulf %s, %v : S;", lambda x: x * x * x),
    "root": ("%r = math.sqrt %v : S;", np.sqrt),
    "largest": ("%s = arith.mulf %v, %v : S;\n%r = arith.maximumf %s, %v : S;", lambda x: np.maximum(x * x, x)),
    "chosen": (
        "%s = arith.mulf %v, %v : S;\n%c = arith.cmpf olt, %s, %v : S;\n%r = arith.select %c, %s, %v : C;S;",
        lambda x: np.where(x * x < x, x * x, x),
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", OPERATIONS)
def test_operations_on_every_number(form: str, name: str, target: Target, parse_module: Callable[[str], ModuleOp]):
    """Rounded after each step, as ml_dtypes does."""
    body, meaning = OPERATIONS[name]
    body = body.replace("C;", f"vector<{LANES}xi1>, " if form == "vectors" else "")
    module = parse_module(source(form, body, "bf16", "bf16"))
    with np.errstate(all="ignore"):
        expected = meaning(EVERY)
    found = computed(module, target, EVERY, BF16).astype(np.float32)
    np.testing.assert_array_equal(found, expected.astype(np.float32))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["cubed", "chosen", "negated"])
@pytest.mark.parametrize("processor", [*PROCESSORS[1:], "znver4", "neoverse-n1"])
def test_no_function_is_called(form: str, name: str, processor: str, parse_module: Callable[[str], ModuleOp]):
    """Nor are vectors taken apart, element by element."""
    body = OPERATIONS[name][0].replace("C;", f"vector<{LANES}xi1>, " if form == "vectors" else "")
    module = parse_module(source(form, body, "bf16", "bf16"))
    WidenBfloat16().apply(make_context(), module)
    target = parse_target(f"llvm -mcpu={processor}")
    text = assembly(emit_kernels(module, target), target)
    instructions = {line.split()[0] for line in text.splitlines() if line.startswith("\t") and line.strip()}
    assert not instructions & {"call", "callq", "bl"} and "__truncsfbf2" not in text
    if form == "vectors":
        assert not {i for i in instructions if i.lstrip("v").startswith(("pinsr", "pextr"))}


def test_instruction_of_arm(parse_module: Callable[[str], ModuleOp]):
    module = parse_module(source("vectors", "%r = arith.truncf %v : S; to R;", "f32", "bf16"))
    target = parse_target("llvm -mcpu=neoverse-v1")
    assert "bfcvtn" in assembly(emit_kernels(module, target), target)
