"""Control flow: loops, conditions, parallel loops.

A parallel loop becomes a function of its range, called for the whole range by one thread or, through `runtime/workers`,
by several for pieces of it. Each iteration does what it would do alone, so results do not depend on who takes which.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, i1
from xdsl.ir import Block, SSAValue

from tilework.backends.llvm.emit_index import index_writer
from tilework.backends.llvm.emitter import Emitter, Handlers, Scope
from tilework.backends.llvm.text import FunctionText, global_name
from tilework.backends.parallel import PIECES
from tilework.dialects.loop import THREADS, ApplyOp, ForOp, IfOp, Kind, YieldOp
from tilework.dialects.loop.annotations import ALTERNATING, DESCENDING, UNROLL_FACTOR
from tilework.dialects.support.diagnostics import CompileError

_FENCE = 'call void asm sideeffect "", ""() nounwind willreturn memory(inaccessiblemem: readwrite)'
"""No code. Without it, LLVM loads operands of several iterations that follow each other side by side, for which a full
register tile leaves no registers."""


def _for(e: Emitter, op: ForOp) -> None:
    kind = op.kind.data
    if kind is Kind.VECTORIZED:
        raise CompileError(f"loop '{op.axis.data}' is still vectorized: run loop-vectorize before emitting code", op)
    if kind is Kind.VIRTUAL:
        raise CompileError(f"loop '{op.axis.data}' is still {kind}: run loop-inject-virtual-thread before", op)
    if kind in THREADS:
        raise CompileError(f"loop '{op.axis.data}' is bound to {kind}, which a CPU does not have; use parallel", op)
    lower, upper = op.bounds.data
    extent = (upper - lower).constant
    writer = index_writer(e, op)
    if extent is not None and extent <= 0:
        return
    if extent == 1:
        e.set(op.index, writer.expr(lower))
        e.block(op.body.block)
    elif kind is Kind.PARALLEL and e.num_threads is not None:
        _parallel(e, op, writer.expr(lower), writer.expr(upper), extent)
    else:
        _serial(e, op, writer.expr(lower), writer.expr(upper), extent is not None)


def _serial(e: Emitter, op: ForOp, lower: str, upper: str, runs: bool, back: str | None = None) -> None:
    """A loop with its test at the end; where it may not run at all, a test before it too.

    back: says, when it runs, whether its last iteration comes first.
    """
    descending = DESCENDING in op.attributes
    text = e.text
    index = text.fresh(op.index.name_hint)
    label = index[1:]
    body, end = text.fresh(f"{label}.body"), text.fresh(f"{label}.end")
    first = text.value(f"sub nsw {e.index} {upper}, 1") if descending else lower
    before = text.block
    if runs:
        text.branch(body)
    else:
        text.branch_if(text.value(f"icmp slt {e.index} {lower}, {upper}"), body, end)
    text.start(body)
    phi = text.line_later()
    e.set(op.index, index if back is None else _turned(text, back, index, lower, upper))
    if UNROLL_FACTOR in op.attributes:
        text.line(_FENCE)
    e.block(op.body.block)
    following = text.value(f"add nsw {e.index} {index}, {-1 if descending else 1}", f"{label}.next")
    comparison, end_of_range = ("sge", lower) if descending else ("slt", upper)
    again = text.value(f"icmp {comparison} {e.index} {following}, {end_of_range}")
    text.set_line(phi, f"{index} = phi {e.index} [ {first}, %{before} ], [ {following}, %{text.block} ]")
    text.branch_if(again, body, end, _loop_metadata(e, op))
    text.start(end)


def _turned(text: FunctionText, back: str, index: str, lower: str, upper: str) -> str:
    """The index itself, or as far from the end of the range as it is from the beginning."""
    last = text.value(f"sub nsw i64 {text.value(f'add nsw i64 {lower}, {upper}')}, 1")
    return text.value(f"select i1 {back}, i64 {text.value(f'sub nsw i64 {last}, {index}')}, i64 {index}")


def _loop_metadata(e: Emitter, op: ForOp) -> str:
    extent, factor = op.extent.constant, op.attributes.get(UNROLL_FACTOR)
    if isinstance(factor, IntegerAttr) and factor.value.data == 1:
        unroll = '!"llvm.loop.unroll.disable"'
    elif isinstance(factor, IntegerAttr) and (extent is None or extent > factor.value.data):
        unroll = f'!"llvm.loop.unroll.count", i32 {factor.value.data}'
    elif extent is not None and (factor is not None or op.kind.data is Kind.UNROLLED):
        unroll = '!"llvm.loop.unroll.full"'
    else:
        return ""  # LLVM warns of a loop that it cannot unroll, on the user's screen
    return f", !llvm.loop {e.module.metadata(e.module.shared_metadata(unroll), distinct=True)}"


# -- parallel loops


def _parallel(e: Emitter, op: ForOp, lower: str, upper: str, extent: int | None) -> None:
    name = f"{e.name}.par.{e.outlined}"
    e.outlined += 1
    outer = e.scope
    body = _outline(e, op, name, _turn(e, name) if ALTERNATING in op.attributes else None)
    threads = _threads(e, op, lower, upper, extent)
    text = outer.text
    alone, several, end = (text.fresh(f"{op.index.name_hint or 'parallel'}.{s}") for s in ("alone", "several", "end"))
    text.branch_if(text.value(f"icmp slt i32 {threads}, 2"), alone, several)
    captured = [(outside, type_) for outside, (_, type_) in body.captures.items()]
    text.start(alone)
    text.call(name, [*captured, (lower, "i64"), (upper, "i64")])
    text.branch(end)
    text.start(several)
    _fork(e, op, name, captured, [lower, upper], threads)
    text.branch(end)
    text.start(end)
    text.behind_call()


def _turn(e: Emitter, name: str) -> str:
    """Whether an odd number of runs went before. Of runs at the same time, it does not matter which sees what."""
    counter = global_name(f"{name}.runs")
    e.module.define(f"{name}.runs", f"{counter} = internal global i32 0\n")
    runs = e.text.value(f"atomicrmw add ptr {counter}, i32 1 monotonic")
    return e.text.value(f"trunc i32 {runs} to i1", "back")


def _outline(e: Emitter, op: ForOp, name: str, back: str | None) -> Scope:
    """Define the function of the range; returns its scope, which says what it captured."""
    outer, threads = e.scope, e.num_threads
    body = Scope(outer)
    e.enter(body)
    e.num_threads = None
    lower, upper = body.text.fresh("lower"), body.text.fresh("upper")
    _serial(e, op, lower, upper, runs=False, back=None if back is None else body.capture(back, i1))
    body.text.finish()
    parameters = [
        f"{type_} {'noalias ' if inside in body.noalias else ''}{inside}" for inside, type_ in body.captures.values()
    ]
    parameters += [f"i64 {lower}", f"i64 {upper}"]
    # Called from two places: inlined, it would be compiled twice.
    head = f"internal void {global_name(name)}"
    e.module.define(name, body.text.definition(head, parameters, "nounwind noinline"))
    e.enter(outer)
    e.num_threads = threads
    return body


def _threads(e: Emitter, op: ForOp, lower: str, upper: str, extent: int | None) -> str:
    """A loop gets the threads asked for, but no more than its iterations, and one where its conditions do not hold."""
    value = e.text.value
    if extent is not None:
        trips = str(min(extent, (1 << 31) - 1))
    else:
        clamped = value(f"call i64 @llvm.smin.i64(i64 {value(f'sub nsw i64 {upper}, {lower}')}, i64 {(1 << 31) - 1})")
        trips = value(f"trunc i64 {clamped} to i32")
    threads = value(f"call i32 @llvm.smin.i32(i32 {e.num_threads}, i32 {trips})")
    if op.when is None:
        return threads
    return value(f"select i1 {index_writer(e, op).condition(op.when.data)}, i32 {threads}, i32 1")


def _fork(e: Emitter, op: ForOp, name: str, captured: list[tuple[str, str]], ends: list[str], threads: str) -> None:
    """Put what the body captured into a struct on the stack, and let threads take pieces of the range."""
    text, struct = e.text, f"{{ {', '.join(type_ for _, type_ in captured)} }}"
    context = text.entry(f"alloca {struct}, align 8", "context")
    for i, (value, type_) in enumerate(captured):
        field = text.value(f"getelementptr inbounds {struct}, ptr {context}, i32 0, i32 {i}")
        text.line(f"store {type_} {value}, ptr {field}")
    pieces = 1 if op.attributes.keys() & {ALTERNATING, DESCENDING} else PIECES
    lower, upper = ends
    piece = global_name(f"{name}.piece")
    text.line(
        f"call void @tilework_parallel(ptr {piece}, ptr {context}, i64 {lower}, i64 {upper}, i32 {threads}, "
        f"i32 {pieces})"
    )
    e.module.declare("tilework_parallel", "declare void @tilework_parallel(ptr, ptr, i64, i64, i32, i32)")
    e.module.define(f"{name}.piece", _piece_function(name, struct, [type_ for _, type_ in captured]))


def _piece_function(name: str, struct: str, types: list[str]) -> str:
    """The body as the runtime calls it, for a part of the range."""
    text = FunctionText()
    context, lower, upper = (text.fresh(hint) for hint in ("context", "lower", "upper"))
    arguments: list[tuple[str, str]] = []
    for i, type_ in enumerate(types):
        pointer = text.value(f"getelementptr inbounds {struct}, ptr {context}, i32 0, i32 {i}")
        arguments.append((text.value(f"load {type_}, ptr {pointer}"), type_))
    text.call(name, [*arguments, (lower, "i64"), (upper, "i64")])
    text.line("ret void")
    parameters = [f"ptr {context}", f"i64 {lower}", f"i64 {upper}"]
    return text.definition(f"internal void {global_name(f'{name}.piece')}", parameters)


# -- conditions


def _if(e: Emitter, op: IfOp) -> None:
    text = e.text
    condition = index_writer(e, op).condition(op.when.data)
    then, end = text.fresh("then"), text.fresh("end")
    otherwise = text.fresh("else") if op.else_body.blocks else end
    text.branch_if(condition, then, otherwise)
    edges = [_branch(e, op.then_body.block, then, end)]
    if op.else_body.blocks:
        edges.append(_branch(e, op.else_body.block, otherwise, end))
    text.start(end)
    for i, output in enumerate(op.outputs):
        incoming = ", ".join(f"[ {values[i]}, %{block} ]" for values, block in edges)
        e.define(output, f"phi {e.type(output)} {incoming}")


def _branch(e: Emitter, block: Block, label: str, end: str) -> tuple[list[str], str]:
    """Write one side of a condition; returns what it yields and the block it ends in."""
    e.text.start(label)
    e.block(block)
    last = block.last_op
    values: list[SSAValue] = list(last.values) if isinstance(last, YieldOp) else []
    edge = [e.get(v) for v in values], e.text.block
    e.text.branch(end)
    return edge


def _yield(e: Emitter, op: YieldOp) -> None:
    """Its values are read by the condition around."""


def _apply(e: Emitter, op: ApplyOp) -> None:
    e.set(op.result, index_writer(e, op).expr(op.expr.data[0]))


LOOP_HANDLERS: Handlers = {ForOp: _for, IfOp: _if, YieldOp: _yield, ApplyOp: _apply}
