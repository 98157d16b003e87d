"""Which values of a graph function hang on parameters and constants only: they can be known before the first run."""

from __future__ import annotations

from math import prod

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FixedBitwidthType, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from tilework.analysis.functions import graphs_of
from tilework.dialects.graph.base import GraphOp
from tilework.dialects.graph.structure import ParameterOp

DEFAULTS = "tilework.defaults"
"""The attribute of a function that names parameters which the caller may replace: a dictionary of symbols."""

FIXED_DEFAULTS = "tilework.fixed_defaults"
"""The attribute of a function that names parameters which the caller may give again, but not others in their place."""

PREPARE = "prepare"
"""The function that computes parameters from parameters, once, when a module is compiled."""


def graph_functions(module: ModuleOp) -> list[FuncOp]:
    """The functions of graph operators that are compiled: all that have a body, but @prepare."""
    return [op for op in module.ops if isinstance(op, FuncOp) and is_compiled(op)]


def is_compiled(func: FuncOp) -> bool:
    """Whether kernels are made of this function: @prepare runs once and is not worth it."""
    return not func.is_declaration and func.sym_name.data != PREPARE


def is_splat(op: Operation | Block) -> bool:
    """Whether `op` is a constant tensor all of whose elements are one number: a kernel holds it as that number."""
    if not isinstance(op, ConstantOp) or not isinstance(op.value, DenseIntOrFPElementsAttr):
        return False
    count = prod(op.value.get_shape())
    content = op.value.data.data
    return count > 0 and content == content[: len(content) // count] * count  # bytewise: NaN is one number too


def parameter_bytes(graph: Block) -> int:
    """The memory that the parameters of a graph take, those of scans in it too."""
    types = [op.result.type for op in graph.walk() if isinstance(op, ParameterOp)]
    elements = [(prod(t.get_shape()), t.element_type) for t in types]
    return sum(count * e.bitwidth // 8 for count, e in elements if isinstance(e, FixedBitwidthType))


def computation_of(value: SSAValue) -> list[Operation]:
    """The operations that a value depends on, each after those that it depends on itself."""
    found: dict[Operation, None] = {}
    pending = [(value.owner, False)]
    while pending:
        op, operands_found = pending.pop()
        if not isinstance(op, Operation) or op in found:
            continue
        if operands_found:
            found[op] = None
        else:
            pending.append((op, True))
            pending += [(operand.owner, False) for operand in reversed(op.operands)]
    return list(found)


def parameters_read(value: SSAValue) -> set[str]:
    """The names of the parameters that a value depends on."""
    return {op.sym_name.data for op in computation_of(value) if isinstance(op, ParameterOp)}


def values_from_parameters(func: FuncOp) -> set[SSAValue]:
    """Parameters, constants, and what operators make of nothing else, in all graphs of a function."""
    return {value for graph in graphs_of(func) for value in known_in(graph)}


def known_in(graph: Block) -> set[SSAValue]:
    """Parameters, constants, and what operators make of nothing else, in one graph: it sees no values of others."""
    found: set[SSAValue] = set()
    for op in graph.ops:
        computed = isinstance(op, GraphOp) and all(operand in found for operand in op.operands)
        if computed or isinstance(op, ParameterOp | ConstantOp):
            found.update(op.results)
    return found
