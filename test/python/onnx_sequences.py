"""Models of ONNX that have sequences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper
from onnx_models import BOOL, FLOAT, INT64, graph, model, node

OPSET = 18


def sequence_model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Sequence[int | str]],
    outputs: str,
    constants: Mapping[str, Any] | None = None,
    opset: int = OPSET,
) -> onnx.ModelProto:
    """Outputs whose names begin with s are sequences of floats, with i integers, with c conditions, others floats."""
    made = model(nodes, inputs, outputs, constants, opset)
    types = {"i": INT64, "c": BOOL}
    infos = [
        helper.make_tensor_sequence_value_info(name, FLOAT, None)
        if name.startswith("s")
        else helper.make_tensor_value_info(name, types.get(name[0], FLOAT), None)
        for name in outputs.split()
    ]
    made.graph.ClearField("output")
    made.graph.output.extend(infos)
    return made


def split_model(
    shape: Sequence[int | str], axis: int, sizes: Any = None, keepdims: int | None = None
) -> onnx.ModelProto:
    constants = {} if sizes is None else {"sizes": np.array(sizes, np.int64)}
    attributes = {"axis": axis} if keepdims is None else {"axis": axis, "keepdims": keepdims}
    return sequence_model(
        [node("SplitToSequence", "x" if sizes is None else "x sizes", "s", **attributes)], {"x": shape}, "s", constants
    )


def branch(nodes: Sequence[onnx.NodeProto], output: str = "s", **constants: Any) -> onnx.GraphProto:
    made = graph(nodes, {}, output, constants)
    made.output[0].CopyFrom(helper.make_tensor_sequence_value_info(output, FLOAT, None))
    return made


def loop_over(count: int) -> onnx.ModelProto:
    """A sequence grows by a row at every iteration; rows are of different sizes."""
    body = helper.make_graph(
        [
            node("Identity", "go_on", "goes_on"),
            node("SequenceAt", "parts i", "part"),
            node("Mul", "part part", "square"),
            node("SequenceInsert", "so_far square", "longer"),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", INT64, []),
            helper.make_tensor_value_info("go_on", BOOL, []),
            helper.make_tensor_sequence_value_info("so_far", FLOAT, None),
        ],
        [
            helper.make_tensor_value_info("goes_on", BOOL, []),
            helper.make_tensor_sequence_value_info("longer", FLOAT, None),
        ],
    )
    nodes = [
        node("SplitToSequence", "x two", "parts"),
        node("SequenceEmpty", "", "none"),
        node("SequenceLength", "parts", "length"),
        node("Loop", "length  none", "s", body=body),
        node("ConcatFromSequence", "s", "y", axis=0),
    ]
    return sequence_model(nodes, {"x": [count, 2]}, "y s", {"two": np.array(2)})


def map_model(lengths: Sequence[int], nodes: Sequence[onnx.NodeProto], outputs: str = "s s2") -> onnx.ModelProto:
    """A model that maps a sequence of each length, and a tensor."""
    names = [f"p{i}" for i in range(len(lengths))]
    elements = ["a", "b"][: len(lengths)]
    body = helper.make_graph(
        nodes,
        "body",
        [helper.make_tensor_value_info(name, FLOAT, None) for name in (*elements, "w")],
        [helper.make_tensor_value_info(f"{name}_", FLOAT, None) for name in outputs.split()],
    )
    made = [node("SplitToSequence", f"x{i} two", name) for i, name in enumerate(names)]
    made.append(node("SequenceMap", " ".join([*names, "x"]), outputs, body=body))
    inputs = {**{f"x{i}": [length, 3] for i, length in enumerate(lengths)}, "x": [3]}
    return sequence_model(made, inputs, outputs, {"two": np.array(2)})


TENSOR = helper.make_tensor_type_proto(FLOAT, None)
