"""Run ONNX's node tests and keep how each ended, of which docs/generate.py makes a page.

    python -m tilework.tools.onnx_tests [--only TEXT] [--processes N] [-o FILE]

Without --only, all of them are run; it lists those that are wrong, and ends with 1 where there are any.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path

import onnx

from tilework.targets.cpu.host import physical_cores
from tilework.tools.onnx_tests.judge import REFUSED, RIGHT, WRONG, Verdict, judge, node_tests

START = "fork" if "fork" in get_all_start_methods() else "spawn"
"""How workers start: where they can, with the tests that were made already."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the tests that the command line asks for."""
    options = _options(arguments)
    names = [name for name in node_tests() if options.only in name]
    verdicts: list[Verdict] = []
    try:
        with ProcessPoolExecutor(options.processes, get_context(START)) as pool:
            for verdict in pool.map(judge, names, chunksize=8):
                verdicts.append(verdict)
    finally:  # whoever interrupts it gets what there is
        if options.output:
            content = {
                "onnx": onnx.__version__,
                "known": len(node_tests()),
                "tests": [asdict(verdict) for verdict in verdicts],
            }
            options.output.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        _print(verdicts, is_part=bool(options.only))
    return int(any(verdict.outcome == WRONG for verdict in verdicts))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tilework.tools.onnx_tests", description="Run ONNX's node tests.")
    parser.add_argument("--only", default="", help="run the tests whose names contain this, and say why each fails")
    parser.add_argument("--processes", type=int, default=physical_cores(), help="how many tests run at once")
    parser.add_argument("-o", "--output", type=Path, help="the file of results")
    return parser.parse_args(arguments)


def _print(verdicts: Sequence[Verdict], is_part: bool) -> None:
    shown = (REFUSED, WRONG) if is_part else (WRONG,)
    for verdict in verdicts:
        if verdict.outcome in shown:
            print(f"{verdict.outcome} {verdict.name}: {verdict.reason}")
    counts = Counter(verdict.outcome for verdict in verdicts)
    print(", ".join(f"{counts[outcome]} {outcome}" for outcome in (RIGHT, REFUSED, WRONG)), f"of {len(verdicts)}")


if __name__ == "__main__":
    sys.exit(main())
