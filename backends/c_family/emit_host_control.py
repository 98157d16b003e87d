"""Control flow of the host function: what data decide."""

from __future__ import annotations

from xdsl.dialects import scf

from tilework.backends.c_family.emit_host_memory import HostEmitter
from tilework.backends.c_family.emitter import Handlers


def _if(e: HostEmitter, op: scf.IfOp) -> None:
    e.text.open(f"if ({e.get(op.cond)})")
    e.block(op.true_region.block)
    e.text.otherwise()
    e.block(op.false_region.block)
    e.text.close()


def _while(e: HostEmitter, op: scf.WhileOp) -> None:
    """A loop that is left in the middle; what one round hands to the next are variables that it sets at its end."""
    before, after = op.before_region.block, op.after_region.block
    variables = [e.text.fresh(argument.name_hint or "i") for argument in before.args]
    for variable, argument, first in zip(variables, before.args, op.arguments, strict=True):
        e.text.line(f"{e.type(argument)} {variable} = {e.get(first)};")
        e.set(argument, variable)
    e.text.open("for (;;)")
    e.block(before)
    decision = before.last_op
    assert isinstance(decision, scf.ConditionOp)
    e.text.line(f"if (!{e.get(decision.condition)}) break;")
    for targets in (after.args, op.results):
        for target, value in zip(targets, decision.args, strict=True):
            e.set(target, e.get(value))
    e.block(after)
    assert after.last_op is not None
    for variable, value in zip(variables, after.last_op.operands, strict=True):
        e.text.line(f"{variable} = {e.get(value)};")
    e.text.close()


def _end(e: HostEmitter, op: scf.YieldOp | scf.ConditionOp) -> None:
    """Its values are read by the operation around."""


CONTROL_HANDLERS: Handlers = {
    scf.IfOp: _if,
    scf.WhileOp: _while,
    scf.YieldOp: _end,
    scf.ConditionOp: _end,
}
