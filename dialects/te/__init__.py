"""The te dialect: for every kernel, what each element of each tensor equals. Nothing here says in which order.

    te.kernel @dense_relu(%x: tensor<1x64xf32>, %w: tensor<32x64xf32>) -> tensor<1x32xf32> {
      %dense = te.compute "dense" [i: 1, j: 32] reduce [k: 64] : tensor<1x32xf32> {
        %a = te.read %x[i, k] : tensor<1x64xf32>
        %b = te.read %w[j, k] : tensor<32x64xf32>
        %p = arith.mulf %a, %b : f32
        te.reduce add %p : f32
      }
      ...
      te.return %relu : tensor<1x32xf32>
    }

Axes are named per compute and appear by name in indices. `te.read` reads an argument or another compute. A reduction
combines `te.reduce`'s operands over the reduce axes with a commutative reducer, starting from its identity. A compute
may have several results, tensors of one shape; `te.scan` makes tensors step by step along their first axis; what
`te.extern` makes is filled by statements of the loop level. Scalars are signless, as in `arith`: an element of a tensor
of unsigned integers is read as bits.
"""

from __future__ import annotations

from xdsl.ir import Dialect

from tilework.dialects.support.index_attr import TeIndexAttr, TeWhenAttr
from tilework.dialects.te.extern import ExternOp, buffers_block, externs_of, stages_of
from tilework.dialects.te.intrinsic import CallIntrinsicOp, IntrinsicOp
from tilework.dialects.te.reduce import REDUCERS, ReduceOp
from tilework.dialects.te.scalars import IfThenElseOp, IndexOp, ReadOp, YieldOp, enclosing_compute
from tilework.dialects.te.scan import ScanOp, StateOp, scans_of
from tilework.dialects.te.structure import ComputeOp, KernelOp, ReturnOp, symbols_in

__all__ = [
    "REDUCERS",
    "TE",
    "CallIntrinsicOp",
    "ComputeOp",
    "ExternOp",
    "IfThenElseOp",
    "IndexOp",
    "IntrinsicOp",
    "KernelOp",
    "ReadOp",
    "ReduceOp",
    "ReturnOp",
    "ScanOp",
    "StateOp",
    "YieldOp",
    "buffers_block",
    "enclosing_compute",
    "externs_of",
    "scans_of",
    "stages_of",
    "symbols_in",
]

TE = Dialect(
    "te",
    [
        *(KernelOp, ComputeOp, ReadOp, IndexOp, IfThenElseOp, CallIntrinsicOp, YieldOp, ReduceOp, StateOp, ScanOp),
        *(ExternOp, ReturnOp, IntrinsicOp),
    ],
    [TeIndexAttr, TeWhenAttr],
)
