"""The peak of one core: a loop of independent multiply-adds on vectors that never leave the registers."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from tilework.runtime.devices.llvm.compile import compile_ir
from tilework.runtime.devices.llvm.native import load_objects
from tilework.targets.cpu.host import host_target

ROUNDS = 1_000_000
"""Some milliseconds: threads that start together take a tenth of one to do so."""


def fma_peak() -> tuple[Callable[[], None], float]:
    """A function that does nothing but multiply-adds, and how many floating-point operations one call of it is."""
    target = host_target()
    chains = 24 if target.vector_registers >= 32 else 12  # enough for two units that take four cycles each
    lanes = target.lanes(32)
    library = load_objects([compile_ir(_text(target.triple, chains, lanes), target)])
    function = ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_float)(library.get_function("fma_peak"))

    def call() -> None:
        assert library is not None  # it keeps the code alive
        function(0.5)

    return call, 2.0 * chains * lanes * ROUNDS


def _text(triple: str, chains: int, lanes: int) -> str:
    """LLVM IR: every chain starts from another number, so that no two are the same computation."""
    vector = f"<{lanes} x float>"
    starts = [f"splat (float {float(i):e})" for i in range(chains)]
    phis = [f"  %a{i} = phi {vector} [ {start}, %entry ], [ %b{i}, %loop ]" for i, start in enumerate(starts)]
    fma = f"{vector} @llvm.fma.v{lanes}f32"
    steps = [f"  %b{i} = call {fma}({vector} %a{i}, {vector} %x, {vector} %x)" for i in range(chains)]
    sums = [f"  %s{i + 1} = fadd {vector} %s{i}, %b{i + 1}" for i in range(1, chains - 1)]
    lines = [
        f'target triple = "{triple}"',
        f"declare {fma}({vector}, {vector}, {vector})",
        "define float @fma_peak(float %value) {",
        "entry:",
        f"  %one = insertelement {vector} poison, float %value, i64 0",
        f"  %x = shufflevector {vector} %one, {vector} poison, <{lanes} x i32> zeroinitializer",
        "  br label %loop",
        "loop:",
        "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]",
        *phis,
        *steps,
        "  %next = add i64 %i, 1",
        f"  %more = icmp ult i64 %next, {ROUNDS}",
        "  br i1 %more, label %loop, label %end",
        "end:",
        f"  %s1 = fadd {vector} %b0, %b1",
        *sums,
        f"  %result = extractelement {vector} %s{chains - 1}, i64 0",
        "  ret float %result",
        "}",
    ]
    return "\n".join(lines) + "\n"
