"""Kernels written by hand in the loop dialect, compiled and compared with numpy."""

import re

import numpy as np
import pytest

from tilework.algebra.parse import parse
from tilework.backends.llvm import emit_loops
from tilework.backends.llvm.emit_kernel import emit_kernels
from tilework.interpreters.loop import run_loop_kernel
from tilework.runtime.devices.llvm.compile import assembly
from tilework.targets import parse_target
from tilework.targets.cpu.host import host_target

DENSE = """
loop.kernel @dense ins(%x: memref<?x64xf32> [N, 64], %w: memref<64x32xf32>) outs(%y: memref<?x32xf32> [N, 32])
    symbols(%N) {
  %zero = arith.constant dense<0.0> : vector<16xf32>
  loop.for %i = 0 to %N "i" parallel {
    %acc = memref.alloca() : memref<32xf32, "register">
    loop.for %j = 0 to 2 "j" unrolled {
      loop.store %zero, %acc[16 * %j] : memref<32xf32, "register">, vector<16xf32>
    }
    loop.for %k = 0 to 64 "k" {
      loop.for %j = 0 to 2 "j" unrolled {
        %a = loop.load %x[%i, %k] : memref<?x64xf32>
        %av = vector.broadcast %a : f32 to vector<16xf32>
        %b = loop.load %w[%k, 16 * %j] : memref<64x32xf32>, vector<16xf32>
        %p = arith.mulf %av, %b : vector<16xf32>
        %c = loop.load %acc[16 * %j] : memref<32xf32, "register">, vector<16xf32>
        %s = arith.addf %c, %p : vector<16xf32>
        loop.store %s, %acc[16 * %j] : memref<32xf32, "register">, vector<16xf32>
      }
    }
    loop.for %j = 0 to 2 "j" unrolled {
      %v = loop.load %acc[16 * %j] : memref<32xf32, "register">, vector<16xf32>
      loop.store %v, %y[%i, 16 * %j] : memref<?x32xf32>, vector<16xf32>
    }
  }
}
"""


def integers(*shape: int, seed: int = 0) -> np.ndarray:
    """Small integers as floats: every partial sum is exact, whatever the order."""
    return np.random.default_rng(seed).integers(-8, 9, shape).astype(np.float32)


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("n", [0, 1, 3, 8])
def test_dense(compile_kernel, n, threads):
    x, w = integers(n, 64), integers(64, 32, seed=1)
    y = np.full((n, 32), np.nan, np.float32)
    compile_kernel(DENSE)(x, w, y, n, threads=threads)
    np.testing.assert_array_equal(y, x @ w)


def test_a_run_time_trip_count_asks_for_no_unrolling(parse_module):
    kernel = """
loop.kernel @copy ins(%x: memref<?xf32> [N]) outs(%y: memref<?xf32> [N]) symbols(%N) {
  loop.for %i = 0 to END "i" unrolled {
    %v = loop.load %x[%i] : memref<?xf32>
    loop.store %v, %y[%i] : memref<?xf32>
  }
}"""
    assert "unroll.full" in emit_kernels(parse_module(kernel.replace("END", "4")), host_target())
    assert "unroll.full" not in emit_kernels(parse_module(kernel.replace("END", "%N")), host_target())


