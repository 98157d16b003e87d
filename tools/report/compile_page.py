"""The page of a compilation: its graph, its kernels at every level, its memory; or of two, side by side."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

from tilework.algebra.errors import TileworkError
from tilework.tools.bench.roofline import Measured, Roofline, measured_kernels
from tilework.tools.report.compilation import SCHEMA
from tilework.tools.report.document import HERE, document
from tilework.tools.report.graph_drawing import graph_drawing
from tilework.tools.report.markup import element, figure, table
from tilework.tools.report.memory_plan import arena_bytes, memory_plan
from tilework.tools.report.roofline_plot import drawn, roofline_plot
from tilework.tools.report.timeline import timeline

Result = Mapping[str, Any]
"""One compilation: what `explain` returns; "model", "target", "precision"; "seconds" by phase, how many kernels were
"compiled" and "cached"; and the "run", which `time_kernels` returns, or None where nothing was timed."""

DATA = '<script type="application/json" id="data">'
"""How a page begins the part that `read_page` reads again."""


def compile_page(results: Sequence[Result]) -> str:
    """The document for one compilation, or for two."""
    title = " and ".join(dict.fromkeys(str(result["model"]) for result in results))
    content: list[Element] = [
        element("button", "light or dark", class_="theme"),
        element("h1", f"Tilework: {title}, compiled"),
    ]
    if len(results) == 2:
        content += _comparison(*results)
    class_ = "results beside" if len(results) == 2 else "results"
    titles = ["First: {}", "Second: {}"] if len(results) == 2 else ["{}"]
    sections = [_section(result, title.format(result["model"])) for result, title in zip(results, titles, strict=True)]
    content.append(element("div", *sections, class_=class_))
    text = json.dumps([{**result, "facts": _facts(result)} for result in results]).replace("</", "<\\/")
    data = element("script", text, type="application/json", id="data")
    program = element("script", (HERE / "explorer.js").read_text(encoding="utf-8"))
    return document(f"Tilework: {title}", content, [data, program], class_="wide")


def read_page(path: Path) -> Result:
    """The compilation that a page shows. Raises TileworkError for a file that is no such page, or one of two."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TileworkError(f"cannot read {path}: {getattr(error, 'strerror', 'it is no text')}") from None
    start = text.find(DATA)
    if start < 0:
        raise TileworkError(f"{path} is no page that tilework compile --report wrote")
    results: list[Result] = json.JSONDecoder().raw_decode(text, start + len(DATA))[0]
    if len(results) != 1:
        raise TileworkError(f"{path} shows two compilations already: give pages of one")
    [result] = results
    if result["schema"] != SCHEMA:
        raise TileworkError(f"{path} has schema {result['schema']}, this Tilework reads {SCHEMA}: compile again")
    return result


# ---- One compilation -------------------------------------------------------------------------------------------------


def _section(result: Result, title: str) -> Element:
    measured = _measured(result)
    return element(
        "section",
        element("h2", title),
        element("p", f"{result['target']}; precision {result['precision']}", class_="note target"),
        _summary(result),
        element("p", element("input", type="search", placeholder="search operators and kernels")),
        element(
            "div",
            graph_drawing(result["nodes"], result["edges"], _shares(result, measured)),
            element("div", element("p", "Click on a group of operators: what it became is shown here.", class_="note"),
                    class_="panel"),
            class_="explorer",
        ),
        *_roofline(result, measured),
        *_memory(result),
        _phases(result),
        _apart(result),
        class_="result",
    )  # fmt: skip


def _summary(result: Result) -> Element:
    program, run = result["program"], result["run"]
    timed = "not timed: it is not for this machine" if run is None else f"{_milliseconds(run):.3f} ms in kernels"
    text = (
        f"{len(program['calls'])} calls of {len(result['texts'])} kernels, {program['flops'] / 1e6:.1f} million "
        f"operations; {timed}. Drag the graph to move it, turn the wheel to zoom, double-click to see all."
    )
    return element("p", text, class_="note")


def _milliseconds(run: Mapping[str, Any]) -> float:
    return sum(call["time"] for call in run["calls"]) / 1e3


def _measured(result: Result) -> list[Measured]:
    run = result["run"]
    return [] if run is None or not run["calls"] else measured_kernels(result, run)


