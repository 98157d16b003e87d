"""The loop dialect: imperative programs over buffers. Kernels are loop nests; the host is a function that calls them.

    loop.kernel @dense ins(%x: memref<?x64xf32> [N, 64], %w: memref<32x64xf32>)
                       outs(%y: memref<?x32xf32> [N, 32]) symbols(%N) {
      loop.for %i = 0 to %N "i" parallel {
        loop.for %j = 0 to 2 "j.outer" {
          %acc = memref.alloca() : memref<16xf32, "register">
          ...
          %v = loop.load %acc[%l] : memref<16xf32, "register">
          loop.store %v, %y[%i, 16 * %j + %l] : memref<?x32xf32>

Index arithmetic is written where it is used: bounds, subscripts and conditions are expressions over SSA values of type
`index`. Everything else is `arith`, `math`, `memref` and `vector`. Loops have a name and a kind; unrolling and
vectors stay attributes until the emitter, respectively until `loop-vectorize`. What a schedule asks of later passes are
attributes too, such as `loop.double_buffer`, described in dialects/loop/annotations.py. The iterations of a loop of
kind `threadIdx.x` and its like are threads of a device; a loop inside another of the same kind deals its iterations out
to the same threads. Those of kind `vthread` are virtual threads, which `loop-inject-virtual-thread` interleaves.
"""

from xdsl.ir import Dialect

from tilework.dialects.loop.access import ApplyOp, LoadOp, StoreOp
from tilework.dialects.loop.barrier import BarrierOp
from tilework.dialects.loop.bytes import BytesOp, WordsOp
from tilework.dialects.loop.common import INDEX
from tilework.dialects.loop.control import (
    BLOCK_THREADS,
    BLOCKS,
    DEVICE_THREADS,
    PARALLEL_WORK,
    THREADS,
    ForOp,
    IfOp,
    Kind,
    KindAttr,
    YieldOp,
)
from tilework.dialects.loop.intrinsic import CallIntrinsicOp, IntrinsicOp
from tilework.dialects.loop.invoke import InvokeOp
from tilework.dialects.loop.kernel import CallOp, KernelOp
from tilework.dialects.loop.prefetch import PrefetchOp
from tilework.dialects.loop.symbol import SymbolOp
from tilework.dialects.loop.transpose import TransposeOp
from tilework.dialects.loop.wait import WaitOp
from tilework.dialects.support.index_attr import LoopIndexAttr, LoopWhenAttr

__all__ = [
    "INDEX",
    "PARALLEL_WORK",
    "THREADS",
    "BLOCKS",
    "BLOCK_THREADS",
    "DEVICE_THREADS",
    "ApplyOp",
    "BarrierOp",
    "BytesOp",
    "CallIntrinsicOp",
    "CallOp",
    "ForOp",
    "IfOp",
    "IntrinsicOp",
    "InvokeOp",
    "KernelOp",
    "Kind",
    "KindAttr",
    "LoadOp",
    "Loop",
    "PrefetchOp",
    "StoreOp",
    "SymbolOp",
    "TransposeOp",
    "WaitOp",
    "WordsOp",
    "YieldOp",
]

Loop = Dialect(
    "loop",
    [
        KernelOp,
        ForOp,
        IfOp,
        YieldOp,
        LoadOp,
        StoreOp,
        PrefetchOp,
        TransposeOp,
        BytesOp,
        WordsOp,
        ApplyOp,
        CallIntrinsicOp,
        IntrinsicOp,
        CallOp,
        InvokeOp,
        SymbolOp,
        WaitOp,
        BarrierOp,
    ],
    [KindAttr, LoopIndexAttr, LoopWhenAttr],
)
