"""Writes straight-line LLVM IR over floats or doubles, or vectors of them, one method per instruction."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Literal

from tilework.backends.float_writer import FloatWriter, Operand


class FloatIR(FloatWriter):
    """The body of one function of `lanes` numbers; methods append an instruction and return its value's name."""

    def __init__(self, lanes: int, element: Literal["float", "double"] = "float", scales: bool = False):
        if lanes < 1:
            raise ValueError(f"a vector needs at least one lane, not {lanes}")
        self.element, self.lanes, self.scales = element, lanes, scales
        self.integer_element, short = ("i32", "f32") if element == "float" else ("i64", "f64")
        self.suffix = short if lanes == 1 else f"v{lanes}{short}"
        self.type = self._vector_of(element)
        self.integer_type = self._vector_of(self.integer_element)
        self.condition_type = self._vector_of("i1")
        self._lines: list[str] = []

    def in_double(self) -> FloatIR:
        double = FloatIR(self.lanes, "double", self.scales)
        double._lines = self._lines
        return double

    def function(self, name: str, parameters: Sequence[str], result: str) -> str:
        """The whole definition, a pure function of `parameters` that is always inlined."""
        arguments = ", ".join(f"{self.type} {p}" for p in parameters)
        head = f"define internal {self.type} @{name}({arguments}) alwaysinline nounwind willreturn memory(none) {{"
        return "\n".join((head, *self._lines, f"  ret {self.type} {result}", "}", ""))

    def function_with_exception(self, name: str, result: str, exception: str, scalar: str) -> str:
        """The same of one parameter, `%x`; where some lane is an `exception`, all of them are what `scalar` gives.

        That is called lane by lane, in a function `name`.far.
        """
        some, elsewhere = exception, scalar
        if self.lanes > 1:
            bits = self._append(f"bitcast {self.condition_type} {exception} to i{self.lanes}")
            some, elsewhere = self._append(f"icmp ne i{self.lanes} {bits}, 0"), f"{name}.far"
        lines = (
            f"define internal {self.type} @{name}({self.type} %x) alwaysinline nounwind willreturn memory(none) {{",
            "entry:",
            *self._lines,
            f"  br i1 {some}, label %rare, label %end",
            "rare:",
            f"  %exact = call {self.type} @{elsewhere}({self.type} %x)",
            "  br label %end",
            "end:",
            f"  %result = phi {self.type} [ {result}, %entry ], [ %exact, %rare ]",
            f"  ret {self.type} %result",
            "}",
            *(self._lane_by_lane(elsewhere, scalar) if self.lanes > 1 else ()),
            "",
        )
        return "\n".join(lines)

    def _lane_by_lane(self, name: str, scalar: str) -> Sequence[str]:
        """A function, for rare cases, that calls another one for each lane of `%x`."""
        return (
            f"define internal {self.type} @{name}({self.type} %x) noinline cold nounwind willreturn memory(none) {{",
            "entry:",
            "  br label %loop",
            "loop:",
            "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]",
            f"  %before = phi {self.type} [ poison, %entry ], [ %after, %loop ]",
            f"  %lane = extractelement {self.type} %x, i64 %i",
            f"  %value = call {self.element} @{scalar}({self.element} %lane)",
            f"  %after = insertelement {self.type} %before, {self.element} %value, i64 %i",
            "  %next = add i64 %i, 1",
            f"  %more = icmp ult i64 %next, {self.lanes}",
            "  br i1 %more, label %loop, label %end",
            "end:",
            f"  ret {self.type} %after",
            "}",
        )

    def add(self, a: Operand, b: Operand) -> str:
        return self._float("fadd", a, b)

    def subtract(self, a: Operand, b: Operand) -> str:
        return self._float("fsub", a, b)

    def multiply(self, a: Operand, b: Operand) -> str:
        return self._float("fmul", a, b)

    def divide(self, a: Operand, b: Operand) -> str:
        return self._float("fdiv", a, b)

    def negate(self, a: Operand) -> str:
        return self._append(f"fneg {self.type} {self._operand(a)}")

    def multiply_add(self, a: Operand, b: Operand, c: Operand) -> str:
        return self._intrinsic("fmuladd", a, b, c)

    def scale(self, a: str, exponent: str) -> str:
        """Only where the target `scales`: elsewhere LLVM calls libm."""
        types = f"{self.suffix}.{'' if self.lanes == 1 else f'v{self.lanes}'}{self.integer_element}"
        return self._append(f"call {self.type} @llvm.ldexp.{types}({self.type} {a}, {self.integer_type} {exponent})")

    def unary(self, function: Literal["fabs", "sqrt"], a: Operand) -> str:
        return self._intrinsic(function, a)

    def copysign(self, magnitude: Operand, sign: Operand) -> str:
        return self._intrinsic("copysign", magnitude, sign)

    def compare(self, predicate: str, a: Operand, b: Operand) -> str:
        return self._append(f"fcmp {predicate} {self.type} {self._operand(a)}, {self._operand(b)}")

    def select(self, condition: str, if_true: Operand, if_false: Operand) -> str:
        true, false = self._operand(if_true), self._operand(if_false)
        return self._append(f"select {self.condition_type} {condition}, {self.type} {true}, {self.type} {false}")

    def integer(self, instruction: str, a: str | int, b: str | int) -> str:
        return self._append(f"{instruction} {self.integer_type} {self._integer(a)}, {self._integer(b)}")

    def bits(self, a: str) -> str:
        return self._append(f"bitcast {self.type} {a} to {self.integer_type}")

    def from_bits(self, a: str) -> str:
        return self._append(f"bitcast {self.integer_type} {a} to {self.type}")

    def from_signed(self, a: str) -> str:
        return self._append(f"sitofp {self.integer_type} {a} to {self.type}")

    def is_odd(self, a: str) -> str:
        return self._append(f"trunc {self.integer_type} {a} to {self.condition_type}")

    def extended(self, a: str) -> str:
        return self._append(f"fpext {self._vector_of('float')} {a} to {self.type}")

    def rounded(self, a: str) -> str:
        return self._append(f"fptrunc {self._vector_of('double')} {a} to {self.type}")

    def both(self, a: str, b: str) -> str:
        return self._append(f"and {self.condition_type} {a}, {b}")

    def _float(self, instruction: str, a: Operand, b: Operand) -> str:
        return self._append(f"{instruction} {self.type} {self._operand(a)}, {self._operand(b)}")

    def _intrinsic(self, name: str, *operands: Operand) -> str:
        arguments = ", ".join(f"{self.type} {self._operand(operand)}" for operand in operands)
        return self._append(f"call {self.type} @llvm.{name}.{self.suffix}({arguments})")

    def _operand(self, value: Operand) -> str:
        if isinstance(value, str):
            return value
        # LLVM writes a float as the double of the same value, in hexadecimal.
        if self.element == "float":
            value = struct.unpack("<f", struct.pack("<f", value))[0]
        return self._splat(self.element, f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}")

    def _integer(self, value: str | int) -> str:
        return value if isinstance(value, str) else self._splat(self.integer_element, str(value))

    def _splat(self, element: str, constant: str) -> str:
        return constant if self.lanes == 1 else f"splat ({element} {constant})"

    def _vector_of(self, element: str) -> str:
        return element if self.lanes == 1 else f"<{self.lanes} x {element}>"

    def _append(self, instruction: str) -> str:
        name = f"%v{len(self._lines)}"
        self._lines.append(f"  {name} = {instruction}")
        return name
