"""Graph passes and graph-to-te keep what a graph means: random graphs, evaluated before and after; refusals."""

import random
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import (
    BoolAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    TensorType,
    UnitAttr,
    f32,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.parser import Parser

from tilework.algebra.index_expr import ExprLike, const, var
from tilework.analysis.parameters import is_splat
from tilework.analysis.verification import verify
from tilework.dialects.diagnostics import CompileError
from tilework.dialects.graph import (
    AddOp,
    AveragePoolOp,
    BatchNormOp,
    ConcatOp,
    ConvOp,
    DropoutOp,
    MaxPoolOp,
    MulOp,
    NegOp,
    PadOp,
    ParameterOp,
    ReduceSumOp,
    ReluOp,
    ReshapeOp,
    SliceOp,
    SubOp,
    TransposeOp,
)
from tilework.dialects.graph.base import ints
from tilework.dialects.index_attr import DimsAttr
from tilework.dialects.loop import CallOp
from tilework.dialects.registration import make_context
from tilework.dialects.shapes import dims_of, tensor_type
from tilework.dialects.te import KernelOp
from tilework.interpreters.graph import prepare_parameters, run_function
from tilework.interpreters.host import run_host
from tilework.lowering.canonical_text import canonical_text
from tilework.lowering.graph_to_te import GraphToTe
from tilework.transforms.graph.annotate_views import AnnotateViews
from tilework.transforms.graph.fold_batch_norm import FoldBatchNorm
from tilework.transforms.graph.fold_padding import FoldPadding
from tilework.transforms.graph.fold_parameters import FoldParameters
from tilework.transforms.graph.fuse_operators import FuseOperators
from tilework.transforms.graph.remove_identities import RemoveIdentities

Array = NDArray[np.float32]


class RandomGraph:
    """A function of random operators on images [N or 2 or 1, channels, 4, 4], whose values stay small integers."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.batch: ExprLike = self.random.choice([const(1), const(2), var("N")])
        self.block = Block()
        self.images: list[SSAValue] = [
            self.block.insert_arg(tensor_type([self.batch, 2, 4, 4], f32), i) for i in range(2)
        ]
        self.parameters: dict[str, Array] = {}
        self.vectors: list[SSAValue] = []
        for _ in range(self.random.randint(5, 20)):
            self.add_operator()
        results = self.random.sample(self.images, k=min(3, len(self.images)))
        results += self.random.sample(self.vectors, k=min(1, len(self.vectors)))
        self.block.add_op(ReturnOp(*results))
        types = (list(self.block.arg_types), [r.type for r in results])
        self.module = ModuleOp([FuncOp("main", types, Region(self.block))])

    def insert(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def parameter(self, *shape: int) -> SSAValue:
        name = f"p{len(self.parameters)}"
        rng = np.random.default_rng(len(self.parameters))
        self.parameters[name] = rng.integers(-1, 2, shape).astype(np.float32)
        return self.insert(ParameterOp(name, TensorType(f32, shape)))

    def channels(self, x: SSAValue) -> int:
        return dims_of(x.type)[1].offset

    def add_operator(self) -> None:
        x = self.random.choice(self.images)
        kind = self.random.choice([*("conv", "pool", "concat", "affine", "movement", "sum", "relu"), "slice", "vector"])
        made = getattr(self, f"make_{kind}")(x)
        if made is not None:
            self.images.append(made)

    def make_conv(self, x: SSAValue) -> SSAValue:
        pad = self.random.choice([0, 1])
        if self.random.random() < 0.3:
            ends = [0, 0, pad, pad, 0, 0, pad, pad]
            x, pad = self.insert(PadOp.of(x, pads=ints(ends), value=FloatAttr(0.0, f32))), 0
        elif pad == 0 or self.random.random() < 0.5:
            w, pad = self.parameter(self.random.randint(1, 3), self.channels(x), 1, 1), 0
            return self.conv(x, w, pad)
        size = 3 if pad or dims_of(x.type)[2] == 6 else 1
        return self.conv(x, self.parameter(self.random.randint(1, 3), self.channels(x), size, size), pad)

    def conv(self, x: SSAValue, w: SSAValue, pad: int) -> SSAValue:
        attributes = {"strides": ints([1, 1]), "dilations": ints([1, 1]), "pads": ints([pad] * 4)}
        return self.insert(ConvOp.of(x, w, **attributes, groups=IntegerAttr(1, i64)))

    def make_pool(self, x: SSAValue) -> SSAValue:
        attributes = {"strides": ints([1, 1]), "dilations": ints([1, 1]), "kernel": ints([3, 3]), "pads": ints([1] * 4)}
        return self.insert(MaxPoolOp.of(x, **attributes, ceil_mode=BoolAttr.from_bool(False)))

    def make_concat(self, x: SSAValue) -> SSAValue | None:
        parts = [x, *self.random.choices(self.images, k=self.random.randint(0, 2))]
        if sum(self.channels(p) for p in parts) > 9:
            return None
        return self.insert(ConcatOp.of(*parts, axis=IntegerAttr(1, i64)))

    def make_affine(self, x: SSAValue) -> SSAValue:
        for _ in range(self.random.randint(1, 4)):
            p = self.parameter(self.channels(x), 1, 1)
            op = self.random.choice([AddOp, MulOp, SubOp])
            x = self.insert(op.of(x, p) if op is SubOp or self.random.random() < 0.5 else op.of(p, x))
        return x

    def make_movement(self, x: SSAValue) -> SSAValue:
        c = self.channels(x)
        flat = self.insert(ReshapeOp.of(x, shape=DimsAttr.of([self.batch, c * 16])))
        if self.random.random() < 0.5:
            flat = self.insert(NegOp.of(flat))
        cube = self.insert(ReshapeOp.of(flat, shape=DimsAttr.of([self.batch, c, 4, 4])))
        axes = self.random.choice([(0, 1, 2, 3), (0, 1, 3, 2)])
        return self.insert(TransposeOp.of(cube, permutation=ints(axes)))

    def make_sum(self, x: SSAValue) -> SSAValue:
        others = [y for y in self.images if y.type == x.type]
        return self.insert(AddOp.of(x, self.random.choice(others)))

    def make_relu(self, x: SSAValue) -> SSAValue:
        return self.insert(ReluOp.of(x))

    def make_slice(self, x: SSAValue) -> SSAValue | None:
        c = self.channels(x)
        if c < 2:
            return None
        first, step = self.random.randint(0, 1), self.random.choice([1, 1, 2])
        return self.insert(SliceOp.of(x, axes=ints([1]), starts=ints([first]), stops=ints([c]), steps=ints([step])))

    def make_vector(self, x: SSAValue) -> None:
        total = self.insert(ReduceSumOp.of(x, axes=ints([2, 3]), keep_dims=BoolAttr.from_bool(True)))
        dropped = self.insert(DropoutOp.of(total, ratio=FloatAttr(0.5, f32)))
        self.vectors.append(self.insert(ReshapeOp.of(dropped, shape=DimsAttr.of([self.batch, self.channels(x)]))))

    def inputs(self) -> list[Array]:
        n = self.batch.constant if self.batch.constant is not None else 3
        rng = np.random.default_rng(7)
        return [rng.integers(-2, 3, (n, 2, 4, 4)).astype(np.float32) for _ in range(2)]


GRAPH_PASSES = (RemoveIdentities(), FoldBatchNorm(), FoldPadding(), FoldParameters(), AnnotateViews(), FuseOperators())


@pytest.mark.parametrize("seed", range(60))
def test_random_graphs_keep_their_meaning(seed: int):
    graph = RandomGraph(seed)
    context, module, inputs = make_context(), graph.module, graph.inputs()
    verify(module)
    expected = run_function(module, "main", inputs, graph.parameters)
    if max(np.abs(e).max(initial=0) for e in expected) > 2**20:
        pytest.skip("sums are not exact")
    for each in GRAPH_PASSES:
        each.apply(context, module)
        verify(module)
        parameters = prepare_parameters(module, graph.parameters)
        check(run_function(module, "main", inputs, parameters), expected, each.name)
    GraphToTe().apply(context, module)
    verify(module)
    check(run_host(module, "main", inputs, parameters), expected, "graph-to-te")


def check(found: Sequence[Array], expected: Sequence[Array], after: str) -> None:
    for i, (a, b) in enumerate(zip(found, expected, strict=True)):
        assert np.array_equal(a, b), f"result {i} differs after {after}"


def test_the_random_graphs_reach_what_they_should():
    """Views of every kind, outputs written in place, copies, folded weights: else the test above proves little."""
    seen: set[str] = set()
    for seed in range(60):
        module = RandomGraph(seed).module
        for each in (*GRAPH_PASSES, GraphToTe()):
            each.apply(make_context(), module)
            seen |= {f"{op.name} view" for op in module.walk() if "graph.view" in op.attributes}
            seen |= {op.name for op in module.walk()}
        seen |= {"te.layouts" for op in module.ops if "te.layouts" in op.attributes}
    assert {f"graph.{op} view" for op in ("concat", "reshape", "slice")} <= seen
    expected = {"memref.subview", "memref.reinterpret_cast", "memref.copy", "memref.alloc", "te.layouts"}
    assert expected | {"graph.define_parameter"} <= seen


def test_folded_batch_norm_computes_the_same():
    x = np.random.default_rng(0).standard_normal((2, 3, 5, 5)).astype(np.float32)
    block = Block(arg_types=[TensorType(f32, x.shape)])
    shapes = {"w": (4, 3, 3, 3), "scale": (4,), "bias": (4,), "mean": (4,), "variance": (4,)}
    rng = np.random.default_rng(1)
    parameters = {name: rng.uniform(0.5, 1.5, shape).astype(np.float32) for name, shape in shapes.items()}
    w, *vectors = [ParameterOp(name, TensorType(f32, shape)) for name, shape in shapes.items()]
    attributes = {"strides": ints([1, 1]), "dilations": ints([1, 1]), "pads": ints([0] * 4)}
    conv = ConvOp.of(block.args[0], w.result, **attributes, groups=IntegerAttr(1, i64))
    norm = BatchNormOp.of(conv.result, *(v.result for v in vectors), epsilon=FloatAttr(1e-3, f32))
    again = BatchNormOp.of(norm.result, *(v.result for v in vectors), epsilon=FloatAttr(1e-3, f32))
    block.add_ops([w, *vectors, conv, norm, again, ReturnOp(norm.result, again.result)])
    types = (list(block.arg_types), [norm.result.type, again.result.type])
    module = ModuleOp([FuncOp("main", types, Region(block))])
    expected = run_function(module, "main", [x], parameters)
    for each in (FoldBatchNorm(), FoldParameters()):
        each.apply(make_context(), module)
        verify(module)
    assert not any(isinstance(op, BatchNormOp) for op in module.walk())
    found = run_function(module, "main", [x], prepare_parameters(module, parameters))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


# -- refusals and details


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
    for each in (*GRAPH_PASSES, GraphToTe()):
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
    for each in (*GRAPH_PASSES, GraphToTe()):
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
