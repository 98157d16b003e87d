"""PyTorch and JAX, which read no ONNX: they run single operators, each as its one call of theirs."""

# The yardsticks are no dependencies, and have no type information.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
import onnx
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class Operator:
    """The node of a model that `operators` makes. inputs: names; an input that is a weight is there by value."""

    op_type: str
    inputs: tuple[str, ...]
    weights: Mapping[str, Array]
    attributes: Mapping[str, Any]

    @property
    def padding(self) -> list[tuple[int, int]]:
        """The padding of a convolution, before and after each axis of the image."""
        pads: Sequence[int] = self.attributes["pads"]
        return list(zip(pads[: len(pads) // 2], pads[len(pads) // 2 :], strict=True))


def read_operator(model: str) -> Operator:
    """The one node of an ONNX file. Raises ValueError for a file that is no single convolution or product."""
    graph = onnx.load(model).graph
    if len(graph.node) != 1 or graph.node[0].op_type not in ("Conv", "MatMul"):
        raise ValueError("without a reader of ONNX, for single operators alone")
    [node] = graph.node
    return Operator(
        node.op_type,
        tuple(node.input),
        {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.initializer},
        {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute},
    )


def load_torch(model: str, threads: int) -> Callable[[Mapping[str, Array]], Sequence[Array]]:
    """Eager: one call of `torch.nn.functional.conv2d` or `torch.matmul`."""
    return _torch_run(model, threads, lambda function: function)


def load_torch_compile(model: str, threads: int) -> Callable[[Mapping[str, Array]], Sequence[Array]]:
    """The same call under `torch.compile`, which needs a C++ compiler."""
    return _torch_run(model, threads, import_module("torch").compile)


def _torch_run(
    model: str, threads: int, compile: Callable[[Any], Any]
) -> Callable[[Mapping[str, Array]], Sequence[Array]]:
    operator = read_operator(model)
    torch: Any = import_module("torch")
    torch.set_num_threads(threads)
    weights = {name: torch.from_numpy(array.copy()) for name, array in operator.weights.items()}
    function = compile(_torch_function(torch, operator))

    def run(feeds: Mapping[str, Array]) -> Sequence[Array]:
        values = {**weights, **{name: torch.from_numpy(array) for name, array in feeds.items()}}
        with torch.inference_mode():
            return [function(*(values[name] for name in operator.inputs)).numpy()]

    return run


def _torch_function(torch: Any, operator: Operator) -> Any:
    if operator.op_type == "MatMul":
        return torch.matmul
    strides, groups, (high, wide) = operator.attributes["strides"], operator.attributes["group"], operator.padding
    even = all(before == after for before, after in (high, wide))

    def conv(x: Any, w: Any) -> Any:
        if even:
            return torch.nn.functional.conv2d(x, w, None, strides, (high[0], wide[0]), 1, groups)
        return torch.nn.functional.conv2d(torch.nn.functional.pad(x, (*wide, *high)), w, None, strides, 0, 1, groups)

    return conv


def load_jax(model: str, threads: int) -> Callable[[Mapping[str, Array]], Sequence[Array]]:
    """One call under `jax.jit`, on as many processors: JAX has a thread for each that it finds, and no other setting.

    Raises OSError on a system where a process cannot be kept to some processors.
    """
    operator = read_operator(model)
    if not hasattr(os, "sched_setaffinity"):
        raise OSError("the number of its threads cannot be set on this system")
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    jax: Any = import_module("jax")
    weights = {name: jax.numpy.asarray(array) for name, array in operator.weights.items()}
    function = jax.jit(_jax_function(jax, operator))

    def run(feeds: Mapping[str, Array]) -> Sequence[Array]:
        values = {**weights, **feeds}
        return [np.asarray(function(*(values[name] for name in operator.inputs)))]

    return run


def _jax_function(jax: Any, operator: Operator) -> Any:
    if operator.op_type == "MatMul":
        return jax.numpy.matmul
    strides, groups = operator.attributes["strides"], operator.attributes["group"]

    def conv(x: Any, w: Any) -> Any:
        return jax.lax.conv_general_dilated(x, w, strides, operator.padding, feature_group_count=groups)

    return conv
