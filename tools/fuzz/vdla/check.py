"""One case: a kernel under a schedule, compiled, in the interpreter and on the simulator, against numpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from tilework.backends.vdla.emit import places_in_dram, stream_of
from tilework.dialects.loop.common import memref_of
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.driver.check_semantics import SemanticCheck
from tilework.driver.instrumentation import Instrumentation
from tilework.driver.phases import run_phase
from tilework.interpreters.units import run_units
from tilework.runtime.devices.vdla.encoding import decode, encode
from tilework.runtime.devices.vdla.report import RunReport
from tilework.runtime.devices.vdla.simulator import simulate
from tilework.runtime.devices.vdla.stream import Stream
from tilework.targets.vdla.target import VdlaTarget
from tilework.tools.fuzz.check import Outcome, compare
from tilework.tools.fuzz.vdla.kernels import Array, Kernel


@dataclass(frozen=True)
class Compiled:
    """A function of operations on units, its stream, and where its arguments lie in DRAM, which has so many bytes."""

    function: func.FuncOp
    stream: Stream
    places: Sequence[int]
    size: int


def program_of(kernel: Kernel, schedule: str, target: VdlaTarget) -> str:
    """The text of a module with the kernel and its schedule."""
    return f'builtin.module attributes {{tilework.targets = "{target}"}} {{\n{kernel.text}\n{schedule}\n}}'


def function_of(text: str, instrumentations: Sequence[Instrumentation] = ()) -> func.FuncOp:
    """What the kernel of a program becomes. Raises CompileError where it is refused."""
    context = make_context()
    module = SourceParser(context, text, "<fuzz>").parse_module()
    assert isinstance(module, ModuleOp)
    module.verify()
    run_phase("compile-vdla-kernel", context, module, instrumentations)
    module.verify()
    return next(op for op in module.ops if isinstance(op, func.FuncOp))


def compiled(text: str, target: VdlaTarget) -> Compiled:
    """What a program becomes for a machine. Raises CompileError where it is refused."""
    function = function_of(text)
    return Compiled(function, stream_of(function, target), *places_in_dram(function, target))


def check(kernel: Kernel, schedule: str, target: VdlaTarget, seed: int) -> Outcome:
    """Compile and run a case; every result is numpy's, bit by bit. Any error that escapes is a defect."""
    text = program_of(kernel, schedule, target)
    try:
        found = compiled(text, target)
    except CompileError as error:
        if len(error.message.splitlines()) != 1:
            return Outcome(difference=f"a message of several lines: {error.message!r}")
        return Outcome(refused=error.message)
    function_of(text, [SemanticCheck(seed=seed)])
    arguments = kernel.arguments(seed)
    expected = [kernel.expected(*arguments[:-1])]
    run_in_interpreter(found.function, arguments)
    difference = compare("interpreted", arguments[-1:], expected)
    arguments = kernel.arguments(seed)
    run_on_simulator(found.function, arguments, target)
    return Outcome(difference=difference or compare("on the simulator", arguments[-1:], expected))


def run_on_simulator(function: func.FuncOp, arguments: Sequence[Any], target: VdlaTarget) -> RunReport:
    """Run a function as its stream's bytes say, on arrays that it changes."""
    places, size = places_in_dram(function, target)
    dram = np.zeros(size, np.uint8)
    put_in_dram(dram, places, arguments)
    report = simulate(decode(encode(stream_of(function, target))), dram, target)
    for place, array in zip(places, arguments, strict=True):
        array[...] = dram[place : place + array.nbytes].view(array.dtype).reshape(array.shape)
    return report


def put_in_dram(dram: Array, places: Sequence[int], arguments: Sequence[Any]) -> None:
    """Write arguments to their places."""
    for place, array in zip(places, arguments, strict=True):
        dram[place : place + array.nbytes] = array.view(np.uint8).ravel()


def run_in_interpreter(function: func.FuncOp, arguments: Sequence[Any]) -> None:
    """Run a function as its operations mean, on arrays that it changes."""
    shapes = [memref_of(argument).get_shape() for argument in function.args]
    run_units(function, [array.reshape(shape) for array, shape in zip(arguments, shapes, strict=True)])
