"""Models that cannot be imported: what each message says."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from places import ROOT

from tilework.dialects.support.diagnostics import TileworkError
from tilework.frontends.onnx import import_onnx
from tilework.frontends.onnx.load import to_array

FLOAT = TensorProto.FLOAT


def model(
    nodes: Sequence[onnx.NodeProto],
    inputs: dict[str, Sequence[int | str | None]],
    outputs: Sequence[str] = ("y",),
    initializers: dict[str, Any] | None = None,
    opset: int = 13,
    elements: int = FLOAT,
) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info(name, elements, shape) for name, shape in inputs.items()],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in (initializers or {}).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def relu(source: str = "x", result: str = "y", name: str = "") -> onnx.NodeProto:
    return helper.make_node("Relu", [source], [result], name=name)


def refusal(source: Any) -> str:
    with pytest.raises(TileworkError) as caught:
        import_onnx(source)
    return str(caught.value)


# ---- Files -----------------------------------------------------------------------------------------------------------


def test_missing_file(tmp_path: Path):
    path = tmp_path / "nothing.onnx"
    assert refusal(path) == f"cannot read {path}: No such file or directory"


def test_folder_instead_of_a_file(tmp_path: Path):
    assert refusal(tmp_path) == f"cannot read {tmp_path}: Is a directory"


def test_every_truncation_is_refused(tmp_path: Path):
    whole = model([relu()], {"x": [1, 4]}).SerializeToString()
    import_onnx(whole)
    for length in range(len(whole)):
        assert "cut short" in refusal(whole[:length])
    path = tmp_path / "half.onnx"
    path.write_bytes(whole[: len(whole) // 2])
    assert refusal(path) == f"{path} is not an ONNX model, or was cut short ({len(whole) // 2} bytes)"


@pytest.mark.parametrize(
    "content", [b"", b"hello, world\n", b"\x89PNG\r\n\x1a\n" + bytes(100), b'{"a": [1, 2]}', bytes(64)]
)
def test_other_files(content: bytes, tmp_path: Path):
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    assert refusal(path).startswith(f"{path} is not an ONNX model, or was cut short")


def test_no_opset():
    made = model([relu()], {"x": [1]})
    del made.opset_import[:]
    assert refusal(made) == "the model does not say which ONNX opset it imports, or was cut short"


@pytest.mark.parametrize("opset", [0, 1000])
def test_opset_out_of_range(opset: int):
    newest = onnx.defs.onnx_opset_version()
    expected = f"the model uses opset {opset}; Tilework reads opsets 1 to {newest}"
    assert refusal(model([relu()], {"x": [1]}, opset=opset)) == expected


# ---- External data ---------------------------------------------------------------------------------------------------


def with_external_data(folder: Path, location: str, **entries: int | str) -> Path:
    """A model file that adds a vector of 4 numbers; its elements are said to be in `location`."""
    made = model([helper.make_node("Add", ["x", "w"], ["y"])], {"x": [4]})
    tensor = onnx.TensorProto(name="w", data_type=FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
    for key, value in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=str(value))
    made.graph.initializer.append(tensor)
    path = folder / "model.onnx"
    path.write_bytes(made.SerializeToString())
    return path


def test_external_data_is_read(tmp_path: Path):
    (tmp_path / "data").mkdir()
    np.arange(6, dtype=np.float32).tofile(tmp_path / "data" / "w.bin")
    imported = import_onnx(with_external_data(tmp_path, "data/w.bin", offset=8, length=16))
    assert "dense<[2.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00]>" in str(imported.module)


@pytest.mark.parametrize(("kind", "values"), [(TensorProto.INT4, [-8, 7, -1]), (TensorProto.UINT4, [0, 15, 9])])
def test_external_data_of_half_a_byte(tmp_path: Path, kind: int, values: list[int]):
    """Two numbers are in a byte there, the lower half first; the length, which need not be told, counts bytes."""
    low, high, last = (value & 15 for value in values)
    (tmp_path / "w.bin").write_bytes(bytes([99, low | high << 4, last, 99, 99, 99]))
    for entries in ({"length": 2}, {}):
        tensor = onnx.TensorProto(name="w", data_type=kind, dims=[3], data_location=TensorProto.EXTERNAL)
        for key, value in {"location": "w.bin", "offset": 1, **entries}.items():
            tensor.external_data.add(key=key, value=str(value))
        assert [int(x) for x in to_array(tensor, tmp_path)] == values


def test_missing_external_data(tmp_path: Path):
    path = with_external_data(tmp_path, "w.bin")
    assert refusal(path) == f"the elements of 'w' are missing: there is no file {tmp_path / 'w.bin'}"


@pytest.mark.parametrize("entries", [{"offset": 16}, {"length": 12}, {"offset": -4}])
def test_external_data_of_the_wrong_size(tmp_path: Path, entries: dict[str, int]):
    np.zeros(5, np.float32).tofile(tmp_path / "w.bin")
    path = with_external_data(tmp_path, "w.bin", **entries)
    expected = f"{tmp_path / 'w.bin'} does not hold the 16 bytes of 'w' at offset {entries.get('offset', 0)}"
    assert refusal(path) == expected


def test_external_data_at_no_number(tmp_path: Path):
    path = with_external_data(tmp_path, "w.bin", offset="far")
    assert refusal(path) == "the offset of the elements of 'w' is 'far', not a number"


@pytest.mark.parametrize("location", ["../w.bin", "{absolute}", "inner/../../w.bin", "link.bin", ""])
def test_external_data_outside_the_folder(tmp_path: Path, location: str):
    folder = tmp_path / "model"
    folder.mkdir()
    np.zeros(4, np.float32).tofile(tmp_path / "w.bin")
    os.symlink(tmp_path / "w.bin", folder / "link.bin")
    location = location.format(absolute=tmp_path / "w.bin")
    path = with_external_data(folder, location)
    assert refusal(path) == f"the elements of 'w' lie in '{location}', outside the model's folder {folder}"


def test_external_data_without_a_folder(tmp_path: Path):
    path = with_external_data(tmp_path, "w.bin")
    assert refusal(path.read_bytes()) == "the elements of 'w' lie in 'w.bin': load the model by its path"


def test_elements_that_do_not_fit_their_shape():
    made = model([helper.make_node("Add", ["x", "w"], ["y"])], {"x": [4]}, initializers={"w": np.zeros(4, np.float32)})
    made.graph.initializer[0].dims[0] = 5
    assert refusal(made).startswith("the elements of 'w' do not fit its shape [5]: ")


# ---- Names and order -------------------------------------------------------------------------------------------------


def test_undefined_input():
    made = model([relu("nowhere", name="act")], {"x": [1]})
    assert refusal(made) == "'act' (Relu) reads 'nowhere', which nothing in the graph makes"


def test_missing_output():
    made = model([relu()], {"x": [1]}, outputs=["y", "z"])
    assert refusal(made) == "nothing in the graph makes its output 'z'"


def test_no_outputs():
    assert refusal(model([relu()], {"x": [1]}, outputs=[])) == "the graph has no outputs"


def test_cycle():
    made = model([relu("b", "a", "first"), relu("a", "b", "second"), relu("b", "y", "third")], {"x": [1]})
    assert refusal(made) == "the graph has a cycle; it passes through or feeds 'first', 'second', 'third'"


def test_value_made_twice():
    made = model([relu(name="one"), relu(name="two")], {"x": [1]})
    assert refusal(made) == "'y' is made twice: by 'one' and by 'two'"


def test_value_made_and_given():
    made = model([relu("x", "x", "again"), relu()], {"x": [1]})
    assert refusal(made) == "'x', an input or initializer of the graph, is also made by 'again'"


def test_two_initializers_of_one_name():
    made = model([relu()], {"x": [1]}, initializers={"w": np.zeros(1)})
    made.graph.initializer.append(made.graph.initializer[0])
    assert refusal(made) == "the graph has two initializers named 'w'"


def test_two_inputs_of_one_name():
    made = model([relu()], {"x": [1]})
    made.graph.input.append(made.graph.input[0])
    assert refusal(made) == "the graph has two inputs named 'x'"


# ---- Inputs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("elements", "name"), [(TensorProto.STRING, "STRING"), (TensorProto.COMPLEX64, "COMPLEX64")])
def test_unsupported_element_type(elements: int, name: str):
    expected = f"input 'x' holds elements of type {name}, which Tilework does not compute with"
    assert refusal(model([relu()], {"x": [1]}, elements=elements)) == expected


def test_operator_on_the_wrong_element_type():
    """The standard allows more types than an operator of the graph dialect computes on."""
    made = model(
        [helper.make_node("ScatterElements", ["x", "i", "x"], ["y"], name="a", reduction="add")],
        {"x": [2]},
        initializers={"i": np.zeros(2, np.int64)},
        elements=TensorProto.BOOL,
        opset=18,
    )
    expected = "ScatterElements 'a': truth values are replaced, not combined by 'add' (inputs: 2xi1, 2xi64, 2xi1)"
    assert refusal(made) == expected


def test_sequence_input():
    made = model([relu()], {"x": [1]})
    made.graph.input[0].CopyFrom(helper.make_tensor_sequence_value_info("x", FLOAT, [1]))
    assert refusal(made) == "input 'x' is a sequence, not a tensor"


def test_input_of_unknown_rank():
    made = model([relu()], {"x": [1]})
    made.graph.input[0].type.tensor_type.ClearField("shape")
    assert refusal(made) == "input 'x' has no shape; not even its rank is known"


def test_sparse_initializer():
    made = model([relu()], {"x": [1]})
    values, indices = (
        numpy_helper.from_array(np.ones(1, np.float32), "w"),
        numpy_helper.from_array(np.zeros(1, np.int64)),
    )
    made.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [4]))
    assert refusal(made) == "the initializer 'w' is sparse; Tilework reads dense ones only"


# ---- Operators -------------------------------------------------------------------------------------------------------


def test_all_unsupported_operators_at_once():
    nodes = [
        helper.make_node("RandomNormalLike", ["x"], ["a"], name="random_1"),
        relu("a", "b"),
        helper.make_node("FusedConv", ["x", "b"], ["c"], name="fast", domain="com.vendor"),
        helper.make_node("RandomNormalLike", ["x"], ["unused"], name="nobody_reads_it"),
        helper.make_node("Shape", ["c"], ["shape_of_c"]),
        helper.make_node("Unique", ["shape_of_c"], ["y"]),
    ]
    assert refusal(model(nodes, {"x": ["batch", 3, 3]})).split("\n") == [
        "3 node(s) use an operator that Tilework does not support (opset 13):",
        "  RandomNormalLike 'random_1' of (batchx3x3xf32)",
        "  com.vendor.FusedConv 'fast' of (batchx3x3xf32, ?)"
        '; tilework.compile(..., kernels={"com.vendor::FusedConv": ...}) would define it',
        "  Unique 'Unique_5' of (?)",
    ]


def test_contradictory_shapes_of_operands():
    made = model([helper.make_node("Add", ["x", "z"], ["y"], name="sum")], {"x": [2, 3], "z": [2, 4]})
    expected = "Add 'sum': shapes [2, 3] and [2, 4] do not broadcast: 3 is not 4 (inputs: 2x3xf32, 2x4xf32)"
    assert refusal(made) == expected


def test_contradictory_channels():
    weight = np.zeros((8, 4, 3, 3), np.float32)
    made = model(
        [helper.make_node("Conv", ["x", "w"], ["y"], name="c")], {"x": [1, 3, 9, 9]}, initializers={"w": weight}
    )
    assert refusal(made) == (
        "Conv 'c': the input has 3 channels; 1 group(s) of a weight for 4 channels need 4 "
        "(inputs: 1x3x9x9xf32, 8x4x3x3xf32)"
    )


def test_contradictory_kernel_shape():
    node = helper.make_node("Conv", ["x", "w"], ["y"], name="c", kernel_shape=[5, 5])
    made = model([node], {"x": [1, 3, 9, 9]}, initializers={"w": np.zeros((8, 3, 3, 3), np.float32)})
    assert "Conv 'c': kernel_shape [5, 5] is not that of the weight, [3, 3]" in refusal(made)


def test_contradictory_declared_output():
    made = model([relu()], {"x": [2, 3]})
    made.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", FLOAT, ["n", 4]))
    assert refusal(made) == "the model declares output 'y' as [n, 4], but its nodes make [2, 3]"


def test_window_that_does_not_fit():
    node = helper.make_node("MaxPool", ["x"], ["y"], name="p", kernel_shape=[5, 5])
    assert "MaxPool 'p': a window of 5 does not fit into 4 with padding 0 and 0" in refusal(
        model([node], {"x": [1, 1, 4, 9]})
    )


def test_shape_computed_from_data():
    made = model(
        [helper.make_node("Reshape", ["x", "s"], ["y"], name="r")], {"x": [4], "s": ["R"]}, elements=TensorProto.INT64
    )
    assert refusal(made) == (
        "Reshape 'r': its shape is computed from data, and is no vector of a few sizes (inputs: 4xi64, Rxi64)"
    )


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ([5, 2], "cannot reshape [3, 4] into [5, 2]: 12 elements are not 10"),
        ([5, -1], "-1 cannot be computed: 5 does not divide 12"),
        ([3, 4, 0], "its shape [3, 4, 0] keeps a dimension that the input does not have"),
    ],
)
def test_impossible_reshape(shape: list[int], message: str):
    made = model([helper.make_node("Reshape", ["x", "s"], ["y"])], {"x": [3, 4]}, initializers={"s": np.array(shape)})
    assert message in refusal(made)


def test_unread_output_may_be_missing_but_not_a_read_one():
    dropout = helper.make_node("Dropout", ["x"], ["d", "mask"], name="drop")
    import_onnx(model([dropout, relu("d")], {"x": [3]}, opset=9))
    made = model([dropout, relu("mask", name="act")], {"x": [3]}, opset=9)
    assert refusal(made) == "Relu 'act': it reads 'mask', an output that inference does not make (inputs: ?)"
    made = model([dropout], {"x": [3]}, outputs=["d", "mask"], opset=9)
    assert refusal(made) == "the output 'mask' is one that inference does not make"


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (helper.make_node("Pad", ["x"], ["y"], pads=[0, 1, 0, 1], mode="wrap"), "padding mode 'wrap'"),
        (helper.make_node("Slice", ["x"], ["y"], starts=[0], ends=[1], axes=[2]), "rank 2 has no axis 2"),
        (helper.make_node("Squeeze", ["x"], ["y"], axes=[1]), "axis 1 has size 4, not 1"),
        (helper.make_node("AveragePool", ["x"], ["y"]), "Required attribute 'kernel_shape' is missing"),
        (helper.make_node("Add", ["x", ""], ["y"]), "input 1 is marked single but has an empty string"),
    ],
)
def test_what_an_operator_refuses(node: onnx.NodeProto, message: str):
    assert message in refusal(model([node], {"x": ["N", 4]}, opset=9))


@pytest.mark.parametrize(
    ("inputs", "attributes", "message"),
    [
        (["x", "", "scales"], {"coordinate_transformation_mode": "align_corners"}, "need constant sizes, not N"),
        (
            ["x", "", "", "sizes"],
            {"keep_aspect_ratio_policy": "not_larger"},
            "sizes before and after differ and have to be constant; axis 0 has size N",
        ),
        (
            ["x", "", "", "sizes"],
            {"coordinate_transformation_mode": "half_pixel_symmetric"},
            "coordinates 'half_pixel_symmetric' are not supported where sizes are not constant",
        ),
    ],
)
def test_sizes_that_a_resize_has_to_know(inputs: list[str], attributes: dict[str, str], message: str):
    node = helper.make_node("Resize", inputs, ["y"], **attributes)
    constants = {"scales": np.array([2, 2], np.float32), "sizes": np.array([8, 4])}
    assert message in refusal(model([node], {"x": ["N", 4]}, initializers=constants, opset=18))


@pytest.mark.parametrize(
    ("shape", "pads", "message"),
    [
        (["N", 4], [0, -4, 0, 2], "pads of -4 and 2 leave nothing of axis 1, of size 4"),
        (["N", 4], [1, 0], "2 axes need 4 pads, not 2"),
    ],
)
def test_axes_that_are_not_continued_around(shape: list[int | str], pads: list[int], message: str):
    node = helper.make_node("Pad", ["x", "pads"], ["y"], mode="wrap")
    assert message in refusal(model([node], {"x": shape}, initializers={"pads": np.array(pads)}, opset=19))


def test_training_mode_takes_channels():
    node = helper.make_node("BatchNormalization", ["x", "s", "s", "s", "s"], ["y", "m", "v"], training_mode=1)
    made = model([node], {"x": ["N"]}, initializers={"s": np.ones(3, np.float32)}, opset=15)
    assert "it takes a batch with channels" in refusal(made)


def test_attribute_of_another_type():
    node = helper.make_node("Softmax", ["x"], ["y"], name="s", axis=[1])
    expected = "Softmax 's': it does not follow the ONNX standard: Mismatched attribute type in 's : axis'"
    assert refusal(model([node], {"x": [2, 3]})).startswith(expected)


def test_damaged_files_give_errors_not_crashes():
    """Single bytes of a real file are overwritten, wherever they are not weights."""
    path = ROOT / "examples" / "digits" / "digits.onnx"
    whole = path.read_bytes()
    weights = [tensor.raw_data for tensor in onnx.ModelProto.FromString(whole).graph.initializer]
    covered = {at for data in weights for at in range(whole.index(data), whole.index(data) + len(data))}
    rng = np.random.default_rng(0)
    places = rng.choice([at for at in range(len(whole)) if at not in covered], 300)
    refused = 0
    for at, byte in zip(places, rng.integers(0, 256, len(places)), strict=True):
        try:
            import_onnx(whole[:at] + bytes([byte]) + whole[at + 1 :])
        except TileworkError:
            refused += 1
    assert refused > 100


# ---- What is declared ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [-2, -3, -(2**40)])
def test_an_input_of_a_negative_size(size: int):
    assert refusal(model([relu()], {"x": [2, size]})) == f"input 'x' is declared with a size of {size}; {NOT_NEGATIVE}"


def test_an_output_of_a_negative_size():
    made = model([relu()], {"x": [3]})
    made.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", FLOAT, [-3]))
    assert refusal(made) == f"output 'y' is declared with a size of -3; {NOT_NEGATIVE}"


def test_minus_one_is_a_size_that_the_exporter_did_not_know():
    made = model([relu()], {"x": [-1, 3]})
    made.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", FLOAT, [-1, 3]))
    assert "tensor<?x3xf32" in str(import_onnx(made).module)


NOT_NEGATIVE = "sizes are not negative"


def test_an_input_or_output_without_a_name():
    assert refusal(model([relu()], {"x": [3], "": [3]})) == "input 1 of the graph has no name"
    assert refusal(model([relu()], {"x": [3]}, ["y", ""])) == "output 1 of the graph has no name"