def gemm(m: int, n: int, k: int, rows: int, columns: int, lanes: int = 16, steps: int = 1) -> str:
    """c = a @ b by tiles of rows x columns held in registers; b packed as [n / columns][k][columns]."""
    acc, row = f'memref<{rows * columns}xf32, "register">', f"vector<{lanes}xf32>"
    tile = f"""loop.for %r = 0 to {rows} "r" unrolled {{
      loop.for %v = 0 to {columns // lanes} "v" unrolled {{"""
    return f"""
loop.kernel @gemm ins(%a: memref<{m * k}xf32>, %b: memref<{n * k}xf32>) outs(%c: memref<{m * n}xf32>) {{
  %zero = arith.constant dense<0.0> : {row}
  loop.for %j = 0 to {n // columns} "j" parallel {{ loop.for %i = 0 to {m // rows} "i" {{
    %acc = memref.alloca() : {acc}
    {tile}
      loop.store %zero, %acc[{columns} * %r + {lanes} * %v] : {acc}, {row}
    }} }}
    loop.for %k = 0 to {k} "k" attributes {{loop.unroll_factor = {steps} : i64}} {{
      {tile}
        %x = loop.load %a[{k * rows} * %i + {k} * %r + %k] : memref<{m * k}xf32>
        %xs = vector.broadcast %x : f32 to {row}
        %y = loop.load %b[{k * columns} * %j + {columns} * %k + {lanes} * %v] : memref<{n * k}xf32>, {row}
        %old = loop.load %acc[{columns} * %r + {lanes} * %v] : {acc}, {row}
        %new = math.fma %xs, %y, %old : {row}
        loop.store %new, %acc[{columns} * %r + {lanes} * %v] : {acc}, {row}
      }} }}
    }}
    {tile}
      %s = loop.load %acc[{columns} * %r + {lanes} * %v] : {acc}, {row}
      loop.store %s, %c[{n * rows} * %i + {n} * %r + {columns} * %j + {lanes} * %v] : memref<{m * n}xf32>, {row}
    }} }}
  }} }}
}}
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_gemm_by_register_tiles(compile_kernel, threads):
    m, n, k = 12, 192, 33
    a, b, c = integers(m, k), integers(k, n, seed=1), np.zeros((m, n), np.float32)
    packed = np.ascontiguousarray(b.reshape(k, n // 64, 64).transpose(1, 0, 2))
    compile_kernel(gemm(m, n, k, 6, 64))(a, packed, c, threads=threads)
    np.testing.assert_array_equal(c, a @ b)


@pytest.mark.parametrize(
    ("cpu", "rows", "columns", "lanes"), [("znver4", 6, 64, 16), ("znver3", 6, 16, 8), ("haswell", 4, 24, 8)]
)
def test_accumulators_of_a_register_tile_stay_in_registers(parse_module, monkeypatch, cpu, rows, columns, lanes):
    """Where four steps follow each other: without fences between them, operands of several take its registers."""

    def code() -> str:
        target = parse_target(f"llvm -mtriple=x86_64-linux-gnu -mcpu={cpu}")
        return assembly(emit_kernels(parse_module(gemm(12, 192, 36, rows, columns, lanes, 4)), target), target)

    spilled = r"vmov\w+\s+%[yz]mm\d+, [-\d]*\(%[er]s?[sb]p"
    text = code()
    assert len(re.findall(r"vfmadd\w+\s", text)) == 4 * rows * columns // lanes
    assert not re.findall(spilled, text)
    if lanes == 8:
        monkeypatch.setattr(emit_loops, "_FENCE", "; none")
        assert re.findall(spilled, code())


ODD = """
loop.kernel @odd ins(%x: memref<SIZExf32>) outs(%y: memref<LANESxf32>) {
  %v = loop.load %x[0] stride STRIDE : memref<SIZExf32>, vector<LANESxf32>
  loop.store %v, %y[0] : memref<LANESxf32>, vector<LANESxf32>
}
"""


def odd(lanes, stride):
    """A kernel that copies elements which are `stride` apart; nothing lies behind the last of them."""
    size = (lanes - 1) * stride + 1
    return ODD.replace("SIZE", str(size)).replace("LANES", str(lanes)).replace("STRIDE", str(stride))


@pytest.mark.parametrize("lanes", [3, 5, 7, 11, 14, 15, 28])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_vectors_of_odd_lengths(compile_kernel, lanes, stride):
    x, y = integers((lanes - 1) * stride + 1), np.zeros(lanes, np.float32)
    compile_kernel(odd(lanes, stride))(x, y)
    np.testing.assert_array_equal(y, x[::stride])


@pytest.mark.parametrize("lanes", [3, 7, 14])
def test_reversed_vectors_of_odd_lengths_read_nothing_before_the_first(compile_kernel, parse_module, lanes):
    kernel = odd(lanes, 1).replace("%x[0] stride 1", f"%x[{lanes - 1}] stride -1")
    x, y = integers(lanes), np.zeros(lanes, np.float32)
    compile_kernel(kernel)(x, y)
    np.testing.assert_array_equal(y, x[::-1])
    text = emit_kernels(parse_module(kernel), parse_target("llvm -mtriple=x86_64-linux-gnu -mcpu=znver4"))
    assert re.findall(r"= load <(\d+) x float>", text) == [str(lanes)]


@pytest.mark.parametrize(("cpu", "accesses"), [("znver4", ["load", "store"]), ("haswell", [])])
@pytest.mark.parametrize(("lanes", "masked"), [(14, True), (16, False), (28, False)])
def test_a_part_of_a_vector_is_one_access_where_there_are_masks(parse_module, cpu, accesses, lanes, masked):
    target = parse_target(f"llvm -mtriple=x86_64-linux-gnu -mcpu={cpu}")
    text = emit_kernels(parse_module(odd(lanes, 1)), target)
    assert re.findall(r"call .*@llvm.masked.(\w+).v16f32", text) == (accesses if masked else [])


def transposed(rows, columns, kind="f32"):
    """A kernel that writes a matrix column by column, each `rows` lanes of a vector."""
    matrix = f"memref<{rows * columns}x{kind}>"
    loads = "\n".join(
        f"  %r{r} = loop.load %x[{columns * r}] : {matrix}, vector<{columns}x{kind}>" for r in range(rows)
    )
    stores = "\n".join(f"  loop.store %c{c}, %y[{rows * c}] : {matrix}, vector<{rows}x{kind}>" for c in range(columns))
    named = ", ".join(f"%c{c}" for c in range(columns)), ", ".join(f"%r{r}" for r in range(rows))
    return f"""
