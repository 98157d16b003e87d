"""Operators go to the devices that run them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import RewritePattern

from tilework.analysis.parameters import values_from_parameters
from tilework.analysis.program_targets import HOST, targets_of
from tilework.targets import Target
from tilework.transforms.graph.patterns import GraphPatternPass
from tilework.transforms.graph.placements import all_placements, placements_of


@dataclass(frozen=True)
class PlaceOnDevices(GraphPatternPass):
    """Put what the devices of a program can run into groups for them, as their families' placements say.

    builtin.module attributes {tilework.targets = {host = "llvm", npu0 = "npu"}}
    %s = graph.conv %x, %w                  %y = graph.fused "conv" (%x, %w) -> ... attributes {device = "npu0"}
    %y = graph.relu %s               ->       %s = graph.conv %a, %b
                                              %r = graph.relu %s

    Of several devices, those that the module names first are asked first. A family without placements gets what a
    program puts on its devices by name. Requires nothing; run it before what makes products of a form for the host.
    """

    name = "graph-place-on-devices"

    @classmethod
    def pattern_types(cls) -> list[type[RewritePattern]]:
        return list(all_placements())

    def operations(self, op: Operation) -> Iterable[Operation]:
        return super().operations(op) if _devices_around(op) else ()

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        assert isinstance(op, FuncOp)
        known = values_from_parameters(op)
        devices = _devices_around(op).items()
        return [kind(device, target, known) for device, target in devices for kind in placements_of(target.family)]


def _devices_around(op: Operation) -> dict[str, Target]:
    """The devices of the program, the host not among them."""
    module = op.parent_op()
    targets = targets_of(module) if isinstance(module, ModuleOp) else {}
    return {device: target for device, target in targets.items() if device != HOST}
