"""Accelerators of the family VDLA as targets: their text form, their machines, and what other machines are asked."""

from __future__ import annotations

import subprocess
import sys

import pytest

import tilework as tw
from tilework import te
from tilework.algebra.errors import UsageError
from tilework.targets import parse_target
from tilework.targets.vdla.machines import PAPER, VTA
from tilework.targets.vdla.target import VdlaTarget


@pytest.mark.parametrize(
    "text", ["vdla", "vdla -machine=vta", "vdla -machine=vta -queue=1 -inp-kib=8", "vdla -dram-latency=0 -batch=4"]
)
def test_text_form_reads_back(text: str):
    target = parse_target(text)
    assert parse_target(str(target)) == target


def test_the_machine_of_the_paper_is_the_default():
    target = VdlaTarget.of(parse_target("vdla"))
    assert target == PAPER and target.operations_per_second == 102_400_000_000
    depths = {name: memory.depth for name, memory in target.memories.items()}
    assert depths == {"inp": 2048, "wgt": 128, "acc": 2048, "uop": 8192, "out": 2048}
    assert [target.memories[name].tile_bytes for name in ("inp", "wgt", "acc", "uop", "out")] == [16, 256, 64, 4, 16]


def test_another_machine_by_name():
    target = VdlaTarget.of(parse_target("vdla -machine=vta"))
    assert target == VTA and target.memories["wgt"].depth == 1024


def test_single_numbers_are_overridden():
    target = VdlaTarget.of(parse_target("vdla -queue=2 -inp-kib=8 -batch=2 -block-out=32"))
    assert (target.queue, target.memories["inp"].depth) == (2, 256)
    assert target.memories["acc"].tile_bytes == 2 * 32 * 4 and target.memories["wgt"].rows == 32


def test_what_passes_ask_of_every_target():
    target = parse_target("vdla -block-out=32")
    assert (target.family, target.cores, target.lanes(8), target.lanes(32)) == ("vdla", 1, 32, 32)
    assert not target.fuses and target.dot_bits == 0 and target.memory_speed == 8
    assert target.near_bytes == target.core_cache_bytes == 128 << 10 and not target.with_weights(1).weights_stay


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("vdla -inputs=8", "unknown option '-inputs=8'; the options are -machine, -batch, -block-in"),
        ("vdla -machine=vtb", "-machine=vtb: the known machines are paper, vta; did you mean 'vta'?"),
        ("vdla -queue", "option '-queue' needs a value, as in -queue=..."),
        ("vdla -queue=1 -queue=2", "option '-queue' is given twice"),
        ("vdla -queue=0", "-queue=0: expected a number that is 1 or more"),
        ("vdla -mhz=fast", "-mhz=fast: expected a number that is 1 or more"),
        ("vdla -dram-latency=-1", "-dram-latency=-1: expected a number that is 0 or more"),
        ("vdla -inp-kib=1 -block-in=2048", "the memory 'inp' has no room for one tile of 2048 bytes"),
    ],
)
def test_wrong_targets_are_explained(text: str, message: str):
    with pytest.raises(UsageError) as error:
        parse_target(text)
    assert message in str(error.value)


def test_code_for_it_refuses_other_targets():
    with pytest.raises(UsageError, match="for targets of the kind 'vdla', not for 'llvm -mtriple"):
        VdlaTarget.of(parse_target("llvm -mcpu=haswell"))


def test_kernels_without_its_memories_are_refused():
    x = te.placeholder((16,), name="x")
    y = te.compute((16,), lambda i: x[i] + 1.0, name="y")
    with pytest.raises(te.ScheduleError) as error:
        tw.build(te.create_schedule(y.op), [x, y], target="vdla")
    assert str(error.value) == (
        "no unit runs this: what is written to %y[i] is to be the lowest byte of an accumulator"
    )


def test_streams_are_read_and_run_without_the_compiler():
    script = """
import sys
from tilework.runtime.devices.vdla import assembly, encoding, simulator
print(*(name for name in sys.modules if name.partition(".")[0] in ("xdsl", "llvmlite")))
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""
