"""Operators of neural networks, by the names of relay; images are NCHW."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import BoolAttr, FloatAttr, f32
from xdsl.ir import SSAValue

from tilework.algebra.index_expr import const as size
from tilework.algebra.index_expr import product
from tilework.compat.tvm.refused import refused
from tilework.compat.tvm.relay.expr import Expr, Tuple
from tilework.compat.tvm.relay.op import axis_of, call, integers, maker, reshaped, transpose, whole
from tilework.compat.tvm.topi.utils import pair, window_padding
from tilework.dialects import graph
from tilework.dialects.graph.base import GraphOp
from tilework.dialects.support.shapes import dims_of, element_type


def relu(data: Any) -> Expr:
    """Each element, or 0 if it is less."""
    return call("nn.relu", (data,), maker(graph.ReluOp))


def leaky_relu(data: Any, alpha: float = 0.01) -> Expr:
    """Each element, below 0 times alpha."""

    def make(x: SSAValue) -> SSAValue:
        type_: Any = element_type(x.type)
        return graph.LeakyReluOp.of(x, alpha=FloatAttr(alpha, type_)).result

    return call("nn.leaky_relu", (data,), make)


def softmax(data: Any, axis: int = -1) -> Expr:
    """Exponentials over their sum along an axis."""
    return _along("nn.softmax", graph.SoftmaxOp, data, axis)


def log_softmax(data: Any, axis: int = -1) -> Expr:
    """The logarithm of `softmax`."""
    return _along("nn.log_softmax", graph.LogSoftmaxOp, data, axis)


def _along(name: str, op: type[GraphOp], data: Any, axis: int) -> Expr:
    def make(x: SSAValue) -> SSAValue:
        return op.of(x, axis=whole(axis_of(axis, x))).results[0]

    return call(name, (data,), make)


def dense(data: Any, weight: Any, units: int | None = None, out_dtype: str = "") -> Expr:
    """Rows times the rows of a weight, out x in."""
    return call("nn.dense", (data, weight), maker(graph.DenseOp))


def batch_matmul(x: Any, y: Any) -> Expr:
    """Products of matrices, batch by batch; the second ones are transposed."""
    return call("nn.batch_matmul", (x, transpose(y, (0, 2, 1))), maker(graph.MatmulOp))


def bias_add(data: Any, bias: Any, axis: int = 1) -> Expr:
    """A number for each index of an axis is added."""

    def make(x: SSAValue, b: SSAValue) -> SSAValue:
        behind = len(dims_of(x.type)) - axis_of(axis, x) - 1
        return graph.AddOp.of(x, reshaped(b, [*dims_of(b.type), *[1] * behind])).result

    return call("nn.bias_add", (data, bias), make)


def conv2d(
    data: Any,
    weight: Any,
    strides: Any = (1, 1),
    padding: Any = (0, 0),
    dilation: Any = (1, 1),
    groups: int = 1,
    channels: int | None = None,
    kernel_size: Any = None,
    data_layout: str = "NCHW",
    kernel_layout: str = "OIHW",
    out_layout: str = "",
    out_dtype: str = "",
) -> Expr:
    """The convolution of NCHW with OIHW; other layouts are refused. channels, kernel_size: as the weight has them."""
    if (data_layout, kernel_layout) != ("NCHW", "OIHW"):
        refused(
            f"relay.nn.conv2d in {data_layout} with {kernel_layout}", "transpose to NCHW and OIHW: layouts are chosen"
        )()

    def make(x: SSAValue, w: SSAValue) -> SSAValue:
        window = [d.constant or 0 for d in dims_of(w.type)[2:]]
        return graph.ConvOp.of(
            x,
            w,
            strides=integers(pair(strides)),
            pads=integers(window_padding(padding, (window[0], window[1]))),
            dilations=integers(pair(dilation)),
            groups=whole(groups),
        ).result

    return call("nn.conv2d", (data, weight), make)


def max_pool2d(
    data: Any,
    pool_size: Any = (1, 1),
    strides: Any = (1, 1),
    dilation: Any = (1, 1),
    padding: Any = (0, 0),
    layout: str = "NCHW",
    ceil_mode: bool = False,
) -> Expr:
    """The largest element of each window."""
    return _pool("nn.max_pool2d", graph.MaxPoolOp, data, pool_size, strides, dilation, padding, layout, ceil_mode, {})


def avg_pool2d(
    data: Any,
    pool_size: Any = (1, 1),
    strides: Any = (1, 1),
    dilation: Any = (1, 1),
    padding: Any = (0, 0),
    layout: str = "NCHW",
    ceil_mode: bool = False,
    count_include_pad: bool = False,
) -> Expr:
    """The mean of each window."""
    counted = {"count_padding": BoolAttr.from_bool(count_include_pad)}
    return _pool(
        "nn.avg_pool2d", graph.AveragePoolOp, data, pool_size, strides, dilation, padding, layout, ceil_mode, counted
    )


def _pool(
    name: str,
    op: type[Any],
    data: Any,
    window: Any,
    strides: Any,
    dilation: Any,
    padding: Any,
    layout: str,
    ceil: bool,
    more: dict[str, Any],
) -> Expr:
    if layout != "NCHW":
        refused(f"relay.{name} in {layout}", "transpose to NCHW: layouts are chosen")()

    def make(x: SSAValue) -> SSAValue:
        return op.of(
            x,
            kernel=integers(pair(window)),
            strides=integers(pair(strides)),
            pads=integers(window_padding(padding, pair(window))),
            dilations=integers(pair(dilation)),
            ceil_mode=BoolAttr.from_bool(ceil),
            **more,
        ).result

    return call(name, (data,), make)


def global_avg_pool2d(data: Any, layout: str = "NCHW") -> Expr:
    """The mean of each channel, whose height and width stay, of extent 1."""
    axes = (2, 3) if layout == "NCHW" else (1, 2)
    return call(
        "nn.global_avg_pool2d",
        (data,),
        maker(graph.ReduceMeanOp, axes=integers(axes), keep_dims=BoolAttr.from_bool(True)),
    )


def batch_flatten(data: Any) -> Expr:
    """All axes behind the first as one."""

    def make(x: SSAValue) -> SSAValue:
        first, *rest = dims_of(x.type)
        return reshaped(x, [first, product(rest) if rest else size(1)])

    return call("nn.batch_flatten", (data,), make)


def batch_norm(
    data: Any,
    gamma: Any,
    beta: Any,
    moving_mean: Any,
    moving_var: Any,
    axis: int = 1,
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
) -> Tuple:
    """Normalized channels, with the mean and variance that are given, and these two."""
    if axis != 1 or not center or not scale:
        refused("relay.nn.batch_norm(axis, center, scale)", "channels are axis 1, with a scale and a shift")()

    def make(*values: SSAValue) -> SSAValue:
        return graph.BatchNormOp.of(*values, epsilon=FloatAttr(epsilon, f32)).result

    normalized = call("nn.batch_norm", (data, gamma, beta, moving_mean, moving_var), make)
    return Tuple((normalized, moving_mean, moving_var))


def dropout(data: Any, rate: float = 0.5) -> Expr:
    """The tensor itself: nothing is dropped where a graph is run."""
    return data
