"""Pages of HTML, as a browser would read them."""

from __future__ import annotations

from collections import Counter
from html.parser import HTMLParser

VOID = {"input", "meta"}


class Page(HTMLParser):
    """What a page consists of; every element that is opened must be closed."""

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.elements: Counter[str] = Counter()
        self.links: list[str] = []
        self.text: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag] += 1
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)
