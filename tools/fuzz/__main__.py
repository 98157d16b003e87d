"""The long fuzz run: `python -m tilework.tools.fuzz --accepted 20000`."""

from __future__ import annotations

import argparse
import re
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

from rich.progress import Progress

from tilework.tools.fuzz.cases import Case, random_case, shrink
from tilework.tools.fuzz.draw import Seeded


def main() -> int:
    """Run seeds until enough schedules were accepted; 1 where anything differed or crashed."""
    parser = argparse.ArgumentParser(prog="python -m tilework.tools.fuzz", description=__doc__)
    parser.add_argument("--accepted", type=int, default=20000, help="how many accepted schedules to check")
    parser.add_argument("--seed", type=int, default=0, help="the first seed; each case is one")
    parser.add_argument("--out", type=Path, default=Path("fuzz-findings"), help="where reproducers go")
    options = parser.parse_args()
    start, seed, accepted, late, tensorized, interleaved = time.perf_counter(), options.seed, 0, 0, 0, 0
    refusals: Counter[str] = Counter()
    findings: list[int] = []
    programs: set[str] = set()
    with Progress(disable=not sys.stderr.isatty()) as progress:
        bar = progress.add_task("schedules accepted", total=options.accepted)
        while accepted < options.accepted:
            try:
                case = random_case(Seeded(seed), seed)
            except Exception:  # a method of the te language let something escape that is no refusal
                findings.append(seed)
                print(f"seed {seed}: {traceback.format_exc()}", file=sys.stderr)
                seed += 1
                continue
            outcome = case.run()
            if outcome.refused is not None:
                refusals[re.sub(r"'[^']*'|\[[^]]*\]|%\w+|\d+", "_", outcome.refused)] += 1
            elif outcome.difference is not None:
                findings.append(seed)
                _report(case, outcome.difference, options.out)
            else:
                accepted += 1
                late += case.rewrites_late
                tensorized += case.tensorizes
                interleaved += case.interleaves
                programs.add(str(case.kernel))
                progress.advance(bar)
            seed += 1
    seconds = time.perf_counter() - start
    print(f"seeds {options.seed} to {seed - 1}: {accepted} schedules accepted over {len(programs)} programs, ", end="")
    print(f"{late} of which rewrite te behind other primitives, {tensorized} tensorize, ", end="")
    print(f"{interleaved} have virtual threads; ", end="")
    print(f"{refusals.total()} refused, {len(findings)} findings, {seconds:.0f} s")
    for reason, count in refusals.most_common():
        print(f"{count:7} {reason}")
    return 1 if findings else 0


def _report(case: Case, difference: str, folder: Path) -> None:
    def same(smaller: Case) -> bool:
        return smaller.run().difference is not None

    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"seed-{case.seed}.mlir"
    path.write_text(f"// {difference.splitlines()[0]}\n{shrink(case, same)}")
    print(f"seed {case.seed}: {difference.splitlines()[0]}; see {path}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
