"""What groups of operators compute, as something to compare."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping

from xdsl.ir import Block, Operation, SSAValue


def content_of(block: Block, but_for: Mapping[Operation, Collection[str]] | None = None) -> Hashable:
    """What a group computes: equal for groups with the same operators, attributes and types, connected alike.

    `but_for` names properties of some operators that do not count.
    """
    ignored = but_for or {}
    number: dict[SSAValue, int] = {argument: i for i, argument in enumerate(block.args)}
    content: list[Hashable] = [tuple(block.arg_types)]
    for op in block.ops:
        counted = (item for item in op.properties.items() if item[0] not in ignored.get(op, ()))
        properties = tuple(sorted(counted, key=lambda item: item[0]))
        content.append((op.name, properties, tuple(number[v] for v in op.operands), tuple(op.result_types)))
        for result in op.results:
            number[result] = len(number)
    return tuple(content)
