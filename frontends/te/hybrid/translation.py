"""Hybrid scripts as statements of a te.extern: the syntax tree is run once, with buffers in place of arrays."""

from __future__ import annotations

import ast
import inspect
import operator
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from tilework.algebra.errors import TileworkError, UsageError
from tilework.frontends.te import functions, reductions
from tilework.frontends.te.buffers import Buffer
from tilework.frontends.te.dtypes import check_dtype
from tilework.frontends.te.extern import extern_of
from tilework.frontends.te.index import is_index, shape_of
from tilework.frontends.te.ir_builder import KINDS, BufferVar, IRBuilder
from tilework.frontends.te.scalar import Constant, ScalarLike, as_scalar
from tilework.frontends.te.tensor import Tensor

_FUNCTIONS = (
    "abs acos acosh asin asinh atan atanh ceil clz copysign cos cosh erf exp exp10 exp2 floor fmod hypot if_then_else "
    "isnan log log10 log1p log2 nearbyint popcount power round rsqrt sigmoid sin sinh sqrt tan tanh trunc"
).split()
_DTYPES = "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
_BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
}
_COMPARISONS: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_LOOPS = {"range": "serial", **{name: name for name in KINDS}}


def translate(function: Callable[..., Any], args: Sequence[Any]) -> Any:
    """The tensors that a hybrid script makes of tensors, te.vars and numbers. Raises UsageError with a line of it."""
    inputs = list(dict.fromkeys(arg for arg in args if isinstance(arg, Tensor)))
    buffers = {tensor: Buffer(tensor.name, tensor.dims, tensor.dtype) for tensor in inputs}
    builder = IRBuilder()
    given = [builder.buffer_ptr(buffers[arg]) if isinstance(arg, Tensor) else arg for arg in args]
    run = _Script(function, builder)
    made = run.call(given)
    several = isinstance(made, tuple | list)
    returned = cast("Sequence[object]", made) if several else [made]
    outputs = [value.buffer for value in returned if isinstance(value, BufferVar)]
    if len(outputs) != len(returned) or any(buffer not in run.outputs for buffer in outputs):
        raise UsageError(f"hybrid script '{run.name}' returns what output_tensor makes, and nothing else")
    if missing := [buffer.name for buffer in run.outputs if buffer not in outputs]:
        raise UsageError(f"hybrid script '{run.name}' does not return '{missing[0]}', which output_tensor makes")
    tensors = extern_of(run.name, inputs, list(buffers.values()), outputs, builder.get())
    return tensors if several else tensors[0]


