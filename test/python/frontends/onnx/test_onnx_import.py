"""What a model becomes: names, parameters, symbols, folded shapes, opset variants, locations, depth."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr

from tilework.analysis.verification import verify
from tilework.dialects import graph
from tilework.dialects.graph.base import GraphOp
from tilework.dialects.graph.structure import ParameterOp
from tilework.dialects.support.locations import source_name
from tilework.dialects.support.registration import make_context
from tilework.frontends.onnx import ImportedModel, import_onnx
from tilework.interpreters.graph import run_function
from tilework.tools.light_models import (
    LIGHT_MODELS,
    load_light_model,
    random_feeds,
    reference,
    stage_tensors,
    with_outputs,
)
from tilework.transforms.graph.fold_parameters import FoldParameters

FLOAT = TensorProto.FLOAT

Array = np.ndarray[Any, Any]


def model(
    nodes: Sequence[onnx.NodeProto],
    inputs: dict[str, Sequence[int | str | None]],
    outputs: Sequence[str] = ("y",),
    initializers: dict[str, Any] | None = None,
    opset: int = 13,
    ir_version: int = 8,
) -> onnx.ModelProto:
    made = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, FLOAT, None) for name in outputs],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in (initializers or {}).items()],
    )
    return helper.make_model(made, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version)


def node(op: str, inputs: str, outputs: str = "y", **attributes: Any) -> onnx.NodeProto:
    """An input that is absent is a second space."""
    return helper.make_node(op, inputs.split(" ") if inputs else [], outputs.split(), **attributes)


def main_of(module: ModuleOp) -> func.FuncOp:
    (function,) = module.ops
    assert isinstance(function, func.FuncOp)
    return function


def result_types(imported: ImportedModel) -> list[str]:
    return [str(type_) for type_ in main_of(imported.module).function_type.outputs]


def check(made: onnx.ModelProto, *arrays: Array) -> ImportedModel:
    """Import, and compare with onnxruntime."""
    imported = import_onnx(made)
    verify(imported.module)
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    feeds = dict(zip([value.name for value in session.get_inputs()], arrays, strict=True))
    for result, expected in zip(
        run_function(imported.module, "main", arrays, imported.parameters), session.run(None, feeds), strict=True
    ):
        assert result.shape == expected.shape
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)
    return imported


def random(*shape: int) -> Array:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


# ---- Real graphs -----------------------------------------------------------------------------------------------------


LARGE = ("bvlc_alexnet", "vgg19", "zfnet512")
"""Their weights take up to half a gigabyte."""


@pytest.mark.parametrize("name", [pytest.param(n, marks=[pytest.mark.slow] * (n in LARGE)) for n in LIGHT_MODELS])
def test_light_model(name: str):
    light = load_light_model(name)
    feeds = random_feeds(light)
    light = with_outputs(light, stage_tensors(light))
    imported = import_onnx(light)
    verify(imported.module)
    results = run_function(imported.module, "main", list(feeds.values()), imported.parameters)
    for (tensor, expected), result in zip(reference(light, feeds).items(), results, strict=True):
        assert np.abs(result - expected).max() <= 1e-4 * np.abs(expected).max(), tensor


# ---- Names and parameters --------------------------------------------------------------------------------------------


def test_names_are_kept():
    weights = {"a/b": random(20, 20), "a_b": random(20, 20), "0": random(20, 20), "small": random(20)}
    nodes = [
        node("MatMul", "in:0 a/b", "p"),
        node("MatMul", "p a_b", "q"),
        node("MatMul", "q 0", "r"),
        node("Add", "r small", "out/1"),
    ]
    imported = check(model(nodes, {"in:0": [3, 20]}, ["out/1"], weights), random(3, 20))
    names = {
        op.sym_name.data: str(op.attributes.get("tilework.onnx_name", StringAttr("")))
        for op in imported.module.walk()
        if isinstance(op, ParameterOp)
    }
    assert names == {"a_b": '"a/b"', "a_b_1": '"a_b"', "_0": '"0"'}
    assert imported.parameters.keys() == names.keys()
    np.testing.assert_array_equal(imported.parameters["a_b_1"], weights["a_b"])
    text = str(imported.module)
    assert '(%in: tensor<3x20xf32> {tilework.name = "in:0"}) -> (tensor<3x20xf32> {tilework.name = "out/1"})' in text
    assert imported.name == "tiny"


def test_a_small_constant_is_inline_and_a_large_one_a_parameter():
    nodes = [node("Add", "x small", "a"), node("Add", "a large")]
    weights = {"small": random(256), "large": random(1, 257)[:, :256].repeat(2, 0)}
    imported = import_onnx(model(nodes, {"x": [2, 256]}, initializers=weights))
    assert list(imported.parameters) == ["large"]


def test_a_constant_used_twice_is_one_parameter():
    nodes = [node("MatMul", "x w", "a"), node("MatMul", "a w")]
    imported = import_onnx(model(nodes, {"x": [1, 20]}, initializers={"w": random(20, 20)}))
    assert sum(isinstance(op, ParameterOp) for op in imported.module.walk()) == 1


def test_old_models_list_initializers_as_inputs():
    made = model([node("Relu", "x")], {"x": [2], "unused": [1, 1]}, initializers={"unused": random(1, 1)}, ir_version=3)
    imported = check(made, random(2))
    assert not imported.parameters and len(main_of(imported.module).body.block.args) == 1


def test_locations_name_the_node():
    nodes = [node("Relu", "x", "a", name="first"), node("Relu", "a")]
    ops = [op for op in import_onnx(model(nodes, {"x": [1]})).module.walk() if isinstance(op, graph.ReluOp)]
    assert [source_name(op.location) for op in ops] == ["first", "Relu_1"]


def test_a_path_and_bytes(tmp_path: Path):
    made = model([node("Relu", "x")], {"x": [2]})
    path = tmp_path / "model.onnx"
    path.write_bytes(made.SerializeToString())
    expected = import_onnx(made).module
    for source in (path, str(path), path.read_bytes()):
        assert import_onnx(source).module.is_structurally_equivalent(expected)


def test_outputs_without_operators():
    imported = check(model([node("Identity", "x")], {"x": [2]}, ["y", "x"]), random(2))
    assert [op.name for op in main_of(imported.module).body.block.ops] == ["func.return"]


def test_nodes_out_of_order_and_unneeded_nodes():
    nodes = [node("Relu", "a"), node("NonZero", "x", "unneeded"), node("Neg", "x", "a")]
    made = model(nodes, {"x": [2]})
    assert [op.name for op in main_of(import_onnx(made).module).body.block.ops] == [
        "graph.neg",
        "graph.relu",
        "func.return",
    ]


@pytest.mark.slow
def test_twenty_thousand_nodes_deep():
    depth = 20_000
    nodes = [node("Relu", f"v{i}", f"v{i + 1}") for i in range(depth)]
    imported = import_onnx(model(nodes, {"v0": [1]}, [f"v{depth}"]))
    verify(imported.module)
    assert len(main_of(imported.module).body.block.ops) == depth + 1
    np.testing.assert_array_equal(run_function(imported.module, "main", [np.array([-1], np.float32)], {}), [[0]])


# ---- Symbols ---------------------------------------------------------------------------------------------------------


def test_symbols_get_identifiers():
    imported = import_onnx(
        model(
            [node("Relu", "x"), node("Neg", "z", "w")],
            {"x": ["batch size", "mod", None], "z": ["batch size", 0, "0"]},
            ["y", "w"],
        )
    )
    assert result_types(imported) == [
        "tensor<?x?x?xf32, #graph.dims<[batch_size, mod_, x_2]>>",
        "tensor<?x0x?xf32, #graph.dims<[batch_size, 0, _0]>>",
    ]
    verify(imported.module)


def test_shapes_follow_symbols():
    nodes = [
        node("Conv", "x w", "c", strides=[2, 2], pads=[1, 1, 1, 1]),
        node("GlobalAveragePool", "c", "p"),
        node("Flatten", "p"),
    ]
    made = model(nodes, {"x": ["N", 3, "H", 8]}, ["c", "y"], {"w": random(4, 3, 3, 3)})
    assert result_types(import_onnx(made)) == [
        "tensor<?x4x?x4xf32, #graph.dims<[N, 4, (H + 1) floordiv 2, 4]>>",
        "tensor<?x4xf32, #graph.dims<[N, 4]>>",
    ]
    check(made, random(2, 3, 7, 8))


def test_a_transposed_convolution_follows_symbols():
    """Where the size is not known nothing can be cut off; nothing has to be."""
    nodes = [node("ConvTranspose", "x w v", strides=[2, 2], pads=[1, 1, 1, 1])]
    made = model(nodes, {"x": ["N", 3, "H", 6]}, initializers={"w": random(3, 5, 4, 4), "v": random(5)})
    assert result_types(import_onnx(made)) == ["tensor<?x5x?x12xf32, #graph.dims<[N, 5, 2 * H, 12]>>"]
    check(made, random(2, 3, 7, 6))


def test_a_transposed_convolution_that_is_cut_at_a_place_that_sizes_decide():
    nodes = [node("ConvTranspose", "x w", strides=[2, 2], pads=[1, 1, 1, 1])]
    made = model(nodes, {"x": ["N", 3, "H", 6]}, initializers={"w": random(3, 5, 3, 3)})
    assert result_types(import_onnx(made)) == ["tensor<?x5x?x11xf32, #graph.dims<[N, 5, 2 * H - 1, 11]>>"]
    check(made, random(2, 3, 7, 6))


def recurrent_model(op: str, gates: int, steps: int | str) -> onnx.ModelProto:
    weights = {"w": random(1, gates * 5, 4), "r": random(1, gates * 5, 5)}
    return model([node(op, "x w r", "y", hidden_size=5)], {"x": [steps, "N", 4]}, initializers=weights)


@pytest.mark.parametrize(("op", "gates"), [("RNN", 1), ("GRU", 3), ("LSTM", 4)])
def test_a_recurrent_layer_takes_any_batch(op: str, gates: int):
    made = recurrent_model(op, gates, 3)
    assert result_types(import_onnx(made)) == ["tensor<3x1x?x5xf32, #graph.dims<[3, 1, N, 5]>>"]
    check(made, random(3, 2, 4))


@pytest.mark.parametrize(("steps", "scans"), [(16, 0), (17, 1), ("T", 1)])
def test_many_steps_of_a_recurrent_layer_become_a_scan(steps: int | str, scans: int):
    imported = check(recurrent_model("GRU", 3, steps), random(17 if steps == "T" else int(steps), 2, 4))
    assert sum(isinstance(op, graph.ScanOp) for op in imported.module.walk()) == scans


@pytest.mark.parametrize(
    ("made", "left"),
    [
        (recurrent_model("LSTM", 4, 2), {"slice", "dense", "reshape", "sigmoid", "tanh", "add", "mul", "concat"}),
        (
            model(
                [node("ConvTranspose", "x w", strides=[2, 2], pads=[1, 1, 1, 1])],
                {"x": [1, 3, 5, 5]},
                initializers={"w": random(3, 32, 4, 4)},
            ),
            {"conv", "concat", "reshape", "transpose"},
        ),
    ],
)
def test_what_is_done_to_weights_is_done_beforehand(made: onnx.ModelProto, left: set[str]):
    module = import_onnx(made).module
    FoldParameters().apply(make_context(), module)
    main = next(op for op in module.ops if isinstance(op, func.FuncOp) and op.sym_name.data == "main")
    operators = [op for op in main.body.block.ops if isinstance(op, GraphOp) and not isinstance(op, ParameterOp)]
    assert {op.label for op in operators} == left
    uses = [op for op in operators if any(isinstance(operand.owner, ParameterOp) for operand in op.operands)]
    assert {op.label for op in uses} <= {"dense", "conv"}


def test_resize_to_sizes_of_which_some_stay():
    """PyTorch writes so interpolate(x, (6, 7)) for any batch."""
    nodes = [
        node("Shape", "x", "s"),
        node("Slice", "s from to", "kept"),
        node("Concat", "kept size", "target", axis=0),
        node("Resize", "x   target", mode="linear", coordinate_transformation_mode="pytorch_half_pixel"),
    ]
    constants = {"from": np.array([0]), "to": np.array([2]), "size": np.array([6, 7])}
    imported = check(model(nodes, {"x": ["N", 3, 4, 4]}, initializers=constants), random(2, 3, 4, 4))
    assert result_types(imported) == ["tensor<?x3x6x7xf32, #graph.dims<[N, 3, 6, 7]>>"]


def test_images_of_any_size_are_doubled():
    for mode in ("nearest", "linear"):
        nodes = [node("Resize", "x  scales", mode=mode)]
        made = model(nodes, {"x": [1, 2, "H", "W"]}, initializers={"scales": np.array([1, 1, 2, 2], np.float32)})
        imported = check(made, random(1, 2, 3, 4))
        assert result_types(imported) == ["tensor<1x2x?x?xf32, #graph.dims<[1, 2, 2 * H, 2 * W]>>"]


def test_reshape_by_computed_shape():
    """PyTorch writes so x.view(x.shape[0], -1)."""
    nodes = [
        node("Shape", "x", "s"),
        node("Gather", "s zero", "n"),
        node("Unsqueeze", "n axis", "n1"),
        node("Constant", "", "rest", value=numpy_helper.from_array(np.array([-1]))),
        node("Concat", "n1 rest", "target", axis=0),
        node("Reshape", "x target"),
    ]
    constants = {"zero": np.array(0), "axis": np.array([0])}
    imported = check(model(nodes, {"x": ["N", 3, 4]}, initializers=constants), random(5, 3, 4))
    assert result_types(imported) == ["tensor<?x12xf32, #graph.dims<[N, 12]>>"]
    assert [op.name for op in main_of(imported.module).body.block.ops] == ["graph.reshape", "func.return"]


def test_channel_shuffle_by_computed_shape():
    nodes = [
        node("Shape", "x", "s"),
        node("Slice", "s b e", "n"),
        node("Slice", "s e d", "c"),
        node("Div", "c two", "half"),
        node("Concat", "n two half rest", "target", axis=0),
        node("Reshape", "x target", "r"),
        node("Transpose", "r", "t", perm=[0, 2, 1, 3]),
        node("Reshape", "t s"),
    ]
    constants = {
        "b": np.array([0]),
        "e": np.array([1]),
        "d": np.array([2]),
        "two": np.array([2]),
        "rest": np.array([-1]),
    }
    imported = check(model(nodes, {"x": ["N", 6, 5]}, initializers=constants), random(3, 6, 5))
    assert result_types(imported) == ["tensor<?x6x5xf32, #graph.dims<[N, 6, 5]>>"]


def test_constant_of_shape_is_a_constant():
    nodes = [
        node("ConstantOfShape", "s", "w", value=numpy_helper.from_array(np.array([0.5], np.float32))),
        node("MatMul", "x w"),
    ]
    imported = check(model(nodes, {"x": [2, 30]}, initializers={"s": np.array([30, 20])}), random(2, 30))
    assert imported.parameters["w"].shape == (30, 20)


def test_a_causal_mask_is_computed_beforehand():
    """PyTorch exports one so: positions by cumulative sum, compared, joined with a triangle, made numbers."""
    nodes = [
        node("Shape", "x", "shape"),
        node("Gather", "shape one", "length"),
        node("ConstantOfShape", "length", "ones", value=numpy_helper.from_array(np.array([1], np.int64))),
        node("CumSum", "ones zero", "positions"),
        node("Unsqueeze", "positions one", "rows"),
        node("GreaterOrEqual", "rows positions", "causal"),
        node("Expand", "seen square", "all"),
        node("Trilu", "all", "lower", upper=0),
        node("And", "causal lower", "mask"),
        node("Where", "mask nothing infinite", "bias"),
        node("Add", "x bias"),
    ]
    known = {
        "one": np.array([1]),
        "zero": np.array(0),
        "seen": np.array([[True]]),
        "square": np.array([4, 4]),
        "nothing": np.float32(0),
        "infinite": np.float32(-np.inf),
    }
    x = random(4, 4)
    imported = check(model(nodes, {"x": [4, 4]}, initializers=known, opset=14), x)
    assert [op.name for op in main_of(imported.module).body.walk()][-2:] == ["graph.add", "func.return"]
    [result] = run_function(imported.module, "main", [x], imported.parameters)
    np.testing.assert_array_equal(result, np.where(np.tri(4, dtype=bool), x, -np.inf))


def test_an_old_operator_is_computed_by_its_own_version():
    """The axes of ReduceMax were an attribute before opset 18."""
    nodes = [node("ReduceMax", "a", "largest", axes=[0], keepdims=0), node("Mul", "x largest")]
    a = np.array([[1, 5], [4, 2]], np.float32)
    imported = check(model(nodes, {"x": [2]}, initializers={"a": a}, opset=11), random(2))
    assert "graph.reduce_max" not in {op.name for op in imported.module.walk()}


def test_a_tile_of_known_arrays_is_known():
    nodes = [node("Tile", "shape twice", "tiled"), node("ReduceProd", "tiled", "n"), node("Reshape", "x n")]
    initializers = {"shape": np.array([2, 3]), "twice": np.array([2])}
    imported = check(model(nodes, {"x": [6, 6]}, initializers=initializers), random(6, 6))
    assert result_types(imported) == ["tensor<36xf32>"]


def test_a_cumulative_sum_of_symbolic_dimensions():
    nodes = [node("Shape", "x", "s"), node("CumSum", "s zero", "t"), node("Cast", "t", "y", to=TensorProto.FLOAT)]
    imported = import_onnx(model(nodes, {"x": ["batch", 3]}, initializers={"zero": np.array(0)}, opset=14))
    (result,) = run_function(imported.module, "main", [random(5, 3)], imported.parameters)
    np.testing.assert_array_equal(result, [5, 8])


# ---- Variants of old opsets ------------------------------------------------------------------------------------------


def test_add_with_axis_of_opset_6():
    imported = import_onnx(
        model([node("Add", "x b", broadcast=1, axis=1)], {"x": [2, 3, 4]}, initializers={"b": random(3)}, opset=6)
    )
    x = random(2, 3, 4)
    (result,) = run_function(imported.module, "main", [x], imported.parameters)
    np.testing.assert_array_equal(result, x + random(3)[:, None])


def test_batch_normalization_of_opset_6_with_all_its_outputs():
    vectors = {name: np.abs(random(3)) + 1 for name in "smvb"}
    bn = node("BatchNormalization", "x s b m v", "y o1 o2 o3 o4", is_test=1, spatial=1, consumed_inputs=[0, 0, 0, 1, 1])
    imported = import_onnx(model([bn], {"x": [2, 3, 4]}, initializers=vectors, opset=6))
    x = random(2, 3, 4)
    (result,) = run_function(imported.module, "main", [x], imported.parameters)
    s, b, m, v = (vectors[name][:, None] for name in "sbmv")
    np.testing.assert_allclose(result, (x - m) / np.sqrt(v + 1e-5) * s + b, rtol=1e-5)


@pytest.mark.parametrize(("opset", "axes"), [(12, "attribute"), (13, "input")])
def test_axes_as_attribute_or_input(opset: int, axes: str):
    unsqueeze = node("Unsqueeze", "x", axes=[0, 2]) if axes == "attribute" else node("Unsqueeze", "x a")
    constants = {} if axes == "attribute" else {"a": np.array([0, 2])}
    check(model([unsqueeze], {"x": [3, 4]}, initializers=constants, opset=opset), random(3, 4))
