"""Does every use of a value come after its definition, and see it? xDSL's own verifier does not ask."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp, UnregisteredOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.traits import IsolatedFromAbove

from tilework.dialects.support.diagnostics import CompileError, name_of


def check_dominance(root: Operation) -> None:
    """Raise a CompileError for the first operand inside `root` that is used where its definition does not reach.

    Operations directly in a `builtin.module` or in an unregistered operation may stand in any order, as in MLIR.
    Blocks that nothing reaches are not looked at, and what is defined around `root` is taken to reach it, unless `root`
    is isolated from that.
    """
    _check_regions(root, set() if root.parent is None or _is_isolated(root) else _from_outside(root))


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
    """Check blocks after those that dominate them, whose values are visible meanwhile."""
    tree = _dominator_tree(region)
    pending: list[tuple[Block, list[SSAValue] | None]] = [(region.blocks[0], None)]
    while pending:
        block, defined = pending.pop()
        if defined is not None:  # all that it dominates has been checked
            visible.difference_update(defined)
            continue
        _check_block(block, visible, ordered=True)
        defined = _defined_in(block)
        visible.update(defined)
        pending.append((block, defined))
        pending += ((inner, None) for inner in tree.get(block, ()))


def _check_block(block: Block, visible: set[SSAValue], *, ordered: bool) -> None:
    defined: list[SSAValue] = [*block.args] if ordered else _defined_in(block)
    visible.update(defined)
    for op in block.ops:
        for index, operand in enumerate(op.operands):
            if operand not in visible:
                raise _not_visible(op, index, operand)
        if op.regions:
            _check_regions(op, set() if _is_isolated(op) else visible)
        if ordered:
            visible.update(op.results)
            defined.extend(op.results)
    visible.difference_update(defined)


def _defined_in(block: Block) -> list[SSAValue]:
    return [*block.args, *(result for op in block.ops for result in op.results)]


def _is_isolated(op: Operation) -> bool:
    return op.has_trait(IsolatedFromAbove, value_if_unregistered=False)


# -- which blocks dominate which


def _dominator_tree(region: Region) -> dict[Block, list[Block]]:
    """A mapping from each block that is reached to the blocks that it dominates immediately.

    After Cooper, Harvey and Kennedy, A Simple, Fast Dominance Algorithm, 2001.
    """
    order = _reverse_postorder(region.blocks[0])
    number = {block: i for i, block in enumerate(order)}
    before: list[list[int]] = [[] for _ in order]
    for i, block in enumerate(order):
        for successor in _successors(block):
            before[number[successor]].append(i)
    dominator = [0] + [-1] * (len(order) - 1)
    changed = True
    while changed:
        changed = False
        for i in range(1, len(order)):
            known = [p for p in before[i] if dominator[p] >= 0]
            found = known[0]
            for p in known[1:]:
                found = _meeting(dominator, found, p)
            changed, dominator[i] = changed or found != dominator[i], found
    tree: dict[Block, list[Block]] = {}
    for i in range(1, len(order)):
        tree.setdefault(order[dominator[i]], []).append(order[i])
    return tree


def _meeting(dominator: list[int], a: int, b: int) -> int:
    """The nearest block that dominates two; dominators have lower numbers."""
    while a != b:
        a, b = (dominator[a], b) if a > b else (a, dominator[b])
    return a


def _reverse_postorder(entry: Block) -> list[Block]:
    """The blocks that are reached, each in front of those that are reached through it only."""
    seen = {entry}
    finished: list[Block] = []
    path: list[tuple[Block, Iterator[Block]]] = [(entry, iter(_successors(entry)))]
    while path:
        block, successors = path[-1]
        following = next((s for s in successors if s not in seen), None)
        if following is None:
            finished.append(block)
            path.pop()
        else:
            seen.add(following)
            path.append((following, iter(_successors(following))))
    return finished[::-1]


def _successors(block: Block) -> list[Block]:
    return [] if block.last_op is None else list(block.last_op.successors)


# -- what is wrong


def _not_visible(user: Operation, index: int, operand: SSAValue) -> CompileError:
    name = f"'{name_of(user)}' op operand #{index}"
    isolated = _isolated_around(user)
    if isolated is not None and not isolated.is_ancestor(_place_of(operand)):
        message = f"{name} is defined outside '{name_of(isolated)}', which may only use values defined inside it"
        return CompileError(message, user)
    definition = operand.owner if isinstance(operand, OpResult) else None
    return CompileError(f"{name} does not dominate this use", user, (("operand defined here", definition),))


def _isolated_around(op: Operation) -> Operation | None:
    around = op.parent_op()
    while around is not None and not _is_isolated(around):
        around = around.parent_op()
    return around


def _place_of(value: SSAValue) -> Operation | Block:
    """The operation or block that is inside of whatever the value is defined inside of."""
    owner = value.owner
    parent = owner.parent_op() if isinstance(owner, Operation) else owner
    return owner if parent is None else parent
