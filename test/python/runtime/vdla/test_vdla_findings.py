"""What the simulator of VDLA says of each kind of fault, and which instructions it names."""

from __future__ import annotations

import numpy as np
import pytest
from vdla_programs import machine
from vdla_streams import random_stream

from tilework.runtime.devices.vdla.assembly import parse_stream
from tilework.runtime.devices.vdla.findings import Fault, Finding, StreamError
from tilework.runtime.devices.vdla.simulator import simulate

START = """
uop dst=0 src=0 wgt=0
load.uop rows=1 columns=1
gemm.reset uops=0:1
"""
"""Instructions 0 and 1, after which the first accumulator is zero."""


def findings_of(text: str, options: str = "", dram_bytes: int = 4096) -> tuple[Finding, ...]:
    with pytest.raises(StreamError) as error:
        simulate(parse_stream(text), np.zeros(dram_bytes, np.uint8), machine(options))
    return error.value.findings


@pytest.mark.parametrize(
    ("text", "options", "fault", "instructions", "message"),
    [
        (
            "load.inp rows=1 columns=1\nfinish pop=load->compute # the end\n",
            "",
            Fault.DEADLOCK,
            (1,),
            "instruction 1 (finish, from the end) waits for a token of load->compute, which nothing pushes any more",
        ),
        (
            "load.inp pop=compute->load push=load->compute # x\nload.uop pop=load->compute push=compute->load\n"
            "finish\n",
            "",
            Fault.DEADLOCK,
            (0, 1),
            "instruction 0 (load.inp, from x) waits for a token of compute->load, which instruction 1 (load.uop) would "
            "push; instruction 1 (load.uop) waits for a token of load->compute, which instruction 0 (load.inp, from x) "
            "would push",
        ),
        (
            "load.inp push=load->compute\nload.inp push=load->compute\nfinish\n",
            "-queue=1",
            Fault.DEADLOCK,
            (1,),
            "instruction 1 (load.inp) waits for room in load->compute, which nothing empties",
        ),
        (  # each unit has filled the queue to the other
            "load.uop push=compute->store\nload.uop push=compute->store\nload.uop push=compute->store\n"
            "load.uop push=compute->store\nload.uop pop=store->compute\nstore pop=compute->store push=store->compute\n"
            "store pop=compute->store push=store->compute\nstore pop=compute->store\nfinish\n",
            "-queue=1",
            Fault.DEADLOCK,
            (3, 6),
            "instruction 3 (load.uop) waits for room in compute->store, from which instruction 7 (store) would take "
            "one; instruction 6 (store) waits for room in store->compute, from which instruction 4 (load.uop) would "
            "take one",
        ),
        (
            "store pop=compute->store push=store->compute\nload.uop pop=store->compute\n"
            "load.uop push=compute->store\nfinish\n",
            "",
            Fault.DEADLOCK,
            (1, 0),
            "instruction 1 (load.uop) waits for a token of store->compute, which instruction 0 (store) would push; "
            "instruction 0 (store) waits for a token of compute->store, which instruction 2 (load.uop) would push",
        ),
        (
            "load.inp pop=compute->load\nload.inp\nload.inp\nload.uop push=compute->load\nfinish\n",
            "-commands=1",
            Fault.DEADLOCK,
            (0, 3),
            "instruction 0 (load.inp) waits for a token of compute->load, which instruction 3 (load.uop) would push; "
            "instruction 3 (load.uop) is not fetched, since the queue of commands of the unit 'load' is full",
        ),
        (
            "load.inp push=load->compute # a\nload.inp push=load->compute # b\nfinish pop=load->compute\n",
            "",
            Fault.LEFT_OVER,
            (1,),
            "a token is left in load->compute, pushed by instruction 1 (load.inp, from b)",
        ),
        (
            "load.inp push=load->compute\nload.inp push=load->compute\nfinish\n",
            "",
            Fault.LEFT_OVER,
            (0, 1),
            "2 tokens are left in load->compute, pushed by instruction 0 (load.inp), instruction 1 (load.inp)",
        ),
        (
            "load.inp # last\nfinish\n",
            "",
            Fault.UNFINISHED,
            (0, 1),
            "instruction 0 (load.inp, from last) may still run when instruction 1 (finish) says that all is done",
        ),
        (
            f"{START}gemm uops=0:1\nfinish\n",
            "",
            Fault.NOT_LOADED,
            (2,),
            "instruction 2 (gemm) reads tile 0 of inp, which nothing has written before",
        ),
        (
            f"{START}alu.add uops=0:1 outer=4:dst+2,src+0,wgt+0 imm=1\nfinish\n",
            "",
            Fault.NOT_LOADED,
            (2,),
            "instruction 2 (alu.add) reads some of tiles 2 to 6 of acc, which nothing has written before",
        ),
        (
            f"{START}alu.min uops=0:1 inner=2:dst+0,src+3,wgt+0\nfinish\n",
            "",
            Fault.NOT_LOADED,
            (2,),
            "instruction 2 (alu.min) reads tile 3 of acc, which nothing has written before",
        ),
        (
            "gemm.reset uops=0:3\nfinish\n",
            "",
            Fault.NOT_LOADED,
            (0,),
            "instruction 0 (gemm.reset) reads tiles 0 to 2 of uop, which nothing has written before",
        ),
        (
            f"{START}load.inp rows=1 columns=1 # x\nload.wgt rows=1 columns=1 push=load->compute\n"
            "load.inp rows=1 columns=1 push=load->compute # y\ngemm uops=0:1 pop=load->compute # z\n"
            "load.uop pop=load->compute\nfinish\n",
            "",
            Fault.EARLY_READ,
            (4, 5),
            "instruction 5 (gemm, from z) reads tile 0 of inp, which instruction 4 (load.inp, from y) writes: no token "
            "makes it wait",
        ),
        (
            f"{START}load.inp rows=1 columns=1\nload.wgt rows=1 columns=1 push=load->compute\n"
            "gemm uops=0:1 pop=load->compute # z\nload.inp rows=1 columns=4 push=load->compute # y\n"
            "load.uop pop=load->compute\nfinish\n",
            "",
            Fault.EARLY_WRITE,
            (4, 5),
            "instruction 5 (load.inp, from y) writes tile 0 of inp, which instruction 4 (gemm, from z) reads: no token "
            "makes it wait",
        ),
        (
            f"{START}load.uop push=compute->store\nstore rows=1 columns=1 pop=compute->store push=store->compute\n"
            "gemm.reset uops=0:1\nfinish pop=store->compute\n",
            "",
            Fault.EARLY_WRITE,
            (3, 4),
            "instruction 4 (gemm.reset) writes tile 0 of acc, which instruction 3 (store) reads: no token makes it "
            "wait",
        ),
        (
            f"{START}load.uop push=compute->store\n"
            "store rows=1 columns=1 dram=4 pop=compute->store push=store->compute\n"
            "load.inp rows=1 columns=8 push=load->compute\nfinish pop=load->compute,store->compute\n",
            "",
            Fault.EARLY_READ,
            (3, 4),
            "instruction 4 (load.inp) reads bytes 64 to 79 of DRAM, which instruction 3 (store) writes: no token makes "
            "it wait",
        ),
        (
            "load.inp sram=2040 rows=1 columns=20 push=load->compute # x\nfinish pop=load->compute\n",
            "",
            Fault.OUT_OF_RANGE,
            (0,),
            "instruction 0 (load.inp, from x) writes tiles 2048 to 2059 of inp, which has 2048",
        ),
        (
            "load.inp dram=250 rows=2 columns=2 stride=5 push=load->compute\nfinish pop=load->compute\n",
            "",
            Fault.OUT_OF_RANGE,
            (0,),
            "instruction 0 (load.inp) reads bytes 4000 to 4111 of DRAM, which has 4096",
        ),
        (
            "store sram=2048 rows=1 columns=1 push=store->compute\nfinish pop=store->compute\n",
            "",
            Fault.OUT_OF_RANGE,
            (0,),
            "instruction 0 (store) reads tile 2048 of acc, which has 2048",
        ),
        (
            "uop dst=1\nload.uop rows=1 columns=2\nfinish\n",
            "",
            Fault.OUT_OF_RANGE,
            (0,),
            "instruction 0 (load.uop) reads micro-operation 1 of the table, which has 1",
        ),
        (
            f"{START}gemm.reset uops=0:1 outer=3:dst+1024,src+0,wgt+0\nfinish\n",
            "",
            Fault.OUT_OF_RANGE,
            (2,),
            "instruction 2 (gemm.reset) writes tile 2048 of acc, which has 2048",
        ),
        (
            f"{START}gemm uops=0:1 outer=2:dst+0,src+0,wgt+128\nfinish\n",
            "",
            Fault.OUT_OF_RANGE,
            (2,),
            "instruction 2 (gemm) reads tile 128 of wgt, which has 128",
        ),
        (
            "gemm.reset uops=8191:8193\nfinish\n",
            "",
            Fault.OUT_OF_RANGE,
            (0,),
            "instruction 0 (gemm.reset) reads tile 8192 of uop, which has 8192",
        ),
    ],
)
def test_each_fault(text: str, options: str, fault: Fault, instructions: tuple[int, ...], message: str):
    found = next(one for one in findings_of(text, options) if one.fault is fault)
    assert found.instructions == instructions
    assert message in found.message


