"""Calls of host functions by host functions."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FlatSymbolRefAttrConstr, IndexType, MemRefType, SymbolRefAttr
from xdsl.ir import SSAValue
from xdsl.irdl import AttrSizedOperandSegments, IRDLOperation, irdl_op_definition, prop_def, var_operand_def


@irdl_op_definition
class InvokeOp(IRDLOperation):
    """Run a function of the host, which may run itself again: its results are further buffers, which it writes.

    loop.invoke @tree ins(%node, %table) outs(%sum) symbols(%N)
      : (memref<i64>, memref<?x2xi64>) -> (memref<8xf32>)

    The symbols are those that its arguments tell, in the order in which these name them first. Its temporaries lie
    behind the caller's; where there is no room left, as it has called itself too often, the call fails.
    """

    name = "loop.invoke"
    callee = prop_def(FlatSymbolRefAttrConstr)
    inputs = var_operand_def(MemRefType)
    outputs = var_operand_def(MemRefType)
    symbols = var_operand_def(IndexType())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        "$callee `ins` `(` $inputs `)` `outs` `(` $outputs `)` (`symbols` `(` $symbols^ `)`)? attr-dict "
        "`:` `(` type($inputs) `)` `->` `(` type($outputs) `)`"
    )

    def __init__(
        self, callee: str, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue], symbols: Sequence[SSAValue] = ()
    ):
        super().__init__(operands=[inputs, outputs, symbols], properties={"callee": SymbolRefAttr(callee)})

    @property
    def function_name(self) -> str:
        """The name of the function."""
        return self.callee.root_reference.data
