"""One model at every level of the compiler: what `tilework compile --dump-levels` writes and a reader can follow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tilework.algebra.errors import TileworkError
from tilework.analysis.program_targets import DEVICE, HOST, device_of, set_targets, target_of, targets_of
from tilework.backends.base import write_module
from tilework.backends.registry import backend_for
from tilework.dialects.loop import KernelOp
from tilework.dialects.support.registration import make_context
from tilework.dialects.te import IntrinsicOp
from tilework.driver.compile_model import drop_prepare, is_planned
from tilework.driver.instrumentation import Instrumentation
from tilework.driver.ir_printer import PrintingOptions, ir_text
from tilework.driver.phases import passes_of, run_passes
from tilework.driver.read_program import level_of
from tilework.driver.tuned_schedules import bring_schedules
from tilework.lowering.pipelines import loops_of
from tilework.runtime.compile_report import CompileReport
from tilework.transforms.graph.fuse_operators import FuseOperators

LARGEST_CONSTANT = 64
"""Constants of more elements are left out of the text."""


def lower_by_levels(
    module: ModuleOp,
    instrumentations: Sequence[Instrumentation] = (),
    precision: str = "default",
    schedules: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[tuple[str, ModuleOp]]:
    """Take a program through all levels, in place; after each, give the level's name and the module as it is.

    A program that begins below the graph, as a function on buffers that calls kernels, goes through those that remain.

    The kernels stay in the module, where `compile` hands each to a process of its own: what they become is the same.
    Parameters are not computed; @prepare, which would, goes after the level "fused". schedules: what a search found, as
    `bring_schedules` takes them.
    """
    context = make_context()
    graph = passes_of("optimize-graph", precision=precision)
    unfused = tuple(takewhile(lambda p: not isinstance(p, FuseOperators), graph))
    steps: list[tuple[str, tuple[ModulePass, ...]]] = [
        ("2-optimized", unfused),
        ("3-fused", (*graph[len(unfused) :], *passes_of("apply-rules", precision=precision))),
        ("4-te", (*passes_of("lower-to-te"), *passes_of("order-calls"))),
        ("5-schedule", passes_of("schedule-kernels")),
        ("6-loop", loops_of(target_of(module).family)),
        ("7-host", passes_of("plan-host")),
    ]
    if level_of(module) == "graph":
        yield "1-graph", module
    else:
        steps = [("4-te", ()), *steps[3:]]
        if is_planned(module):
            steps[-1] = ("7-host", ())
    for name, passes in steps:
        run_passes(passes, context, module, instrumentations)
        if name == "4-te" and schedules:
            bring_schedules(module, schedules, CompileReport())
        yield name, module
        if name == "3-fused":
            drop_prepare(module)


def write_levels(
    module: ModuleOp, folder: Path, instrumentations: Sequence[Instrumentation] = (), precision: str = "default"
) -> list[Path]:
    """Write `1-graph.mlir` to the code, as `8-llvm.ll` and, for another device, `8-npu0-llvm.ll`; consumes the module.

    Raises TileworkError if the folder refuses.
    """
    options = PrintingOptions(elide_larger_than=LARGEST_CONSTANT)
    written: list[Path] = []
    for name, lowered in lower_by_levels(module, instrumentations, precision):
        written.append(write_level(folder / f"{name}.mlir", ir_text(lowered, options) + "\n"))
    for device, target in targets_of(module).items():
        backend = backend_for(target)
        text = write_module(backend, next(iter(backend.formats)), part_on(device, module))
        assert isinstance(text, str)
        prefix = "8" if device == HOST else f"8-{device}"
        written.append(write_level(folder / f"{prefix}-{backend.text_file}", text))
    return written


def part_on(device: str, module: ModuleOp) -> ModuleOp:
    """What runs on a device, in a module by itself: of the host, its function too."""
    ops = [op.clone() for op in module.ops if isinstance(op, IntrinsicOp) or _runs_on(device, op)]
    for op in ops:
        op.attributes.pop(DEVICE, None)
    part = ModuleOp(ops)
    targets = targets_of(module)
    set_targets(part, targets | {HOST: targets[device]})
    return part


def _runs_on(device: str, op: Operation) -> bool:
    return device_of(op) == device and (device == HOST or isinstance(op, KernelOp))


def write_level(path: Path, text: str) -> Path:
    """Write the text of one level, and make its folder. Raises TileworkError if the folder refuses."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise TileworkError(f"cannot write {path}: {error.strerror}") from None
    return path
