"""The columns of the table of features: sums over all bodies, and how the one with most of the work runs.

What is counted is there as the logarithm of the count and one, so that twice as much is as far apart everywhere. No
column depends on loops of one iteration, nor on which names things have, so that nests of other structure, and other
kernels, can be compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from tilework.tuning.features.measured import Measured, MeasuredBody
from tilework.tuning.features.numbers import Array, Number, total
from tilework.tuning.features.operations import KINDS
from tilework.tuning.features.program import Access
from tilework.tuning.features.registers import NEAR, masked

CURVE = tuple(range(0, 30, 3))
"""Columns tell how much so many iterations, as powers of 2, compute for each byte that they touch."""

LOADS = 3
"""So many loads of the main body have columns of their own, the first ones."""

Column = Callable[[Measured, MeasuredBody], Number]


def names() -> tuple[str, ...]:
    """The names of the columns, in order."""
    return tuple(COLUMNS)


def table(measured: Measured, main: int, rows: int) -> Array:
    """The features of so many configurations. main: which of the bodies does most of the work."""
    body = measured.bodies[main]
    result = np.empty((rows, len(COLUMNS)))
    for at, column in enumerate(COLUMNS.values()):
        result[:, at] = column(measured, body)
    return result


def _logarithm(column: Column) -> Column:
    return lambda measured, main: np.log2(column(measured, main) + 1)


def _sum_of(count: Callable[[MeasuredBody], Number]) -> Column:
    """Make a column of the sum of a count over all bodies."""
    return _logarithm(lambda measured, _: total(map(count, measured.bodies)))


def _on_cores(count: Callable[[MeasuredBody], Number]) -> Column:
    """Cycles over all bodies, each on as many cores as it has."""
    return _sum_of(lambda body: count(body) / body.speedup)


def _of_main(count: Callable[[MeasuredBody], Number]) -> Column:
    return lambda _, main: count(main)


# -- the whole kernel


def _kernel_columns() -> Iterator[tuple[str, Column]]:
    for kind in KINDS:
        yield f"{kind}s", _sum_of(lambda body, kind=kind: body.operations(kind))
    yield "instructions", _sum_of(lambda b: b.code.arithmetic_cycles * b.code.per_cycle)
    yield "loads", _sum_of(lambda b: _transfers(b, stores=False))
    yield "stores", _sum_of(lambda b: _transfers(b, stores=True))
    yield "lanes apart", _sum_of(_lanes_apart)
    yield "blocks", _sum_of(lambda b: b.levels.blocks * b.code.share)
    yield "guards", _sum_of(lambda b: b.guards)
    for cache, where in enumerate(("first", "second", "third")):
        yield f"lines into {where} cache", _sum_of(lambda b, cache=cache: b.memory.lines(cache))
        yield f"pieces into {where} cache", _sum_of(lambda b, cache=cache: b.memory.pieces(cache))
    yield "code length", _sum_of(lambda b: b.code.length)
    yield "longest code", _logarithm(lambda m, _: _most(b.code.length for b in m.bodies))
    yield "pressure", _logarithm(lambda m, _: _most(b.code.registers.pressure for b in m.bodies))
    yield "stack bytes", _logarithm(lambda m, _: m.stack_bytes)
    yield "touched bytes", _logarithm(lambda m, _: m.sets.bytes[None])
    yield "parallel iterations", _logarithm(lambda _, main: main.parallel)
    yield "speedup", _of_main(lambda main: main.speedup)


def _cycle_columns() -> Iterator[tuple[str, Column]]:
    parts: Mapping[str, Callable[[MeasuredBody], Number]] = {
        "arithmetic": lambda b: b.code.arithmetic_cycles,
        "load": lambda b: b.code.load_cycles,
        "store": lambda b: b.code.store_cycles,
        "chain": lambda b: b.code.chain_cycles,
        "mask": lambda b: b.code.mask_cycles,
        "decode": lambda b: b.code.decode_cycles,
        "loop": lambda b: b.code.loop_cycles,
        "guard": lambda b: b.guard_cycles,
        "busy": lambda b: b.busy,
        "first cache": lambda b: b.memory.cycles(0),
        "second cache": lambda b: b.memory.cycles(1),
        "third cache": lambda b: b.memory.cycles(2),
        "waiting": lambda b: b.memory.waiting,
    }
    for name, part in parts.items():
        yield f"{name} cycles", _on_cores(part)
    yield "start cycles", _logarithm(lambda m, _: m.start_cycles)


def _most(numbers: Iterator[Number]) -> Number:
    result: Number = 0.0
    for number in numbers:
        result = np.maximum(result, number)
    return result


def _transfers(body: MeasuredBody, *, stores: bool) -> Number:
    return total(body.code.transfers(a) for a in body.body.accesses if a.stores is stores)


def _lanes_apart(body: MeasuredBody) -> Number:
    apart = ((a, np.greater(body.levels.lane_step(a), NEAR)) for a in body.body.accesses)
    return total(np.where(far, body.code.transfers(a) * body.levels.lanes, 0.0) for a, far in apart)


# -- the main body


def _main_columns() -> Iterator[tuple[str, Column]]:
    yield "main points", _logarithm(_of_main(lambda b: b.code.points))
    yield "main share", _of_main(lambda b: b.code.share)
    yield "main lanes", _logarithm(_of_main(lambda b: b.levels.lanes))
    yield "main lanes asked for", _of_main(lambda b: b.levels.is_asked)
    yield "main lanes masked", _of_main(lambda b: masked(b.levels))
    yield "main vectors", _of_main(lambda b: b.levels.vectors)
    yield (
        "main lanes filled",
        _of_main(lambda b: b.levels.lanes / b.levels.width / np.ceil(b.levels.lanes / b.levels.width)),
    )
    yield "main copies", _logarithm(_of_main(lambda b: b.levels.copies))
    yield "main pressure", _logarithm(_of_main(lambda b: b.code.registers.pressure))
    yield "main blocks", _logarithm(_of_main(lambda b: b.levels.blocks))
    yield "main slots", _of_main(lambda b: b.code.slots)
    for power in CURVE:
        yield f"main intensity of 2^{power}", _of_main(lambda b, power=power: _intensity(b, power))


def _access_columns() -> Iterator[tuple[str, Column]]:
    parts: Mapping[str, Callable[[MeasuredBody, Access], Number]] = {
        "lane step": lambda b, a: np.log2(b.levels.lane_step(a) + 1),
        "transfers": lambda b, a: np.log2(b.code.transfers(a) + 1),
        "cycles": lambda b, a: b.code.access_cycles(a),
        "reuse": lambda b, a: np.log2(b.code.points / np.maximum(b.code.transfers(a), 1) + 1),
        "lines": lambda b, a: np.log2(b.levels.movements[a].footprints[0].lines + 1),
        "run": lambda b, a: np.log2(b.levels.movements[a].footprints[0].run + 1),
        "lines into first cache": lambda b, a: np.log2(b.memory.fetched[0][_counted(b, a)].lines + 1),
        "pieces into first cache": lambda b, a: np.log2(b.memory.fetched[0][_counted(b, a)].pieces + 1),
        "lines into second cache": lambda b, a: np.log2(b.memory.fetched[1][_counted(b, a)].lines + 1),
    }
    for which, who in enumerate(("store", *(f"load {i + 1}" for i in range(LOADS)))):
        for name, part in parts.items():
            yield f"{who}: {name}", _of_main(lambda b, which=which, part=part: _of_access(b, which, part))


def _of_access(body: MeasuredBody, which: int, part: Callable[[MeasuredBody, Access], Number]) -> Number:
    """Make a column of one of the accesses that have columns; it is 0 where there are fewer."""
    return part(body, body.leading[which]) if which < len(body.leading) else 0.0


def _counted(body: MeasuredBody, access: Access) -> Access:
    """The access that stands for this one where traffic is counted."""
    return body.body.updates.get(access, access)


def _intensity(body: MeasuredBody, power: int) -> Number:
    """Operations for each element that 2^power iterations touch, as a logarithm; between loops, along a line."""
    xs, ys = body.intensities
    value = ys[0]
    for x0, x1, y0, y1 in zip(xs, xs[1:], ys, ys[1:], strict=False):
        along = np.minimum(np.maximum((power - x0) / np.maximum(x1 - x0, 1e-9), 0.0), 1.0)
        value = np.where(np.greater(power, x0), y0 + along * (y1 - y0), value)
    return value


COLUMNS: Mapping[str, Column] = dict([*_kernel_columns(), *_cycle_columns(), *_main_columns(), *_access_columns()])
