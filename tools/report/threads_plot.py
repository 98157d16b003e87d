"""The roofline of an accelerator: its layers without virtual threads, and with them."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, tostring

from tilework.tools.bench.roofline import Measured
from tilework.tools.report.markup import element, label, line, svg
from tilework.tools.report.roofline_plot import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, LogAxis, grid, roof

RADIUS = 4.0
NAME_WIDTH, NAME_HEIGHT = 30.0, 12.0

STYLE = """
svg { background: #fff; } .label { font: 11px system-ui, sans-serif; fill: #444; }
.grid { stroke: #e4e4e4; } .roof { fill: none; stroke: #222; stroke-width: 1.5; } .faster { stroke: #4477aa; }
.single { fill: #fff; stroke: #4477aa; stroke-width: 1.5; } .threads { fill: #4477aa; }
"""


def threads_plot(single: Sequence[Measured], threads: Sequence[Measured]) -> Element:
    """A plot that has for each layer a circle without virtual threads and a dot with them, below the roof, and a line
    between."""
    limits, runs = single[0].roofline, [*single, *threads]
    x = LogAxis([limits.ridge, *(run.intensity for run in runs)], LEFT, RIGHT)
    y = LogAxis([limits.flops_per_second / 1e9, *(run.rate / 1e9 for run in runs)], BOTTOM, TOP)
    parts = [element("style", STYLE), *grid(x, y, "OP"), *roof(limits, x, y, "OP")]
    for one, several in zip(single, threads, strict=True):
        across, places = x.at(one.intensity), [y.at(run.rate / 1e9) for run in (one, several)]
        parts.append(line(across, places[0], across, places[1], "faster"))
        for place, run, kind in zip(places, (one, several), ("single", "threads"), strict=True):
            title = f"{run.name}, {kind}: {run.rate / 1e9:.1f} GOP/s, {100 * run.of_peak:.0f} % of the peak"
            parts.append(element("circle", element("title", title), cx=across, cy=place, r=RADIUS, class_=kind))
    parts += _names([(run.name, x.at(run.intensity), y.at(run.rate / 1e9)) for run in threads])
    for number, (kind, text) in enumerate((("single", "without virtual threads"), ("threads", "with virtual threads"))):
        place = TOP + 20.0 * (number + 1)
        parts.append(element("circle", cx=RIGHT + 24, cy=place, r=RADIUS, class_=kind))
        parts.append(label(text, RIGHT + 34, place + 4))
    return svg(RIGHT + 180, HEIGHT, parts)


def _names(dots: Sequence[tuple[str, float, float]]) -> list[Element]:
    """Names beside dots, from top to bottom, each below those that it would cover."""
    placed: list[tuple[float, float]] = []
    parts: list[Element] = []
    for name, across, down in sorted(dots, key=lambda dot: dot[2]):
        near = [place for other, place in placed if abs(other - across) < NAME_WIDTH]
        place = max([down, *(other + NAME_HEIGHT for other in near)])
        placed.append((across, place))
        parts.append(label(name, across + 7, place + 4))
    return parts


def svg_text(drawing: Element) -> str:
    """A drawing as a file of its own."""
    drawing.set("xmlns", "http://www.w3.org/2000/svg")
    return tostring(drawing, encoding="unicode") + "\n"
