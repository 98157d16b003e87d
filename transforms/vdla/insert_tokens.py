"""Make operations of one unit wait for those of another that they depend on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint, Rewriter

from tilework.analysis.functions import body_of
from tilework.analysis.program_targets import target_of
from tilework.dialects.isa.vdla import VdlaOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.locations import copy_location
from tilework.targets.vdla.target import VdlaTarget
from tilework.targets.vdla.units import Queue, Unit
from tilework.transforms.base import TileworkPass
from tilework.transforms.vdla.dependences import Tokens, needs_of, settled
from tilework.transforms.vdla.token_values import Flags, nop_on, put_values
from tilework.transforms.vdla.trace import trace_of


@dataclass(frozen=True)
class InsertTokens(TileworkPass):
    """Let operations wait for those of other units whose results they read, or whose operands they write over.

    scf.for %i = .. {                          %f = vdla.nop "compute" -> !vdla.token<"compute", "load">
      vdla.load %x[%i] to %inp[%c0]       ->   %r = scf.for %i = .. iter_args(%g = %f) {
      vdla.gemm %acc[%c0], %inp[%c0], ..         %l = vdla.load .. wait(%g) -> !vdla.token<"load", "compute">
                                                 %h = vdla.gemm .. wait(%l) -> !vdla.token<"compute", "load">
                                                 scf.yield %h

    What depends on what is found by running all loops, over tiles of buffers. A token is taken in the iteration that
    needs it, so many iterations later as both may be apart; loops hand tokens on, and the first ones are pushed before
    everything. Where no order of tokens in a queue would do, an operation is waited for as soon as it has run.
    This is an algorithm and no pattern: in which order tokens come out of a queue, all operations say.
    Requires operations without tokens, loops of constant bounds, and arguments of which none overlap; leaves nothing
    that is running behind the last operation, and no tokens.
    """

    name = "vdla-insert-tokens"
    anchor = func.FuncOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, func.FuncOp)
        units = [inner for inner in op.walk() if isinstance(inner, VdlaOp)]
        if not units:
            return
        _check(op, units)
        body = body_of(op)
        last = nop_on(Unit.COMPUTE)
        end = body.last_op
        assert end is not None
        copy_location(last, op)
        Rewriter.insert_op(last, InsertPoint.before(end))
        trace = trace_of(op)
        depth = VdlaTarget.of(target_of(op)).queue
        tokens = {queue: settled(trace, queue, needs, depth) for queue, needs in needs_of(trace).items()}
        first = {queue: of.first for queue, of in tokens.items() if of.scope is None}
        put_values(body, last, _flags(tokens), first)


def _check(function: func.FuncOp, units: list[VdlaOp]) -> None:
    for op in units:
        if op.waits or op.pushes:
            raise CompileError(f"{op.name} has tokens already: they are inserted where there are none", op)
    if any(isinstance(argument.type, IndexType) for argument in function.args):
        name = function.sym_name.data
        raise CompileError(f"@{name} takes numbers, and dependences are found where all are known: fix them", function)


def _flags(tokens: Mapping[Queue, Tokens]) -> Flags:
    """Who takes and pushes tokens; operations that do nothing else are put before and behind loops."""
    flags: Flags = {}
    for queue, of in tokens.items():
        taking, pushing = queue.destination, queue.source
        for edge in of.edges:
            pusher, taker = edge.source, edge.target
            if not isinstance(pusher, VdlaOp) or pusher.unit is not pushing:
                pusher = _beside(edge.source, nop_on(pushing), is_behind=True)
            if edge.at_once:
                taker = _beside(pusher, nop_on(taking), is_behind=True)
            elif not isinstance(taker, VdlaOp):
                taker = _beside(edge.target, nop_on(taking), is_behind=False)
            flags.setdefault(pusher, (set(), set()))[1].add(queue)
            flags.setdefault(taker, (set(), set()))[0].add(queue)
        if of.scope is not None:  # last, so that these are next to the loop
            for _ in range(of.first):
                flags[_beside(of.scope, nop_on(pushing), is_behind=False)] = set(), {queue}
                flags[_beside(of.scope, nop_on(taking), is_behind=True)] = {queue}, set()
    return flags


def _beside(op: Operation, nop: VdlaOp, *, is_behind: bool) -> VdlaOp:
    copy_location(nop, op)
    Rewriter.insert_op(nop, InsertPoint.after(op) if is_behind else InsertPoint.before(op))
    return nop
