"""Single operators on the command line, as in "op:conv,ic=64,oc=128,hw=56,k=3,stride=2": ONNX models of one node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, helper, numpy_helper

from tilework.algebra.errors import TileworkError, UsageError, did_you_mean

OPERATOR = "op:"
GROUP = "op:paper"
"""All convolutions of table 2 of the TVM paper (Chen et al., OSDI 2018)."""

Sizes = Mapping[str, int]
Shape = tuple[int, ...]

OPSET, IR_VERSION = 17, 8
"""What every engine of today reads."""

PROTOBUF_BYTES = 2**31


@dataclass(frozen=True)
class Family:
    """required, optional: the sizes that a user gives, the optional ones with defaults. make: the model for them."""

    required: tuple[str, ...]
    optional: dict[str, int]
    make: Callable[[Sizes], ModelProto]


def expand_operators(words: Sequence[str]) -> list[str]:
    """The group in `words` replaced by its members. Raises UsageError for an operator that is not well described."""
    expanded = [name for word in words for name in (_paper_names() if word == GROUP else [word])]
    for name in expanded:
        if name.startswith(OPERATOR):
            parse_operator(name)
    return expanded


def operator_model(name: str) -> ModelProto:
    """The model of "op:FAMILY,SIZE=NUMBER,...", or of "op:C1" and its like. Raises UsageError where it is none,
    TileworkError for weights that no file holds."""
    family, sizes = parse_operator(name)
    return FAMILIES[family].make(sizes)


def parse_operator(name: str) -> tuple[str, dict[str, int]]:
    """The family, and all of its sizes in order. Raises UsageError in one line that says what would be right."""
    text = PAPER.get(name.removeprefix(OPERATOR), name.removeprefix(OPERATOR))
    word, *given = text.split(",")
    if word not in FAMILIES:
        known = f"{', '.join(FAMILIES)}, paper, C1 to C12, D1 to D9"
        raise UsageError(
            f"{name}: there is no operator '{word}'{did_you_mean(word, FAMILIES) or f'; there are {known}'}"
        )
    family = FAMILIES[word]
    numbers = _numbers(name, given, (*family.required, *family.optional))
    if missing := [size for size in family.required if size not in numbers]:
        example = ",".join(f"{size}=.." for size in family.required)
        raise UsageError(f"{name}: {', '.join(missing)} missing: write {OPERATOR}{word},{example}")
    sizes = {**family.optional, **numbers}
    return word, {size: sizes[size] for size in (*family.required, *family.optional) if size in sizes}


def _numbers(name: str, given: Sequence[str], known: Sequence[str]) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for assignment in given:
        size, _, number = assignment.partition("=")
        if size not in known:
            raise UsageError(f"{name}: there is no size '{size}'; there are {', '.join(known)}")
        if size in numbers:
            raise UsageError(f"{name}: {size} is given twice")
        if not number.isdecimal() or int(number) < 1:
            raise UsageError(f"{name}: {size} is a whole number from 1 on, not '{number}'")
        numbers[size] = int(number)
    return numbers


# ---- Families --------------------------------------------------------------------------------------------------------


def _gemm(s: Sizes) -> ModelProto:
    """A model that multiplies an input by weights."""
    return _model("MatMul", {"x": (s["m"], s["k"])}, _weights((s["k"], s["n"]), s["k"]), (s["m"], s["n"]))


def _gemv(s: Sizes) -> ModelProto:
    return _gemm({**s, "m": 1})


def _batch_matmul(s: Sizes) -> ModelProto:
    """A model that multiplies two inputs."""
    inputs = {"x": (s["batch"], s["m"], s["k"]), "y": (s["batch"], s["k"], s["n"])}
    return _model("MatMul", inputs, None, (s["batch"], s["m"], s["n"]))


def _conv(s: Sizes) -> ModelProto:
    return _convolution(s, s["ic"], s["oc"], groups=1)


def _depthwise(s: Sizes) -> ModelProto:
    return _convolution(s, s["c"], s["c"], groups=s["c"])


def _convolution(s: Sizes, inputs: int, outputs: int, groups: int) -> ModelProto:
    """A square image, padded such that it shrinks by the stride alone: "SAME_UPPER" in ONNX's words."""
    k, stride, size = s["k"], s["stride"], s["hw"]
    after = -(-size // stride)
    padding = max((after - 1) * stride + k - size, 0)
    low, high = padding // 2, padding - padding // 2
    return _model(
        "Conv",
        {"x": (s["batch"], inputs, size, size)},
        _weights((outputs, inputs // groups, k, k), inputs // groups * k * k),
        (s["batch"], outputs, after, after),
        kernel_shape=[k, k],
        strides=[stride, stride],
        pads=[low, low, high, high],
        group=groups,
    )


def _top_k(s: Sizes) -> ModelProto:
    """A model that sorts the largest elements of a vector, and says where they are."""
    count = numpy_helper.from_array(np.array([s["k"]]), "count")
    return _model("TopK", {"x": (s["n"],)}, count, (s["k"],), further=["places"])


def _running_sum(s: Sizes) -> ModelProto:
    axis = numpy_helper.from_array(np.array(0), "axis")
    return _model("CumSum", {"x": (s["n"],)}, axis, (s["n"],))


FAMILIES = {
    "gemm": Family(("m", "n", "k"), {}, _gemm),
    "gemv": Family(("n", "k"), {}, _gemv),
    "batch-matmul": Family(("batch", "m", "n", "k"), {}, _batch_matmul),
    "conv": Family(("ic", "oc", "hw", "k"), {"stride": 1, "batch": 1}, _conv),
    "depthwise": Family(("c", "hw", "k"), {"stride": 1, "batch": 1}, _depthwise),
    "top-k": Family(("n", "k"), {}, _top_k),
    "running-sum": Family(("n",), {}, _running_sum),
}

PAPER = {
    "C1": "conv,ic=3,oc=64,hw=224,k=7,stride=2",
    "C2": "conv,ic=64,oc=64,hw=56,k=3",
    "C3": "conv,ic=64,oc=64,hw=56,k=1",
    "C4": "conv,ic=64,oc=128,hw=56,k=3,stride=2",
    "C5": "conv,ic=64,oc=128,hw=56,k=1,stride=2",
    "C6": "conv,ic=128,oc=128,hw=28,k=3",
    "C7": "conv,ic=128,oc=256,hw=28,k=3,stride=2",
    "C8": "conv,ic=128,oc=256,hw=28,k=1,stride=2",
    "C9": "conv,ic=256,oc=256,hw=14,k=3",
    "C10": "conv,ic=256,oc=512,hw=14,k=3,stride=2",
    "C11": "conv,ic=256,oc=512,hw=14,k=1,stride=2",
    "C12": "conv,ic=512,oc=512,hw=7,k=3",
    "D1": "depthwise,c=32,hw=112,k=3",
    "D2": "depthwise,c=64,hw=112,k=3,stride=2",
    "D3": "depthwise,c=128,hw=56,k=3",
    "D4": "depthwise,c=128,hw=56,k=3,stride=2",
    "D5": "depthwise,c=256,hw=28,k=3",
    "D6": "depthwise,c=256,hw=28,k=3,stride=2",
    "D7": "depthwise,c=512,hw=14,k=3",
    "D8": "depthwise,c=512,hw=14,k=3,stride=2",
    "D9": "depthwise,c=1024,hw=7,k=3",
}
"""ResNet-18's convolutions and MobileNet's depthwise ones, by the paper's names; all padded to the same size."""


def _paper_names() -> list[str]:
    return [f"{OPERATOR}{name}" for name in PAPER]


# ---- Models ----------------------------------------------------------------------------------------------------------


def _weights(shape: Shape, summands: int) -> TensorProto:
    """Normal values, the same every time, scaled so that outputs are about as large as inputs."""
    if 4 * prod(shape) >= PROTOBUF_BYTES:
        raise TileworkError(f"weights of shape {shape} do not fit into an ONNX file, which holds less than 2 GB")
    values = np.random.default_rng(0).standard_normal(shape, np.float32) / np.sqrt(np.float32(summands))
    return numpy_helper.from_array(values, "weights")


def _model(
    op_type: str,
    inputs: Mapping[str, Shape],
    weights: TensorProto | None,
    output: Shape,
    further: Sequence[str] = (),
    **attributes: Any,
) -> ModelProto:
    """A model of one node. further: the names of results that the model does not return."""
    parameters = [] if weights is None else [weights]
    node = helper.make_node(op_type, [*inputs, *(p.name for p in parameters)], ["result", *further], **attributes)
    graph = helper.make_graph(
        [node],
        op_type.lower(),
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info("result", TensorProto.FLOAT, output)],
        parameters,
    )
    return helper.make_model(graph, ir_version=IR_VERSION, opset_imports=[helper.make_opsetid("", OPSET)])
