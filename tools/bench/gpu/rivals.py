"""What others reach on the same card: PyTorch, with cuBLAS and cuDNN inside, and onnxruntime, where they are there."""

# They are no dependencies, and have no type information.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from statistics import median
from time import perf_counter
from typing import Any

import onnx

from tilework.runtime.arrays import Array
from tilework.tools.bench.gpu.clock import BLOCK_SECONDS, BLOCKS
from tilework.tools.bench.operator_engines import read_operator


@cache
def torch() -> Any | None:
    """PyTorch, if it is there and finds a card."""
    try:
        found: Any = import_module("torch")
    except ImportError:
        return None
    return found if found.cuda.is_available() else None


def on_card(work: Callable[[], object]) -> float:
    """Seconds that a card of NVIDIA takes for work that PyTorch launches."""
    t = torch()
    assert t is not None

    def seconds(times: int) -> float:
        start, end = (t.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(times):
            work()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) / 1e3

    for _ in range(3):
        work()
    times = max(1, round(BLOCK_SECONDS / max(seconds(1), 1e-6)))
    return median(seconds(times) for _ in range(BLOCKS)) / times


def product_seconds(n: int, dtype: str) -> float | None:
    """A product of n x n matrices by cuBLAS; "tf32" is float32 with its tensor cores."""
    t = torch()
    if t is None:
        return None
    t.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
    of = {"float32": t.float32, "tf32": t.float32, "float16": t.float16, "bfloat16": t.bfloat16}[dtype]
    a, b = (t.randn(n, n, device="cuda").to(of) for _ in range(2))
    c = t.empty(n, n, device="cuda", dtype=of)
    return on_card(lambda: t.matmul(a, b, out=c))


def operator_seconds(path: str, feeds: Mapping[str, Array]) -> float | None:
    """A convolution or a product, the one node of an ONNX file, by cuDNN or cuBLAS."""
    t = torch()
    if t is None:
        return None
    t.backends.cudnn.allow_tf32 = t.backends.cuda.matmul.allow_tf32 = False
    t.backends.cudnn.benchmark = True
    operator = read_operator(path)
    known = {**operator.weights, **feeds}
    values = [t.from_numpy(known[name].copy()).cuda() for name in operator.inputs]
    if operator.op_type == "MatMul":
        return on_card(lambda: t.matmul(*values))
    [(top, bottom), (left, right)] = operator.padding
    strides, groups = list(operator.attributes["strides"]), operator.attributes["group"]

    def work() -> object:
        padded = t.nn.functional.pad(values[0], (left, right, top, bottom)) if top != bottom else values[0]
        return t.nn.functional.conv2d(
            padded, values[1], stride=strides, groups=groups, padding=0 if top != bottom else (top, left)
        )

    with t.inference_mode():
        return on_card(work)


def vision_seconds(name: str, image: int) -> dict[str, float | str]:
    """A network of torchvision, eager and compiled; text where one of these fails."""
    t = torch()
    if t is None:
        return {}
    t.backends.cudnn.allow_tf32 = t.backends.cuda.matmul.allow_tf32 = False
    t.backends.cudnn.benchmark = True
    found: dict[str, float | str] = {}
    x = t.randn(1, 3, image, image, device="cuda")
    for mode in ("torch", "torch-compile"):
        try:
            network = getattr(import_module("torchvision").models, name)().cuda().eval()
            run = t.compile(network, mode="reduce-overhead") if mode == "torch-compile" else network
            with t.inference_mode():
                found[mode] = on_card(lambda run=run: run(x))
        except Exception as error:  # another library's code: it may raise anything
            found[mode] = f"{type(error).__name__}: {error}"[:300]
    return found


def onnxruntime_seconds(model: onnx.ModelProto, feeds: Mapping[str, Array]) -> float | None:
    """A model by onnxruntime on the card, copies to and fro included."""
    try:
        runtime: Any = import_module("onnxruntime")
    except ImportError:
        return None
    if "CUDAExecutionProvider" not in runtime.get_available_providers():
        return None
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CUDAExecutionProvider"])
    for _ in range(3):
        session.run(None, dict(feeds))
    figures: list[float] = []
    for _ in range(20):
        start = perf_counter()
        session.run(None, dict(feeds))
        figures.append(perf_counter() - start)
    return median(figures)
