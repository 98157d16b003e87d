"""Kernels written in Python for the operators of a graph in text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute
from xdsl.rewriter import Rewriter
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.errors import UsageError
from tilework.dialects import te
from tilework.dialects.graph.kernel import KernelOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.locations import copy_location
from tilework.frontends.te.operator import Kernel


def define_kernels(module: ModuleOp, kernels: Mapping[str, Kernel]) -> None:
    """Let every graph.kernel that names one of these hold what it defines for the operator's operands.

    Raises UsageError for a kernel that the module has, too, and CompileError about an operator for one that does not
    take its operands, or makes other results.
    """
    there = [op.sym_name.data for op in module.ops if isinstance(op, te.KernelOp)]
    if twice := [name for name in there if name in kernels]:
        raise UsageError(f"kernels= defines {twice[0]}, but so does te.kernel @{twice[0]} of the module: take one out")
    for op in [op for op in module.walk() if isinstance(op, KernelOp)]:
        if op.callee is not None and op.callee.root_reference.data in kernels:
            _define(op, kernels[op.callee.root_reference.data])


def _define(op: KernelOp, kernel: Kernel) -> None:
    types = cast("Sequence[TensorType[Attribute]]", op.operand_types)
    try:
        new = KernelOp.holding(kernel.lower(types, {}), op.operands)
    except (UsageError, VerifyException) as error:
        raise CompileError(str(error), op) from error
    if new.result_types != op.result_types:
        made, wanted = (", ".join(map(str, types)) for types in (new.result_types, op.result_types))
        raise CompileError(f"kernel {kernel.name} makes {made}, not {wanted}", op)
    new.attributes |= op.attributes
    copy_location(new, op)
    for before, after in zip(op.results, new.results, strict=True):
        after.name_hint = before.name_hint
    Rewriter.replace_op(op, new)
