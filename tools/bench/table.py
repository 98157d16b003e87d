"""Measurements for people to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tilework.tools.bench.measure import memory_limit


def model_lines(result: Mapping[str, Any]) -> Iterator[str]:
    """One model: compiling, loading, running."""
    first, warm, load = result["compile"], result["compile_warm"], result["load"]
    yield f"{result['model']}: {_megabytes(first['weight_bytes'])} of weights, {first['calls']} kernel calls"
    phases = ", ".join(f"{name} {seconds:.2f}" for name, seconds in first["phases"].items())
    yield f"  compile, empty cache   {first['seconds']:8.2f} s   {first['kernels']} kernels; {phases}"
    yield f"  compile, warm cache    {warm['seconds']:8.2f} s   {warm['cached']} of {warm['kernels']} from the cache"
    yield f"  save                   {first['save_seconds']:8.2f} s   {_megabytes(first['artefact_bytes'])}"
    yield f"  load                   {load['seconds']:8.3f} s   first run {1000 * load['first_run_seconds']:.1f} ms"
    used, limit = first["peak_bytes"] + first["worker_bytes"], memory_limit(first)
    verdict = "within" if used <= limit else "ABOVE"
    yield (
        f"  compile, peak memory   {used / 1e6:8.0f} MB  {_megabytes(first['worker_bytes'])} of it in workers; "
        f"{verdict} 3 x weights + 500 MB = {_megabytes(limit)}"
    )
    yield from (line for run in result["inference"] for line in inference_lines(run))


def inference_lines(run: Mapping[str, Any]) -> Iterator[str]:
    """All engines on one number of threads: medians, and how many times as fast as each of them Tilework is."""
    threads = f"{run['threads']} thread{'s' if run['threads'] > 1 else ''}"
    engines: Mapping[str, Any] = run["engines"]
    ours = engines["tilework"]["milliseconds"]["median"]
    rows = [[f"run, {threads}", "ms", "times as fast", "difference"]]
    for name, engine in engines.items():
        if "error" in engine:
            continue
        theirs = engine["milliseconds"]["median"]
        compared = ["", ""] if name == "tilework" else [f"{theirs / ours:.2f}", f"{engine['difference']:.1e}"]
        rows.append([f"  {name} {engine['version']}", f"{theirs:.3f}", *compared])
    yield from (f"  {line}" for line in columns(rows))
    yield from (f"    {name} cannot run it: {e['error']}" for name, e in engines.items() if "error" in e)


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of cells as lines: the first column to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        [f"{row[0]:{widths[0]}}", *(f"{c:>{w}}" for c, w in zip(row[1:], widths[1:], strict=True))] for row in rows
    )
    return ["  ".join(line).rstrip() for line in lines]


def compiling_lines(measured: Mapping[str, Any]) -> Iterator[str]:
    """How long the compiler takes."""
    steps = ", ".join(f"{name} {value:.1f}" for name, value in measured["kernel"].items())
    total = sum(measured["kernel"].values())
    yield f"te kernel of {measured['primitives']} primitives to LLVM IR text: {total:.1f} ms ({steps})"
    for stages, value in measured["stages"].items():
        yield f"  {stages:3} stages {value:9.1f} ms   {value / stages:.1f} ms a stage"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"