class _Script:
    """One call of a hybrid script. outputs: what output_tensor has made, those of scripts that it calls among it."""

    def __init__(self, function: Callable[..., Any], builder: IRBuilder):
        self.name = function.__name__
        self.builder = builder
        self.outputs: list[Buffer] = []
        self._signature = inspect.signature(function)
        closure = inspect.getclosurevars(inspect.unwrap(function))
        self._outside: dict[str, Any] = {**closure.globals, **closure.nonlocals}
        source = textwrap.dedent(inspect.getsource(function))
        [self._tree] = [n for n in ast.parse(source).body if isinstance(n, ast.FunctionDef)]
        self._stored = [n.id for n in ast.walk(self._tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
        self._variables: dict[str, Any] = {}
        self._returned: Any = None

    def call(self, args: Sequence[Any]) -> Any:
        """Record the statements for these arguments; what the script returns."""
        self._variables = dict(self._signature.bind(*args).arguments)
        self._block(self._tree.body)
        return self._returned

    # -- statements

    def _block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            try:
                self._statement(statement)
            except TileworkError as error:
                if not getattr(error, "__notes__", None):
                    error.add_note(f"in hybrid script '{self.name}': {ast.unparse(statement).splitlines()[0]}")
                raise

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign(targets=[target], value=value):
                self._assign(target, value)
            case ast.AugAssign(target=target, op=op, value=value):
                self._store(target, _applied(op, self._value(_loaded(target)), self._value(value)))
            case ast.For(target=ast.Name(id=name), iter=ast.Call() as loop, body=body, orelse=[]):
                self._loop(name, loop, body)
            case ast.If(test=test, body=body, orelse=orelse):
                self._if(self._value(test), body, orelse)
            case ast.Return(value=value) if value is not None and statement is self._tree.body[-1]:
                self._returned = self._value(value)
            case ast.Expr(value=ast.Constant(value=str())) | ast.Pass():
                pass
            case ast.Assert(test=test):
                if self._value(test) is False:
                    raise UsageError(f"assertion of hybrid script '{self.name}' does not hold: {ast.unparse(test)}")
            case _:
                line = ast.unparse(statement).splitlines()[0]
                raise UsageError(f"hybrid script '{self.name}' has a statement that te does not know: {line}")

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for one, part in zip(target.elts, value.elts, strict=True):
                self._assign(one, part)
            return
        if isinstance(target, ast.Name) and isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            if value.func.id in ("output_tensor", "allocate"):
                self._variables[target.id] = self._memory(target.id, value.func.id, value)
                return
        self._store(target, self._value(value))

    def _memory(self, name: str, word: str, call: ast.Call) -> BufferVar:
        args = [self._value(arg) for arg in call.args]
        options = {str(keyword.arg): self._value(keyword.value) for keyword in call.keywords}
        bound = inspect.signature(_allocated if word == "allocate" else _made).bind(*args, **options)
        bound.apply_defaults()
        shape, dtype, *scope = bound.args
        if scope:
            return self.builder.allocate(dtype, shape, name=name, scope=scope[0])
        buffer = Buffer(name, shape_of(shape), check_dtype(dtype))
        self.outputs.append(buffer)
        return self.builder.buffer_ptr(buffer)

    def _store(self, target: ast.expr, value: Any) -> None:
        """Assign to an element, or to a name: what is known once stays a value, all else lives in memory of its own."""
        if isinstance(target, ast.Subscript):
            memory = self._value(target.value)
            if not isinstance(memory, BufferVar):
                raise UsageError(f"{ast.unparse(target)} is assigned, and {ast.unparse(target.value)} is no tensor")
            memory[self._value(target.slice)] = _converted(value, memory)
            return
        if not isinstance(target, ast.Name):
            raise UsageError(f"te assigns to names and elements, not to {ast.unparse(target)}")
        held = self._variables.get(target.id)
        if isinstance(held, BufferVar) and held.buffer.ndim == 0:
            held[()] = _converted(value, held)
        elif self._stored.count(target.id) == 1 and _is_known(value):
            self._variables[target.id] = value
        else:
            scalar = as_scalar(value)
            memory = self.builder.allocate(scalar.dtype, (), name=target.id, scope="local")
            memory[()] = scalar
            self._variables[target.id] = memory

    def _loop(self, name: str, loop: ast.Call, body: Sequence[ast.stmt]) -> None:
        word = loop.func.id if isinstance(loop.func, ast.Name) else ast.unparse(loop.func)
        bounds = [self._value(arg) for arg in loop.args]
        if word == "bind":
            raise UsageError("bind is not there in hybrid scripts: a schedule of te.compute binds axes to threads")
        if word not in (*_LOOPS, "const_range") or not 1 <= len(bounds) <= 2:
            known = ", ".join((*_LOOPS, "const_range"))
            raise UsageError(f"a loop of a hybrid script is {known} of an end, or of a first and an end; not {word}")
        first, end = (0, *bounds)[-2:]
        outer = self._variables.get(name)
        if word == "const_range":
            for number in range(int(first), int(end)):
                self._variables[name] = number
                self._block(body)
        else:
            with self.builder.for_range(first, end, name=name, kind=_LOOPS[word]) as axis:
                self._variables[name] = axis
                self._block(body)
        self._variables[name] = outer

    def _if(self, condition: Any, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]) -> None:
        if isinstance(condition, bool):
            self._block(body if condition else orelse)
            return
        with self.builder.if_scope(condition):
            self._block(body)
        if orelse:
            with self.builder.else_scope():
                self._block(orelse)

    # -- values

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self._named(name)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return tuple(self._value(part) for part in parts)
            case ast.Attribute(value=value, attr="shape" | "dtype" | "ndim" as attribute):
                of = self._value(value)
                return getattr(of.buffer if isinstance(of, BufferVar) else of, attribute)
            case ast.Subscript(value=value, slice=at):
                return self._value(value)[self._value(at)]
            case ast.Call(func=called, args=args, keywords=[]):
                return self._called(called, [self._value(arg) for arg in args])
            case _:
                return self._operation(node)

    def _operation(self, node: ast.expr) -> Any:
        match node:
            case ast.BinOp(left=left, op=op, right=right):
                return _applied(op, self._value(left), self._value(right))
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._value(operand)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                condition = self._value(operand)
                return not condition if isinstance(condition, bool) else ~as_scalar(condition)
            case ast.BoolOp(op=op, values=values):
                return _joined(isinstance(op, ast.And), [self._value(value) for value in values])
            case ast.Compare(left=left, ops=ops, comparators=others) if all(type(o) in _COMPARISONS for o in ops):
                sides = [self._value(side) for side in (left, *others)]
                pairs = zip(ops, sides, sides[1:], strict=False)
                return _joined(True, [_known(_COMPARISONS[type(op)](a, b)) for op, a, b in pairs])
            case ast.IfExp(test=test, body=then, orelse=otherwise):
                condition = self._value(test)
                if isinstance(condition, bool):
                    return self._value(then if condition else otherwise)
                return functions.if_then_else(condition, self._value(then), self._value(otherwise))
            case _:
                raise UsageError(
                    f"hybrid script '{self.name}' has an expression that te does not know: {ast.unparse(node)}"
                )

    def _named(self, name: str) -> Any:
        if name in self._variables:
            value = self._variables[name]
            return value[()] if isinstance(value, BufferVar) and value.buffer.ndim == 0 else value
        if name in self._outside:
            return self._outside[name]
        raise UsageError(f"hybrid script '{self.name}' uses '{name}', which nothing has set")

    def _called(self, called: ast.expr, args: list[Any]) -> Any:
        name = called.id if isinstance(called, ast.Name) else ast.unparse(called)
        if name in self._outside and callable(self._outside[name]):
            function = inspect.unwrap(self._outside[name])
            if any(isinstance(arg, BufferVar) for arg in args):
                inner = _Script(function, self.builder)
                made = inner.call(args)
                self.outputs += inner.outputs
                return made
            return function(*args)
        if name in _FUNCTIONS:
            return getattr(functions, name)(*args)
        if name in _DTYPES:
            return as_scalar(args[0]).astype(name)
        match name, args:
            case (("max" | "min"), [a, b]):
                if isinstance(a, int) and isinstance(b, int):
                    return max(a, b) if name == "max" else min(a, b)
                return (reductions.max if name == "max" else reductions.min)(a, b)
            case "len", [of]:
                return len(of)
            case "likely", [condition]:
                return condition
            case "ceil_div", [a, b]:
                return -(-a // b)
            case _:
                raise UsageError(f"hybrid script '{self.name}' calls {name}, which te does not know")


def _applied(op: ast.operator, a: Any, b: Any) -> Any:
    """An operator of Python on two values."""
    if isinstance(op, ast.Pow):
        return functions.power(a, b)
    if type(op) not in _BINARY:
        raise UsageError(f"te has no operator {type(op).__name__} for values")
    return getattr(operator, _BINARY[type(op)])(a, b)


def _made(shape: Any, dtype: str = "float32") -> None:
    """What output_tensor takes."""


def _allocated(shape: Any, dtype: str = "float32", scope: str = "global") -> None:
    """What allocate takes."""


def _loaded(target: ast.expr) -> ast.expr:
    """What is assigned, as what is read."""
    return ast.parse(ast.unparse(target), mode="eval").body


def _is_known(value: Any) -> bool:
    """Whether a value is the same whenever it is read: an index, a number, or what is no value of te."""
    return is_index(value) or isinstance(value, Constant) or not isinstance(value, ScalarLike)


def _converted(value: Any, memory: BufferVar) -> Any:
    """A value as an element of memory; numpy converts too where it assigns."""
    scalar = as_scalar(value)
    return value if scalar.dtype == memory.dtype else scalar.astype(memory.dtype)


def _known(condition: Any) -> Any:
    """A comparison of numbers that are known as Python's."""
    return bool(condition) if getattr(condition, "same", None) is not None else condition


def _joined(conjunction: bool, conditions: list[Any]) -> Any:
    """All of the conditions, or one of them: those that are known are left out."""
    decisive = [c for c in conditions if isinstance(c, bool) and c != conjunction]
    if decisive:
        return decisive[0]
    rest = [c for c in conditions if not isinstance(c, bool)]
    if not rest:
        return conjunction
    return (reductions.all if conjunction else reductions.any)(*rest) if len(rest) > 1 else rest[0]
