"""Random te kernels: element-wise stages, windows, padding, reductions, several stages and consumers, odd sizes.

Some reduce with a reducer of their own, under a condition, or over a triangle; some read at indices that are data, some
run over time, some are filled by statements.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import FloatAttr, IntegerType, Signedness, f32, i32
from xdsl.ir import Attribute, Block, Region, SSAValue

from tilework.algebra.index_expr import Expr, const, minimum, var
from tilework.algebra.predicate import at_least, less_than
from tilework.dialects import arith, loop
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te import CallIntrinsicOp, KernelOp
from tilework.dialects.te.builder import KernelBuilder, Reduction, Scalar, Tensor
from tilework.dialects.te.builder_scalars import is_unsigned
from tilework.tools.fuzz.draw import Draw

EXTENTS = (1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 0)
SEVERAL = (2, 3, 4, 5, 6, 8, 12, 13)
SYMBOL = "N"
NARROW = (IntegerType(4), IntegerType(4, Signedness.UNSIGNED))


def random_kernel(draw: Draw) -> KernelOp:
    """A kernel of one to four computes over one to three arguments."""
    k = KernelBuilder("fuzzed")
    stages: list[Tensor] = []
    if draw.chance(20):
        return _product_alone(k, draw)
    tensors = [_argument(k, draw, i) for i in range(draw.choice((1, 2, 3)))]
    for i, tensor in enumerate(tensors):
        if tensor.dtype != f32:
            tensors[i] = _converted(k, "wide", tensor, f32)
            stages.append(tensors[i])
    for _ in range(draw.choice((1, 2, 2, 3, 4))):
        source = draw.choice([*tensors, *stages[-2:], *stages[-1:]])
        stages.append(_stage(k, draw, source, [*tensors, *stages]))
    if draw.chance(10):
        stages.append(_narrowed(k, draw, stages[-1]))
    results = [stages[-1]]
    if len(stages) > 1 and draw.chance(15):
        results.append(stages[-2])
    return prune(k.finish(results))


def _product_alone(k: KernelBuilder, draw: Draw) -> KernelOp:
    """A matrix product of sizes that are worth a schedule, and what is computed with it perhaps."""
    m, n, length = (draw.choice(SEVERAL) for _ in "mnk")
    factors = [k.argument(tensor_type((rows, length), f32), f"x{i}") for i, rows in enumerate((m, n))]
    made = _product(k, draw, factors[0], factors[1:])
    if draw.chance(50):
        made = _stage(k, draw, made, [*factors, made])
    return prune(k.finish([made]))


def prune(kernel: KernelOp) -> KernelOp:
    """Drop computes that nothing reads."""
    for compute in reversed(kernel.computes):
        if not any(result.uses for result in compute.results):
            compute.detach()
            compute.erase()
    return kernel


def _argument(k: KernelBuilder, draw: Draw, i: int) -> Tensor:
    dims: list[Expr] = [const(draw.choice(EXTENTS)) for _ in range(draw.choice((1, 2, 2, 3)))]
    if draw.chance(15):
        dims[0] = var(SYMBOL)
    return k.argument(tensor_type(dims, draw.choice(NARROW) if draw.chance(10) else f32), f"x{i}")


def _stage(k: KernelBuilder, draw: Draw, x: Tensor, known: list[Tensor]) -> Tensor:
    kinds = [_elementwise, _combine, _through_narrow, _words]
    if x.dims:
        kinds += [_reduction, _reduction, _window, _pad, _transpose, _product, _product, _product]
        kinds += [_largest, _positive, _triangle, _gather, _position, _scan, _extern]
    return draw.choice(kinds)(k, draw, x, known)


def _elementwise(k: KernelBuilder, draw: Draw, x: Tensor, known: list[Tensor]) -> Tensor:
    addend = draw.choice((1.0, 2.0, -3.0))
    return k.compute("ewise", x.dims, lambda *i: k.max(x[i] + addend, -4.0))


def _through_narrow(k: KernelBuilder, draw: Draw, x: Tensor, known: list[Tensor]) -> Tensor:
    """Integers of four bits that a kernel keeps for itself."""
    return _converted(k, "wide", _narrowed(k, draw, x), f32)


def _narrowed(k: KernelBuilder, draw: Draw, x: Tensor) -> Tensor:
    """Integers of four bits, as large as they can be."""
    to = draw.choice(NARROW)
    low, high = (0.0, 15.0) if is_unsigned(to) else (-8.0, 7.0)
    return k.compute("narrow", x.dims, lambda *i: k.cast(k.min(k.max(x[i], low), high), to))


def _converted(k: KernelBuilder, name: str, x: Tensor, to: Attribute) -> Tensor:
    return k.compute(name, x.dims, lambda *i: k.cast(x[i], to))


def _transpose(k: KernelBuilder, draw: Draw, x: Tensor, known: list[Tensor]) -> Tensor:
    return k.compute("swap", x.dims[::-1], lambda *i: x[i[::-1]])


def _combine(k: KernelBuilder, draw: Draw, x: Tensor, known: list[Tensor]) -> Tensor:
    same = [t for t in known if t.dims == x.dims]
    y = draw.choice(same)
    return k.compute("both", x.dims, lambda *i: x[i] + y[i] * 2.0)


def _words(k: KernelBuilder, draw: Draw, x: Tensor, known: list[Tensor]) -> Tensor:
    """Products of the bytes of whole numbers, by an intrinsic that bodies call; maxima of nothing fit."""
    y = draw.choice([t for t in known if t.dims == x.dims])

    def dot(*i: Expr) -> Scalar:
        words = [k.cast(k.min(k.max(number, -999.0), 999.0), i32).value for number in (x[i], y[i])]
        return k.cast(k.insert(CallIntrinsicOp("dot4.ui8i8", words, i32)), f32)

    return k.compute("words", x.dims, dot)


def _reduction(k: KernelBuilder, draw: Draw, x: Tensor, known: list[Tensor]) -> Tensor:
    at = draw.choice(range(len(x.dims)))
    outer = [d for i, d in enumerate(x.dims) if i != at]
    reducer = draw.choice((k.sum, k.reduce_max))

    def reduced(*i: Expr) -> Reduction:
        def term(r: Expr) -> Scalar:
            return x[(*i[:at], r, *i[at:])]

        return reducer((x.dims[at],), term)

    return k.compute("reduced", outer, reduced)


def _window(k: KernelBuilder, draw: Draw, x: Tensor, known: list[Tensor]) -> Tensor:
    """A convolution along the last axis: extent, stride and dilation at random."""
    size = x.dims[-1].constant
    taps, stride, dilation = draw.choice((1, 2, 3)), draw.choice((1, 1, 2)), draw.choice((1, 1, 2))
    reach = (taps - 1) * dilation + 1
    if size is None or size < reach:
        return _elementwise(k, draw, x, known)
    count = (size - reach) // stride + 1

    def window(*i: Expr) -> Reduction:
        def tap(r: Expr) -> Scalar:
            return x[(*i[:-1], i[-1] * stride + r * dilation)]

        return k.sum((taps,), tap)

    return k.compute("window", (*x.dims[:-1], count), window)


def _pad(k: KernelBuilder, draw: Draw, x: Tensor, known: list[Tensor]) -> Tensor:
    before, after = draw.choice((0, 1, 2)), draw.choice((0, 1, 3))
    size, rest = x.dims[-1], draw.choice((0.0, 1.0))

    def inside(i: tuple[Expr, ...]) -> Scalar:
        source = i[-1] - before
        return k.if_then_else(
            [at_least(source, 0), less_than(source, size)], lambda: x[(*i[:-1], source)], lambda: rest, f32
        )

    return k.compute("pad", (*x.dims[:-1], size + before + after), lambda *i: inside(i))


def _product(k: KernelBuilder, draw: Draw, x: Tensor, known: list[Tensor]) -> Tensor:
    """A matrix product over the last axes of two tensors of rank 2 that agree; element-wise where none do."""
    fits = [t for t in known if len(t.dims) == 2 and t.dims[1] == x.dims[-1]]
    if len(x.dims) != 2 or not fits:
        return _elementwise(k, draw, x, known)
    y = draw.choice(fits)

    def product(i: Expr, j: Expr) -> Reduction:
        def term(r: Expr) -> Scalar:
            return x[i, r] * y[j, r]

        return k.sum((x.dims[1],), term)

    return k.compute("product", (x.dims[0], y.dims[0]), product)


def _largest(k: KernelBuilder, draw: Draw, x: Tensor, known: list[Tensor]) -> Tensor:
    """The largest element along the last axis and where it is first; one of the two is used."""

    def join(a: Sequence[Scalar], b: Sequence[Scalar]) -> list[Scalar]:
        first = a[0].compare("eq", b[0]) & a[1].compare("lt", b[1])
        better = a[0].compare("gt", b[0]) | first
        return [k.select(better, p, q) for p, q in zip(a, b, strict=True)]

    def largest(*i: Expr) -> Reduction:
        def term(r: Expr) -> tuple[Scalar, Scalar]:
            return x[(*i, r)], k.index(r, f32)

        return k.reduce(join, [(float("-inf"), f32), (100.0, f32)], (x.dims[-1],), term)

    return draw.choice(k.compute_all("largest", x.dims[:-1], largest))


def _positive(k: KernelBuilder, draw: Draw, x: Tensor, known: list[Tensor]) -> Tensor:
    """The sum of the positive elements along the first axis."""

    def total(*i: Expr) -> Reduction:
        def positive(r: Expr) -> Scalar:
            return x[(r, *i)].compare("gt", 0.0)

        def term(r: Expr) -> Scalar:
            return x[(r, *i)]

        return k.sum((x.dims[0],), term, positive)

    return k.compute("positive", x.dims[1:], total)


def _triangle(k: KernelBuilder, draw: Draw, x: Tensor, known: list[Tensor]) -> Tensor:
    """Sums along the last axis up to the position on the first."""
    shift = draw.choice((1, 0, -1))
    if len(x.dims) < 2:
        return _elementwise(k, draw, x, known)

    def total(*i: Expr) -> Reduction:
        def term(r: Expr) -> Scalar:
            return x[(*i, r)]

        return k.sum((minimum(i[0] + shift, x.dims[-1]),), term)

    return k.compute("triangle", x.dims[:-1], total)


def _gather(k: KernelBuilder, draw: Draw, x: Tensor, known: list[Tensor]) -> Tensor:
    """Rows chosen by an argument."""
    count = draw.choice((1, 3, 6))
    if not x.dims[0].constant:
        return _elementwise(k, draw, x, known)
    rows = k.argument(tensor_type((count,), i32), "rows")

    def row(n: Expr, *i: Expr) -> Scalar:
        return x[(rows[n], *i)]

    return k.compute("gather", (count, *x.dims[1:]), row)


def _position(k: KernelBuilder, draw: Draw, x: Tensor, known: list[Tensor]) -> Tensor:
    """Elements and the number of their row, the smaller one."""

    def smaller(*i: Expr) -> Scalar:
        place = k.index(i[0] * 2 - 3, f32)
        return k.select(x[i].compare("lt", place), x[i], place)

    return k.compute("position", x.dims, smaller)


def _scan(k: KernelBuilder, draw: Draw, x: Tensor, known: list[Tensor]) -> Tensor:
    """Running maxima along the first axis of what comes in and the state one or two steps back; or twice that."""
    back = draw.choice((1, 1, 2))
    time = x.dims[0].constant
    if time is None or time < back:
        return _elementwise(k, draw, x, known)
    first = k.compute("first", (back, *x.dims[1:]), lambda *i: x[i])
    state = k.state(x.dims, f32)

    def earlier(t: Expr, *i: Expr) -> Scalar:
        return state[(t - back, *i)] - 1.0

    ahead = k.compute("ahead", x.dims, earlier)
    step = k.compute("step", x.dims, lambda *i: k.max(ahead[i], x[i]))
    twice = k.compute("twice", x.dims, lambda *i: step[i] * 2.0)
    around = ["b"][: len(x.dims) - 1] if draw.chance(40) else []
    return draw.choice(k.scan("scan", [first], [step], [state], [twice], independent=around))


def _extern(k: KernelBuilder, draw: Draw, x: Tensor, known: list[Tensor]) -> Tensor:
    """Sums along the first axis of what comes in, by statements; another axis runs in parallel perhaps."""
    kind = loop.Kind.PARALLEL if draw.chance(50) and len(x.dims) > 1 else loop.Kind.SERIAL

    def write(buffers: Sequence[SSAValue], here: Callable[[Expr], Expr]) -> None:
        first, *others = map(here, x.dims)
        source, total = buffers
        k.for_each([*others, first], lambda *i: _add_to_sum(k, source, total, [i[-1], *i[:-1]]), kind)

    [total] = k.extern("total", [x], [x.value.type], write)
    return total


def _add_to_sum(k: KernelBuilder, x: SSAValue, total: SSAValue, at: list[Expr]) -> None:
    """total[at] = x[at] + the total before, where there is one"""
    then = loop.LoadOp(total, [at[0] - 1, *at[1:]])
    otherwise = arith.ConstantOp(FloatAttr(0.0, f32))
    branches = [Region(Block([op, loop.YieldOp([op.result])])) for op in (then, otherwise)]
    before = k.insert(loop.IfOp([at_least(at[0], 1)], branches[0], branches[1], [f32]))
    k.insert(loop.StoreOp((before + k.insert(loop.LoadOp(x, at))).value, total, at))
