"""What may watch a pipeline run: printing, timing, checking. A pass manager calls these hooks around every pass."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tilework.analysis.verification import Verifier
from tilework.dialects.support.diagnostics import CompileError, name_of
from tilework.dialects.te import IntrinsicOp
from tilework.transforms.base import TileworkPass


class Instrumentation:
    """Hooks around passes; each does nothing until a subclass says otherwise.

    `op` is the operation that the pass runs on. A hook refuses what a pass did by raising a CompileError.
    """

    def before_pipeline(self, anchor: str, op: Operation) -> None:
        """A pipeline over operations named `anchor` starts on `op`."""

    def after_pipeline(self, anchor: str, op: Operation) -> None:
        """That pipeline has ended."""

    def before_pass(self, pass_: ModulePass, op: Operation) -> None:
        """`pass_` is about to run on `op`."""

    def after_pass(self, pass_: ModulePass, op: Operation) -> None:
        """`pass_` has run on `op` without an error."""

    def pass_failed(self, pass_: ModulePass, op: Operation, error: Exception) -> None:
        """`pass_`, or what checked its result, has thrown `error`; `op` is as it was left."""


class VerifyEach(Instrumentation):
    """The IR is well formed, dominance included, after every pass."""

    def __init__(self) -> None:
        self._verifier = Verifier()

    def after_pass(self, pass_: ModulePass, op: Operation) -> None:
        self._verifier.verify(op)


class CheckLegality(Instrumentation):
    """After a pass that declares `legal_after`, nothing stands that it calls illegal. Declared intrinsics are legal at
    every level."""

    def after_pass(self, pass_: ModulePass, op: Operation) -> None:
        legality = type(pass_).legal_after if isinstance(pass_, TileworkPass) else None
        if legality is None:
            return
        parts = [o for o in op.ops if not isinstance(o, IntrinsicOp)] if isinstance(op, ModuleOp) else [op]
        for inner in (inner for part in parts for inner in part.walk()):
            reason = legality(inner)
            if reason is not None:
                raise CompileError(f"'{pass_.name}' left an illegal '{name_of(inner)}': {reason}", inner)
