"""How long it takes to score many configurations of a schedule with knobs, on one core: features and cost model.

    python -m tilework.tools.bench.scoring --rows 100000

The schedules are one of a product of matrices and one of a convolution. The model has learned from 64 configurations,
as it has after a few rounds of a search; what it learned does not change the time. Times are of the processor.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from time import process_time
from typing import Any, cast

import numpy as np

from tilework.dialects.schedule import SequenceOp
from tilework.dialects.te import KernelOp
from tilework.frontends import te
from tilework.targets import EXAMPLE, parse_target
from tilework.targets.cpu.target import CpuTarget
from tilework.tuning.features import SymbolicNest, symbolic_nest
from tilework.tuning.models import CostModel, Residual

LEARNED = 64
"""From so many configurations the model has learned."""

TARGET = EXAMPLE


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000, help="how many configurations (default: %(default)s)")
    parser.add_argument("--target", default=TARGET, help="a processor (default: %(default)s)")
    options = parser.parse_args()
    if options.rows < 1:
        parser.error(f"--rows is 1 or more, not {options.rows}")
    print("| schedule | lowered once, ms | features, s | limits, s | model, s | features and model, rows a second |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, schedule in SCHEDULES.items():
        measured = measure(schedule, options.rows, CpuTarget.of(parse_target(options.target), "llvm"))
        rate = options.rows / (measured["features"] + measured["model"])
        columns = (
            f"{1000 * measured['lowering']:.0f}",
            *(f"{measured[k]:.2f}" for k in ("features", "limits", "model")),
        )
        print(f"| {name} | {' | '.join(columns)} | {rate:,.0f} |", flush=True)


def measure(schedule: Callable[[], te.Schedule], rows: int, target: CpuTarget) -> Mapping[str, float]:
    """Seconds of the processor for each step."""
    s = schedule()
    times = _Times()
    nest = times.of("lowering", lambda: nest_of(s, target))
    rng = np.random.default_rng(0)
    values = {name: rng.choice(knob.values, rows) for name, knob in s.knobs.items()}
    few = {name: rng.choice(knob.values, LEARNED) for name, knob in s.knobs.items()}
    model: CostModel = Residual(target)
    table = nest.features(few)
    estimate = model.predict(table) * rng.uniform(0.5, 1.0, LEARNED)
    model.fit(table, estimate / estimate.max())
    table = times.of("features", lambda: nest.features(values))
    times.of("limits", lambda: nest.valid(values))
    times.of("model", lambda: model.predict(table))
    return times.seconds


class _Times:
    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def of(self, name: str, step: Callable[[], Any]) -> Any:
        """What a step returns, its time noted."""
        started = process_time()
        result = step()
        self.seconds[name] = process_time() - started
        return result


def nest_of(s: te.Schedule, target: CpuTarget) -> SymbolicNest:
    """The nest of a schedule."""
    ops = list(s.module().ops)
    [kernel] = [op for op in ops if isinstance(op, KernelOp)]
    [sequence] = [op for op in ops if isinstance(op, SequenceOp)]
    return symbolic_nest(kernel, sequence, target)


# -- schedules


def _divisors(extent: int) -> list[int]:
    return [n for n in range(1, extent + 1) if extent % n == 0]


def product() -> te.Schedule:
    """A product of matrices in tiles, with sums in a local buffer."""
    n = 512
    A, B = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), name="k")

    def element(i: Any, j: Any) -> Any:
        return te.sum(A[i, k] * B[k, j], axis=k)

    C = te.compute((n, n), element, name="C")
    s = te.create_schedule(C.op)
    sums = cast("te.Tensor", s.cache_write(C, "local"))
    i, j = C.op.axis
    io, ii = s[C].split(i, factor=te.knob("rows", _divisors(n)))
    jo, ji = s[C].split(j, factor=te.knob("columns", _divisors(n)))
    s[C].reorder(io, jo, ii, ji)
    s[C].parallel(io)
    s[C].vectorize(ji)
    s[sums].compute_at(s[C], jo)
    i, j = s[sums].op.axis
    ko, ki = s[sums].split(s[sums].op.reduce_axis[0], factor=te.knob("terms", _divisors(n)))
    jo, ji = s[sums].split(j, factor=te.knob("lanes", [8, 16, 32, 64]))
    s[sums].reorder(ko, ki, i, jo, ji)
    s[sums].unroll(i)
    s[sums].vectorize(ji)
    return s


def convolution() -> te.Schedule:
    """A convolution whose padded image is computed in tiles."""
    channels, filters, size = 128, 128, 28
    X = te.placeholder((channels, size, size), name="X")
    W = te.placeholder((filters, channels, 3, 3), name="W")

    def bordered(c: Any, y: Any, x: Any) -> Any:
        inside = te.all(y >= 1, y < size + 1, x >= 1, x < size + 1)
        return te.if_then_else(inside, X[c, y - 1, x - 1], 0.0)

    def element(o: Any, y: Any, x: Any) -> Any:
        return te.sum(P[c, y + ry, x + rx] * W[o, c, ry, rx], axis=[c, ry, rx])

    P = te.compute((channels, size + 2, size + 2), bordered, name="P")
    c, ry, rx = (te.reduce_axis((0, extent), name=name) for name, extent in (("c", channels), ("ry", 3), ("rx", 3)))
    Y = te.compute((filters, size, size), element, name="Y")
    s = te.create_schedule(Y.op)
    sums = cast("te.Tensor", s.cache_write(Y, "local"))
    o, y, x = Y.op.axis
    oo, oi = s[Y].split(o, factor=te.knob("filters", _divisors(filters)))
    yo, yi = s[Y].split(y, factor=te.knob("rows", _divisors(size)))
    xo, xi = s[Y].split(x, factor=te.knob("columns", _divisors(size)))
    s[Y].reorder(oo, yo, xo, oi, yi, xi)
    s[Y].parallel(oo)
    s[sums].compute_at(s[Y], xo)
    s[P].compute_at(s[Y], xo)
    o, y, x = s[sums].op.axis
    c, ry, rx = s[sums].op.reduce_axis
    co, ci = s[sums].split(c, factor=te.knob("channels", _divisors(channels)))
    s[sums].reorder(co, ci, ry, rx, o, y, x)
    s[sums].unroll(o)
    s[sums].vectorize(x)
    return s


def _schedules() -> Iterator[tuple[str, Callable[[], te.Schedule]]]:
    yield "product of 512 x 512 matrices", product
    yield "convolution, 128 channels of 28 x 28", convolution


SCHEDULES = dict(_schedules())

if __name__ == "__main__":
    main()
