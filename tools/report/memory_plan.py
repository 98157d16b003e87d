"""Which temporary lies where in the arena, from which call to which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree.ElementTree import Element

from tilework.tools.report.markup import box, label, line, svg
from tilework.tools.report.timeline import round_step

WIDTH, HEIGHT = 960.0, 340.0
LEFT, RIGHT, TOP, BOTTOM = 70.0, 950.0, 10.0, 300.0
TICKS = 10
COLOURS = 6
"""How many the page has for buffers: neighbours differ, no more is meant by them."""

LABEL_PIXELS = 7
"""The width of a letter, roughly."""


def memory_plan(buffers: Sequence[Mapping[str, Any]], calls: int) -> Element:
    """Calls to the right, bytes upwards; a box for each buffer. There is at least one buffer, and one call.

    A buffer's "writer", where it has one, says for people what writes it first.
    """
    size = arena_bytes(buffers)
    wide, high = (RIGHT - LEFT) / calls, (BOTTOM - TOP) / size
    parts = _axes(size, calls, wide, high)
    for i, buffer in enumerate(buffers):
        left, width = LEFT + buffer["first"] * wide, (buffer["last"] - buffer["first"] + 1) * wide
        height = buffer["bytes"] * high
        top = BOTTOM - buffer["offset"] * high - height
        when = f"call {buffer['first']} to {buffer['last']}"
        writer = f", written by {buffer['writer']}" if "writer" in buffer else ""
        title = f"{buffer['name']}{writer}: {buffer['bytes']} bytes at {buffer['offset']}, {when}"
        parts.append(box(left, top, width, height, f"buffer{i % COLOURS}", title))
        if height > 14 and width > LABEL_PIXELS * len(buffer["name"]):
            parts.append(label(buffer["name"], left + 4, top + height / 2 + 4))
    return svg(WIDTH, HEIGHT, parts)


def arena_bytes(buffers: Sequence[Mapping[str, Any]]) -> int:
    """Where the last one ends."""
    return max(buffer["offset"] + buffer["bytes"] for buffer in buffers)


def _axes(size: int, calls: int, wide: float, high: float) -> list[Element]:
    parts: list[Element] = []
    step = round_step(size / TICKS)
    for i in range(int(size / step) + 1):
        y = BOTTOM - i * step * high
        parts.append(line(LEFT, y, RIGHT, y, "grid"))
        parts.append(label(f"{i * step / 1e3:g} kB", LEFT - 6, y + 4, "end"))
    every = max(1, int(round_step(calls / (2 * TICKS))))
    for call in range(0, calls, every):
        parts.append(label(str(call), LEFT + (call + 0.5) * wide, BOTTOM + 15, "middle"))
    parts.append(label("kernel call", (LEFT + RIGHT) / 2, BOTTOM + 33, "middle"))
    return parts
