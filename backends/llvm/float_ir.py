"""Writes straight-line LLVM IR over float or a vector of floats, one method per instruction."""

from __future__ import annotations

import struct
from collections.abc import Sequence

Operand = str | float
"""A value written before, such as "%3", or a constant that fills all lanes."""


class FloatIR:
    """The body of one function of `lanes` floats; methods append an instruction and return its value's name."""

    def __init__(self, lanes: int):
        if lanes < 1:
            raise ValueError(f"a vector needs at least one lane, not {lanes}")
        self.suffix = "f32" if lanes == 1 else f"v{lanes}f32"
        self.type = "float" if lanes == 1 else f"<{lanes} x float>"
        self.integer_type = "i32" if lanes == 1 else f"<{lanes} x i32>"
        self.condition_type = "i1" if lanes == 1 else f"<{lanes} x i1>"
        self._scalar = lanes == 1
        self._lines: list[str] = []

    def function(self, name: str, result: str) -> str:
        """The whole definition, a pure function of `%x` that is always inlined."""
        head = f"define internal {self.type} @{name}({self.type} %x) alwaysinline nounwind willreturn memory(none) {{"
        return "\n".join((head, *self._lines, f"  ret {self.type} {result}", "}", ""))

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
        """a * b + c, fused where the target can."""
        return self._intrinsic("fmuladd", a, b, c)

    def unary(self, intrinsic: str, a: Operand) -> str:
        return self._intrinsic(intrinsic, a)

    def copysign(self, magnitude: Operand, sign: Operand) -> str:
        return self._intrinsic("copysign", magnitude, sign)

    def polynomial(self, x: Operand, coefficients: Sequence[float]) -> str:
        """Horner's scheme, highest power first."""
        value: Operand = coefficients[0]
        for coefficient in coefficients[1:]:
            value = self.multiply_add(value, x, coefficient)
        assert isinstance(value, str), "a polynomial has at least two coefficients"
        return value

    def compare(self, predicate: str, a: Operand, b: Operand) -> str:
        return self._append(f"fcmp {predicate} {self.type} {self._operand(a)}, {self._operand(b)}")

    def select(self, condition: str, if_true: Operand, if_false: Operand) -> str:
        true, false = self._operand(if_true), self._operand(if_false)
        return self._append(f"select {self.condition_type} {condition}, {self.type} {true}, {self.type} {false}")

    def integer(self, instruction: str, a: str | int, b: str | int) -> str:
        """An instruction on 32-bit integers: add, sub, and, shl, ashr."""
        return self._append(f"{instruction} {self.integer_type} {self._integer(a)}, {self._integer(b)}")

    def bits(self, a: str) -> str:
        return self._append(f"bitcast {self.type} {a} to {self.integer_type}")

    def from_bits(self, a: str) -> str:
        return self._append(f"bitcast {self.integer_type} {a} to {self.type}")

    def from_signed(self, a: str) -> str:
        return self._append(f"sitofp {self.integer_type} {a} to {self.type}")

    @staticmethod
    def bits_of(value: float) -> int:
        """The bits of a float as a signed integer."""
        return struct.unpack("<i", struct.pack("<f", value))[0]

    def _float(self, instruction: str, a: Operand, b: Operand) -> str:
        return self._append(f"{instruction} {self.type} {self._operand(a)}, {self._operand(b)}")

    def _intrinsic(self, name: str, *operands: Operand) -> str:
        arguments = ", ".join(f"{self.type} {self._operand(operand)}" for operand in operands)
        return self._append(f"call {self.type} @llvm.{name}.{self.suffix}({arguments})")

    def _operand(self, value: Operand) -> str:
        if isinstance(value, str):
            return value
        # LLVM writes a float as the double of the same value, in hexadecimal.
        double = struct.unpack("<d", struct.pack("<d", struct.unpack("<f", struct.pack("<f", value))[0]))[0]
        return self._splat("float", f"0x{struct.unpack('<Q', struct.pack('<d', double))[0]:016X}")

    def _integer(self, value: str | int) -> str:
        return value if isinstance(value, str) else self._splat("i32", str(value))

    def _splat(self, element: str, constant: str) -> str:
        return constant if self._scalar else f"splat ({element} {constant})"

    def _append(self, instruction: str) -> str:
        name = f"%v{len(self._lines)}"
        self._lines.append(f"  {name} = {instruction}")
        return name
