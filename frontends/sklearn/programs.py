"""Programs of estimators on their way to native code, and those that this process has made already."""

from __future__ import annotations

import inspect
import io
import pickle
from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from xdsl.dialects.builtin import FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from tilework.analysis.functions import body_of
from tilework.dialects.bag import BagType, layout_of
from tilework.dialects.graph.structure import ParameterOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.registration import make_context
from tilework.driver.phases import run_phase
from tilework.frontends.sklearn.emitter import Unsupported
from tilework.frontends.sklearn.fitted_state import read_by
from tilework.runtime.module import Module
from tilework.runtime.pipelines.interface import Input, Part

Compile = Callable[[ModuleOp], Module]
"""Makes native code of a module with a function @main."""

Key = TypeVar("Key")
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """The values that were asked for last, at most so many, by their keys."""

    def __init__(self, most: int):
        self._most = most
        self._values: OrderedDict[Key, Value] = OrderedDict()

    def __len__(self) -> int:
        return len(self._values)

    def get(self, key: Key) -> Value | None:
        """The value of a key, or None where there is none any more."""
        if key in self._values:
            self._values.move_to_end(key)
        return self._values.get(key)

    def put(self, key: Key, value: Value) -> Value:
        """Keep a value, and forget the one that nobody has asked for longest; returns it."""
        self._values[key] = value
        self._values.move_to_end(key)
        if len(self._values) > self._most:
            self._values.popitem(last=False)
        return value


class _Keys(pickle.Pickler):
    """Writes values, and of a function what it reads from around it, which its name does not say."""

    def persistent_id(self, obj: object) -> Any:
        return read_by(obj) if inspect.isfunction(obj) else None


def key_of(*parts: object) -> bytes | None:
    """What stands for values where programs made of them are looked up; None for what cannot be written."""
    written = io.BytesIO()
    try:
        _Keys(written).dump(parts)
    except (pickle.PicklingError, AttributeError, TypeError):
        return None
    return written.getvalue()


Watcher = Callable[[str, ModuleOp], object]
"""Is told of a program, and where it is: "imported", `TO_COMPILE`, or the phase that it has been through."""

TO_COMPILE = "to compile"
"""The name of the last stage of a program, after which it becomes native code."""

_WATCHERS: list[Watcher] = []


@contextmanager
def watched(watcher: Watcher) -> Generator[None]:
    """Tell somebody of all programs that are made meanwhile; none that has been made before serves again."""
    _WATCHERS.append(watcher)
    try:
        yield
    finally:
        _WATCHERS.remove(watcher)


def is_watched() -> bool:
    """Whether somebody wants to be told of programs."""
    return bool(_WATCHERS)


def optimized(phase: str, module: ModuleOp) -> None:
    """Run a phase. Raises Unsupported for programs that it refuses."""
    tell("imported", module)
    try:
        run_phase(phase, make_context(), module)
    except CompileError as refused:
        raise Unsupported(str(refused)) from None
    tell(phase, module)


def tell(where: str, module: ModuleOp) -> None:
    """Tell those who watch of a program."""
    for watcher in _WATCHERS:
        watcher(where, module)


def alone(function: FuncOp) -> ModuleOp:
    """A module with this function alone, as @main."""
    copy = function.clone()
    copy.properties["sym_name"] = StringAttr("main")
    return ModuleOp([copy])


def parts_of(table: Attribute, inputs: Mapping[str, Input]) -> tuple[Part, ...]:
    """In which arrays a table lies, given its columns by name."""
    assert isinstance(table, BagType)
    return tuple(Part(tuple(inputs[name] for name in part.columns)) for part in layout_of(table))


def take_parameters(function: FuncOp) -> list[str]:
    """Let a function take its parameters as arguments, behind all others; their names in order."""
    block = body_of(function)
    names: list[str] = []
    for op in [op for op in block.ops if isinstance(op, ParameterOp)]:
        argument = block.insert_arg(op.result.type, len(block.args))
        argument.name_hint = op.result.name_hint or op.sym_name.data.replace(".", "_")
        names.append(op.sym_name.data)
        op.result.replace_all_uses_with(argument)
        op.detach()
        op.erase()
    function.function_type = FunctionType.from_lists(list(block.arg_types), list(function.function_type.outputs))
    return names
