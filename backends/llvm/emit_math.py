"""What `math` operations become: our own polynomials for vectors of float, LLVM's intrinsics, or calls of libm."""

from __future__ import annotations

from xdsl.dialects import math
from xdsl.dialects.builtin import Float16Type, Float32Type, Float64Type
from xdsl.ir import Attribute, Operation

from tilework.backends.element_types import element_of, lanes_of
from tilework.backends.elementary import OF_LIBM, VECTOR_FUNCTIONS
from tilework.backends.llvm.emit_scalar import call_intrinsic
from tilework.backends.llvm.emitter import Emitter, Handler, Handlers
from tilework.backends.llvm.llvm_types import constant, llvm_type, splat, suffix, vector_text
from tilework.backends.llvm.math import math_function, math_function_name
from tilework.dialects import arith
from tilework.dialects.support.diagnostics import CompileError

_INTRINSICS: dict[type[Operation], str] = {
    math.AbsFOp: "fabs",
    math.SqrtOp: "sqrt",
    math.FloorOp: "floor",
    math.CeilOp: "ceil",
    math.TruncOp: "trunc",
    math.RoundOp: "round",
    math.RoundEvenOp: "roundeven",
    math.CopySignOp: "copysign",
    math.FmaOp: "fma",
    math.CtPopOp: "ctpop",
}
"""Operations that are an instruction or a few."""

FUNCTIONS: dict[type[Operation], str] = {
    math.ExpOp: "exp",
    math.LogOp: "log",
    math.TanhOp: "tanh",
    math.ErfOp: "erf",
    math.Exp2Op: "exp2",
    math.ExpM1Op: "expm1",
    math.Log10Op: "log10",
    math.Log1pOp: "log1p",
    math.Log2Op: "log2",
    math.SinOp: "sin",
    math.CosOp: "cos",
    math.TanOp: "tan",
    math.AsinOp: "asin",
    math.AcosOp: "acos",
    math.AtanOp: "atan",
    math.SinhOp: "sinh",
    math.CoshOp: "cosh",
    math.AsinhOp: "asinh",
    math.AcoshOp: "acosh",
    math.AtanhOp: "atanh",
    math.PowFOp: "pow",
    arith.RemFOp: "fmod",
    math.Atan2Op: "atan2",
}
"""Operations that are functions of libm; those among `VECTOR_FUNCTIONS` are ours on float."""


def _function(name: str) -> Handler:
    """A function of one or two operands of one floating-point type; half goes through float."""

    def emit(e: Emitter, op: Operation) -> None:
        type_ = op.results[0].type
        element, lanes = element_of(type_), lanes_of(type_)
        arguments = [e.get(operand) for operand in op.operands]
        if isinstance(element, Float16Type):
            narrow, wide = llvm_type(type_, op), vector_text("float", lanes)
            arguments = [e.text.value(f"fpext {narrow} {a} to {wide}") for a in arguments]
            result = _call(e, name, arguments, "float", lanes)
            e.define(op.results[0], f"fptrunc {wide} {result} to {narrow}")
        elif isinstance(element, Float32Type | Float64Type):
            e.set(op.results[0], _call(e, name, arguments, llvm_type(element), lanes))
        else:
            raise CompileError(f"'{op.name}' on {type_}: expected floating-point numbers", op)

    return emit


def _call(e: Emitter, name: str, arguments: list[str], element: str, lanes: int | None) -> str:
    if element == "float" and name in VECTOR_FUNCTIONS:
        n, type_ = lanes or 1, vector_text(element, lanes)
        symbol = math_function_name(name, n)
        if name in OF_LIBM:
            _declare_libm(e, f"{name}f", element, 1)
        e.module.define_once(symbol, lambda: math_function(name, n, e.module.target.scales))
        return e.text.value(f"call {type_} @{symbol}({', '.join(f'{type_} {a}' for a in arguments)})")
    return _call_libm(e, name, arguments, element, lanes)


def _call_libm(e: Emitter, name: str, arguments: list[str], element: str, lanes: int | None) -> str:
    """A call of libm's function, for vectors lane by lane."""
    symbol = f"{name}f" if element == "float" else name
    _declare_libm(e, symbol, element, len(arguments))

    def call(values: list[str]) -> str:
        return e.text.value(f"call {element} @{symbol}({', '.join(f'{element} {v}' for v in values)})")

    if lanes is None:
        return call(arguments)
    type_, result = vector_text(element, lanes), "poison"
    for lane in range(lanes):
        scalars = [e.text.value(f"extractelement {type_} {a}, i64 {lane}") for a in arguments]
        result = e.text.value(f"insertelement {type_} {result}, {element} {call(scalars)}, i64 {lane}")
    return result


def _declare_libm(e: Emitter, symbol: str, element: str, count: int) -> None:
    types = ", ".join([element] * count)
    e.module.declare(symbol, f"declare {element} @{symbol}({types}) nounwind willreturn memory(none)")


def _rsqrt(e: Emitter, op: math.RsqrtOp) -> None:
    """1 / sqrt x, correctly rounded twice; the processor's estimate would have 12 bits."""
    type_ = op.result.type
    text, lanes = e.type(op.result), lanes_of(type_)
    root = e.text.value(f"call {text} @llvm.sqrt.{suffix(type_, op)}({text} {e.get(op.operand)})")
    one = _constant_of(1.0, type_, op, lanes)
    e.define(op.result, f"fdiv {text} {one}, {root}")


def _constant_of(value: float, type_: Attribute, op: Operation, lanes: int | None) -> str:
    element = element_of(type_)
    text = constant(value, element, op)
    return text if lanes is None else splat(llvm_type(element, op), text)


def _with_flag(intrinsic: str) -> Handler:
    """Intrinsics whose second argument says whether some input gives poison; ours never do."""

    def emit(e: Emitter, op: Operation) -> None:
        type_ = e.type(op.results[0])
        call = f"call {type_} @llvm.{intrinsic}.{suffix(op.results[0].type, op)}"
        e.define(op.results[0], f"{call}({type_} {e.get(op.operands[0])}, i1 false)")

    return emit


MATH_HANDLERS: Handlers = {
    **{type_: call_intrinsic(name) for type_, name in _INTRINSICS.items()},
    **{type_: _function(name) for type_, name in FUNCTIONS.items()},
    math.RsqrtOp: _rsqrt,
    math.AbsIOp: _with_flag("abs"),
    math.CountLeadingZerosOp: _with_flag("ctlz"),
    math.CountTrailingZerosOp: _with_flag("cttz"),
}