loop.kernel @transposed ins(%x: {matrix}) outs(%y: {matrix}) {{
{loads}
  {named[0]} = loop.transpose {named[1]} : vector<{columns}x{kind}>
{stores}
}}
"""


@pytest.mark.parametrize("rows", [1, 4, 7, 8, 16])
@pytest.mark.parametrize("columns", [1, 3, 4, 8, 14, 16])
def test_transposition_of_vectors(compile_kernel, parse_module, rows, columns):
    for kind, dtype in ("f32", np.float32), ("i32", np.int32), ("f64", np.float64):
        text = transposed(rows, columns, kind)
        x = np.arange(rows * columns, dtype=dtype)
        compiled, interpreted = np.zeros_like(x), np.zeros_like(x)
        compile_kernel(text)(x, compiled)
        run_loop_kernel(parse_module(text).body.block.first_op, [x], [interpreted])
        np.testing.assert_array_equal(compiled, x.reshape(rows, columns).T.ravel())
        np.testing.assert_array_equal(interpreted, compiled)


@pytest.mark.parametrize(
    ("machine", "size", "each"),
    [
        ("x86_64-linux-gnu -mcpu=znver4", 16, 4),
        ("x86_64-linux-gnu -mcpu=haswell", 8, 3),
        ("x86_64-linux-gnu -mcpu=x86-64", 4, 2),
        ("aarch64-linux-gnu -mcpu=cortex-a72", 4, 2),
    ],
)
def test_a_transposition_takes_few_instructions(parse_module, machine, size, each):
    target = parse_target(f"llvm -mtriple={machine}")
    text = assembly(emit_kernels(parse_module(transposed(size, size)), target), target)
    shuffles = r"^\s+v?(?:unpck|shuf|perm|insert|movlh|movhl|blend|zip|trn|uzp|ext|mov\s+v\d+\.[sd]\[)"
    assert 0 < len(re.findall(shuffles, text, re.MULTILINE)) <= each * size
    assert not re.search(r"[er]?sp\)?.*[xyz]mm|[xyz]mm.*\([er]?sp", text)


STRIDED = ["1", "2 stride 3", "49 stride -2", "5 stride 0", "3 count", "1 stride 4 count", "49 stride 2", "9 stride -1"]
STRIDED += ["35 stride 4", "0 stride 9", "63 stride -9"]
ACCESSES = """
loop.kernel @accesses ins(%x: memref<64xf32>) outs(%y: memref<64xf32>) symbols(%C) {
  %v = loop.load %x[LOADED] : memref<64xf32>, vector<8xf32>
  loop.store %v, %y[STORED] : memref<64xf32>, vector<8xf32>
}
"""


@pytest.mark.parametrize("load", STRIDED)
@pytest.mark.parametrize("store", ["1", "2 stride 3", "3 count", "60 stride -5 count"])
@pytest.mark.parametrize("count", [-3, 0, 1, 5, 8, 2**40])
def test_vector_accesses(compile_kernel, load, store, count):
    def spell(access):
        at, *rest = access.replace("count", "count %C").split(" ", 1)
        return f"{at}] {rest[0] if rest else ''}"

    def lanes(access):
        words = access.split()
        step = int(words[words.index("stride") + 1]) if "stride" in words else 1
        active = min(max(count, 0), 8) if "count" in words else 8
        return [int(words[0]) + step * lane for lane in range(active)]

    text = ACCESSES.replace("LOADED]", spell(load)).replace("STORED]", spell(store))
    x, y = np.arange(1, 65, dtype=np.float32), np.full(64, -1, np.float32)
    compile_kernel(text)(x, y, count)
    expected = np.full(64, -1, np.float32)
    loaded = [*x[lanes(load)], *[0] * 8]
    for at, value in zip(lanes(store), loaded, strict=False):
        expected[at] = value
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize("type_", ["f16", "f64", "i8", "i32", "i64", "i1"])
def test_element_types(compile_kernel, type_):
    text = f"""
