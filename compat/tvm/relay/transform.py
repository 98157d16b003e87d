"""Passes on graphs that Tilework has too, by their names of relay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tilework.algebra.errors import UsageError
from tilework.compat.tvm.relay.module import RelayModule
from tilework.compat.tvm.transform import PassContext
from tilework.dialects.support.registration import make_context
from tilework.driver.phases import run_passes
from tilework.driver.registry import all_passes

Pass = Callable[[RelayModule], RelayModule]

PASSES = {
    "FoldConstant": "graph-fold-parameters",
    "FuseOps": "graph-fuse-operators",
    "SimplifyInference": "graph-fold-batch-norm",
    "InferType": "",
}
"""Names of relay's passes -> those of Tilework's; a graph has its types from the start."""


def _pass(name: str) -> Callable[..., Pass]:
    def make(*options: Any, **named: Any) -> Pass:
        def run(module: RelayModule) -> RelayModule:
            changed = module.clone()
            if PASSES[name]:
                run_passes([all_passes()[PASSES[name]]()()], make_context(), changed.graph)
            return changed

        return run

    make.__name__ = make.__qualname__ = name
    make.__doc__ = f"The pass {PASSES[name] or 'that does nothing'} on a module; options are TVM's."
    return make


FoldConstant = _pass("FoldConstant")
FuseOps = _pass("FuseOps")
SimplifyInference = _pass("SimplifyInference")
InferType = _pass("InferType")


def Sequential(passes: Sequence[Pass]) -> Pass:  # noqa: N802  TVM's name
    """Passes one after the other."""
    if not all(map(callable, passes)):
        raise UsageError(f"relay.transform.Sequential takes passes: {', '.join(PASSES)}")

    def run(module: RelayModule) -> RelayModule:
        for one in passes:
            module = one(module)
        return module

    return run


def build_config(opt_level: int = 2, **config: Any) -> PassContext:
    """The options of compilation, as in TVM 0.6."""
    return PassContext(opt_level)
