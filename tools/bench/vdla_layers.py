"""The convolutions of ResNet-18 on VDLA, with and without virtual threads: the roofline of the TVM paper (figure 10).

Layers are those of table 2, of bytes; their sums are shifted and cut to bytes, as the machine does it with the fewest
instructions. The first layer is left out: its three channels do not fill a tile. Times are the simulator's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i8, i32, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tilework.algebra.index_expr import const
from tilework.analysis.layout_classes import CHANNELS
from tilework.analysis.program_targets import set_targets
from tilework.backends.vdla.emit import places_in_dram, stream_of
from tilework.dialects.graph.base import ints
from tilework.dialects.graph.broadcast import MaxOp, MinOp
from tilework.dialects.graph.cast import CastOp
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.layout import UnpackOp
from tilework.dialects.graph.logic import ShiftRightOp
from tilework.dialects.graph.structure import FusedOp, YieldOp
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.shapes import tensor_type
from tilework.dialects.te import KernelOp
from tilework.driver.phases import run_phase
from tilework.rules.vdla.product_form import product_form
from tilework.rules.vdla.tile import THREADS, TileChoice
from tilework.rules.vdla.tiled_product import TiledProductPlan
from tilework.runtime.devices.vdla.report import RunReport
from tilework.runtime.devices.vdla.simulator import prepare
from tilework.targets import parse_target
from tilework.targets.vdla.target import VdlaTarget
from tilework.tools.bench.operators import OPERATOR, parse_operator
from tilework.transforms.graph.numbers import constant
from tilework.transforms.graph.packed_groups import pack_of
from tilework.transforms.graph.te_kernels import build_kernel

LAYERS = tuple(f"C{i}" for i in range(2, 13))

SHIFT = 8
"""Sums are divided by two to the power of this; how long that takes does not depend on it."""


def simulated_layer(sizes: Mapping[str, int], target: VdlaTarget, threads: int) -> RunReport:
    """A run of the schedule that the rule writes with so many virtual threads at most."""
    kernel = build_kernel("conv", layer(sizes, target))
    form = product_form(kernel, target, frozenset())
    assert form is not None
    tile = TileChoice(form, target).best(threads)
    assert tile is not None
    print(tile, TileChoice(form, target).cycles(tile))
    schedule = TiledProductPlan(kernel, target, frozenset(), form, tile).schedule(kernel)
    module = ModuleOp([kernel, schedule])
    set_targets(module, {"host": target})
    run_phase("compile-vdla-kernel", make_context(), module)
    function = next(op for op in module.ops if isinstance(op, FuncOp))
    _, dram_bytes = places_in_dram(function, target)
    return prepare(stream_of(function, target), dram_bytes, target).report


def layer(sizes: Mapping[str, int], target: VdlaTarget) -> FusedOp:
    """A convolution of these sizes whose operands and results are in tiles."""
    channels, filters, size, window, stride = (sizes[name] for name in ("ic", "oc", "hw", "k", "stride"))
    out, into = target.block_out, target.block_in
    block = Block(
        arg_types=[
            _bytes(1, channels // into, size, size, into),
            _bytes(filters // out, channels // into, window, window, out, into),
        ]
    )

    def add(op: Operation) -> SSAValue:
        block.add_op(op)
        return op.results[0]

    def unpacked(value: SSAValue, axis: int, count: int) -> SSAValue:
        return add(UnpackOp.of(value, axis=IntegerAttr(axis, i64), size=IntegerAttr(count, i64)))

    def number(value: int) -> SSAValue:
        return add(constant(value, i32))

    padding = max((-(-size // stride) - 1) * stride + window - size, 0)
    before, behind = padding // 2, padding - padding // 2
    total = add(
        ConvOp.of(
            unpacked(block.args[0], CHANNELS, channels),
            unpacked(unpacked(block.args[1], 1, channels), 0, filters),
            strides=ints([stride, stride]),
            pads=ints([before, before, behind, behind]),
            dilations=ints([1, 1]),
            groups=IntegerAttr(1, i64),
        )
    )
    shifted = add(ShiftRightOp.of(total, number(SHIFT)))
    cut = add(MinOp.of(add(MaxOp.of(shifted, number(-128))), number(127)))
    packed = add(pack_of(add(CastOp.of(cut, to=i8)), CHANNELS, out))
    block.add_op(YieldOp([packed]))
    return FusedOp("conv", Block(arg_types=block.arg_types).args, [packed.type], Region(block))


def _bytes(*sizes: int) -> Attribute:
    return tensor_type([const(size) for size in sizes], i8)


if __name__ == "__main__":
    import sys
    target = VdlaTarget.of(parse_target("vdla"))
    for name in sys.argv[1:] or LAYERS:
        _, sizes = parse_operator(f"{OPERATOR}{name}")
        for threads in (1, THREADS):
            r = simulated_layer(sizes, target, threads)
            moved=sum(r.dram_bytes.values())
            print(name, threads, r.cycles, f"{r.utilisation:.1%}", {u.value: (f"{s.busy/r.cycles:.0%}", {k:v for k,v in s.waited.items() if v>r.cycles/50}) for u,s in r.units.items()}, len(r.spans), dict(r.dram_bytes), flush=True)
