"""xDSL's pass that applies rewrites in PDL, with one line for whoever gives it a file that it cannot take."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from xdsl.context import Context
from xdsl.dialects import pdl
from xdsl.dialects.builtin import ModuleOp
from xdsl.transforms.apply_pdl import ApplyPDLPass
from xdsl.utils.exceptions import InterpretationError

from tilework.analysis.verification import verify
from tilework.dialects.support.diagnostics import CompileError, UsageError
from tilework.dialects.support.source_parser import SourceParser


@dataclass(frozen=True)
class ApplyPdl(ApplyPDLPass):
    """Apply the rewrites that a file describes in PDL until none matches; without a file, those in the module itself.

    The file is a module of `pdl.pattern`. Conditions that a function in Python decides are not known here.
    """

    name = "apply-pdl"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.pdl_file is not None:
            _check(ctx, self.pdl_file)
        try:
            super().apply(ctx, op)
        except InterpretationError as error:
            raise CompileError(f"a rewrite in PDL cannot be applied: {error}") from None


def _check(ctx: Context, file: str) -> None:
    """Raise UsageError for a file without patterns, ParseError for one that is no IR."""
    try:
        text = Path(file).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read the PDL file {file}: {error.strerror}") from None
    module = SourceParser(ctx, text, file).parse_module()
    verify(module)
    if not any(isinstance(pattern, pdl.PatternOp) for pattern in module.ops):
        raise UsageError(f"{file} holds no pdl.pattern")
