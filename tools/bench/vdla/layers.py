"""The convolutions of ResNet-18 on VDLA, with and without virtual threads: the roofline of the TVM paper (figure 10).

Layers are those of table 2, of bytes; their sums are shifted and cut to bytes, as the machine does it with the fewest
instructions. The first layer is left out: its three channels do not fill a tile. Times are the simulator's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import prod
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i8, i32, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tilework.algebra.index_expr import const
from tilework.analysis.layout_classes import CHANNELS
from tilework.analysis.program_targets import HOST, set_targets
from tilework.backends.vdla.emit import places_in_dram, stream_of
from tilework.dialects.graph.base import ints
from tilework.dialects.graph.broadcast import MaxOp, MinOp
from tilework.dialects.graph.cast import CastOp
from tilework.dialects.graph.convolution import ConvOp
from tilework.dialects.graph.layout import UnpackOp
from tilework.dialects.graph.logic import ShiftRightOp
from tilework.dialects.graph.structure import FusedOp, YieldOp
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.shapes import dims_of, tensor_type
from tilework.driver.phases import run_phase
from tilework.rules.vdla.product_form import product_form
from tilework.rules.vdla.tile import THREADS, TileChoice
from tilework.rules.vdla.tiled_product import TiledProductPlan
from tilework.runtime.devices.vdla.report import RunReport
from tilework.runtime.devices.vdla.simulator import prepare
from tilework.targets import parse_target
from tilework.targets.vdla.target import VdlaTarget
from tilework.tools.bench.operators import OPERATOR, parse_operator
from tilework.tools.bench.roofline import Measured, Roofline
from tilework.tools.bench.table import percent
from tilework.tools.bench.vdla.report import report_values
from tilework.transforms.graph.numbers import constant
from tilework.transforms.graph.packed_groups import pack_of
from tilework.transforms.graph.te_kernels import build_kernel

LAYERS = tuple(f"C{i}" for i in range(2, 13))

KINDS = {"single": 1, "threads": THREADS}
"""What is compared: at most so many virtual threads."""

SHIFT = 8
"""Sums are divided by two to the power of this; how long that takes does not depend on it."""


PAPER = 0.70, 0.88
"""How much of the machine's peak the paper's fastest layer reaches, without virtual threads and with them."""


def measure(layers: Sequence[str]) -> dict[str, Any]:
    """Each of some layers without virtual threads and with those that the rule chooses, as JSON values."""
    target = VdlaTarget.of(parse_target("vdla"))
    limits = Roofline(target.operations_per_second, target.dram_bytes * target.mhz * 1e6)
    return {
        "target": str(target),
        "limits": asdict(limits),
        "layers": {name: _measured(parse_operator(f"{OPERATOR}{name}")[1], target) for name in layers},
    }


def _measured(sizes: Mapping[str, int], target: VdlaTarget) -> dict[str, Any]:
    """Operations and bytes are those that the layer is defined by: each operand is loaded, each result stored once."""
    group = layer(sizes, target)
    elements = [prod(d.offset for d in dims_of(type_)) for type_ in (*group.operand_types, *group.result_types)]
    terms = elements[1] // sizes["oc"]
    runs = {kind: report_values(simulated(group, target, most)) for kind, most in KINDS.items()}
    return {"operations": 2 * elements[2] * terms, "bytes": sum(elements), **runs}


def rows_of(measured: Mapping[str, Any]) -> list[list[str]]:
    """A table of them; last what the fastest layers reach, and the paper's."""
    head = ["cycles", "of peak", "of roofline"]
    rows = [["layer", *head, *(f"{title}, threads" for title in head), "times as fast"]]
    runs = [runs_of(measured, name) for name in KINDS]
    for (name, values), one, several in zip(measured["layers"].items(), *runs, strict=True):
        cells = [
            [str(values[kind]["cycles"]), percent(run.of_peak), percent(run.of_roofline)]
            for kind, run in zip(KINDS, (one, several), strict=True)
        ]
        rows.append([name, *cells[0], *cells[1], f"{one.seconds / several.seconds:.2f}"])
    for name, best in (("most", [max(run.of_peak for run in of) for of in runs]), ("TVM's paper", PAPER)):
        rows.append([name, "", percent(best[0]), "", "", percent(best[1]), "", ""])
    return rows


def runs_of(measured: Mapping[str, Any], kind: str) -> list[Measured]:
    """The runs of all layers without virtual threads, or with them."""
    limits = Roofline(**measured["limits"])
    return [
        Measured(name, 1, layer["operations"], layer["bytes"], layer[kind]["microseconds"] / 1e6, limits)
        for name, layer in measured["layers"].items()
    ]


def simulated(group: FusedOp, target: VdlaTarget, most_threads: int) -> RunReport:
    """A run of the schedule that the rule writes with at most so many virtual threads."""
    kernel = build_kernel("conv", group)
    form = product_form(kernel, target, frozenset())
    assert form is not None
    tile = TileChoice(form, target).best(most_threads)
    assert tile is not None
    module = ModuleOp([kernel, TiledProductPlan(kernel, target, frozenset(), form, tile).schedule(kernel)])
    set_targets(module, {HOST: target})
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
