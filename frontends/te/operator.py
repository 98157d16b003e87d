"""Operators of networks that are written in te: what `tilework.kernel` makes of a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute

from tilework.algebra.errors import UsageError
from tilework.algebra.index_expr import Expr, Key, broadcast_parts
from tilework.analysis.unique_names import UniqueNames
from tilework.analysis.verification import refuse_out_of_bounds, verify
from tilework.dialects import te
from tilework.dialects.support.names import identifier
from tilework.dialects.support.shapes import dims_of
from tilework.frontends.te.arguments import kind
from tilework.frontends.te.dtypes import dtype_of
from tilework.frontends.te.errors import errors_for_python
from tilework.frontends.te.index import Index, Var
from tilework.frontends.te.kernel import build_kernel, name_everything, operations_for
from tilework.frontends.te.tensor import Tensor, placeholder, tensors_of


class Kernel:
    """An operator whose results a function of tensors defines; called with tensors, it is that function."""

    def __init__(self, function: Callable[..., Any]):
        self.function = function
        self.name = identifier(getattr(function, "__name__", "")).strip("_") or "kernel"
        self.__doc__ = function.__doc__

    def __call__(self, *tensors: Any, **attributes: Any) -> Any:
        return self.function(*tensors, **attributes)

    def __repr__(self) -> str:
        return f"Kernel({self.name})"

    def lower(self, types: Sequence[TensorType[Attribute] | None], attributes: Mapping[str, Any]) -> te.KernelOp:
        """The te kernel that the function defines for operands of these types; None stands for one that is absent.

        Raises UsageError where the function does not take these operands and attributes, or returns no tensors.
        """
        given = self._placeholders(types, attributes)
        try:
            made = self.function(*given, **attributes)
        except Exception as error:
            operands = ", ".join(str(type_) for type_ in types)
            error.add_note(f"while the function of kernel {self.name} was called for operands of ({operands})")
            raise
        results = tensors_of(made, f"what kernel {self.name} returns")
        if not results:
            raise UsageError(f"kernel {self.name} returns no tensor")
        arguments = [tensor for tensor in given if tensor is not None]
        operations = list(dict.fromkeys([*(t.op for t in arguments), *operations_for(t.op for t in results)]))
        kernel = build_kernel(self.name, name_everything(operations), arguments, results, operations)
        with errors_for_python():
            module = ModuleOp([kernel])
            verify(module)
            refuse_out_of_bounds(module)
        kernel.detach()
        return kernel

    def _placeholders(
        self, types: Sequence[TensorType[Attribute] | None], attributes: Mapping[str, Any]
    ) -> list[Tensor | None]:
        """A placeholder for each operand, called as the parameter of the function that it is given to."""
        signature = inspect.signature(self.function)
        try:
            bound = signature.bind(*types, **attributes)
        except TypeError as error:
            given = [f"operands: {len(types)}", *([f"attributes: {', '.join(attributes)}"] if attributes else [])]
            message = f"kernel {self.name}{signature} does not take what it is given, {', '.join(given)}: {error}"
            raise UsageError(message) from None
        names = UniqueNames()
        parameters = [name for name, value in bound.arguments.items() for _ in _operands_of(signature, name, value)]
        sizes = _Sizes()
        return [
            None if type_ is None else placeholder(sizes.shape(type_), dtype_of(type_.element_type), names.fresh(name))
            for type_, name in zip(types, parameters, strict=False)
        ]


def kernel(function: Callable[..., Any]) -> Kernel:
    """Let a function of te tensors define an operator of networks; a decorator.

    The function is called with a placeholder for each operand, of its type, and with the attributes of the node as
    keyword arguments; it returns the tensor, or the list of tensors, that the operator makes. `tilework.compile` takes
    kernels for operators of a model, as in `kernels={"my.ops::Swish": swish}`.
    """
    if not callable(function):
        raise UsageError(f"tilework.kernel takes a function of tensors, not {kind(function)}")
    try:
        inspect.signature(function)
    except (TypeError, ValueError):
        raise UsageError(
            "tilework.kernel takes a function whose parameters Python knows; write one around it"
        ) from None
    return Kernel(function)


def check_kernels(given: object) -> dict[str, Kernel]:
    """Kernels by the operators that they define. Raises UsageError for anything else."""
    example = 'as in kernels={"my.ops::Swish": swish}'
    if not isinstance(given, Mapping):
        raise UsageError(f"kernels= takes a dictionary of kernels by operator, {example}, not {kind(given)}")
    checked: dict[str, Kernel] = {}
    for name, value in cast("Mapping[object, object]", given).items():
        if not isinstance(name, str):
            raise UsageError(f"kernels= names operators by texts, {example}, not by {kind(name)}")
        if not isinstance(value, Kernel):
            raise UsageError(f"kernels= has {kind(value)} for {name}: decorate the function with @tilework.kernel")
        checked[name] = value
    return checked


class _Sizes:
    """The sizes of operands in te: each symbol is a te.var, and so is what two sizes that broadcast have become."""

    def __init__(self) -> None:
        self._symbols: dict[Key, Expr] = {}
        self._joined: dict[Expr, Expr] = {}

    def shape(self, type_: Attribute) -> list[Index]:
        """The shape of a placeholder for an operand of that type."""
        return [Index(self._size(d)) for d in dims_of(type_)]

    def _size(self, d: Expr) -> Expr:
        if len(broadcast_parts(d)) > 1:
            return self._joined.setdefault(d, Var(f"joined{len(self._joined)}").expr)
        for key in d.variables():
            self._symbols.setdefault(key, Var(str(key)).expr)
        return d.substitute(self._symbols)


def _operands_of(signature: inspect.Signature, name: str, value: Any) -> Sequence[Any]:
    """The operands that go to a parameter, which may take several."""
    return value if signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL else [value]
