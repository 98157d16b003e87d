"""One model at every level of the compiler: what `tilework compile --dump-levels` writes and a reader can follow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import takewhile
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tilework.algebra.errors import TileworkError
from tilework.backends.llvm.targets import emit_module
from tilework.dialects.support.registration import make_context
from tilework.driver.compile_model import drop_prepare
from tilework.driver.instrumentation import Instrumentation
from tilework.driver.ir_printer import PrintingOptions, ir_text
from tilework.driver.options import with_options
from tilework.driver.pass_manager import PassManager, Pipeline
from tilework.lowering.pipelines import GRAPH, LOOPS, PIPELINES, RULES, SCHEDULE
from tilework.targets import Target
from tilework.transforms.graph.fuse_operators import FuseOperators

LARGEST_CONSTANT = 64
"""Constants of more elements are left out of the text."""


def lower_by_levels(
    module: ModuleOp,
    target: Target,
    instrumentations: Sequence[Instrumentation] = (),
    precision: str = "default",
) -> Iterator[tuple[str, ModuleOp]]:
    """Take a graph module through all levels, in place; after each, give the level's name and the module as it is.

    The kernels stay in the module, where `compile` hands each to a process of its own: what they become is the same.
    Parameters are not computed; @prepare, which would, goes after the level "fused".
    """
    context = make_context()
    yield "1-graph", module
    unfused = tuple(takewhile(lambda p: not isinstance(p, FuseOperators), GRAPH))
    steps: list[tuple[str, tuple[ModulePass, ...]]] = [
        ("2-optimized", unfused),
        ("3-fused", (*GRAPH[len(unfused) :], *RULES)),
        ("4-te", PIPELINES["lower-to-te"]),
        ("5-schedule", SCHEDULE),
        ("6-loop", LOOPS),
        ("7-host", PIPELINES["plan-host"]),
    ]
    for name, passes in steps:
        _run(context, module, with_options(passes, target=str(target), precision=precision), instrumentations)
        yield name, module
        if name == "3-fused":
            drop_prepare(module)


def write_levels(
    module: ModuleOp,
    target: Target,
    folder: Path,
    instrumentations: Sequence[Instrumentation] = (),
    precision: str = "default",
) -> list[Path]:
    """Write `1-graph.mlir` to `8-llvm.ll`; the module is consumed. Raises TileworkError if the folder refuses."""
    options = PrintingOptions(elide_larger_than=LARGEST_CONSTANT)
    written: list[Path] = []
    for name, lowered in lower_by_levels(module, target, instrumentations, precision):
        written.append(_write(folder / f"{name}.mlir", ir_text(lowered, options) + "\n"))
    written.append(_write(folder / "8-llvm.ll", emit_module(module, target)))
    return written


def _run(
    context: Context, module: ModuleOp, passes: tuple[ModulePass, ...], instrumentations: Sequence[Instrumentation]
) -> None:
    PassManager(Pipeline(ModuleOp.name, passes), instrumentations).run(context, module)


def _write(path: Path, text: str) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise TileworkError(f"cannot write {path}: {error.strerror}") from None
    return path
