"""The named pipelines: what happens to a program, in order, each step with its why."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.passes import ModulePass
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination

from tilework.lowering.graph_to_te import GraphToTe
from tilework.lowering.schedule_to_loop import ScheduleToLoop
from tilework.lowering.te_to_schedule import TeToSchedule
from tilework.transforms.graph.annotate_views import AnnotateViews
from tilework.transforms.graph.choose_algorithms import ChooseAlgorithms
from tilework.transforms.graph.choose_layouts import ChooseLayouts
from tilework.transforms.graph.collapse_axes import CollapseAxes
from tilework.transforms.graph.fold_batch_norm import FoldBatchNorm
from tilework.transforms.graph.fold_padding import FoldPadding
from tilework.transforms.graph.fold_parameters import FoldParameters
from tilework.transforms.graph.fuse_depthwise import FuseDepthwise
from tilework.transforms.graph.fuse_operators import FuseOperators
from tilework.transforms.graph.fuse_rows import FuseRows
from tilework.transforms.graph.fuse_tall_products import FuseTallProducts
from tilework.transforms.graph.hoist_elementwise import HoistElementwise
from tilework.transforms.graph.keep_bytes import KeepBytes
from tilework.transforms.graph.pack_parameters import PackParameters
from tilework.transforms.graph.quantized_products import QuantizedProducts
from tilework.transforms.graph.remove_identities import RemoveIdentities
from tilework.transforms.graph.share_kernels import ShareKernels
from tilework.transforms.graph.space_to_batch import SpaceToBatch
from tilework.transforms.graph.state_requirements import StateRequirements
from tilework.transforms.graph.transpose_weights import TransposeWeights
from tilework.transforms.graph.widen_half_precision import WidenHalfPrecision
from tilework.transforms.host.alternate_calls import AlternateCalls
from tilework.transforms.loop.emulate_narrow_types import EmulateNarrowTypes
from tilework.transforms.loop.flatten_storage import FlattenStorage
from tilework.transforms.loop.hoist_invariant import HoistInvariant
from tilework.transforms.loop.inject_double_buffer import InjectDoubleBuffer
from tilework.transforms.loop.inject_prefetch import InjectPrefetch
from tilework.transforms.loop.partition import Partition
from tilework.transforms.loop.plan_memory import PlanMemory
from tilework.transforms.loop.rewrite_unsafe_select import RewriteUnsafeSelect
from tilework.transforms.loop.simplify import Simplify
from tilework.transforms.loop.skip_padding import SkipPadding
from tilework.transforms.loop.storage_fold import StorageFold
from tilework.transforms.loop.storage_rewrite import StorageRewrite
from tilework.transforms.loop.tensorize import Tensorize
from tilework.transforms.loop.transpose import Transpose
from tilework.transforms.loop.unroll import Unroll
from tilework.transforms.loop.unroll_steps import UnrollSteps
from tilework.transforms.loop.unswitch import Unswitch
from tilework.transforms.loop.uplift_to_fma import UpliftToFma
from tilework.transforms.loop.vectorize import Vectorize
from tilework.transforms.loop.verify_registers import VerifyRegisters
from tilework.transforms.loop.widen_bfloat16 import WidenBfloat16
from tilework.transforms.schedule.apply_dataflow import ApplyDataflow
from tilework.transforms.te.allow_contraction import AllowContraction
from tilework.transforms.te.expand_powers import ExpandPowers
from tilework.transforms.te.halve_symmetric_products import HalveSymmetricProducts

GRAPH: tuple[ModulePass, ...] = (
    StateRequirements(),  # first: operators still know the nodes that they come from
    RemoveIdentities(),  # early: what changes nothing hides neighbours from the folds
    WidenHalfPrecision(),  # behind it: casts to the type that a value has would round; before what looks for floats
    FoldPadding(),
    KeepBytes(),  # before what multiplies bytes is found
    QuantizedProducts(),  # before what changes dequantized weights, or moves images
    FoldBatchNorm(),  # leaves computations on parameters
    HoistElementwise(),  # the mul and add of a batch norm can go in front of a concat, the norm itself cannot
    FoldBatchNorm(),  # what stands beside convolutions now
    SpaceToBatch(),  # it pads for itself
    TransposeWeights(),
    CommonSubexpressionElimination(),  # what exporters write twice, and what the folds made equal
    FoldParameters(),  # what depends on parameters alone is computed once, at compile time
    AnnotateViews(),  # right before fusion, which leaves views out of the kernels
    FuseTallProducts(),
    FuseRows(),  # first: a softmax is a kernel of its own else
    FuseOperators(),  # it fixes what becomes one kernel
    CollapseAxes(),  # behind fusion: a matter of whole kernels
    ShareKernels(),  # last: what is the same now stays the same
    FoldParameters(),  # the numbers that kernels are given
)

RULES: tuple[ModulePass, ...] = (
    ChooseLayouts(),  # with the best algorithm for every kernel in every layout in mind
    ChooseAlgorithms(),
    FuseDepthwise(),  # only now is it known which layouts and algorithms meet there
    CommonSubexpressionElimination(),  # what several kernels read is transformed once
    FoldParameters(),  # another algorithm reads other parameters, which are packed now
    PackParameters(),
    CommonSubexpressionElimination(),  # and packed once
    FoldParameters(),  # packing moves into @prepare too
)

SCHEDULE: tuple[ModulePass, ...] = (
    ExpandPowers(),  # before rules, which inline what is cheap
    AllowContraction(),  # before stages are inlined, after which nobody knows who else computes a product
    HalveSymmetricProducts(),
    TeToSchedule(),  # a kernel that brings its own schedule keeps it
    ApplyDataflow(),  # primitives that rewrite te first: lowering takes only those that shape loops
)

LOOPS: tuple[ModulePass, ...] = (
    ScheduleToLoop(),
    RewriteUnsafeSelect(),  # first: a choice between loads is a condition like any other then
    Simplify(),  # extents of one vanish, so that partition sees the conditions that matter
    SkipPadding(),  # before partition, which finds where
    Simplify(),  # conditions around whole loops become their bounds, which takes no copies
    StorageFold(),  # before vectorize: rows are found by their subscripts
    InjectDoubleBuffer(),  # before partition, which may copy the loop around the buffer
    InjectPrefetch(),  # before flatten-storage: the region read is a box of several dimensions
    Partition(),  # before vectorize: lanes under a condition have no simple vector form
    Simplify(),  # the conditions that the pieces decide
    FlattenStorage(),  # before vectorize: the distance between lanes is a stride of one subscript
    Tensorize(),  # behind flatten-storage: rows have one stride; before vectorize: elements are scalars
    UpliftToFma(),  # behind what looks for products, before what moves them away from their sums
    Vectorize(),
    Transpose(),  # right after vectorize: lanes far apart
    EmulateNarrowTypes(),  # after vectorize: whole vectors of halves are bytes; before unroll, for its lane loops
    WidenBfloat16(),  # after vectorize, which has less to look at then
    Unroll(),  # after vectorize: lanes are no loops any more
    VerifyRegisters(),  # what is not unrolled now never will be
    Simplify(),
    Unswitch(),  # after unroll: the loops that ask are marked; before hoist-invariant, which looks into the branches
    HoistInvariant(),
    UnrollSteps(),  # after hoist-invariant: what is loaded in every step is all that a step loads
    StorageRewrite(),  # last: until then, loads of different buffers are known to be independent
)

PIPELINES: Mapping[str, tuple[ModulePass, ...]] = {
    "optimize-graph": GRAPH,
    "apply-rules": RULES,
    "lower-to-te": (GraphToTe(), AlternateCalls()),
    "plan-host": (PlanMemory(),),  # last of all: it needs to know every kernel's scratch
    "schedule-kernels": SCHEDULE,
    "compile-kernel": (*SCHEDULE, *LOOPS),
}
"""Every pipeline that `opt-tool` knows by name."""
