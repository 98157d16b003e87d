"""Run a model, or a program or kernel of an .mlir file, once and print what comes out."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from tilework.algebra.errors import TileworkError, UsageError, did_you_mean
from tilework.runtime.function import Function
from tilework.runtime.module import Module
from tilework.runtime.threads import set_num_threads
from tilework.tools.model_source import (
    as_declared,
    inputs_of,
    open_program,
    parse_dims,
    random_array,
    read_array,
    symbol_sizes,
)
from tilework.tools.target_option import add_target_option, targets_by_device

Array = NDArray[Any]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `tilework run`."""
    parser.add_argument(
        "model",
        metavar="MODEL",
        help="an ONNX file, an .mlir file of any level, an artefact, light:NAME or net:NAME",
    )
    parser.add_argument("--input", action="append", default=[], metavar="NAME=FILE.npy", help="an input; repeatable")
    parser.add_argument("--random", type=int, metavar="SEED", help="random values for the inputs not given")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=SIZE", help="a symbolic size; else 1")
    parser.add_argument("--out", metavar="DIR", help="save each output there as NAME.npy")
    add_target_option(parser, 'what to compile for; by default what an .mlir file says, else "llvm"')
    parser.add_argument("--schedule", metavar="FILE.mlir", help="schedules for kernels of the program, by their names")
    parser.add_argument("--kernel", metavar="NAME", help="which kernel of an .mlir file without @main to run")
    parser.add_argument("--threads", type=int, metavar="N", help="threads to use; else the physical cores")


def run(options: argparse.Namespace) -> int:
    """Open the model, run it, print a line for each output."""
    if options.random is not None and options.random < 0:
        raise UsageError(f"--random {options.random}: give 0 or a positive number")
    files = _files(options.input)
    dims = parse_dims(options.dim)
    given = {name: read_array(path) for name, path in files.items()}
    if options.threads is not None:
        set_num_threads(options.threads)
    program = open_program(options.model, targets_by_device(options.targets), options.schedule, options.kernel)
    outputs = program.run(_inputs(program, given, dims, options.random))
    for line in table_lines(outputs):
        print(line)
    if options.out is not None:
        _save(outputs, Path(options.out))
    return 0


def table_lines(outputs: dict[str, Array]) -> list[str]:
    """Name, shape, dtype, least, largest and mean value of each array, in columns."""
    rows = [["output", "shape", "dtype", "min", "max", "mean"]]
    for name, array in outputs.items():
        values = [f"{value:.6g}" for value in (array.min(), array.max(), array.mean())] if array.size else ["-"] * 3
        rows.append([name, str(array.shape), str(array.dtype), *values])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def _files(words: Sequence[str]) -> dict[str, str]:
    """The file of each input that is named."""
    files: dict[str, str] = {}
    for word in words:
        name, equals, path = word.rpartition("=")
        if not equals or not name:
            raise UsageError(f"--input {word}: write --input NAME=FILE.npy")
        if name in files:
            raise UsageError(f"--input {name} is given twice")
        files[name] = path
    return files


def _inputs(
    program: Module | Function, given: dict[str, Array], dims: dict[str, int], seed: int | None
) -> dict[str, Array]:
    """What was given, and random values for the rest where a seed was given."""
    specs = inputs_of(program)
    names = [spec.name for spec in specs]
    for name in given:
        if name not in names:
            raise UsageError(f"--input {name}: the model's inputs are {', '.join(names)}{did_you_mean(name, names)}")
    missing = [spec for spec in specs if spec.name not in given]
    if missing and seed is None:
        name = missing[0].name
        raise UsageError(f"no value for input '{missing[0]}': give --input {name}=FILE.npy, or --random SEED")
    sizes = symbol_sizes(program, dims, given)
    rng = np.random.default_rng(seed)
    return {
        spec.name: as_declared(given[spec.name], spec) if spec.name in given else random_array(spec, sizes, rng)
        for spec in specs
    }


def _save(outputs: dict[str, Array], folder: Path) -> None:
    """One file an output; what a file name cannot hold is written as in a URL."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, array in outputs.items():
            np.save(folder / f"{quote(name, safe=' ')}.npy", array)
    except OSError as error:
        raise TileworkError(f"cannot write to {folder}: {error.strerror}") from None
