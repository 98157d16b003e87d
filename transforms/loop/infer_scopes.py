"""Say in which memory buffers are."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType, NoneAttr, StringAttr
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.dialects.loop import KernelOp
from tilework.transforms.patterns import PatternPass

LOCAL = "local"


@dataclass(frozen=True)
class InferScopes(PatternPass):
    """Give buffers that a kernel allocates, and of which nothing says where they are, to each thread.

    %b = memref.alloca() : memref<4xf32>  ->  %b = memref.alloca() : memref<4xf32, "local">

    What threads share says so. Requires nothing; leaves no such buffer.
    """

    name = "loop-infer-scopes"
    anchor = KernelOp


class ToThread(RewritePattern):
    """A buffer without a scope is one that each thread has for itself."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: memref.AllocaOp, rewriter: PatternRewriter) -> None:
        type_ = op.memref.type
        if not isinstance(type_.memory_space, NoneAttr):
            return
        local = MemRefType(type_.element_type, type_.get_shape(), type_.layout, StringAttr(LOCAL))
        rewriter.replace_value_with_new_type(op.memref, local)