loop.kernel @copy ins(%x: memref<3x16x{type_}>) outs(%y: memref<48x{type_}>) symbols(%N) {{
  %v = loop.load %x[0, 0] : memref<3x16x{type_}>, vector<16x{type_}>
  loop.store %v, %y[0] : memref<48x{type_}>, vector<16x{type_}>
  %w = loop.load %x[1, 0] count %N : memref<3x16x{type_}>, vector<16x{type_}>
  loop.store %w, %y[16] count %N : memref<48x{type_}>, vector<16x{type_}>
  loop.for %i = 0 to 16 "i" {{
    %s = loop.load %x[2, %i] : memref<3x16x{type_}>
    loop.store %s, %y[%i + 32] : memref<48x{type_}>
  }}
}}"""
    numpy_type = {"f16": np.float16, "f64": np.float64, "i1": np.bool_}.get(type_) or f"int{type_[1:]}"
    x = (np.arange(48) % 5 - 2).astype(numpy_type)
    y = np.zeros(48, numpy_type)
    compile_kernel(text)(x, y, 11)
    expected = x.copy()
    expected[27:32] = 0
    np.testing.assert_array_equal(y, expected)


EXPRESSIONS = [
    "a + 3 * b - 7",
    "-a - b",
    "a floordiv 4 + b mod 4",
    "a floordiv 7",
    "a mod 7",
    "(a - b) floordiv 5",
    "(a - b) mod 5",
    "(3 * a + b) floordiv 6",
    "min(a, b + 2, 4) - max(a - b, -3)",
    "a * b + 2 * a * a",
    "(a - b) floordiv c + (a - b) mod c",
    "(a mod 3) * (b floordiv 2)",
]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_index_expressions(compile_kernel, text):
    """Loop variables from -6 to 6 and from 0 to 9, and a symbol."""
    expression = parse(text)
    written = re.sub(r"\b([abc])\b", r"%\1", text)
    kernel = f"""
