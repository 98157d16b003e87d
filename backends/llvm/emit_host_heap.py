"""Memory of the host function that is allocated while it runs: for tensors of which data alone decide the size.

Blocks are chained, the newest first, and given back where the block of code ends that took them, and at every return.
An output of such a size is the caller's to free, whether the call fails or not.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref
from xdsl.ir import Block

from tilework.backends.llvm.emitter import Emitter
from tilework.backends.llvm.text import ModuleText

MOST_BYTES = float(1 << 47)
"""No machine has so much: sizes are multiplied as floating-point numbers first, so that none wraps around."""


class Heap:
    """The chain of one function. `begin` is called at its start."""

    def __init__(self, module: ModuleText):
        self._module = module
        self.chain = ""

    def begin(self, e: Emitter) -> None:
        """Start with no block."""
        self.chain = e.text.entry("alloca ptr, align 8", "heap")
        e.text.line(f"store ptr null, ptr {self.chain}")
        self._module.define_once("tilework_take", lambda: _HELPERS)
        self._module.declare("malloc", "declare noalias ptr @malloc(i64)")
        self._module.declare("free", "declare void @free(ptr)")

    def mark(self, e: Emitter) -> str:
        """The newest block so far."""
        return e.text.value(f"load ptr, ptr {self.chain}")

    def release(self, e: Emitter, mark: str = "null") -> None:
        """Give back all blocks that are newer."""
        e.text.line(f"call void @tilework_release(ptr {self.chain}, ptr {mark})")

    def take(self, e: Emitter, size: str) -> str:
        """A new block of so many bytes; null where there is none."""
        return e.text.value(f"call ptr @tilework_take(ptr {self.chain}, i64 {size})", "taken")


def allocates(block: Block) -> bool:
    """Whether a block of code takes memory while it runs."""
    return any(isinstance(op, memref.AllocOp) for op in block.ops)


def checked_size(e: Emitter, dims: Sequence[str], element: int) -> tuple[str, str]:
    """How many bytes elements of some dimensions take, and whether a machine could have as many."""
    size, wide = str(element), f"{float(element)!r}"
    for dim in dims:
        size = e.text.value(f"mul i64 {size}, {dim}")
        wide = e.text.value(f"fmul double {wide}, {e.text.value(f'sitofp i64 {dim} to double')}")
    return size, e.text.value(f"fcmp ole double {wide}, {MOST_BYTES!r}")


_HELPERS = """define internal ptr @tilework_take(ptr %chain, i64 %bytes) nounwind {
  %size = add i64 %bytes, 128
  %block = call ptr @malloc(i64 %size)
  %is_null = icmp eq ptr %block, null
  br i1 %is_null, label %fails, label %there
there:
  %before = load ptr, ptr %chain
  store ptr %before, ptr %block
  store ptr %block, ptr %chain
  %address = ptrtoint ptr %block to i64
  %behind = add i64 %address, 72
  %aligned = and i64 %behind, -64
  %result = inttoptr i64 %aligned to ptr
  ret ptr %result
fails:
  ret ptr null
}

define internal void @tilework_release(ptr %chain, ptr %end) nounwind {
  br label %test
test:
  %block = load ptr, ptr %chain
  %is_end = icmp eq ptr %block, %end
  br i1 %is_end, label %done, label %next
next:
  %before = load ptr, ptr %block
  store ptr %before, ptr %chain
  call void @free(ptr %block)
  br label %test
done:
  ret void
}
"""
