"""`tilework report`: a page that is well formed, needs nothing else, and shows what was measured."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from html_pages import Page

from tilework.tools.bench.measure import SCHEMA
from tilework.tools.bench.roofline import Measured, Roofline
from tilework.tools.cli import main
from tilework.tools.report.markup import element, html
from tilework.tools.report.memory_plan import memory_plan
from tilework.tools.report.page import report_page
from tilework.tools.report.roofline_plot import LogAxis, roofline_plot
from tilework.tools.report.timeline import round_step


def engine(milliseconds: float, **more: Any) -> dict[str, Any]:
    return {"version": "1.0", "milliseconds": {"median": milliseconds, "least": milliseconds, "runs": 3}, **more}


def measurements(kernels: bool = True, names: tuple[str, ...] = ("op:C3",)) -> dict[str, Any]:
    """Two calls of one kernel that computes, one of a kernel that copies."""
    run: dict[str, Any] = {
        "threads": 2,
        "engines": {
            "tilework": engine(0.04),
            "onnxruntime": engine(0.08, difference=3e-7),
            "openvino": {"error": "no such operator"},
        },
        "limits": {"flops_per_second": 100e9, "bytes_per_second": 10e9},
    }
    if kernels:
        run["calls"] = [{"start": 0.0, "time": 10.0}, {"start": 10.0, "time": 5.0}, {"start": 16.0, "time": 10.0}]
    program = {
        "flops": 1_000_000,
        "calls": [
            {"kernel": "conv<1>", "source": "first", "flops": 500_000, "bytes": 4000},
            {"kernel": "copy", "source": None, "flops": 0, "bytes": 8000},
            {"kernel": "conv<1>", "source": "last", "flops": 500_000, "bytes": 4000},
        ],
        "buffers": [
            {"name": "a", "offset": 0, "bytes": 4096, "first": 0, "last": 1},
            {"name": "b", "offset": 4096, "bytes": 2048, "first": 1, "last": 2},
        ],
    }
    machine = {
        "date": "2026-01-01",
        "cpu": "znver4",
        "cores": 2,
        "vector_bits": 512,
        "platform": "Linux",
        "python": "3.11",
        "packages": {"tilework": "0.1.0"},
    }
    models = [{"model": name, "program": program, "inference": [run]} for name in names]
    return {"schema": SCHEMA, "machine": machine, "models": models}


def test_the_page_shows_what_was_measured():
    page = Page(report_page(measurements()))
    assert page.elements["svg"] == 3  # roofline, timeline, memory plan
    assert page.elements["circle"] == 1 and page.elements["rect"] == 3 + 2
    assert page.links == [] and page.elements["script"] == 0
    for text in ("op:C3", "0.040", "2.00", "3.0e-07", "conv<1> (first): 10.0 us from 0.0 us on", "25.0", "25 %"):
        assert any(text in part for part in page.text), text
    assert "a: 4096 bytes at 0, call 0 to 1" in page.text


def test_without_kernels_there_are_engines_and_memory():
    page = Page(report_page(measurements(kernels=False)))
    assert page.elements["svg"] == 1 and page.elements["table"] == 1


def test_several_models_are_compared():
    page = Page(report_page(measurements(kernels=False, names=("op:C3", "op:D1"))))
    assert "All models" in page.text and page.elements["circle"] == 2


def test_the_command(tmp_path, capsys):
    source = tmp_path / "measured.json"
    source.write_text(json.dumps(measurements()))
    assert main(["report", str(source), "-o", str(tmp_path / "page.html")]) == 0
    assert main(["report", str(source)]) == 0
    assert capsys.readouterr().out.splitlines() == [str(tmp_path / "page.html"), str(tmp_path / "measured.html")]
    assert (tmp_path / "page.html").read_text() == (tmp_path / "measured.html").read_text()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "in.json is not JSON: give what tilework bench --json wrote"),
        ("[1]", "in.json was not written by tilework bench --json"),
        ('{"schema": 1}', f"in.json has schema 1, this Tilework reads {SCHEMA}: measure again"),
        (
            f'{{"schema": {SCHEMA}, "compiling": {{}}}}',
            "in.json holds no model: tilework bench --compile measures none",
        ),
        (None, "cannot read in.json: No such file or directory"),
    ],
)
def test_refused(content, message, tmp_path: Path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        Path("in.json").write_text(content)
    assert main(["report", "in.json"]) == 1
    assert capsys.readouterr().err == f"tilework: error: {message}\n"


def test_a_page_that_cannot_be_written(tmp_path, capsys):
    source = tmp_path / "in.json"
    source.write_text(json.dumps(measurements()))
    assert main(["report", str(source), "-o", str(tmp_path / "gone" / "x.html")]) == 1
    assert "cannot write" in capsys.readouterr().err


def test_markup_is_escaped_and_numbers_are_short():
    text = html(element("p", "a < b ", element("b", "&"), " c", class_="x", stroke_width=1.20001))
    assert text == '<!doctype html>\n<p class="x" stroke-width="1.2">a &lt; b <b>&amp;</b> c</p>\n'


def test_axis():
    axis = LogAxis([0.3, 70.0], 0.0, 100.0)
    assert axis.ticks == pytest.approx([0.2, 0.5, 1, 2, 5, 10, 20, 50, 100])
    assert (axis.at(0.2), axis.at(100.0)) == pytest.approx((0.0, 100.0))


def test_a_dot_on_the_roof():
    """A kernel at the machine's peak lies on the line's right part."""
    roofline = Roofline(100e9, 10e9)
    kernel = Measured("k", 1, flops=10**9, bytes=10**7, seconds=0.01, roofline=roofline)
    drawing = roofline_plot([kernel], roofline)
    [dot] = drawing.iter("circle")
    [roof] = drawing.iter("polyline")
    corners = [tuple(map(float, corner.split(","))) for corner in re.split(" ", roof.attrib["points"])]
    assert float(dot.attrib["cy"]) == corners[1][1] == corners[2][1]
    assert corners[1][0] < float(dot.attrib["cx"]) <= corners[2][0]


def test_buffers_that_follow_each_other_touch():
    low, high = (box.attrib for box in memory_plan(measurements()["models"][0]["program"]["buffers"], 3).iter("rect"))
    assert float(high["y"]) + float(high["height"]) == pytest.approx(float(low["y"]))
    assert float(high["x"]) > float(low["x"]) and float(high["width"]) == pytest.approx(float(low["width"]))


@pytest.mark.parametrize(("least", "step"), [(1.0, 1.0), (1.1, 2.0), (3.0, 5.0), (7.0, 10.0), (0.03, 0.05), (400, 500)])
def test_round_steps(least, step):
    assert round_step(least) == pytest.approx(step)
