"""The engines that run an ONNX model: Tilework, and the yardsticks beside it, those that are installed."""

# The yardsticks are no dependencies, and have no type information.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, TypeAlias

import onnx
from numpy.typing import NDArray

from tilework.algebra.errors import UsageError, did_you_mean
from tilework.targets.cpu.host import host_target
from tilework.tools.bench.operator_engines import load_jax, load_torch, load_torch_compile

Array: TypeAlias = NDArray[Any]

Run: TypeAlias = Callable[[Mapping[str, Array]], Sequence[Array]]
"""Computes outputs, in the model's order, from inputs by name."""


@dataclass(frozen=True)
class Engine:
    """package: what pip calls it. load: from an ONNX file and a number of threads; it may throw whatever it likes."""

    package: str
    load: Callable[[str, int], Run]

    @property
    def version(self) -> str | None:
        """None where it is not installed."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return None


def load_tilework(artefact: str, threads: int) -> Run:
    """Ours; of all engines the only one that takes an artefact."""
    from tilework.runtime.module import Module
    from tilework.runtime.threads import set_num_threads

    set_num_threads(threads)
    module = Module.load(artefact)
    return lambda feeds: list(module.run(feeds).values())


def _load_onnxruntime(model: str, threads: int) -> Run:
    onnxruntime: Any = import_module("onnxruntime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return lambda feeds: session.run(None, feeds)


def _load_openvino(model: str, threads: int) -> Run:
    """Load a model in f32: by itself OpenVINO computes in bf16 where the processor can.

    Inputs and outputs are shared, not copied.
    """
    openvino: Any = import_module("openvino")
    settings = {
        "INFERENCE_PRECISION_HINT": "f32",
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_NUM_THREADS": threads,
        "NUM_STREAMS": 1,
    }
    request = openvino.Core().compile_model(model, "CPU", settings).create_infer_request()

    def run(feeds: Mapping[str, Array]) -> Sequence[Array]:
        return list(request.infer(dict(feeds), share_inputs=True, share_outputs=True).values())

    return run


def _load_tvm(model: str, threads: int) -> Run:
    """Load TVM as it comes, without tuning: few of its default schedules for processors are good ones."""
    os.environ["TVM_NUM_THREADS"] = str(threads)  # read when TVM is imported
    tvm: Any = import_module("tvm")
    relax: Any = import_module("tvm.relax")
    graph: Any = import_module("tvm.relax.frontend.onnx").from_onnx(onnx.load(model))
    target = tvm.target.Target({"kind": "llvm", "mcpu": host_target().cpu, "num-cores": threads})
    machine = relax.VirtualMachine(tvm.compile(graph, target=target), tvm.cpu())

    def run(feeds: Mapping[str, Array]) -> Sequence[Array]:
        result = machine["main"](*(tvm.runtime.from_dlpack(array) for array in feeds.values()))
        return [tensor.numpy() for tensor in ([result] if isinstance(result, tvm.runtime.Tensor) else result)]

    return run


YARDSTICKS = {
    "onnxruntime": Engine("onnxruntime", _load_onnxruntime),
    "openvino": Engine("openvino", _load_openvino),
    "torch": Engine("torch", load_torch),
    "torch-compile": Engine("torch", load_torch_compile),
    "jax": Engine("jax", load_jax),
    "tvm": Engine("apache-tvm", _load_tvm),
}
"""The package of each engine, by the name that we call it."""


def installed_yardsticks() -> list[str]:
    """The names of those that can be measured here."""
    return [name for name, engine in YARDSTICKS.items() if engine.version is not None]


def chosen_yardsticks(words: str) -> list[str]:
    """What `--against onnxruntime,openvino` or `--against none` asks for.

    Raises UsageError for an engine that is not known, or not installed.
    """
    if words == "none":
        return []
    names = list(dict.fromkeys(words.split(",")))
    for name in names:
        if name not in YARDSTICKS:
            hint = did_you_mean(name, YARDSTICKS) or f"; the engines are {', '.join(YARDSTICKS)}, or none"
            raise UsageError(f"--against {words}: there is no engine '{name}'{hint}")
        if YARDSTICKS[name].version is None:
            raise UsageError(f"--against {words}: {name} is not installed: pip install {YARDSTICKS[name].package}")
    return names
