"""`tilework compile --report`: the page of a compilation says what became of every group, also in a browser."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from html_pages import Page
from onnx_models import model, node

from tilework.tools.cli import main
from tilework.tools.report.compile_page import compile_page, read_page
from tilework.tools.report.graph_drawing import graph_drawing, layers_of


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a product whose relu goes into its group, and whose softmax does not."""
    folder = tmp_path_factory.mktemp("report")
    nodes = [node("MatMul", "x w", "p"), node("Relu", "p", "r"), node("Softmax", "r", "y")]
    made = model(nodes, {"x": ["N", 16]}, "y", {"w": np.ones((16, 8), np.float32)})
    (folder / "small.onnx").write_bytes(made.SerializeToString())
    command = ["compile", str(folder / "small.onnx"), "-o", str(folder / "small.tw")]
    assert main([*command, "--report", str(folder / "small.html"), "--dim", "N=32"]) == 0
    return folder / "small.html"


def labels(result: Any) -> list[str]:
    return [each["label"] for each in result["nodes"]]


def test_the_page_holds_the_graph_and_every_kernel_at_every_level(page: Path):
    result, shown = read_page(page), Page(page.read_text())
    assert labels(result)[0] == "x" and labels(result)[-1] == "y" and len(labels(result)) == 4
    product, softmax = result["nodes"][1:3]
    assert "relu" in product["label"] and "softmax" in softmax["label"]
    assert result["edges"] == [[0, 1], [1, 2], [2, 3]]
    assert set(product["kernels"] + softmax["kernels"]) == set(result["texts"])
    for name, texts in result["texts"].items():
        assert list(texts) == ["te", "schedule", "loop", "asm"]
        assert f"te.kernel @{name}(" in texts["te"] and f"schedule.sequence @{name}" in texts["schedule"]
        assert f"loop.kernel @{name} " in texts["loop"] and f"{name}:" in texts["asm"]
    assert shown.links == [] and shown.elements["script"] == 2
    assert shown.elements["path"] == 3 and shown.elements["circle"] == 2
    assert any(f", written by {product['label']}: " in text for text in shown.text)


def test_neighbours_that_stay_apart_have_a_reason(page: Path):
    [apart] = read_page(page)["apart"]
    assert apart["nodes"] == [1, 2] and apart["text"].startswith("relu")
    assert apart["text"] in Page(page.read_text()).text


def test_times_and_work_are_those_of_the_sizes_that_are_asked_for(page: Path):
    result = read_page(page)
    first, second = result["program"]["calls"]
    assert (first["node"], second["node"]) == (1, 2) and first["flops"] >= 2 * 32 * 16 * 8
    assert len(result["run"]["calls"]) == 2 and all(call["time"] >= 0 for call in result["run"]["calls"])
    assert result["run"]["limits"].keys() == {"flops_per_second", "bytes_per_second"}
    facts = json.loads(re.findall(r'id="data">(.*?)</script>', page.read_text(), re.DOTALL)[0])[0]["facts"]
    assert "that the roofline allows at" in facts[first["kernel"]]


def test_two_compilations_side_by_side(page: Path, tmp_path: Path, capsys):
    both = tmp_path / "both.html"
    assert main(["report", str(page), str(page), "-o", str(both)]) == 0
    shown = Page(both.read_text())
    assert shown.elements["section"] == 2 and "second / first" in shown.text
    assert {"First: small", "Second: small", "1.00"} <= set(shown.text)
    assert capsys.readouterr().out == f"{both}\n"
    assert main(["report", str(page), str(both)]) == 1
    assert capsys.readouterr().err == f"tilework: error: {both} shows two compilations already: give pages of one\n"