loop.kernel @index outs(%y: memref<13x10xindex>) symbols(%c) {{
  loop.for %a = -6 to 7 "a" {{
    loop.for %b = 0 to 10 "b" {{
      %v = loop.apply {written} + 0 * %c
      loop.store %v, %y[%a + 6, %b] : memref<13x10xindex>
    }}
  }}
}}"""
    a, b = np.meshgrid(np.arange(-6, 7), np.arange(10), indexing="ij")
    for c in (1, 3, 4):
        y = np.zeros((13, 10), np.int64)
        compile_kernel(kernel)(y, c)
        np.testing.assert_array_equal(y, expression.evaluate({"a": a, "b": b, "c": c}))


def test_division_by_a_size_of_0(compile_kernel):
    """The quotient is 0, and nothing is left."""
    kernel = compile_kernel(
        """
loop.kernel @blocks outs(%y: memref<2xindex>) symbols(%K, %N) {
  %q = loop.apply (%K - 4) floordiv %N
  %r = loop.apply (%K - 4) mod %N
  loop.store %q, %y[0] : memref<2xindex>
  loop.store %r, %y[1] : memref<2xindex>
}
"""
    )
    for k in (0, 4, 9):
        for n in (0, 1, 3):
            y = np.zeros(2, np.int64)
            kernel(y, k, n)
            assert y.tolist() == ([(k - 4) // n, (k - 4) % n] if n else [0, 0])


def test_data_dependent_subscripts(compile_kernel):
    text = """
loop.kernel @gather ins(%x: memref<10x4xf32>, %i: memref<6xi64>) outs(%y: memref<6x4xf32>) {
  loop.for %n = 0 to 6 "n" {
    %r = loop.load %i[%n] : memref<6xi64>
    %row = arith.index_cast %r : i64 to index
    %v = loop.load %x[min(max(%row, 0), 9), 0] : memref<10x4xf32>, vector<4xf32>
    loop.store %v, %y[%n, 0] : memref<6x4xf32>, vector<4xf32>
  }
}"""
    x, i, y = integers(10, 4), np.array([3, -1, 0, 9, 12, 3]), np.zeros((6, 4), np.float32)
    compile_kernel(text)(x, i, y)
    np.testing.assert_array_equal(y, x[np.clip(i, 0, 9)])


def test_conditions_with_results_and_nested(compile_kernel):
    text = """
loop.kernel @pad ins(%x: memref<3x4xf32>) outs(%y: memref<5x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  loop.for %i = 0 to 5 "i" {
    loop.for %j = 0 to 6 "j" {
      %v = loop.if [%i - 1 >= 0, 3 - %i >= 0, %j - 1 >= 0, 4 - %j >= 0] -> f32 {
        %a = loop.load %x[%i - 1, %j - 1] : memref<3x4xf32>
        %b = loop.if [%i - %j == 0] -> f32 {
          %d = arith.mulf %a, %two : f32
          loop.yield %d : f32
        } else {
          loop.yield %a : f32
        }
        loop.yield %b : f32
      } else {
        loop.yield %zero : f32
      }
      loop.if [%j mod 2 == 0] {
        loop.store %v, %y[%i, %j] : memref<5x6xf32>
      } else {
        loop.store %two, %y[%i, %j] : memref<5x6xf32>
      }
    }
  }
}"""
    x, y = integers(3, 4), np.zeros((5, 6), np.float32)
    compile_kernel(text)(x, y)
    expected = np.pad(x * (1 + np.eye(3, 4, dtype=np.float32)), 1)
    expected[:, 1::2] = 2
    np.testing.assert_array_equal(y, expected)


NESTED = """
loop.kernel @nested ins(%x: memref<?x40xf32> [N, 40]) outs(%y: memref<?x40xf32> [N, 40]) scratch(%t: memref<40xf32>)
    symbols(%N) {
  %one = arith.constant 1.0 : f32
  loop.for %k = 0 to 40 "k" parallel {
    loop.store %one, %t[%k] : memref<40xf32>
  }
  loop.for %b = 0 to 3 "b" {
    loop.for %i = 0 to %N "i" parallel {
      %local = memref.alloca() : memref<40xf32, "local">
      loop.for %j = 0 to 40 "j" parallel {
        %v = loop.load %x[%i, %j] : memref<?x40xf32>
        %w = loop.load %t[%j] : memref<40xf32>
        %s = arith.addf %v, %w : f32
        loop.store %s, %local[39 - %j] : memref<40xf32, "local">
      }
      loop.for %j = 0 to 40 "j" {
        loop.if [%i mod 3 - %b == 0] {
          %s = loop.load %local[%j] : memref<40xf32, "local">
          loop.store %s, %y[%i, %j] : memref<?x40xf32>
        }
      }
    }
  }
}
"""


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("n", [1, 7])
def test_parallel_loops_inside_and_after_others(compile_kernel, n, threads):
    x, y, t = integers(n, 40), np.zeros((n, 40), np.float32), np.zeros(40, np.float32)
    compile_kernel(NESTED)(x, y, t, n, threads=threads)
    np.testing.assert_array_equal(y, (x + 1)[:, ::-1])


def test_every_iteration_runs_on_exactly_one_thread(compile_kernel):
    text = """
