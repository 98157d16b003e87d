"""Kernels of operands that broadcast, where only the running program knows which sizes are 1: two versions of each.

In the plain one, which runs where all these sizes are equal, they are one symbol, so that it is the kernel that there
would be if the model said so. The other one reads element 0 where an operand has but one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr, broadcast_parts, var
from tilework.algebra.predicate import Predicate, equal
from tilework.dialects.graph.base import GraphOp
from tilework.dialects.graph.movement import BroadcastOp
from tilework.dialects.graph.structure import FusedOp, YieldOp
from tilework.dialects.support.index_attr import DimsAttr, WidthsAttr
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.shapes import dims_of, element_type, tensor_type

Renamed = Callable[[Expr], Expr]
"""What a size of the program is in a kernel."""


@dataclass(frozen=True)
class KernelVersion:
    """A group whose symbols are those of the program, or stand for other sizes of it, for use where conditions hold."""

    group: FusedOp
    symbols: Mapping[str, Expr]
    conditions: Sequence[Predicate] = ()

    def size_of(self, symbol: str) -> Expr:
        """What a symbol of the group is in the program."""
        return self.symbols.get(symbol, var(symbol))


def versions_of(group: FusedOp) -> list[KernelVersion]:
    """The versions of a group: perhaps a plain one, and the one that may always be used."""
    general = _with_joined_symbols(group)
    classes = _sizes_that_may_be_equal(general.group)
    plain = _plain(general, classes) if classes else None
    return [general] if plain is None else [plain, general]


def usual_version(group: FusedOp) -> FusedOp:
    """The group where sizes that may be equal are: what kernels are chosen for."""
    return versions_of(group)[0].group


# ---- Sizes of several symbols become a symbol ------------------------------------------------------------------------


def _with_joined_symbols(group: FusedOp) -> KernelVersion:
    """A joined size that is a dimension of an argument is as good as a symbol."""
    block = group.body.block
    dims = dict.fromkeys(d for t in block.arg_types for d in dims_of(t) if len(broadcast_parts(d)) > 1)
    taken = {str(key) for t in block.arg_types for d in dims_of(t) for key in d.variables()}
    names = {d: _unused(f"joined{i}", taken) for i, d in enumerate(dims)}
    values = {d: var(name) for d, name in names.items()}
    renamed = _retyped(group, lambda e: e.replace_atoms(values)) if names else None
    if renamed is None:
        return KernelVersion(group, {})
    return KernelVersion(renamed, {name: d for d, name in names.items()})


def _unused(name: str, taken: set[str]) -> str:
    return name if name not in taken else _unused(f"{name}_", taken)


# ---- Sizes that may be equal are ----------------------------------------------------------------------------------


def _sizes_that_may_be_equal(group: FusedOp) -> list[set[Expr]]:
    """Sizes along the same axes of operands that broadcast, of which it is not known whether they are equal or 1."""
    classes: list[set[Expr]] = []
    for op in group.body.block.ops:
        for size, joined in op.joined_sizes() if isinstance(op, GraphOp) else ():
            if size in (1, joined):
                continue
            together = {size, joined, *broadcast_parts(joined)}
            for other in [known for known in classes if known & together]:
                classes.remove(other)
                together |= other
            classes.append(together)
    return classes


def _plain(general: KernelVersion, classes: Sequence[set[Expr]]) -> KernelVersion | None:
    """The version for equal sizes; None where their symbols cannot be one."""
    values: dict[str, Expr] = {}
    conditions: list[Predicate] = []
    in_program = {name: general.size_of(name) for name in _symbols(general.group)}
    for together in classes:
        sizes = sorted((e for e in together if len(broadcast_parts(e)) == 1), key=_simplicity)
        kept, *others = sizes
        if any(e.as_var is None for e in others):
            return None
        values |= {str(e.as_var): kept for e in others}
        conditions += [equal(e, kept).substitute(in_program) for e in others]
    group = _retyped(general.group, lambda e: e.substitute(values))
    return None if group is None else KernelVersion(group, general.symbols, conditions)


def _simplicity(e: Expr) -> tuple[int, str]:
    """What stands for all: a number, or else a size that is no symbol, or else the first symbol."""
    return 0 if e.is_constant else 1 if e.as_var is None else 2, str(e)


def _symbols(group: FusedOp) -> set[str]:
    return {str(key) for t in group.body.block.arg_types for d in dims_of(t) for key in d.variables()}


# ---- Groups of other types -------------------------------------------------------------------------------------------


def _retyped(group: FusedOp, renamed: Renamed) -> FusedOp | None:
    """The group with other sizes, in no graph; None where its operators do not take these."""
    old = group.body.block
    new = Block(arg_types=[_with_sizes(t, renamed) for t in old.arg_types])
    values: dict[SSAValue, SSAValue] = dict(zip(old.args, new.args, strict=True))
    for op in old.ops:
        try:
            copy = _copied(op, [values[v] for v in op.operands], renamed)
        except VerifyException:
            return None
        if _repeats_nothing(copy) and not any(isinstance(use.operation, YieldOp) for use in op.results[0].uses):
            values[op.results[0]] = copy.operands[0]
            copy.drop_all_references()
            continue
        copy.attributes |= op.attributes
        copy_location(copy, op)
        new.add_op(copy)
        values.update(zip(op.results, copy.results, strict=True))
    for before, after in values.items():
        after.name_hint = before.name_hint
    assert isinstance(new.last_op, YieldOp)
    made = FusedOp(group.label.data, group.inputs, new.last_op.values.types, Region(new))
    made.attributes |= group.attributes
    copy_location(made, group)
    return made


def _copied(op: Operation, operands: Sequence[SSAValue], renamed: Renamed) -> Operation:
    match op:
        case YieldOp():
            return YieldOp(operands)
        case GraphOp():
            properties = {name: _with_sizes(attribute, renamed) for name, attribute in op.properties.items()}
            return op.on(*operands, **properties)
        case _:
            return op.clone()


def _repeats_nothing(op: Operation) -> bool:
    return isinstance(op, BroadcastOp) and op.input.type == op.result.type


def _with_sizes(attribute: Attribute, renamed: Renamed) -> Attribute:
    match attribute:
        case TensorType():
            return tensor_type([renamed(d) for d in dims_of(attribute)], element_type(attribute))
        case DimsAttr() | WidthsAttr():
            return type(attribute).of(renamed(e) for e in attribute)
        case _:
            return attribute
