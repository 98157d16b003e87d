"""Nests of loops that a schedule has tensorized become intrinsics."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import SymbolRefAttr
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.analysis.accesses import memory_space
from tilework.analysis.domains import loops_around
from tilework.analysis.intrinsic_match import Match, matched
from tilework.analysis.intrinsics import is_tensorized
from tilework.analysis.loop_nest import NoNest, ShortNest, buffer_name, nests_of
from tilework.analysis.program_targets import moves_by_units
from tilework.dialects.loop import ForOp, IntrinsicOp, KernelOp, LoadOp, StoreOp
from tilework.dialects.loop.annotations import TENSORIZE, TENSORIZE_TAILS
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.memory_scopes import is_of_intrinsics
from tilework.dialects.te.intrinsics import declaration_of
from tilework.transforms.patterns import PatternPass


def _legal(op: Operation) -> str | None:
    return "a loop that is to be tensorized" if TENSORIZE in op.attributes else None


@dataclass(frozen=True)
class Tensorize(PatternPass):
    """Replace nests with the attribute `loop.tensorize = @name` by the intrinsic of that name, which does the same.

    te.intrinsic @dot8(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<f32> attributes {accumulates} { ... }

    loop.for %k = 0 to 8 "k" attributes {loop.tensorize = @dot8} {
      %c = loop.load %y[%i] : ..                                    loop.intrinsic @dot8 updates %y[%i] of [] strides []
      %a = loop.load %x[8 * %i + %k] : ..                        ->   from %x[8 * %i] of [8] strides [1],
      %b = loop.load %w[%k] : ..                                      %w[0] of [8] strides [1] : ..
      ..                               // %c + %a * %b
      loop.store %s, %y[%i] : ..

    The loops may be in any order, and so may operands of what commutes: the meaning in the declaration is compared with
    the nest. Where the two differ, both are shown, and how the loops would have to be split. A nest may set the result
    to the identity of a reduction first. Tails that `loop-partition` has cut off run as loops. What else touches
    buffers of scopes of intrinsics is refused, unless units of the target copy to such buffers, and compute with them,
    as loops say.
    Requires one-dimensional buffers (`loop-flatten-storage`); leaves no requests.
    """

    name = "loop-tensorize"
    anchor = KernelOp
    legal_after = staticmethod(_legal)

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, KernelOp)
        super().run(ctx, op)
        for access in op.body.walk():
            if not isinstance(access, LoadOp | StoreOp):
                continue
            scope = memory_space(access.memref)
            if scope is not None and is_of_intrinsics(scope) and not moves_by_units(access, scope):
                what = f'{buffer_name(access.memref)} of scope "{scope}"'
                raise CompileError(f"{what} is touched by loops that are not tensorized", access)


class NestToIntrinsic(RewritePattern):
    """A nest of loops is the intrinsic that it is to become, which does the same."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForOp, rewriter: PatternRewriter) -> None:
        asked = op.attributes.get(TENSORIZE)
        if asked is None or any(is_tensorized(around) for around in loops_around(op)):
            return
        if not isinstance(asked, SymbolRefAttr):
            raise CompileError(f"{TENSORIZE} names an intrinsic, such as @dot8, and is {asked}", op)
        declaration = declaration_of(op, asked.root_reference.data)
        what = f"loop '{op.axis.data}' cannot be tensorized as @{declaration.label}"
        if declaration.is_on_scalars:
            raise CompileError(f"{what}: bodies call it, by te.call_intrinsic, since it is on scalars", op)
        try:
            found = matched(nests_of(op), declaration)
        except NoNest as error:
            if isinstance(error, ShortNest) and op.attributes.pop(TENSORIZE_TAILS, None) is not None:
                del op.attributes[TENSORIZE]
                rewriter.notify_op_modified(op)
                return
            raise CompileError(f"{what}: {error}", op) from error
        for match in found:
            _check_beginnings(match, what, op)
        new = [_operation(match) for match in found]
        copy_location(new, op)
        rewriter.replace(op, new, [])


def _check_beginnings(match: Match, what: str, loop: ForOp) -> None:
    """Raise CompileError where a part may begin at an element at which the intrinsic takes none."""
    declaration, (result, *arguments) = match
    names = (*declaration.parameters, "the result")
    for part, name, number in zip((*arguments, result), names, declaration.begins_at, strict=True):
        if any(factor % number for _, factor in part.position.terms) or part.position.offset % number:
            at = part.position.rename(lambda key: getattr(key, "name_hint", None) or "?")
            raise CompileError(
                f"{what}: it takes parts of {name} that begin at a multiple of {number} elements, and this one begins "
                f"at {at} of {buffer_name(part.memref)}; split by a multiple of {number}",
                loop,
            )


def _operation(match: Match) -> IntrinsicOp:
    declaration, parts = match
    return IntrinsicOp(
        declaration.label,
        declaration.accumulates is not None,
        [part.memref for part in parts],
        [part.position for part in parts],
        [part.form.shape for part in parts],
        [part.strides for part in parts],
    )