loop.kernel @count ins(%x: memref<?xf32> [N]) outs(%y: memref<?xf32> [N]) symbols(%N) {
  %one = arith.constant 1.0 : f32
  loop.for %i = 2 to %N - 1 "i" parallel {
    %v = loop.load %y[%i] : memref<?xf32>
    %s = arith.addf %v, %one : f32
    loop.store %s, %y[%i] : memref<?xf32>
  }
}"""
    run = compile_kernel(text)
    for n, threads in [(1, 2), (4, 4), (100, 3), (101, 4), (1000, 7)]:
        y = np.zeros(n, np.float32)
        run(y, y, n, threads=threads)
        expected = np.zeros(n, np.float32)
        expected[2 : max(n - 1, 2)] = 1
        np.testing.assert_array_equal(y, expected)


def test_an_output_may_overwrite_the_input_it_is_computed_from(compile_kernel, parse_module):
    text = """
loop.kernel @relu ins(%x: memref<32xf32>, %w: memref<1xf32>) outs(%y: memref<32xf32>) {
  %zero = arith.constant 0.0 : f32
  %s = loop.load %w[0] : memref<1xf32>
  loop.for %i = 0 to 32 "i" {
    %v = loop.load %x[%i] : memref<32xf32>
    %p = arith.mulf %v, %s : f32
    %r = arith.maximumf %p, %zero : f32
    loop.store %r, %y[%i] : memref<32xf32>
  }
}"""
    assert "void @relu(ptr %x, ptr noalias %w, ptr %y, i32" in emit_kernels(parse_module(text), host_target())
    x = integers(32)
    expected = np.maximum(2 * x, 0)
    compile_kernel(text)(x, np.array([2], np.float32), x)
    np.testing.assert_array_equal(x, expected)


@pytest.mark.parametrize(("buffer", "symbol"), [("entry", "N"), ("x", "entry")])
def test_a_buffer_or_a_symbol_may_be_called_entry(compile_kernel, buffer, symbol):
    """So is the first block of the function that is emitted."""
    text = f"""
loop.kernel @k ins(%{buffer}: memref<?xf32> [{symbol}]) outs(%y: memref<?xf32> [{symbol}]) symbols(%{symbol}) {{
  loop.for %i = 0 to %{symbol} "i" {{
    %v = loop.load %{buffer}[%i] : memref<?xf32>
    loop.store %v, %y[%i] : memref<?xf32>
  }}
}}"""
    x, y = integers(5), np.zeros(5, np.float32)
    compile_kernel(text)(x, y, 5)
    np.testing.assert_array_equal(y, x)
