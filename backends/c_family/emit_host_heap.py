"""Memory of the host function that is allocated while it runs, as in the LLVM back end's `emit_host_heap.py`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref
from xdsl.ir import Block

from tilework.backends.c_family.emitter import Emitter

MOST_BYTES = float(1 << 47)
"""No machine has so much: sizes are multiplied as floating-point numbers first, so that none wraps around."""


class Heap:
    """The chain of blocks of one function, the newest first. `begin` is called at its start."""

    def __init__(self) -> None:
        self._chain = ""

    def begin(self, e: Emitter) -> None:
        """Start with no block."""
        e.file.define_once("tilework_take", lambda: _HELPERS)
        self._chain = e.text.fresh("heap")
        e.text.line(f"void *{self._chain} = 0;")

    def mark(self, e: Emitter) -> str:
        """The newest block so far."""
        mark = e.text.fresh("mark")
        e.text.line(f"void *const {mark} = {self._chain};")
        return mark

    def release(self, e: Emitter, mark: str = "0") -> None:
        """Give back all blocks that are newer."""
        e.text.line(self.released(mark))

    def released(self, mark: str = "0") -> str:
        """The statement that does so."""
        return f"tilework_release(&{self._chain}, {mark});"

    def take(self, size: str) -> str:
        """A new block of so many bytes; null where there is none."""
        return f"tilework_take(&{self._chain}, {size})"


def allocates(block: Block) -> bool:
    """Whether a block of code takes memory while it runs."""
    return any(isinstance(op, memref.AllocOp) for op in block.ops)


def checked_size(dims: Sequence[str], element: int) -> tuple[str, str]:
    """How many bytes elements of some dimensions take, and whether a machine could have as many."""
    size = " * ".join([str(element), *(f"({dim})" for dim in dims)])
    wide = " * ".join([f"{float(element)}", *(f"(double)({dim})" for dim in dims)])
    return f"(uint64_t)({size})", f"({wide} <= {MOST_BYTES})"


_HELPERS = """static void *tilework_take(void **chain, uint64_t bytes) {
  void **block = __builtin_malloc(bytes + 128);
  if (!block) return 0;
  *block = *chain;
  *chain = block;
  return (void *)(((uintptr_t)block + 72) & ~(uintptr_t)63);
}

static void tilework_release(void **chain, void *end) {
  while (*chain != end) {
    void *block = *chain;
    *chain = *(void **)block;
    __builtin_free(block);
  }
}
"""
