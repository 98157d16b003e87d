"""te.call_extern: a function of C, called by an instruction, or on numbers where te has the same function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tilework.algebra.errors import UsageError
from tilework.frontends.te import functions
from tilework.frontends.te.arguments import check_text, kind
from tilework.frontends.te.dtypes import bits_of, check_dtype, is_float
from tilework.frontends.te.index import is_index, to_index
from tilework.frontends.te.scalar import Constant, Scalar, ScalarLike, as_scalar

_OF_C = (
    "acos acosh asin asinh atan atanh ceil cos cosh erf exp exp10 exp2 floor log log10 log1p log2 nearbyint round sin "
    "sinh sqrt tan tanh trunc"
).split()
MATH: Mapping[str, Callable[..., Any]] = {
    **{name: getattr(functions, name) for name in _OF_C},
    "fabs": functions.abs,
    "pow": functions.power,
    "fmod": functions.fmod,
    "copysign": functions.copysign,
    "hypot": functions.hypot,
}
"""C's functions of numbers, which `f` behind the name makes those of float32; CUDA's have `__` in front."""


class Pointer(str):
    """The name by which snippets have the memory of a buffer, with the type of its elements."""

    dtype: str

    def __new__(cls, text: str, dtype: str) -> Pointer:
        made = super().__new__(cls, text)
        made.dtype = dtype
        return made


@dataclass(frozen=True, eq=False)
class ExternCall:
    """A call of a function of C: of pointers, strides as snippets write them, and numbers."""

    dtype: str
    name: str
    args: tuple[Any, ...]

    def snippets(self) -> dict[str, list[str]]:
        """How back ends write it, by the kind of target. C's integers are of 32 bits, as in TVM."""
        llvm = [(_LLVM_POINTER if isinstance(a, Pointer) else _llvm(_dtype(a)), _text(a)) for a in self.args]
        result = _llvm(self.dtype) if self.dtype else "void"
        declared = f"declare {result} @{self.name}({', '.join(type_ for type_, _ in llvm)})"
        called = f"call {result} @{self.name}({', '.join(f'{type_} {text}' for type_, text in llvm)})"
        c_types = ", ".join(f"{_c(a.dtype)} *" if isinstance(a, Pointer) else _c(_dtype(a)) for a in self.args)
        c = [f"extern {_c(self.dtype) if self.dtype else 'void'} {self.name}({c_types or 'void'});"]
        c.append(f"{self.name}({', '.join(map(_text, self.args))});")
        return {"llvm": [declared, called], "c": c}


def call_extern(dtype: object, func_name: str, *args: object) -> Scalar | ExternCall:
    """What a function of C makes of numbers; or for `fcompute` of te.decl_tensor_intrin the call of one with pointers.

    On numbers C's functions of mathematics are te's, such as "sinf" and "tanh". Of an instruction any function can be
    called, which `pragma(axis, "import_c", source)` may define. Raises UsageError for another function on numbers.
    """
    check_text(func_name, "the name of a function")
    wanted = "" if dtype in ("", "void", "handle") else check_dtype(dtype)
    if any(isinstance(arg, str) for arg in args):
        return ExternCall(wanted, func_name, args)
    name = func_name.removeprefix("__")
    found = MATH.get(name) or MATH.get(name.removesuffix("f"))
    if found is None or not all(isinstance(arg, ScalarLike | int | float) for arg in args):
        given = f"of {', '.join(map(kind, args))} " if found else ""
        raise UsageError(
            f"call_extern of '{func_name}' {given}on numbers: te has C's functions of mathematics ({', '.join(MATH)}); "
            "an instruction of te.decl_tensor_intrin calls any function, with access_ptr of its buffers"
        )
    return found(*args)


_LLVM_POINTER = "ptr"


def _dtype(arg: object) -> str:
    if isinstance(arg, str) or is_index(arg):
        return "int32"
    return as_scalar(arg).dtype


def _text(arg: object) -> str:
    if isinstance(arg, str):
        return arg
    if is_index(arg):
        number = to_index(arg).constant
    else:
        value = as_scalar(arg)
        number = value.number if isinstance(value, Constant) else None
    if number is None:
        raise UsageError(f"an instruction passes pointers, strides and numbers to a function of C, not {kind(arg)}")
    return repr(number)


def _llvm(dtype: str) -> str:
    if is_float(dtype):
        return {16: "half", 32: "float", 64: "double"}[bits_of(dtype)]
    return f"i{bits_of(dtype)}"


def _c(dtype: str) -> str:
    known = {"float32": "float", "float64": "double", "int32": "int", "uint32": "unsigned", "bool": "_Bool"}
    return known.get(dtype) or {"int8": "signed char", "uint8": "unsigned char", "int16": "short"}.get(
        dtype, f"{dtype}_t"
    )
