"""What happens to kernels that run on VDLA, step by step, each with its why."""

from __future__ import annotations

from xdsl.passes import ModulePass

from tilework.lowering.loop_to_vdla import LoopToVdla
from tilework.lowering.schedule_to_loop import ScheduleToLoop
from tilework.transforms.loop.flatten_storage import FlattenStorage
from tilework.transforms.loop.inject_virtual_thread import InjectVirtualThread
from tilework.transforms.loop.simplify import Simplify
from tilework.transforms.loop.tensorize import Tensorize
from tilework.transforms.vdla.assign_memory import AssignMemory
from tilework.transforms.vdla.double_buffer import DoubleBuffer
from tilework.transforms.vdla.fold_loops import FoldLoops
from tilework.transforms.vdla.forward_copies import ForwardCopies
from tilework.transforms.vdla.insert_tokens import InsertTokens
from tilework.transforms.vdla.order_loads import OrderLoads
from tilework.transforms.vdla.write_out_loops import WriteOutLoops

LOOPS: tuple[ModulePass, ...] = (
    ScheduleToLoop(),
    InjectVirtualThread(),  # first: loops are the same for all threads
    Simplify(),  # extents of one vanish
    FlattenStorage(),  # tiles are whole numbers of elements behind each other
    Tensorize(),
    LoopToVdla(),
    FoldLoops(),
    ForwardCopies(),  # behind it: a copy of a whole buffer is one instruction now
    DoubleBuffer(),  # before places are given
    AssignMemory(),  # before tokens: what lies in one place has to wait
    WriteOutLoops(),  # before tokens, which would not go from one iteration of a loop to another loop's
    OrderLoads(),  # behind it: operations stand side by side now
    InsertTokens(),  # last: what runs when is fixed
)
