"""Nodes and tensors that the ONNX standard does not allow, or whose numbers make no sense: one line that names them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tilework.dialects.support.diagnostics import TileworkError
from tilework.frontends.onnx import import_onnx

Array = np.ndarray[Any, Any]


def f32(*shape: int) -> Array:
    return np.ones(shape, np.float32)


def int64(*values: int) -> Array:
    return np.array(values, np.int64)


def model(
    node: onnx.NodeProto, arrays: Sequence[Array], constants: Sequence[int] = (), opset: int = 13
) -> onnx.ModelProto:
    """A model of one node that reads these arrays in order; `constants` of them are initializers, the others inputs."""
    names = [f"x{i}" for i in range(len(arrays))]
    del node.input[:]
    node.input.extend(names)
    inputs = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for i, (name, array) in enumerate(zip(names, arrays, strict=True))
        if i not in constants
    ]
    outputs = [helper.make_empty_tensor_value_info(name) for name in node.output]
    initializers = [numpy_helper.from_array(arrays[i], names[i]) for i in constants]
    graph = helper.make_graph([node], "graph", inputs, outputs, initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def refusal(source: onnx.ModelProto | Path) -> str:
    with pytest.raises(TileworkError) as caught:
        import_onnx(source)
    message = str(caught.value)
    assert "\n" not in message
    return message


def node(operator: str, *outputs: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(operator, [], outputs or ("y",), name="n", **attributes)


X = f32(1, 3, 8, 9)
W = f32(4, 3, 3, 3)
FILTERS = f32(3, 2, 3, 3)
STEPS, LSTM_WEIGHTS, LSTM_BIAS = f32(3, 2, 4), (f32(1, 20, 4), f32(1, 20, 5)), f32(1, 40)
LENGTHS = np.array([3, 2, 1], np.int32)
SAME = {"auto_pad": "SAME_UPPER"}
MATRIX = f32(2, 3)
LONG = "x" * 300
NONE = np.zeros(0, np.float32)
CROP, OTHER = ({"coordinate_transformation_mode": how} for how in ("tf_crop_and_resize", "other"))
HUGE = int64(10**6, 10**6)


@pytest.mark.parametrize(
    ("operator", "arrays", "constants", "attributes", "message"),
    [
        ("Conv", [X, W], [1], {"strides": [1], **SAME}, "the strides are 2 positive numbers, not [1]"),
        ("Conv", [X, W], [1], {"strides": [0, 1], **SAME}, "the strides are 2 positive numbers, not [0, 1]"),
        ("Conv", [X, W], [1], {"dilations": [1, -1]}, "the dilations are 2 positive numbers, not [1, -1]"),
        ("Conv", [X, W], [1], {"pads": [1] * 4, "auto_pad": "VALID"}, "and pads [1, 1, 1, 1] contradict each other"),
        ("MaxPool", [X], [], {"kernel_shape": [2], **SAME}, "has rank 4; windows of 1 axes slide over rank 3"),
        ("Pad", [f32(3), int64(1, 1), f32(2)], [1, 2], {}, "its padding value is one number, not 2"),
        ("Pad", [f32(3), int64(-2, -2)], [1], {}, "pads of -2 and -2 leave less than nothing of axis 0, of size 3"),
        ("Pad", [f32(1), int64(2**62, 0)], [1], {}, "its result would be of 18446744073709551620 bytes"),
        ("Expand", [f32(1), int64(-1)], [1], {}, "-1 in its shape [-1] is no size"),
        ("Expand", [f32(1), int64(2**62, 2**62)], [1], {}, "bytes; no address space holds that"),
        ("Expand", [f32(1), HUGE], [0, 1], {}, "its 1e+12 elements are more than is computed beforehand"),
        ("Reshape", [f32(0, 4), int64(0, -1)], [1], {}, "-1 cannot be computed: the other dimensions hold no elements"),
        ("Reshape", [f32(4, 4), int64(-2, 8)], [1], {}, "-2 in its shape [-2, 8] is no size"),
        ("ConstantOfShape", [HUGE], [0], {}, "its 1e+12 elements are more than is computed beforehand"),
        ("ConstantOfShape", [int64(-1)], [0], {}, "it cannot be computed: negative dimensions"),
        ("Range", [np.array(0), np.array(10**13), np.array(1)], [0, 1, 2], {}, "its 1e+13 elements are more than"),
        ("Div", [int64(1), int64(0)], [0, 1], {}, "it cannot be computed: division by zero"),
        ("Mod", [int64(1, 2), int64(0)], [0, 1], {}, "it cannot be computed: division by zero"),
        ("Cast", [f32(3)], [0], {"to": 99}, "its result holds elements of type 99"),
        ("Cast", [f32(3)], [0], {"to": TensorProto.STRING}, "its result holds elements of type STRING"),
        ("Transpose", [MATRIX], [], {"perm": [0]}, "[0] does not permute the 2 axes"),
        ("Softmax", [MATRIX], [], {"axis": 9}, "a tensor of rank 2 has no axis 9"),
        ("Slice", [MATRIX, *[int64(0, 0)] * 3], [1, 2, 3], {}, "axes [0, 0] name one axis twice"),
        ("Unsqueeze", [MATRIX, int64(0, -4)], [1], {}, "axes [0, 0] name one axis twice"),
        ("Clip", [MATRIX, f32(2)], [1], {}, "its bound is one number, not 2"),
        ("Gemm", [np.ones((2, 2), np.int32)] * 2, [], {"alpha": 1.5}, "it computes with 1.5, which is no int32"),
        ("ConvTranspose", [X, f32(4, 3, 3, 3)], [1], {}, "the input has 3 channels, the weight is for 4"),
        ("ConvTranspose", [X, f32(3, 3, 3)], [1], {}, "input and weight are of one rank, at least 2, not 4 and 3"),
        ("ConvTranspose", [X, FILTERS], [1], {"group": 2}, "3 channels do not divide into 2 groups"),
        ("ConvTranspose", [X, FILTERS], [1], {"kernel_shape": [2, 2]}, "is not that of the weight, [3, 3]"),
        ("ConvTranspose", [X, FILTERS], [1], {"strides": [2, 0]}, "the strides are 2 positive numbers, not [2, 0]"),
        ("ConvTranspose", [X, FILTERS], [1], {"output_padding": [-1, 0]}, "output_padding has 2 numbers that are not"),
        ("ConvTranspose", [X, FILTERS], [1], {"output_shape": [8]}, "output_shape has 2 numbers, not 1"),
        ("ConvTranspose", [X, FILTERS], [1], {"pads": [5, 5, 5, 5]}, "its pads leave nothing of axis 2"),
        ("ConvTranspose", [X, FILTERS], [1], {"auto_pad": "SOME"}, "auto_pad 'SOME' is not known"),
        ("ConvTranspose", [X, FILTERS], [1], {"pads": [1] * 4, **SAME}, "and pads [1, 1, 1, 1] contradict each other"),
        ("ConvTranspose", [X, FILTERS, f32(3)], [1, 2], {}, "the bias is a vector over the 2 filters"),
        ("LSTM", [f32(4, 2), *LSTM_WEIGHTS], [1, 2], {}, "a sequence of vectors has rank 3, not 2"),
        ("LSTM", [f32(0, 2, 4), *LSTM_WEIGHTS], [1, 2], {}, "its sequence has no steps"),
        ("LSTM", [STEPS, *LSTM_WEIGHTS], [1, 2], {"hidden_size": 6}, "hidden_size is that of the weight, 5"),
        ("LSTM", [STEPS, *LSTM_WEIGHTS], [1, 2], {"direction": "up"}, "direction 'up' is not known; there are forward"),
        ("LSTM", [STEPS, *LSTM_WEIGHTS], [1, 2], {"direction": "bidirectional"}, "input 1 is of shape [2, 20, 4]"),
        ("LSTM", [STEPS, *LSTM_WEIGHTS, f32(1, 20)], [1, 2, 3], {}, "input 3 is of shape [1, 40]"),
        ("LSTM", [STEPS, *LSTM_WEIGHTS], [1, 2], {"clip": 0.0}, "clip is a positive number, not 0"),
        (
            "LSTM",
            [STEPS, *LSTM_WEIGHTS],
            [1, 2],
            {"activations": ["Tanh"]},
            "3 activations a direction are needed, not 1",
        ),
        ("GRU", [STEPS, f32(1, 15, 4), f32(1, 15, 5)], [], {"activations": ["Tanh", "Gelu"]}, "activation 'Gelu' is"),
        ("LSTM", [STEPS, *LSTM_WEIGHTS, LSTM_BIAS, LENGTHS], [], {}, "sequence_lens is of shape [2]"),
        ("LSTM", [STEPS, *LSTM_WEIGHTS, LSTM_BIAS, LENGTHS], [4], {}, "sequence_lens is of shape [2]"),
        ("LSTM", [STEPS, LSTM_WEIGHTS[0], f32()], [1, 2], {}, "its recurrent weight has rank 3, not 0"),
        ("OneHot", [int64(1, 2), int64(3, 4), f32(2)], [1], {}, "its depth is one number, not 2"),
        ("Concat", [f32(2), f32(3)], [], {"axis": 5}, "a tensor of rank 1 has no axis 5"),
        ("Resize", [X, NONE, f32(4)], [1, 2], {"mode": "x"}, "mode 'x' is not supported, only nearest, linear, cubic"),
        ("Resize", [X, NONE, f32(3)], [1, 2], {}, "4 different axes have as many scales, not 3"),
        ("Resize", [X, NONE, -f32(4)], [1, 2], {}, "scales are positive, -1.0 is not"),
        ("Resize", [X, NONE, f32(4) * 2], [1, 2], {"nearest_mode": "x"}, "its nearest_mode is one of floor, ceil,"),
        ("Resize", [X, NONE, f32(4) * 2], [1, 2], CROP, "a region of 4 axes is 8 finite numbers, not []"),
        ("Resize", [X, NONE, f32(4) * 2], [1, 2], OTHER, "coordinates 'other' are not supported, only half_pixel,"),
        ("Resize", [X, NONE, NONE, int64(1, 3, -1, 9)], [1, 2, 3], {}, "it cannot make sizes [-1] of [8]"),
        ("Gather", [MATRIX, int64(0, -3, 2)], [1], {}, "axis 0 of size 2 has no element -3"),
        ("Tile", [MATRIX, int64(1)], [1], {}, "2 axes need 2 repeats, not 1"),
        ("Tile", [MATRIX, int64(1, -2)], [1], {}, "-2 in its repeats [1, -2] is no size"),
        ("DepthToSpace", [X], [], {"blocksize": 2}, "the number of channels, 3, is no multiple of 4"),
        ("DepthToSpace", [f32(1, 4, 3, 3)], [], {"blocksize": 2, "mode": "x"}, "its mode is DCR or CRD, it is not x"),
        ("SpaceToDepth", [X], [], {"blocksize": 2}, "the width, 9, is no multiple of 2"),
        ("SpaceToDepth", [X], [], {"blocksize": 0}, "its block size is positive, it is not 0"),
        ("SpaceToDepth", [MATRIX], [], {"blocksize": 2}, "it takes images: tensors of rank 4, not 2"),
    ],
)
def test_numbers_that_make_no_sense(
    operator: str, arrays: Sequence[Array], constants: Sequence[int], attributes: Mapping[str, Any], message: str
):
    found = refusal(model(node(operator, **attributes), arrays, constants))
    assert found.startswith(f"{operator} 'n': ") and message in found


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (model(node("Flatten", axiss=0), [MATRIX]), "Unrecognized attribute: axiss for operator Flatten"),
        (model(node("LeakyRelu", alpha="x"), [MATRIX]), "Mismatched attribute type in 'n : alpha'"),
        (model(node("Unsqueeze"), [MATRIX]), "schema(::Unsqueeze:13) has input size 1 not in range"),
        (model(node("Relu"), [MATRIX, MATRIX]), "schema(::Relu:13) has input size 2 not in range"),
        (
            model(node("Reshape"), [MATRIX, f32(1) * 6], [1]),
            "it does not follow the ONNX standard: input 1 is a tensor(float), not a tensor(int64) (inputs: ",
        ),
        (
            model(node("Gather"), [MATRIX, f32(1)], [1]),
            "input 1 is a tensor(float), not a tensor(int32) or tensor(int64)",
        ),
        (
            model(node("Add"), [f32(2), int64(1, 2)], [0, 1]),
            "inputs 0 and 1 are of one type, not a tensor(float) and a tensor(int64)",
        ),
        (model(node("Softmax", axis=9), [MATRIX], opset=9), "a tensor of rank 2 has no rows from axis 9 on"),
        (model(node("LayerNormalization", axis=5), [MATRIX, f32(3)], opset=17), "a tensor of rank 2 has no axis 5"),
        (
            model(node("Split", "y", "z"), [f32(5), int64(1, 2, 2)], [1]),
            "it has 2 outputs, but 3 sizes",
        ),
        (
            model(node("Split", "y", "z"), [f32(4), int64(5, -1)], [1]),
            "-1 in its list of sizes [5, -1] is no size",
        ),
        (
            model(node("Split", "y", "z", num_outputs=3), [f32(6)], opset=18),
            "it has 2 outputs, and num_outputs=3",
        ),
        (
            model(node("Pad"), [f32(3, 3), int64(1, 1, 1), f32(), int64(0, 1)], [1, 2, 3], opset=18),
            "2 axes need 4 pads, not 3",
        ),
        (model(node("Constant", value_float=1.0, value_int=3), []), "a constant has one attribute, not 2"),
        (
            model(node("Resize", antialias=1), [X, NONE, f32(4)], [1, 2], opset=18),
            "what is nearest is not smoothed (antialias)",
        ),
        (
            model(node("Resize", keep_aspect_ratio_policy="x"), [X, NONE, NONE, int64(*[9] * 4)], [1, 2, 3], opset=18),
            "its keep_aspect_ratio_policy is stretch, not_larger or not_smaller, it is not x",
        ),
        (
            model(node("GroupNormalization", num_groups=4), [X, f32(3), f32(3)], opset=21),
            "3 channels do not make 4 groups",
        ),
    ],
)
def test_what_the_standard_does_not_allow(made: onnx.ModelProto, message: str):
    operator = made.graph.node[0].op_type
    found = refusal(made)
    assert found.startswith(f"{operator} 'n': ") and message in found


def test_one_attribute_twice():
    flatten = node("Flatten", axis=0)
    flatten.attribute.append(helper.make_attribute("axis", 1))
    assert "Attribute 'axis' appeared multiple times (inputs: 2x3xf32)" in refusal(model(flatten, [MATRIX]))


def test_an_attribute_of_a_function_outside_of_one():
    relu = node("LeakyRelu")
    relu.attribute.add(name="alpha", ref_attr_name="slope", type=onnx.AttributeProto.FLOAT)
    assert "attribute 'alpha' refers to 'slope', but the node is in no function" in refusal(model(relu, [MATRIX]))


def test_strings_are_no_symbolic_dimensions():
    made = model(node("Identity"), [])
    made.graph.node[0].input.append("s")
    made.graph.initializer.append(numpy_helper.from_array(np.array(["a", "b"], object), "s"))
    assert refusal(made) == "'s' holds elements of type STRING, which Tilework does not compute with"


def test_an_output_of_another_element_type_than_declared():
    made = model(node("Relu"), [MATRIX])
    made.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.INT32, [2, 3]))
    assert refusal(made) == "the model declares output 'y' as INT32, but its nodes make f32"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data_type": 77}, "the elements of 'x1' are of the unknown type 77"),
        ({"data_type": 0}, "the elements of 'x1' are of the unknown type 0"),
        ({"dims": [-3]}, "the shape of 'x1' is [-3]; sizes are not negative"),
        ({"data_type": 8, "external": "w.bin"}, "the elements of 'x1' are strings, which a side file cannot hold"),
        ({"external": "\0"}, "the elements of 'x1' lie in '\\x00', which is no file name: embedded null byte"),
        ({"external": LONG}, f"the elements of 'x1' lie in '{LONG}', which is no file name: File name too long"),
        ({"external": "w.bin", "data_type": 77}, "the elements of 'x1' are of the unknown type 77"),
        ({"external": "w.bin", "dims": [-3]}, "the shape of 'x1' is [-3]; sizes are not negative"),
    ],
    ids=repr,
)
def test_tensors_that_cannot_be_read(changes: Mapping[str, Any], message: str, tmp_path: Path):
    made = model(node("Add"), [f32(3), f32(3)], [1])
    [tensor] = made.graph.initializer
    tensor.data_type = changes.get("data_type", tensor.data_type)
    tensor.dims[:] = changes.get("dims", tensor.dims)
    if "external" in changes:
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=changes["external"])
    path = tmp_path / "model.onnx"
    path.write_bytes(made.SerializeToString())
    assert refusal(path) == message


def test_an_input_larger_than_memory():
    made = model(node("Relu"), [f32(1)])
    made.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 2**62
    assert refusal(made) == "input 'x0' would be of 18446744073709551616 bytes; no address space holds that"


def test_a_left_over_attribute_of_opset_1_is_ignored():
    made = model(node("Relu", consumed_inputs=[0]), [MATRIX])
    assert [op.name for op in import_onnx(made).module.walk()][2] == "graph.relu"