def _shares(result: Result, measured: Sequence[Measured]) -> dict[int, float]:
    """The share of the time of each node's calls; calls and nodes stand in the same order of program text."""
    if not measured:
        return {}
    times, everything = defaultdict[int, float](float), sum(call["time"] for call in result["run"]["calls"])
    for call, taken in zip(result["program"]["calls"], result["run"]["calls"], strict=True):
        if call["node"] is not None:
            times[call["node"]] += taken["time"] / everything
    return times


def _roofline(result: Result, measured: Sequence[Measured]) -> list[Element]:
    if not measured:
        return []
    threads, calls = result["run"]["threads"], result["run"]["calls"]
    caption = f"On {threads} threads: a dot is a kernel, its area its time; blue where arithmetic is the limit."
    plots = [figure(caption, roofline_plot(measured, Roofline(**result["run"]["limits"])))] if drawn(measured) else []
    return [
        *plots,
        figure("When each kernel runs, in microseconds.", timeline(result["program"]["calls"], calls, measured)),
    ]


def _memory(result: Result) -> list[Element]:
    buffers, calls = result["program"]["buffers"], result["program"]["calls"]
    if not buffers or not calls:
        return []
    named = [{**b, "writer": calls[b["first"]]["source"] or calls[b["first"]]["kernel"]} for b in buffers]
    caption = f"The arena of {arena_bytes(buffers)} bytes: which temporary lies where during which kernel call."
    return [figure(caption, memory_plan(named, len(calls)))]


def _phases(result: Result) -> Element:
    rows = [[name, f"{seconds:.2f}"] for name, seconds in result["seconds"].items()]
    note = f"{result['compiled']} kernels were compiled, {result['cached']} came from the cache."
    return element("details", element("summary", f"Seconds of each phase; {note}"), table(["phase", "seconds"], rows))


def _apart(result: Result) -> Element:
    lines = [element("li", each["text"]) for each in result["apart"]]
    title = f"{len(lines)} pairs of neighbours are not fused"
    return element("details", element("summary", title), element("ul", *lines))


# ---- What the panel shows --------------------------------------------------------------------------------------------


def _facts(result: Result) -> dict[str, str]:
    """A sentence for each kernel: what it does, and where it lies under the roofline."""
    measured = {kernel.name: kernel for kernel in _measured(result)}
    work = {call["kernel"]: call for call in result["program"]["calls"]}
    return {name: _fact(work.get(name), measured.get(name)) for name in result["texts"]}


def _fact(work: Mapping[str, Any] | None, measured: Measured | None) -> str:
    if work is None:
        return "It is called inside of a loop."
    text = f"A call does {work['flops']} operations on {work['bytes']} bytes."
    if measured is None:
        return text
    rate = f"{measured.rate / 1e9:.1f} of {measured.roofline.attainable(measured.intensity) / 1e9:.1f} GFLOP/s"
    reached = f"{rate} that the roofline allows at {measured.intensity:.1f} FLOP/byte ({measured.bound} is the limit)"
    calls = "Its call takes" if measured.calls == 1 else f"Its {measured.calls} calls take"
    return f"{text} {calls} {1e6 * measured.seconds:.1f} us: {reached}."


# ---- Two compilations ------------------------------------------------------------------------------------------------


def _comparison(first: Result, second: Result) -> list[Element]:
    """A table of the kernels of both, by name, the largest first; and of the phases."""
    times = [{k.name: 1e6 * k.seconds for k in _measured(result)} for result in (first, second)]
    names = sorted({**times[0], **times[1]}, key=lambda name: -max(t.get(name, 0.0) for t in times))
    head = ["kernel", "first, us", "second, us", "second / first"]
    kernels = table(head, [_compared(name, *times) for name in names])
    seconds = [result["seconds"] for result in (first, second)]
    phases = table(["phase", "first, s", "second, s", "second / first"],
                   [_compared(name, *seconds) for name in {**seconds[0], **seconds[1]}])  # fmt: skip
    return [kernels, phases] if names else [phases]


def _compared(name: str, first: Mapping[str, float], second: Mapping[str, float]) -> list[str]:
    a, b = first.get(name), second.get(name)
    ratio = f"{b / a:.2f}" if a and b is not None else ""
    return [name, *("" if value is None else f"{value:.2f}" for value in (a, b)), ratio]
