"""Buffers that share storage compute the same, and more of them fit on the stack."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects import memref
from xdsl.dialects.builtin import ModuleOp

from tilework.analysis.verification import verify
from tilework.backends.llvm.emit_kernel import emit_kernels
from tilework.dialects.loop import KernelOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.interpreters.loop import run_loop_kernel
from tilework.targets.cpu.host import host_target
from tilework.transforms.loop.flatten_storage import FlattenStorage
from tilework.transforms.loop.storage_rewrite import StorageRewrite

CONTEXT = make_context()
SIZE = 6
READS = ("%i", f"{SIZE - 1} - %i", "0", "(%i + %o) mod 6", "%i floordiv 2", "2 * (%i floordiv 2)")
"""Where a stage reads the stages before it: in place, backwards, one element, whatever."""


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Stages in program order, each a buffer that a loop fills from those before, some of them inside loops of o."""
    wheres = draw(st.lists(st.sampled_from(["scratch", "outside", "inside"]), min_size=2, max_size=7))
    wheres.sort(key=("scratch", "outside", "inside").index)
    types = {"scratch": f"memref<{SIZE}xf32>", "outside": f'memref<{SIZE}xf32, "local">'}
    buffers = {"x": f"memref<{SIZE}xf32>"}
    outer, inner = "", ""
    for n, where in enumerate(wheres):
        type_ = types.get(where, types["outside"])
        name, reads = f"b{n}", draw(st.lists(st.sampled_from(list(buffers)), min_size=1, max_size=3))
        body = f"{'' if where == 'scratch' else f'%{name} = memref.alloca() : {type_}'}\n"
        body += _stage(name, type_, [(r, draw(st.sampled_from(READS)), buffers[r]) for r in reads], where == "inside")
        buffers[name] = type_
        if where == "inside":
            inner += body
        else:
            outer += body
    last = f"b{len(wheres) - 1}"
    result = _stage("y", f"memref<{3 * SIZE}xf32>", [(last, "%i", buffers[last])], True, f"{SIZE} * %o + %i")
    scratch = ", ".join(f"%b{n}: memref<{SIZE}xf32>" for n, where in enumerate(wheres) if where == "scratch")
    kind = draw(st.sampled_from(["", "parallel"]))
    return f"""
      loop.kernel @k ins(%x: memref<{SIZE}xf32>) outs(%y: memref<{3 * SIZE}xf32>)
          {f"scratch({scratch})" if scratch else ""} {{
        {outer}
        loop.for %o = 0 to 3 "o" {kind} {{
          {inner}
          {result}
        }}
      }}"""


def _stage(name: str, type_: str, reads: list[tuple[str, str, str]], inside: bool, at: str = "%i") -> str:
    """`name` at every i: the sum of what it reads of the buffers."""
    loads = [
        f"%v{k} = loop.load %{buffer}[{index if inside else index.replace('%o', '1')}] : {read_type}"
        for k, (buffer, index, read_type) in enumerate(reads)
    ]
    sums = [f"%s{k} = arith.addf {'%v0' if k == 1 else f'%s{k - 1}'}, %v{k} : f32" for k in range(1, len(reads))]
    total = f"%s{len(reads) - 1}" if len(reads) > 1 else "%v0"
    store = f"loop.store {total}, %{name}[{at}] : {type_}"
    lines = "\n".join([*loads, *sums, store])
    return f'loop.for %i = 0 to {SIZE} "i" {{\n{lines}\n}}\n'


def parse(text: str) -> tuple[ModuleOp, KernelOp]:
    module = SourceParser(CONTEXT, text, "<test>").parse_module()
    (kernel,) = (op for op in module.ops if isinstance(op, KernelOp))
    return module, kernel


def result(kernel: KernelOp) -> np.ndarray:
    y = np.empty(3 * SIZE, np.float32)
    run_loop_kernel(kernel, [np.arange(1, SIZE + 1, dtype=np.float32)], [y])
    return y


@settings(max_examples=150, deadline=None)
@given(programs())
def test_sharing_changes_no_result(text: str):
    _, kernel = parse(text)
    expected = result(kernel)
    assert np.isfinite(expected).all()
    StorageRewrite().run(CONTEXT, kernel)
    verify(kernel)
    np.testing.assert_array_equal(result(kernel), expected)


