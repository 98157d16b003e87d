"""Control flow, drawn for a graph: branches, loops, scans and calls, whose bodies are drawn in turn."""

from __future__ import annotations

import onnx
from onnx import helper

from tilework.tools.fuzz.onnx.graphs import BOOL, DATA, FLOAT, INT64, Graph, Type
from tilework.tools.fuzz.onnx.operators import NUMBERS, OPERATORS

DEEPEST = 2
"""How many bodies are inside of each other."""

SHORT = range(1, 5)
"""How many operators a body has."""

DOMAIN = "fuzz"
"""The domain of the functions that a model defines."""


def fill(g: Graph, counts: range) -> None:
    """Add operators to a graph, one of these numbers of them."""
    for _ in range(g.draw.choice(counts)):
        kinds = CONTROL if g.depth < DEEPEST and g.draw.chance(25) else OPERATORS
        g.draw.choice(kinds)(g)


def condition(g: Graph) -> str | None:
    """A truth value that data tell."""
    if (x := g.any(lambda t: t.element in NUMBERS)) is None:
        return None
    element = g.values[x].element
    total = g.emit("ReduceSum", [x], Type(element, ()), keepdims=0)
    return g.emit("Less", [total, g.constant(g.draw.choice([-3, 0, 3, 20]), element)], Type(BOOL, ()))


def branches(g: Graph) -> None:
    """One of two bodies, whose results are of one type, or differ in the size of an axis."""
    holds, x = condition(g), g.any(lambda t: t.element in NUMBERS)
    if holds is None or x is None:
        return
    type_, other = g.values[x], g.like_but_for_a_size(x) if g.draw.chance(40) else None
    bodies: dict[str, onnx.GraphProto] = {}
    for name, given in (("then_branch", x), ("else_branch", other or x)):
        body = g.inside()
        fill(body, SHORT)
        result = body.emit("Identity", [body.like(g.values[given]) or given], g.values[given])
        bodies[name] = body.graph(name, [], [result])
    if other is not None:
        sizes = zip(type_.dims, g.values[other].dims, strict=True)
        type_ = Type(type_.element, tuple(a if a == b else g.names.fresh(DATA) for a, b in sizes))
    g.emit("If", [holds], type_, **bodies)


def loop(g: Graph) -> None:
    """A body that is run again as long as a number, and data, say."""
    if (x := g.any(lambda t: t.element in NUMBERS)) is None:
        return
    n = g.any(lambda t: t.element == INT64 and not t.dims)
    limit = g.draw.choice([g.constant(3), g.constant(20), n or g.constant(2)])
    begins = condition(g) if g.draw.chance(50) else None
    body = g.inside()
    number, before = body.argument(Type(INT64, ())), body.argument(Type(BOOL, ()))
    state = body.argument(g.values[x])
    fill(body, SHORT)
    goes_on = condition(body) if g.draw.chance(60) else None
    again = body.emit("Identity", [goes_on or before], Type(BOOL, ()))
    if g.draw.chance(30):  # the condition alone ends it
        limit, few = g.draw.choice(["", g.unread(2**63 - 1)]), body.constant(g.draw.choice([0, 2, 5]))
        again = body.emit("And", [again, body.emit("Less", [number, few], Type(BOOL, ()))], Type(BOOL, ()))
    following = body.emit("Identity", [body.like(g.values[x]) or state], g.values[x])
    outputs, types = [again, following], [g.values[x]]
    element = g.draw.choice([name for name in body.values if body.fits_outside(name)])
    if body.values[element].element in NUMBERS and len(body.values[element].dims) < 3:
        outputs.append(body.emit("Identity", [element], body.values[element]))
        types.append(Type(body.values[element].element, (g.names.fresh(DATA), *body.values[element].dims)))
    begins = begins or (g.constant(True, BOOL) if not limit else "")
    g.emit_all("Loop", [limit, begins, x], types, body=body.graph("body", [number, before, state], outputs))


def scan(g: Graph) -> None:
    """A body that is run for each row of a value."""
    rows, x = g.any(lambda t: t.element in NUMBERS and 1 <= len(t.dims) < 4), g.any(lambda t: t.element in NUMBERS)
    if rows is None or x is None:
        return
    over = g.values[rows]
    body = g.inside()
    state, row = body.argument(g.values[x]), body.argument(Type(over.element, over.dims[1:]))
    fill(body, SHORT)
    following = body.emit("Identity", [body.like(g.values[x]) or state], g.values[x])
    element = body.emit("Identity", [row], body.values[row])
    types = [g.values[x], over]
    made = body.graph("body", [state, row], [following, element])
    g.emit_all("Scan", [x, rows], types, body=made, num_scan_inputs=1)


def call(g: Graph) -> None:
    """A function of the model's own."""
    if (x := g.any(lambda t: t.element in NUMBERS)) is None:
        return
    name, body = g.names.fresh("f"), g.inside(closed=True)
    given = body.argument(g.values[x])
    fill(body, SHORT)
    result = body.emit("Identity", [body.like(g.values[x]) or given], g.values[x])
    opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(DOMAIN, 1)]
    g.names.functions.append(helper.make_function(DOMAIN, name, [given], [result], body.nodes, opsets))
    g.emit(name, [x], g.values[x], domain=DOMAIN)


OPSET = 18

CONTROL = (branches, branches, loop, loop, scan, call)

INPUTS = (
    Type(FLOAT, ("N", 3)),
    Type(FLOAT, (4,)),
    Type(FLOAT, (2, "N")),
    Type(INT64, ()),
    Type(INT64, ("M",)),
)
