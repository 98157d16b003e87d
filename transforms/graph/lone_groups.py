"""A group of operators in a module of its own, to be asked about elsewhere."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from tilework.analysis.functions import body_of
from tilework.dialects.graph.structure import FusedOp, ParameterOp, YieldOp
from tilework.transforms.graph.algorithms import parameters_of


def alone(group: FusedOp) -> ModuleOp:
    """A module whose @main holds a copy of the group, with a parameter for each parameter that it takes.

    Operands and results have the types that its body says.
    """
    yielded = group.body.block.last_op
    assert isinstance(yielded, YieldOp)
    types, parameters = group.body.block.arg_types, parameters_of(group)
    others = [type_ for i, type_ in enumerate(types) if i not in parameters]
    block = Block(arg_types=others)
    arguments = iter(block.args)
    operands: list[SSAValue] = []
    for i, type_ in enumerate(types):
        if i in parameters:
            parameter = ParameterOp(f"p{i}", type_)
            block.add_op(parameter)
            operands.append(parameter.result)
        else:
            operands.append(next(arguments))
    copy = FusedOp(group.label.data, operands, yielded.operand_types, group.body.clone())
    block.add_ops([copy, ReturnOp(*copy.results)])
    return ModuleOp([FuncOp("main", (others, yielded.operand_types), Region(block))])


def lone_group(module: ModuleOp) -> FusedOp:
    """The group of a module that `alone` made."""
    [main] = module.ops
    assert isinstance(main, FuncOp)
    [group] = (op for op in body_of(main).ops if isinstance(op, FusedOp))
    return group
