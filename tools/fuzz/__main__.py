"""The long fuzz run: `python -m tilework.tools.fuzz --accepted 20000`; `--family` draws other cases than kernels."""

from __future__ import annotations

import argparse
import re
import sys
import time
import traceback
from collections import Counter
from importlib import import_module
from pathlib import Path

from rich.progress import Progress

from tilework.tools.fuzz.draw import Seeded
from tilework.tools.fuzz.shrink import FuzzCase, shrink

FAMILIES = sorted(folder.parent.name for folder in Path(__file__).parent.glob("*/cases.py"))
"""Cases of their own, each in a folder beside this file: for a family of targets, or of ONNX models."""


def main() -> int:
    """Run seeds until enough schedules were accepted; 1 where anything differed or crashed."""
    parser = argparse.ArgumentParser(prog="python -m tilework.tools.fuzz", description=__doc__)
    parser.add_argument("--accepted", type=int, default=20000, help="how many accepted schedules, or models, to check")
    parser.add_argument("--seed", type=int, default=0, help="the first seed; each case is one")
    parser.add_argument("--step", type=int, default=1, help="from one seed to the next: 32 runs devices' cases, too")
    parser.add_argument("--out", type=Path, default=Path("fuzz-findings"), help="where reproducers go")
    parser.add_argument("--family", choices=FAMILIES, help="cases for random machines of a family, or of onnx")
    options = parser.parse_args()
    folder = f"tilework.tools.fuzz.{options.family}" if options.family else "tilework.tools.fuzz"
    random_case = import_module(f"{folder}.cases").random_case
    start, seed, accepted = time.perf_counter(), options.seed, 0
    refusals: Counter[str] = Counter()
    traits: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    findings: list[int] = []
    with Progress(disable=not sys.stderr.isatty()) as progress:
        bar = progress.add_task("accepted", total=options.accepted)
        while accepted < options.accepted:
            try:
                case = random_case(Seeded(seed), seed)
            except Exception:  # a method of the te language let something escape that is no refusal
                findings.append(seed)
                print(f"seed {seed}: {traceback.format_exc()}", file=sys.stderr)
                seed += options.step
                continue
            outcome = case.run()
            if outcome.refused is not None:
                refusals[re.sub(r"'[^']*'|\[[^]]*\]|%\w+|\d+", "_", outcome.refused)] += 1
            elif outcome.difference is not None:
                findings.append(seed)
                _report(case, seed, outcome.difference, options.out)
            else:
                accepted += 1
                traits.update(case.traits())
                counts.update(outcome.counts)
                progress.advance(bar)
            seed += options.step
    seconds = time.perf_counter() - start
    print(f"seeds {options.seed} to {seed - options.step}: {accepted} accepted, ", end="")
    print(f"{refusals.total()} refused, {len(findings)} findings, {seconds:.0f} s")
    for count in (f"{count} of these {trait}" for trait, count in sorted(traits.items())):
        print(f"  {count}")
    for name, count in sorted(counts.items()):
        print(f"  {name}: {count}")
    for reason, count in refusals.most_common():
        print(f"{count:7} {reason}")
    return 1 if findings else 0


def _report(case: FuzzCase, seed: int, difference: str, folder: Path) -> None:
    def same(smaller: FuzzCase) -> bool:
        return smaller.run().difference is not None

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"seed-{seed}.mlir"
    path.write_text(f"// {difference.splitlines()[0]}\n{shrink(case, same)}")
    print(f"seed {seed}: {difference.splitlines()[0]}; see {path}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
