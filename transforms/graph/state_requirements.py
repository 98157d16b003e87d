"""Write down what sizes must be, so that a function can be run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint, Rewriter

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Expr, Key
from tilework.algebra.predicate import Predicate
from tilework.algebra.requirement import Requirement
from tilework.analysis.bound_symbols import symbol_binders
from tilework.analysis.functions import body_of
from tilework.analysis.parameters import is_compiled
from tilework.dialects.graph.base import GraphOp
from tilework.dialects.graph.require import RequireOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.locations import copy_location
from tilework.transforms.base import TileworkPass


@dataclass(frozen=True)
class StateRequirements(TileworkPass):
    """State as graph.require what operators need of symbolic sizes, each condition once, where a function begins.

        %y = graph.max_pool %x {kernel = [3], ...}       graph.require [N - 3 >= 0] "the windows of max_pool do not fit"
          : (tensor<1x4x?xf32, #graph.dims<[1, 4, N]>>)  ->    %y = graph.max_pool %x {kernel = [3], ...}

    What holds for all sizes from 0 on is left out, and so are conditions that hold for none. Requires nothing; leaves
    requirements in front of all other operations; those on symbols that operators bind, behind the last of these.

    This is an algorithm and no pattern: a condition is stated once, however many operators of the function need it.
    """

    name = "graph-state-requirements"
    anchor: ClassVar = FuncOp

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, FuncOp)
        if not is_compiled(op):
            return
        binders = symbol_binders(op)
        stated: dict[tuple[Predicate, ...], RequireOp] = {}
        for requirement, source in _needed(op):
            if requirement.any_of not in stated:
                stated[requirement.any_of] = RequireOp(requirement)
                copy_location(stated[requirement.any_of], source)
        for old in [o for o in op.walk() if isinstance(o, RequireOp)]:
            old.detach()
            old.erase()
        at_start: list[RequireOp] = []
        for require in stated.values():
            last = [binder for key, binder in binders.items() if key in require.requirement.variables()][-1:]
            if last:
                Rewriter.insert_op(require, InsertPoint.after(last[0]))
            else:
                at_start.append(require)
        Rewriter.insert_op(at_start, InsertPoint.at_start(body_of(op)))


def _needed(function: FuncOp) -> Iterator[tuple[Requirement, Operation]]:
    """What is to be stated, with the operation that asks for it; first what is stated already."""
    operations = list(function.walk())
    limits = {key: binder.most for key, binder in symbol_binders(function).items()}
    for op in operations:
        if isinstance(op, RequireOp):
            yield from _open(op.requirement, op, limits)
    for op in operations:
        if isinstance(op, GraphOp):
            for requirement in op.requirements():
                yield from _open(requirement, op, limits)


def _open(
    requirement: Requirement, op: Operation, limits: Mapping[Key, Expr | None]
) -> Iterator[tuple[Requirement, Operation]]:
    """A requirement that some sizes meet and others do not, of which some have limits.

    Raises CompileError for one that none meets.
    """
    if requirement.is_always_met():
        return
    domain = Domain({key: (0, limits.get(key)) for key in requirement.variables()})
    if any(domain.proves(p) for p in requirement.any_of):
        return
    possible = tuple(p.shortest() for p in requirement.any_of if domain.proves(p) is not False)
    if not possible:
        raise CompileError(requirement.text, op)
    yield Requirement(possible, requirement.text), op
