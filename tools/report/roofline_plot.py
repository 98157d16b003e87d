"""The roofline plot: how fast each kernel is, and what the machine would allow at its intensity."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10, sqrt
from xml.etree.ElementTree import Element

from tilework.tools.bench.roofline import Measured, Roofline
from tilework.tools.report.markup import element, label, line, svg

WIDTH, HEIGHT = 960.0, 430.0
LEFT, RIGHT, TOP, BOTTOM = 50.0, 690.0, 25.0, 385.0
PEAK_LABEL = 110.0
"""How many pixels the text of the peak takes, which ends at the right."""

NUMBERED = 20
"""So many have a number, and their name beside the plot; the others' names are under the mouse."""


class LogAxis:
    """From a round number below all `values` to one above, along pixels from `start` to `end`.

    Round numbers are 1, 2 and 5 times a power of ten.
    """

    def __init__(self, values: Sequence[float], start: float, end: float):
        powers = range(floor(log10(min(values))), floor(log10(max(values))) + 2)
        round_numbers = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
        first = max(number for number in round_numbers if number <= min(values))
        last = min(number for number in round_numbers if number > max(values))
        self.ticks = [number for number in round_numbers if first <= number <= last]
        self._start, self._first = start, log10(first)
        self._scale = (end - start) / log10(last / first)

    def at(self, value: float) -> float:
        """Where a value lies."""
        return self._start + (log10(value) - self._first) * self._scale


def drawn(kernels: Sequence[Measured]) -> list[Measured]:
    """Those that have a place in the plot: what computes nothing has none on a logarithmic axis."""
    return [kernel for kernel in kernels if kernel.flops > 0]


def roofline_plot(kernels: Sequence[Measured], roofline: Roofline) -> Element:
    """A dot for each kernel, its area by the time it takes, below the roof; there is at least one to be drawn.

    Kernels are numbered as they are given.
    """
    points = drawn(kernels)
    x = LogAxis([roofline.ridge, *(k.intensity for k in points)], LEFT, RIGHT)
    y = LogAxis([roofline.flops_per_second / 1e9, *(k.rate / 1e9 for k in points)], BOTTOM, TOP)
    total = sum(kernel.seconds for kernel in kernels)
    parts = [*grid(x, y, "FLOP"), *roof(roofline, x, y, "FLOP")]
    for number, kernel in enumerate(kernels, start=1):
        if kernel in points:
            parts += _dot(kernel, number, kernel.seconds / total, x, y)
        if number <= NUMBERED:
            name = f"{number}  {kernel.name}, {100 * kernel.seconds / total:.0f} %"
            parts.append(label(name, RIGHT + 20, TOP + 17 * number))
    return svg(WIDTH, HEIGHT, parts)


def grid(x: LogAxis, y: LogAxis, operation: str) -> list[Element]:
    """The lines of round numbers, and what is counted: operations per byte, and their thousand millions a second."""
    parts: list[Element] = []
    for tick in x.ticks:
        parts.append(line(x.at(tick), TOP, x.at(tick), BOTTOM, "grid"))
        parts.append(label(f"{tick:g}", x.at(tick), BOTTOM + 15, "middle"))
    for tick in y.ticks:
        parts.append(line(LEFT, y.at(tick), RIGHT, y.at(tick), "grid"))
        parts.append(label(f"{tick:g}", LEFT - 6, y.at(tick) + 4, "end"))
    parts.append(label(f"{operation} per byte", (LEFT + RIGHT) / 2, BOTTOM + 35, "middle"))
    parts.append(label(f"G{operation}/s", LEFT, TOP - 10, "middle"))
    return parts


def roof(roofline: Roofline, x: LogAxis, y: LogAxis, operation: str) -> list[Element]:
    """The line of the bandwidth, from where it enters the plot, and that of the peak."""
    peak = roofline.flops_per_second / 1e9
    enters = max(x.ticks[0], y.ticks[0] * 1e9 / roofline.bytes_per_second)
    corners = [(enters, roofline.attainable(enters) / 1e9), (roofline.ridge, peak), (x.ticks[-1], peak)]
    points = " ".join(f"{x.at(a):.2f},{y.at(b):.2f}" for a, b in corners)
    bandwidth = f"{roofline.bytes_per_second / 1e9:.1f} GB/s"
    return [
        element("polyline", points=points, class_="roof"),
        label(f"{peak:.1f} G{operation}/s", RIGHT, y.at(peak) - 5, "end"),
        label(bandwidth, min(x.at(roofline.ridge) - 8, RIGHT - PEAK_LABEL), y.at(peak) - 5, "end"),
    ]


def _dot(kernel: Measured, number: int, share: float, x: LogAxis, y: LogAxis) -> list[Element]:
    left, top, radius = x.at(kernel.intensity), y.at(kernel.rate / 1e9), 3 + 12 * sqrt(share)
    title = (
        f"{number} {kernel.name}: {kernel.rate / 1e9:.1f} GFLOP/s at {kernel.intensity:.1f} FLOP/byte, "
        f"{100 * share:.1f} % of the time"
    )
    place = {"cx": left, "cy": top, "r": radius}
    parts = [element("circle", element("title", title), **place, class_=kernel.bound, data_kernel=kernel.name)]
    if number <= NUMBERED:
        parts.append(label(str(number), left + radius + 2, top + 4))
    return parts