@pytest.mark.parametrize(
    ("text", "instructions"),
    [
        ("load.inp pop=compute->load\nstore pop=compute->store\nfinish\n", [(0,), (1,)]),
        (  # the second has pushed to the unit of loads already, and is held up by a full queue to the other
            "load.uop push=compute->store\nload.uop push=compute->load,compute->store\nload.inp pop=compute->load\n"
            "load.inp pop=compute->load\nfinish\n",
            [(3,), (1,)],
        ),
        (  # the fourth has taken a token of loads already, and waits for one of stores
            "load.inp push=load->compute\nload.inp push=load->compute\nload.inp push=load->compute\n"
            "load.uop pop=load->compute,store->compute\nfinish\n",
            [(2,), (3,)],
        ),
        (  # the store waits as well, but for what the first unit would push if it went on
            "load.uop pop=load->compute push=compute->store\nstore pop=compute->store\n"
            "load.inp pop=compute->load\nfinish\n",
            [(2,), (0,)],
        ),
    ],
    ids=["tokens", "after a push", "after a pop", "one behind"],
)
def test_two_deadlocks_are_two_findings(text: str, instructions: list[tuple[int, ...]]):
    """Each of two units waits for what never comes."""
    found = [one.instructions for one in findings_of(text, "-queue=1") if one.fault is Fault.DEADLOCK]
    assert found == instructions


