"""Measure models beside other engines: compile, load and run times, memory; or the compiler itself."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from tilework.algebra.errors import TileworkError, UsageError
from tilework.analysis.precision import PRECISIONS
from tilework.targets.cpu.host import physical_cores
from tilework.tools.bench.engines import YARDSTICKS, chosen_yardsticks, installed_yardsticks
from tilework.tools.bench.families import SIMULATED
from tilework.tools.bench.load import busy_cores, load_of_machine, warn_if_busy
from tilework.tools.bench.measure import SCHEMA, Plan, largest_difference, machine, measure_model
from tilework.tools.bench.networks.catalogue import NETWORK, check_network
from tilework.tools.bench.operators import FAMILIES, GROUP, expand_operators
from tilework.tools.bench.table import columns, compiling_lines, model_lines
from tilework.tools.files import check_writable
from tilework.tools.model_source import check_uncompiled, parse_dims
from tilework.tools.target_option import add_target_option, targets_by_device

TOLERANCE = 1e-4
"""How far results may be from another engine's, in units of the largest magnitude in a tensor."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `tilework bench`."""
    operators = "; ".join(
        f"op:{name},{','.join(f'{size}=' for size in family.required)}" for name, family in FAMILIES.items()
    )
    parser.add_argument(
        "models", nargs="*", metavar="MODEL", help=f"an ONNX file, light:NAME, net:NAME, {GROUP}, op:C1, or {operators}"
    )
    parser.add_argument("--compile", action="store_true", help="measure lowering te kernels in Python, no model")
    parser.add_argument(
        "--bit-serial", action="store_true", help="measure convolutions of 2 bits by 1 beside those of floats, no model"
    )
    parser.add_argument(
        "--family",
        choices=SIMULATED,
        help="simulate layers of ResNet-18 on a machine of that family, with virtual threads and without, no model",
    )
    parser.add_argument("--svg", metavar="FILE", help="draw the roofline of --family there")
    parser.add_argument(
        "--against", metavar="NAMES", help=f"none, or engines of {', '.join(YARDSTICKS)}; else all that are installed"
    )
    parser.add_argument(
        "--threads", default="1,all", metavar="LIST", help='numbers of threads, "all" being the physical cores (1,all)'
    )
    parser.add_argument("--repeat", type=int, default=10, metavar="N", help="blocks of runs for each engine (10)")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=SIZE", help="a symbolic size; else 1")
    parser.add_argument("--precision", default="default", choices=PRECISIONS, help="as of `tilework compile`")
    parser.add_argument("--kernels", action="store_true", help="time every kernel call, and print a table of kernels")
    add_target_option(
        parser, "a machine beside this one, as DEVICE=TARGET: print what its simulator says of each layer of the models"
    )
    parser.add_argument("--json", metavar="FILE", help="write all measurements there")
    parser.add_argument(
        "--check", action="store_true", help=f"fail unless all outputs are within {TOLERANCE:g} of the other engines'"
    )


def run(options: argparse.Namespace) -> int:
    """Measure each model, or the compiler, products of bits, or layers on a machine; print a table, write the files."""
    if options.compile + options.bit_serial + bool(options.family) + bool(options.models) != 1:
        raise UsageError("bench takes models, or no model and one of --compile, --bit-serial and --family")
    if options.targets and not options.models:
        raise UsageError("--target: it is for models")
    if options.svg is not None and options.family is None:
        raise UsageError("--svg: it draws what --family measures")
    if options.repeat < 1:
        raise UsageError(f"--repeat {options.repeat}: give a positive number")
    for path in (options.json, options.svg):
        if path is not None:
            check_writable(Path(path))
    if options.family is not None:
        return _layers(options)
    if options.bit_serial:
        return _bit_serial(options)
    if options.compile:
        return _compiling(options)
    return _simulated(options) if options.targets else _models(options)


def _simulated(options: argparse.Namespace) -> int:
    from tilework.tools.bench.simulated import check_simulated, simulate_model, simulated_lines  # the compiler again

    targets, dims = targets_by_device(options.targets), parse_dims(options.dim)
    check_simulated(targets)
    results: list[dict[str, Any]] = []
    for model in _checked_models(options.models):
        results.append(simulate_model(model, targets, dims, options.precision))
        print("\n".join(simulated_lines(results[-1])), flush=True)
    _write(options, {"simulated": results})
    return 0


