"""What `mkdocs` needs to know here: the README is the first page, and pages link to files beside docs/."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"\[([^\]]*)\]\((?!https?:|#)([^)\s]+)\)")


def on_files(files: Files, *, config: Any) -> Files:
    """Add the README as the page `index.md`, its links leading from docs/."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8").replace("](docs/", "](")
    files.append(File.generated(config, "index.md", content=readme))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Files) -> str:
    """Write a link to a file of the repository, which is no page, as the path of that file."""
    return LINK.sub(lambda link: _as_path(link, files), markdown)


def _as_path(link: re.Match[str], files: Files) -> str:
    text, target = link.groups()
    if files.get_file_from_path(target.partition("#")[0]) is not None:
        return link.group()
    path = target.removeprefix("../")
    return f"`{path}`" if text.strip("`") == path else f"{text} (`{path}`)"
