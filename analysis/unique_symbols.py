"""Does every symbol of a table have one definition? xDSL's own verifier names the table, not the second definition."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation
from xdsl.traits import SymbolTable

from tilework.dialects.schedule import SequenceOp
from tilework.dialects.support.diagnostics import CompileError


def check_unique_symbols(table: Operation) -> None:
    """Raise a CompileError at the second definition of a symbol, or the second schedule of a kernel, in a module."""
    if not table.has_trait(SymbolTable, value_if_unregistered=False):
        return
    defined: dict[tuple[type[Operation] | None, str], Operation] = {}
    for op in (op for region in table.regions for block in region.blocks for op in block.ops):
        key = _defined_by(op)
        first = None if key is None else defined.setdefault(key, op)
        if key is None or first is op:
            continue
        if isinstance(op, SequenceOp):
            raise CompileError(f"a second schedule of @{key[1]}", op, (("the first schedule is here", first),))
        message = f"redefinition of symbol named '{key[1]}'"
        raise CompileError(message, op, (("see existing symbol definition here", first),))


def _defined_by(op: Operation) -> tuple[type[Operation] | None, str] | None:
    """What may be there once: a symbol, or the schedule of a kernel."""
    if isinstance(op, SequenceOp):
        return SequenceOp, op.kernel_name
    name = op.get_attr_or_prop("sym_name")
    return (None, name.data) if isinstance(name, StringAttr) else None
