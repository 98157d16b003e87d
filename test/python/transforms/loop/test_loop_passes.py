"""The loop passes change no result: every kernel of their tests, and generated ones, before and after each pass."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from places import ROOT
from programs import for_target
from xdsl.dialects.builtin import MemRefType

import tilework
from tilework import te
from tilework.analysis.accesses import element_count, element_strides
from tilework.analysis.verification import verify
from tilework.dialects.loop import ForOp, IfOp, KernelOp, Kind
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.driver.levels import lower_by_levels
from tilework.interpreters.buffers import memref_dtype
from tilework.interpreters.loop import run_loop_kernel
from tilework.targets import parse_target
from tilework.tools.bench.growth_programs import program_of
from tilework.transforms.base import TileworkPass
from tilework.transforms.loop.emulate_narrow_types import EmulateNarrowTypes
from tilework.transforms.loop.flatten_storage import FlattenStorage
from tilework.transforms.loop.hoist_invariant import HoistInvariant
from tilework.transforms.loop.partition import Partition
from tilework.transforms.loop.rewrite_unsafe_select import RewriteUnsafeSelect
from tilework.transforms.loop.simplify import Simplify
from tilework.transforms.loop.storage_rewrite import StorageRewrite
from tilework.transforms.loop.unroll import Unroll
from tilework.transforms.loop.vectorize import Vectorize
from tilework.transforms.loop.widen_bfloat16 import WidenBfloat16

CONTEXT = make_context()
PIPELINE = (
    Simplify(),
    Partition(),
    Simplify(),
    FlattenStorage(),
    Vectorize(max_lanes=8),
    EmulateNarrowTypes(),
    WidenBfloat16(),
    Unroll(),
    HoistInvariant(),
    Simplify(),
    StorageRewrite(),
)
FOLDER = ROOT / "test" / "transforms" / "loop"
SYMBOLS = (0, 1, 7, 33)


def kernels_in(text: str) -> list[KernelOp]:
    module = SourceParser(CONTEXT, text, "<test>").parse_module()
    return [op for op in module.ops if isinstance(op, KernelOp) and not op.is_declaration]


def results(kernel: KernelOp, size: int) -> list[np.ndarray]:
    """The outputs for inputs of small integers, all symbols being `size`; elements never written are NaN."""
    random = np.random.default_rng(1)
    symbols: dict[object, int] = {name.data: size for name in kernel.symbols}
    arrays: list[np.ndarray] = []
    for argument, dims in zip((*kernel.inputs, *kernel.outputs), (d.data for d in kernel.dims), strict=False):
        assert isinstance(argument.type, MemRefType)
        shape = [e.evaluate(symbols) for e in dims]
        strides = [s.evaluate(symbols) for s in element_strides(argument.type, dims)]
        elements = random.integers(-4, 5, element_count(dims, element_strides(argument.type, dims)).evaluate(symbols))
        flat = elements.astype(memref_dtype(argument.type))
        arrays.append(np.lib.stride_tricks.as_strided(flat, shape, [s * flat.itemsize for s in strides]))
    inputs = len(kernel.inputs)
    run_loop_kernel(kernel, arrays[:inputs], arrays[inputs:], symbols=list(symbols.values()))
    return arrays[inputs:]


def check(kernel: KernelOp, passes: tuple[TileworkPass, ...] = PIPELINE) -> KernelOp:
    """Run the passes one by one, with the kernel's results compared after each; the kernel as it is in the end."""
    sizes = SYMBOLS if kernel.symbols.data else (0,)
    expected = [results(kernel, size) for size in sizes]
    for pass_ in passes:
        pass_.run(CONTEXT, kernel)
        verify(kernel)
        for size, wanted in zip(sizes, expected, strict=True):
            for want, got in zip(wanted, results(kernel, size), strict=True):
                np.testing.assert_allclose(got, want, rtol=1e-6, err_msg=f"after {pass_.name}, symbols {size}")
    return kernel


WRITTEN = [
    kernel
    for file in (
        "simplify",
        "partition",
        "partition-conformance",
        "flatten-storage",
        "vectorize",
        "vectorize-conditions",
        "emulate-narrow-types",
        "widen-bfloat16",
        "unroll",
        "hoist-invariant",
        "storage-rewrite",
        "storage-rewrite-in-place",
    )
    for kernel in kernels_in((FOLDER / f"{file}.mlir").read_text(encoding="utf-8"))
    if kernel.sym_name.data != "large_input"  # gigabytes
]


@pytest.mark.parametrize("kernel", WRITTEN, ids=lambda kernel: kernel.sym_name.data)
def test_tested_kernels(kernel: KernelOp):
    check(kernel)


