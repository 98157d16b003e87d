"""How the time of every pass grows with the program: `python -m tilework.tools.bench.growth`.

Programs of several forms are compiled at sizes that double, in one process, and each pass is timed, as are the verifier
that runs after each, the writing of LLVM IR, and LLVM. Where the time is proportional to the size, a size twice as
large takes twice as long.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence

from tilework.analysis.program_targets import HOST, set_targets
from tilework.backends.llvm.backend import emit_module
from tilework.driver.instrumentation import VerifyEach
from tilework.driver.levels import lower_by_levels
from tilework.driver.pass_timing import PassTiming, Timed, Timer
from tilework.runtime.devices.llvm.compile import compile_ir
from tilework.targets import parse_target
from tilework.tools.bench.growth_programs import FORMS, program_of
from tilework.tools.bench.table import columns

TARGET = parse_target("llvm -mcpu=haswell")

SIZES = (50, 100, 200, 400)

LEAST_SHARE = 0.02
"""What takes a smaller share of the time at the largest size is not shown."""


def main() -> int:
    """Print a table for every form."""
    parser = argparse.ArgumentParser(prog="python -m tilework.tools.bench.growth", description=__doc__)
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=list(FORMS), help="which programs")
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES), help="how many parts each has")
    options = parser.parse_args()
    seconds_of(options.forms[0], 2)  # imports
    for form in options.forms:
        taken = [seconds_of(form, size) for size in options.sizes]
        print("\n".join([f"{form}, seconds", *(f"  {line}" for line in columns([*_rows(options.sizes, taken)]))]))
        sys.stdout.flush()
    return 0


def seconds_of(form: str, size: int) -> dict[str, float]:
    """Seconds by pass, all uses of one added up, and of what else a compilation of a program does."""
    timing, module = PassTiming(), program_of(form, size)
    watching = [Timed(timing, "verifier", VerifyEach()), timing]
    set_targets(module, {HOST: TARGET})
    for _ in lower_by_levels(module, watching):
        pass
    with timing.measure("write LLVM IR"):
        text = emit_module(module, TARGET)
    with timing.measure("LLVM"):
        compile_ir(text, TARGET)
    seconds: dict[str, float] = {}
    for name, taken in _leaves(timing.total):
        seconds[name] = seconds.get(name, 0.0) + taken
    return seconds


def _leaves(timer: Timer) -> Iterator[tuple[str, float]]:
    if not timer.parts:
        yield timer.name, timer.seconds
    for part in timer.parts.values():
        yield from _leaves(part)


def _rows(sizes: Sequence[int], taken: Sequence[Mapping[str, float]]) -> Iterator[list[str]]:
    """A row for each pass, and one for all; the last column says how many times longer the last size takes."""
    yield ["", *map(str, sizes), f"{sizes[-1]} to {sizes[-2]}" if len(sizes) > 1 else ""]
    whole = [sum(seconds.values()) for seconds in taken]
    for name in taken[-1]:
        if taken[-1][name] >= LEAST_SHARE * whole[-1]:
            yield _row(name, [seconds.get(name, 0.0) for seconds in taken])
    yield _row("all", whole)


def _row(name: str, seconds: Sequence[float]) -> list[str]:
    grown = f"{seconds[-1] / seconds[-2]:.1f}" if len(seconds) > 1 and seconds[-2] else ""
    return [name, *(f"{s:.3f}" for s in seconds), grown]


if __name__ == "__main__":
    sys.exit(main())
