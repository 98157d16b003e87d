"""Parallel loops that are let store 4-bit integers: by brute force, no byte is written in two iterations."""

from __future__ import annotations

import random
from typing import NamedTuple

from tilework.analysis.packed_stores import check_whole_bytes
from tilework.dialects.loop import StoreOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser

CONTEXT = make_context()


class Store(NamedTuple):
    """Stores of `lanes` elements from `step * p + inner * q + row * i + start` on, perhaps in iteration `only`."""

    step: int
    inner: int
    row: int
    start: int
    lanes: int
    only: int | None

    @property
    def text(self) -> str:
        at = f"{self.step} * %p + {self.inner} * %q + {self.row} * %i + {self.start}"
        store = f"loop.store %v{self.lanes}, %y[{at}] : memref<256xi4>, vector<{self.lanes}xi4>"
        return store if self.only is None else f"loop.if [%p - {self.only} == 0] {{ {store} }}"


def is_let(stores: list[Store], extents: tuple[int, int, int]) -> bool:
    rows, trips, inner = extents
    vectors = "\n".join(f"%v{n} = arith.constant dense<0> : vector<{n}xi4>" for n in {s.lanes for s in stores})
    text = f"""loop.kernel @k outs(%y: memref<256xi4>) {{
        {vectors}
        loop.for %i = 0 to {rows} "i" {{ loop.for %p = 0 to {trips} "p" parallel {{ loop.for %q = 0 to {inner} "q" {{
        {" ".join(s.text for s in stores)}
        }} }} }} }}"""
    module = SourceParser(CONTEXT, text, "<test>").parse_module()
    try:
        check_whole_bytes([op for op in module.walk() if isinstance(op, StoreOp)])
    except CompileError:
        return False
    return True


def is_right(stores: list[Store], extents: tuple[int, int, int]) -> bool:
    rows, trips, inner = extents
    for i in range(rows):
        owner: dict[int, int] = {}
        for p in range(trips):
            for s in (s for s in stores if s.only in (None, p)):
                firsts = [s.step * p + s.inner * q + s.row * i + s.start for q in range(inner)]
                if any(owner.setdefault((e + lane) // 2, p) != p for e in firsts for lane in range(s.lanes)):
                    return False
    return True


def test_no_byte_is_written_twice():
    draw = random.Random(1)
    let = right = 0
    for _ in range(600):
        extents = draw.randint(1, 3), draw.randint(1, 4), draw.randint(1, 4)
        step, row = draw.choice((1, 2, 3, 4, 6, 8, -4, -2)), draw.choice((1, 2, 4, 7))
        stores: list[Store] = []
        for _ in range(draw.choice((1, 1, 2))):
            only = draw.choice((None, None, None, draw.randrange(extents[1])))
            inner, start, lanes = draw.choice((1, 2, 3, -1)), draw.randint(60, 64), draw.randint(1, 3)
            stores.append(Store(step, inner, row, start, lanes, only))
        accepted, fine = is_let(stores, extents), is_right(stores, extents)
        assert fine or not accepted, (stores, extents)
        let, right = let + accepted, right + fine
    assert let > 0.8 * right > 100
