"""The parts of the measurement of a device, in the order in which they run."""

from __future__ import annotations

import platform
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnx
from onnx import TensorProto, helper

from tilework.api import compile
from tilework.runtime.cache import KernelCache
from tilework.runtime.devices.launching import Driver, LaunchDevice
from tilework.runtime.module import Module
from tilework.tools.bench.feeds import relative_error
from tilework.tools.bench.gpu.clock import function_seconds, module_seconds
from tilework.tools.bench.gpu.programs import matrix_product
from tilework.tools.bench.gpu.rivals import (
    onnxruntime_seconds,
    operator_seconds,
    product_seconds,
    torch,
    vision_seconds,
)
from tilework.tools.bench.networks.catalogue import NETWORKS, SMALL
from tilework.tools.bench.operators import PAPER, operator_model
from tilework.tools.light_models import random_feeds

Entry = dict[str, Any]

TYPES = {"float32": TensorProto.FLOAT, "float16": TensorProto.FLOAT16, "bfloat16": TensorProto.BFLOAT16}

NETWORKS_MEASURED = ("resnet18", "mobilenet_v1", "dqn", "dcgan", "lstm_35")
"""Those of section 6 of the TVM paper (Chen et al., OSDI 2018)."""

VISION = {"resnet18": "resnet18", "mobilenet_v1": "mobilenet_v2"}
"""Networks that torchvision has, or one that is close; what it has is named in the entry."""


class Settings(NamedTuple):
    """What is measured: the device, and whether sizes are small."""

    target: str
    small: bool


@dataclass(frozen=True)
class Part:
    """run: yields entries, each as soon as it is known. share: of the time, beside the other parts."""

    run: Callable[[Settings], Iterator[Entry]]
    share: float


def _each(names: Iterable[Any], measure: Callable[[Any], Entry]) -> Iterator[Entry]:
    """An entry for each name; what fails is an entry that says why."""
    for name in names:
        try:
            yield measure(name)
        except Exception as error:  # one figure less, and no measurement less
            yield {"name": str(name), "failure": f"{type(error).__name__}: {error}"[:1000]}


def _compiled(model: onnx.ModelProto, settings: Settings) -> Module:
    return compile(model, target=settings.target, cache=_cache())


def _cache() -> KernelCache:
    return KernelCache(Path(tempfile.gettempdir()) / "tilework-bench-gpu")


def _driver(settings: Settings) -> Driver:
    """The device, found by way of a program for it."""
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [8]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Exp", ["x"], ["y"])], "exp", ends[:1], ends[1:])
    [device] = _compiled(helper.make_model(graph), settings).devices.values()
    assert isinstance(device, LaunchDevice)
    return device.driver


# ---- Parts -----------------------------------------------------------------------------------------------------------


def _machine(settings: Settings) -> Iterator[Entry]:
    t = torch()
    packages: dict[str, str] = {}
    for name in ("tilework", "torch", "onnxruntime", "onnxruntime-gpu"):
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            packages[name] = "none"
    card = "none" if t is None else str(t.cuda.get_device_name())
    yield {"name": "machine", "platform": platform.platform(), "card": card, "packages": packages}
    yield {"name": "driver", "device": getattr(_driver(settings), "name", "?")}


def _correctness(settings: Settings) -> Iterator[Entry]:
    """Every network, at small sizes, beside what the processor computes."""

    def measure(name: str) -> Entry:
        model = NETWORKS[name](**SMALL[name])
        feeds = random_feeds(model)
        wanted, got = compile(model, cache=_cache()).run(feeds), _compiled(model, settings).run(feeds)
        return {"name": name, "error": max(relative_error(got[key], wanted[key]) for key in wanted)}

    yield from _each(["dqn", "lstm_35", "encoder"] if settings.small else SMALL, measure)


def _products(settings: Settings) -> Iterator[Entry]:
    def measure(case: tuple[int, str]) -> Entry:
        n, dtype = case
        model = _product_model(n, dtype)
        feeds = {name: array.astype(_numpy(dtype)) for name, array in _random(n).items()}
        module = _compiled(model, settings)
        wanted = feeds["a"].astype(np.float32) @ feeds["b"].astype(np.float32)
        error = relative_error(module.run(feeds)["y"].astype(np.float32), wanted)
        seconds = module_seconds(module, feeds)
        return {
            "name": f"{dtype} {n}",
            "error": error,
            "seconds": seconds,
            "flops_per_second": 2 * n**3 / seconds,
            "cublas_seconds": product_seconds(n, dtype),
            "cublas_tf32_seconds": product_seconds(n, "tf32") if dtype == "float32" else None,
        }

    sizes = (64,) if settings.small else (1024, 2048, 4096, 8192)
    yield from _each([(n, dtype) for n in sizes for dtype in TYPES], measure)


