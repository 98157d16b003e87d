"""Elementary functions as functions of LLVM IR, always inlined: `llvm.exp.v16f32` would be sixteen calls of expf."""

from __future__ import annotations

from tilework.backends.elementary import FAR, OF_LIBM, OF_TWO, VECTOR_FUNCTIONS
from tilework.backends.llvm.float_ir import FloatIR


def math_function_name(name: str, lanes: int) -> str:
    """The symbol of a function: `tw.exp.v16f32` for sixteen lanes, `tw.exp.f32` for a scalar."""
    return f"tw.{name}.{FloatIR(lanes).suffix}"


def math_function(name: str, lanes: int, scales: bool = False) -> str:
    """The text of `define internal <lanes x float> @tw.<name>.v<lanes>f32(<lanes x float> %x ..)`, always inlined.

    `name` is one of `VECTOR_FUNCTIONS`; one lane is a scalar. scales: whether the target multiplies by powers of two in
    one instruction. Only float has such functions: those of double are the C library's, lane by lane. Raises
    ValueError for any other name.
    """
    if name not in VECTOR_FUNCTIONS:
        raise ValueError(f"no vector function '{name}': there are {', '.join(VECTOR_FUNCTIONS)}, on float")
    ir = FloatIR(lanes, scales=scales)
    parameters = ("%x", "%y") if name in OF_TWO else ("%x",)
    result = VECTOR_FUNCTIONS[name](ir, *parameters)
    symbol = math_function_name(name, lanes)
    if name not in OF_LIBM:
        return ir.function(symbol, parameters, result)
    is_far = ir.compare("oge", ir.unary("fabs", "%x"), FAR)
    return ir.function_with_exception(symbol, result, is_far, f"{name}f")
