"""LLVM IR text to object code or assembly, for any target that LLVM in this wheel knows."""

# llvmlite has no type information.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

import llvmlite.binding as llvm

from tilework.targets import Target
from tilework.targets.cpu.target import CpuTarget


class LLVMError(Exception):
    """LLVM refused a module that Tilework wrote: a defect of Tilework. Carries LLVM's message and the line meant."""


def compile_ir(text: str, target: Target, opt_level: int = 2, codegen_level: int = 3) -> bytes:
    """The relocatable object file for one LLVM IR module.

    opt_level: LLVM's pipeline O0 to O3. codegen_level: how hard the code generator tries, 0 to 3. At 0 a kernel is four
    times slower, but time is linear in the length of a block: a block of 20 000 calls takes a second, and minutes at 3.
    Raises LLVMError where the module does not parse or verify.
    """
    processor = CpuTarget.of(target, "llvm")
    module = _optimized(text, processor, opt_level)
    with _in_source_order():
        return _machine(processor, codegen_level).emit_object(module)


def assembly(text: str, target: Target, opt_level: int = 2) -> str:
    """The assembly text that `compile_ir` would encode."""
    processor = CpuTarget.of(target, "llvm")
    module = _optimized(text, processor, opt_level)
    with _in_source_order():
        return _machine(processor).emit_assembly(module)


_OPTIONS_OF_LLVM = Lock()
"""There is one set of them in a process."""


@contextmanager
def _in_source_order() -> Generator[None]:
    """Generate code without the scheduler that runs before registers are allocated.

    In loops over taps it loads all operands of a register tile before it multiplies any, so that they do not fit into
    registers and a convolution runs at half its speed. Processors that start instructions out of order need no such
    scheduler, and the emitter writes each multiplication behind its loads.
    """
    with _OPTIONS_OF_LLVM:
        llvm.set_option("", "-enable-misched=false")
        try:
            yield
        finally:
            llvm.set_option("", "-enable-misched=true")  # as it is for others that use LLVM


def _optimized(text: str, target: CpuTarget, opt_level: int) -> Any:
    machine = _machine(target)
    module = parse_ir(text)
    module.triple = target.triple
    module.data_layout = str(machine.target_data)
    tuning = llvm.create_pipeline_tuning_options(speed_level=opt_level)
    # Vectors are explicit in what the emitter writes; the loop vectorizer serves the loops left scalar. The SLP
    # vectorizer only ever made code slower: down to 2 % of peak on a scalar tile.
    tuning.loop_vectorization = opt_level >= 2
    tuning.slp_vectorization = False
    builder = llvm.create_pass_builder(machine, tuning)
    builder.getModulePassManager().run(module, builder)
    return module


def parse_ir(text: str) -> Any:
    """The module of a text. Raises LLVMError for what LLVM refuses."""
    # A context of its own: types and constants of the global one would live as long as the process.
    try:
        module = llvm.parse_assembly(text, llvm.create_context())
        module.verify()
    except RuntimeError as error:
        raise LLVMError(f"LLVM refused the generated module: {error}") from None
    return module


@cache
def _machine(target: CpuTarget, codegen_level: int = 3) -> Any:
    _initialize(target)
    try:
        description = llvm.Target.from_triple(target.triple)
    except RuntimeError as error:
        raise LLVMError(f"LLVM has no code generator for triple '{target.triple}': {error}") from None
    return description.create_target_machine(
        cpu=target.cpu, features=",".join(target.features), opt=codegen_level, reloc="pic", codemodel="default"
    )


@cache
def _initialize_all() -> None:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()


@cache
def _initialize_native() -> None:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()


def _initialize(target: CpuTarget) -> None:
    """Register the code generator; only a foreign architecture pays for registering all of them."""
    if target.triple.split("-", 1)[0] == llvm.get_process_triple().split("-", 1)[0]:
        _initialize_native()
    else:
        _initialize_all()
