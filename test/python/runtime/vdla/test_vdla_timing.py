"""How long streams take on VDLA, in cycles that are added up by hand; and what the report of a run says."""

from __future__ import annotations

import random

import numpy as np
import pytest
from vdla_programs import Matmul, data_for, machine, matmul, random_matmul

from tilework.runtime.devices.vdla.assembly import parse_stream
from tilework.runtime.devices.vdla.report import RunReport
from tilework.runtime.devices.vdla.simulator import simulate
from tilework.targets.vdla.units import Unit

DRAM_BYTES = 1 << 16


def run(text: str, options: str = "") -> RunReport:
    """The report on a stream; on the machine of the paper, DRAM moves 8 bytes a cycle, the first after 64 cycles."""
    return simulate(parse_stream(text), np.zeros(DRAM_BYTES, np.uint8), machine(options))


def spans(report: RunReport) -> list[tuple[int, int]]:
    """When each instruction began and ended, in the order of the stream."""
    return [(span.begin, span.end) for span in sorted(report.spans, key=lambda span: span.instruction)]


def test_a_load_takes_latency_and_bytes():
    """16 tiles have 256 bytes."""
    report = run("load.inp rows=2 columns=8 stride=99 push=load->compute\nfinish pop=load->compute\n")
    assert spans(report) == [(0, 64 + 32), (96, 97)]
    assert report.cycles == 97 and report.dram_cycles == 32 and report.dram_bytes["inp"] == 256


@pytest.mark.parametrize(
    ("load", "cycles"),
    [
        ("load.inp rows=1 columns=1 pad=0,0,3,4", 64 + 2 + 7),
        ("load.inp rows=1 columns=2 pad=1,1,1,1", 64 + 4 + 10),
        ("load.inp columns=3 pad=2,0,0,0", 6),
        ("load.inp", 1),
        ("load.wgt rows=1 columns=1", 64 + 32),
        ("load.wgt rows=3 columns=1 stride=1", 64 + 96),
    ],
)
def test_zeros_take_a_cycle_a_tile(load: str, cycles: int):
    report = run(f"{load} push=load->compute\nfinish pop=load->compute\n")
    assert spans(report)[0] == (0, cycles)


def test_bytes_that_do_not_fill_a_cycle():
    """A micro-operation has 4 bytes, which take one; 12 bytes take two."""
    report = run("uop\nuop\nuop\nload.uop rows=1 columns=1\nload.uop rows=1 columns=3\nfinish\n")
    assert spans(report) == [(0, 64 + 1), (65, 65 + 64 + 2), (131, 132)]


LONG = """
uop dst=0 src=0 wgt=0
load.uop rows=1 columns=1                                                             # 0 to 65
load.inp rows=1 columns=16                                                            # asks at 1, moves 65 to 97
load.wgt rows=1 columns=16 push=load->compute                                         # asks at 97, moves 161 to 673
gemm.reset uops=0:1                                                                   # 65 to 66
gemm uops=0:1 outer=1000:dst+0,src+0,wgt+0 inner=16:dst+0,src+1,wgt+1 pop=load->compute  # 673 to 16673
alu.max uops=0:1 outer=5:dst+0,src+0,wgt+0 imm=0 push=compute->store                  # 16673 to 16683
store rows=1 columns=1 pop=compute->store push=store->compute                         # moves 2 cycles, to 16749
finish pop=store->compute
"""


def test_a_long_product_is_bound_by_the_matrix_unit():
    report = run(LONG)
    loads, computations = [(0, 65), (1, 97), (97, 673)], [(65, 66), (673, 16673), (16673, 16683)]
    assert spans(report) == [*loads, *computations, (16683, 16749), (16749, 16750)]
    assert report.gemm_cycles == 16000 and report.utilisation == 16000 / 16750
    assert report.dram_cycles == 1 + 32 + 512 + 2


