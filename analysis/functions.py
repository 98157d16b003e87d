"""What every pass over functions expects of them."""

from __future__ import annotations

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block

from tilework.dialects.diagnostics import CompileError


def body_of(function: FuncOp) -> Block:
    """The one block of a function with a body; a CompileError where there are several.

    Graphs and host functions branch by operations with regions, as `scf.if` is.
    """
    blocks = function.body.blocks
    if len(blocks) != 1:
        name = function.sym_name.data
        raise CompileError(f"@{name} has {len(blocks)} blocks: graph and host functions have one", function)
    return blocks[0]
