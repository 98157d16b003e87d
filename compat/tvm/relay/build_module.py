"""`relay.build`: graphs compiled as models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tilework import api
from tilework.algebra.errors import UsageError
from tilework.compat.tvm.relay.expr import Function
from tilework.compat.tvm.relay.graph import graph_of
from tilework.compat.tvm.relay.module import RelayModule
from tilework.compat.tvm.runtime.device import Device
from tilework.compat.tvm.runtime.ndarray import NDArray
from tilework.compat.tvm.target import Target
from tilework.runtime.module import Module


class GraphExecutorFactory:
    """A compiled model: `lib["default"](dev)` for `GraphModule`; or as TVM 0.6 unpacks it, graph, lib and params."""

    def __init__(self, module: Module, text: str):
        self.module = module
        self.text = text

    def __getitem__(self, name: str) -> Any:
        if name != "default":
            raise UsageError(f"a compiled model has the function 'default', not '{name}'")
        return self._on

    def _on(self, *devices: Device) -> GraphExecutorFactory:
        return self

    def __iter__(self) -> Iterator[Any]:
        return iter((self.text, self, dict[str, Any]()))

    def get_params(self) -> dict[str, NDArray]:
        """None that are to be set: a compiled model brings its parameters."""
        return {}

    def export_library(self, file_name: str) -> None:
        """Save the model, which `tilework.load` reads; no library of the system's is written."""
        self.module.save(file_name)


def build(
    ir_mod: Any,
    target: Any = None,
    target_host: Any = None,
    params: Mapping[str, Any] | None = None,
    mod_name: str = "default",
) -> GraphExecutorFactory:
    """Compile a function of relay, or a module of one, with arrays for some of its variables.

    Raises TVMError for what cannot be compiled.
    """
    given = {name: p.memory if isinstance(p, NDArray) else p for name, p in (params or {}).items()}
    if isinstance(ir_mod, RelayModule) and ir_mod.function is None:
        graph, parameters = ir_mod.graph, ir_mod.parameters
    else:
        function = ir_mod.function if isinstance(ir_mod, RelayModule) else ir_mod
        if not isinstance(function, Function):
            raise UsageError(f"relay.build takes a relay.Function or a module of one, not a {type(ir_mod).__name__}")
        graph, parameters = graph_of(function, given)
    chosen = Target.current() if target is None else Target(target)
    text = str(graph)
    return GraphExecutorFactory(api.compile(graph, chosen.text if chosen else "llvm", parameters), text)


class GraphModule:
    """Runs a compiled model: inputs are set by name or number, outputs are read by number."""

    def __init__(self, module: Any):
        factory = module if isinstance(module, GraphExecutorFactory) else module()
        self.module: Module = factory.module
        self._inputs: dict[str, Any] = {}
        self._outputs: list[Any] = []

    def set_input(self, key: str | int | None = None, value: Any = None, **params: Any) -> None:
        """Set an input by name or number, and others by name."""
        names = [spec.name for spec in self.module.inputs]
        if key is not None:
            if isinstance(key, int) and not 0 <= key < len(names):
                raise UsageError(f"the model has {len(names)} inputs, counted from 0: there is no {key}")
            params[names[key] if isinstance(key, int) else key] = value
        for name, array in params.items():
            if name not in names:
                raise UsageError(f"the model has no input '{name}'; it has {', '.join(names)}")
            self._inputs[name] = array.memory if isinstance(array, NDArray) else array

    def run(self, **input_dict: Any) -> None:
        """Run with the inputs that are set."""
        self.set_input(**input_dict)
        self._outputs = list(self.module.run(self._inputs).values())

    def get_num_outputs(self) -> int:
        """How many outputs there are."""
        return len(self.module.outputs)

    def get_output(self, index: int, out: NDArray | None = None) -> NDArray:
        """An output of the last run, copied to an array if one is given."""
        if not self._outputs:
            raise UsageError("the model has not run: call run() first")
        found = NDArray(self._outputs[index])
        return found if out is None else out.copyfrom(found)


def create(graph_json_str: Any, libmod: GraphExecutorFactory, device: Device | None = None) -> GraphModule:
    """What runs a model, as TVM 0.6 makes it."""
    return GraphModule(libmod)
