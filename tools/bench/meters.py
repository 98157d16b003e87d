"""What this machine can do at most, measured like everything else: in turns, in the same run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from tilework.api import build
from tilework.frontends import te
from tilework.runtime.threads import set_num_threads
from tilework.targets.cpu.host import host_target
from tilework.tools.bench.engines import Array
from tilework.tools.bench.fma_peak import fma_peak

Meter = tuple[Callable[[], Sequence[Array]], float]
"""What to run, and how many operations or bytes one run is."""

LEAST_BYTES, MOST_BYTES = 64 << 20, 256 << 20
"""How large each of the arrays is that are streamed: twice the last cache, but within these."""


def multiply_adds(threads: int) -> Meter:
    """Floating-point operations of independent multiply-adds on as many threads, each in its registers alone."""
    call, flops = fma_peak()
    pool = ThreadPoolExecutor(threads)

    def run() -> Sequence[Array]:
        for done in [pool.submit(call) for _ in range(threads)]:
            done.result()
        return ()

    return run, flops * threads


def stream(threads: int) -> Meter:
    """Bytes of STREAM's triad, c = a + 3 b, on arrays that no cache holds: two read and one written.

    What the processor reads of c before it writes there is not counted, as STREAM counts.
    """
    set_num_threads(threads)
    size = min(max(2 * max(host_target().cache_bytes), LEAST_BYTES), MOST_BYTES)
    count = size // 4
    A, B = te.placeholder((count,), name="A"), te.placeholder((count,), name="B")

    def triad(i: Any) -> Any:
        return A[i] + 3.0 * B[i]

    C = te.compute((count,), triad, name="C")
    s = te.create_schedule(C.op)
    outer, inner = s[C].split(C.op.axis[0], factor=host_target().lanes(32))
    s[C].parallel(outer)
    s[C].vectorize(inner)
    function = build(s, [A, B, C], name="triad")
    a, b, c = (np.ones(count, np.float32) for _ in range(3))

    def run() -> Sequence[Array]:
        function(a, b, c)
        return ()

    return run, 3.0 * size