TWO_LARGE = """
  loop.kernel @k ins(%x: memref<120000xf32>) outs(%y: memref<120000xf32>) {
    %a = memref.alloca() : memref<120000xf32, "local">
    %b = memref.alloca() : memref<120000xf32, "local">
    loop.for %i = 0 to 120000 "i" {
      %v = loop.load %x[%i] : memref<120000xf32>
      loop.store %v, %a[%i] : memref<120000xf32, "local">
    }
    loop.for %i = 0 to 120000 "i" {
      %v = loop.load %a[%i] : memref<120000xf32, "local">
      loop.store %v, %b[%i] : memref<120000xf32, "local">
    }
    loop.for %i = 0 to 120000 "i" {
      %v = loop.load %b[119999 - %i] : memref<120000xf32, "local">
      loop.store %v, %y[%i] : memref<120000xf32>
    }
  }"""


# tvm: test_pass_storage_rewrite/exceed_mem
def test_what_shares_fits_on_the_stack():
    module, kernel = parse(TWO_LARGE)
    with pytest.raises(CompileError, match="brings the stack of 'k' to 960000 bytes"):
        emit_kernels(module, host_target())
    StorageRewrite().run(CONTEXT, kernel)
    assert emit_kernels(module, host_target()).count("alloca [120000 x float]") == 1


def test_shared_storage_compiled(compile_kernel: Callable[[str], Callable[..., None]]):
    module, kernel = parse(TWO_LARGE)
    StorageRewrite().run(CONTEXT, kernel)
    x, y = np.arange(120000, dtype=np.float32), np.empty(120000, np.float32)
    compile_kernel(str(module))(x, y)
    np.testing.assert_array_equal(y, x[::-1])


def test_scratch_that_a_call_lends_stays():
    module, kernel = parse("""
      loop.kernel @k ins(%x: memref<4xf32>) outs(%y: memref<4xf32>) scratch(%a: memref<4xf32>, %b: memref<4xf32>) {
        loop.for %i = 0 to 4 "i" {
          %v = loop.load %x[%i] : memref<4xf32>
          loop.store %v, %a[%i] : memref<4xf32>
          %w = loop.load %a[%i] : memref<4xf32>
          loop.store %w, %y[%i] : memref<4xf32>
        }
        loop.for %i = 0 to 4 "i" {
          %v = loop.load %x[%i] : memref<4xf32>
          loop.store %v, %b[%i] : memref<4xf32>
          %w = loop.load %b[%i] : memref<4xf32>
          loop.store %w, %y[%i] : memref<4xf32>
        }
      }
      func.func @main(%x: memref<4xf32>, %y: memref<4xf32>, %s: memref<4xf32>, %t: memref<4xf32>) {
        loop.call @k ins(%x) outs(%y) scratch(%s, %t)
          : memref<4xf32>, memref<4xf32>, memref<4xf32>, memref<4xf32>
        func.return
      }""")
    StorageRewrite().run(CONTEXT, kernel)
    assert len(kernel.scratch) == 2
    next(op for op in module.ops if op.name == "func.func").detach()
    StorageRewrite().run(CONTEXT, kernel)
    assert len(kernel.scratch) == 1


def test_several_dimensions_are_refused():
    _, kernel = parse("""
      loop.kernel @k ins(%x: memref<2x2xf32>) outs(%y: memref<2x2xf32>) {
        %a = memref.alloca() : memref<2x2xf32, "local">
        loop.for %i = 0 to 2 "i" {
          %v = loop.load %x[%i, 0] : memref<2x2xf32>
          loop.store %v, %a[%i, 1] : memref<2x2xf32, "local">
        }
      }""")
    with pytest.raises(CompileError, match="has several dimensions: run loop-flatten-storage first"):
        StorageRewrite().run(CONTEXT, kernel)
    FlattenStorage().run(CONTEXT, kernel)
    StorageRewrite().run(CONTEXT, kernel)
    assert sum(isinstance(op, memref.AllocaOp) for op in kernel.walk()) == 1
