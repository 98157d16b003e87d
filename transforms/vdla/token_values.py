"""Tokens as values: what a queue holds at each place, handed from operation to operation and around loops."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import TypeAlias, cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import AttrSizedOperandSegments
from xdsl.rewriter import InsertPoint, Rewriter

from tilework.dialects.isa.vdla import NopOp, TokenType, VdlaOp
from tilework.dialects.support.locations import copy_location
from tilework.targets.vdla.units import Queue, Unit

Flags: TypeAlias = "dict[Operation, tuple[set[Queue], set[Queue]]]"
"""The queues of which an operation takes a token, and those into which it pushes one."""


def nop_on(unit: Unit) -> NopOp:
    """An operation of a unit that does nothing."""
    return NopOp(operands=[[]], properties={"on": StringAttr(unit.value)}, result_types=[[]])


def put_values(body: Block, last: VdlaOp, flags: Flags, first: dict[Queue, int]) -> None:
    """Give the operations of a function values for their tokens.

    last: the operation behind all others, which runs when they all have. first: how many tokens are in each queue
    before everything.
    """
    held: dict[Queue, list[SSAValue]] = {queue: [] for queue in Queue}
    top = next(op for op in body.ops if isinstance(op, VdlaOp | scf.ForOp))
    values = _Values(flags, held)
    for queue, count in first.items():
        for _ in range(count):
            values.nop(queue.source, InsertPoint.before(top), (), (queue,))
    values.block(body, last)
    values.drain(last)


class _Values:
    """What each queue holds at the place that the walk has reached, oldest first."""

    def __init__(self, flags: Flags, held: dict[Queue, list[SSAValue]]):
        self.flags = flags
        self.held = held

    def block(self, block: Block, last: Operation | None = None) -> None:
        """Give values to the operations of a block, up to the last one."""
        for op in list(block.ops):
            if op is last:
                return
            if isinstance(op, scf.ForOp):
                self.loop(op)
            elif isinstance(op, VdlaOp) and op in self.flags:
                self.operation(op, *self.flags[op])

    def operation(self, op: VdlaOp, takes: set[Queue], pushes: set[Queue]) -> VdlaOp:
        """Give values to one operation."""
        waits = [self.held[queue].pop(0) for queue in Queue if queue in takes]
        pushed = [queue for queue in Queue if queue in pushes]
        new = _with_tokens(op, waits, [_token(queue) for queue in pushed])
        Rewriter.replace_op(op, new, [])
        for queue, token in zip(pushed, new.pushes, strict=True):
            self.held[queue].append(token)
        return new

    def loop(self, loop: scf.ForOp) -> None:
        """Give values to the operations in a loop, which hands on what queues hold that are used inside."""
        inside = {queue for op in loop.walk() for side in self.flags.get(op, ()) for queue in side}
        used = [queue for queue in Queue if queue in inside]
        handed = [token for queue in used for token in self.held[queue]]
        block = loop.body.block
        arguments = [block.insert_arg(token.type, len(block.args)) for token in handed]
        lengths = [len(self.held[queue]) for queue in used]
        self._hold(used, lengths, arguments)
        self.block(block)
        end = block.last_op
        assert end is not None
        Rewriter.replace_op(end, scf.YieldOp(*(token for queue in used for token in self.held[queue])), [])
        new = scf.ForOp(loop.lb, loop.ub, loop.step, handed, loop.detach_region(loop.body))
        copy_location(new, loop)
        Rewriter.replace_op(loop, new, [])
        self._hold(used, lengths, list(new.results))

    def _hold(self, queues: list[Queue], lengths: list[int], tokens: Sequence[SSAValue]) -> None:
        rest = iter(tokens)
        for queue, length in zip(queues, lengths, strict=True):
            self.held[queue] = [next(rest) for _ in range(length)]

    def drain(self, last: VdlaOp) -> None:
        """Take all that is left, so that the last operation runs behind everything.

        Units beside the one that computes say when they have taken theirs.
        """
        before = InsertPoint.before(last)
        for queue, back in _BACK.items():
            takes = [(queue,)] * len(self.held[queue])
            if not takes and any(isinstance(op, NopOp) and op.unit is back.source for op in self.flags):
                takes = [()]  # it may be the last operation there, which nobody waits for
            for at, taken in enumerate(takes):
                self.nop(back.source, before, taken, (back,) if at == len(takes) - 1 else ())
        columns = [[(queue, token) for token in self.held[queue]] for queue in Queue if queue not in _BACK]
        rounds = list(zip_longest(*columns))
        for at, row in enumerate(rounds):
            queues = tuple(one[0] for one in row if one is not None)
            if at < len(rounds) - 1:
                self.nop(Unit.COMPUTE, before, queues, ())
            else:
                self.operation(last, set(queues), set())
        if not rounds:
            Rewriter.erase_op(last)

    def nop(self, unit: Unit, place: InsertPoint, takes: tuple[Queue, ...], pushes: tuple[Queue, ...]) -> None:
        """Insert an operation that takes and pushes tokens, and does nothing else."""
        op = nop_on(unit)
        Rewriter.insert_op(op, place)
        self.operation(op, set(takes), set(pushes))


_BACK = {Queue.COMPUTE_TO_LOAD: Queue.LOAD_TO_COMPUTE, Queue.COMPUTE_TO_STORE: Queue.STORE_TO_COMPUTE}
"""For a queue to a unit that does not compute, the queue back."""


def _token(queue: Queue) -> TokenType:
    return TokenType(StringAttr(queue.source.value), StringAttr(queue.destination.value))


def _with_tokens(op: VdlaOp, waits: list[SSAValue], pushes: list[Attribute]) -> VdlaOp:
    """An operation with tokens in the place of one without."""
    given: list[SSAValue | Sequence[SSAValue]] = []
    for name, _ in op.get_irdl_definition().operands:
        old = cast("SSAValue | Sequence[SSAValue] | None", getattr(op, name))
        given.append(waits if name == "waits" else [] if old is None else old)
    properties = {
        name: value for name, value in op.properties.items() if name != AttrSizedOperandSegments.attribute_name
    }
    new = type(op)(operands=given, properties=properties, attributes=op.attributes, result_types=[pushes])
    copy_location(new, op)
    return new
