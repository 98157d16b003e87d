"""What is tuned: one kernel, for one target."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Region

from tilework.algebra.errors import UsageError
from tilework.analysis.program_targets import HOST, set_targets
from tilework.analysis.sizes import size_of
from tilework.backends.element_types import dtype_name
from tilework.dialects.schedule import SequenceOp
from tilework.dialects.support.shapes import dims_of, element_type
from tilework.dialects.te import ComputeOp, KernelOp
from tilework.driver.canonical_text import nameless_text, renamed
from tilework.driver.kernel_function import ENTRY, declaration_in, scratch_bytes
from tilework.driver.tuned_schedules import tuning_key
from tilework.rules.registry import plan_for
from tilework.runtime.tensor_spec import TensorSpec
from tilework.targets import Target
from tilework.tuning.measuring.outcome import Code
from tilework.tuning.sketches.base import Sketch
from tilework.tuning.sketches.derive import sketches_of
from tilework.tuning.space import Space

OWN = "own schedule"
"""The name of the sketch that is a schedule which a kernel brings."""

SLACK = 8
"""How many times the error bound of a sum an element may be off: other operations round too."""


@dataclass(frozen=True, eq=False)
class Task:
    """A kernel with constant sizes.

    rules: whether the default is what the rules say; else it is no schedule at all. own: a schedule that it brings, the
    default then, whose knobs alone are searched.
    """

    kernel: KernelOp
    target: Target
    rules: bool = True
    seed: int = 0
    own: SequenceOp | None = None

    @property
    def name(self) -> str:
        """What the program calls the kernel."""
        return self.kernel.sym_name.data

    @property
    def entry(self) -> str:
        """The name that the kernel has in code."""
        return ENTRY

    @cached_property
    def key(self) -> str:
        """What the best schedule depends on: the kernel's text and the target."""
        return tuning_key(self.kernel, self.target)

    @cached_property
    def default(self) -> SequenceOp:
        """The schedule of trial 0."""
        if self.own is not None:
            return self.own
        if not self.rules:
            return self.unscheduled
        return plan_for(self.kernel, self.target).schedule(self.kernel)

    def space(self) -> Space:
        """What may be measured: the knobs of its own schedule, else all sketches."""
        if self.own is not None:
            return Space([Sketch(OWN, self.own)])
        return Space(sketches_of(self.kernel, self.target))

    @cached_property
    def unscheduled(self) -> SequenceOp:
        """The schedule that says nothing."""
        return SequenceOp(self.kernel.sym_name.data, Region(Block()))

    def text(self, schedule: SequenceOp) -> str:
        """What a compiler process is given: the kernel with a schedule, under the entry's name."""
        module = ModuleOp(renamed(self.kernel, schedule, self.entry))
        for kernel in (op for op in module.ops if isinstance(op, KernelOp)):
            kernel.attributes.pop("te.layouts", None)  # a slice of a larger buffer is measured as a buffer of its own
        set_targets(module, {HOST: self.target})
        return nameless_text(module)

    def code(self, object_code: bytes, metadata: Mapping[str, Any]) -> Code:
        """The code that a compiler process made."""
        declared = declaration_in(metadata["declaration"])
        sizes = tuple(int(size) for size in scratch_bytes(declared))
        return Code(str(self.target), declared.sym_name.data, object_code, sizes)

    # -- arguments

    @property
    def arguments(self) -> Sequence[TensorSpec]:
        """Inputs, then outputs."""
        types = [*self.kernel.function_type.inputs.data, *self.kernel.function_type.outputs.data]
        dtypes = [dtype_name(element_type(type_), self.kernel) for type_ in types]
        shapes = [tuple(_size(d.constant) for d in dims_of(type_)) for type_ in types]
        return [TensorSpec(f"arg{i}", *of) for i, of in enumerate(zip(dtypes, shapes, strict=True))]

    @property
    def inputs(self) -> int:
        """How many of the arguments are read."""
        return len(self.kernel.function_type.inputs.data)

    @property
    def allowed(self) -> float:
        """How many units in the last place of the largest number a result may be off."""
        return SLACK * sum(size_of(c.reduction) + 4 for c in self.kernel.computes)

    @cached_property
    def operations(self) -> int:
        """How many operations of arithmetic the kernel does, what a reduction joins among them."""
        return sum(size_of([*c.spatial, *c.reduction]) * max(1, _arithmetic(c)) for c in self.kernel.computes)


def refuse_symbols(kernel: KernelOp) -> None:
    """Raise UsageError where a size is not known: a schedule is measured for sizes."""
    if kernel.symbols:
        names = ", ".join(kernel.symbols)
        raise UsageError(f"@{kernel.sym_name.data} has symbolic sizes ({names}): a schedule is measured for numbers")


def _size(value: int | None) -> int:
    assert value is not None
    return value


def _arithmetic(compute: ComputeOp) -> int:
    """The operations for one point of a stage's axes."""
    dialects = [op.name.partition(".")[0] for op in compute.body.walk()]
    return dialects.count("arith") + dialects.count("math") + len(compute.reduction[:1])
