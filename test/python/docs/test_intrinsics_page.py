"""The table of docs/intrinsics.md says which instructions the library's intrinsics are."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import takewhile

import pytest
from places import ROOT
from xdsl.dialects.builtin import ModuleOp

from tilework.backends.llvm.emit_kernel import emit_kernels
from tilework.dialects.support.diagnostics import CompileError
from tilework.runtime.devices.llvm.compile import assembly
from tilework.targets import parse_target

PAGE = (ROOT / "docs" / "intrinsics.md").read_text(encoding="utf-8")
REFUSED = "refused"

Parse = Callable[[str], ModuleOp]


def table() -> tuple[list[str], dict[str, list[str]]]:
    """The intrinsics of the columns, and the cells of each processor's row."""
    lines = takewhile(lambda line: line.startswith("|"), PAGE[PAGE.index("| `-mcpu=` |") :].splitlines())
    [_, *heads], _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return heads, {cpu: cells for first, *cells in rows for cpu in named(first)}


def named(cell: str) -> list[str]:
    """What a cell has in backquotes."""
    return re.findall(r"`([^`]+)`", cell)


def summed(name: str, lanes: int, sums: str, add: str) -> str:
    """A product of a vector of words, added to what is in the result."""
    words, numbers = f"vector<{lanes}xi32>", f"vector<{lanes}x{sums}>"
    return f"""loop.kernel @k ins(%x: memref<64xi32>, %w: memref<64xi32>) outs(%y: memref<64x{sums}>) {{
      %u = loop.load %x[0] : memref<64xi32>, {words}
      %v = loop.load %w[0] : memref<64xi32>, {words}
      %a = loop.load %y[0] : memref<64x{sums}>, {numbers}
      %d = loop.call_intrinsic @{name}(%u, %v) : ({words}, {words}) -> {numbers}
      %s = arith.{add} : {numbers}
      loop.store %s, %y[0] : memref<64x{sums}>, {numbers}
    }}"""


def rounded(lanes: int) -> str:
    floats, narrow = f"vector<{lanes}xf32>", f"vector<{lanes}xbf16>"
    return f"""loop.kernel @k ins(%x: memref<64xf32>) outs(%y: memref<64xbf16>) {{
      %a = loop.load %x[0] : memref<64xf32>, {floats}
      %r = loop.call_intrinsic @bf16.round(%a) : ({floats}) -> {narrow}
      loop.store %r, %y[0] : memref<64xbf16>, {narrow}
    }}"""


TILES = """loop.kernel @k ins(%a: memref<512xbf16>, %b: memref<512xbf16>) outs(%y: memref<256xf32>) {
  %acc = memref.alloca() : memref<256xf32, "amx">
  loop.intrinsic @amx.tile_zero writes %acc[0] of [16, 16] strides [16, 1] : memref<256xf32, "amx">
  loop.intrinsic @amx.tile_mulf updates %acc[0] of [16, 16] strides [16, 1]
    from %a[0] of [16, 32] strides [32, 1], %b[0] of [16, 32] strides [32, 1]
    : memref<256xf32, "amx">, memref<512xbf16>, memref<512xbf16>
  loop.intrinsic @amx.tile_store writes %y[0] of [16, 16] strides [16, 1]
    from %acc[0] of [16, 16] strides [16, 1] : memref<256xf32>, memref<256xf32, "amx">
}"""

KERNELS: dict[str, Callable[[int], str]] = {
    "dot4.ui8i8": lambda lanes: summed("dot4.ui8i8", lanes, "i32", "addi %a, %d"),
    "bits.dot": lambda lanes: summed("bits.dot", lanes, "i32", "addi %a, %d"),
    "bf16.dot": lambda lanes: summed("bf16.dot", lanes, "f32", "addf %a, %d fastmath<contract>"),
    "bf16.round": rounded,
    "amx.*": lambda _: TILES,
}
HEADS, ROWS = table()


@pytest.mark.parametrize("cpu", ROWS)
@pytest.mark.parametrize("name", KERNELS)
def test_the_instructions_of_the_table_are_written(name: str, cpu: str, parse_module: Parse):
    """And none that the column names for other processors only."""
    [column] = (i for i, head in enumerate(HEADS) if named(head) == [name])
    cell, anywhere = ROWS[cpu][column], {word for row in ROWS.values() for word in named(row[column])}
    system = "aarch64-linux-gnu" if cpu.startswith(("cortex", "neoverse")) else "x86_64-linux-gnu"
    target = parse_target(f"llvm -mcpu={cpu} -mtriple={system}")
    module = parse_module(KERNELS[name](target.lanes(32)))
    if cell == REFUSED:
        with pytest.raises(CompileError, match=f"which {cpu} lacks"):
            emit_kernels(module, target)
        return
    code = assembly(emit_kernels(module, target), target)
    assert set(named(cell)) == anywhere & set(re.findall(r"[a-z]\w+", code))


def test_the_table_has_a_column_for_each_kernel():
    assert [word for head in HEADS for word in named(head)] == [*KERNELS]
    assert len(ROWS) > 8 and all(named(cell) or cell == REFUSED for row in ROWS.values() for cell in row)
