"""Does every use of a value come after its definition? xDSL's own verifier does not ask."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp, UnregisteredOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.irdl.dominance import DominanceInfo

from tilework.dialects.diagnostics import CompileError, name_of


def check_dominance(root: Operation) -> None:
    """Raise a CompileError for the first operand inside `root` that is used where its definition does not reach.

    Operations directly in a `builtin.module` or in an unregistered operation may stand in any order, as in MLIR.
    Blocks that nothing reaches are not looked at, and what is defined around `root` is taken to reach it.
    """
    _check_regions(root, set() if root.parent is None else _from_outside(root))


def _from_outside(root: Operation) -> set[SSAValue]:
    """The values used inside `root` and defined outside."""
    inside: set[SSAValue] = {result for op in root.walk() if op is not root for result in op.results}
    inside.update(arg for block in root.walk_blocks() for arg in block.args)
    return {operand for op in root.walk() if op is not root for operand in op.operands} - inside - {*root.results}


def _check_regions(op: Operation, visible: set[SSAValue]) -> None:
    """Check the regions of `op`, in which the values in `visible` may be used; `visible` is left as it was."""
    for region in op.regions:
        if len(region.blocks) > 1:
            _check_control_flow(region, visible)
        elif region.blocks:
            _check_block(region.block, visible, ordered=not isinstance(op, ModuleOp | UnregisteredOp))


def _check_control_flow(region: Region, visible: set[SSAValue]) -> None:
    dominance = DominanceInfo(region)
    reachable = _reachable_blocks(region)
    for block in reachable:
        dominators = (other for other in reachable if dominance.strictly_dominates(other, block))
        inherited = {value for other in dominators for value in _defined_in(other)}
        _check_block(block, visible | inherited, ordered=True)


def _check_block(block: Block, visible: set[SSAValue], *, ordered: bool) -> None:
    defined: list[SSAValue] = [*block.args] if ordered else _defined_in(block)
    visible.update(defined)
    for op in block.ops:
        for index, operand in enumerate(op.operands):
            if operand not in visible:
                raise _not_dominated(op, index, operand)
        if op.regions:
            _check_regions(op, visible)
        if ordered:
            visible.update(op.results)
            defined.extend(op.results)
    visible.difference_update(defined)


def _defined_in(block: Block) -> list[SSAValue]:
    return [*block.args, *(result for op in block.ops for result in op.results)]


def _reachable_blocks(region: Region) -> list[Block]:
    seen: dict[Block, None] = {}
    waiting = [region.blocks[0]]
    while waiting:
        block = waiting.pop()
        if block in seen:
            continue
        seen[block] = None
        if block.last_op is not None:
            waiting.extend(block.last_op.successors)
    return list(seen)


def _not_dominated(user: Operation, index: int, operand: SSAValue) -> CompileError:
    definition = operand.owner if isinstance(operand, OpResult) else None
    message = f"'{name_of(user)}' op operand #{index} does not dominate this use"
    return CompileError(message, user, (("operand defined here", definition),))
