"""Draw what `tilework bench --json` saved, or the records of `tilework tune`, as one HTML page."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from tilework.algebra.errors import TileworkError
from tilework.tools.bench.measure import SCHEMA
from tilework.tools.files import check_writable
from tilework.tools.report.page import report_page
from tilework.tools.report.tuning_page import tuning_page
from tilework.tuning.records import read_records


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `tilework report`."""
    parser.add_argument(
        "file",
        metavar="FILE",
        help="what `tilework bench MODEL --kernels --json FILE.json` wrote, or `tilework tune --records FILE.jsonl`",
    )
    parser.add_argument("-o", "--output", metavar="FILE.html", help="where to write the page; else beside the file")


def run(options: argparse.Namespace) -> int:
    """Read the measurements, write the page, say where."""
    source = Path(options.file)
    page = source.with_suffix(".html") if options.output is None else Path(options.output)
    text = _page(source)
    check_writable(page)
    page.write_text(text, encoding="utf-8")
    print(page)
    return 0


def _page(source: Path) -> str:
    """The page for a file of measurements or of records, which end in `.jsonl`."""
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
