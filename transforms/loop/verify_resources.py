"""Refuse kernels that ask for more than a device has, before any code is made."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.ir import Operation

from tilework.analysis.accesses import memory_space
from tilework.analysis.launches import Launch, launches
from tilework.analysis.program_targets import target_of
from tilework.analysis.sizes import bits_of
from tilework.dialects.loop import BLOCKS, KernelOp, Kind
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.memory_scopes import SHARED, is_of_intrinsics, is_private, untagged
from tilework.targets.gpu.target import GpuTarget
from tilework.transforms.base import TileworkPass


@dataclass(frozen=True)
class VerifyResources(TileworkPass):
    """Refuse a launch with more threads a block, blocks, shared memory, or memory of a thread than its target allows,
    and buffers in other memory.

    loop.for %t = 0 to 2048 "t" threadIdx.x { .. }  ->  error: a block has 2048 threads, and 'opencl ..' allows 256

    This is a check and no pattern: it rewrites nothing. Requires kernels that say what each thread does
    (`loop-map-threads`); changes nothing.
    """

    name = "loop-verify-resources"
    anchor = KernelOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, KernelOp)
        if op.is_declaration:
            return
        target = GpuTarget.of(target_of(op))
        for launch in launches(op):
            _verify_threads(launch, target)
            _verify_blocks(launch, target)
            _verify_memory(launch, target)


def _verify_threads(launch: Launch, target: GpuTarget) -> None:
    threads = launch.block_threads
    if (count := prod(threads.values())) > target.threads:
        axes = " x ".join(f"{extent} of {kind}" for kind, extent in threads.items())
        raise CompileError(
            f"a block has {count} threads ({axes}), and '{target}' allows {target.threads}: split the axes by less",
            launch.statement,
        )
    _refuse_more(launch, Kind.THREAD_Z, target.most_threads_z)


def _verify_blocks(launch: Launch, target: GpuTarget) -> None:
    for kind in BLOCKS[:2]:
        _refuse_more(launch, kind, target.most_blocks_yz)


def _refuse_more(launch: Launch, kind: Kind, most: int) -> None:
    count = launch.extents[kind].constant if kind in launch.extents else None
    if count is not None and count > most:
        other = "blockIdx.x" if kind in BLOCKS else "threadIdx.x"
        what = f"{kind} has {count} iterations, and at most {most} are possible: bind the axis to {other}, or split it"
        raise CompileError(what, launch.statement)


def _verify_memory(launch: Launch, target: GpuTarget) -> None:
    taken = {True: 0, False: 0}  # by whether it is a thread's own
    for op in launch.statement.walk():
        if not isinstance(op, memref.AllocaOp):
            continue
        name, scope = op.memref.name_hint or "?", memory_space(op.memref)
        is_own = is_private(scope)
        if not is_own and untagged(scope) != SHARED:
            raise CompileError(
                f'%{name} is in memory "{scope}", and threads have only "shared" and "local" memory: put it into one '
                "of these, or compute its stage at the root",
                op,
            )
        threads = target.warp if is_of_intrinsics(scope) else 1  # of what a warp has each thread holds a part
        taken[is_own] += op.memref.type.element_count() * bits_of(op.memref.type) // 8 // threads
        allowed = target.thread_bytes if is_own else target.shared_bytes
        if taken[is_own] > allowed:
            whose = "a thread's own buffers" if is_own else "a block's shared buffers"
            raise CompileError(
                f"{whose} take {taken[is_own]} bytes with %{name}, and '{target}' allows {allowed}: compute the stage "
                "at an inner loop, or split by less",
                op,
            )