LAZY = kernels_in((FOLDER / "rewrite-unsafe-select.mlir").read_text(encoding="utf-8"))


@pytest.mark.parametrize("kernel", LAZY, ids=lambda kernel: kernel.sym_name.data)
def test_choices_between_loads_stay_within_buffers(kernel: KernelOp):
    if kernel.sym_name.data != "safe":
        with pytest.raises(CompileError, match="out of bounds"):
            results(kernel, 0)
    RewriteUnsafeSelect().run(CONTEXT, kernel)
    (result,) = results(kernel, 0)
    assert np.isfinite(result).all()
    check(kernel)


def test_a_select_of_te_guards_the_load_in_its_arm():
    """A[-1] is never read, neither in Python nor in machine code."""
    a = te.placeholder((8,), name="A")
    b = te.compute((9,), lambda i: te.Select(i > 0, a[i - 1], 0.0), name="B")
    for vectorized in (False, True):
        s = te.create_schedule(b.op)
        _, inner = s[b].split(b.op.axis[0], 4)
        if vectorized:
            s[b].vectorize(inner)
        y = np.empty(9, np.float32)
        tilework.build(s, [a, b], target="llvm")(np.arange(1, 9, dtype=np.float32), y)
        np.testing.assert_array_equal(y, range(9))


def window(
    n: int | None, factor: int, window: int, before: int, kinds: tuple[str, str, str], guard_inside: bool
) -> str:
    """A sum over windows of a padded vector of n elements (symbolic for None), in tiles of `factor`."""
    rows, tiles, size = (
        (n, -(-n // factor), n) if n is not None else ("%N", f"(%N + {factor - 1}) floordiv {factor}", "?")
    )
    dims = " [N]" if n is None else ""
    at = f"{factor} * %o + %i + %r - {before}"
    loops = [f'loop.for %o = 0 to {tiles} "o" {kinds[0]}', f'loop.for %i = 0 to {factor} "i" {kinds[1]}']
    guard = f"loop.if [{rows} - 1 - {factor} * %o - %i >= 0]"
    around = [*loops, guard] if not guard_inside else loops
    last = f"{guard} {{" if guard_inside else ""
    header = f"ins(%x: memref<{size}xf32>{dims}) outs(%y: memref<{size}xf32>{dims})"
    return f"""
      loop.kernel @window {header} {"symbols(%N)" if n is None else ""} {{
        %zero = arith.constant 0.0 : f32
        {" { ".join(around)} {{
          %acc = memref.alloca() : memref<1xf32>
          loop.store %zero, %acc[0] : memref<1xf32>
          loop.for %r = 0 to {window} "r" {kinds[2]} {{
            %v = loop.if [{at} >= 0, {rows} - 1 - ({at}) >= 0] -> f32 {{
              %w = loop.load %x[{at}] : memref<{size}xf32>
              loop.yield %w : f32
            }} else {{
              loop.yield %zero : f32
            }}
            %old = loop.load %acc[0] : memref<1xf32>
            %new = arith.addf %old, %v : f32
            loop.store %new, %acc[0] : memref<1xf32>
          }}
          %sum = loop.load %acc[0] : memref<1xf32>
          {last}
            loop.store %sum, %y[{factor} * %o + %i] : memref<{size}xf32>
          {"}" if guard_inside else ""}
        {"}" * len(around)}
      }}
    """


@settings(max_examples=40, deadline=None)
@given(
    n=st.one_of(st.none(), st.integers(1, 23)),
    factor=st.integers(1, 17),
    size=st.integers(0, 4),
    before=st.integers(0, 3),
    outer=st.sampled_from(["", "parallel", "vectorized"]),
    inner=st.sampled_from(["", "vectorized", "unrolled", "partition"]),
    reduction=st.sampled_from(["", "unrolled"]),
    guard_inside=st.booleans(),
)
def test_windows(
    n: int | None, factor: int, size: int, before: int, outer: str, inner: str, reduction: str, guard_inside: bool
):
    (kernel,) = kernels_in(window(n, factor, size, before, (outer, inner, reduction), guard_inside))
    check(kernel)
    assert not any(isinstance(op, ForOp) and op.kind.data is Kind.VECTORIZED for op in kernel.walk())


def test_a_concatenation_of_many_tensors_becomes_a_loop_for_each():
    """No condition is left, and no copy of what other iterations do."""
    target = parse_target("llvm -mcpu=haswell")
    sizes: list[int] = []
    for parts in (40, 80):
        *_, (_, module) = lower_by_levels(for_target(program_of("graph-concat", parts), target))
        operations = list(module.walk())
        assert not any(isinstance(op, IfOp) for op in operations)
        sizes.append(len(operations))
    assert sizes[1] < 2.1 * sizes[0]
