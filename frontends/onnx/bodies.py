"""Graphs inside of operators, which may use whatever there is outside until they are closed. For converting."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, SSAValue


def close(bodies: Sequence[Block]) -> list[SSAValue]:
    """Let bodies take as arguments, all of them the same, what any of them uses of what lies outside; these values."""
    outside: dict[SSAValue, None] = {}
    for body in bodies:
        outside |= dict.fromkeys(_used_of_outside(body))
    for body in bodies:
        arguments: dict[SSAValue, SSAValue] = {}
        for value in outside:
            arguments[value] = body.insert_arg(value.type, len(body.args))
            arguments[value].name_hint = value.name_hint
        for op in body.ops:
            op.operands = [arguments.get(value, value) for value in op.operands]
    return list(outside)


def _used_of_outside(body: Block) -> list[SSAValue]:
    """The values that operations of a body use and it does not define; those in their regions see no others."""
    own = {*body.args, *(value for op in body.ops for value in op.results)}
    return [value for op in body.ops for value in op.operands if value not in own]
