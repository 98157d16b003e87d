"""The page: every model in all engines, and if kernels were timed their roofline and timeline; the memory plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from xml.etree.ElementTree import Element

from tilework.tools.bench.roofline import Measured, Roofline, measured_kernels, whole_model
from tilework.tools.bench.table import inference_rows, kernel_rows, limits_text
from tilework.tools.report.document import document
from tilework.tools.report.markup import element, figure, table
from tilework.tools.report.memory_plan import arena_bytes, memory_plan
from tilework.tools.report.roofline_plot import drawn, roofline_plot
from tilework.tools.report.timeline import timeline


def report_page(measured: Mapping[str, Any]) -> str:
    """The document for what `tilework bench --json` saved."""
    models: Sequence[Mapping[str, Any]] = measured["models"]
    content = [element("h1", "Tilework, measured"), _machine(measured["machine"])]
    if len(models) > 1:
        content += _all_models(models)
    content += [part for model in models for part in _model(model)]
    return document("Tilework, measured", content)


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
