"""Measure a model: compile, load and run times beside onnxruntime, and memory; or the compiler itself."""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tilework.algebra.errors import TileworkError, UsageError
from tilework.targets.host import physical_cores
from tilework.tools.bench import SCHEMA, TOLERANCE, largest_error, machine, measure_model, memory_limit
from tilework.tools.files import check_writable
from tilework.tools.model_source import check_uncompiled, parse_dims


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `tilework bench`."""
    parser.add_argument("models", nargs="*", metavar="MODEL", help="an ONNX file, or light:NAME")
    parser.add_argument("--compile", action="store_true", help="measure lowering te kernels in Python, no model")
    parser.add_argument("--threads", type=int, metavar="N", help="how many threads; else one, then all physical cores")
    parser.add_argument("--repeat", type=int, default=10, metavar="N", help="blocks of runs for each runtime (10)")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=SIZE", help="a symbolic size; else 1")
    parser.add_argument("--json", metavar="FILE", help="write all measurements there")
    parser.add_argument(
        "--check", action="store_true", help=f"fail unless all outputs are within {TOLERANCE:g} of onnxruntime's"
    )


def run(options: argparse.Namespace) -> int:
    """Measure each model, or the compiler, print its table, write the JSON file."""
    if options.compile == bool(options.models):
        raise UsageError("bench takes models, or --compile and no model")
    if options.check and importlib.util.find_spec("onnxruntime") is None:
        raise UsageError("--check compares with onnxruntime, which is not installed")
    for flag in ("threads", "repeat"):
        if getattr(options, flag) is not None and getattr(options, flag) < 1:
            raise UsageError(f"--{flag} {getattr(options, flag)}: give a positive number")
    if options.json is not None:
        check_writable(Path(options.json))
    if options.compile:
        return _compiling(options)
    for model in options.models:
        check_uncompiled(model)
    threads = [options.threads] if options.threads else sorted({1, physical_cores()})
    results: list[dict[str, Any]] = []
    for model in options.models:
        results.append(measure_model(model, parse_dims(options.dim), threads, options.repeat))
        print("\n".join(table_lines(results[-1])), flush=True)
    if options.json is not None:
        _write(Path(options.json), {"schema": SCHEMA, "machine": machine(), "models": results})
    wrong = [r["model"] for r in results if (largest_error(r) or 0.0) >= TOLERANCE]
    if options.check and wrong:
        print(f"tilework: error: differs from onnxruntime: {', '.join(wrong)}", file=sys.stderr)
        return 1
    return 0


def _compiling(options: argparse.Namespace) -> int:
    from tilework.tools.bench_compile import measure_compiling  # the compiler, which models are measured without

    measured = measure_compiling(options.repeat)
    print("\n".join(compile_lines(measured)))
    if options.json is not None:
        _write(Path(options.json), {"schema": SCHEMA, "machine": machine(), "compiling": measured})
    return 0


def compile_lines(measured: Mapping[str, Any]) -> Iterator[str]:
    """How long the compiler takes, for people to read."""
    steps = ", ".join(f"{name} {value:.1f}" for name, value in measured["kernel"].items())
    total = sum(measured["kernel"].values())
    yield f"te kernel of {measured['primitives']} primitives to LLVM IR text: {total:.1f} ms ({steps})"
    for stages, value in measured["stages"].items():
        yield f"  {stages:3} stages {value:9.1f} ms   {value / stages:.1f} ms a stage"


def table_lines(result: Mapping[str, Any]) -> Iterator[str]:
    """The measurements of one model for people to read."""
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
    yield from (line for run in result["inference"] for line in _inference_lines(run))
    error = largest_error(result)
    if error is not None:
        yield f"  largest difference     {error:8.1e}     of the largest magnitude; {TOLERANCE:g} is allowed"


def _inference_lines(run: Mapping[str, Any]) -> Iterator[str]:
    threads = f"{run['threads']} thread{'s' if run['threads'] > 1 else ''}"
    medians = {name: times["median"] for name, times in run["milliseconds"].items()}
    compared = ""
    if "onnxruntime" in medians:
        ratio = medians["onnxruntime"] / medians["tilework"]
        compared = f"  onnxruntime {medians['onnxruntime']:.2f} ms, {ratio:.2f} times as fast"
    yield f"  run, {threads:17} {medians['tilework']:9.2f} ms{compared}"


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"


def _write(path: Path, data: Mapping[str, Any]) -> None:
    try:
        path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise TileworkError(f"cannot write {path}: {error.strerror}") from None
