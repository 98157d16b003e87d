"""Fused groups of graph operators as te kernels: one for all groups that compute the same."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr, ModuleOp, StridedLayoutAttr, UnitAttr
from xdsl.ir import Block, Operation, SSAValue

from tilework.analysis.group_content import content_of
from tilework.analysis.parameters import is_splat
from tilework.analysis.program_targets import DEVICE
from tilework.analysis.unique_names import UniqueNames
from tilework.dialects.graph.base import GraphOp
from tilework.dialects.graph.kernel import KernelOp as GraphKernelOp
from tilework.dialects.graph.structure import FusedOp, YieldOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.locations import copy_location
from tilework.dialects.te import IntrinsicOp, KernelOp
from tilework.dialects.te.builder import KernelBuilder, Tensor

Layout = StridedLayoutAttr | UnitAttr
"""How a kernel finds the elements of an argument or result: at these strides, or (unit) in row-major order."""


@dataclass
class KernelTable:
    """The kernels made so far, in no module yet."""

    names: UniqueNames
    _kernels: dict[Hashable, KernelOp] = field(default_factory=dict[Hashable, KernelOp])

    def kernel_for(self, group: FusedOp, layouts: Sequence[Layout]) -> KernelOp:
        """The kernel that computes `group` from inputs to results that lie in memory as `layouts` says."""
        device = group.attributes.get(DEVICE)
        key = (content_of(group.body.block), tuple(layouts), device)
        kernel = self._kernels.get(key)
        if kernel is None:
            kernel = build_kernel(self.names.fresh(group.label.data), group)
            if device is not None:
                kernel.attributes[DEVICE] = device
            if any(isinstance(layout, StridedLayoutAttr) for layout in layouts):
                kernel.attributes["te.layouts"] = ArrayAttr(layouts)
            self._kernels[key] = kernel
        return kernel

    @property
    def made(self) -> list[KernelOp]:
        """All kernels, in the order in which they were first asked for, in no module."""
        for kernel in self._kernels.values():
            if kernel.parent is not None:
                kernel.detach()
        return list(self._kernels.values())


def build_kernel(name: str, group: FusedOp) -> KernelOp:
    """The te kernel of one group: its operators' definitions, chained. Every compute has its operator's location.

    It is in no module, or in one with the intrinsics that the program declares for operators of its own.
    """
    kernel = _chained(name, group)
    declared = declarations_in(group)
    if declared:
        ModuleOp([*(declaration.clone() for declaration in declared), kernel])
    return kernel


def declarations_in(op: Operation) -> list[IntrinsicOp]:
    """The intrinsics that the program declares for the kernels of operators, each once."""
    found = [d for inner in op.walk() if isinstance(inner, GraphKernelOp) for d in inner.declarations]
    return list({declaration.label: declaration for declaration in found}.values())


def _chained(name: str, group: FusedOp) -> KernelOp:
    k = KernelBuilder(name)
    block = group.body.block
    tensors: dict[SSAValue, Tensor] = {}
    for argument, argument_name in zip(block.args, _argument_names(block), strict=True):
        tensors[argument] = k.argument(argument.type, argument_name)
    for op in block.ops:
        last = k.block.last_op
        match op:
            case YieldOp():
                kernel = k.finish([tensors[v] for v in op.values])
                copy_location(kernel, group)
                return kernel
            case ConstantOp():
                made: Tensor | Sequence[Tensor] = _constant(k, op)
            case GraphOp():
                made = op.define(k, *(tensors[v] for v in op.operands))
            case _:
                raise CompileError(f"{op.name} is no graph operator: it cannot be part of a kernel", op)
        tensors.update(zip(op.results, [made] if isinstance(made, Tensor) else made, strict=True))
        copy_location(_after(k.block, last), op)
    raise CompileError("graph.fused does not end in graph.yield", group)


def _constant(k: KernelBuilder, op: ConstantOp) -> Tensor:
    assert isinstance(op.value, DenseIntOrFPElementsAttr)
    dtype = op.value.get_element_type()
    if not is_splat(op):
        raise CompileError("a constant inside a kernel is one value repeated; run graph-fold-parameters first", op)
    value = cast("float | int", next(iter(cast(Any, op.value).iter_values())))
    return k.compute("constant", op.value.get_shape(), lambda *i: k.constant(value, dtype))


def _after(block: Block, op: Operation | None) -> Iterable[Operation]:
    """The operations behind `op`; all of them for None."""
    following = block.first_op if op is None else op.next_op
    while following is not None:
        yield following
        following = following.next_op


def _argument_names(block: Block) -> list[str]:
    """For each argument the name of the operand that it is to its first user, made unique by a number."""
    position = {op: i for i, op in enumerate(block.ops)}
    names = UniqueNames()
    result: list[str] = []
    for argument in block.args:
        first = min(argument.uses, key=lambda use: (position[use.operation], use.index), default=None)
        result.append(names.fresh("unused" if first is None else operand_name(first.operation, first.index)))
    return result


def operand_name(op: Operation, index: int) -> str:
    """What the operator's class, or kernel, calls that operand; for one of a variable number, the name of them all."""
    if isinstance(op, GraphKernelOp):
        return op.kernel.body.block.args[index].name_hint or "input"
    assert isinstance(op, GraphOp | YieldOp)
    declared = [name for name, _ in op.get_irdl_definition().operands]
    return declared[min(index, len(declared) - 1)]
