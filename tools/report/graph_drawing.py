"""The graph of a model, drawn in layers: each node below all that it reads, as Sugiyama, Tagawa and Toda do (1981)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any
from xml.etree.ElementTree import Element

from tilework.tools.report.markup import element, label

NODE_WIDTH, NODE_HEIGHT, GAP_X, GAP_Y = 240.0, 46.0, 30.0, 44.0
SWEEPS = 4
LABEL_LETTERS = 36
SPAN_BULGE = 0.75
"""How far to the side an edge across several layers goes, in widths of a node, so that it passes those between."""

Place = tuple[float, float]


def graph_drawing(
    nodes: Sequence[Mapping[str, Any]], edges: Sequence[Sequence[int]], shares: Mapping[int, float]
) -> Element:
    """A drawing that is scaled to its place; each node is a group of class "node" with its number in `data-node`.

    nodes: in an order in which each stands behind all that it reads. shares: of the time, by number, as reds.
    """
    places = _places(layers_of(len(nodes), edges))
    drawn = [_edge(places[a], places[b]) for a, b in edges]
    drawn += [_node(node, places[node["id"]], shares.get(node["id"], 0.0)) for node in nodes]
    width = max(x for x, _ in places.values()) + NODE_WIDTH + GAP_X
    height = min(max(y for _, y in places.values()) + NODE_HEIGHT + GAP_Y, 0.75 * max(width, 900.0))
    return element("svg", *drawn, viewBox=f"{-GAP_X:.0f} {-GAP_Y:.0f} {width + GAP_X:.0f} {height + GAP_Y:.0f}",
                   class_="graph", role="img")  # fmt: skip


def layers_of(count: int, edges: Sequence[Sequence[int]]) -> list[list[int]]:
    """The nodes by the longest way to them; in a layer each stands near the mean of its neighbours in the last one."""
    before: dict[int, list[int]] = defaultdict(list)
    after: dict[int, list[int]] = defaultdict(list)
    depth = [0] * count
    for a, b in sorted(edges, key=lambda edge: edge[1]):
        before[b].append(a)
        after[a].append(b)
        depth[b] = max(depth[b], depth[a] + 1)
    layers: list[list[int]] = [[] for _ in range(max(depth, default=0) + 1)]
    for node in range(count):
        layers[depth[node]].append(node)
    for sweep in range(SWEEPS):
        neighbours, order = (before, layers) if sweep % 2 == 0 else (after, layers[::-1])
        _sweep(order, neighbours)
    return layers


def _sweep(layers: Sequence[list[int]], neighbours: Mapping[int, Sequence[int]]) -> None:
    """Sort each layer by the mean place of the neighbours in the layers that come first."""
    at: dict[int, float] = {}
    for layer in layers:
        own = {node: i / len(layer) for i, node in enumerate(layer)}
        near = {node: [at[n] for n in neighbours.get(node, ()) if n in at] for node in layer}
        layer.sort(key=lambda node: mean(near[node]) if near[node] else own[node])
        at |= {node: (i + 0.5) / len(layer) for i, node in enumerate(layer)}


def _places(layers: Sequence[Sequence[int]]) -> dict[int, Place]:
    widest = max(map(len, layers), default=1) * (NODE_WIDTH + GAP_X)
    places: dict[int, Place] = {}
    for row, layer in enumerate(layers):
        left = (widest - len(layer) * (NODE_WIDTH + GAP_X)) / 2
        for i, node in enumerate(layer):
            places[node] = (left + i * (NODE_WIDTH + GAP_X), row * (NODE_HEIGHT + GAP_Y))
    return places


def _edge(start: Place, end: Place) -> Element:
    x1, y1 = start[0] + NODE_WIDTH / 2, start[1] + NODE_HEIGHT
    x2, y2 = end[0] + NODE_WIDTH / 2, end[1]
    rows = (end[1] - start[1]) / (NODE_HEIGHT + GAP_Y)
    side = SPAN_BULGE * NODE_WIDTH * (4 / 3) if rows > 1.5 else 0.0
    bend = max((y2 - y1) / 2, 0.0) if side == 0.0 else (y2 - y1) / 4
    curve = f"M {x1:.0f} {y1:.0f} C {x1 + side:.0f} {y1 + bend:.0f} {x2 + side:.0f} {y2 - bend:.0f} {x2:.0f} {y2:.0f}"
    return element("path", d=curve, class_="edge")


def _node(node: Mapping[str, Any], place: Place, share: float) -> Element:
    x, y = place
    parts = [element("rect", x=x, y=y, width=NODE_WIDTH, height=NODE_HEIGHT, rx=5)]
    if share > 0:
        parts.append(element("rect", x=x, y=y, width=NODE_WIDTH, height=NODE_HEIGHT, rx=5, class_="heat",
                             fill_opacity=min(0.1 + 1.5 * share, 0.9)))  # fmt: skip
    parts.append(label(_short(node["label"]), x + 8, y + 19))
    below = ", ".join(node["kernels"]) or (node["operators"][0] if node["kind"] in ("input", "output") else "")
    time = f"  {100 * share:.1f} %" if share > 0 else ""
    parts.append(label(_short(below, LABEL_LETTERS - len(time)) + time, x + 8, y + 36, class_="label note"))
    title = element("title", "\n".join([node["label"], *node["operators"]]))
    return element("g", title, *parts, class_=f"node {node['kind']}", data_node=node["id"])


def _short(text: str, letters: int = LABEL_LETTERS) -> str:
    return text if len(text) <= letters else text[: letters - 1] + "…"
