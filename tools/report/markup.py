"""HTML and SVG elements, escaped and closed by the standard library."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element, tostring

Content = Element | str


def element(tag: str, *content: Content, **attributes: object) -> Element:
    """One element. `class_` is the attribute class, `text_anchor` is text-anchor; numbers are written to 0.01."""
    made = Element(tag, {name.rstrip("_").replace("_", "-"): _text(value) for name, value in attributes.items()})
    last: Element | None = None
    for part in content:
        if isinstance(part, Element):
            made.append(part)
            last = part
        elif last is None:
            made.text = (made.text or "") + part
        else:
            last.tail = (last.tail or "") + part
    return made


def _text(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Element:
    """A table; the first cell of a row is its head."""
    body = (element("tr", element("th", row[0]), *(element("td", cell) for cell in row[1:])) for row in rows)
    return element(
        "table",
        element("thead", element("tr", *(element("th", name) for name in head))),
        element("tbody", *body),
    )


def figure(caption: str, drawing: Element) -> Element:
    """A drawing with a sentence below it."""
    return element("figure", drawing, element("figcaption", caption))


def svg(width: float, height: float, parts: Iterable[Element]) -> Element:
    """A drawing of that many pixels, scaled down where there is less room."""
    return element("svg", *parts, viewBox=f"0 0 {width:.0f} {height:.0f}", width=width, height=height, role="img")


def label(text: str, x: float, y: float, anchor: str = "start", class_: str = "label") -> Element:
    """Text in a drawing, (x, y) being on its base line."""
    return element("text", text, x=x, y=y, text_anchor=anchor, class_=class_)


def box(x: float, y: float, width: float, height: float, class_: str, title: str) -> Element:
    """A rectangle with a text that shows under the mouse."""
    return element("rect", element("title", title), x=x, y=y, width=width, height=height, class_=class_)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Element:
    """A line from one point to another."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def html(page: Element) -> str:
    """The whole document as text."""
    return "<!doctype html>\n" + tostring(page, encoding="unicode", method="html") + "\n"
