"""Words: integers of 32 bits that hold four bytes, the first one lowest, as processors multiply them and sum up."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IntegerType, container_of, i32
from xdsl.ir import Dialect, SSAValue
from xdsl.irdl import IRDLOperation, VarConstraint, eq, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure

BYTES = 4
"""In a word."""

WORD: IntegerType = i32
"""The type of words."""


@irdl_op_definition
class DotOp(IRDLOperation):
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


Words = Dialect("words", [DotOp])
