"""Dot products of bytes: words, as processors multiply their bytes and sum up."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from xdsl.dialects.builtin import container_of
from xdsl.ir import Dialect, SSAValue
from xdsl.irdl import VarConstraint, eq, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

from tilework.dialects.support.scalar_op import ScalarOp
from tilework.dialects.support.words import WORD


@irdl_op_definition
class DotOp(ScalarOp):
    """The sum of four products: of the bytes of one word, without sign, and those of another one, with a sign.

    Of vectors lane by lane. Nothing overflows.

    `%d = words.dot %x, %w : vector<16xi32>`
    """

    name = "words.dot"
    T: ClassVar = VarConstraint("T", container_of(eq(WORD)))
    unsigned = operand_def(T)
    signed = operand_def(T)
    result = result_def(T)
    assembly_format = "$unsigned `,` $signed attr-dict `:` type($result)"
    traits = traits_def(Pure())

    def __init__(self, unsigned: SSAValue, signed: SSAValue):
        super().__init__(operands=[unsigned, signed], result_types=[unsigned.type])

    def evaluate(self, *operands: Any) -> Any:
        x, w = (np.asarray(a).astype("<i4")[..., None] for a in operands)
        return np.sum(x.view(np.uint8).astype(np.int32) * w.view(np.int8), axis=-1, dtype=np.int32)


Words = Dialect("words", [DotOp])
