"""Every operation of kernels, compiled by way of C and by LLVM, on scalars and vectors: results are the same bits."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import ml_dtypes
import numpy as np
import pytest
from c_compilers import kernel_functions, need_compiler
from xdsl.dialects.builtin import ModuleOp

from tilework.backends.c_family.emit_kernel import KERNEL_HANDLERS
from tilework.backends.llvm.emit_kernel import KERNEL_HANDLERS as LLVM_HANDLERS
from tilework.backends.llvm.emit_kernel import emit_kernels
from tilework.dialects.loop import KernelOp
from tilework.runtime.devices.llvm.compile import compile_ir
from tilework.runtime.devices.llvm.native import load_objects
from tilework.targets.cpu.host import host_target

N = 84
DTYPES = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64, "i1": np.bool_}
DTYPES |= {f"i{bits}": np.dtype(f"int{bits}").type for bits in (8, 16, 32, 64)} | {"index": np.int64}
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 2.5, 1e-40, -65519.0, 3e38, 0.5, -1.5, 6e-8]


class Operation(NamedTuple):
    """`%r = text`, where {x} stands for the type of %x. ulp: how far results may be apart; for those of float."""

    text: str
    types: dict[str, str]
    ulp: int = 0


def operations() -> Iterator[Operation]:
    yield from float_operations()
    yield from integer_operations()
    yield from conversions()
    yield from choices()


def float_operations() -> Iterator[Operation]:
    for t in ("f16", "f32", "f64"):
        for name in ("addf", "subf", "mulf", "divf", "maximumf", "minimumf", "maxnumf", "minnumf", "remf"):
            yield Operation(f"arith.{name} %x, %y : {{r}}", dict.fromkeys("xyr", t))
        for name in ("absf", "sqrt", "floor", "ceil", "trunc", "round", "roundeven"):
            yield Operation(f"math.{name} %x : {{r}}", dict.fromkeys("xr", t))
        # of half, C rounds the root only once it has been divided by
        yield Operation("math.rsqrt %x : {r}", dict.fromkeys("xr", t), ulp=1 if t == "f16" else 0)
        yield Operation("arith.negf %x : {r}", dict.fromkeys("xr", t))
        yield Operation("math.copysign %x, %y : {r}", dict.fromkeys("xyr", t))
        for predicate in "oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true false".split():
            yield Operation(f"arith.cmpf {predicate}, %x, %y : {{x}}", {"x": t, "y": t, "r": "i1"})
    names = "exp log tanh erf exp2 expm1 log10 log1p log2 sin cos tan asin acos atan sinh cosh asinh acosh atanh"
    for t in ("f16", "f32", "f64"):
        for name in names.split():
            yield Operation(f"math.{name} %x : {{r}}", dict.fromkeys("xr", t), ulp=2)
        for name in ("powf", "atan2"):
            yield Operation(f"math.{name} %x, %y : {{r}}", dict.fromkeys("xyr", t), ulp=2)
    for t in ("f32", "f64"):
        yield Operation("math.fma %x, %y, %z : {r}", dict.fromkeys("xyzr", t))
    yield Operation("vector.fma %x, %y, %z : {r}", dict.fromkeys("xyzr", "f32"))


def integer_operations() -> Iterator[Operation]:
    names = "addi subi muli divsi divui remsi remui floordivsi andi ori xori maxsi minsi maxui minui shli shrsi shrui"
    for t in ("i8", "i16", "i32", "i64"):
        for name in names.split():
            yield Operation(f"arith.{name} %x, %y : {{r}}", dict.fromkeys("xyr", t))
        for name in ("absi", "ctpop", "ctlz", "cttz"):
            yield Operation(f"math.{name} %x : {{r}}", dict.fromkeys("xr", t))
    for name in ("andi", "ori", "xori", "addi", "subi", "muli"):
        yield Operation(f"arith.{name} %x, %y : {{r}}", dict.fromkeys("xyr", "i1"))
    for t in ("i1", "i8", "i32", "i64"):
        for predicate in "eq ne slt sle sgt sge ult ule ugt uge".split():
            yield Operation(f"arith.cmpi {predicate}, %x, %y : {{x}}", {"x": t, "y": t, "r": "i1"})
    yield Operation("loop.call_intrinsic @dot4.ui8i8(%x, %y) : ({x}, {y}) -> {r}", dict.fromkeys("xyr", "i32"))


def conversions() -> Iterator[Operation]:
    integers = ("i1", "i8", "i16", "i32", "i64")
    for i, source in enumerate(integers):
        for target in integers[i + 1 :]:
            for name in ("extsi", "extui"):
                yield Operation(f"arith.{name} %x : {{x}} to {{r}}", {"x": source, "r": target})
            yield Operation("arith.trunci %x : {x} to {r}", {"x": target, "r": source})
        for target in ("f16", "f32", "f64"):
            for name in ("sitofp", "uitofp"):
                yield Operation(f"arith.{name} %x : {{x}} to {{r}}", {"x": source, "r": target})
    for source, target in ("f16", "f32"), ("f16", "f64"), ("f32", "f64"), ("bf16", "f32"), ("bf16", "f64"):
        yield Operation("arith.extf %x : {x} to {r}", {"x": source, "r": target})
        yield Operation("arith.truncf %x : {x} to {r}", {"x": target, "r": source})
    for pair in ("f32", "i32"), ("f64", "i64"), ("f16", "i16"), ("bf16", "i16"):
        for source, target in pair, pair[::-1]:
            yield Operation("arith.bitcast %x : {x} to {r}", {"x": source, "r": target})
    for t in ("i8", "i32", "i64"):
        yield Operation("arith.index_cast %x : {x} to {r}", {"x": t, "r": "index"})
        yield Operation("arith.index_cast %x : {x} to {r}", {"x": "index", "r": t})


def choices() -> Iterator[Operation]:
    for t in ("i1", "i8", "f16", "bf16", "f32", "i64", "f64"):
        chosen = "arith.select %x, %y, %z : {x}, {r}"
        yield Operation(chosen, {"x": "i1", "y": t, "z": t, "r": t})


OPERATIONS = list(operations())


def kernel(operation: Operation, name: str, lanes: int | None) -> str:
    """Applies the operation to every element of its arrays."""
    types = operation.types

    def typed(t: str) -> str:
        return t if lanes is None else f"vector<{lanes}x{t}>"

    suffix = {v: "" if lanes is None else f", {typed(t)}" for v, t in types.items()}
    inputs, at = [v for v in "xyz" if v in types], "%i" if lanes is None else f"{lanes} * %i"
    loads = "\n".join(f"%{v} = loop.load %in_{v}[{at}] : memref<{N}x{types[v]}>{suffix[v]}" for v in inputs)
    text = operation.text
    if lanes is None and text.startswith("arith.select"):
        text = text.replace("{x}, ", "")
    body = re.sub(r"\{(\w)\}", lambda m: typed(types[m[1]]), text)
    arguments = ", ".join(f"%in_{v}: memref<{N}x{types[v]}>" for v in inputs)
    return f"""
