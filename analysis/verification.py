"""Is this IR well formed? What xDSL checks, operation by operation, plus SSA dominance."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.traits import IsolatedFromAbove, NoTerminator
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.index_expr import Expr
from tilework.analysis.accesses import buffer_dims, memref_type
from tilework.analysis.dominance import check_dominance
from tilework.dialects.diagnostics import CompileError, name_of
from tilework.dialects.loop import KernelOp
from tilework.dialects.loop.bounds import refuse_accesses_outside


def verify(root: Operation) -> None:
    """Check `root` and all it holds, innermost first; raise a CompileError that holds the first operation at fault.

    Whatever a verifier throws is a refusal: some of xDSL's throw a bare `Exception` or fail an assertion.
    """
    for op in root.walk(region_first=True):
        for region in op.regions:
            for block in region.blocks:
                _verify_block(block, op)
        if op.has_trait(IsolatedFromAbove, value_if_unregistered=False):
            _verify_isolation(op)
        try:
            op.verify(verify_nested_ops=False)
        except CompileError:
            raise
        except Exception as error:
            raise CompileError(_message(op, error), op) from error
    check_dominance(root)


def refuse_out_of_bounds(root: Operation) -> None:
    """Raise a CompileError for a load or store of a loop kernel that is certainly out of bounds.

    For a program that is read; what passes make of it they keep in bounds. A te kernel's verifier looks for itself.
    """
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


def _verify_isolation(isolated: Operation) -> None:
    """What xDSL checks too; but it names the outer operation, where the one that uses the value is what helps."""
    inner = [op for region in isolated.regions for op in region.walk()]
    defined: set[SSAValue] = {result for op in inner for result in op.results}
    defined.update(arg for block in isolated.walk_blocks() for arg in block.args)
    for op in inner:
        for index, operand in enumerate(op.operands):
            if operand not in defined:
                message = f"'{name_of(op)}' op operand #{index} is defined outside '{name_of(isolated)}'"
                raise CompileError(f"{message}, which may only use values defined inside it", op)


def _message(op: Operation, error: BaseException) -> str:
    """What went wrong, in one line. xDSL prints the IR while it reports, and printing broken IR may fail in turn."""
    first: BaseException | None = error
    while first is not None and not isinstance(first, VerifyException):
        first = first.__context__
    reason = " ".join(str(first or error).split()) or f"does not verify: {type(error).__name__}"
    name = f"'{name_of(op)}'"
    return reason if reason.startswith(name) else f"{name} op {reason}"
