"""The frame of every page: one HTML document that holds its style and its program, and needs nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import Element

from tilework.tools.report.markup import Content, element, html

HERE = Path(__file__).parent


def document(title: str, content: Sequence[Content], scripts: Sequence[Element] = (), class_: str = "") -> str:
    """A whole document as text. scripts: elements that go to its end. class_: of its body."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width"),
        element("title", title),
        element("style", (HERE / "report.css").read_text(encoding="utf-8")),
    )
    return html(element("html", head, element("body", *content, *scripts, class_=class_), lang="en"))
