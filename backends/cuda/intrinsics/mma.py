"""Products of small matrices by warps: `mma.sync` and `ldmatrix`.

A tile of sums is eight registers of each thread. Thread number 4 * g + t has of the left half of its columns elements
(g, 2t), (g, 2t + 1), (g + 8, 2t) and (g + 8, 2t + 1), and then the same of the right half. Factors are loaded from
shared memory right before they are multiplied; LLVM sees that nothing is loaded twice.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation

from tilework.backends.cuda.fragments import FRAGMENT, number_of
from tilework.backends.llvm.emit_index import index_writer
from tilework.backends.llvm.emitter import Emitter, Handler
from tilework.dialects.loop import IntrinsicOp
from tilework.dialects.loop.buffer_regions import BufferRegion
from tilework.dialects.support.diagnostics import CompileError

_OLDER = ("sm_75",)
"""Devices whose warps multiply by other instructions."""

_ROW = 8
"""Rows of a factor begin at multiples of so many elements, which are 16 bytes."""


def _zero(e: Emitter, op: IntrinsicOp) -> None:
    for place in _sums(e, op, op.buffer_regions[0]):
        e.text.line(f"store float 0.0, ptr {place}, align 4")


def _multiply(kind: str, factor: str):
    """The handler for factors of a kind, two of which are one value of the LLVM type `factor`."""

    def write(e: Emitter, op: IntrinsicOp) -> None:
        if e.module.target.cpu in _OLDER:
            raise CompileError(f"@{op.intrinsic} needs a device from sm_80 on, not {e.module.target.cpu}", op)
        result, left, right = op.buffer_regions
        a = _loaded(e, op, left, "", factor)
        b = _loaded(e, op, right, ".trans", factor)
        places = _sums(e, op, result)
        for half in range(2):
            own = places[4 * half : 4 * half + 4]
            sums = [e.text.value(f"load float, ptr {place}, align 4") for place in own]
            factors = ", ".join(f"{factor} {v}" for v in (*a, *b[2 * half : 2 * half + 2]))
            added = ", ".join(f"float {v}" for v in sums)
            four = "{ float, float, float, float }"
            new = e.text.value(f"call {four} @llvm.nvvm.mma.m16n8k16.row.col.{kind}({factors}, {added})")
            for i, place in enumerate(own):
                e.text.line(f"store float {e.text.value(f'extractvalue {four} {new}, {i}')}, ptr {place}, align 4")

    return write


def _loaded(e: Emitter, op: IntrinsicOp, part: BufferRegion, how: str, factor: str) -> list[str]:
    """A factor of 16 x 16 elements: thread l says where row l % 16 begins, in its left or, from 16 on, right half."""
    stride = part.strides[0]
    if stride % _ROW or part.position.offset % _ROW or any(c % _ROW for _, c in part.position.terms):
        name = part.memref.name_hint or "?"
        message = f"rows of %{name} begin at no multiple of {_ROW} elements: give them such a stride by storage_align"
        raise CompileError(message, op)
    lane, value = _lane(e), e.text.value
    row, half = value(f"and i32 {lane}, 15"), value(f"lshr i32 {lane}, 4")
    inside = value(f"add i32 {value(f'mul i32 {row}, {stride}')}, {value(f'shl i32 {half}, 3')}")
    at = _pointer(e, op, part, inside, "i16")
    four = "{ i32, i32, i32, i32 }"
    found = value(f"call {four} @llvm.nvvm.ldmatrix.sync.aligned.m8n8.x4{how}.b16.p3(ptr addrspace(3) {at})")
    words = [value(f"extractvalue {four} {found}, {i}") for i in range(4)]
    return words if factor == "i32" else [value(f"bitcast i32 {word} to {factor}") for word in words]


def _store(e: Emitter, op: IntrinsicOp) -> None:
    """Each thread writes what it has; then all of them have written."""
    result, tile = op.buffer_regions
    lane, value = _lane(e), e.text.value
    row, column = value(f"lshr i32 {lane}, 2"), value(f"shl i32 {value(f'and i32 {lane}, 3')}, 1")
    first = value(f"add i32 {value(f'mul i32 {row}, {result.strides[0]}')}, {column}")
    for i, place in enumerate(_sums(e, op, tile)):
        number = value(f"load float, ptr {place}, align 4")
        half, below, beside = i // 4, i % 4 // 2, i % 2
        inside = value(f"add i32 {first}, {8 * below * result.strides[0] + 8 * half + beside}")
        e.text.line(f"store float {number}, ptr addrspace(3) {_pointer(e, op, result, inside, 'float')}, align 4")
    e.text.line("call void @llvm.nvvm.bar.warp.sync(i32 -1)")


def _lane(e: Emitter) -> str:
    """The number of a thread in its warp: along x there is one warp."""
    return e.text.value("call i32 @llvm.nvvm.read.ptx.sreg.tid.x()")


def _pointer(e: Emitter, op: IntrinsicOp, part: BufferRegion, inside: str, element: str) -> str:
    """A pointer to an element of a part in shared memory, given its distance from the first one."""
    first = index_writer(e, op).expr(part.position)
    at = e.text.value(f"getelementptr inbounds {element}, ptr addrspace(3) {e.get(part.memref)}, {e.index} {first}")
    return e.text.value(f"getelementptr inbounds {element}, ptr addrspace(3) {at}, i32 {inside}")


def _sums(e: Emitter, op: IntrinsicOp, tile: BufferRegion) -> list[str]:
    """Pointers to the sums of a tile that a thread has."""
    first = FRAGMENT * number_of(tile, op)
    buffer = e.get(tile.memref)
    return [e.text.value(f"getelementptr float, ptr {buffer}, i32 {first + i}") for i in range(FRAGMENT)]


HANDLERS: Mapping[str | type[Operation], Handler] = {
    "mma.zero": _zero,
    "mma.f16": _multiply("f32.f32", "<2 x half>"),
    "mma.bf16": _multiply("bf16", "i32"),
    "mma.store": _store,
}
