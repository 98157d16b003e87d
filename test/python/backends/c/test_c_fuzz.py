"""Random te programs under random schedules, compiled by way of C: what they compute is what te says, bit by bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from c_compilers import kernel_functions, need_compiler
from xdsl.dialects.builtin import ModuleOp, StringAttr

from tilework.algebra.nibbles import is_narrow, unpack
from tilework.analysis.data_indices import index_limits
from tilework.dialects.loop import KernelOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.interpreters.te import run_kernel
from tilework.runtime.arrays import packed
from tilework.tools.fuzz.cases import Case, random_case
from tilework.tools.fuzz.check import arguments, compare, lower, needs_device
from tilework.tools.fuzz.draw import Seeded


def accepted(seeds: range) -> dict[str, tuple[Case, KernelOp]]:
    """Those of the cases that a processor can run, by the names that their kernels are given."""
    found: dict[str, tuple[Case, KernelOp]] = {}
    for seed in seeds:
        case = random_case(Seeded(seed), seed)
        try:
            _, kernel = lower(case.kernel, case.sequence, case.intrinsics)
        except CompileError:
            continue
        if not needs_device(kernel):
            kernel.detach()
            kernel.sym_name = StringAttr(f"case_{seed}")
            found[f"case_{seed}"] = case, kernel
    return found


def difference(case: Case, kernel: KernelOp, function, threads: int) -> str | None:
    """How the results of compiled code differ from those of te."""
    arrays = arguments(kernel, index_limits(case.kernel), case.size, case.seed)
    inputs, outputs = kernel.group_sizes[:2]
    memory = [packed(a) if is_narrow(a.dtype) else a for a in arrays]
    function(*memory, *[case.size] * kernel.group_sizes[3], threads=threads)
    for array, lent in zip(arrays, memory, strict=True):
        if lent is not array:
            unpack(lent, array)
    with np.errstate(all="ignore"):
        expected = run_kernel(case.kernel, arrays[:inputs])
    return compare("by way of C", arrays[inputs : inputs + outputs], expected)


def check(seeds: range, folder: Path, compiler: str, flags: tuple[str, ...]) -> int:
    need_compiler(compiler)
    cases = accepted(seeds)
    declared = [op.clone() for case, _ in cases.values() for op in case.intrinsics]
    kernels = [kernel for _, kernel in cases.values()]
    functions = kernel_functions(ModuleOp([*declared, *kernels]), folder, compiler, flags)
    wrong = {name: difference(*cases[name], functions[name], threads=1 + i % 2) for i, name in enumerate(cases)}
    assert {name: text for name, text in wrong.items() if text is not None} == {}
    return len(cases)


def test_random_programs(tmp_path: Path):
    assert check(range(120), tmp_path, "gcc", ("-O1", "-march=native")) > 50


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize(
    "flags", [("-O3", "-march=native"), ("-O2",), ("-O1", "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error")]
)
def test_many_random_programs(tmp_path: Path, compiler: str, flags: tuple[str, ...]):
    assert check(range(1000, 1500), tmp_path, compiler, flags) > 200
