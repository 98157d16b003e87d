"""What happens to the parts of a program that run on a processor, step by step, each with its why."""

from __future__ import annotations

from xdsl.passes import ModulePass
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination

from tilework.lowering.schedule_to_loop import ScheduleToLoop
from tilework.transforms.graph.choose_algorithms import ChooseAlgorithms
from tilework.transforms.graph.choose_layouts import ChooseLayouts
from tilework.transforms.graph.fold_parameters import FoldParameters
from tilework.transforms.graph.fuse_depthwise import FuseDepthwise
from tilework.transforms.graph.pack_parameters import PackParameters
from tilework.transforms.host.alternate_calls import AlternateCalls
from tilework.transforms.loop.emulate_narrow_types import EmulateNarrowTypes
from tilework.transforms.loop.flatten_storage import FlattenStorage
from tilework.transforms.loop.hoist_invariant import HoistInvariant
from tilework.transforms.loop.inject_double_buffer import InjectDoubleBuffer
from tilework.transforms.loop.inject_prefetch import InjectPrefetch
from tilework.transforms.loop.inject_virtual_thread import InjectVirtualThread
from tilework.transforms.loop.partition import Partition
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

CALLS: tuple[ModulePass, ...] = (AlternateCalls(),)

LOOPS: tuple[ModulePass, ...] = (
    ScheduleToLoop(),
    InjectVirtualThread(),  # first: conditions are innermost still, and loops the same for all threads
    RewriteUnsafeSelect(),  # before simplify: a choice between loads is a condition like any other then
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
