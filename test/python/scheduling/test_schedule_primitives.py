"""Schedules as Python sees them: knobs, notes of refusals, threads without a device, extents beyond 32 bits."""

from __future__ import annotations

import numpy as np
import pytest
from programs import apply_phase
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from tilework.backends.llvm.emit_kernel import emit_kernels
from tilework.dialects import loop
from tilework.dialects.schedule import KnobAttr, SequenceOp, knobs_of, set_knobs
from tilework.dialects.schedule.builder import ScheduleBuilder
from tilework.dialects.support.diagnostics import CompileError, UsageError
from tilework.dialects.support.registration import make_context
from tilework.dialects.te import KernelOp
from tilework.interpreters.loop import run_loop_kernel
from tilework.interpreters.te import run_kernel
from tilework.targets.cpu.host import host_target

COPY = """
te.kernel @copy(%x: tensor<SHAPE>) -> tensor<SHAPE> {
  %y = te.compute "y" [i: ROWS, j: COLUMNS] : tensor<SHAPE> {
    %v = te.read %x[i, j] : tensor<SHAPE>
    te.yield %v : f32
  }
  te.return %y : tensor<SHAPE>
}
"""


def copy_kernel(rows: int = 8, columns: int = 64) -> KernelOp:
    text = COPY.replace("SHAPE", f"{rows}x{columns}xf32").replace("ROWS", str(rows)).replace("COLUMNS", str(columns))
    [kernel] = Parser(make_context(), text).parse_module().ops
    assert isinstance(kernel, KernelOp)
    kernel.detach()
    return kernel


def lowered(kernel: KernelOp, sequence: SequenceOp) -> ModuleOp:
    module = ModuleOp([kernel.clone(), sequence.clone()])
    apply_phase("compile-kernel", module)
    return module


def kernel_of(module: ModuleOp) -> loop.KernelOp:
    [kernel] = [op for op in module.ops if isinstance(op, loop.KernelOp)]
    return kernel


def tiled_by_knob(kernel: KernelOp) -> SequenceOp:
    s = ScheduleBuilder(kernel)
    y = s.stage("y")
    tile = KnobAttr.of("tile", [4, 8, 16], 8)
    for axis in y.axes.values():
        s.split(axis, tile)
    s.pragma(y.axes["i"], "auto_unroll_max_step", KnobAttr.of("unroll", [0, 64], 0))
    return s.finish()


def test_knobs_are_listed_once_each():
    knobs = knobs_of(tiled_by_knob(copy_kernel()))
    assert {name: knob.values for name, knob in knobs.items()} == {"tile": (4, 8, 16), "unroll": (0, 64)}


def test_setting_a_knob_changes_every_place_where_it_stands():
    sequence = tiled_by_knob(copy_kernel())
    set_knobs(sequence, {"tile": 4})
    assert str(sequence).count('#schedule.knob<"tile", [4, 8, 16], 4>') == 2
    assert '#schedule.knob<"unroll", [0, 64], 0>' in str(sequence)


def test_a_knob_is_the_number_it_is_set_to():
    kernel = copy_kernel()
    s = ScheduleBuilder(kernel)
    s.split(s.stage("y").axes["j"], KnobAttr.of("tile", [4, 8], 4))
    sequence = s.finish()
    extents = {}
    for tile in (4, 8):
        set_knobs(sequence, {"tile": tile})
        loops = [op for op in kernel_of(lowered(kernel, sequence)).walk() if isinstance(op, loop.ForOp)]
        extents[tile] = [op.extent.constant for op in loops]
    assert extents == {4: [8, 16, 4], 8: [8, 8, 8]}


@pytest.mark.parametrize(
    "values, message",
    [
        ({"tiles": 4}, "the schedule has no knob 'tiles'; its knobs are tile, unroll"),
        ({"tile": 5}, "knob 'tile' cannot be 5; its choices are 4, 8, 16"),
    ],
)
def test_what_is_no_choice_is_refused(values: dict[str, int], message: str):
    sequence = tiled_by_knob(copy_kernel())
    before = str(sequence)
    with pytest.raises(UsageError) as refused:
        set_knobs(sequence, values)
    assert str(refused.value) == message
    assert str(sequence) == before


def test_a_refusal_shows_the_nest_with_the_axis_marked():
    kernel = copy_kernel()
    s = ScheduleBuilder(kernel)
    y = s.stage("y")
    outer, _ = s.split(y.axes["j"], 16)
    s.parallel(y.axes["i"])
    s.unroll(outer)
    s.vectorize(outer)
    with pytest.raises(CompileError) as refused:
        lowered(kernel, s.finish())
    notes = [note for note, _ in refused.value.notes]
    assert notes[0] == (
        "the loop nest as it stands:\ny:\n  for i parallel\n    for j.outer unrolled  <-- here\n      for j.inner"
    )


def test_threads_are_interpreted_and_refused_by_a_cpu():
    kernel = copy_kernel()
    s = ScheduleBuilder(kernel)
    y = s.stage("y")
    x = s.cache_read(s.argument(0), "shared", [y], ["a", "b"])
    s.bind(y.axes["i"], "blockIdx.x")
    threads, _ = s.split(y.axes["j"], nparts=8)
    s.bind(threads, "threadIdx.x")
    s.compute_at(x, threads)
    s.bind(x.axes["b"], "threadIdx.x")
    module = lowered(kernel, s.finish())
    given = np.random.default_rng(0).standard_normal((8, 64), dtype=np.float32)
    got = np.full_like(given, np.nan)
    run_loop_kernel(kernel_of(module), [given], [got])
    assert np.array_equal(got, run_kernel(kernel, [given])[0])
    with pytest.raises(CompileError, match="is bound to blockIdx.x, which a CPU does not have; use parallel"):
        emit_kernels(module, host_target())


def test_indices_are_64_bits_wide():
    """2**31 columns in two rows: neither an extent nor a subscript fits 32 bits."""
    kernel = copy_kernel(2, 1 << 31)
    s = ScheduleBuilder(kernel)
    y = s.stage("y")
    _, inner = s.split(s.fuse(list(y.axes.values())), 16)
    s.vectorize(inner)
    text = emit_kernels(lowered(kernel, s.finish()), host_target())
    assert f"icmp slt i64 %i.j.outer.next, {1 << 28}" in text.replace("_", ".")
    assert "mul nsw i64" in text or "shl nsw i64" in text
    assert "i32 %i" not in text