def test_a_race_names_the_tiles_of_one_instruction():
    loads = "load.inp rows=1 columns=1\nload.inp sram=1 rows=1 columns=2\nload.wgt rows=1 columns=1\n"
    found = findings_of(f"{loads}{START}gemm uops=0:1 inner=3:dst+0,src+1,wgt+0\nfinish\n")
    assert "reads tile 0 of inp, which instruction 0 (load.inp) writes" in str(found[0])


HUGE = 10**30


@pytest.mark.parametrize(
    "line",
    [
        f"load.inp sram={HUGE} dram={HUGE} rows={HUGE} columns={HUGE} stride={HUGE} push=load->compute",
        f"load.inp rows={HUGE} columns=1 push=load->compute",
        f"load.uop columns={HUGE} rows=1",
        f"load.uop rows=2 columns=1 stride={HUGE}",
        f"store rows={HUGE} columns={HUGE} dram={HUGE} push=store->compute",
        f"gemm uops=0:{HUGE}",
        f"gemm uops={HUGE}:{HUGE + 1}",
        f"gemm.reset uops=0:1 outer={HUGE}:dst+1,src+0,wgt+0 inner={HUGE}:dst+{HUGE},src+0,wgt+0",
        f"alu.add uops=0:1 outer={HUGE}:dst+0,src+1,wgt+0",
        f"load.inp pad={HUGE},0,0,{HUGE} push=load->compute",
    ],
)
def test_huge_numbers_are_out_of_range(line: str):
    """Nothing grows with them: not the time that it takes to find them, and not the room."""
    unit = line.rpartition("push=")[2] if "push=" in line else ""
    found = findings_of(f"{START}{line}\nfinish{f' pop={unit}' * bool(unit)}\n")
    assert Fault.OUT_OF_RANGE in {one.fault for one in found}


