"""The accelerators of the family that have a name. Any of their numbers is overridden in a target's text."""

from __future__ import annotations

from tilework.targets.vdla.target import VdlaTarget

PAPER = VdlaTarget(
    kind="vdla",
    cores=1,
    batch=1,
    block_in=16,
    block_out=16,
    inp_kib=32,
    wgt_kib=32,
    acc_kib=128,
    uop_kib=32,
    queue=1024,
    commands=512,
    mhz=200,
    dram_bytes=8,
    dram_latency=64,
    alu_cycles=2,
)
"""The prototype that the paper on TVM describes (OSDI 2018, section 6.4), 102.4 GOPS.

The paper names neither queues nor DRAM: queues are those of the design that was published later, VTA's. A port of 64
bits to DRAM, with a latency of 64 cycles, is an assumption about the board, PYNQ, and was not measured.
"""

VTA = VdlaTarget(
    kind="vdla",
    cores=1,
    batch=1,
    block_in=16,
    block_out=16,
    inp_kib=32,
    wgt_kib=256,
    acc_kib=128,
    uop_kib=32,
    queue=1024,
    commands=512,
    mhz=100,
    dram_bytes=8,
    dram_latency=32,
    alu_cycles=2,
)
"""VTA as it was published, in its configuration for the same board. The latency of DRAM is an assumption here too."""

MACHINES = {"paper": PAPER, "vta": VTA}
"""The name that a target's text gives -> the accelerator; without a name it is the first."""
