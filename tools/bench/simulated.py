"""What a network does on simulated accelerators, layer by layer, as their simulators report it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tilework.algebra.errors import UsageError
from tilework.analysis.program_targets import HOST
from tilework.api import compile
from tilework.dialects.loop import CallOp
from tilework.dialects.support.locations import source_name
from tilework.driver.instrumentation import Instrumentation
from tilework.lowering.graph_to_te import GraphToTe
from tilework.runtime.module import Module
from tilework.targets import parse_target
from tilework.tools.bench.families import SIMULATED
from tilework.tools.bench.operators import OPERATOR, operator_model
from tilework.tools.bench.table import columns, percent
from tilework.tools.model_source import is_named, named_model, random_array, symbol_sizes


def check_simulated(targets: Mapping[str, str]) -> None:
    """Raise UsageError unless there are devices beside the host, and all of them are simulated."""
    devices = {device: text for device, text in targets.items() if device != HOST}
    if not devices:
        raise UsageError(
            "--target: bench measures this machine; name one that is simulated beside it, as DEVICE=TARGET"
        )
    for device, text in devices.items():
        if parse_target(text).family not in SIMULATED:
            known = ", ".join(SIMULATED)
            raise UsageError(f"--target {device}={text}: bench reports on what is simulated, which is {known}")


def simulate_model(source: str, targets: Mapping[str, str], dims: Mapping[str, int], precision: str) -> dict[str, Any]:
    """Each call of a kernel on an accelerator in one inference, as JSON values; the input is random."""
    watcher = _CallWatcher()
    module = compile(_model(source), targets={HOST: "host", **targets}, precision=precision, instrumentations=[watcher])
    sizes, rng = symbol_sizes(module, dims), np.random.default_rng(0)
    module.run({spec.name: random_array(spec, sizes, rng) for spec in module.manifest.inputs})
    beside = {device: text for device, text in targets.items() if device != HOST}
    devices = _devices(module, beside, watcher.calls)
    return {"model": source, "dims": dict(dims), "precision": precision, "devices": devices}


def _model(source: str) -> Any:
    if source.startswith(OPERATOR):
        return operator_model(source)
    return named_model(source) if is_named(source) else source


class _CallWatcher(Instrumentation):
    """Notes the calls of kernels, in order: the name of the kernel, and of the node that it comes from."""

    def __init__(self):
        self.calls: list[tuple[str, str | None]] = []

    def after_pass(self, pass_: ModulePass, op: Operation) -> None:
        if isinstance(pass_, GraphToTe):
            assert isinstance(op, ModuleOp)
            calls = [inner for inner in op.walk() if isinstance(inner, CallOp)]
            self.calls = [(call.kernel_name, source_name(call.location)) for call in calls]


def _devices(module: Module, targets: Mapping[str, str], calls: Sequence[tuple[str, str | None]]) -> dict[str, Any]:
    """What each device is, and the calls of kernels on it."""
    found: dict[str, Any] = {}
    for name, target in targets.items():
        machine = parse_target(target)
        reports: Mapping[str, dict[str, Any]] = {}
        if name in module.devices:
            reports = import_module(f"{__package__}.{machine.family}.report").reports_of(module.devices[name])
        layers = [
            {"layer": node or kernel, "kernel": kernel, **reports[kernel]}
            for kernel, node in calls
            if kernel in reports
        ]
        found[name] = {"target": str(machine), "layers": layers}
    return found


def simulated_lines(result: Mapping[str, Any]) -> Iterator[str]:
    """One model: a table of the layers on each device, their sum last."""
    for name, device in result["devices"].items():
        yield f"{result['model']} on {name}, {device['target']}"
        yield from (f"  {line}" for line in columns(_rows(device["layers"])))


def _rows(layers: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    if not layers:
        return [["all of it stays on the host"]]
    rows = [["layer", "kernel", "cycles", "us", "utilisation", "bound by", "DRAM kB"]]
    rows += [_row(layer["layer"], layer["kernel"], [layer], layer["bound"]) for layer in layers]
    return [*rows, _row("all", "", layers, "")]


def _row(name: str, kernel: str, layers: Sequence[Mapping[str, Any]], bound: str) -> list[str]:
    cycles, us, gemm = (sum(layer[of] for layer in layers) for of in ("cycles", "microseconds", "gemm_cycles"))
    moved = sum(sum(layer["dram_bytes"].values()) for layer in layers)
    return [name, kernel, str(cycles), f"{us:.1f}", percent(gemm / cycles), bound, f"{moved / 1e3:.1f}"]
