"""The statements of an extern in the loop nest, on the buffers where its tensors live."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from xdsl.ir import SSAValue

from tilework.algebra.index_expr import Expr, var
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te import ExternOp
from tilework.lowering.loops.bodies import Bodies


def inline_extern(extern: ExternOp, bodies: Bodies, here: Callable[[Expr], Expr]) -> None:
    """Append the statements. here: an expression over symbols, over the values that they have in the loop nest."""
    values: dict[SSAValue, SSAValue] = {}
    for tensors, arguments in ((extern.inputs, extern.input_buffers), (extern.results, extern.output_buffers)):
        values.update({a: bodies.buffers[t].memrefs[0] for t, a in zip(tensors, arguments, strict=True)})
    for symbol, argument in zip(extern.symbols, extern.symbol_values, strict=True):
        values[argument] = cast(SSAValue, here(var(symbol.data)).as_var)
    for op in extern.body.block.ops:
        bodies.cursor.insert(op.clone(values))
    for result in extern.results:
        if len(bodies.buffers[result].memrefs) > 1:  # an output of the kernel that is returned twice
            bodies.copy(result, result, [here(e) for e in dims_of(result.type)], "copy")
