"""A case: a program of te, a schedule of it with threads, and a device; it is interpreted, and run on PoCL at times."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tilework.algebra.errors import TileworkError
from tilework.analysis.program_targets import HOST, set_targets
from tilework.dialects import loop, te
from tilework.dialects.loop import BarrierOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.shapes import dims_of
from tilework.driver.phases import run_phase
from tilework.interpreters.loop import run_loop_kernel
from tilework.interpreters.te import run_kernel
from tilework.targets import Target, parse_target
from tilework.tools.fuzz.cases import SIZES
from tilework.tools.fuzz.check import Array, Outcome, compare
from tilework.tools.fuzz.draw import Draw
from tilework.tools.fuzz.gpu.pocl import run_on_pocl
from tilework.tools.fuzz.gpu.programs import random_program
from tilework.tools.fuzz.gpu.ruled import RuledCase
from tilework.tools.fuzz.gpu.schedules import Scheduler
from tilework.tools.fuzz.programs import random_kernel

ON_POCL = 16
"""One of so many cases is compiled and run, too."""


@dataclass(frozen=True)
class Case:
    """A module with a kernel and its schedule; none where Python refused the schedule. seed: of the data."""

    text: str
    module: ModuleOp | None
    target: Target
    seed: int
    refused: str = ""

    def run(self) -> Outcome:
        """Check it; a crash, or a race, is a difference."""
        if self.module is None:
            return Outcome(refused=self.refused)
        try:
            return self.checked(self.module)
        except Exception as error:  # whatever escapes is a finding
            cause = error.__cause__ or error
            return Outcome(difference=f"{type(cause).__name__}: {cause}")

    def checked(self, module: ModuleOp) -> Outcome:
        """Lower it, interpret it, and again with each barrier left out."""
        [kernel] = (op for op in module.ops if isinstance(op, te.KernelOp))
        lowered = module.clone()
        set_targets(lowered, {HOST: self.target})
        try:
            run_phase("compile-gpu-kernel", make_context(), lowered)
        except CompileError as error:
            return Outcome(refused=error.message)
        rng = np.random.default_rng(self.seed)
        shapes = [[int(str(dim)) for dim in dims_of(argument.type)] for argument in kernel.body.block.args]
        inputs = [rng.integers(-4, 5, shape).astype(np.float32) for shape in shapes]
        expected = run_kernel(kernel, inputs)
        difference = compare("interpreted", interpreted(lowered, inputs, expected), expected)
        if difference is None and self.seed % ON_POCL == 0:
            difference = compare("on PoCL", run_on_pocl(lowered, self.target, inputs, expected), expected)
        return Outcome(difference=difference, counts=without_barriers(lowered, inputs, expected))

    def traits(self) -> list[str]:
        """What accepted cases are counted by."""
        words = {
            "have virtual threads": "vthread",
            "share memory": '"shared"',
            "bind threads": "threadIdx",
            "cache in local memory": '"local"',
        }
        return [name for name, word in words.items() if word in self.text]

    def smaller(self) -> Iterator[Case]:
        """There are no smaller cases: a schedule is short."""
        return iter(())

    def __str__(self) -> str:
        return f"// target = {self.target}, data seed = {self.seed}\n{self.text}\n"


def interpreted(module: ModuleOp, inputs: list[Array], like: list[Array]) -> list[Array]:
    """What the kernel that launches the others computes."""
    kernel = next(op for op in module.ops if isinstance(op, loop.KernelOp))
    outputs = [np.empty_like(array) for array in like]
    run_loop_kernel(kernel, inputs, outputs)
    return outputs


def without_barriers(module: ModuleOp, inputs: list[Array], expected: list[Array]) -> Counter[str]:
    """How many barriers, left out alone, are reported as a race; without the others no thread waited in vain."""
    found: Counter[str] = Counter()
    count = sum(isinstance(op, BarrierOp) for op in module.walk())
    for number in range(count):
        planted = module.clone()
        barrier = [op for op in planted.walk() if isinstance(op, BarrierOp)][number]
        barrier.detach()
        barrier.erase()
        try:
            interpreted(planted, inputs, expected)
        except CompileError as error:
            found["missing barriers reported" if "race" in str(error) else "missing barriers: other errors"] += 1
        else:
            found["barriers that these sizes do not need"] += 1
    return found


def random_case(draw: Draw, seed: int) -> Case | RuledCase:
    """A program, a schedule and a device at random; a kernel that the rules schedule at times."""
    target = parse_target(f"opencl -threads={draw.choice((16, 64, 256))} -shared-kib={draw.choice((1, 32))}")
    if draw.chance(40):
        return RuledCase(random_kernel(draw), target, draw.choice(SIZES), seed)
    program = random_program(draw)
    try:
        schedule = Scheduler(program, draw).schedule()
        module = schedule.module("kernel", program.arguments)
    except TileworkError as error:
        return Case("", None, target, seed, str(error).splitlines()[0])
    return Case(str(module), module, target, seed)
