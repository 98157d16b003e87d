"""A function of relay becomes a graph module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.errors import UsageError
from tilework.analysis.host_symbols import NAME
from tilework.compat.tvm.relay.expr import Call, Constant, Expr, Function, Tuple, Var
from tilework.dialects.graph.structure import ParameterOp
from tilework.dialects.support.names import identifier
from tilework.dialects.support.shapes import tensor_type
from tilework.te import element_type_of

Arrays = dict[str, Any]


def graph_of(function: Function, params: Mapping[str, Any]) -> tuple[ModuleOp, Arrays]:
    """The module whose function @main is the graph, and its parameters by name; those that `params` names are such.

    Raises TVMError for an operator that does not take its operands, and for a variable that is no parameter.
    """
    return _Importer(function, params).run()


class _Importer:
    def __init__(self, function: Function, params: Mapping[str, Any]):
        self.function = function
        self.params = params
        self.arrays: Arrays = {}
        self.block = Block()
        self.values: dict[Expr, SSAValue] = {}

    def run(self) -> tuple[ModuleOp, Arrays]:
        for variable in self.function.params:
            type_ = tensor_type(variable.type_annotation.shape, element_type_of(variable.type_annotation.dtype))
            if variable.name_hint in self.params:
                self.values[variable] = self._parameter(variable.name_hint, np.asarray(self.params[variable.name_hint]))
            else:
                self.values[variable] = self.block.insert_arg(type_, len(self.block.args))
                self.values[variable].name_hint = identifier(variable.name_hint)
        body = self.function.body
        results = [self._value(e) for e in (body.fields if isinstance(body, Tuple) else (body,))]
        self.block.add_op(func.ReturnOp(*results))
        types = list(self.block.arg_types), [value.type for value in results]
        inputs = [v.name_hint for v in self.function.params if v.name_hint not in self.params]
        told = [DictionaryAttr({NAME: StringAttr(name)}) for name in inputs]
        main = func.FuncOp("main", types, Region(self.block), arg_attrs=ArrayAttr(told) if told else None)
        return ModuleOp([main]), self.arrays

    def _value(self, expr: Expr) -> SSAValue:
        """What an expression is in the graph; written once, what it needs before it."""
        pending = [expr]
        while pending:
            top = pending[-1]
            missing = [arg for arg in top.args if arg not in self.values] if isinstance(top, Call) else []
            if top in self.values or not missing:
                pending.pop()
                if top not in self.values:
                    self.values[top] = self._written(top)
            else:
                pending += missing
        return self.values[expr]

    def _written(self, expr: Expr) -> SSAValue:
        match expr:
            case Constant(array=array):
                return self._parameter("constant", array)
            case Call():
                try:
                    value = expr.make(*(self.values[arg] for arg in expr.args))
                except VerifyException as error:
                    raise UsageError(f"relay.{expr.op}: {error}") from None
                self._append(value)
                return value
            case Var():
                raise UsageError(f"relay.var '{expr.name_hint}' is used, and is no parameter of the function")
            case _:
                raise UsageError(f"a {type(expr).__name__} is used as a tensor: take one of its fields")

    def _append(self, value: SSAValue) -> None:
        """Put the operator that makes a value, and those that it was made with, behind all others."""
        op = value.owner
        if isinstance(op, Operation) and op.parent is None:
            for operand in op.operands:
                self._append(operand)
            self.block.add_op(op)

    def _parameter(self, name: str, array: Any) -> SSAValue:
        symbol, number = name, 0
        while symbol in self.arrays:
            number += 1
            symbol = f"{name}_{number}"
        self.arrays[symbol] = array
        op = ParameterOp(symbol, tensor_type(array.shape, element_type_of(array.dtype.name)))
        op.result.name_hint = identifier(symbol)
        self.block.add_op(op)
        return op.result
