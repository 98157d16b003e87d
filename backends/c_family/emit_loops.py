"""Control flow: loops, conditions, parallel loops.

A parallel loop becomes a function of its range, called for the whole range by one thread or, through
`tilework_parallel`, by several for pieces of it. Each iteration does what it would do alone, so results do not depend
on who takes which.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import SSAValue

from tilework.backends.c_family.c_text import INDENT
from tilework.backends.c_family.emit_index import index_writer
from tilework.backends.c_family.emitter import Captured, Emitter, Handlers, Scope, declared
from tilework.backends.c_family.forms import form_of
from tilework.backends.parallel import PIECES
from tilework.dialects.loop import THREADS, ApplyOp, ForOp, IfOp, Kind, YieldOp
from tilework.dialects.loop.annotations import ALTERNATING, DESCENDING, UNROLL_FACTOR
from tilework.dialects.support.diagnostics import CompileError

MOST_UNROLLED = 65534
"""Iterations: compilers take no larger number."""

_PARALLEL = """\
void tilework_parallel(void (*body)(void *, int64_t, int64_t), void *context, int64_t lower, int64_t upper,
                       int32_t threads, int32_t pieces);
"""


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
    if extent is not None and extent <= 0:
        return
    writer = index_writer(e, op)
    if extent == 1:
        _once(e, op, writer.expr(lower))
    elif kind is Kind.PARALLEL and e.num_threads is not None:
        _parallel(e, op, writer.expr(lower), writer.expr(upper), extent)
    else:
        _serial(e, op, writer.expr(lower), writer.expr(upper))


def _once(e: Emitter, op: ForOp, lower: str) -> None:
    """A loop of one iteration: its body alone."""
    if lower.isidentifier() or lower.lstrip("-").isdigit():
        e.set(op.index, lower)
    else:
        e.define(op.index, lower)
    e.block(op.body.block)


def _serial(e: Emitter, op: ForOp, lower: str, upper: str) -> None:
    if (count := _unrolled(op)) is not None:
        e.text.line(f"UNROLLED({count})")
    index, type_ = e.text.free(op.index.name_hint), f"int{e.index.bits}_t"
    if DESCENDING in op.attributes:
        e.text.open(f"for ({type_} {index} = {upper} - 1; {index} >= {lower}; --{index})", index)
    else:
        e.text.open(f"for ({type_} {index} = {lower}; {index} < {upper}; ++{index})", index)
    e.set(op.index, index)
    e.block(op.body.block)
    e.text.close()


def _unrolled(op: ForOp) -> int | None:
    """How many iterations the compiler is asked to write one after the other; 1 for not more than one."""
    extent, factor = op.extent.constant, op.attributes.get(UNROLL_FACTOR)
    count = extent if factor is not None or op.kind.data is Kind.UNROLLED else None
    if isinstance(factor, IntegerAttr) and (extent is None or extent > factor.value.data):
        count = factor.value.data
    return None if count is None or count > MOST_UNROLLED else count


# -- parallel loops


def _parallel(e: Emitter, op: ForOp, lower: str, upper: str, extent: int | None) -> None:
    name = f"{e.name}_loop_{e.outlined}"
    e.outlined += 1
    captures = _outline(e, op, name)
    e.file.define_once("tilework_parallel", lambda: _PARALLEL)
    given = [f".{c.inside} = {c.outside}" for c in captures]
    e.text.open("")
    context = e.text.fresh("context")
    e.text.line(f"struct {name} {context} = {{{', '.join(given)}}};")
    threads = e.text.fresh("threads")
    e.text.line(f"const int32_t {threads} = {_threads(e, op, lower, upper, extent)};")
    pieces = 1 if op.attributes.keys() & {ALTERNATING, DESCENDING} else PIECES
    ends = f"{lower}, {upper}"
    e.text.line(f"if ({threads} < 2) {name}_piece(&{context}, {ends});")
    e.text.line(f"else tilework_parallel({name}_piece, &{context}, {ends}, {threads}, {pieces});")
    e.text.close()


def _outline(e: Emitter, op: ForOp, name: str) -> Sequence[Captured]:
    """Define the function of the range, and that which the runtime calls for a part of it; returns what they capture.

    A loop that alternates runs forwards every time: backwards it would need to remember how often it has run.
    """
    outer, threads = e.scope, e.num_threads
    body = Scope(outer, e.taken)
    e.enter(body)
    e.num_threads = None
    lower, upper = body.text.fresh("lower"), body.text.fresh("upper")
    _serial(e, op, lower, upper)
    captures = list(body.captures.values())
    parameters = [*(c.parameter for c in captures), f"int64_t {lower}", f"int64_t {upper}"]
    e.file.define(name, body.text.definition(f"{e.spelling.outlined} {name}", parameters))
    e.file.define(f"{name}_piece", _piece_function(e, name, captures))
    e.enter(outer)
    e.num_threads = threads
    return captures


def _piece_function(e: Emitter, name: str, captures: Sequence[Captured]) -> str:
    """What the loop reads of the function around, as a struct, and the body as the runtime calls it."""
    fields = "".join(f"{INDENT}{declared(c.type, c.inside)};\n" for c in captures) or f"{INDENT}char nothing;\n"
    arguments = ", ".join([*(f"context->{c.inside}" for c in captures), "lower", "upper"])
    context = f"{INDENT}const struct {name} *context = pointer;\n" if captures else f"{INDENT}(void)pointer;\n"
    return (
        f"struct {name} {{\n{fields}}};\n\n"
        f"static void {name}_piece(void *pointer, int64_t lower, int64_t upper) {{\n"
        f"{context}{INDENT}{name}({arguments});\n}}\n"
    )


def _threads(e: Emitter, op: ForOp, lower: str, upper: str, extent: int | None) -> str:
    """A loop gets the threads asked for, but no more than its iterations, and one where its conditions do not hold."""
    e.file.define_once("fewer_threads", lambda: _FEWER_THREADS)
    trips = str(extent) if extent is not None else f"{upper} - ({lower})" if lower != "0" else upper
    threads = f"fewer_threads({e.num_threads}, {trips})"
    return threads if op.when is None else f"{index_writer(e, op).condition(op.when.data)} ? {threads} : 1"


_FEWER_THREADS = """\
/* No more threads than iterations. */
static inline int32_t fewer_threads(int32_t threads, int64_t trips) {
  return trips < threads ? (int32_t)trips : threads;
}
"""


# -- conditions


def _if(e: Emitter, op: IfOp) -> None:
    results = [_result(e, op, i) for i in range(len(op.outputs))]
    e.text.open(f"if ({index_writer(e, op).condition(op.when.data)})")
    e.block(op.then_body.block)
    _yield_to(e, results, op.then_body.block.last_op)
    if op.else_body.blocks:
        e.text.otherwise()
        e.block(op.else_body.block)
        _yield_to(e, results, op.else_body.block.last_op)
    e.text.close()


def _result(e: Emitter, op: IfOp, i: int) -> str | None:
    """The variable that a branch sets; None where nobody reads it."""
    output = op.outputs[i]
    if not output.uses:
        return None
    name = e.text.fresh(output.name_hint)
    e.text.line(f"{declared(e.type(output), name)};")
    e.set(output, name)
    return name


def _yield_to(e: Emitter, results: Sequence[str | None], last: object) -> None:
    """Set the variables of a condition to what the branch that was just written yields."""
    values: Sequence[SSAValue] = last.values if isinstance(last, YieldOp) else ()
    for name, value in zip(results, values, strict=True):
        if name is not None:
            text = e.mask(value, form_of(value.type)) if e.is_mask(value) else e.get(value)
            e.text.line(f"{name} = {text};")


def _yield(e: Emitter, op: YieldOp) -> None:
    """Its values are read by the condition around."""


def _apply(e: Emitter, op: ApplyOp) -> None:
    text = index_writer(e, op).expr(op.expr.data[0])
    if text.isidentifier() or text.lstrip("-").isdigit():
        e.set(op.result, text)
    else:
        e.define(op.result, text)


LOOP_HANDLERS: Handlers = {ForOp: _for, IfOp: _if, YieldOp: _yield, ApplyOp: _apply}
