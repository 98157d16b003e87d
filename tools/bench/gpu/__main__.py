"""Measure a device: `python -m tilework.tools.bench.gpu --target "cuda -arch=sm_90" --out gpu.json`.

Each part runs in a process of its own until its share of the time is over, and answers line by line, so that what
fails, or takes too long, is recorded as text and costs nothing but itself.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tilework.plugins.packages import child_environment
from tilework.targets import parse_target
from tilework.tools.bench.gpu.measurements import PARTS, Settings

SECONDS = 570
"""How long everything takes, at most."""


def main() -> int:
    """Run all parts, or answer for one; 1 where a part failed."""
    parser = argparse.ArgumentParser(prog="python -m tilework.tools.bench.gpu", description=__doc__)
    parser.add_argument("--target", default="cuda", help='the device, such as "cuda -arch=sm_90"')
    parser.add_argument("--small", action="store_true", help="take sizes that a processor manages, to try this out")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long everything may take")
    parser.add_argument("--out", type=Path, default=Path("gpu.json"), help="where results go")
    parser.add_argument("--only", nargs="+", choices=list(PARTS), default=list(PARTS), help="these parts alone")
    parser.add_argument("--answer", choices=list(PARTS), help=argparse.SUPPRESS)  # in the process of a part
    options = parser.parse_args()
    settings = Settings(str(parse_target(options.target)), options.small)
    if options.answer:
        for entry in PARTS[options.answer].run(settings):
            print(json.dumps(entry), flush=True)
        return 0
    results: dict[str, Any] = {"target": settings.target, "small": options.small, "parts": {}}
    end = time.monotonic() + options.seconds
    shares = sum(PARTS[name].share for name in options.only)
    for name in options.only:
        left = end - time.monotonic()
        answered = _answered(name, options, left * PARTS[name].share / shares)
        shares -= PARTS[name].share
        results["parts"][name] = answered
        options.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
        print(
            f"{name}: {len(answered['entries'])} entries, {answered['seconds']:.0f} s{_failure(answered)}", flush=True
        )
    return 1 if any("failure" in part for part in results["parts"].values()) else 0


def _answered(name: str, options: argparse.Namespace, seconds: float) -> dict[str, Any]:
    """What a part answers in so many seconds, and what went wrong if anything did."""
    command = [sys.executable, "-P", "-m", "tilework.tools.bench.gpu", "--answer", name, "--target", options.target]
    if options.small:
        command.append("--small")
    start = time.monotonic()
    with tempfile.TemporaryFile() as answers, tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=answers, stderr=said, env=child_environment())
        try:
            status = process.wait(max(seconds, 1))
            failure = f"ended with status {status}" if status else None
        except subprocess.TimeoutExpired:
            failure = f"took more than {seconds:.0f} s"
        finally:
            process.kill()
            process.wait()
        answers.seek(0)
        said.seek(0)
        lines = answers.read().decode(errors="replace").splitlines()
        words = said.read().decode(errors="replace").strip()
    result: dict[str, Any] = {
        "seconds": time.monotonic() - start,
        "entries": list(map(json.loads, filter(_is_whole, lines))),
    }
    if failure is not None:
        result["failure"] = f"{failure}: {words[-2000:]}"
    return result


def _is_whole(line: str) -> bool:
    """Whether a process was not ended in the middle of a line."""
    return line.startswith("{") and line.endswith("}")


def _failure(answered: dict[str, Any]) -> str:
    return f"; {answered['failure'].splitlines()[-1]}" if "failure" in answered else ""


if __name__ == "__main__":
    sys.exit(main())
