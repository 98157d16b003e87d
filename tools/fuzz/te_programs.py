"""Random programs in the te language of Python: what a schedule is drawn for with that language's methods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from tilework.frontends import te
from tilework.tools.fuzz.draw import Draw
from tilework.tools.fuzz.programs import EXTENTS, SEVERAL, SYMBOL

Tensor = te.Tensor


class Rule(Protocol):
    """An element at some indices."""

    def __call__(self, *i: Any) -> Any: ...


def random_te_program(draw: Draw) -> tuple[list[Tensor], list[Tensor]]:
    """The placeholders and the results of one to four computes."""
    if draw.chance(20):
        return _product_alone(draw)
    symbol = te.var(SYMBOL)
    known = [_placeholder(draw, i, symbol) for i in range(draw.choice((1, 2, 3)))]
    inputs = list(known)
    for _ in range(draw.choice((1, 2, 2, 3, 4))):
        source = draw.choice([*known, *known[-2:], *known[-1:]])
        kinds = [_elementwise, _both, _words]
        if source.ndim:
            kinds += [_sum, _sum, _largest, _window, _padded, _swapped, _product, _product, _product]
            kinds += [_first_largest, _sum_and_largest, _triangle, _running, _total]
        known.append(draw.choice(kinds)(draw, source, known))
    results = [known[-1]]
    if isinstance(known[-2].op, te.ComputeOp) and known[-2].op is not known[-1].op and draw.chance(15):
        results.append(known[-2])
    return inputs, results


def _product_alone(draw: Draw) -> tuple[list[Tensor], list[Tensor]]:
    """A matrix product of sizes that are worth a schedule, and what is computed with it perhaps."""
    m, n, length = (draw.choice(SEVERAL) for _ in "mnk")
    factors = [te.placeholder((rows, length), name=f"x{i}") for i, rows in enumerate((m, n))]
    made = _product(draw, factors[0], factors[1:])
    return factors, [_both(draw, made, [made]) if draw.chance(50) else made]


def _placeholder(draw: Draw, i: int, symbol: te.Var) -> Tensor:
    shape: list[Any] = [draw.choice(EXTENTS) for _ in range(draw.choice((1, 2, 2, 3)))]
    if draw.chance(15):
        shape[0] = symbol
    return te.placeholder(shape, name=f"x{i}")


def _compute(shape: Sequence[Any], rule: Rule, name: str) -> Any:
    return te.compute(shape, rule, name=name)


def _elementwise(draw: Draw, x: Tensor, known: Sequence[Tensor]) -> Tensor:
    addend = draw.choice((1.0, 2.0, -3.0))
    return _compute(x.shape, lambda *i: te.max(x(*i) + addend, -4.0), name="ewise")


def _both(draw: Draw, x: Tensor, known: Sequence[Tensor]) -> Tensor:
    y = draw.choice([t for t in known if t.dims == x.dims])
    return _compute(x.shape, lambda *i: x(*i) + y(*i) * 2.0, name="both")


def _words(draw: Draw, x: Tensor, known: Sequence[Tensor]) -> Tensor:
    """Products of the bytes of whole numbers; maxima of nothing fit."""
    y = draw.choice([t for t in known if t.dims == x.dims])

    def dot(*i: Any) -> Any:
        words = [te.min(te.max(tensor(*i), -999.0), 999.0).astype("int32") for tensor in (x, y)]
        return te.call_intrin("int32", "dot4.ui8i8", *words).astype("float32")

    return _compute(x.shape, dot, name="words")


def _swapped(draw: Draw, x: Tensor, known: Sequence[Tensor]) -> Tensor:
    return _compute(x.shape[::-1], lambda *i: x(*i[::-1]), name="swap")


def _sum(draw: Draw, x: Tensor, known: Sequence[Tensor]) -> Tensor:
    """A sum along one axis of all elements or of the positive ones."""
    at, positive = draw.choice(range(x.ndim)), draw.chance(30)
    r = te.reduce_axis((0, x.shape[at]), "r")

    def total(*i: Any) -> Any:
        value = x(*i[:at], r, *i[at:])
        return te.sum(value, axis=r, where=value > 0.0 if positive else None)

    return _compute((*x.shape[:at], *x.shape[at + 1 :]), total, name="sum")


def _largest(draw: Draw, x: Tensor, known: Sequence[Tensor]) -> Tensor:
    r = te.reduce_axis((0, x.shape[-1]), "r")
    return _compute(x.shape[:-1], lambda *i: te.max(x(*i, r), axis=r), name="largest")


def _window(draw: Draw, x: Tensor, known: Sequence[Tensor]) -> Tensor:
    size, taps, stride = x.shape[-1], draw.choice((1, 2, 3)), draw.choice((1, 1, 2))
    if not isinstance(size, int) or size < taps:
        return _elementwise(draw, x, known)
    r = te.reduce_axis((0, taps), "r")
    shape = (*x.shape[:-1], (size - taps) // stride + 1)
    return _compute(shape, lambda *i: te.sum(x(*i[:-1], i[-1] * stride + r), axis=r), name="window")


def _padded(draw: Draw, x: Tensor, known: Sequence[Tensor]) -> Tensor:
    before, after, size = draw.choice((0, 1, 2)), draw.choice((0, 1, 3)), x.shape[-1]

    def inside(*i: Any) -> Any:
        source = i[-1] - before
        return te.if_then_else(te.all(source >= 0, source < size), x(*i[:-1], source), 1.0)

    return _compute((*x.shape[:-1], size + before + after), inside, name="pad")


def _product(draw: Draw, x: Tensor, known: Sequence[Tensor]) -> Tensor:
    fits = [t for t in known if t.ndim == 2 and t.dims[1] == x.dims[-1]]
    if x.ndim != 2 or not fits:
        return _elementwise(draw, x, known)
    y = draw.choice(fits)
    r = te.reduce_axis((0, x.shape[1]), "r")
    return _compute((x.shape[0], y.shape[0]), lambda *i: te.sum(x(i[0], r) * y(i[1], r), axis=r), name="product")


def _first_largest(draw: Draw, x: Tensor, known: Sequence[Tensor]) -> Tensor:
    """The largest element along the last axis and where it is first; one of the two is used."""

    def join(a: Any, b: Any) -> Any:
        better = te.any(a[0] > b[0], te.all(a[0] == b[0], a[1] < b[1]))
        return te.Select(better, a[0], b[0]), te.Select(better, a[1], b[1])

    def start(value: str, place: str) -> Any:
        return te.const(float("-inf"), value), te.const(100, place)

    first = te.comm_reducer(join, start, name="first")
    r = te.reduce_axis((0, x.shape[-1]), "r")
    made = _compute(x.shape[:-1], lambda *i: first((x(*i, r), r.astype("float32")), axis=r), name="first")
    return draw.choice(made)


def _sum_and_largest(draw: Draw, x: Tensor, known: Sequence[Tensor]) -> Tensor:
    """Two reductions over one axis as the results of one compute."""
    r = te.reduce_axis((0, x.shape[0]), "r")

    def rule(*i: Any) -> Any:
        return te.sum(x(r, *i) * 2.0, axis=r), te.max(x(r, *i), axis=r)

    return draw.choice(_compute(x.shape[1:], rule, name="pair"))


def _triangle(draw: Draw, x: Tensor, known: Sequence[Tensor]) -> Tensor:
    """Sums along the last axis up to the position on the first."""
    if x.ndim < 2:
        return _elementwise(draw, x, known)
    shift = draw.choice((1, 0, -1))

    def total(*i: Any) -> Any:
        r = te.reduce_axis((0, te.min(i[0] + shift, x.shape[-1])), "r")
        return te.sum(x(*i, r), axis=r)

    return _compute(x.shape[:-1], total, name="triangle")


def _running(draw: Draw, x: Tensor, known: Sequence[Tensor]) -> Tensor:
    """Running maxima along the first axis of what comes in and the state one step back."""
    if not isinstance(x.shape[0], int) or x.shape[0] < 1:
        return _elementwise(draw, x, known)
    state = te.placeholder(x.shape, name="state")
    init = _compute((1, *x.shape[1:]), lambda *i: x(*i), name="init")
    ahead = _compute(x.shape, lambda *i: state(i[0] - 1, *i[1:]) - 1.0, name="ahead")
    step = _compute(x.shape, lambda *i: te.max(ahead(*i), x(*i)), name="step")
    around = draw.choice(range(min(x.ndim, 2)))
    return te.scan(init, step, state, name="running", independent=around)


def _total(draw: Draw, x: Tensor, known: Sequence[Tensor]) -> Tensor:
    """Sums along the last axis by statements."""

    def fill(ins: Sequence[Any], outs: Sequence[Any]) -> Any:
        ib = te.ir_builder.create()
        source, total = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
        _loops(ib, x.shape[:-1], (), lambda *i: _sum_up(ib, source, total, i, x.shape[-1]))
        return ib.get()

    return te.extern(x.shape[:-1], [x], fill, name="total")


def _loops(ib: Any, shape: Sequence[Any], indices: tuple[Any, ...], body: Rule) -> None:
    if not shape:
        body(*indices)
        return
    with ib.for_range(0, shape[0], name=f"i{len(indices)}") as i:
        _loops(ib, shape[1:], (*indices, i), body)


def _sum_up(ib: Any, source: Any, total: Any, indices: tuple[Any, ...], size: Any) -> None:
    total[indices] = 0.0
    with ib.for_range(0, size, name="r") as r:
        total[indices] = total[indices] + source[(*indices, r)]