def _random(n: int) -> dict[str, Any]:
    rng = np.random.default_rng(n)
    return {name: rng.standard_normal((n, n), np.float32) for name in "ab"}


def _numpy(dtype: str) -> Any:
    return helper.tensor_dtype_to_np_dtype(TYPES[dtype])


def _product_model(n: int, dtype: str) -> onnx.ModelProto:
    a, b, y = (helper.make_tensor_value_info(name, TYPES[dtype], [n, n]) for name in "aby")
    graph = helper.make_graph([helper.make_node("MatMul", ["a", "b"], ["y"])], "product", [a, b], [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)])


def _operators(settings: Settings) -> Iterator[Entry]:
    """The convolutions of table 2 of the paper."""

    def measure(name: str) -> Entry:
        model = operator_model(f"op:{name}")
        feeds = random_feeds(model)
        module = _compiled(model, settings)
        error = None
        if settings.small or torch() is not None:
            wanted = compile(model, cache=_cache()).run(feeds)
            error = max(relative_error(got, wanted[key]) for key, got in module.run(feeds).items())
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/operator.onnx"
            Path(path).write_bytes(model.SerializeToString())
            rival = operator_seconds(path, feeds)
        return {"name": name, "error": error, "seconds": module_seconds(module, feeds), "cudnn_seconds": rival}

    yield from _each(["C12", "D9"] if settings.small else PAPER, measure)


def _networks(settings: Settings) -> Iterator[Entry]:
    def measure(name: str) -> Entry:
        sizes = SMALL[name] if settings.small else {}
        model = NETWORKS[name](**sizes)
        feeds = random_feeds(model)
        module = _compiled(model, settings)
        rivals: Entry = {"onnxruntime": onnxruntime_seconds(model, feeds)}
        if name in VISION and not settings.small:
            rivals |= {"torchvision": VISION[name], **vision_seconds(VISION[name], 224)}
        return {"name": name, "seconds": module_seconds(module, feeds), "rivals": rivals}

    yield from _each(["dqn"] if settings.small else NETWORKS_MEASURED, measure)


def _cooperation(settings: Settings) -> Iterator[Entry]:
    """The paper's product, whose threads fetch tiles together or each by itself."""

    def measure(shared: bool) -> Entry:
        n = 64 if settings.small else 2048
        function = matrix_product(n, shared=shared, target=settings.target, cache=_cache())
        seconds = function_seconds(function, _driver(settings))
        return {"name": "cooperative" if shared else "by itself", "n": n, "seconds": seconds}

    yield from _each((True, False), measure)


def _fusion(settings: Settings) -> Iterator[Entry]:
    """A convolution with what follows it as one kernel, and each operator as a model of its own."""
    shape = [1, 8, 8, 8] if settings.small else [1, 128, 28, 28]
    weight = np.random.default_rng(0).standard_normal((shape[1], shape[1], 3, 3), np.float32) / 32
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Sigmoid", ["c"], ["s"]),
        helper.make_node("Mul", ["c", "s"], ["y"]),
    ]

    def model(chosen: list[onnx.NodeProto], inputs: str, output: str) -> onnx.ModelProto:
        ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in (*inputs, output)]
        weights = [onnx.numpy_helper.from_array(weight, "w")] if chosen[0].op_type == "Conv" else []
        return helper.make_model(helper.make_graph(chosen, "fused", ends[:-1], ends[-1:], weights))

    def seconds(made: onnx.ModelProto) -> float:
        return module_seconds(_compiled(made, settings), random_feeds(made))

    def measure(name: str) -> Entry:
        if name == "fused":
            return {"name": name, "seconds": seconds(model(nodes, "x", "y"))}
        alone = [([nodes[0]], "x", "c"), ([nodes[1]], "c", "s"), ([nodes[2]], "cs", "y")]
        return {"name": name, "seconds": sum(seconds(model(*one)) for one in alone)}

    yield from _each(("fused", "one by one"), measure)


PARTS = {
    "machine": Part(_machine, 2),
    "correctness": Part(_correctness, 4),
    "products": Part(_products, 4),
    "cooperation": Part(_cooperation, 2),
    "fusion": Part(_fusion, 2),
    "operators": Part(_operators, 5),
    "networks": Part(_networks, 6),
}
"""The parts have these names on the command line."""
