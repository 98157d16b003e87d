"""What groups of operators compute, as something to compare."""

from __future__ import annotations

from collections.abc import Collection, Hashable

from xdsl.ir import Block, Operation, SSAValue


def content_of(block: Block, but_for: Collection[Operation] = ()) -> Hashable:
    """What a group computes: equal for groups with the same operators, attributes and types, connected alike.

    Of the operators `but_for`, attributes do not count.
    """
    number: dict[SSAValue, int] = {argument: i for i, argument in enumerate(block.args)}
    content: list[Hashable] = [tuple(block.arg_types)]
    for op in block.ops:
        properties = () if op in but_for else tuple(sorted(op.properties.items(), key=lambda item: item[0]))
        content.append((op.name, properties, tuple(number[v] for v in op.operands), tuple(op.result_types)))
        for result in op.results:
            number[result] = len(number)
    return tuple(content)
