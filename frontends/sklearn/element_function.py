"""Functions of numbers that Python says, of numpy or a user's own, as functions of one element."""

from __future__ import annotations

import ast
import inspect
import linecache
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from xdsl.dialects.builtin import i1

from tilework.dialects.te.builder import KernelBuilder, Scalar
from tilework.frontends.sklearn.emitter import Unsupported

ElementFunction = Callable[[KernelBuilder, Scalar], Scalar]

NAMES: Mapping[Any, str] = {
    np.abs: "abs", np.arccos: "acos", np.arccosh: "acosh", np.arcsin: "asin", np.arcsinh: "asinh", np.arctan: "atan",
    np.arctanh: "atanh", np.ceil: "ceil", np.cos: "cos", np.cosh: "cosh", np.exp: "exp", np.exp2: "exp2",
    np.expm1: "expm1", np.floor: "floor", np.log: "log", np.log10: "log10", np.log1p: "log1p", np.log2: "log2",
    np.rint: "round", np.sin: "sin", np.sinh: "sinh", np.sqrt: "sqrt", np.tan: "tan", np.tanh: "tanh",
    np.trunc: "trunc",
}  # fmt: skip
"""numpy's functions, by what they are called at te."""

WRITTEN: Mapping[Any, ElementFunction] = {
    np.square: lambda k, v: v * v,
    np.negative: lambda k, v: negated(k, v),
    np.positive: lambda k, v: v,
    np.reciprocal: lambda k, v: k.constant(1.0, v.dtype) / v,
    np.cbrt: lambda k, v: cube_root(k, v),
    np.sign: lambda k, v: sign(k, v),
}
"""Those that are written with others."""

CONSTANTS = (np, math)
"""Modules whose numbers do not change."""

