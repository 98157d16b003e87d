"""graph-to-te: what it refuses, and details of what it makes."""

import numpy as np
import pytest
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import (
    BoolAttr,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    UnitAttr,
    f32,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.parser import Parser

from tilework.algebra.index_expr import Expr, const
from tilework.algebra.parse import parse as index_expr
from tilework.analysis.parameters import is_splat
from tilework.analysis.verification import verify
from tilework.dialects.graph import (
    AddOp,
    AveragePoolOp,
    ConcatOp,
    NegOp,
    ParameterOp,
    ReduceSumOp,
    ReluOp,
)
from tilework.dialects.graph.base import ints
from tilework.dialects.loop import CallOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.registration import make_context
from tilework.dialects.te import KernelOp
from tilework.driver.canonical_text import canonical_text
from tilework.interpreters.host import run_host
from tilework.lowering.graph_to_te import GraphToTe
from tilework.lowering.host.buffers import reshaped_strides
from tilework.lowering.pipelines import GRAPH
from tilework.transforms.graph.annotate_views import AnnotateViews
from tilework.transforms.graph.fuse_operators import FuseOperators


def parse(text: str) -> ModuleOp:
    return Parser(make_context(), text).parse_module()


def refuse(text: str, message: str) -> None:
    with pytest.raises(CompileError) as caught:
        GraphToTe().apply(make_context(), parse(text))
    assert caught.value.message == message


def test_an_operator_outside_of_a_group_is_refused():
    refuse(
        """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
             %0 = graph.relu %x : (tensor<2xf32>) -> tensor<2xf32>
             func.return %0 : tensor<2xf32>
           }""",
        "graph.relu is in no graph.fused; run graph-fuse-operators first",
    )


def test_a_returned_constant_is_refused():
    refuse(
        """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
             %0 = arith.constant dense<1.0> : tensor<2xf32>
             func.return %0 : tensor<2xf32>
           }""",
        "a constant is used outside the kernels; run graph-fold-parameters first",
    )


def test_a_table_of_constants_in_a_kernel_is_refused():
    refuse(
        """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
             %0 = graph.fused "add" (%x) : (tensor<2xf32>) -> (tensor<2xf32>) {
             ^bb0(%a: tensor<2xf32>):
               %t = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
               %1 = graph.add %a, %t : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
               graph.yield %1 : tensor<2xf32>
             }
             func.return %0 : tensor<2xf32>
           }""",
        "a constant inside a kernel is one value repeated; run graph-fold-parameters first",
    )


def test_a_false_view_is_refused():
    refuse(
        """func.func @main(%x: tensor<2xf32>) -> tensor<4xf32> {
             %0 = graph.concat %x, %x {axis = 0 : i64, graph.view} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
             func.return %0 : tensor<4xf32>
           }""",
        "operand 0 of a concatenation marked as a view cannot be made inside of it",
    )
    refuse(
        """func.func @main(%x: tensor<4x4xf32>) -> tensor<8xf32> {
             %0 = graph.slice %x {axes = array<i64: 1>, starts = array<i64: 0>, stops = array<i64: 2>,
               steps = array<i64: 1>, graph.view} : (tensor<4x4xf32>) -> tensor<4x2xf32>
             %1 = graph.reshape %0 {shape = #graph.dims<[8]>, graph.view} : (tensor<4x2xf32>) -> tensor<8xf32>
             func.return %1 : tensor<8xf32>
           }""",
        "a part of another tensor's buffer cannot be reshaped in place",
    )
    refuse(
        """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
             %0 = graph.slice %x {axes = array<i64: 0>, starts = array<i64: 3>, stops = array<i64: -1>,
               steps = array<i64: -1>, graph.view} : (tensor<4xf32>) -> tensor<4xf32>
             func.return %0 : tensor<4xf32>
           }""",
        "a slice that walks backwards is no view",
    )
    refuse(
        """func.func @main(%x: tensor<4x?xf32, #graph.dims<[4, N]>>) -> tensor<2x?xf32, #graph.dims<[2, N]>> {
             %0 = graph.slice %x {axes = array<i64: 0>, starts = array<i64: 1>, stops = array<i64: 3>,
               steps = array<i64: 1>, graph.view}
               : (tensor<4x?xf32, #graph.dims<[4, N]>>) -> tensor<2x?xf32, #graph.dims<[2, N]>>
             func.return %0 : tensor<2x?xf32, #graph.dims<[2, N]>>
           }""",
        "the offset and strides of a view must be known when it is compiled",
    )


def test_a_symbol_that_no_input_binds_is_refused():
    refuse(
        """func.func @main(%x: tensor<?xf32, #graph.dims<[2 * N]>> {tilework.name = "x"}) -> tensor<2xf32> {
             %w = graph.parameter @w : tensor<2xf32>
             func.return %w : tensor<2xf32>
           }""",
        "dimension 0 of input 'x' is 2 * N, but no input has a dimension that is N itself",
    )


def test_one_parameter_has_one_type():
    refuse(
        """func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<3xf32>) {
             %v = graph.parameter @w : tensor<2xf32>
             %w = graph.parameter @w : tensor<3xf32>
             func.return %v, %w : tensor<2xf32>, tensor<3xf32>
           }""",
        "parameter @w is memref<3xf32> here and memref<2xf32> elsewhere",
    )


def test_nothing_of_the_graph_level_is_legal_outside_of_prepare():
    module = parse(
        """func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
             %0 = graph.relu %x : (tensor<2xf32>) -> tensor<2xf32>
             func.return %0 : tensor<2xf32>
           }
           func.func @prepare() {
             %w = graph.parameter @w : tensor<2xf32>
             graph.define_parameter @v, %w : tensor<2xf32>
             func.return
           }"""
    )
    why = [GraphToTe.legal_after(op) for op in module.walk()]
    assert [w for w in why if w] == ["graph.relu is left after graph-to-te outside of @prepare"]


def test_locations_reach_calls_and_computes():
    module = parse(
        """func.func @main(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> tensor<2x2xf32> {
             %0 = graph.dense %x, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32> loc("Gemm_0")
             %1 = graph.relu %0 : (tensor<2x2xf32>) -> tensor<2x2xf32> loc("Relu_1")
             func.return %1 : tensor<2x2xf32>
           }"""
    )
    for each in (FuseOperators(), GraphToTe()):
        each.apply(make_context(), module)
    [call] = [op for op in module.walk() if isinstance(op, CallOp)]
    [kernel] = [op for op in module.ops if isinstance(op, KernelOp)]
    assert str(call.location) == 'loc("Gemm_0")'
    assert [str(c.location) for c in kernel.computes] == ['loc("Gemm_0")', 'loc("Relu_1")']
    assert all(op.location == c.location for c in kernel.computes for op in c.body.walk())


def test_canonical_text_forgets_names_and_locations_only():
    text = """te.kernel @{name}(%{x}: tensor<4xf32>) -> tensor<4xf32> {{
        %{y} = te.compute "relu" [i: 4] : tensor<4xf32> {{
          %v = te.read %{x}[i] : tensor<4xf32>
          %c = arith.constant {value} : f32
          %m = arith.maximumf %v, %c : f32
          te.yield %m : f32
        }} loc("{place}")
        te.return %{y} : tensor<4xf32>
      }}"""
    names = {"name": "a", "x": "x", "y": "y", "value": "0.0", "place": "p"}
    others = {"name": "b", "x": "in", "y": "out", "value": "0.0", "place": "q"}

    def canonical(values: dict[str, str]) -> str:
        [kernel] = [op for op in parse(text.format(**values)).ops if isinstance(op, KernelOp)]
        result = canonical_text(kernel)
        assert kernel.sym_name.data == values["name"]  # the kernel itself is left alone
        return result

    assert canonical(names) == canonical(others)
    assert canonical(names) != canonical({**names, "value": "1.0"})


def test_canonical_text_knows_the_layouts():
    module = parse(
        """func.func @main(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> (tensor<2x4xf32>, tensor<2x2xf32>) {
             %0 = graph.dense %x, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
             %1 = graph.dense %w, %x : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
             %2 = graph.dense %w, %w : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
             %3 = graph.concat %0, %1 {axis = 1 : i64} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x4xf32>
             func.return %3, %2 : tensor<2x4xf32>, tensor<2x2xf32>
           }"""
    )
    for each in (AnnotateViews(), FuseOperators(), GraphToTe()):
        each.apply(make_context(), module)
    kernels = [op for op in module.ops if isinstance(op, KernelOp)]
    assert [k.sym_name.data for k in kernels] == ["dense", "dense_1"]
    assert canonical_text(kernels[0]) != canonical_text(kernels[1])


def test_average_pool_defines_several_computes_with_unique_names():
    block = Block(arg_types=[TensorType(f32, (1, 1, 4, 4))])
    windows = {"strides": ints([1, 1]), "dilations": ints([1, 1]), "kernel": ints([3, 3]), "pads": ints([1] * 4)}
    flags = {"ceil_mode": BoolAttr.from_bool(False), "count_padding": BoolAttr.from_bool(False)}
    pool = AveragePoolOp.of(block.args[0], **windows, **flags)
    relu = ReluOp.of(pool.result)
    last = ReluOp.of(relu.result)
    block.add_ops([pool, relu, last, ReturnOp(last.result)])
    module = ModuleOp([FuncOp("main", (list(block.arg_types), [last.result.type]), Region(block))])
    for each in (FuseOperators(), GraphToTe()):
        each.apply(make_context(), module)
    [kernel] = [op for op in module.ops if isinstance(op, KernelOp)]
    assert [c.stage.data for c in kernel.computes][-3:] == ["average_pool", "relu", "relu.1"]
    assert UnitAttr() not in kernel.attributes.values()


def test_a_graph_of_20000_operators():
    """No pass recurses over the graph; depth in @main, in @prepare and of parts in parts."""
    block = Block(arg_types=[TensorType(f32, (1, 2))])
    x: SSAValue = block.args[0]

    def insert(op: Operation) -> SSAValue:
        block.add_op(op)
        return op.results[0]

    p = insert(ParameterOp("p", TensorType(f32, (2,))))
    whole = insert(ReduceSumOp.of(x, axes=ints([]), keep_dims=BoolAttr.from_bool(True)))
    for i in range(6000):
        p = insert(NegOp.of(p))
        x = insert(ReluOp.of(insert(AddOp.of(x, p))))
        if i % 6 == 0:
            part = insert(ReduceSumOp.of(x, axes=ints([]), keep_dims=BoolAttr.from_bool(True)))
            whole = insert(ConcatOp.of(whole, part, axis=IntegerAttr(1, i64)))
    block.add_op(ReturnOp(whole))
    module = ModuleOp([FuncOp("main", (list(block.arg_types), [whole.type]), Region(block))])
    for each in (*GRAPH, GraphToTe()):
        each.apply(make_context(), module)
    verify(module)
    calls = [op for op in module.walk() if isinstance(op, CallOp)]
    assert len(calls) == 2001
    assert len({call.kernel_name for call in calls}) < 10


def test_constants_inside_kernels():
    """One number repeated, a scalar of rank 0 included, is a number of the kernel's own."""
    module = parse(
        """func.func @main(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
             %two = arith.constant dense<2.0> : tensor<f32>
             %row = arith.constant dense<-1.0> : tensor<3xf32>
             %big = arith.constant dense<4.0> : tensor<3xf32>
             %0 = graph.mul %x, %two : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
             %1 = graph.add %row, %0 : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
             %2 = graph.max %x, %big : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
             func.return %1, %2 : tensor<2x3xf32>, tensor<2x3xf32>
           }"""
    )
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for each in (*GRAPH, GraphToTe()):
        each.apply(make_context(), module)
    verify(module)
    kernels = {op.sym_name.data: op for op in module.ops if isinstance(op, KernelOp)}
    assert {name: len(k.body.block.args) for name, k in kernels.items()} == {"mul_add": 1, "max": 1}
    found = run_host(module, "main", [x], {})
    assert np.array_equal(found[0], 2 * x - 1)
    assert np.array_equal(found[1], np.maximum(x, 4))


def test_what_is_one_number_repeated():
    def constant(*values: float) -> ConstantOp:
        return ConstantOp(DenseIntOrFPElementsAttr.from_list(TensorType(f32, (len(values),)), values))

    assert is_splat(constant(1, 1, 1))
    assert is_splat(constant(float("nan"), float("nan")))
    assert not is_splat(constant(0.0, -0.0))
    assert not is_splat(constant())


def test_kernel_arguments_are_named_after_operands():
    module = parse(
        """func.func @main(%a: tensor<2x2xf32>, %b: tensor<2x2xf32>, %c: tensor<2x2xf32>) -> tensor<2x6xf32> {
             %0 = graph.add %a, %b : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
             %1 = graph.concat %b, %c, %0 {axis = 1 : i64}
               : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x6xf32>
             func.return %1 : tensor<2x6xf32>
           }"""
    )
    for each in (FuseOperators(), GraphToTe()):
        each.apply(make_context(), module)
    [kernel] = [op for op in module.ops if isinstance(op, KernelOp)]
    assert [a.name_hint for a in kernel.body.block.args] == ["left", "right", "inputs"]


@pytest.mark.parametrize("seed", range(300))
def test_parts_of_buffers_under_other_dimensions(seed: int):
    """What is found is what numpy's reshape has without a copy; axes that keep their order and elements are found."""
    rng = np.random.default_rng(seed)
    shape = [int(n) for n in rng.choice((1, 2, 3, 4), rng.integers(1, 5))]
    whole = np.arange(int(np.prod([n + 2 for n in shape]))).reshape([n + 2 for n in shape])
    gaps = rng.integers(0, len(shape) + 1)
    part = whole[tuple(slice(1, n + 1) if axis < gaps else slice(None) for axis, n in enumerate(shape))]
    before = part.shape
    at = int(rng.integers(0, len(before)))
    after = (*before[:at], int(np.prod(before[at:])))
    strides = [s // part.itemsize for s in part.strides]
    found = reshaped_strides([const(n) for n in before], [const(s) for s in strides], [const(n) for n in after])
    if found is None:
        assert gaps > at + 1, "an axis without gaps was not found"
        return
    reshaped = np.lib.stride_tricks.as_strided(part, after, [s.offset * part.itemsize for s in found])
    np.testing.assert_array_equal(reshaped, part.reshape(after))


@pytest.mark.parametrize(
    ("before", "strides", "after", "wanted"),
    [
        # without gaps it is any other shape of as many elements, symbolic or not
        ("3, 4", "4, 1", "2, 6", "6, 1"),
        ("N, 3, 4", "12, 4, 1", "N * 3, 4", "4, 1"),
        ("N * 3, 4", "4, 1", "N, 12", "12, 1"),
        ("N, M", "M, 1", "N * M", "1"),
        ("N * M", "1", "M, N", "N, 1"),
        ("1, N, 4", "99, 4, 1", "4, N", "N, 1"),
        # with gaps, what follows the axes that stay is constant
        ("N, 4, 3, 5", "120, 30, 5, 1", "N, 4, 15", "120, 30, 1"),
        ("N, M, 6", "M * 8, 8, 1", "N, M, 2, 3", "M * 8, 8, 3, 1"),
        ("N, M", "M + 1, 1", "N * M", None),
        ("N, 4", "8, 1", "N * 4", None),
        ("3, N", "N * 2, 1", "3, 1, N", None),
        ("3, 4", "8, 1", "2, 6", None),
    ],
)
def test_buffers_of_unknown_size_under_other_dimensions(before: str, strides: str, after: str, wanted: str | None):
    def exprs(text: str) -> list[Expr]:
        return [index_expr(part) for part in text.split(", ")]

    found = reshaped_strides(exprs(before), exprs(strides), exprs(after))
    assert found == (None if wanted is None else exprs(wanted))


def test_names_in_other_alphabets():
    module = parse(
        """func.func @main(%x: tensor<2xf32> {tilework.name = "größe x"}) -> (tensor<2xf32> {tilework.name = "β"}) {
             %0 = graph.fused "relu" (%x) : (tensor<2xf32>) -> (tensor<2xf32>) {
             ^bb0(%a: tensor<2xf32>):
               %r = graph.relu %a : (tensor<2xf32>) -> tensor<2xf32>
               graph.yield %r : tensor<2xf32>
             }
             func.return %0 : tensor<2xf32>
           }"""
    )
    GraphToTe().apply(make_context(), module)
    verify(parse(str(module)))
    main = next(op for op in module.ops if isinstance(op, FuncOp))
    assert [a.name_hint for a in main.body.block.args] == ["gr__e_x", "_"]
    assert main.arg_attrs is not None
    assert [a.data["tilework.name"] for a in main.arg_attrs] == [StringAttr("größe x"), StringAttr("β")]
