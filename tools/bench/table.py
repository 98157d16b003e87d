"""Measurements for people to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tilework.tools.bench.measure import memory_limit
from tilework.tools.bench.roofline import Measured, measured_kernels, whole_model


def model_lines(result: Mapping[str, Any]) -> Iterator[str]:
    """One model: compiling, loading, running."""
    first, warm, load = result["compile"], result["compile_warm"], result["load"]
    yield f"{result['model']}: {_megabytes(first['weight_bytes'])} of weights, kernel calls: {first['calls']}"
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
    yield from (line for run in result["inference"] for line in inference_lines(result, run))


def inference_lines(result: Mapping[str, Any], run: Mapping[str, Any]) -> Iterator[str]:
    """All engines on one number of threads, then the machine's limits and the kernels, if they were timed."""
    yield from (f"  {line}" for line in columns(inference_rows(result, run)))
    for error, names in _failures(run).items():
        yield f"    {', '.join(names)} cannot run it: {error}"
    yield f"    {limits_text(whole_model(result, run, 'tilework'))}"
    if run.get("calls"):
        yield from (f"    {line}" for line in columns(kernel_rows(result, run)))


def _failures(run: Mapping[str, Any]) -> dict[str, list[str]]:
    """Which engines said what when they could not run the model."""
    said: dict[str, list[str]] = {}
    for name, engine in run["engines"].items():
        if "error" in engine:
            said.setdefault(engine["error"], []).append(name)
    return said


def inference_rows(result: Mapping[str, Any], run: Mapping[str, Any]) -> list[list[str]]:
    """The table of engines: medians, how many times as fast as each of them Tilework is, rates, differences."""
    threads = f"run, {run['threads']} thread{'s' if run['threads'] > 1 else ''}"
    rows = [[threads, "ms", "times as fast", "GFLOP/s", "of peak", "difference"]]
    ours = run["engines"]["tilework"]["milliseconds"]["median"]
    for name, engine in run["engines"].items():
        if "error" in engine:
            continue
        model = whole_model(result, run, name)
        theirs = engine["milliseconds"]["median"]
        ratio, difference = ("", "")
        if name != "tilework":
            ratio, difference = f"{theirs / ours:.2f}", f"{engine['difference']:.1e}"
        label = f"  {name} {engine['version']}"
        rows.append([label, f"{theirs:.3f}", ratio, f"{model.rate / 1e9:.1f}", percent(model.of_peak), difference])
    return rows


def limits_text(model: Measured) -> str:
    """What the machine can do, and how much of its bandwidth the model's bytes are."""
    limits = model.roofline
    return (
        f"peak {limits.flops_per_second / 1e9:.1f} GFLOP/s, {limits.bytes_per_second / 1e9:.1f} GB/s streamed; "
        f"{model.flops / 1e6:.4g} MFLOP on {model.bytes / 1e6:.4g} MB, {percent(model.of_bandwidth)} of the bandwidth"
    )


KERNEL_HEAD = ["kernel", "calls", "us", "share", "GFLOP/s", "of peak", "MB", "FLOP/byte", "bound by", "first node"]


def kernel_rows(result: Mapping[str, Any], run: Mapping[str, Any]) -> list[list[str]]:
    """The table of kernels: times of all calls together, shares of the time in kernels; last what is between them."""
    kernels = measured_kernels(result, run)
    total = sum(kernel.seconds for kernel in kernels)
    nodes = {call["kernel"]: call["source"] or "" for call in reversed(result["program"]["calls"])}
    rows = [KERNEL_HEAD, *([*_kernel_row(kernel, total), nodes[kernel.name]] for kernel in kernels)]
    last, taken = run["calls"][-1], 1e6 * total
    rows.append(["(between calls)", "", f"{last['start'] + last['time'] - taken:.1f}", *[""] * 7])
    return rows


def _kernel_row(kernel: Measured, total: float) -> list[str]:
    return [
        kernel.name,
        str(kernel.calls),
        f"{1e6 * kernel.seconds:.1f}",
        percent(kernel.seconds / total),
        f"{kernel.rate / 1e9:.1f}",
        percent(kernel.of_peak),
        f"{kernel.bytes / 1e6:.3f}",
        f"{kernel.intensity:.1f}",
        kernel.bound,
    ]


def percent(share: float) -> str:
    """`0.123` -> `"12 %"`."""
    return f"{100 * share:.0f} %"


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
