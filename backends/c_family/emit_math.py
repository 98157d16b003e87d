"""What `math` operations become: our own polynomials for float, which all back ends share, or the C library's."""

from __future__ import annotations

from xdsl.dialects import math
from xdsl.ir import Operation

from tilework.backends.c_family.emit_arith import float_operation
from tilework.backends.c_family.emitter import Handlers
from tilework.backends.c_family.expressions import Expressions
from tilework.backends.c_family.float_c import math_function
from tilework.backends.c_family.forms import Form
from tilework.backends.elementary import VECTOR_FUNCTIONS
from tilework.dialects import arith

_FUNCTIONS: dict[type[Operation], str] = {
    math.AbsFOp: "fabs",
    math.SqrtOp: "sqrt",
    math.FloorOp: "floor",
    math.CeilOp: "ceil",
    math.TruncOp: "trunc",
    math.RoundOp: "round",
    math.RoundEvenOp: "rint",  # as processors round where nobody says otherwise
    math.CopySignOp: "copysign",
    math.FmaOp: "fma",
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
"""Operations that are functions of the C library; those among `VECTOR_FUNCTIONS` are ours on float."""


def _call(name: str):
    def write(c: Expressions, form: Form, *operands: str) -> str:
        if form.kind == "f32" and name in VECTOR_FUNCTIONS and name not in c.spelling.library:
            return f"{math_function(c, name, form)}({', '.join(operands)})"
        return c.function(form, name, *operands)

    return write


def _reciprocal_root(c: Expressions, form: Form, a: str) -> str:
    """Correctly rounded twice; the processor's estimate would have 12 bits."""
    return f"{c.number(form, 1.0)} / {c.function(form, 'sqrt', a)}"


MATH_HANDLERS: Handlers = {
    **{type_: float_operation(_call(name)) for type_, name in _FUNCTIONS.items()},
    math.RsqrtOp: float_operation(_reciprocal_root),
}
