"""The page: every model in all engines, and if kernels were timed their roofline and timeline; the memory plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import Element

from tilework.tools.bench.roofline import Measured, Roofline, measured_kernels, whole_model
from tilework.tools.bench.table import inference_rows, kernel_rows, limits_text
from tilework.tools.report.markup import element, figure, html, table
from tilework.tools.report.memory_plan import arena_bytes, memory_plan
from tilework.tools.report.roofline_plot import drawn, roofline_plot
from tilework.tools.report.timeline import timeline

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1000px; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1, h2, h3 { font-weight: 600; line-height: 1.2; } h2 { margin-top: 3rem; border-bottom: 1px solid #ccc; }
table { border-collapse: collapse; margin: 1rem 0; font-variant-numeric: tabular-nums; font-size: 13px; }
th, td { padding: 2px 10px; text-align: right; } th:first-child { text-align: left; }
thead th { border-bottom: 1px solid #999; } tbody th { font-weight: normal; }
tbody tr:hover { background: #f3f3f3; } .note, figcaption { color: #666; font-size: 13px; }
figure { margin: 1.5rem 0; } svg { max-width: 100%; height: auto; }
.label { font: 11px system-ui, sans-serif; fill: #444; pointer-events: none; }
.grid { stroke: #e4e4e4; } .roof { fill: none; stroke: #222; stroke-width: 1.5; }
.compute { fill: #4477aa; fill-opacity: .75; } .memory { fill: #ee6677; fill-opacity: .75; }
rect { stroke: #fff; stroke-width: .5; }
.buffer0 { fill: #bbccee; } .buffer1 { fill: #ccddaa; } .buffer2 { fill: #eeeebb; }
.buffer3 { fill: #ffcccc; } .buffer4 { fill: #cceeff; } .buffer5 { fill: #dddddd; }
"""


def report_page(measured: Mapping[str, Any]) -> str:
    """The document for what `tilework bench --json` saved."""
    models: Sequence[Mapping[str, Any]] = measured["models"]
    content = [element("h1", "Tilework, measured"), _machine(measured["machine"])]
    if len(models) > 1:
        content += _all_models(models)
    content += [part for model in models for part in _model(model)]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width"),
        element("title", "Tilework, measured"),
        element("style", STYLE),
    )
    return html(element("html", head, element("body", *content), lang="en"))


def _machine(machine: Mapping[str, Any]) -> Element:
    packages = ", ".join(f"{name} {version}" for name, version in machine["packages"].items())
    text = (
        f"{machine['date']}: {machine['cpu']}, {machine['cores']} cores, vectors of {machine['vector_bits']} bits; "
        f"{machine['platform']}; Python {machine['python']}, {packages}"
    )
    return element("p", text, class_="note")


def _all_models(models: Sequence[Mapping[str, Any]]) -> list[Element]:
    """One plot for each number of threads, with a dot for each model."""
    content: list[Element] = [element("h2", "All models")]
    for place, run in enumerate(models[0]["inference"]):
        runs = [(model, model["inference"][place]) for model in models]
        points = [replace(whole_model(model, own, "tilework"), name=model["model"]) for model, own in runs]
        points.sort(key=lambda point: -point.seconds)
        content += _roofline(points, points[0].roofline, f"{_threads(run)}: a dot is a model run by Tilework")
    return content


def _model(result: Mapping[str, Any]) -> list[Element]:
    content: list[Element] = [element("h2", result["model"])]
    for run in result["inference"]:
        head, *rows = inference_rows(result, run)
        content.append(table(head, rows))
        content.append(element("p", limits_text(whole_model(result, run, "tilework")), class_="note"))
        content += _kernels(result, run)
    buffers, calls = result["program"]["buffers"], len(result["program"]["calls"])
    if buffers and calls:
        caption = f"The arena of {arena_bytes(buffers)} bytes: which temporary lies where during which kernel call."
        content.append(figure(caption, memory_plan(buffers, calls)))
    return content


def _kernels(result: Mapping[str, Any], run: Mapping[str, Any]) -> list[Element]:
    """What is known of single kernels; nothing where they were not timed."""
    if not run.get("calls"):
        return []
    kernels = measured_kernels(result, run)
    head, *rows = kernel_rows(result, run)
    caption = f"{_threads(run)}: when each kernel runs, in microseconds; what takes longest is on top."
    return [
        *_roofline(kernels, Roofline(**run["limits"]), f"{_threads(run)}: a dot is a kernel, its area its time"),
        figure(caption, timeline(result["program"]["calls"], run["calls"], kernels)),
        element("details", element("summary", f"{len(kernels)} kernels"), table(head, rows)),
    ]


def _roofline(points: Sequence[Measured], roofline: Roofline, caption: str) -> list[Element]:
    if not drawn(points):
        return []
    colours = "blue where arithmetic is the limit, red where memory is"
    return [figure(f"{caption}; {colours}.", roofline_plot(points, roofline))]


def _threads(run: Mapping[str, Any]) -> str:
    return f"{run['threads']} thread{'s' if run['threads'] > 1 else ''}"
