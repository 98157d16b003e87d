"""What happens to kernels that run on devices with blocks of threads, step by step, each with its why."""

from __future__ import annotations

from xdsl.passes import ModulePass

from tilework.lowering.schedule_to_loop import ScheduleToLoop
from tilework.transforms.loop.bind_warps import BindWarps
from tilework.transforms.loop.emulate_narrow_types import EmulateNarrowTypes
from tilework.transforms.loop.flatten_storage import FlattenStorage
from tilework.transforms.loop.hoist_invariant import HoistInvariant
from tilework.transforms.loop.infer_scopes import InferScopes
from tilework.transforms.loop.inject_virtual_thread import InjectVirtualThread
from tilework.transforms.loop.insert_barriers import InsertBarriers
from tilework.transforms.loop.lower_thread_allreduce import LowerThreadAllreduce
from tilework.transforms.loop.map_threads import MapThreads
from tilework.transforms.loop.narrow_indices import NarrowIndices
from tilework.transforms.loop.pipeline_fetches import PipelineFetches
from tilework.transforms.loop.rewrite_unsafe_select import RewriteUnsafeSelect
from tilework.transforms.loop.simplify import Simplify
from tilework.transforms.loop.split_host_device import SplitHostDevice
from tilework.transforms.loop.tensorize import Tensorize
from tilework.transforms.loop.unroll import Unroll
from tilework.transforms.loop.unroll_lanes import UnrollLanes
from tilework.transforms.loop.uplift_to_fma import UpliftToFma
from tilework.transforms.loop.verify_registers import VerifyRegisters
from tilework.transforms.loop.verify_resources import VerifyResources
from tilework.transforms.loop.widen_bfloat16 import WidenBfloat16

LOOPS: tuple[ModulePass, ...] = (
    ScheduleToLoop(),
    InjectVirtualThread(),  # first: loops are the same for all threads
    RewriteUnsafeSelect(),
    InferScopes(),
    LowerThreadAllreduce(),  # before barriers, which what it shares needs
    BindWarps(),  # behind it: a warp that multiplies is no sum of its threads
    InsertBarriers(),  # while a loop says by its kind which threads do it
    MapThreads(),  # the text is what one thread does now
    VerifyResources(),  # before time is spent on what no device runs
    Simplify(),
    FlattenStorage(),
    PipelineFetches(),  # behind barriers, which stay where they are; before unroll, for its registers
    Tensorize(),
    UpliftToFma(),
    EmulateNarrowTypes(),
    WidenBfloat16(),
    UnrollLanes(),  # threads are the lanes of a device's vectors
    Unroll(),
    VerifyRegisters(),
    Simplify(),
    HoistInvariant(),
    SplitHostDevice(),  # behind what looks at all launches of a kernel together
    NarrowIndices(),  # last: one launch with large sizes leaves the others as they are
)
