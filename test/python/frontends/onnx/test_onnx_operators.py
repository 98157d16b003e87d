"""Every operator three ways: onnxruntime, the operator's numpy meaning, and its te definition, on the same numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto
from onnx_cases import Case, build, int64, reference
from onnx_models import Array
from operands import dividends, divisors, halves, no_number
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from tilework.analysis.verification import verify
from tilework.dialects.graph.base import GraphOp
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.dialects.te.builder import KernelBuilder, Tensor
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function
from tilework.interpreters.te import run_kernel


def conv(x: Sequence[int], w: Sequence[int], bias: bool = False, **attributes: Any) -> Case:
    inputs = [x, w, (w[0],)] if bias else [x, w]
    return Case("Conv", inputs, attributes, constants=range(1, len(inputs)))


CONVOLUTIONS = [
    conv((1, 3, 11, 13), (5, 3, 3, 3)),
    conv((2, 3, 11, 13), (5, 3, 3, 3), bias=True, pads=[1, 1, 1, 1], kernel_shape=[3, 3]),
    conv((1, 3, 12, 12), (4, 3, 5, 5), strides=[2, 3], pads=[0, 1, 2, 3]),
    conv((1, 2, 13, 13), (3, 2, 3, 3), dilations=[2, 3], pads=[2, 3, 2, 3]),
    conv((1, 6, 7, 7), (9, 2, 3, 3), bias=True, group=3, pads=[1, 1, 1, 1]),
    conv((1, 5, 7, 7), (5, 1, 3, 3), group=5, strides=[2, 2], pads=[1, 1, 1, 1]),
    conv((1, 3, 7, 7), (6, 1, 3, 3), group=3),
    conv((1, 1, 1, 1), (1, 1, 1, 1)),
    conv((0, 3, 5, 5), (2, 3, 3, 3), pads=[1, 1, 1, 1]),
    conv((1, 3, 17), (2, 3, 4), strides=[3], pads=[1, 2]),
    conv((1, 2, 5, 6, 7), (3, 2, 2, 3, 1), pads=[1, 0, 0, 0, 1, 0]),
    conv((1, 2, 7, 8), (3, 2, 3, 3), auto_pad="SAME_UPPER", strides=[2, 2]),
    conv((1, 2, 8, 7), (3, 2, 2, 2), auto_pad="SAME_LOWER"),
    conv((1, 2, 8, 7), (3, 2, 3, 3), auto_pad="VALID"),
]


def transposed(x: Sequence[int], w: Sequence[int], bias: bool = False, **attributes: Any) -> Case:
    inputs = [x, w, (w[1] * attributes.get("group", 1),)] if bias else [x, w]
    return Case("ConvTranspose", inputs, attributes, constants=range(1, len(inputs)))


TRANSPOSED_CONVOLUTIONS = [
    transposed((1, 3, 5, 6), (3, 4, 3, 3), bias=True),
    transposed((2, 3, 5, 6), (3, 4, 4, 4), strides=[2, 2], pads=[1, 1, 1, 1], kernel_shape=[4, 4]),
    transposed((1, 3, 5, 6), (3, 4, 2, 2), strides=[2, 2]),
    transposed((1, 2, 4, 5), (2, 3, 3, 2), bias=True, strides=[2, 3], pads=[0, 1, 2, 0], output_padding=[1, 2]),
    transposed((1, 2, 4, 5), (2, 3, 2, 5), strides=[3, 1], pads=[0, 2, 0, 2]),
    transposed((1, 2, 6, 5), (2, 1, 3, 3), dilations=[2, 3], pads=[1, 2, 1, 2]),
    transposed((1, 2, 6, 5), (2, 3, 3, 2), strides=[2, 2], dilations=[2, 3], pads=[3, 0, 1, 1]),
    transposed((1, 2, 6, 5), (2, 3, 2, 2), strides=[2, 1], pads=[2, 1, 3, 1]),
    transposed((2, 6, 4, 4), (6, 2, 3, 3), bias=True, group=3, strides=[2, 2], pads=[1, 1, 1, 1]),
    transposed((1, 4, 5, 5), (4, 1, 3, 3), group=4, strides=[2, 2], output_padding=[1, 1]),
    transposed((1, 2, 7), (2, 3, 5), bias=True, strides=[3], pads=[2, 1]),
    transposed((1, 2, 7), (2, 3, 12), strides=[5], pads=[3, 4]),
    transposed((1, 2, 7), (2, 3, 3), pads=[4, 3]),
    transposed((1, 2, 7), (2, 3, 2), strides=[2], pads=[1, 4]),
    transposed((1, 2, 7), (2, 3, 1), strides=[3], pads=[4, 1]),
    transposed((1, 2, 3, 4, 3), (2, 2, 3, 2, 2), strides=[2, 1, 3]),
    transposed((0, 2, 4, 4), (2, 3, 3, 3), strides=[2, 2]),
    transposed((1, 2, 4, 5), (2, 3, 3, 4), strides=[2, 3], auto_pad="SAME_UPPER"),
    transposed((1, 2, 4, 5), (2, 3, 3, 4), strides=[2, 3], auto_pad="SAME_LOWER"),
    transposed((1, 2, 4, 5), (2, 3, 3, 4), strides=[2, 3], auto_pad="VALID"),
    transposed((1, 2, 4, 5), (2, 3, 3, 4), bias=True, strides=[2, 3], output_shape=[8, 14]),
]

POOL_ATTRIBUTES: list[tuple[Sequence[int], dict[str, Any]]] = [
    ((1, 2, 6, 6), {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ((1, 2, 6, 6), {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [0, 0, 1, 1]}),
    ((2, 3, 7, 11), {"kernel_shape": [3, 2], "pads": [1, 1, 2, 0]}),
    ((1, 1, 13, 13), {"kernel_shape": [3, 3], "strides": [1, 1], "pads": [1, 1, 1, 1]}),
    ((1, 2, 7, 7), {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1}),
    ((1, 2, 8, 8), {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1], "ceil_mode": 1}),
    ((1, 2, 5, 5), {"kernel_shape": [2, 2], "strides": [3, 3], "pads": [1, 1, 1, 1], "ceil_mode": 1}),
    ((1, 2, 1, 1), {"kernel_shape": [1, 1]}),
    ((0, 2, 4, 4), {"kernel_shape": [2, 2]}),
    ((1, 2, 9), {"kernel_shape": [4], "strides": [3], "pads": [1, 1]}),
    ((1, 1, 4, 5, 6), {"kernel_shape": [2, 2, 2], "pads": [1, 0, 0, 0, 1, 1]}),
    ((1, 2, 7, 6), {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "SAME_UPPER"}),
]

POOLS = [
    *(Case("MaxPool", [shape], attributes) for shape, attributes in POOL_ATTRIBUTES),
    Case("MaxPool", [(1, 2, 9, 9)], {"kernel_shape": [3, 3], "dilations": [2, 3]}),
    *(Case("AveragePool", [shape], attributes, opset=19) for shape, attributes in POOL_ATTRIBUTES),
    *(
        Case("AveragePool", [shape], {**attributes, "count_include_pad": 1}, opset=19)
        for shape, attributes in POOL_ATTRIBUTES
        if "auto_pad" not in attributes
    ),
    Case("AveragePool", [(1, 2, 6, 6)], {"kernel_shape": [7, 7], "pads": [0, 0, 1, 1]}, opset=9),
    Case("GlobalAveragePool", [(2, 3, 5, 7)]),
    Case("GlobalMaxPool", [(2, 3, 5, 7)]),
]

positive = np.linspace(0.5, 1.5, 3, dtype=np.float32)
TRAINING = {"training_mode": 1}

NORMALIZATIONS = [
    Case("BatchNormalization", [(2, 3, 4, 5), (3,), (3,), (3,), positive], {"epsilon": 1e-3}, range(1, 5), opset=9),
    Case("BatchNormalization", [(2, 3), (3,), (3,), (3,), positive], {}, range(1, 5), opset=15),
    *(
        Case("BatchNormalization", [x, (3,), (3,), (3,), positive], {**TRAINING, **ways}, constants, 15, outputs=3)
        for x, ways, constants in (
            ((2, 3, 4, 5), {}, range(1, 5)),
            ((4, 3), {"momentum": 0.3, "epsilon": 0.1}, ()),
            ((1, 3, 1), {}, ()),
        )
    ),
    Case("LRN", [(1, 7, 3, 3)], {"size": 5, "alpha": 0.5, "beta": 0.75, "bias": 2.0}),
    # onnx 1.23's reference normalizes as many channels as there are images: here, all.
    Case("LRN", [(3, 3, 3, 3)], {"size": 4, "alpha": 0.5}, runtime_lacks_it=True),
    Case("LRN", [(2, 1, 3, 3)], {"size": 1}),
    Case("Softmax", [(2, 7)], {}, opset=9),
    Case("Softmax", [(2, 5, 1, 1)], {}, opset=9),
    Case("Softmax", [(2, 3, 4)], {}, opset=9),
    Case("Softmax", [(2, 3, 4)], {"axis": 2}, opset=11),
    Case("Softmax", [(2, 3, 4)], {}),
    Case("Softmax", [(2, 3, 4)], {"axis": 1}),
    Case("LogSoftmax", [(2, 3, 4)], {"axis": 0}),
    Case("InstanceNormalization", [(2, 3, 4, 5), (3,), (3,)], {}, (1, 2)),
    Case("LayerNormalization", [(2, 3, 5), (5,), (5,)], {}, (1, 2), opset=17),
    Case("LayerNormalization", [(2, 3, 5), (3, 5)], {"axis": 1}, (1,), opset=17),
    Case("LayerNormalization", [(2, 3, 5), (3, 5)], {"axis": 1}, (1,), opset=17, outputs=3),
    Case("GroupNormalization", [(2, 6, 4, 3), (6,), (6,)], {"num_groups": 2}, (1, 2), opset=21),
    Case("RMSNormalization", [(2, 3, 5), (3, 5)], {"axis": 1, "epsilon": 0.1}, (1,), opset=23),
]


def recurrent(op: str, steps: int = 3, directions: int = 1, given: str = "B", **attributes: Any) -> Case:
    """Vectors of 4 numbers in a batch of 2, a state of 5; `given` are the optional inputs, of "B", "h", "c" and "P"."""
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[op]
    inputs: list[Any] = [(steps, 2, 4), (directions, gates * 5, 4), (directions, gates * 5, 5)]
    optional = [("B", (directions, 2 * gates * 5)), ("", None), ("h", (directions, 2, 5)), ("c", (directions, 2, 5))]
    optional.append(("P", (directions, 15)))
    inputs += [shape if name in given else None for name, shape in optional if op == "LSTM" or name not in ("c", "P")]
    constants = [i for i in (1, 2, 3, 7) if i < len(inputs) and inputs[i] is not None]
    outputs = 3 if op == "LSTM" else 2
    return Case(op, inputs, {"hidden_size": 5, **attributes}, constants, opset=14, outputs=outputs)


BOTH = {"directions": 2, "direction": "bidirectional"}

RECURRENT = [
    *(recurrent(op) for op in ("RNN", "GRU", "LSTM")),
    *(recurrent(op, given="", steps=1) for op in ("RNN", "GRU", "LSTM")),
    *(recurrent(op, given="Bh", direction="reverse") for op in ("RNN", "GRU")),
    *(recurrent(op, given="Bh", **BOTH) for op in ("RNN", "GRU")),
    recurrent("RNN", activations=["Relu"]),
    recurrent("RNN", activations=["Sigmoid", "Relu"], **BOTH),
    recurrent("GRU", linear_before_reset=1),
    recurrent("GRU", given="", linear_before_reset=1),
    recurrent("GRU", given="Bh", linear_before_reset=1, **BOTH),
    recurrent("LSTM", given="BhcP"),
    recurrent("LSTM", given="P"),
    recurrent("LSTM", given="Bc", direction="reverse"),
    recurrent("LSTM", given="BhcP", **BOTH),
]

DENSE = [
    Case("Gemm", [(1, 7), (5, 7), (5,)], {"transB": 1}, (1, 2)),
    Case("Gemm", [(3, 7), (7, 5)], {"alpha": 0.5}, (1,)),
    Case("Gemm", [(7, 3), (7, 5), (3, 1)], {"transA": 1, "beta": 2.0}),
    Case("Gemm", [(0, 7), (7, 5), ()], {}),
    Case("MatMul", [(3, 7), (7, 5)]),
    Case("MatMul", [(2, 3, 7), (7, 5)]),
    Case("MatMul", [(2, 1, 3, 7), (4, 7, 5)]),
    Case("MatMul", [(7,), (7, 5)]),
    Case("MatMul", [(2, 3, 7), (7,)]),
    Case("MatMul", [(7,), (7,)]),
    Case("MatMul", [(2, 0), (0, 3)]),
]

MOVEMENTS = [
    Case("Reshape", [(2, 3, 4), int64(6, 4)], {}, (1,)),
    Case("Reshape", [(2, 3, 4), int64(0, -1)], {}, (1,)),
    Case("Reshape", [(1, 12, 5, 5), int64(1, 3, 4, 5, 5)], {}, (1,)),
    Case("Reshape", [(4, 6), int64(3, 8)], {}, (1,)),
    Case("Reshape", [(0, 6), int64(3, 0)], {"allowzero": 1}, (1,), opset=14),
    Case("Reshape", [(1,), int64()], {}, (1,)),
    Case("Flatten", [(2, 3, 4, 5)], {"axis": 2}),
    Case("Flatten", [(2, 3, 4)], {"axis": 0}),
    Case("Flatten", [(2, 3, 4)], {"axis": -1}),
    Case("Squeeze", [(1, 3, 1, 4)], {"axes": [0, 2]}, opset=11),
    Case("Squeeze", [(1, 3, 1, 4), int64(-2)], {}, (1,)),
    Case("Squeeze", [(1, 3, 1, 4)], {}),
    Case("Unsqueeze", [(3, 4)], {"axes": [0, 3]}, opset=11),
    Case("Unsqueeze", [(3, 4), int64(-1, 1)], {}, (1,)),
    Case("Transpose", [(2, 3, 4)], {"perm": [1, 2, 0]}),
    Case("Transpose", [(2, 3, 4)], {}),
    Case("Concat", [(1, 2, 3), (1, 5, 3)], {"axis": 1}),
    Case("Concat", [(2, 3), (2, 0), (2, 1), (2, 4)], {"axis": -1}),
    Case("Concat", [(2, 3)], {"axis": 0}),
    Case("Slice", [(5, 7)], {"starts": [1, -4], "ends": [4, 1000], "axes": [0, 1]}, opset=9),
    Case("Slice", [(5, 7), int64(-1, 0), int64(-1000, 7), int64(0, 1), int64(-2, 3)], {}, (1, 2, 3, 4)),
    Case("Slice", [(5, 7), int64(3), int64(3), int64(1)], {}, (1, 2, 3)),
    Case("Slice", [(5,), int64(-100), int64(-200), int64(0), int64(-1)], {}, (1, 2, 3, 4)),
    Case("Slice", [(5,), int64(-100), int64(-200), int64(0), int64(-1)], {}, (0, 1, 2, 3, 4)),
    Case("Slice", [(5,), int64(100), int64(-200), int64(0), int64(-2)], {}, (1, 2, 3, 4)),
    Case("Slice", [(5, 7), int64(0), int64(2**63 - 1)], {}, (1, 2)),
    Case("Split", [(2, 7), int64(3, 4)], {"axis": 1}, (1,), outputs=2),
    Case("Split", [(6, 2)], {}, opset=11, outputs=3),
    Case("Pad", [(3, 4)], {"pads": [1, 0, 0, 2], "value": 1.5}, opset=9),
    Case("Pad", [(3, 4), int64(0, 1, 2, 0), np.array(2.5, np.float32)], {}, (1, 2)),
    Case("Pad", [(3, 4), int64(0, -1, 2, 0)], {}, (1,)),
    *(Case("Pad", [(3,), int64(before, after)], {}, (1,)) for before, after in [(-4, 1), (-5, 7), (1, -4), (7, -5)]),
    Case("Pad", [int64(1, 2), int64(1, 1), np.array(2**53 + 1)], {}, (1, 2)),
    Case("Pad", [np.array([1, 2], np.uint64), int64(1, 1), np.array(2**64 - 1, np.uint64)], {}, (1, 2)),
    Case("Pad", [np.array([True]), int64(1, 0), np.array(True)], {}, (1, 2)),
    Case("Pad", [np.ones(3), int64(1, 1), np.array(0.1)], {}, (1, 2)),
    Case("Pad", [(3, 4), int64(1, 2), np.array(0, np.float32), int64(1)], {}, (1, 2, 3), opset=18),
    *(Case("Pad", [(3, 4), int64(0, 1, 2, 3)], {"mode": mode}, (1,)) for mode in ("edge", "reflect")),
    Case("Pad", [(1, 4, 5), int64(0, 0, 4, 0, 1, 0)], {"mode": "reflect"}, (1,), runtime_lacks_it=True),
    Case("Pad", [int64(1, 2), int64(3, 2)], {"mode": "edge"}, (1,)),
    *(
        Case("Pad", [(2, 4), int64(0, before, 1, after)], {"mode": "wrap"}, (1,), opset=19)
        for before, after in ((1, 2), (4, 0), (9, 6), (-1, 3), (3, -2))
    ),
    Case("Pad", [np.array([True, False]), int64(1, 2), None, int64(0)], {"mode": "wrap"}, (1, 3), opset=19),
    Case("Gather", [(3, 4, 5), np.array(-1)], {"axis": 1}, (1,)),
    Case("Gather", [(3, 4, 5), int64(2)], {}, (1,)),
    Case("Gather", [(3, 4, 5), np.array([[0, -4], [3, 1]])], {"axis": 1}),
    Case("Gather", [(3, 4), np.array([2, -1, 0], np.int32)], {}),
    Case("Gather", [(3, 4), int64(2, 0, 2)], {"axis": -1}, (1,)),
    Case("Gather", [(3,), np.array(1)], {}),
    Case("Gather", [(0, 4), int64()], {"axis": 1}),
    Case("Expand", [(3, 1), int64(2, 1, 4)], {}, (1,)),
    Case("Tile", [(2, 3), int64(2, 3)], {}, (1,)),
    Case("Tile", [(2, 3, 1), int64(1, 0, 4)], {}, (1,)),
    Case("Tile", [(), int64()], {}, (1,)),
    *(Case("DepthToSpace", [(2, 18, 2, 4)], {"blocksize": 3, "mode": mode}) for mode in ("DCR", "CRD")),
    Case("SpaceToDepth", [(2, 3, 4, 6)], {"blocksize": 2}),
]


REDUCTIONS = [
    *(Case("ReduceLogSumExp", [(2, 3, 5), int64(*axes)], {"keepdims": 0}, (1,), opset=18) for axes in ([-1], [0, 2])),
    Case("ReduceLogSumExp", [np.array([[500, 501], [-500, -499]], np.float32), int64(1)], {}, (1,), opset=18),
    Case("ReduceLogSumExp", [no_number[::2], int64(1)], {}, (1,), opset=18, runtime_lacks_it=True),
    Case("ReduceLogSumExp", [(2, 0), int64(1)], {}, (1,), opset=18),
    Case("ReduceLogSumExp", [(2, 3), int64()], {"noop_with_empty_axes": 1}, (1,), opset=18),
    Case("ReduceLogSum", [np.ones((2, 3), np.float32), int64(1)], {}, (1,), opset=18),
    *(Case(f"Reduce{kind}", [int64(3, -7, 5)], {}, opset=18) for kind in ("Max", "Min")),
    *(
        Case(op, [np.array([[3, 1, 3], [1, 2, 1]], dtype)], {"axis": -1, "keepdims": last, "select_last_index": last})
        for op in ("ArgMax", "ArgMin")
        for dtype in (np.float32, np.float64, np.int32, np.uint8)
        for last in (0, 1)
    ),
    *(Case(op, [no_number], {"select_last_index": 1}, runtime_lacks_it=True) for op in ("ArgMax", "ArgMin")),
    *(Case(op, [no_number.astype(np.float16)], {"axis": 1}, runtime_lacks_it=True) for op in ("ArgMax", "ArgMin")),
    Case("ArgMax", [(2, 3, 0)], {"axis": 1}),
    *(
        Case(f"Reduce{kind}", [np.array([[True, False], [True, True]]), int64(0)], {"keepdims": keep}, (1,), opset=20)
        for kind, keep in (("Max", 0), ("Min", 1))
    ),
    *(Case(f"Reduce{kind}", [np.ones((2, 0), bool)], {}, opset=20, runtime_lacks_it=True) for kind in ("Max", "Min")),
    Case("ReduceMax", [np.array([[200], [3]], np.uint8), int64(0)], {}, (1,), opset=18),
    *(Case(f"Reduce{kind}", [(2, 3, 5)], {"axes": [1]}, opset=11) for kind in ("Sum", "Mean", "Max", "Min", "Prod")),
    *(Case(f"Reduce{kind}", [(2, 3, 5)], {"keepdims": 0}, opset=11) for kind in ("Sum", "Mean", "Max", "L1", "L2")),
    Case("ReduceSum", [(2, 3, 5), int64(-1, 0)], {}, (1,)),
    Case("ReduceSum", [(2, 3), int64()], {"noop_with_empty_axes": 1}, (1,)),
    Case("ReduceSumSquare", [(2, 3, 5)], {"axes": [-1, 0]}, opset=11),
    Case("ReduceMean", [(2, 3, 5), int64(2)], {}, (1,), opset=18),
]

ELEMENTWISE = [
    *(
        Case(op, [(3, 5)])
        for op in ("Relu", "Sigmoid", "Tanh", "Exp", "Erf", "Neg", "Abs", "Floor", "Ceil", "Identity")
    ),
    *(Case(op, [(3, 5)]) for op in ("Sin", "Cos", "Softplus", "Softsign", "Elu", "LeakyRelu", "Selu", "HardSigmoid")),
    *(Case(op, [np.linspace(0.1, 5, 7, dtype=np.float32)]) for op in ("Log", "Sqrt", "Reciprocal")),
    *(Case(op, [np.linspace(-0.9, 0.9, 7, dtype=np.float32)]) for op in ("Asin", "Acos", "Atanh")),
    *(Case(op, [(3, 5)]) for op in ("Tan", "Atan", "Sinh", "Cosh", "Asinh", "Sign")),
    Case("Acosh", [np.linspace(1, 5, 7, dtype=np.float32)]),
    Case("Round", [np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.4, np.inf], np.float32)]),
    *(Case(op, [np.array([-(2**31), -3, 0, 7], np.int32)]) for op in ("Abs", "Neg", "Sign")),
    *(Case(op, [np.array([0, 200], np.uint8)]) for op in ("Abs", "Sign")),
    Case("Shrink", [(3, 5)], {"bias": 0.25, "lambd": 0.75}),
    Case("Cast", [np.array([0, 200], np.uint8)], {"to": TensorProto.FLOAT}),
    Case("Cast", [np.array([-1, 200], np.int32)], {"to": TensorProto.UINT8}),
    Case("CastLike", [(3, 5), np.array([1.0])], opset=15),
    Case("Relu", [()]),
    Case("Relu", [(0, 3)]),
    Case("LeakyRelu", [(3, 5)], {"alpha": 0.25}),
    Case("Elu", [(3, 5)], {"alpha": 0.5}),
    Case("PRelu", [(2, 3, 5), (3, 1)]),
    Case("PRelu", [(7,), np.array([np.inf], np.float32)]),
    Case("PRelu", [np.array([-3, 4], np.int32), np.array([2], np.int32)], runtime_lacks_it=True),
    Case("HardSwish", [(3, 5)], opset=14),
    Case("Mish", [(3, 5)], opset=18),
    Case("Swish", [(3, 5)], {"alpha": 0.5}, opset=24, runtime_lacks_it=True),
    Case("Celu", [(3, 5)], {"alpha": 0.5}),
    Case("ThresholdedRelu", [(3, 5)], {"alpha": 0.5}),
    Case("Gelu", [(3, 5)], opset=20),
    Case("Gelu", [(3, 5)], {"approximate": "tanh"}, opset=20),
    Case("Clip", [(3, 5)], {"min": -0.5, "max": 0.5}, opset=10),
    Case("Clip", [(3, 5)], {"max": 0.5}, opset=10),
    Case("Clip", [(3, 5), np.array(0, np.float32), np.array(6, np.float32)], {}, (1, 2)),
    Case("Clip", [(3, 5), None, np.array(0.1, np.float32)], {}, (2,)),
    Case("Clip", [(3, 5), (), ()]),
    Case("Clip", [np.zeros(3), np.array(0.1), np.array(0.2)], {}, (1, 2)),
    Case("Clip", [int64(2**62 + 1, 5), np.array(2**53 + 1)], {}, (1,)),
    Case("Clip", [np.array(5), int64(7)], {}, (1,)),
    *(
        Case(op, [np.array([np.iinfo(f"uint{bits}").max, 9], f"uint{bits}"), np.array([3, 3], f"uint{bits}")], {})
        for op in ("Max", "Min")
        for bits in (8, 32, 64)
    ),
    *(Case(op, [(7,)], {"alpha": float("inf")}) for op in ("LeakyRelu", "Elu")),
    Case("ReduceProd", [(2, 2), int64()], {}, (0, 1), opset=18),
    Case("ReduceProd", [(2, 2)], {"noop_with_empty_axes": 1}, (0,), opset=18),
    Case("ReduceProd", [(2, 2), int64(-1)], {"keepdims": 0}, (0, 1), opset=18),
    Case("Dropout", [(3, 5)], {"ratio": 0.3}, opset=9),
    Case("Dropout", [(3, 5), np.array(0.3, np.float32)], {}, (1,)),
    Case("Cast", [(3, 5)], {"to": TensorProto.DOUBLE}),
    Case("Cast", [(3, 5)], {"to": TensorProto.INT32}),
    Case("Cast", [np.arange(-3, 4, dtype=np.int32)], {"to": TensorProto.FLOAT}),
]


BROADCASTS = [
    *(Case(op, [(2, 3, 5), (3, 1)]) for op in ("Add", "Sub", "Mul", "Div", "Max", "Min")),
    Case("Pow", [np.linspace(0.1, 3, 5, dtype=np.float32), (1,)]),
    *(Case("Pow", [(3, 5), np.array(n, np.float32)], {}, (1,)) for n in (2, 3)),
    Case("Pow", [np.array([-2, 3], np.int32), int64(3)], {}, (1,)),
    Case("Pow", [(3,), np.array([[2]], np.float32)], {}, (1,)),
    Case("Pow", [(3, 5), int64(4)], {}, (1,)),
    *(Case(op, [dividends, divisors], opset=14) for op in ("Div", "Mod")),
    Case("Mod", [dividends, divisors], {"fmod": 1}),
    *(Case(op, [dividends.astype(np.uint16), divisors.astype(np.uint16)], opset=14) for op in ("Div", "Mod")),
    Case("Mod", [halves, np.array([[2], [-2], [0.7], [np.inf], [0]], np.float32)], {"fmod": 1}),
    Case("Mod", [halves, np.array([[2], [-2], [0.7], [np.inf]], np.float32)], {}, opset=27, runtime_lacks_it=True),
    Case("Add", [(5,), (4, 1)]),
    Case("Add", [(), (4, 1)]),
    Case("Mul", [(1, 3), (0, 1, 3)]),
    Case("Sum", [(2, 3), (3,), (2, 1)]),
    Case("Mean", [(2, 3), (3,), (2, 1)]),
    Case("Max", [(2, 3)]),
]


def resize(shape: Sequence[int], scales: Sequence[float], **attributes: Any) -> Case:
    """Resize by scales."""
    none = np.zeros(0, np.float32)
    return Case("Resize", [shape, none, np.array(scales, np.float32)], attributes, (1, 2))


def resize_to(shape: Sequence[int], sizes: Sequence[int], opset: int = 13, **attributes: Any) -> Case:
    """Resize to sizes."""
    return Case("Resize", [shape, None, None, int64(*sizes)], attributes, (3,), opset=opset)


COORDINATES = ("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")

RESIZES = [
    *(resize((1, 2, 4, 5), (1, 1, 2, 3), coordinate_transformation_mode=how) for how in COORDINATES),
    *(resize((2, 4, 5), (1, 0.6, 1.5), coordinate_transformation_mode=how) for how in COORDINATES),
    *(resize((2, 4, 5), (1, 0.6, 1.5), coordinate_transformation_mode=how, mode="linear") for how in COORDINATES),
    *(
        resize((1, 1, 5, 7), (1, 1, 1.5, 0.8), nearest_mode=rounding)
        for rounding in ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
    ),
    *(resize_to((1, 2, 4, 5), (1, 2, 7, 3), coordinate_transformation_mode=how, mode="linear") for how in COORDINATES),
    *(resize_to((1, 2, 4, 5), (1, 2, 1, 1), coordinate_transformation_mode=how, mode="linear") for how in COORDINATES),
    resize((1, 1, 4, 5), (1, 1, 1.37, 2.71), mode="linear"),
    resize((4, 5), (2, 3), coordinate_transformation_mode="tf_half_pixel_for_nn", nearest_mode="floor"),
    resize_to((1, 2, 4, 5), (7, 3), 18, axes=[2, 3], keep_aspect_ratio_policy="not_larger"),
    resize_to((1, 2, 4, 5), (3, 7), 18, axes=[3, 2], keep_aspect_ratio_policy="not_smaller", mode="linear"),
    resize_to((2, 4, 5), (2, 7, 3), 19, coordinate_transformation_mode="half_pixel_symmetric", mode="linear"),
    Case("Resize", [(4,), np.array([2], np.float32)], {}, (1,), opset=10),
    Case("Upsample", [(1, 2, 3, 4), np.array([1, 1, 2, 3], np.float32)], {}, (1,), opset=9),
    Case("Upsample", [(1, 2, 3, 4)], {"scales": [1.0, 1.0, 2.0, 2.0], "mode": "linear"}, opset=7),
]

nans = np.array([1, 2, np.nan, -0.0], np.float32)
truths = np.array([[True, False], [True, True]])

LOGIC = [
    *(
        Case(op, [nans, np.array([[2], [np.nan], [0]], np.float32)], {}, opset=16)
        for op in ("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual")
    ),
    *(Case(op, [int64(-3, 2), int64(2)]) for op in ("Equal", "Less", "Greater")),
    Case("Less", [np.array([2**63, 1], np.uint64), np.array([3], np.uint64)]),
    Case("Equal", [truths, np.array([True, False])]),
    *(Case(op, [truths, np.array([True, False])]) for op in ("And", "Or", "Xor")),
    Case("Not", [truths]),
    *(Case(f"Bitwise{op}", [int64(12, -7), int64(10, 3)], opset=18) for op in ("And", "Or", "Xor")),
    Case("BitwiseNot", [np.array([12, 255], np.uint8)], opset=18),
    *(
        Case("BitShift", [np.array([1, 200], np.uint8), np.array([3, 1], np.uint8)], {"direction": direction})
        for direction in ("LEFT", "RIGHT")
    ),
    Case("IsNaN", [nans]),
    *(
        Case("IsInf", [no_number], {"detect_positive": positive, "detect_negative": negative}, opset=10)
        for positive in (0, 1)
        for negative in (0, 1)
    ),
    Case("Where", [truths, (3, 1, 2), ()], opset=16),
    Case("Where", [truths, np.array([[1], [2**62 + 1]]), int64(7)], opset=16),
    Case("Where", [truths, nans[1:3], (2, 1)], opset=16),
]

CASES = [
    *LOGIC,
    *RESIZES,
    *CONVOLUTIONS,
    *TRANSPOSED_CONVOLUTIONS,
    *POOLS,
    *NORMALIZATIONS,
    *DENSE,
    *RECURRENT,
    *MOVEMENTS,
    *REDUCTIONS,
    *ELEMENTWISE,
    *BROADCASTS,
]


def values_of(module: ModuleOp, feeds: Mapping[str, Array], parameters: Mapping[str, Array]):
    """The function's results, and every value on the way."""
    values: dict[SSAValue, Array] = {}
    results = run_function(module, "main", list(feeds.values()), parameters, values.__setitem__)
    return results, values


