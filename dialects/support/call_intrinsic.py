"""Calls of intrinsics on scalars: what those in bodies of te and those in loops have in common."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FlatSymbolRefAttrConstr, SymbolRefAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, prop_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure


class CallIntrinsic(IRDLOperation):
    """What an intrinsic that is declared by `te.intrinsic` makes of scalars."""

    callee = prop_def(FlatSymbolRefAttrConstr)
    arguments = var_operand_def()
    result = result_def()
    assembly_format = "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, $result)"
    traits = traits_def(Pure())

    def __init__(self, callee: str, arguments: Sequence[SSAValue], result_type: Attribute):
        super().__init__(operands=[arguments], properties={"callee": SymbolRefAttr(callee)}, result_types=[result_type])

    @property
    def intrinsic(self) -> str:
        """The name of the intrinsic."""
        return self.callee.root_reference.data
