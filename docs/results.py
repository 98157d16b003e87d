"""Tables of measurements for the pages, from the files in `docs/results/`.

In a page, `<!-- results FILE: ID ... -->` stands above tables of a file, each with what it is about, and
`<!-- summary of FILE: ID ... -->` above one with a row for each table of networks; `<!-- end -->` stands below.
"""

from __future__ import annotations

import json
import re
from math import exp, log
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).with_name("results")
PLACE = re.compile(r"(<!-- (results|summary of) ([\w-]+): ([\w -]+) -->\n).*?(<!-- end -->\n)", re.DOTALL)
ENGINES = ("onnxruntime", "openvino")
"""The columns of networks that hold ratios, once for one thread and once for two."""

Table = dict[str, Any]


def page_with_results(page: Path) -> str:
    """The page with the tables that it asks for. Raises KeyError for a table that its file does not have."""
    return PLACE.sub(_filled, page.read_text(encoding="utf-8"))


def tables_of(file: str) -> dict[str, Table]:
    """The tables of a file of results, by their ids."""
    content = json.loads((FOLDER / f"{file}.json").read_text(encoding="utf-8"))
    return {table["id"]: table for table in content["tables"]}


def summary_row(table: Table) -> list[str]:
    """One machine: how many networks, and the mean and the least ratio to the faster engine on one and two threads."""
    columns = table["columns"]
    ratios: list[list[float]] = [[], []]
    for row in table["rows"]:
        for threads, found in enumerate(ratios):
            places = [[i for i, name in enumerate(columns) if name == engine][threads] for engine in ENGINES]
            found.append(min(float(row[place]) for place in places))
    figures = [f"{value:.2f}" for found in ratios for value in (_geometric_mean(found), min(found))]
    return [table["machine"], str(len(table["rows"])), *figures]


def _filled(place: re.Match[str]) -> str:
    begin, kind, file, ids, end = place.groups()
    tables = [tables_of(file)[name] for name in ids.split()]
    if kind == "results":
        shown = "\n\n".join(f"{table['about']}\n\n{_lines(table['columns'], table['rows'])}" for table in tables)
    else:
        head = ["machine", "networks", "one thread, mean", "least", "two threads, mean", "least"]
        shown = _lines(head, [summary_row(table) for table in tables])
    return f"{begin}\n{shown}\n\n{end}"


def _lines(columns: list[str], rows: list[list[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _geometric_mean(values: list[float]) -> float:
    return exp(sum(map(log, values)) / len(values))
