"""Parameters that the caller of a compiled module may replace, and what has to be computed again then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, SymbolRefAttr

from tilework.analysis.functions import body_of
from tilework.analysis.parameters import DEFAULTS, PREPARE, parameters_read
from tilework.dialects.graph.structure import DefineParameterOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.driver.ir_printer import PrintingOptions, ir_text
from tilework.interpreters.graph import find_function
from tilework.runtime.manifest import Default
from tilework.runtime.tensor_spec import TensorSpec

Array = NDArray[Any]


@dataclass(frozen=True)
class Replaceable:
    """symbols: of the parameters, by the names of inputs; `fixed` are those in whose place nothing else can be given.
    prepare: the text of a module whose @prepare computes what depends on them, from `parameters`; empty where nothing
    does."""

    symbols: Mapping[str, str]
    fixed: Mapping[str, str]
    parameters: Mapping[str, Array]
    prepare: str

    @staticmethod
    def of(
        module: ModuleOp, symbols: Mapping[str, str], fixed: Mapping[str, str], parameters: Mapping[str, Array]
    ) -> Replaceable:
        """For inputs whose defaults are parameters of these symbols. Raises CompileError for what is no parameter."""
        if missing := [symbol for symbol in (*symbols.values(), *fixed.values()) if symbol not in parameters]:
            raise CompileError(f"{DEFAULTS} names @{missing[0]}, which is no parameter", find_function(module, "main"))
        kept = ModuleOp([op.clone() for op in (find_function(module, PREPARE),) if op is not None])
        read = _keep_dependent(kept, set(symbols.values()))
        names = dict.fromkeys((*symbols.values(), *fixed.values(), *sorted(read)))
        return Replaceable(
            symbols, fixed, {name: parameters[name] for name in names}, ir_text(kept, PrintingOptions()) if read else ""
        )

    def defaults(self) -> tuple[Default, ...]:
        """The inputs that have defaults, those in whose place something else can be given first."""
        free = (self._default(name, symbol, fixed=False) for name, symbol in self.symbols.items())
        return (*free, *(self._default(name, symbol, fixed=True) for name, symbol in self.fixed.items()))

    def _default(self, name: str, symbol: str, *, fixed: bool) -> Default:
        array = self.parameters[symbol]
        return Default(TensorSpec(name, array.dtype.name, array.shape), symbol, fixed)


def defaults_of(module: ModuleOp, kind: str) -> dict[str, str]:
    """The symbols of parameters that an attribute says to be defaults of inputs, by the names of these."""
    main = find_function(module, "main")
    declared = None if main is None else main.attributes.get(kind)
    if not isinstance(declared, DictionaryAttr):
        return {}
    return {name: s.root_reference.data for name, s in declared.data.items() if isinstance(s, SymbolRefAttr)}


def _keep_dependent(module: ModuleOp, symbols: set[str]) -> set[str]:
    """Drop what @prepare computes from other parameters alone; the parameters that the rest is computed from."""
    prepare = find_function(module, PREPARE)
    if prepare is None:
        return set()
    read: set[str] = set()
    for op in reversed(list(body_of(prepare).ops)):
        if isinstance(op, DefineParameterOp):
            names = parameters_read(op.value)
            dead = names.isdisjoint(symbols)
            read |= set() if dead else names
        else:
            dead = bool(op.results) and not any(result.uses for result in op.results)
        if dead:
            op.detach()
            op.erase()
    return read