def test_where_a_long_product_waits():
    units = run(LONG).units
    assert units[Unit.LOAD].busy == 96 + 576 and units[Unit.LOAD].after == 16750 - 673
    assert units[Unit.LOAD].waited == {"fetch": 1}
    assert units[Unit.COMPUTE].waited == {"load->compute": 673 - 66, "store->compute": 16749 - 16683}
    assert units[Unit.STORE].waited == {"fetch": 6, "compute->store": 16683 - 6}


def streamed(count: int, options: str = "", tiles: int = 64) -> RunReport:
    """Products of so many inputs each, which are loaded into two buffers in turn, with one tile of weights."""
    lines = ["uop dst=0 src=0", f"uop dst=0 src={tiles}", "load.uop rows=1 columns=2", "gemm.reset uops=0:1"]
    lines.append("load.wgt rows=1 columns=1")
    for at in range(count):
        free = " pop=compute->load" if at >= 2 else ""
        lines.append(f"load.inp sram={at % 2 * tiles} rows=1 columns={tiles}{free} push=load->compute")
        more = " push=compute->load" if at + 2 < count else ""
        loop = f"inner={tiles}:dst+0,src+1,wgt+0"
        lines.append(f"gemm uops={at % 2}:{at % 2 + 1} {loop} pop=load->compute{more}")
    return run("\n".join([*lines, "finish"]), options)


def test_many_short_products_are_bound_by_dram():
    """Each load takes 64 + 128 cycles, during which the 64 products of the load before are done."""
    report = streamed(50)
    weights = 2 + 64 + 32  # asked for at 2, when two instructions have been fetched before
    assert report.cycles == weights + 50 * (64 + 128) + 64 + 1
    assert report.gemm_cycles == 50 * 64
    assert report.dram_cycles == 1 + 32 + 50 * 128
    assert report.units[Unit.LOAD].waited == {"fetch": 2}


def test_fast_dram_makes_them_bound_by_the_matrix_unit():
    """Each load takes 2 cycles: all but the first are hidden behind the 64 of a product."""
    report = streamed(50, "-dram-bytes=512 -dram-latency=0")
    weights = 2 + 1
    assert report.cycles == weights + 2 + 50 * 64 + 1
    assert report.utilisation == 3200 / 3206
    # Of each 64 cycles, in which the product two before it ends, a load takes 2 and waits for the others.
    assert report.units[Unit.LOAD].waited["compute->load"] == 48 * 62


def test_one_buffer_hides_nothing():
    """The same work as two buffers have: loads wait for products, and products for loads."""
    two, one = (product_cycles(inputs) for inputs in (2, 1))
    assert one.gemm_cycles == two.gemm_cycles and one.dram_bytes["wgt"] == two.dram_bytes["wgt"]
    assert one.utilisation < two.utilisation
    assert one.units[Unit.LOAD].waited["compute->load"] > two.units[Unit.LOAD].waited.get("compute->load", 0)


def product_cycles(inputs: int) -> RunReport:
    product = Matmul(16, 4, 32, (16, 2, 4), inputs=inputs, accumulators=2)
    return simulate(matmul(product, machine()), data_for(product, machine()).dram, machine())


def test_units_share_dram():
    """The store asks while a load of 4096 cycles is on its way, and is served after it."""
    report = run("""
uop
load.uop rows=1 columns=1                                           # 0 to 65
gemm.reset uops=0:1 push=compute->store                             # 65 to 66
load.inp rows=1 columns=2048 push=load->compute                     # asks at 2, moves 66 to 4162
store dram=4000 rows=1 columns=1 pop=compute->store push=store->compute  # asks at 66, could move at 130
finish pop=load->compute,store->compute
""")
    assert spans(report) == [(0, 65), (65, 66), (2, 4162), (66, 4164), (4164, 4165)]
    store = report.units[Unit.STORE]
    assert dict(store.waited) == {"fetch": 3, "compute->store": 63, "DRAM": 4162 - 130} and store.busy == 66


