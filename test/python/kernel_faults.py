"""Code of kernels that goes wrong when it runs."""

from __future__ import annotations

from dataclasses import replace

from tilework.runtime.devices.llvm.compile import compile_ir
from tilework.targets.cpu.host import host_target
from tilework.tuning.measuring.outcome import Code, Failure

SIGNATURE = "void @te_kernel(ptr %a, ptr %b, ptr %c, i32 %threads)"
FAULTS = {
    Failure.RUN: "call void @abort()\n ret void",
    Failure.RUN_TIMEOUT: "br label %again\nagain:\n br label %again",
    Failure.WRONG_ANSWER: "store float 77.0, ptr %c\n ret void",
}


def code_of(body: str, like: Code) -> Code:
    """Code with that body in LLVM's language, called as the kernel is."""
    text = f"declare void @abort()\ndefine {SIGNATURE} {{\nentry:\n {body}\n}}\n"
    return replace(like, object_code=compile_ir(text, host_target()), scratch=())
