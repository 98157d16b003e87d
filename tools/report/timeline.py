"""When each kernel runs during one inference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

from tilework.tools.bench.roofline import Measured
from tilework.tools.report.markup import box, label, line, svg

WIDTH, LEFT, RIGHT = 960.0, 230.0, 950.0
ROW, TOP = 18.0, 10.0
TICKS = 8


def timeline(
    calls: Sequence[Mapping[str, Any]], times: Sequence[Mapping[str, float]], kernels: Sequence[Measured]
) -> Element:
    """A row for each kernel, a box for each call of it; time in microseconds to the right."""
    end = times[-1]["start"] + times[-1]["time"]
    bottom = TOP + ROW * len(kernels)
    scale = (RIGHT - LEFT) / end
    parts = _axis(end, scale, bottom)
    rows = {kernel.name: i for i, kernel in enumerate(kernels)}
    for kernel, row in rows.items():
        parts.append(label(f"{kernel}  {row + 1}", LEFT - 8, TOP + ROW * row + 13, "end"))
    for call, taken in zip(calls, times, strict=True):
        row = rows[call["kernel"]]
        title = f"{call['kernel']}{_node(call)}: {taken['time']:.1f} us from {taken['start']:.1f} us on"
        width = max(taken["time"] * scale, 1.0)
        left, top = LEFT + taken["start"] * scale, TOP + ROW * row + 2
        parts.append(box(left, top, width, ROW - 4, kernels[row].bound, title))
    return svg(WIDTH, bottom + 25, parts)


def _node(call: Mapping[str, Any]) -> str:
    return "" if call["source"] is None else f" ({call['source']})"


def _axis(end: float, scale: float, bottom: float) -> list[Element]:
    step = round_step(end / TICKS)
    parts: list[Element] = []
    for i in range(int(end / step) + 1):
        x = LEFT + i * step * scale
        parts.append(line(x, TOP, x, bottom, "grid"))
        parts.append(label(f"{i * step:g}", x, bottom + 15, "middle"))
    return parts


def round_step(least: float) -> float:
    """The smallest of 1, 2 and 5 times a power of ten that is not below `least`."""
    power = 1.0
    while power > least:
        power /= 10
    while power * 10 <= least:
        power *= 10
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= least)