def test_of_those_that_ask_at_once_loads_come_first():
    """Zeros take the unit of loads as long as the store is held up, so that both ask at 1065."""
    report = run("""
uop
load.uop rows=1 columns=1
gemm.reset uops=0:1 outer=1000:dst+0,src+0,wgt+0 push=compute->store     # 65 to 1065
load.inp columns=1 pad=1063,0,0,0                                        # 2 to 1065
load.inp rows=1 columns=1 push=load->compute
store dram=4000 rows=1 columns=1 pop=compute->store push=store->compute
finish pop=load->compute,store->compute
""")
    assert spans(report)[3:] == [(1065, 1065 + 64 + 2), (1065, 1065 + 64 + 2 + 2), (1133, 1134)]


def test_a_full_queue_holds_up_who_pushes():
    text = """
uop
load.uop rows=1 columns=1                                     # 0 to 65
gemm.reset uops=0:1 outer=1000:dst+0,src+0,wgt+0              # 65 to 1065
load.inp push=load->compute                                   # 2 to 3
load.inp push=load->compute                                   # 3 to 4, then there is room at 1065
load.inp push=load->compute                                   # 1065 to 1066
load.uop pop=load->compute
load.uop pop=load->compute
finish pop=load->compute
"""
    one, two = run(text, "-queue=1"), run(text, "-queue=3")
    assert spans(one)[2:5] == [(2, 3), (3, 4), (1065, 1066)]
    assert spans(two)[2:5] == [(2, 3), (3, 4), (4, 5)]
    assert one.units[Unit.LOAD].waited == {"fetch": 2, "room in load->compute": 1061}
    assert two.units[Unit.LOAD].waited == {"fetch": 2}


def test_a_full_queue_of_commands_holds_up_others():
    """The fourth instruction is fetched when the unit has taken the second, and the store not before."""
    text = """
load.inp rows=1 columns=1                # 0 to 66
load.inp rows=1 columns=1                # 66 to 132
load.inp rows=1 columns=1 push=load->compute
store push=store->compute
finish pop=load->compute,store->compute
"""
    assert spans(run(text, "-commands=1"))[3] == (67, 68)
    assert spans(run(text))[3] == (3, 4)


def test_the_alu_takes_as_many_cycles_as_the_machine_says():
    loop = "outer=7:dst+0,src+0,wgt+0"
    text = f"uop\nload.uop rows=1 columns=1\ngemm.reset uops=0:1\nalu.add uops=0:1 {loop} imm=1\nfinish\n"
    for cycles in (1, 2, 5):
        assert spans(run(text, f"-alu-cycles={cycles}"))[2] == (66, 66 + 7 * cycles)


@pytest.mark.parametrize("seed", range(20))
def test_all_cycles_are_accounted_for(seed: int):
    draw = random.Random(seed)
    product = random_matmul(draw)
    options = f"-queue={draw.randint(1, 3)} -dram-bytes={draw.choice([1, 8, 64])} -commands={draw.choice([9, 64])}"
    target = machine(options)
    report = simulate(matmul(product, target), data_for(product, target).dram, target)
    for unit, spent in report.units.items():
        assert spent.busy + sum(spent.waited.values()) + spent.after == report.cycles
        own = [span for span in report.spans if span.unit is unit]
        assert all(one.end <= other.begin for one, other in zip(own, own[1:], strict=False))
    assert report.cycles == max(span.end for span in report.spans)
    assert report.gemm_cycles == product.m * product.n * product.k
    assert sum(report.dram_bytes.values()) <= report.dram_cycles * target.dram_bytes
    assert report.seconds == report.cycles / 200e6


def test_the_text_of_a_report():
    assert str(run(LONG)) == (
        "16750 cycles, 83.8 us at 200 MHz\n"
        "matrix unit: 16000 cycles, 95.5% of all\n"
        "DRAM: 547 cycles, 3.3% of all; bytes: 256 inp, 4096 wgt, 4 uop, 16 out\n"
        "load: 672 busy, 1 for fetch, 16077 after its last\n"
        "compute: 16077 busy, 607 for load->compute, 66 for store->compute, 0 after its last\n"
        "store: 66 busy, 6 for fetch, 16677 for compute->store, 1 after its last"
    )
