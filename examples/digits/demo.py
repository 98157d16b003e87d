"""Compile `digits.onnx`, read handwritten digits that the network never saw, and show what the compiler did.

    python examples/digits/demo.py

The reference is onnxruntime where it is installed (`pip install onnxruntime`), else onnx's own evaluator, which is
slow and therefore not timed.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from pathlib import Path
from time import perf_counter

import numpy as np
import onnx
from digits_data import load_split
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import track
from rich.table import Table
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

import tilework as tw
from tilework.analysis.program_targets import HOST, set_targets
from tilework.dialects.graph import FusedOp
from tilework.driver.levels import lower_by_levels, write_levels
from tilework.frontends.onnx import import_onnx
from tilework.targets import parse_target
from tilework.tools.progress import shown_progress
from tilework.transforms.graph.fuse_operators import explain

MODEL = Path(__file__).with_name("digits.onnx")
LEVELS = Path("digits-levels")
TARGET = "llvm"
ROUNDS = {1: 400, 360: 20}
"""Images in one call -> how many calls of each kind are timed."""

Array = NDArray[np.float32]
Predictor = Callable[[Array], Array]
"""Predicts, from images `float32[n, 1, 8, 8]` to probabilities `float32[n, 10]`."""


def main(console: Console, levels: Path = LEVELS, rounds: Mapping[int, int] = ROUNDS) -> None:
    """The whole demonstration; the program at every level goes to the folder `levels`."""
    module = compile_model(console)
    explain_fusion(console)
    _, held_out = load_split()
    name, reference = reference_predictor()
    compare(console, held_out.images, held_out.labels, module, name, reference)
    predictors: dict[str, Predictor] = {"Tilework": module}
    if name == "onnxruntime":
        predictors[name] = reference
    measure(console, held_out.images, predictors, rounds)
    show_levels(console, levels)


def compile_model(console: Console) -> tw.Module:
    """Compile the network and say what that made and how long it took."""
    start = perf_counter()
    with shown_progress(MODEL.name) as progress:
        module = tw.compile(MODEL, TARGET, progress=progress)
    seconds = perf_counter() - start
    assert module.report is not None
    kernels, cached = len(module.report.kernels), len(module.report.cached)
    console.rule("compiled")
    console.print(f"{MODEL.name} in {seconds:.2f} s: {kernels} kernels, {cached} of them from the cache")
    console.print(f"one inference is one native call, which calls {module.manifest.kernels} kernels")
    return module


def explain_fusion(console: Console) -> None:
    """Which operators became which kernel, and why the neighbours that stayed apart did."""
    console.rule("fused")
    reasons: list[str] = []
    for level, module in lower_by_levels(_module()):
        function = next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")
        if level == "2-optimized":
            reasons = explain(function)
        if level == "3-fused":
            for op in function.walk():
                if isinstance(op, FusedOp):
                    console.print(f"  {op.label.data}")
            break
    console.print("not fused:")
    for reason in reasons:
        console.print(f"  {reason}", markup=False, highlight=False, soft_wrap=True)


def reference_predictor() -> tuple[str, Predictor]:
    """What to compare with, by name; as many threads as Tilework uses."""
    try:
        import onnxruntime
    except ImportError:
        from onnx.reference import ReferenceEvaluator

        evaluator = ReferenceEvaluator(onnx.load(MODEL))
        return "onnx.reference", lambda images: evaluator.run(None, {"images": images})[0]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = tw.get_num_threads()
    session = onnxruntime.InferenceSession(MODEL, options, providers=["CPUExecutionProvider"])
    return "onnxruntime", lambda images: session.run(None, {"images": images})[0]


def compare(
    console: Console, images: Array, labels: NDArray[np.int64], ours: Predictor, name: str, reference: Predictor
) -> None:
    """Both accuracies on the held-out images, and whether the two say the same of every image."""
    console.rule(f"{len(images)} digits that the network never saw")
    here, there = ours(images), reference(images)
    for who, probabilities in (("Tilework", here), (name, there)):
        console.print(f"{who:14} reads {(probabilities.argmax(axis=1) == labels).mean():.2%} correctly")
    differing = int((here.argmax(axis=1) != there.argmax(axis=1)).sum())
    verdict = "every prediction agrees" if differing == 0 else f"[red]{differing} predictions differ[/red]"
    console.print(f"{verdict}; the probabilities differ by at most {np.abs(here - there).max():.1e}")


def measure(console: Console, images: Array, predictors: Mapping[str, Predictor], rounds: Mapping[int, int]) -> None:
    """The median time of a call, by image. Predictors take turns: what slows the machine down slows all of them."""
    console.rule("time per image (median)")
    table = Table("images a call", *predictors, box=None)
    for count, calls in rounds.items():
        batch = np.ascontiguousarray(images[:count])
        seconds: dict[str, list[float]] = {name: [] for name in predictors}
        for _ in track(range(calls), f"{count} at a time", console=console, transient=True):
            for name, predict in predictors.items():
                start = perf_counter()
                predict(batch)
                seconds[name].append(perf_counter() - start)
        medians = (statistics.median(durations) / len(batch) for durations in seconds.values())
        table.add_row(str(count), *(f"{1e6 * median:.2f} µs" for median in medians))
    console.print(table)
    console.print(f"{tw.get_num_threads()} thread(s); OMP_NUM_THREADS changes that")


def _module() -> ModuleOp:
    """The model as a graph, which names the machine that it is shown for."""
    module = import_onnx(MODEL).module
    set_targets(module, {HOST: parse_target(TARGET)})
    return module


def show_levels(console: Console, folder: Path) -> None:
    """Write the program at every level and say where."""
    console.rule("the program at every level")
    for path in write_levels(_module(), folder):
        lines = path.read_text(encoding="utf-8").count("\n")
        console.print(f"  {path} ({lines} lines)", markup=False, highlight=False, soft_wrap=True)


if __name__ == "__main__":
    main(Console())
