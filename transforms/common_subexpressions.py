"""Common subexpression elimination that compares what is in regions, too, in time linear in the size of the program.

xDSL's own compares an operation with all earlier ones of equal hash, and its hash leaves regions out: of 400 groups
that read one input it compares every two, operation by operation. The key of an operation here is all that it says.
"""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter
from xdsl.traits import IsolatedFromAbove, IsTerminator, MemoryEffectKind, is_side_effect_free, only_has_effect
from xdsl.transforms.common_subexpression_elimination import has_other_side_effecting_op_in_between
from xdsl.transforms.dead_code_elimination import is_trivially_dead
from xdsl.utils.scoped_dict import ScopedDict

_Known = ScopedDict[Hashable, Operation]
"""The operations, by their keys, that stand before and whose results may be used here."""


def eliminate_common_subexpressions(op: Operation) -> None:
    """Make equal operations inside `op` one where they have no side effects, and drop those that nothing uses.

    Operations that read memory are equal if nothing between them writes. Of operations with several blocks in a region
    only the insides are rewritten, as in MLIR.
    """
    for region in op.regions:
        _in_region(region, _Known())


def _in_region(region: Region, known: _Known) -> None:
    if len(region.blocks) != 1:
        return
    here = _Known(known)
    for op in list(region.block.ops):
        inside = _Known() if op.has_trait(IsolatedFromAbove) else here
        for inner in op.regions:
            _in_region(inner, inside)
        _simplify(op, here)


def _simplify(op: Operation, known: _Known) -> None:
    """Put an operation of this scope that is equal in the place of `op`, or let `op` be known."""
    if op.has_trait(IsTerminator):
        return
    if is_trivially_dead(op):
        Rewriter.erase_op(op)
        return
    if any(len(region.blocks) > 1 for region in op.regions) or not _has_no_effect_but_reading(op):
        return
    key = _key(op, {})
    existing = known.get(key)
    if existing is None or not _may_stand_for(existing, op):
        known[key] = op
        return
    Rewriter.replace_op(op, [], existing.results)


def _has_no_effect_but_reading(op: Operation) -> bool:
    return is_side_effect_free(op) or only_has_effect(op, MemoryEffectKind.READ)


def _may_stand_for(existing: Operation, op: Operation) -> bool:
    """Whether an equal operation before `op` gives the same results: one that reads memory may read other contents."""
    if is_side_effect_free(op):
        return True
    return existing.parent is op.parent and not has_other_side_effecting_op_in_between(existing, op)


def _key(op: Operation, numbers: dict[SSAValue, int]) -> Hashable:
    """All that an operation says, with numbers for the values that are defined inside the operation compared."""
    bodies = tuple(_key_of_block(block, numbers) for region in op.regions for block in region.blocks)
    name = op.op_name.data if isinstance(op, UnregisteredOp) else op.name
    attributes = frozenset(op.attributes.items()), frozenset(op.properties.items())
    return name, attributes, tuple(numbers.get(v, v) for v in op.operands), tuple(op.result_types), bodies


def _key_of_block(block: Block, numbers: dict[SSAValue, int]) -> Hashable:
    for argument in block.args:
        numbers[argument] = len(numbers)
    ops: list[Hashable] = []
    for op in block.ops:
        ops.append(_key(op, numbers))
        for result in op.results:
            numbers[result] = len(numbers)
    return tuple(block.arg_types), tuple(ops)
