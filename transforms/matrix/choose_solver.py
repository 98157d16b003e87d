"""How the equations of regressions are solved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from xdsl.dialects.builtin import StringAttr
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.dialects import matrix
from tilework.dialects.matrix.statistics import CHOLESKY, EIGENVECTORS
from tilework.dialects.support.shapes import dims_of
from tilework.transforms.patterns import PatternPass

FACTORS_AT_A_TIME = 15
"""So many Cholesky factors of a matrix take as long as its eigenvectors, in LAPACK, from 100 columns on."""


@dataclass(frozen=True)
class ChooseSolver(PatternPass):
    """Say how ridge regressions are solved: by factors for few penalties, by eigenvectors for many.

        %coef, %zero = matrix.ridge %mean, %scatter, %n, %penalties {intercept = true}
    ->
        %coef, %zero = matrix.ridge %mean, %scatter, %n, %penalties {intercept = true, solver = "cholesky"}

    A factor takes d**3 / 3 operations for each penalty; eigenvectors take as long as many factors, and serve all
    penalties. Requires nothing; a regression that says its solver keeps it.
    """

    name = "matrix-choose-solver"
    numerics: ClassVar[Literal["exact", "reassociates"]] = "reassociates"


class ChooseRidgeSolver(RewritePattern):
    """Choose for a ridge regression that does not say it yet."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: matrix.RidgeOp, rewriter: PatternRewriter) -> None:
        if op.solver is not None:
            return
        [penalties] = dims_of(op.penalties.type)
        are_few = penalties.constant is not None and penalties.constant < FACTORS_AT_A_TIME
        op.solver = StringAttr(CHOLESKY if are_few else EIGENVECTORS)
        rewriter.notify_op_modified(op)
