"""How far searches are after so many trials: a line for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import log
from xml.etree.ElementTree import Element

from tilework.tools.report.markup import element, label, line, svg

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 760.0, 340.0, 60.0, 560.0, 16.0, 300.0

COLOURS = ("#888888", "#ccbb44", "#4477aa", "#ee6677", "#228833")

STYLE = """
svg { background: #fff; } .label { font: 11px system-ui, sans-serif; fill: #444; } .grid { stroke: #e4e4e4; }
"""

TICKS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0)


def searches_plot(curves: Mapping[str, Sequence[float]], batch: int) -> Element:
    """A plot of parts of the best speed, between 0.5 and 1, by search, after every `batch` trials."""
    longest = max(map(len, curves.values()))

    def x(at: int) -> float:
        return LEFT + (RIGHT - LEFT) * log(at + 1) / log(max(longest, 2))

    def y(part: float) -> float:
        return BOTTOM - (BOTTOM - TOP) * (max(part, TICKS[0]) - TICKS[0]) / (1 - TICKS[0])

    parts = [element("style", STYLE)]
    for tick in TICKS:
        parts += [line(LEFT, y(tick), RIGHT, y(tick), "grid"), label(f"{tick:.0%}", LEFT - 8, y(tick) + 4, "end")]
    at = 1
    while at <= longest:
        parts.append(label(str(at * batch), x(at - 1), BOTTOM + 18, "middle"))
        at *= 2
    parts.append(label("trials", RIGHT + 12, BOTTOM + 18))
    for number, (name, curve) in enumerate(curves.items()):
        colour = COLOURS[number % len(COLOURS)]
        points = " ".join(f"{x(i):.1f},{y(part):.1f}" for i, part in enumerate(curve))
        parts.append(element("polyline", points=points, fill="none", stroke=colour, stroke_width=2.0))
        place = TOP + 20.0 * (number + 1)
        parts.append(element("rect", x=RIGHT + 20, y=place - 4, width=14.0, height=3.0, fill=colour))
        parts.append(label(name, RIGHT + 40, place))
    return svg(WIDTH, HEIGHT, parts)