def by_definition(op: GraphOp, operands: Sequence[Array]) -> list[Array]:
    """The operator's results through its te definition."""
    k = KernelBuilder("kernel")
    made = op.define(k, *(k.argument(t, f"x{i}") for i, t in enumerate(op.operand_types)))
    kernel = k.finish([made] if isinstance(made, Tensor) else list(made))
    verify(kernel)
    return run_kernel(kernel, operands)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_operator(case: Case):
    model, feeds = build(case)
    imported = import_onnx(model)
    verify(imported.module)
    results, values = values_of(imported.module, feeds, imported.parameters)
    for result, expected in zip(results, reference(case, model, feeds), strict=True):
        assert result.dtype == expected.dtype and result.shape == expected.shape
        np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)
    for op in imported.module.walk():
        if isinstance(op, GraphOp):
            defined = by_definition(op, [values[operand] for operand in op.operands])
            for value, array in zip(op.results, defined, strict=True):
                assert array.dtype == values[value].dtype
                np.testing.assert_allclose(array, values[value], rtol=1e-5, atol=1e-5, err_msg=op.name)


@pytest.mark.parametrize("case", CASES[::7], ids=str)
def test_imported_text_reads_back(case: Case):
    module = import_onnx(build(case)[0]).module
    parsed = SourceParser(make_context(), str(module)).parse_module()
    verify(parsed)
    assert parsed.is_structurally_equivalent(module)
