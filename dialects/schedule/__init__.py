"""The schedule dialect: how to run a te kernel, primitive by primitive.

    schedule.sequence @dense_relu {
      %relu, %i, %j = schedule.stage "relu" [i, j]
      %dense, %i_1, %j_1, %k = schedule.stage "dense" [i, j, k]
      %jo, %ji = schedule.split %j factor 16 tail partition
      schedule.compute_at %dense, %jo
      schedule.vectorize %ji
      schedule.parallel %i
    }

The SSA graph of axes is the axis-relation graph: split and fuse consume leaf axes and produce new ones. Operations
apply in order, none is pure. An axis name in brackets is a reminder that is checked against the kernel. A number may be
a knob: `factor #schedule.knob<"tile_j", [8, 16, 32], 16>`.
"""

from xdsl.ir import Dialect

from tilework.dialects.schedule.annotations import (
    PRAGMAS,
    BindOp,
    ParallelOp,
    PragmaOp,
    TensorizeOp,
    UnrollOp,
    VectorizeOp,
)
from tilework.dialects.schedule.axes import FuseOp, ReorderOp, SingletonOp, SplitOp, Tail, TailAttr
from tilework.dialects.schedule.common import (
    AXIS,
    STAGE,
    AxisType,
    ScheduleOp,
    StageType,
)
from tilework.dialects.schedule.dataflow import (
    CacheReadOp,
    CacheWriteOp,
    ComputeInlineOp,
    PadToMultipleOp,
    ReindexOp,
    RFactorOp,
)
from tilework.dialects.schedule.knob import KnobAttr, Number, knobs_of, number_of, set_knobs
from tilework.dialects.schedule.placement import (
    ComputeAtOp,
    ComputeRootOp,
    CreateGroupOp,
    DecomposeReductionOp,
    EnvThreadsOp,
    ReverseComputeAtOp,
    SetStorePredicateOp,
)
from tilework.dialects.schedule.sequence import ArgumentOp, SequenceOp, StageOp
from tilework.dialects.schedule.storage import DoubleBufferOp, PrefetchOp, SetScopeOp, StorageAlignOp

__all__ = [
    "AXIS",
    "PRAGMAS",
    "STAGE",
    "ArgumentOp",
    "AxisType",
    "BindOp",
    "CacheReadOp",
    "CacheWriteOp",
    "ComputeAtOp",
    "ComputeInlineOp",
    "ComputeRootOp",
    "CreateGroupOp",
    "DecomposeReductionOp",
    "DoubleBufferOp",
    "EnvThreadsOp",
    "FuseOp",
    "KnobAttr",
    "Number",
    "PadToMultipleOp",
    "ParallelOp",
    "PragmaOp",
    "PrefetchOp",
    "RFactorOp",
    "ReindexOp",
    "ReorderOp",
    "ReverseComputeAtOp",
    "Schedule",
    "ScheduleOp",
    "SequenceOp",
    "SetScopeOp",
    "SetStorePredicateOp",
    "SingletonOp",
    "SplitOp",
    "StageOp",
    "StageType",
    "StorageAlignOp",
    "Tail",
    "TailAttr",
    "TensorizeOp",
    "UnrollOp",
    "VectorizeOp",
    "knobs_of",
    "number_of",
    "set_knobs",
]

Schedule = Dialect(
    "schedule",
    [
        SequenceOp,
        StageOp,
        ArgumentOp,
        SplitOp,
        FuseOp,
        SingletonOp,
        ReorderOp,
        ComputeAtOp,
        ComputeRootOp,
        ReverseComputeAtOp,
        CreateGroupOp,
        DecomposeReductionOp,
        SetStorePredicateOp,
        EnvThreadsOp,
        ComputeInlineOp,
        CacheReadOp,
        CacheWriteOp,
        ReindexOp,
        RFactorOp,
        PadToMultipleOp,
        SetScopeOp,
        StorageAlignOp,
        DoubleBufferOp,
        PrefetchOp,
        VectorizeOp,
        ParallelOp,
        UnrollOp,
        BindOp,
        PragmaOp,
        TensorizeOp,
    ],
    [StageType, AxisType, TailAttr, KnobAttr],
)
