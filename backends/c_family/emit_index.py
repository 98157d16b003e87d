"""Index expressions of operations: in C they stand where they are used."""

from __future__ import annotations

from typing import cast

from xdsl.ir import SSAValue

from tilework.algebra.c_index import INDEX_FUNCTIONS, CIndex
from tilework.algebra.index_expr import Expr, Key
from tilework.algebra.predicate import Predicate
from tilework.analysis.domains import scope_at
from tilework.backends.c_family.emitter import Emitter
from tilework.dialects.loop import ApplyOp, ForOp, IfOp, IntrinsicOp, LoadOp, PrefetchOp, StoreOp
from tilework.dialects.support.index_attr import over_values

HasIndexOperands = ForOp | IfOp | LoadOp | StoreOp | ApplyOp | PrefetchOp | IntrinsicOp


def index_writer(e: Emitter, op: HasIndexOperands) -> CIndex:
    """A writer for the expressions of one operation, which are over its operands `d0, d1, ...` or SSA values."""
    operands = op.index_operands

    def variable(key: Key) -> str:
        return e.get(cast("SSAValue", key) if isinstance(key, SSAValue) else operands[int(str(key)[1:])])

    def is_never_negative(expr: Expr) -> bool:
        return scope_at(op).proves(Predicate(expr.substitute(over_values(operands)))) is True

    return CIndex(variable, lambda name: use_index_function(e, name), is_never_negative)


def use_index_function(e: Emitter, name: str) -> None:
    """Define a function that index expressions call."""
    e.file.define_once(name, lambda: INDEX_FUNCTIONS[name])