loop.kernel @{name} ins({arguments}) outs(%out: memref<{N}x{types["r"]}>) {{
  loop.for %i = 0 to {N // (lanes or 1)} "i" {{
    {loads}
    %r = {body}
    loop.store %r, %out[{at}] : memref<{N}x{types["r"]}>{suffix["r"]}
  }}
}}"""


def data(name: str, seed: int) -> np.ndarray:
    """Numbers of a type, among them all kinds of special ones, that meet others from one seed to the next."""
    rng, dtype = np.random.default_rng(seed), DTYPES[name]
    if name == "i1":
        return rng.integers(0, 2, N).astype(bool)
    if name.startswith("i"):
        limits = np.iinfo(dtype)
        few = [0, 1, -1, 2, -3, 7, limits.bits - 1, limits.bits, limits.min, limits.min + 1, limits.max, 100, -100]
        return rng.choice(np.array(few, dtype), N)
    with np.errstate(over="ignore"):
        return np.where(rng.random(N) < 0.4, rng.choice(SPECIAL, N), rng.uniform(-4, 4, N)).astype(dtype)


def llvm_functions(module: ModuleOp) -> dict[str, Callable[..., None]]:
    """The kernels of a module by name, compiled by LLVM."""
    library = load_objects([compile_ir(emit_kernels(module, host_target()), host_target(), opt_level=1)])
    found: dict[str, Callable[..., None]] = {}
    for op in module.ops:
        assert isinstance(op, KernelOp)
        types = [ctypes.c_void_p] * sum(op.group_sizes[:3]) + [ctypes.c_int64] * op.group_sizes[3] + [ctypes.c_int32]
        function = ctypes.CFUNCTYPE(None, *types)(library.get_function(op.sym_name.data))
        found[op.sym_name.data] = _keeping(library, function)
    return found


def _keeping(library: object, function: Callable[..., None]) -> Callable[..., None]:
    def call(*arrays: np.ndarray) -> None:
        assert library is not None
        function(*(a.ctypes.data for a in arrays), 1)

    return call


def differences(found: np.ndarray, expected: np.ndarray, ulp: int) -> np.ndarray:
    """Where results are apart; all NaN are the same, and so are the zeros of a maximum."""
    if found.dtype == bool or found.dtype.kind == "i":
        return np.flatnonzero(found != expected)
    with np.errstate(all="ignore"):
        a, b = found.astype(np.float64), expected.astype(np.float64)
        apart = np.spacing(np.abs(expected)).astype(np.float64) * ulp if ulp else 0.0
        same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= apart)
    return np.flatnonzero(~same)


def check(parse_module, folder: Path, compiler: str, flags: tuple[str, ...], lanes: tuple[int | None, ...]) -> None:
    need_compiler(compiler)
    all_cases = {f"k{i}_{n}": (op, n) for i, op in enumerate(OPERATIONS) for n in lanes}
    cases = {name: (op, n) for name, (op, n) in all_cases.items() if n is not None or not op.text.startswith("vector")}
    module = parse_module("\n".join(kernel(op, name, n) for name, (op, n) in cases.items()))
    by_c, by_llvm = kernel_functions(module, folder, compiler, flags), llvm_functions(module)
    wrong: list[str] = []
    for name, (op, n) in cases.items():
        inputs = [data(op.types[v], seed) for seed, v in enumerate("xyz") if v in op.types]
        results = [np.zeros(N, DTYPES[op.types["r"]]) for _ in range(2)]
        for functions, result in zip((by_c, by_llvm), results, strict=True):
            functions[name](*inputs, result)
        at = differences(*results, op.ulp)
        wrong += [f"{op.text} {op.types} by {n}: {[x[i] for x in inputs]} is {[r[i] for r in results]}" for i in at[:1]]
    assert wrong == []


def test_operations(parse_module, tmp_path: Path):
    check(parse_module, tmp_path, "gcc", ("-O0", "-march=native"), (None, 4))


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("flags", [("-O0",), ("-O3", "-march=native")])
@pytest.mark.parametrize("lanes", [(None, 1, 3), (7, 14), (12, 42)])
def test_operations_on_many_lanes(
    parse_module, tmp_path: Path, compiler: str, flags: tuple[str, ...], lanes: tuple[int | None, ...]
):
    check(parse_module, tmp_path, compiler, flags, lanes)


@pytest.mark.parametrize(("kind", "bits"), [("fptosi", 32), ("fptoui", 8), ("fptosi", 64)])
@pytest.mark.parametrize("lanes", [None, 4, 7])
def test_floats_that_fit_become_integers(parse_module, tmp_path: Path, kind: str, bits: int, lanes: int | None):
    need_compiler()
    for source in ("f16", "f32", "f64"):
        operation = Operation(f"arith.{kind} %x : {{x}} to {{r}}", {"x": source, "r": f"i{bits}"})
        folder = tmp_path / source
        folder.mkdir()
        function = kernel_functions(parse_module(kernel(operation, "k", lanes)), folder, flags=("-O1",))["k"]
        x = np.random.default_rng(0).uniform(0, 200, N).astype(DTYPES[source])
        result = np.zeros(N, DTYPES[f"i{bits}"])
        function(x, result)
        np.testing.assert_array_equal(
            result, x.astype(np.int64).astype(np.uint8 if bits == 8 else np.int64).astype(result.dtype)
        )


def test_every_operation_that_llvm_knows_is_known():
    assert set(KERNEL_HANDLERS) == set(LLVM_HANDLERS)
