"""What puts operators on a device: a family of targets says by patterns which kernels its devices run.

A family's file `transforms/<family>/placement.py`, in the tree or in a plugin, defines subclasses of `Placement`.
"""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from inspect import isclass
from types import ModuleType
from typing import TypeGuard

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Region, SSAValue
from xdsl.pattern_rewriter import RewritePattern

from tilework.analysis.program_targets import DEVICE
from tilework.dialects.graph.structure import FusedOp
from tilework.plugins.packages import Folder, folders_of
from tilework.rules.registry import find_rule
from tilework.targets import Target
from tilework.transforms.graph.te_kernels import build_kernel

PLACEMENT = "placement"
"""The name of a family's file."""


@dataclass(frozen=True)
class Placement(RewritePattern, ABC):
    """Replaces operators by a group for a device.

    device: its name. target: what it is. known: the values of the graph that depend on parameters only; a placement
    adds those that it makes.
    """

    device: str
    target: Target
    known: set[SSAValue]

    def runs(self, group: FusedOp, parameters: Set[int]) -> bool:
        """Whether a rule of the device's family schedules the kernel of a group, whose inputs of these numbers are
        parameters."""
        return find_rule(build_kernel(group.label.data, group), self.target, parameters, given_away=True) is not None

    def group(self, label: str, inputs: Sequence[SSAValue], body: Region) -> FusedOp:
        """A group of the device, in no graph yet."""
        last = body.block.last_op
        assert last is not None
        made = FusedOp(label, inputs, list(last.operand_types), body)
        made.attributes[DEVICE] = StringAttr(self.device)
        return made


def placements_of(family: str) -> list[type[Placement]]:
    """The placements of a family, in the order of their definitions."""
    return _placements_in(folders_of(f"transforms/{family}"))


def all_placements() -> list[type[Placement]]:
    """The placements of every family of targets."""
    return _placements_in(family for folder in folders_of("transforms") for family in folder.folders())


def _placements_in(folders: Iterable[Folder]) -> list[type[Placement]]:
    modules = [folder.load(PLACEMENT) for folder in folders if PLACEMENT in folder.modules()]
    return [member for module in modules for member in vars(module).values() if _is_defined_in(module, member)]


def _is_defined_in(module: ModuleType, member: object) -> TypeGuard[type[Placement]]:
    return isclass(member) and issubclass(member, Placement) and member.__module__ == module.__name__
