"""What the passes of `compile-kernel` leave together."""

import pytest
from programs import apply_phase, for_target
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, TensorType, f32, i64
from xdsl.dialects.test import TestOp

from tilework.dialects import graph
from tilework.dialects.graph.base import ints
from tilework.dialects.loop import IfOp
from tilework.dialects.te import KernelOp
from tilework.dialects.te.builder import KernelBuilder


def conv(*extents: int) -> KernelOp:
    """A padded convolution of 32 channels in blocks of 16, with three taps along each axis, for 16 filters."""
    k, rank = KernelBuilder("conv"), len(extents)
    shapes = (1, 2, *extents, 16), (16, 32, *(3,) * rank)
    x, w = (k.argument(TensorType(f32, shape), name) for name, shape in zip("xw", shapes, strict=True))
    unpack = graph.UnpackOp.of(
        *TestOp(result_types=[x.value.type]).results, axis=IntegerAttr(1, i64), size=IntegerAttr(32, i64)
    )
    [weight] = TestOp(result_types=[w.value.type]).results
    ones = ints([1] * rank)
    op = graph.ConvOp.of(
        unpack.result, weight, strides=ones, dilations=ones, pads=ints([1] * 2 * rank), groups=IntegerAttr(1, i64)
    )
    return k.finish([op.define(k, unpack.define(k, x), w)])


@pytest.mark.parametrize("cpu", ["haswell", "skylake-avx512", "neoverse-n1"])
def test_padding_along_three_axes_takes_no_conditions(cpu: str):
    """Copies for each end of each axis would be too many; the outer axes take bounds of loops instead."""
    module = ModuleOp([conv(8, 14, 29)])
    apply_phase("compile-kernel", for_target(module, f"llvm -mcpu={cpu}"))
    assert not [op for op in module.walk() if isinstance(op, IfOp)]
