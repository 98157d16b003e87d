"""Draw measurements of `tilework bench`, records of `tilework tune`, or two compilations as one HTML page."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from tilework.algebra.errors import TileworkError, UsageError
from tilework.tools.bench.measure import SCHEMA
from tilework.tools.files import check_writable
from tilework.tools.report.compile_page import compile_page, read_page
from tilework.tools.report.page import report_page
from tilework.tools.report.tuning_page import tuning_page
from tilework.tuning.records import read_records


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `tilework report`."""
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="what `tilework bench MODEL --kernels --json FILE.json` wrote, or `tilework tune --records FILE.jsonl`; "
        "or two pages of `tilework compile --report FILE.html`, to show them side by side",
    )
    parser.add_argument("-o", "--output", metavar="FILE.html", help="where to write the page; else beside the file")


def run(options: argparse.Namespace) -> int:
    """Read the measurements, write the page, say where."""
    sources = [Path(file) for file in options.files]
    page = _place(sources) if options.output is None else Path(options.output)
    text = _page(sources)
    check_writable(page)
    page.write_text(text, encoding="utf-8")
    print(page)
    return 0


def _place(sources: Sequence[Path]) -> Path:
    """Where a page goes by default: beside the first file, with the names of all."""
    return sources[0].with_name(f"{'-'.join(source.stem for source in sources)}.html")


def _page(sources: Sequence[Path]) -> str:
    """The page for two pages of compilations, or for one file of measurements, or of records, which end in `.jsonl`."""
    pages = [source for source in sources if source.suffix == ".html"]
    if pages:
        if len(sources) != 2 or len(pages) != 2:
            raise UsageError("pages of tilework compile --report are shown side by side: give two of them")
        return compile_page([read_page(page) for page in pages])
    if len(sources) > 1:
        raise UsageError("give one file of measurements or records; two are taken of pages that end in .html")
    [source] = sources
    if source.suffix != ".jsonl":
        return report_page(read_measurements(source))
    records = list(read_records(source))
    if not records:
        raise TileworkError(f"{source} holds no record of a trial")
    return tuning_page(records)


def read_measurements(path: Path) -> Mapping[str, Any]:
    """The models in a file. Raises TileworkError where it is not what this Tilework's `bench` writes of models."""
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TileworkError(f"cannot read {path}: {error.strerror}") from None
    except ValueError:
        raise TileworkError(f"{path} is not JSON: give what tilework bench --json wrote") from None
    if not isinstance(data, dict) or "schema" not in data:
        raise TileworkError(f"{path} was not written by tilework bench --json")
    if data["schema"] != SCHEMA:
        raise TileworkError(f"{path} has schema {data['schema']}, this Tilework reads {SCHEMA}: measure again")
    if "models" not in data:
        raise TileworkError(f"{path} holds no model: tilework bench --compile measures none")
    return cast("Mapping[str, Any]", data)
