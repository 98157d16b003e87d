"""What a function means whose operations run on units of a machine: they are run one after the other, as written.

Tokens keep units to an order that computes the same, if they are right; that is for the machine's simulator to see.
Here it is an error to take a token before another that came into the same queue earlier: tokens of a queue are all
alike, so that an operation gets the first, whichever was meant.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects import func, memref, scf
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, Operation, SSAValue

from tilework.analysis.functions import body_of
from tilework.dialects.loop import ApplyOp
from tilework.dialects.scalar_meaning import evaluate
from tilework.dialects.support.diagnostics import CompileError, UsageError
from tilework.dialects.support.unit_op import Token, UnitOp
from tilework.interpreters.buffers import allocate, memref_dtype


def run_units(function: func.FuncOp, arguments: Sequence[Any]) -> None:
    """Run a function on arrays, which it changes in place, and numbers.

    Raises UsageError for another number of arguments than it has, and CompileError as operations do.
    """
    if len(arguments) != len(function.args):
        name = function.sym_name.data
        raise UsageError(f"@{name} takes {len(function.args)} arguments, {len(arguments)} are given")
    run = UnitsRun()
    run.values.update(zip(function.args, arguments, strict=True))
    run.block(body_of(function))


class UnitsRun:
    """One run: the values so far, and the tokens that are in each queue.

    A subclass says by `execute` what else an operation is to do than what it does to memory.
    """

    def __init__(self):
        self.values: dict[SSAValue, Any] = {}
        self._queues: dict[str, deque[object]] = {}

    def block(self, block: Block) -> list[Any]:
        """Run the operations; the values that the last one hands on."""
        for op in block.ops:
            if isinstance(op, scf.YieldOp | func.ReturnOp):
                return self.of(op.operands)
            self._run(op)
        return []

    def _run(self, op: Operation) -> None:
        match op:
            case UnitOp():
                self.unit(op)
            case scf.ForOp():
                self.loop(op)
            case memref.AllocaOp() | memref.AllocOp():
                self.allocate(op)
            case ApplyOp():
                self.values[op.result] = op.value.evaluate(self.values)
            case _:
                value = evaluate(op, self.of(op.operands))
                self.values[op.results[0]] = int(value) if np.asarray(value).dtype.kind == "i" else value

    def allocate(self, op: memref.AllocaOp | memref.AllocOp) -> None:
        """Let there be a memory."""
        type_, sizes = op.memref.type, iter(self.of(op.dynamic_sizes))
        shape = [next(sizes) if size == DYNAMIC_INDEX else size for size in type_.get_shape()]
        self.values[op.memref] = allocate(shape, memref_dtype(type_)).array

    def loop(self, loop: scf.ForOp) -> None:
        """Run a loop."""
        lower, upper, step = self.of([loop.lb, loop.ub, loop.step])
        index, *carried = loop.body.block.args
        handed = self.of(loop.iter_args)
        for i in range(lower, upper, step):
            self.values[index] = i
            self.values.update(zip(carried, handed, strict=True))
            handed = self.block(loop.body.block)
        self.values.update(zip(loop.results, handed, strict=True))

    def unit(self, op: UnitOp) -> None:
        """Run an operation: take its tokens, execute it, push its tokens."""
        for value in op.operands:
            if isinstance(value.type, Token):
                self._take(op, value.type.queue_name, self.values[value])
        self.execute(op)
        for value in op.results:
            if isinstance(value.type, Token):
                self.values[value] = object()
                self._queues.setdefault(value.type.queue_name, deque()).append(self.values[value])

    def execute(self, op: UnitOp) -> None:
        """Do what an operation does, its tokens apart."""
        op.execute(*(self.values[value] for value in op.operands if not isinstance(value.type, Token)))

    def _take(self, op: UnitOp, queue: str, token: object) -> None:
        tokens = self._queues.get(queue, deque())
        if token not in tokens:
            raise CompileError(f"a token of {queue} is taken once more: the queue gives another one", op)
        if tokens[0] is not token:
            raise CompileError(f"a token of {queue} is taken before one that was pushed earlier", op)
        tokens.popleft()

    def of(self, values: Sequence[SSAValue]) -> list[Any]:
        """The numbers that SSA values stand for now."""
        return [self.values[value] for value in values]