def _models(options: argparse.Namespace) -> int:
    threads, yardsticks = parse_threads(options.threads), _yardsticks(options)
    plan = Plan(parse_dims(options.dim), threads, options.repeat, yardsticks, options.kernels, options.precision)
    models = _checked_models(options.models)
    _watch_machine(options)
    results: list[dict[str, Any]] = []
    for model in models:
        results.append(measure_model(model, plan))
        print("\n".join(model_lines(results[-1])), flush=True)
    _write(options, {"models": results})
    return _check(results) if options.check else 0


def _checked_models(words: Sequence[str]) -> list[str]:
    """The models that the words stand for. Raises UsageError for what is none, before anything is measured."""
    models = expand_operators(words)
    for model in models:
        if model.startswith(NETWORK):
            check_network(model)
        check_uncompiled(model)
    return models


def parse_threads(words: str) -> list[int]:
    """`"1,all"` -> `[1, 8]` on eight cores. Raises UsageError for anything but positive numbers and "all"."""
    numbers: list[int] = []
    for word in words.split(","):
        if word != "all" and (not word.isdecimal() or int(word) < 1):
            raise UsageError(f'--threads {words}: give positive numbers or "all", with commas between them')
        numbers.append(physical_cores() if word == "all" else int(word))
    return list(dict.fromkeys(numbers))


def _yardsticks(options: argparse.Namespace) -> list[str]:
    names = installed_yardsticks() if options.against is None else chosen_yardsticks(options.against)
    if options.check and not names:
        raise UsageError(f"--check compares with other engines: install {' or '.join(YARDSTICKS)}")
    return names


def _check(results: list[dict[str, Any]]) -> int:
    """1 where a model differs from what another engine computes, or none could run it."""
    differences = {result["model"]: largest_difference(result) for result in results}
    wrong = [model for model, difference in differences.items() if difference is None or difference >= TOLERANCE]
    if not wrong:
        return 0
    print(f"tilework: error: no other engine agrees within {TOLERANCE:g}: {', '.join(wrong)}", file=sys.stderr)
    return 1


def _compiling(options: argparse.Namespace) -> int:
    from tilework.tools.bench.compiling import measure_compiling  # the compiler, which models are measured without

    _watch_machine(options)
    measured = measure_compiling(options.repeat)
    print("\n".join(compiling_lines(measured)))
    _write(options, {"compiling": measured})
    return 0


def _bit_serial(options: argparse.Namespace) -> int:
    from tilework.tools.bench.bit_serial import bit_serial_rows, measure_bit_serial  # the compiler, in this process

    results: list[dict[str, Any]] = []
    numbers = parse_threads(options.threads)
    _watch_machine(options)
    for threads in numbers:
        results.append(measure_bit_serial(options.repeat, threads))
        print(f"{threads} thread(s), us", *columns(bit_serial_rows(results[-1])), sep="\n", flush=True)
    _write(options, {"bit_serial": results})
    return 0


def _layers(options: argparse.Namespace) -> int:
    from tilework.tools.report.threads_plot import svg_text, threads_plot

    of_family = import_module(f"tilework.tools.bench.{options.family}.layers")  # the compiler, in this process
    measured = of_family.measure(of_family.LAYERS)
    print(*columns(of_family.rows_of(measured)), sep="\n")
    _write(options, {"layers": measured})
    if options.svg is not None:
        runs = [of_family.runs_of(measured, kind) for kind in of_family.KINDS]
        _write_text(options.svg, svg_text(threads_plot(*runs)))
    return 0


def _watch_machine(options: argparse.Namespace) -> None:
    """Warn of a busy machine before something is measured; what was found stays in the options."""
    options.busy_before = busy_cores()
    warn_if_busy(options.busy_before)


def _write(options: argparse.Namespace, measured: Mapping[str, Any]) -> None:
    if options.json is not None:
        load = {"load": load_of_machine(options.busy_before)} if "busy_before" in options else {}
        data = {"schema": SCHEMA, "machine": machine(), **load, **measured}
        _write_text(options.json, json.dumps(data, indent=1) + "\n")


def _write_text(file: str, text: str) -> None:
    path = Path(file)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise TileworkError(f"cannot write {path}: {error.strerror}") from None
