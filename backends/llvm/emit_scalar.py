"""What `arith` and `vector` operations become. Scalars and one-dimensional vectors alike.

Floating-point operations allow LLVM no relaxation: NaN, infinities and signed zeros mean what they mean, and products
that are added without being rounded are a `math.fma` already (`loop-uplift-to-fma`). Only of a maximum or minimum of
two zeros the sign is left open (`nsz`), as numpy leaves it: processors do not tell them apart, and it would take twice
the instructions.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects import vector
from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    VectorType,
)
from xdsl.ir import Attribute, Operation

from tilework.backends.element_types import element_of, is_float, lanes_of, width_of
from tilework.backends.llvm.bfloat16 import narrow_float, widened
from tilework.backends.llvm.emit_integers import INTEGER_HANDLERS
from tilework.backends.llvm.emitter import Emitter, Handler, Handlers
from tilework.backends.llvm.llvm_types import constant, splat, suffix, vector_constant, vector_text
from tilework.dialects import arith
from tilework.dialects.support.bfloat16 import is_bfloat16
from tilework.dialects.support.diagnostics import CompileError

_BINARY: dict[type[Operation], str] = {
    arith.AddfOp: "fadd",
    arith.SubfOp: "fsub",
    arith.MulfOp: "fmul",
    arith.DivfOp: "fdiv",
    arith.AddiOp: "add",
    arith.SubiOp: "sub",
    arith.MuliOp: "mul",
    arith.AndIOp: "and",
    arith.OrIOp: "or",
    arith.XOrIOp: "xor",
}
_BINARY_INTRINSIC: dict[type[Operation], str] = {
    arith.MaximumfOp: "maximum",
    arith.MinimumfOp: "minimum",
    arith.MaxnumfOp: "maxnum",
    arith.MinnumfOp: "minnum",
    arith.MaxSIOp: "smax",
    arith.MinSIOp: "smin",
    arith.MaxUIOp: "umax",
    arith.MinUIOp: "umin",
}
_CAST: dict[type[Operation], str] = {
    arith.SIToFPOp: "sitofp",
    arith.UIToFPOp: "uitofp",
    arith.ExtSIOp: "sext",
    arith.ExtUIOp: "zext",
    arith.TruncIOp: "trunc",
    arith.BitcastOp: "bitcast",
    vector.BitcastOp: "bitcast",
}
_FLOAT_PREDICATES = "false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true".split()
_INTEGER_PREDICATES = "eq ne slt sle sgt sge ult ule ugt uge".split()


def _binary(instruction: str) -> Handler:
    def emit(e: Emitter, op: Operation) -> None:
        a, b = op.operands
        e.define(op.results[0], f"{instruction} {e.type(a)} {e.get(a)}, {e.get(b)}")

    return emit


def call_intrinsic(name: str) -> Handler:
    """A handler that calls `@llvm.<name>.<type>`, all operands and the result being of one type."""

    def emit(e: Emitter, op: Operation) -> None:
        type_ = e.type(op.results[0])
        arguments = ", ".join(f"{type_} {e.get(operand)}" for operand in op.operands)
        flag = _flags(name) if is_float(op.results[0].type) else ""
        intrinsic = f"@llvm.{name}.{suffix(op.results[0].type, op)}"
        e.define(op.results[0], f"call{flag} {type_} {intrinsic}({arguments})")

    return emit


def _flags(name: str) -> str:
    return " nsz" if name in ("maximum", "minimum") else ""


def _cast(instruction: str) -> Handler:
    def emit(e: Emitter, op: Operation) -> None:
        value, result = op.operands[0], op.results[0]
        source, target = e.type(value), e.type(result)
        if source == target:
            e.set(result, e.get(value))
        else:
            e.define(result, f"{instruction} {source} {e.get(value)} to {target}")

    return emit


def _truncate(e: Emitter, op: arith.TruncFOp) -> None:
    narrow = isinstance(element_of(op.result.type), Float16Type | BFloat16Type)
    if narrow and isinstance(element_of(op.input.type), Float64Type):
        _narrow_double(e, op)
    elif is_bfloat16(op.result.type):
        narrow_float(e, op.result, e.get(op.input))
    else:
        _cast("fptrunc")(e, op)


def _extend(e: Emitter, op: arith.ExtFOp) -> None:
    if not is_bfloat16(op.input.type):
        _cast("fpext")(e, op)
        return
    single, x = vector_text("float", lanes_of(op.result.type)), widened(e, op.input)
    if e.type(op.result) == single:
        e.set(op.result, x)
    else:
        e.define(op.result, f"fpext {single} {x} to {e.type(op.result)}")


def _narrow_double(e: Emitter, op: arith.TruncFOp) -> None:
    """Double to half or bfloat, for which few machines have an instruction, goes by a float rounded to odd.

    That is: towards zero, the last bit set where something was lost, so that rounding again is as good as once.
    """
    lanes, source, target = lanes_of(op.result.type), e.type(op.input), e.type(op.result)
    single, bits, truth = (vector_text(t, lanes) for t in ("float", "i32", "i1"))
    value, x = e.text.value, e.get(op.input)
    nearest = value(f"fptrunc {source} {x} to {single}")
    back = value(f"fpext {single} {nearest} to {source}")
    fabs = f"call {source} @llvm.fabs.{suffix(op.input.type, op)}"
    size, reached = value(f"{fabs}({source} {x})"), value(f"{fabs}({source} {back})")
    above = value(f"fcmp ogt {source} {reached}, {size}")
    lost = value(f"fcmp une {source} {back}, {x}")
    step = value(f"sext {truth} {above} to {bits}")
    last = value(f"zext {truth} {lost} to {bits}")
    pattern = value(f"bitcast {single} {nearest} to {bits}")
    towards_zero = value(f"add {bits} {pattern}, {step}")
    odd = value(f"or {bits} {towards_zero}, {last}")
    nearly = value(f"bitcast {bits} {odd} to {single}")
    if is_bfloat16(op.result.type):
        narrow_float(e, op.result, nearly)
    else:
        e.define(op.result, f"fptrunc {single} {nearly} to {target}")


def _float_to_integer(instruction: str) -> Handler:
    """What does not fit the integer type becomes some number of it, the same one wherever it is used."""

    def emit(e: Emitter, op: Operation) -> None:
        value, result = op.operands[0], op.results[0]
        converted = e.text.value(f"{instruction} {e.type(value)} {e.get(value)} to {e.type(result)}")
        e.define(result, f"freeze {e.type(result)} {converted}")

    return emit


def _index_cast(e: Emitter, op: arith.IndexCastOp) -> None:
    """Convert to or from the width of indices, signed."""
    own = int(e.index[1:])
    source, target = (width_of(element_of(v.type)) or own for v in (op.input, op.result))
    if source == target:
        e.set(op.result, e.get(op.input))
    else:
        _cast("sext" if source < target else "trunc")(e, op)


def _constant(e: Emitter, op: arith.ConstantOp) -> None:
    value, type_ = op.value, op.result.type
    if isinstance(value, IntegerAttr | FloatAttr):
        e.set(op.result, constant(value.value.data, type_, op))
    elif isinstance(value, DenseIntOrFPElementsAttr) and isinstance(type_, VectorType):
        values = [value.get_values()[0]] if value.is_splat() else value.get_values()
        e.set(op.result, vector_constant(cast("list[float]", values), cast(VectorType[Attribute], type_), op))
    else:
        raise CompileError(f"the LLVM backend does not know constants such as {value}", op)


def _cmpf(e: Emitter, op: arith.CmpfOp) -> None:
    predicate = _FLOAT_PREDICATES[op.predicate.value.data]
    e.define(op.result, f"fcmp {predicate} {e.type(op.lhs)} {e.get(op.lhs)}, {e.get(op.rhs)}")


def _cmpi(e: Emitter, op: arith.CmpiOp) -> None:
    predicate = _INTEGER_PREDICATES[op.predicate.value.data]
    e.define(op.result, f"icmp {predicate} {e.type(op.lhs)} {e.get(op.lhs)}, {e.get(op.rhs)}")


def _select(e: Emitter, op: arith.SelectOp) -> None:
    condition, a, b = op.operands
    type_ = e.type(a)
    e.define(op.results[0], f"select {e.type(condition)} {e.get(condition)}, {type_} {e.get(a)}, {type_} {e.get(b)}")


def _negf(e: Emitter, op: arith.NegfOp) -> None:
    e.define(op.result, f"fneg {e.type(op.operand)} {e.get(op.operand)}")


# -- vectors


def _broadcast(e: Emitter, op: vector.BroadcastOp) -> None:
    source, result = op.source, op.vector
    if lanes_of(source.type) is not None:
        if source.type != result.type:
            raise CompileError(f"vector.broadcast from {source.type} to {result.type}: expected a scalar", op)
        e.set(result, e.get(source))
        return
    e.set(result, splat_of(e, e.get(source), e.type(source), cast(int, lanes_of(result.type))))


def splat_of(e: Emitter, scalar: str, element: str, lanes: int) -> str:
    """A vector with a scalar in all lanes."""
    if not scalar.startswith("%"):
        return splat(element, scalar)
    type_ = vector_text(element, lanes)
    first = e.text.value(f"insertelement {type_} poison, {element} {scalar}, i64 0")
    mask = f"<{lanes} x i32> zeroinitializer"
    return e.text.value(f"shufflevector {type_} {first}, {type_} poison, {mask}")


def _vector_fma(e: Emitter, op: vector.FMAOp) -> None:
    type_ = e.type(op.res)
    arguments = ", ".join(f"{type_} {e.get(v)}" for v in (op.lhs, op.rhs, op.acc))
    e.define(op.res, f"call {type_} @llvm.fma.{suffix(op.res.type, op)}({arguments})")


ARITH_HANDLERS: Handlers = {
    **{type_: _binary(instruction) for type_, instruction in _BINARY.items()},
    **{type_: call_intrinsic(name) for type_, name in _BINARY_INTRINSIC.items()},
    **{type_: _cast(instruction) for type_, instruction in _CAST.items()},
    **INTEGER_HANDLERS,
    arith.ConstantOp: _constant,
    arith.IndexCastOp: _index_cast,
    arith.ExtFOp: _extend,
    arith.TruncFOp: _truncate,
    arith.FPToSIOp: _float_to_integer("fptosi"),
    arith.FPToUIOp: _float_to_integer("fptoui"),
    arith.CmpfOp: _cmpf,
    arith.CmpiOp: _cmpi,
    arith.SelectOp: _select,
    arith.NegfOp: _negf,
}
VECTOR_HANDLERS: Handlers = {
    vector.BroadcastOp: _broadcast,
    vector.FMAOp: _vector_fma,
}
