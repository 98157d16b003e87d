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
        bodies = tuple(_content_of_block(inner, number) for region in op.regions for inner in region.blocks)
        counted = (item for item in op.properties.items() if item[0] not in ignored.get(op, ()))
        properties = tuple(sorted(counted, key=lambda item: item[0]))
        content.append((op.name, properties, tuple(number[v] for v in op.operands), tuple(op.result_types), bodies))
        for result in op.results:
            number[result] = len(number)
    return tuple(content)


def _content_of_block(block: Block, number: dict[SSAValue, int]) -> Hashable:
    """All that the operations of a block inside of an operator say, with the numbers of values for their names."""
    for argument in block.args:
        number[argument] = len(number)
    content: list[Hashable] = [tuple(block.arg_types)]
    for op in block.ops:
        said = frozenset(op.properties.items()), frozenset(op.attributes.items())
        bodies = tuple(_content_of_block(inner, number) for region in op.regions for inner in region.blocks)
        content.append((op.name, said, tuple(number[v] for v in op.operands), tuple(op.result_types), bodies))
        for result in op.results:
            number[result] = len(number)
    return tuple(content)
