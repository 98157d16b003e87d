"""Control flow of the host function: what data decide."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.ir import Block, SSAValue

from tilework.backends.llvm.emit_host_memory import HostEmitter
from tilework.backends.llvm.emitter import Handlers


def _if(e: HostEmitter, op: scf.IfOp) -> None:
    text = e.text
    then, otherwise, end = text.fresh("then"), text.fresh("else"), text.fresh("end")
    text.branch_if(e.get(op.cond), then, otherwise)
    for label, block in ((then, op.true_region.block), (otherwise, op.false_region.block)):
        text.start(label)
        e.block(block)
        text.branch(end)
    text.start(end)


def _while(e: HostEmitter, op: scf.WhileOp) -> None:
    """A block that decides, and one that goes back to it; what the second one hands over are phis of the first."""
    text, (before, after) = e.text, (op.before_region.block, op.after_region.block)
    test, body, end, outside = text.fresh("test"), text.fresh("body"), text.fresh("end"), text.block
    text.branch(test)
    text.start(test)
    phis = [(text.line_later(), text.fresh(argument.name_hint or "i")) for argument in before.args]
    for (_, name), argument in zip(phis, before.args, strict=True):
        e.set(argument, name)
    e.block(before)
    decision = before.last_op
    assert isinstance(decision, scf.ConditionOp)
    text.branch_if(e.get(decision.condition), body, end)
    for targets in (after.args, op.results):
        for target, value in zip(targets, decision.args, strict=True):
            e.set(target, e.get(value))
    text.start(body)
    e.block(after)
    for (line, name), first, value, argument in zip(phis, op.arguments, _handed_on(after), before.args, strict=True):
        edges = f"[ {e.get(first)}, %{outside} ], [ {e.get(value)}, %{text.block} ]"
        text.set_line(line, f"{name} = phi {e.type(argument)} {edges}")
    text.branch(test)
    text.start(end)


def _handed_on(block: Block) -> Sequence[SSAValue]:
    assert block.last_op is not None
    return block.last_op.operands


def _end(e: HostEmitter, op: scf.YieldOp | scf.ConditionOp) -> None:
    """Its values are read by the operation around."""


CONTROL_HANDLERS: Handlers = {
    scf.IfOp: _if,
    scf.WhileOp: _while,
    scf.YieldOp: _end,
    scf.ConditionOp: _end,
}