def test_the_last_tile_that_a_loop_reaches():
    """It is not a multiple of the step that divides the memory's size."""
    found = findings_of(f"{START}alu.add uops=0:1 outer=683:dst+3,src+0,wgt+0 imm=1\nfinish\n")
    assert [str(one) for one in found] == [
        "read of what was not loaded: instruction 2 (alu.add) reads some of tiles 3 to 2046 of acc, which nothing has "
        "written before"
    ]


def test_loops_that_do_not_run_touch_nothing():
    for loop in ("outer=0:dst+0,src+0,wgt+0", "inner=0:dst+9999,src+9999,wgt+0"):
        simulate(parse_stream(f"{START}gemm uops=0:1 {loop}\nfinish\n"), np.zeros(64, np.uint8), machine())


def test_a_load_that_fills_its_memory():
    store = "store dram=2047 rows=1 columns=1 pop=compute->store push=store->compute"
    load = "load.inp rows=2 columns=1024 stride=1024 push=load->compute"
    text = f"{START}load.uop push=compute->store\n{store}\n{load}\nfinish pop=load->compute,store->compute\n"
    found = findings_of(text, dram_bytes=1 << 15)
    assert [one.instructions for one in found] == [(3, 4)] and "bytes 32752 to 32767 of DRAM" in str(found[0])


def test_a_tile_of_which_dram_has_a_part():
    found = findings_of("load.wgt rows=1 columns=2 push=load->compute\nfinish pop=load->compute\n", "", 300)
    assert "reads bytes 0 to 511 of DRAM, which has 300" in str(found[0]) and len(found) == 1


def test_a_finish_before_others_begin_is_found():
    text = "load.inp rows=1 columns=9\nload.inp\nstore\nfinish\n"
    found = [one.instructions for one in findings_of(text) if one.fault is Fault.UNFINISHED]
    assert found == [(0, 3), (2, 3)]


def test_a_race_is_one_although_there_was_time_enough():
    """On this machine the load has long ended when the product begins."""
    loads = "load.inp rows=1 columns=1\nload.wgt rows=1 columns=1\n"
    text = f"{loads}{START}load.acc rows=64 columns=16\ngemm uops=0:1\nfinish\n"
    found = [
        (one.fault, one.instructions) for one in findings_of(text, dram_bytes=1 << 17) if one.fault is Fault.EARLY_READ
    ]
    assert found == [(Fault.EARLY_READ, (0, 5)), (Fault.EARLY_READ, (1, 5))]


def test_room_in_a_queue_orders_nothing():
    """A second token does not fit before the first is taken, but a machine with a longer queue would not wait."""
    text = f"""{START}
load.inp rows=1 columns=1
load.wgt rows=1 columns=1 push=load->compute
load.inp push=load->compute
load.inp push=load->compute
load.inp rows=1 columns=1
gemm uops=0:1 pop=load->compute
load.uop pop=load->compute
load.uop pop=load->compute
load.inp push=load->compute
finish pop=load->compute
"""
    found = findings_of(text, "-queue=1")
    assert [(one.fault, one.instructions) for one in found] == [(Fault.EARLY_READ, (6, 7))]


def test_nothing_is_computed_by_a_stream_that_is_not_clean():
    text = f"{START}load.uop push=compute->store\nstore rows=1 columns=1 pop=compute->store\nfinish\n"
    dram = np.ones(64, np.uint8)
    with pytest.raises(StreamError, match="not waited for: instruction 3"):
        simulate(parse_stream(text), dram, machine())
    assert dram.all()


def test_the_message_of_the_error_tells_the_first_findings():
    loads = "load.inp dram=9999 rows=1 columns=1\n" * 20
    with pytest.raises(StreamError) as error:
        simulate(parse_stream(f"{loads}finish\n"), np.zeros(64, np.uint8), machine())
    lines = str(error.value).splitlines()
    assert lines[0] == "the stream is not clean:" and lines[-1] == "  ... and 13 more"
    assert lines[1].startswith("  address out of range: instruction 0 (load.inp) reads bytes 159984 to 159999 of DRAM")
    assert len(lines) == 10 and len(error.value.findings) == 21


@pytest.mark.parametrize("seed", range(30))
def test_streams_without_sense_are_refused(seed: int):
    """Whatever numbers and tokens instructions have, what is wrong is found, and fast."""
    with pytest.raises(StreamError):
        simulate(random_stream(seed), np.zeros(4096, np.uint8), machine())
