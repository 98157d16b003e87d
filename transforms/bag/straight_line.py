"""Parts of the functions of rows."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, SSAValue


def copied(values: Sequence[SSAValue], known: dict[SSAValue, SSAValue], block: Block) -> list[SSAValue]:
    """Append what computes values of a function to a block, given what some of them are there."""
    needed = needed_for(values)
    for op in _in_order(needed):
        if not all(result in known for result in op.results):
            block.add_op(op.clone(known))
    return [known[value] for value in values]


def needed_for(values: Sequence[SSAValue]) -> set[SSAValue]:
    """The values of a function from which these are computed, themselves and arguments among them."""
    found, left = set[SSAValue](), list(values)
    while left:
        value = left.pop()
        if value not in found:
            found.add(value)
            left.extend(value.owner.operands if isinstance(value.owner, Operation) else ())
    return found


def _in_order(values: set[SSAValue]) -> list[Operation]:
    """The operations that make values, in the order of their block."""
    makers = {value.owner for value in values if isinstance(value.owner, Operation)}
    block = next((op.parent for op in makers), None)
    return [] if block is None else [op for op in block.ops if op in makers]