def test_what_is_for_another_machine_is_not_timed(tmp_path: Path):
    nodes = [node("Relu", "x", "y")]
    (tmp_path / "m.onnx").write_bytes(model(nodes, {"x": [4]}, "y").SerializeToString())
    command = ["compile", str(tmp_path / "m.onnx"), "-o", str(tmp_path / "m.tw"), "--target", "llvm -mcpu=haswell"]
    assert main([*command, "--report", str(tmp_path / "m.html")]) == 0
    assert read_page(tmp_path / "m.html")["run"] is None
    assert any("not timed" in text for text in Page((tmp_path / "m.html").read_text()).text)


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["report", "a.html"], 2, "pages of tilework compile --report are shown side by side: give two of them"),
        (["report", "a.html", "b.json"], 2, "pages of tilework compile --report are shown side by side: give two"),
        (["report", "a.json", "b.json"], 2, "give one file of measurements or records; two are taken of pages"),
        (["report", "a.html", "a.html"], 1, "a.html is no page that tilework compile --report wrote"),
        (["report", "old.html", "old.html"], 1, "old.html has schema 0, this Tilework reads 1: compile again"),
        (["report", "gone.html", "a.html"], 1, "cannot read gone.html: No such file or directory"),
        (["compile", "model.onnx", "--dim", "N=4"], 2, "--dim: it is for --report"),
        (["compile", "model.onnx", "--report", "gone/c.html"], 1, "cannot write gone/c.html"),
    ],
)
def test_refused(arguments: list[str], status: int, message: str, tmp_path: Path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.html").write_text("<p>another page</p>")
    Path("old.html").write_text('<script type="application/json" id="data">[{"schema": 0}]</script>')
    assert main(arguments) == status
    [line] = capsys.readouterr().err.splitlines()
    assert message in line


def test_texts_cannot_end_the_script(page: Path, tmp_path: Path):
    result = {**read_page(page), "model": "</script><b>bold</b>"}
    (tmp_path / "page.html").write_text(compile_page([result]))
    assert Page((tmp_path / "page.html").read_text()).elements["b"] == 0
    assert read_page(tmp_path / "page.html")["model"] == result["model"]


def test_layers_go_by_the_longest_way_and_cross_little():
    assert layers_of(4, [[0, 1], [1, 2], [0, 2], [2, 3]]) == [[0], [1], [2], [3]]
    crossed = layers_of(6, [[0, 1], [0, 2], [1, 4], [2, 3], [3, 5], [4, 5]])
    assert crossed[1].index(1) == crossed[2].index(4) and crossed[1].index(2) == crossed[2].index(3)
    assert layers_of(1, []) == [[0]]


def test_a_drawing_of_two_nodes():
    nodes = [{"id": i, "kind": "group", "label": "a" * 99, "operators": [], "kernels": [f"k{i}"]} for i in range(2)]
    drawing = graph_drawing(nodes, [[0, 1]], {1: 0.5})
    first, second = (each for each in drawing.iter("g"))
    assert len(first.findall("rect")) == 1 and len(second.findall("rect")) == 2  # the share of the time is a red one
    assert float(first.find("rect").attrib["y"]) < float(second.find("rect").attrib["y"])
    assert max(len(text.text) for text in drawing.iter("text")) < 50


# ---- In a browser ----------------------------------------------------------------------------------------------------

PLAY = """<script>
const seen = {}, all = (selector) => [...document.querySelectorAll(selector)];
all(".node")[1].dispatchEvent(new MouseEvent("click"));
seen.panel = document.querySelector(".panel").textContent;
seen.levels = all(".panel button").map((button) => {
  button.click();
  return document.querySelector(".panel pre").textContent;
});
seen.chosen = all(".chosen").map((each) => each.tagName);
const input = document.querySelector("input"), svg = document.querySelector("svg.graph");
input.value = "softmax";
input.dispatchEvent(new Event("input"));
seen.dimmed = all(".node.dimmed").length;
input.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter" }));
seen.found = document.querySelector(".panel h3").textContent;
const before = svg.viewBox.baseVal.width;
svg.dispatchEvent(new WheelEvent("wheel", { deltaY: -500, clientX: 200, clientY: 400 }));
seen.zoom = svg.viewBox.baseVal.width / before;
const left = svg.viewBox.baseVal.x;
svg.dispatchEvent(new PointerEvent("pointerdown", { clientX: 100, clientY: 300 }));
svg.dispatchEvent(new PointerEvent("pointermove", { clientX: 150, clientY: 300 }));
seen.moved = svg.viewBox.baseVal.x < left;
svg.dispatchEvent(new MouseEvent("dblclick"));
const paper = () => getComputedStyle(document.body).backgroundColor;
seen.papers = [paper()];
document.querySelector(".theme").click();
seen.papers.push(paper());
document.title = JSON.stringify(seen);
</script>"""


def browser() -> str:
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    found = next((path for name in names if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("no Chromium is installed")
    return found


def test_what_is_clicked_is_shown(page: Path, tmp_path: Path):
    (tmp_path / "played.html").write_text(page.read_text().replace("</body>", f"{PLAY}</body>"))
    command = [browser(), "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    command += ["--dump-dom", (tmp_path / "played.html").as_uri()]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    seen, result = json.loads(unescape(re.findall("<title>(.*?)</title>", shown, re.DOTALL)[0])), read_page(page)
    [kernel] = result["nodes"][1]["kernels"]
    assert seen["levels"] == list(result["texts"][kernel].values())
    assert "Not fused" in seen["panel"] and result["apart"][0]["text"] in seen["panel"]
    assert seen["chosen"] == ["g", "circle"]
    assert seen["dimmed"] == 3 and "softmax" in seen["found"]
    assert seen["zoom"] == pytest.approx(np.exp(-1), rel=1e-3) and seen["moved"]
    assert len(set(seen["papers"])) == 2
