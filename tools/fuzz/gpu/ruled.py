"""A case: a kernel of te, which the rules schedule, and a device; it is interpreted, and run on PoCL at times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from tilework.analysis.data_indices import index_limits
from tilework.analysis.program_targets import HOST, set_targets
from tilework.dialects import loop
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.registration import make_context
from tilework.dialects.te import ComputeOp, KernelOp, ReturnOp
from tilework.driver.phases import run_phase
from tilework.interpreters.loop import run_loop_kernel
from tilework.interpreters.te import run_kernel
from tilework.targets import Target
from tilework.tools.fuzz.check import Outcome, arguments, compare
from tilework.tools.fuzz.gpu.pocl import run_on_pocl

ON_POCL = 32
"""One of so many cases is compiled and run, too."""


@dataclass(frozen=True)
class RuledCase:
    """A kernel without a schedule, the value of its symbol, the seed of its data."""

    kernel: KernelOp
    target: Target
    size: int
    seed: int

    def run(self) -> Outcome:
        """Check it; whatever escapes is a finding, but that stages without axes and halves of bytes are refused."""
        try:
            return Outcome(difference=self.difference())
        except Exception as error:
            if isinstance(error, CompileError) and (self.has_statements or error.message.startswith("4-bit integers")):
                return Outcome(refused=error.message)
            cause = error.__cause__ or error
            return Outcome(difference=f"{type(cause).__name__}: {cause}")

    @property
    def has_statements(self) -> bool:
        """Whether a stage runs over time, or is a statement as a whole, which stays on the host."""
        return any(not isinstance(op, ComputeOp | ReturnOp) for op in self.kernel.body.block.ops)

    def difference(self) -> str | None:
        """What is wrong with what the device computes; None where nothing is."""
        lowered = self.lowered()
        kernel = next(op for op in lowered.ops if isinstance(op, loop.KernelOp))
        inputs, results, _, symbols = kernel.group_sizes
        arrays = arguments(kernel, index_limits(self.kernel), self.size, self.seed)
        expected = run_kernel(self.kernel, arrays[:inputs])
        outputs = arrays[inputs : inputs + results]
        run_loop_kernel(kernel, arrays[:inputs], outputs, symbols=[self.size] * symbols)
        wrong = compare("interpreted", outputs, expected)
        if wrong is None and self.seed % ON_POCL == 0 and not symbols:
            wrong = compare("on PoCL", run_on_pocl(lowered, self.target, arrays[:inputs], expected), expected)
        return wrong

    def lowered(self) -> ModuleOp:
        """The kernel as loops, and those that it launches."""
        module = ModuleOp([self.kernel.clone()])
        set_targets(module, {HOST: self.target})
        run_phase("compile-gpu-kernel", make_context(), module)
        return module

    def traits(self) -> list[str]:
        """What accepted cases are counted by."""
        words = {"are scheduled by rules": "", "are scheduled by rules, and share memory": '"shared"'}
        text = str(self.lowered())
        return [name for name, word in words.items() if word in text]

    def smaller(self) -> Iterator[RuledCase]:
        """There are no smaller cases: a kernel is short."""
        return iter(())

    def __str__(self) -> str:
        return f"// target = {self.target}, symbol = {self.size}, data seed = {self.seed}\n{self.kernel}\n"
