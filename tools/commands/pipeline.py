"""Show the programs of a file's quoted functions and optimized pipelines, or write them at every level."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from tilework.algebra.errors import TileworkError, UsageError
from tilework.dialects.support.registration import make_context
from tilework.driver.choose_targets import choose_targets
from tilework.driver.ir_printer import PrintingOptions, ir_text
from tilework.driver.levels import LARGEST_CONSTANT, write_level, write_levels
from tilework.driver.phases import run_phase
from tilework.frontends.quoted.in_file import Stage, imported_file, stages_of
from tilework.tools.model_source import read_array


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `tilework pipeline`."""
    parser.add_argument("file", metavar="FILE.py", help="a file of Python, which is imported")
    parser.add_argument(
        "--rows",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="rows for a table that a function takes, or X and y for what is fitted, of Parquet, CSV or numpy; "
        "by default what the file itself calls so; repeatable",
    )
    parser.add_argument(
        "--dump-levels",
        metavar="DIR",
        help="write each program as imported, optimized, and at every level below",
    )


def run(options: argparse.Namespace) -> int:
    """Import the file, and print or write its programs."""
    rows = _rows(options.rows)
    stages = stages_of(imported_file(Path(options.file)), rows)
    printing = PrintingOptions(elide_larger_than=LARGEST_CONSTANT)
    if options.dump_levels is None:
        for stage in stages:
            if not stage.is_compiled:
                print(f"// {stage.name}: {stage.where}\n{ir_text(stage.module, printing)}\n")
        return 0
    counts: dict[str, int] = {}
    for stage in stages:
        counts[stage.name] = counts.get(stage.name, 0) + 1
        for path in _written(stage, Path(options.dump_levels) / stage.name, counts[stage.name], printing):
            print(path)
    return 0


def _written(stage: Stage, folder: Path, number: int, printing: PrintingOptions) -> list[Path]:
    """The files of a program: one, or all levels below where native code is made of it."""
    if not stage.is_compiled:
        return [write_level(folder / f"{number}-{stage.where}.mlir", ir_text(stage.module, printing) + "\n")]
    run_phase("optimize-tables", make_context(), stage.module)
    choose_targets(stage.module, {})
    return write_levels(stage.module, folder / f"{number}-compiled", precision="strict")


def _rows(words: Sequence[str]) -> dict[str, Any]:
    """The rows that are given in files, by name."""
    found: dict[str, Any] = {}
    for word in words:
        name, equals, path = word.partition("=")
        if not equals or not name:
            raise UsageError(f"--rows {word}: write --rows NAME=FILE")
        if name in found:
            raise UsageError(f"--rows {name} is given twice")
        found[name] = _read(path)
    return found


def _read(path: str) -> Any:
    """The rows in a file. Raises TileworkError where there are none."""
    kind = Path(path).suffix.lower()
    if kind == ".npy":
        return read_array(path)
    if kind not in (".parquet", ".csv"):
        raise UsageError(f"--rows: {path} is no .parquet, .csv or .npy file")
    try:
        reader = import_module("pyarrow.parquet" if kind == ".parquet" else "pyarrow.csv")
        return (reader.read_table if kind == ".parquet" else reader.read_csv)(path)
    except ImportError:
        raise TileworkError(f"cannot read {path}: install pyarrow (pip install tilework[pipelines])") from None
    except (OSError, ValueError) as error:
        raise TileworkError(f"cannot read {path}: {str(error).splitlines()[0]}") from None
