"""Which configurations are not worth building: what a machine has no room for, or LLVM takes too long for."""

from __future__ import annotations

import numpy as np

from tilework.dialects.loop import THREADS
from tilework.targets.cpu.target import CpuTarget
from tilework.tuning.features.measured import Measured, MeasuredBody
from tilework.tuning.features.numbers import Number, product, total
from tilework.tuning.features.program import Buffer

MOST_INSTRUCTIONS = 1 << 13
"""LLVM takes ten seconds and more for a kernel with more straight-line code than this."""

MOST_VERSIONS = 4
"""Passes copy code for the places where conditions change until it is so many times as long."""

MOST_REGISTER_TRIP = 64
"""`loop-unroll` unrolls loops up to so many iterations for what is in registers."""


def within_limits(measured: Measured, target: CpuTarget) -> Number:
    """Whether code for a processor is worth making: 1 or 0."""
    length = total(body.code.length * _versions(body) for body in measured.bodies)
    within = np.less_equal(length, MOST_INSTRUCTIONS)
    # a stack has no room for more, with as much of it for each thread
    within = within * np.less_equal(measured.stack_bytes, target.machine.buffers.largest_rows)
    within = within * _registers_fit(measured, target)
    # a processor has no threads that step together
    has_threads = any(loop.kind in THREADS for body in measured.bodies for loop in body.body.loops)
    return within * (not has_threads)


def _versions(body: MeasuredBody) -> Number:
    """In how many versions the code of a body is there: with and without each condition that is not always the same."""
    shares = (body.shares.of_form(form) for form in body.body.asked)
    asked = total(np.where(np.logical_and(np.greater(share, 0), np.less(share, 1)), 1.0, 0.0) for share in shares)
    return np.minimum(2**asked, MOST_VERSIONS)


def _registers_fit(measured: Measured, target: CpuTarget) -> Number:
    """Whether buffers in registers are as large as these together, and can be named without an address."""
    fits: Number = 1.0
    in_registers = [b for b in measured.program.buffers if b.scope == "register"]
    size = total(_registers(measured, buffer, target) for buffer in in_registers)
    fits = fits * np.less_equal(size, target.vector_registers)
    for body in measured.bodies:
        for access in (a for a in body.body.accesses if a.buffer in in_registers):
            for loop in body.body.loops:
                moves = body.levels.movements[access].moves(loop.index)
                long = np.greater(body.levels.box.extents[loop.index], MOST_REGISTER_TRIP)
                fits = fits * np.where(moves * long, 0.0, 1.0)
    return fits


def _registers(measured: Measured, buffer: Buffer, target: CpuTarget) -> Number:
    elements = product(measured.numbers.of(e) for e in buffer.dims)
    return np.ceil(elements / float(target.lanes(8 * buffer.element_bytes)))
