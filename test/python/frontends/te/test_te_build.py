"""lower and build: loops as text, functions of arrays, what calls refuse, round trips through text."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from places import ROOT

import tilework as tw
from tilework import te
from tilework.runtime.cache import KernelCache
from tilework.tools.opt_tool import main as opt_tool

EXAMPLES = ROOT / "examples"


def dense():
    """C = relu(A @ B.T) for any sizes, tiled."""
    m, n, length = te.var("m"), te.var("n"), te.var("l")
    A, B = te.placeholder((m, length), name="A"), te.placeholder((n, length), name="B")
    k = te.reduce_axis((0, length), "k")
    C = te.compute((m, n), lambda i, j: te.sum(A[i, k] * B[j, k], axis=k), name="C")
    D = te.compute((m, n), lambda i, j: te.max(C[i, j], 0), name="D")
    s = te.create_schedule(D.op)
    xo, yo, xi, yi = s[D].tile(*D.op.axis, 4, 8)
    s[C].compute_at(s[D], yo)
    s[D].vectorize(yi)
    s[D].parallel(xo)
    return s, [A, B, D]


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return KernelCache(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="module")
def relu_dense(cache):
    s, args = dense()
    return tw.build(s, args, name="relu_dense", cache=cache)


def ones(*shape: int, dtype: str = "float32") -> np.ndarray:
    return np.ones(shape, dtype)


@pytest.mark.parametrize("shape", [(1, 1, 1), (4, 8, 3), (5, 9, 16), (13, 3, 0), (0, 4, 4), (33, 17, 5)])
@pytest.mark.parametrize("threads", [1, 3])
def test_one_function_for_all_sizes(relu_dense, shape, threads):
    m, n, length = shape
    rng = np.random.default_rng(0)
    a, b = rng.integers(-3, 4, (m, length)).astype(np.float32), rng.integers(-3, 4, (n, length)).astype(np.float32)
    d = np.full((m, n), np.nan, np.float32)
    before = tw.get_num_threads()
    tw.set_num_threads(threads)
    try:
        relu_dense(a, b, d)
    finally:
        tw.set_num_threads(before)
    np.testing.assert_array_equal(d, np.maximum(a @ b.T, 0))


def read_only() -> np.ndarray:
    array = ones(2, 3)
    array.flags.writeable = False
    return array


SHARED = ones(4, 3)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (
            (ones(2, 4), ones(3, 4)),
            "relu_dense takes 3 arrays (A: float32 (m, l); B: float32 (n, l); D: float32 (m, n)); 2 given",
        ),
        (
            (ones(2, 4, dtype="float64"), ones(3, 4), ones(2, 3)),
            "input 'A' is float64, relu_dense takes float32: convert with A.astype(np.float32)",
        ),
        (([[1.0]], ones(3, 4), ones(2, 3)), "input 'A' is a list: pass a numpy array or a DLPack tensor"),
        ((ones(2, 4), ones(3, 4), ones(2, 3, dtype="int32")), "'D' is int32, relu_dense writes float32"),
        ((ones(2, 4), ones(3, 4), 3.0), "'D' is a float: pass a numpy array for the result"),
        (
            (ones(2, 4), ones(3, 5), ones(2, 3)),
            "dimension 1 of input 'B' is 5, but l is 4: l = 4 is dimension 1 of input 'A'",
        ),
        (
            (ones(2, 4, 1), ones(3, 4), ones(2, 3)),
            "input 'A' has 3 dimensions, (2, 4, 1): relu_dense takes 2, (m, l)",
        ),
        (
            (ones(2, 4), ones(3, 4), ones(3, 2)),
            "'D' has shape (3, 2), relu_dense writes (2, 3) with m = 2, l = 4, n = 3",
        ),
        ((ones(2, 4), ones(3, 4), ones(6)), "'D' has shape (6,), relu_dense writes (2, 3)"),
        (
            (ones(2, 4), ones(3, 4), ones(2, 6)[:, ::2]),
            "'D' is written: it must be a writable, aligned, C-contiguous array",
        ),
        (
            (ones(2, 4), ones(3, 4), read_only()),
            "'D' is written: it must be a writable, aligned, C-contiguous array",
        ),
        ((SHARED[:3], ones(3, 3), SHARED[1:]), "'D' is written and overlaps 'A': pass an array of its own"),
    ],
)
def test_refused_calls(relu_dense, arrays, message):
    with pytest.raises(tw.UsageError) as caught:
        relu_dense(*arrays)
    assert str(caught.value) == message


def test_strided_inputs_are_copied(relu_dense):
    a, b = np.arange(24, dtype=np.float32).reshape(4, 6), ones(6, 6)
    d = ones(2, 3)
    relu_dense(a[::2, ::2], b[::2, ::2], d)
    np.testing.assert_array_equal(d, np.maximum(a[::2, ::2] @ b[::2, ::2].T, 0))


def test_the_destination_may_stand_anywhere(cache):
    A = te.placeholder((3,), name="A")
    B = te.compute((3,), lambda i: A[i] + 1, name="B")
    f = tw.build(te.create_schedule(B.op), [B, A], cache=cache)
    b = np.zeros(3, np.float32)
    f(b, np.arange(3, dtype=np.float32))
    assert b.tolist() == [1, 2, 3] and f.entry_name == "default_function"
    assert repr(f) == "Function(default_function: B: float32 (3,), A: float32 (3,))"


@pytest.mark.parametrize("name", ["expf", "memcpy", "two words", "te_kernel"])
def test_any_name_will_do(cache, name):
    A = te.placeholder((3,), name="A")
    B = te.compute((3,), lambda i: te.exp(A[i]), name="B")
    f, b = tw.build(te.create_schedule(B.op), [A, B], name=name, cache=cache), np.zeros(3, np.float32)
    f(np.zeros(3, np.float32), b)
    assert b.tolist() == [1, 1, 1] and f.entry_name == name


def test_a_size_is_told_by_a_dimension_of_its_own(cache):
    n = te.var("n")
    A, size = te.placeholder((2 * n,), name="A"), te.placeholder((n,), name="size")
    B = te.compute((n,), lambda i: A[2 * i] + A[2 * i + 1], name="B")
    with pytest.raises(tw.UsageError) as caught:
        tw.build(te.create_schedule(B.op), [A, B], cache=cache)
    message = "te.var 'n' is by itself no dimension of an argument that is read: add a tensor of it"
    assert str(caught.value) == message
    C = te.compute((n,), lambda i: B[i] + 0 * size[i], name="C")
    f, c = tw.build(te.create_schedule(C.op), [A, size, C], cache=cache), np.zeros(3, np.float32)
    f(np.arange(6, dtype=np.float32), np.zeros(3, np.float32), c)
    assert c.tolist() == [1, 5, 9]
    with pytest.raises(tw.UsageError, match="^dimension 0 of input 'A' is 7, but 2 [*] n is 6: n = 3 is dimension 0"):
        f(np.zeros(7, np.float32), np.zeros(3, np.float32), c)


def test_equal_schedules_are_compiled_once(tmp_path, monkeypatch):
    from tilework.frontends.te import build as module

    cache, compiled = KernelCache(tmp_path), []
    original = module.compile_kernel
    monkeypatch.setattr(
        module, "compile_kernel", lambda *args, **options: compiled.append(args) or original(*args, **options)
    )
    for _ in range(2):
        s, args = dense()
        tw.build(s, args, cache=cache)
    assert len(compiled) == 1
    s, args = dense()
    s[args[2]].unroll(s[args[2]].leaf_iter_vars[2])
    tw.build(s, args, cache=cache)
    assert len(compiled) == 2


def test_targets(cache):
    s, args = dense()
    f = tw.build(s, args, target="llvm -mtriple=aarch64-linux-gnu", cache=cache)
    assert f.object_code[18] == 183  # EM_AARCH64
    with pytest.raises(tw.TileworkError, match="^the module was compiled for processor architecture aarch64"):
        f(ones(2, 4), ones(3, 4), ones(2, 3))
    with pytest.raises(tw.UsageError, match="^unknown target 'fpga'"):
        tw.build(s, args, target="fpga", cache=cache)


def test_lower_prints_both_forms_of_the_loops():
    A = te.placeholder((64,), name="A")
    B = te.compute((64,), lambda i: A[i] * 2, name="B")
    s = te.create_schedule(B.op)
    s[B].vectorize(s[B].split(B.op.axis[0], factor=16)[1])
    simple, full = tw.lower(s, [A, B], name="twice", simple_mode=True), tw.lower(s, [A, B], name="twice")
    assert 'loop.for %i_inner = 0 to 16 "i.inner" vectorized' in str(simple)
    assert "loop.kernel @twice ins(%A: memref<64xf32>) outs(%B: memref<64xf32>)" in str(full)
    assert "vector<16xf32>" in str(full) and "vectorized" not in str(full)


def test_a_printed_schedule_is_read_by_opt_tool(tmp_path, capsys):
    s, args = dense()
    whole, kernel = tmp_path / "whole.mlir", tmp_path / "kernel.mlir"
    whole.write_text(str(s))
    text = str(s)
    kernel.write_text(text[: text.index("  schedule.sequence")] + "}\n")
    assert opt_tool([str(whole), "--target=llvm", "-p", "compile-kernel"]) == 0
    lowered = capsys.readouterr().out
    assert opt_tool([str(kernel), "--target=llvm", "-p", f"apply-schedule{{file={whole}}},compile-kernel"]) == 0
    assert capsys.readouterr().out == lowered
    assert re.sub(r" attributes \{.*?\}", "", lowered, count=1) == str(tw.lower(s, args))


def test_locations_are_lines_of_python():
    s, args = dense()
    f = tw.lower(s, args, simple_mode=True)
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    here = next(i for i, line in enumerate(lines, 1) if "C = te.compute" in line)
    positions = [str(op.location) for op in f.module.walk() if op.name == "arith.mulf"]
    assert positions and all(f'test_te_build.py":{here}' in p for p in positions)


def test_kernels_of_another_stage_do_not_leak(cache):
    """A function holds its own code: two of the same name live side by side."""
    A = te.placeholder((4,), name="A")
    functions = []
    for factor in (2, 3):
        B = te.compute((4,), lambda i, factor=factor: A[i] * factor, name="B")
        functions.append(tw.build(te.create_schedule(B.op), [A, B], name="f", cache=cache))
    for f, factor in zip(functions, (2, 3), strict=True):
        b = np.zeros(4, np.float32)
        f(ones(4), b)
        assert b.tolist() == [factor] * 4


def test_the_gemm_example():
    command = [sys.executable, "gemm.py", "128"]
    done = subprocess.run(command, cwd=EXAMPLES, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    first, *steps = done.stdout.splitlines()
    assert first.startswith("GEMM of 128 x 128 x 128 on one core; peak ")
    named = ["baseline", "blocking", "vectorization", "permutation", "packing", "write_cache", "parallel"]
    assert [line.split()[0] for line in steps] == named
    refused = subprocess.run([sys.executable, "gemm.py", "100"], cwd=EXAMPLES, capture_output=True, text=True)
    assert refused.returncode == 2 and refused.stderr.startswith("gemm.py: the size is a multiple of ")


def test_the_example_of_narrow_products():
    command = [sys.executable, "narrow_gemm.py", "64"]
    done = subprocess.run(command, cwd=EXAMPLES, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    first, *steps = done.stdout.splitlines()
    assert first.startswith("GEMM of 64 x 64 x 64 on one core; peak of floats ")
    assert [line.split()[0] for line in steps] == ["bytes", "bfloat16", "tiles"]
    assert all(line.endswith((" times the peak of floats", "has no instruction for it")) for line in steps)
    refused = subprocess.run([sys.executable, "narrow_gemm.py", "100"], cwd=EXAMPLES, capture_output=True, text=True)
    assert refused.returncode == 2 and refused.stderr.startswith("narrow_gemm.py: the size is a multiple of ")


@pytest.mark.parametrize("name", ["β", "größe", "495", "_1", "1a"])
def test_any_name_is_good(name, parse_module):
    k = te.reduce_axis((0, 4), name)
    A = te.placeholder((8, 4), name=name)
    B = te.compute((8,), lambda i: te.sum(A[i, k], axis=k), name=f"{name}b")
    s = te.create_schedule(B.op)
    s[B].unroll(s[B].split(k, 2)[1])
    for text in (str(s), str(tw.lower(s, [A, B], simple_mode=True)), str(tw.lower(s, [A, B]))):
        assert str(parse_module(text)).strip() == text.strip()
