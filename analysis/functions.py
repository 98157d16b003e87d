"""What every pass over functions expects of them."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, SSAValue

from tilework.dialects.graph.control import ControlOp
from tilework.dialects.graph.structure import YieldOp
from tilework.dialects.support.diagnostics import CompileError


def body_of(function: FuncOp) -> Block:
    """The one block of a function with a body; a CompileError where there are several.

    Graphs and host functions branch by operations with regions, as `scf.if` is.
    """
    blocks = function.body.blocks
    if len(blocks) != 1:
        name = function.sym_name.data
        raise CompileError(f"@{name} has {len(blocks)} blocks: graph and host functions have one", function)
    return blocks[0]


def graphs_of(function: FuncOp) -> list[Block]:
    """The blocks of operators of a graph function: its body, and those of control flow, each behind what holds it.

    None sees the values of another. A declaration has none.
    """
    return [] if function.is_declaration else list(_graphs(body_of(function)))


def _graphs(block: Block) -> Iterator[Block]:
    yield block
    for op in block.ops:
        if isinstance(op, ControlOp):
            for body in op.bodies:
                yield from _graphs(body)


def is_returned(value: SSAValue) -> bool:
    """Whether a value of a graph is a result of it."""
    return any(isinstance(use.operation, ReturnOp | YieldOp) for use in value.uses)
