"""Intrinsics of the library and of programs: what they mean, what they are compared with, and how they travel."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from places import ROOT
from programs import apply_phase, for_target
from xdsl.dialects.builtin import ModuleOp

import tilework as tw
from tilework.dialects.loop import IntrinsicOp, KernelOp
from tilework.dialects.scalar_meaning import straight_line
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.registration import make_context
from tilework.dialects.te import KernelOp as TeKernelOp
from tilework.dialects.te.intrinsics import library
from tilework.driver.canonical_text import canonical_text
from tilework.driver.kernel_function import kernel_function
from tilework.interpreters.intrinsics import run_intrinsic
from tilework.interpreters.loop import run_loop_kernel
from tilework.runtime.cache import KernelCache
from tilework.tools.lit_in_process import run_test
from tilework.transforms.loop.tensorize import Tensorize

Parse = Callable[[str], ModuleOp]

EXAMPLES = ROOT / "examples" / "intrinsics"
RANDOM = np.random.default_rng(45)


# -- the library


def meaning(name: str, *arguments: np.ndarray) -> np.ndarray:
    [value] = straight_line(library()[name].body.block, arguments)
    return value


def test_dot_products_of_bytes_are_sums_of_products():
    x, w = (RANDOM.integers(-(2**31), 2**31, 1000).astype(np.int32) for _ in "xw")
    x[:4], w[:4] = [-1, -1, 0, 0x7F7F7F7F], [-0x7F7F7F80, 0x7F7F7F7F, -1, -1]
    products = x.view(np.uint8).astype(np.int32) * w.view(np.int8)
    np.testing.assert_array_equal(meaning("dot4.ui8i8", x, w), products.reshape(-1, 4).sum(axis=1))


def test_dot_products_of_bfloat16_are_sums_of_products():
    """All numbers that there are are multiplied; products are exact, but for those that no float holds."""
    x, w = (RANDOM.integers(-(2**31), 2**31, 1000).astype(np.int32) for _ in "xw")
    numbers = [v.view(ml_dtypes.bfloat16).astype(np.float32).reshape(-1, 2) for v in (x, w)]
    with np.errstate(all="ignore"):
        products = numbers[0] * numbers[1]
        expected = products[:, 0] + products[:, 1]
        found = meaning("bf16.dot", x, w)
    assert found.dtype == np.float32 and np.isfinite(found).sum() > 500
    np.testing.assert_array_equal(found, expected)


def test_numbers_for_tiles_are_rounded_to_nearest_and_small_ones_are_zero():
    tiny = np.finfo(np.float32).tiny
    special = np.array([0.0, -0.0, tiny, -tiny, tiny / 2, -tiny / 4, np.inf, -np.inf, np.nan, 1 + 2**-8], np.float32)
    x = np.concatenate([special, RANDOM.standard_normal(1000).astype(np.float32)])
    expected = np.where(np.abs(x) < tiny, np.copysign(np.float32(0), x), x).astype(ml_dtypes.bfloat16)
    found = meaning("bf16.round", x)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found.view(np.int16), expected.view(np.int16))


def test_products_of_tiles_are_matrix_products_many_at_a_time():
    a, b = (RANDOM.integers(-8, 8, shape).astype(np.float32) for shape in ((3, 1, 16, 32), (1, 2, 16, 32)))
    before = RANDOM.integers(-8, 8, (3, 2, 16, 16)).astype(np.float32)
    pairs = b.reshape(1, 2, 16, 16, 2).transpose(0, 1, 2, 4, 3).reshape(1, 2, 32, 16)
    narrow = [x.astype(ml_dtypes.bfloat16) for x in (a, b)]
    np.testing.assert_array_equal(run_intrinsic(library()["amx.tile_mulf"], before, narrow), before + a @ pairs)
    assert not run_intrinsic(library()["amx.tile_zero"], None, []).any()


# -- what nests are compared with


def sizes(extents: list[int]) -> str:
    return "".join(f"{n}x" for n in extents)


class Drawn:
    """An intrinsic that was drawn, and a nest that does what it does: in another order, with other strides."""

    def __init__(self, seed: int):
        self.draw = random.Random(seed)
        names = ["i", "j", "k", "l"][: self.draw.randint(1, 4)]
        self.extents = {name: self.draw.choice((2, 3, 5)) for name in names}
        self.spatial = self.draw.sample(names, self.draw.randint(0, len(names)))
        self.reduction = [name for name in names if name not in self.spatial]
        self.reads = [self.draw.sample(names, self.draw.randint(1, len(names))) for _ in range(self.draw.randint(1, 3))]
        self.reads[0] += [name for name in names if not any(name in read for read in self.reads)]
        self.operators = [self.draw.choice(("addf", "mulf", "subf", "maximumf")) for _ in self.reads[1:]]
        self.accumulates = bool(self.reduction) and self.draw.random() < 0.5

    def shape(self, axes: list[str]) -> list[int]:
        return [self.extents[axis] for axis in axes]

    @property
    def declaration(self) -> str:
        accesses = [*self.reads, self.spatial]
        types = [f"tensor<{sizes(self.shape(axes))}f32>" for axes in accesses]
        layouts = [f", strided<[{', '.join('?' * len(axes))}]>" if axes else "" for axes in accesses]
        wants = [
            f"memref<{sizes(self.shape(axes))}f32{layout}>" for axes, layout in zip(accesses, layouts, strict=True)
        ]
        arguments = ", ".join(f"%a{i}: {type_}" for i, type_ in enumerate(types[:-1]))
        axes, reduced = (", ".join(f"{n}: {self.extents[n]}" for n in ns) for ns in (self.spatial, self.reduction))
        body = [f"%v{i} = te.read %a{i}[{', '.join(read)}] : {types[i]}" for i, read in enumerate(self.reads)]
        last = "%v0"
        for i, operator in enumerate(self.operators, 1):
            body.append(f"%w{i} = arith.{operator} {last}, %v{i} : f32")
            last = f"%w{i}"
        body.append(f"te.reduce add {last} : f32" if self.reduction else f"te.yield {last} : f32")
        attributes = f"{'accumulates, ' if self.accumulates else ''}buffers = [{', '.join(wants)}]"
        compute = f'te.compute "y" [{axes}] {f"reduce [{reduced}]" if reduced else ""} : {types[-1]}'
        lines = "\n".join(body)
        return (
            f"te.intrinsic @my.drawn({arguments}) -> {types[-1]} attributes {{{attributes}}} {{\n"
            f"%y = {compute} {{\n{lines}\n}}\nte.return %y : {types[-1]}\n}}\n"
        )

    def strides(self, axes: list[str]) -> dict[str, int]:
        """Distances of elements in a buffer in which they lie in any order, some apart."""
        found, step = dict[str, int](), self.draw.randint(1, 2)
        for axis in self.draw.sample(axes, len(axes)):
            found[axis] = step
            step *= self.extents[axis] + self.draw.randint(0, 1)
        return found

    def nest(self, fault: str = "") -> str:
        """The loops; `fault` is what is wrong with them."""
        first = {name: self.draw.randint(0, 2) for name in self.extents}
        strides = [self.strides(axes) for axes in (*self.reads, self.spatial)]

        def access(buffer: str, moves: dict[str, int]) -> str:
            offset = 50 - sum(first[axis] * move for axis, move in moves.items())
            terms = [f"{move} * %{axis}" for axis, move in moves.items()]
            return f"%{buffer}[{' + '.join([*terms, str(offset)])}] : memref<2000xf32>"

        loops = self.draw.sample(list(self.extents), len(self.extents))
        ends = {n: first[n] + self.extents[n] + (fault == "trip" and n == loops[0]) for n in loops}
        body = [f"%v{i} = loop.load {access(f'b{i}', strides[i])}" for i in range(len(self.reads))]
        self.draw.shuffle(body)
        last = "%v0"
        for i, operator in enumerate(self.operators, 1):
            operands = [last, f"%v{i}"]
            if operator != "subf" and self.draw.random() < 0.5:
                operands.reverse()
            wrong = fault == "operator" and i == 1
            body.append(f"%w{i} = arith.{'divf' if wrong else operator} {', '.join(operands)} : f32")
            last = f"%w{i}"
        if self.reduction:
            body += [f"%c = loop.load {access('y', strides[-1])}", f"%s = arith.addf %c, {last} : f32"]
            last = "%s"
        to = dict(strides[-1])
        if fault == "store":
            to = {axis: 0 for axis in to}
        body.append(f"loop.store {last}, {access('y', to)}")
        shared = 0
        if self.reduction and not self.accumulates:
            while shared < len(loops) and loops[shared] in self.spatial and self.draw.random() < 0.7:
                shared += 1

        def nested(text: str, names: list[str]) -> str:
            for name in reversed(names):
                asked = "attributes {loop.tensorize = @my.drawn} " if name == loops[0] else ""
                text = f'loop.for %{name} = {first[name]} to {ends[name]} "{name}" {asked}{{\n{text}\n}}'
            return text

        text = nested("\n".join(body), loops[shared:])
        if shared:
            inside = [name for name in self.spatial if name not in loops[:shared]]
            value = "1.0" if fault == "identity" else "0.0"
            reset = f"%id = arith.constant {value} : f32\nloop.store %id, {access('y', strides[-1])}"
            text = f"{nested(reset, self.draw.sample(inside, len(inside)))}\n{text}"
        text = nested(text, loops[:shared])
        self.is_matched = bool(shared) or self.accumulates or not self.reduction
        inputs = ", ".join(f"%b{i}: memref<2000xf32>" for i in range(len(self.reads)))
        return f"loop.kernel @k ins({inputs}) outs(%y: memref<2000xf32>) {{\n{text}\n}}"


def tensorized(module: ModuleOp) -> KernelOp:
    Tensorize().apply(make_context(), module)
    module.verify()
    [kernel] = (op for op in module.ops if isinstance(op, KernelOp))
    return kernel


@pytest.mark.parametrize("seed", range(80))
def test_a_nest_in_another_order_is_the_intrinsic(seed: int, parse_module: Parse):
    drawn = Drawn(seed)
    text = drawn.declaration + drawn.nest()
    if not drawn.is_matched:
        pytest.skip("no loop is around both the identity and the sum")
    inputs = [RANDOM.integers(-4, 5, 2000).astype(np.float32) for _ in drawn.reads]
    results = [np.ones(2000, np.float32) for _ in range(2)]
    [plain] = (op for op in parse_module(text).ops if isinstance(op, KernelOp))
    kernel = tensorized(parse_module(text))
    assert [type(op) for op in kernel.body.block.ops] == [IntrinsicOp]
    for made, result in zip((plain, kernel), results, strict=True):
        run_loop_kernel(made, inputs, [result])
    np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("fault", ["trip", "operator", "store", "identity"])
def test_a_nest_that_does_something_else_is_refused(seed: int, fault: str, parse_module: Parse):
    drawn = Drawn(seed)
    text = drawn.declaration + drawn.nest(fault)
    if text == drawn.declaration + Drawn(seed).nest():
        pytest.skip("there is nothing of the kind in the nest")
    with pytest.raises(CompileError, match="loop '.' cannot be tensorized as @my.drawn"):
        tensorized(parse_module(text))


# -- programs


@pytest.mark.parametrize("name", ["activation", "dense"])
def test_the_examples_do_what_they_say(name: str, tmp_path: Path):
    failure = run_test(EXAMPLES / f"{name}.mlir", tmp_path)
    assert failure is None, failure


NETWORK = """
te.intrinsic @my.swish(%x: f32) -> f32 attributes {cost = 8.0 : f64} {
  %one = arith.constant 1.0 : f32
  %n = arith.negf %x : f32
  %e = math.exp %n : f32
  %d = arith.addf %one, %e : f32
  %y = arith.divf %x, %d : f32
  te.yield %y : f32
}
te.intrinsic @my.low(%x: f32, %limit: f32) -> f32 attributes {snippets = {
  llvm = "call $type @llvm.minimum.$suffix($type $x, $type $limit)",
  c = "$x < $limit ? $x : $limit"
}} {
  %y = arith.minimumf %x, %limit : f32
  te.yield %y : f32
}
te.kernel @act(%x: tensor<?x16xf32, #graph.dims<[N, 16]>>) -> tensor<?x16xf32, #graph.dims<[N, 16]>> {
  %y = te.compute "act" [i: N, j: 16] : tensor<?x16xf32, #graph.dims<[N, 16]>> {
    %v = te.read %x[i, j] : tensor<?x16xf32, #graph.dims<[N, 16]>>
    %s = te.call_intrinsic @my.swish(%v) : (f32) -> f32
    %one = arith.constant 1.0 : f32
    %t = te.call_intrinsic @my.low(%s, %one) : (f32, f32) -> f32
    te.yield %t : f32
  }
  te.return %y : tensor<?x16xf32, #graph.dims<[N, 16]>>
}
func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>) -> tensor<8x16xf32> {
  %d = graph.dense %x, %w : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %y = graph.kernel @act (%d) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  func.return %y : tensor<8x16xf32>
}
"""


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_intrinsics_of_a_program_in_a_network(target: str, tmp_path: Path):
    """They reach the kernels that worker processes compile, by snippets and by what they mean."""
    (tmp_path / "net.mlir").write_text(NETWORK)
    x, w = RANDOM.standard_normal((8, 16), np.float32), RANDOM.standard_normal((16, 16), np.float32)
    product = x @ w.T
    expected = np.minimum(product / (1 + np.exp(-product)), 1)
    found = tw.compile(str(tmp_path / "net.mlir"), target=target, cache=None)(x, w)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_a_schedule_that_names_an_intrinsic_of_the_program(target: str, parse_module: Parse, tmp_path: Path):
    module = for_target(parse_module((EXAMPLES / "dense.mlir").read_text()), target)
    x, w = (RANDOM.integers(-8, 8, shape).astype(np.float32) for shape in ((12, 32), (10, 32)))
    function = kernel_function(the_kernel(module), KernelCache(tmp_path))
    y = np.empty((12, 10), np.float32)
    function(x, w, y)
    np.testing.assert_array_equal(y, x @ w.T)
    apply_phase("compile-kernel", module)
    assert "loop.intrinsic @my.dot8 updates" in str(module)


def the_kernel(module: ModuleOp) -> TeKernelOp:
    [kernel] = (op for op in module.ops if isinstance(op, TeKernelOp))
    return kernel


def test_declarations_belong_to_the_key_of_a_kernel(parse_module: Parse):
    """Those that it uses alone."""
    unused = "te.intrinsic @my.unused(%x: f32) -> f32 { te.yield %x : f32 }"
    texts = [NETWORK, NETWORK.replace("$x < $limit ?", "$x <= $limit ?"), NETWORK + unused]
    plain, other, with_unused = (canonical_text(the_kernel(parse_module(text))) for text in texts)
    assert "my.low" in plain and "my.swish" in plain
    assert plain != other and plain == with_unused


BOOLEANS = """
te.intrinsic @my.positive(%x: f32) -> i1 attributes {snippets = {
  c = "$x > 0", llvm = "fcmp ogt $x_type $x, zeroinitializer"
}} {
  %z = arith.constant 0.0 : f32
  %y = arith.cmpf ogt, %x, %z : f32
  te.yield %y : i1
}
te.intrinsic @my.if(%b: i1, %x: f32) -> f32 attributes {snippets = {c = "$b * $x"}} {
  %z = arith.constant 0.0 : f32
  %y = arith.select %b, %x, %z : f32
  te.yield %y : f32
}
te.kernel @k(%x: tensor<64xf32>) -> tensor<64xf32> {
  %y = te.compute "y" [i: 64] : tensor<64xf32> {
    %v = te.read %x[i] : tensor<64xf32>
    %b = te.call_intrinsic @my.positive(%v) : (f32) -> i1
    %w = te.call_intrinsic @my.if(%b, %v) : (i1, f32) -> f32
    %five = arith.constant -5.0 : f32
    %s = arith.select %b, %w, %five : f32
    te.yield %s : f32
  }
  te.return %y : tensor<64xf32>
}
"""


@pytest.mark.parametrize("target", ["llvm", "c"])
def test_booleans_of_snippets_are_masks_of_vectors(target: str, parse_module: Parse, tmp_path: Path):
    module = for_target(parse_module(BOOLEANS), target)
    x, y = RANDOM.standard_normal(64, np.float32), np.empty(64, np.float32)
    kernel_function(the_kernel(module), KernelCache(tmp_path))(x, y)
    np.testing.assert_array_equal(y, np.where(x > 0, x, np.float32(-5)))


def test_a_function_of_c_that_there_is_not(parse_module: Parse, tmp_path: Path):
    text = BOOLEANS.replace('c = "$x > 0"', 'c = "no_such_function($x)"')
    module = for_target(parse_module(text), "c")
    function = kernel_function(the_kernel(module), KernelCache(tmp_path))
    with pytest.raises(tw.TileworkError, match="cannot be loaded: undefined symbol: no_such_function"):
        function(np.empty(64, np.float32), np.empty(64, np.float32))
