"""Is this IR well formed? What xDSL checks, operation by operation, plus SSA dominance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from inspect import getclosurevars
from sys import intern
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.traits import IsolatedFromAbove, NoTerminator, OpTrait, SymbolTable
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr
from tilework.analysis.accesses import buffer_dims, memref_type
from tilework.analysis.dominance import check_dominance
from tilework.analysis.intrinsics import require_declared
from tilework.analysis.unique_symbols import check_unique_symbols
from tilework.dialects.loop import IntrinsicOp, KernelOp
from tilework.dialects.loop.bounds import refuse_accesses_outside
from tilework.dialects.support.call_intrinsic import CallIntrinsic
from tilework.dialects.support.diagnostics import CompileError, name_of
from tilework.dialects.te import IntrinsicOp as Declaration
from tilework.dialects.te import KernelOp as TeKernelOp
from tilework.dialects.te.bounds import refuse_undefined_indices


def verify(root: Operation) -> None:
    """Check `root` and all it holds once; raise a CompileError that holds the first operation at fault."""
    Verifier().verify(root)


class Verifier:
    """Checks IR again and again, and remembers how the operations looked that are as their definitions say.

    Most of the time of a check goes into definitions: which operands, results, regions, properties and attributes an
    operation has, and of which types. Between two passes nearly all operations stay as they are. What else there is to
    check of an operation, by its traits and by its class, asks for its surroundings, and is checked every time.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], tuple[object, ...]] = {}
        """The keys are the identities of what an operation consists of.

        The values hold these things, so that no other object takes over an identity.
        """

    def verify(self, root: Operation) -> None:
        """Check `root` and all it holds; raise a CompileError that holds the first operation at fault.

        Whatever a verifier throws is a refusal: some of xDSL's throw a bare `Exception` or fail an assertion.
        """
        check_dominance(root)  # first: xDSL would name the operation around where the one that uses a value helps
        for op in root.walk(region_first=True):
            for region in op.regions:
                for block in region.blocks:
                    _verify_block(block, op)
            check_unique_symbols(op)
            try:
                self._verify_op(op)
                if isinstance(op, CallIntrinsic | IntrinsicOp | Declaration):
                    require_declared(op)
            except CompileError:
                raise
            except Exception as error:
                raise CompileError(_message(op, error), op) from error

    def _verify_op(self, op: Operation) -> None:
        rest = _beyond_definition(type(op))
        look = _look_of(op)
        key = tuple(map(id, look))
        if rest is None or op.successors or key not in self._known:
            op.verify(verify_nested_ops=False)
            self._known[key] = look
            return
        for trait in rest.traits:
            trait.verify(op)
        if rest.verifier is not None:
            rest.verifier(op)


def _look_of(op: Operation) -> tuple[object, ...]:
    """What the definition of an operation says something about, and whether the operation has to be a terminator."""
    look: list[object] = [type(op), *_place_of(op), _END]
    look += [value.type for value in op.operands]
    look.append(_END)
    look += [value.type for value in op.results]
    for attributes in (op.properties, op.attributes):
        look.append(_END)
        for name, attribute in attributes.items():
            look += (intern(name), attribute)
    for region in op.regions:
        entry = region.first_block
        look += (_END, len(region.blocks), *(() if entry is None else entry.arg_types))
    return tuple(look)


def _place_of(op: Operation) -> tuple[object, ...]:
    """Whether an operation is the last of its block, and if so, of what block."""
    block = op.parent
    if block is None or op.next_op is not None:
        return ()
    return type(block.parent_op()), block.prev_block is None and block.next_block is None


_END = object()
"""Stands between the parts of a look, each of which has any length."""


CHECKED_HERE = (IsolatedFromAbove, SymbolTable)
"""The traits whose checks are ours: isolation is part of dominance."""


class _Rest(NamedTuple):
    """What is to be checked of operations of a class beside their definition."""

    traits: tuple[OpTrait, ...]
    verifier: Callable[[Operation], None] | None


@cache
def _beyond_definition(kind: type[Operation]) -> _Rest | None:
    """Traits that check something, and the class's own verifier; None for a class without a definition.

    xDSL keeps the class's own verifier where only Python's reflection finds it: in the closure that calls it behind the
    check of the definition.
    """
    if not issubclass(kind, IRDLOperation):
        return None
    traits = kind.get_irdl_definition().traits
    checking = (t for t in traits if type(t).verify is not OpTrait.verify and not isinstance(t, CHECKED_HERE))
    return _Rest(tuple(checking), getclosurevars(kind.verify_).nonlocals["custom_verify"])


def refuse_out_of_bounds(root: Operation) -> None:
    """Raise a CompileError for what a kernel does that is certainly out of bounds, or divides an index by 0.

    For a program that is read; what passes make of it they keep in bounds.
    """
    for kernel in [op for op in root.walk() if isinstance(op, TeKernelOp)]:
        refuse_undefined_indices(kernel)
    for kernel in [op for op in root.walk() if isinstance(op, KernelOp) and not op.is_declaration]:
        refuse_accesses_outside(kernel.body.block, _known_dims, kernel.symbol_values)


def _known_dims(buffer: SSAValue) -> Sequence[Expr] | None:
    is_argument = isinstance(buffer, BlockArgument)
    return buffer_dims(buffer) if is_argument or DYNAMIC_INDEX not in memref_type(buffer.type).get_shape() else None


def _verify_block(block: Block, parent: Operation) -> None:
    alone = block.prev_block is None and block.next_block is None
    if block.ops or (alone and parent.has_trait(NoTerminator)):
        return
    raise CompileError(f"'{name_of(parent)}' op has an empty block: it needs at least a terminator", parent)


def _message(op: Operation, error: BaseException) -> str:
    """What went wrong, in one line. xDSL prints the IR while it reports, and printing broken IR may fail in turn."""
    first: BaseException | None = error
    while first is not None and not isinstance(first, VerifyException):
        first = first.__context__
    reason = " ".join(str(first or error).split()) or f"does not verify: {type(error).__name__}"
    name = f"'{name_of(op)}'"
    return reason if reason.startswith(name) else f"{name} op {reason}"
