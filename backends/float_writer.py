"""What the elementary functions are written with: one method per instruction on floats or doubles, or vectors of them.

Each back end has a writer of its own, which appends to the body of one function in its language.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Literal

Operand = str | float
"""A value written before, by its name, or a constant that fills all lanes."""


class FloatWriter(ABC):
    """The body of one function of numbers; methods append an instruction and return its value's name.

    scales: whether `scale` may be called, as the target has an instruction for it.
    """

    element: Literal["float", "double"]
    scales: bool

    @abstractmethod
    def in_double(self) -> FloatWriter:
        """What appends to the same body instructions on doubles."""

    @abstractmethod
    def add(self, a: Operand, b: Operand) -> str: ...

    @abstractmethod
    def subtract(self, a: Operand, b: Operand) -> str: ...

    @abstractmethod
    def multiply(self, a: Operand, b: Operand) -> str: ...

    @abstractmethod
    def divide(self, a: Operand, b: Operand) -> str: ...

    @abstractmethod
    def negate(self, a: Operand) -> str: ...

    @abstractmethod
    def multiply_add(self, a: Operand, b: Operand, c: Operand) -> str:
        """a * b + c, fused where the target can."""

    @abstractmethod
    def scale(self, a: str, exponent: str) -> str:
        """a * 2**exponent, rounded once."""

    @abstractmethod
    def unary(self, function: Literal["fabs", "sqrt"], a: Operand) -> str: ...

    @abstractmethod
    def copysign(self, magnitude: Operand, sign: Operand) -> str: ...

    @abstractmethod
    def compare(self, predicate: str, a: Operand, b: Operand) -> str:
        """Whether two numbers are as a predicate of `arith.cmpf` says."""

    @abstractmethod
    def select(self, condition: str, if_true: Operand, if_false: Operand) -> str: ...

    @abstractmethod
    def both(self, a: str, b: str) -> str:
        """Whether two conditions hold."""

    @abstractmethod
    def integer(self, instruction: str, a: str | int, b: str | int) -> str:
        """An instruction on integers as wide as the numbers: add, sub, and, or, xor, shl, ashr, lshr."""

    @abstractmethod
    def is_odd(self, a: str) -> str:
        """Whether an integer is odd."""

    @abstractmethod
    def bits(self, a: str) -> str:
        """The integer that has the bits of a number."""

    @abstractmethod
    def from_bits(self, a: str) -> str:
        """The number that has the bits of an integer."""

    @abstractmethod
    def from_signed(self, a: str) -> str:
        """The number nearest to an integer."""

    @abstractmethod
    def extended(self, a: str) -> str:
        """A double of the same value as the float `a`."""

    @abstractmethod
    def rounded(self, a: str) -> str:
        """The float nearest to the double `a`."""

    def polynomial(self, x: Operand, coefficients: Sequence[float]) -> str:
        """Horner's scheme, highest power first."""
        value: Operand = coefficients[0]
        for coefficient in coefficients[1:]:
            value = self.multiply_add(value, x, coefficient)
        assert isinstance(value, str), "a polynomial has at least two coefficients"
        return value

    def bits_of(self, value: float) -> int:
        """The bits of a number as a signed integer."""
        integer, number = ("<i", "<f") if self.element == "float" else ("<q", "<d")
        return struct.unpack(integer, struct.pack(number, value))[0]
