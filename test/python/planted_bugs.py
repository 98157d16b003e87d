"""Passes that do what a test says, and the semantic check that watches them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilework.analysis.verification import verify
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.driver.check_semantics import SemanticCheck
from tilework.driver.pass_manager import PassManager, Pipeline
from tilework.transforms.base import TileworkPass

Change = Callable[[ModuleOp], None]


@dataclass(frozen=True)
class Planted(TileworkPass):
    """A pass that does what the test says."""

    name = "planted"
    change: Change = lambda module: None

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, ModuleOp)
        self.change(op)


@dataclass(frozen=True)
class Reassociating(Planted):
    """The same, and it says that it changes the order of sums."""

    name = "reassociating"
    numerics: ClassVar = "reassociates"


def parse(text: str) -> ModuleOp:
    module = SourceParser(make_context(), text, "test.mlir").parse_module()
    verify(module)
    return module


def check(text: str, *changes: Change | TileworkPass, checker: SemanticCheck | None = None) -> SemanticCheck:
    checker = checker or SemanticCheck()
    passes = tuple(c if isinstance(c, TileworkPass) else Planted(c) for c in changes)
    PassManager(Pipeline("builtin.module", passes), [checker]).run(make_context(), parse(text))
    return checker


def replace_with(text: str) -> Change:
    """A pass that replaces the whole module: it stands for a lowering."""

    def change(module: ModuleOp) -> None:
        for op in list(module.ops):
            op.detach()
            op.erase(safe_erase=False)
        new = parse(text)
        for op in list(new.ops):
            op.detach()
            module.body.block.add_op(op)

    return change


def first(module: ModuleOp, kind: type[Operation], n: int = 0):
    return [op for op in module.walk() if isinstance(op, kind)][n]


def swap_operands(op: Operation) -> None:
    a, b = op.operands
    op.operands = [b, a]