COMPARISONS: Mapping[type[ast.cmpop], str] = {
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip
OPERATORS: Mapping[type[ast.operator], Callable[[Scalar, Scalar], Scalar]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
}


def element_function(function: Any) -> ElementFunction:
    """What a function of arrays does to each element. Raises Unsupported for what does anything else."""
    name = getattr(function, "__name__", "an object")
    if isinstance(function, np.ufunc):
        if function not in NAMES and function not in WRITTEN:
            raise Unsupported(f"the function {name} of numpy is not known")
        return lambda k, v: of_numpy(function, k, v)
    if not inspect.isfunction(function):
        raise Unsupported(f"{name} is no function of Python that can be read")
    parameters, statements = _definition(function)
    if len(parameters) != 1:
        raise Unsupported(f"{name} has {len(parameters)} parameters, and is given one array")
    around = {**function.__globals__, **inspect.getclosurevars(function).nonlocals}
    return lambda k, v: _Reader(k, v, {parameters[0]: v}, around).run(statements)


def of_numpy(function: Any, k: KernelBuilder, v: Scalar) -> Scalar:
    """One of numpy's functions of an element."""
    return WRITTEN[function](k, v) if function in WRITTEN else k.call(NAMES[function], v)


def negated(k: KernelBuilder, v: Scalar) -> Scalar:
    """-v: of 0, the other 0."""
    return k.constant(-1.0, v.dtype) * v


def sign(k: KernelBuilder, v: Scalar) -> Scalar:
    """-1, 0 or 1; NaN of NaN."""
    below = k.select(v.compare("lt", 0.0), k.constant(-1.0, v.dtype), v)
    return k.select(v.compare("gt", 0.0), k.constant(1.0, v.dtype), below)


def cube_root(k: KernelBuilder, v: Scalar) -> Scalar:
    """The number whose cube is v: one step of Newton's method makes a power exact but for rounding."""
    size = k.call("abs", v)
    root = k.call("exp2", k.call("log2", size) / 3.0)
    better = root - (root * root * root - size) / (root * root * 3.0)
    is_plain = k.select(size.compare("gt", 0.0), size.compare("lt", float("inf")), size.compare("gt", 0.0))
    return k.select(is_plain, k.select(v.compare("lt", 0.0), negated(k, better), better), v)


class _Reader:
    """Reads the statements of a function and writes what they say about an element."""

    def __init__(self, k: KernelBuilder, element: Scalar, names: dict[str, Scalar], around: Mapping[str, Any]):
        self._k = k
        self._dtype = element.dtype
        self._names = names
        self._around = around

    def run(self, statements: list[ast.stmt]) -> Scalar:
        """What the statements return."""
        for statement in statements:
            match statement:
                case ast.Expr(value=ast.Constant(value=str())):
                    continue
                case ast.Assign(targets=[ast.Name(id=name)], value=value):
                    self._names[name] = self._value(value)
                case ast.Return(value=ast.expr() as value):
                    made = self._value(value)
                    if made.dtype == i1:
                        raise _not_read(value, "is a condition, no number")
                    return made
                case _:
                    raise _not_read(statement, "is no assignment and no return")
        raise Unsupported("a function that returns nothing")

    def _value(self, node: ast.expr) -> Scalar:
        match node:
            case ast.Name(id=name) if name in self._names:
                return self._names[name]
            case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=2)):
                base = self._value(left)
                return base * base
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return OPERATORS[type(op)](self._value(left), self._value(right))
            case ast.UnaryOp(op=ast.USub(), operand=inner) if not isinstance(inner, ast.Constant):
                return negated(self._k, self._value(inner))
            case ast.Compare(left=left, ops=[comparison], comparators=[right]) if type(comparison) in COMPARISONS:
                return self._value(left).compare(COMPARISONS[type(comparison)], self._value(right))
            case ast.Call(func=function, args=arguments, keywords=[]):
                return self._call(node, self._known(function), arguments)
            case _:
                return self._constant(node)

    def _call(self, node: ast.Call, function: Any, arguments: list[ast.expr]) -> Scalar:
        values = [self._value(argument) for argument in arguments]
        if len(values) == 1 and isinstance(function, np.ufunc) and (function in NAMES or function in WRITTEN):
            return of_numpy(function, self._k, values[0])
        if len(values) == 1 and function is np.isnan:
            return values[0].compare("ne", values[0])
        if len(values) == 3 and function is np.where and values[0].dtype == i1:
            return self._k.select(*values)
        if len(values) == 3 and function is np.clip:
            return self._k.min(self._k.max(values[0], values[1]), values[2])
        if len(values) == 2 and function in (np.maximum, np.minimum):
            return self._k.max(*values) if function is np.maximum else self._k.min(*values)
        raise _not_read(node, "is no function of elements that is known")

    def _constant(self, node: ast.expr) -> Scalar:
        found = self._known(node)
        if isinstance(node, ast.Attribute) and self._known(node.value) not in CONSTANTS:
            raise _not_read(node, "is an attribute, which may change before the function is called")
        if type(found) not in (int, float):
            raise _not_read(node, "is no number that Python knows when the function is read")
        return self._k.constant(float(found), self._dtype)

    def _known(self, node: ast.expr) -> Any:
        """The object that an expression stands for, outside of the function."""
        match node:
            case ast.Constant(value=value):
                return value
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
                return -value
            case ast.Name(id=name) if name in self._around and name not in self._names:
                return self._around[name]
            case ast.Attribute(value=inner, attr=attribute):
                return getattr(self._known(inner), attribute, None)
            case _:
                raise _not_read(node, "is not known")


def _definition(function: Any) -> tuple[list[str], list[ast.stmt]]:
    """The names of the parameters of a function, and its statements. Raises Unsupported where its source is not."""
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    try:
        nodes = list(ast.walk(ast.parse("".join(lines))))
    except SyntaxError:
        nodes = []
    for node in nodes:
        if isinstance(node, ast.Lambda | ast.FunctionDef) and _is_of(node, code):
            names = [argument.arg for argument in ast.walk(node.args) if isinstance(argument, ast.arg)]
            if isinstance(node, ast.FunctionDef):
                return names, node.body
            return names, [ast.copy_location(ast.Return(node.body), node)]
    raise Unsupported(f"the source of {function.__name__} is not there to be read")


def _is_of(node: ast.Lambda | ast.FunctionDef, code: Any) -> bool:
    """Whether code was made of a function: all that it says about where it stands is inside of that."""
    name = node.name if isinstance(node, ast.FunctionDef) else "<lambda>"
    body = node.body[-1] if isinstance(node, ast.FunctionDef) else node.body
    places = {(line, column) for line, _, column, _ in code.co_positions() if line and column}
    return name == code.co_name and (body.lineno, body.col_offset) in places


def _not_read(node: ast.AST, what: str) -> Unsupported:
    return Unsupported(f"line {getattr(node, 'lineno', 0)} of a function: {ast.unparse(node)} {what}")
