"""Which products may be left unrounded when they are added."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import Float32Type, Float64Type
from xdsl.ir import Operation, SSAValue

from tilework.dialects import arith
from tilework.dialects.te import ComputeOp, KernelOp, ReadOp, YieldOp
from tilework.transforms.base import TileworkPass


@dataclass(frozen=True)
class AllowContraction(TileworkPass):
    """Flag the products that one place reads, and all sums, with `contract`: the two may be rounded as one.

    %p = arith.mulf %a, %b : f32          %p = arith.mulf %a, %b fastmath<contract> : f32
    %s = arith.addf %p, %c : f32    ->    %s = arith.addf %p, %c fastmath<contract> : f32

    A product that several places read stays without the flag. It is rounded, so that all of them see one number, even
    where each of them computes it again: else `softmax(c * x)` would subtract a rounded maximum from exact products.
    A stage whose value is such a product is read in several places if there are several `te.read` of it, or if the
    kernel returns it.
    Requires nothing, and decides before stages are inlined; `loop-uplift-to-fma` joins what is flagged.
    """

    name = "te-allow-contraction"
    anchor = KernelOp

    def run(self, ctx: Context, op: Operation) -> None:
        for inner in op.walk():
            match inner:
                case arith.AddfOp() | arith.SubfOp() if _is_wide(inner.result):
                    inner.fastmath = arith.CONTRACT
                case arith.MulfOp() if _is_wide(inner.result) and _has_one_reader(inner.result):
                    inner.fastmath = arith.CONTRACT
                case _:
                    pass


def _is_wide(value: SSAValue) -> bool:
    """Whether processors fuse a multiplication and an addition of this type; numbers of 16 bits are widened first."""
    return isinstance(value.type, Float32Type | Float64Type)


def _has_one_reader(value: SSAValue) -> bool:
    """Whether one operation uses a value; where it is what a stage yields, whether one `te.read` reads the stage."""
    use = value.get_user_of_unique_use()
    if not isinstance(use, YieldOp) or not isinstance(stage := use.parent_op(), ComputeOp):
        return use is not None
    result = stage.results[list(use.values).index(value)]
    return isinstance(result.get_user_of_unique_use(), ReadOp)
