"""A case: a kernel, a schedule of it and a machine; and smaller ones that may fail as it does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from tilework.targets.vdla.target import VdlaTarget
from tilework.tools.fuzz.check import Outcome
from tilework.tools.fuzz.draw import Draw
from tilework.tools.fuzz.vdla.check import check, compiled, program_of, put_in_dram
from tilework.tools.fuzz.vdla.kernels import Kernel, random_kernel
from tilework.tools.fuzz.vdla.layers import Layer, layer_of, ruled_schedule
from tilework.tools.fuzz.vdla.machines import machine, random_machine
from tilework.tools.fuzz.vdla.planting import plant_faults
from tilework.tools.fuzz.vdla.schedules import random_schedule


@dataclass(frozen=True)
class Case:
    """A kernel, a schedule of it and a machine; `seed` is that of the data, and of faults to plant."""

    kernel: Kernel
    schedule: str
    target: VdlaTarget
    seed: int

    def run(self) -> Outcome:
        """Check it, then plant faults in its stream; a crash is a difference."""
        try:
            outcome = check(self.kernel, self.schedule, self.target, self.seed)
            if outcome.refused or outcome.difference:
                return outcome
            counts, missed = self.with_faults()
            return Outcome(difference=missed, counts=counts)
        except Exception as error:  # whatever escapes is a finding
            cause = error.__cause__ or error
            return Outcome(difference=f"{type(cause).__name__}: {cause}")

    def with_faults(self) -> tuple[Counter[str], str | None]:
        """How many faults were found and harmless that were planted in the stream, and what was missed."""
        found = compiled(program_of(self.kernel, self.schedule, self.target), self.target)
        dram = np.zeros(found.size, np.uint8)
        put_in_dram(dram, found.places, self.kernel.arguments(self.seed))
        return plant_faults(found.stream, self.target, dram, self.seed)

    def traits(self) -> list[str]:
        """What accepted cases are counted by."""
        return [
            name
            for name, holds in (
                ("have virtual threads", "vthread" in self.schedule),
                ("have a tile of the rule's", isinstance(self.kernel, Layer)),
                ("store several bytes", isinstance(self.kernel, Layer) and self.kernel.planes is not None),
                ("pad", self.kernel.is_padded),
                ("double buffers", "double_buffer" in self.schedule),
                ("unroll", "schedule.unroll" in self.schedule),
            )
            if holds
        ]

    def smaller(self) -> Iterator[Case]:
        """The case on the usual machine, and without single lines of the schedule that nothing depends on."""
        usual = machine(f"-block-in={self.target.block_in} -block-out={self.target.block_out}")
        if self.target != usual:
            yield replace(self, target=usual)
        first, *lines, last = self.schedule.splitlines()
        for i in reversed(range(len(lines))):
            made = [name.strip() for name in lines[i].partition(" = ")[0].split(",")] if " = " in lines[i] else []
            rest = lines[:i] + lines[i + 1 :]
            words = " ".join(rest).replace(",", " ").split()
            if not any(name in words for name in made):
                yield replace(self, schedule="\n".join([first, *rest, last]))

    def __str__(self) -> str:
        return f"// data seed = {self.seed}\n{program_of(self.kernel, self.schedule, self.target)}\n"


def random_case(draw: Draw, seed: int) -> Case:
    """A kernel, a machine, and a schedule at random or by the rule for products."""
    target = random_machine(draw)
    kernel = random_kernel(draw, target)
    if draw.chance(40):
        layer = layer_of(kernel, draw.choice((None, None, 4, 2)))
        schedule = ruled_schedule(layer, target, draw)
        if schedule is not None:
            return Case(layer, schedule, target, seed)
    return Case(kernel, random_schedule(kernel, draw), target, seed)
