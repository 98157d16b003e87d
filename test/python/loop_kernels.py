"""Kernels at the loop level from text."""

from __future__ import annotations

from tilework.analysis.verification import verify
from tilework.dialects.loop import KernelOp
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser


def parse(text: str) -> KernelOp:
    module = SourceParser(make_context(), text, "test.mlir").parse_module()
    verify(module)
    kernel = module.body.block.first_op
    assert isinstance(kernel, KernelOp)
    return kernel
