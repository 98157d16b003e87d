"""`tvm.lower` and `tvm.build`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from tilework import api, te
from tilework.algebra.errors import UsageError
from tilework.compat.tvm.ir import IRModule, PrimFunc
from tilework.compat.tvm.refused import refused
from tilework.compat.tvm.runtime.module import Module, PackedFunc
from tilework.compat.tvm.target import Target
from tilework.compat.tvm.transform import PassContext


def lower(
    inp: Any,
    args: Sequence[Any] | None = None,
    name: str = "main",
    binds: Mapping[Any, Any] | None = None,
    simple_mode: bool = False,
) -> IRModule:
    """The loops of a schedule; `print` writes them.

    args: the tensors that the caller gives, results too, and te.vars that are numbers. With simple_mode the loops are
    as the schedule says, without as the back end takes them. binds is refused: a function's arrays lie as they do in
    numpy.
    """
    if binds is not None:
        refused("lower(binds=)", "arrays of a function are contiguous; leave it out")()
    if isinstance(inp, IRModule):
        return inp
    if not isinstance(inp, te.Schedule):
        raise UsageError(f"tvm.lower takes a schedule, not a {type(inp).__name__}: te.create_schedule makes one")
    if args is None:
        raise UsageError("tvm.lower takes the arguments of the function: tvm.lower(s, [A, B, C])")
    return IRModule({name: PrimFunc(inp, args, name, simple_mode, PassContext.current().checks_bounds)})


def schedule_to_module(
    sch: te.Schedule,
    args: Sequence[Any] | None = None,
    name: str = "main",
    binds: Mapping[Any, Any] | None = None,
) -> IRModule:
    """The loops of a schedule as it says."""
    return lower(sch, args, name, binds, simple_mode=True)


def build(
    inputs: Any,
    args: Sequence[Any] | None = None,
    target: Any = None,
    target_host: Any = None,
    name: str = "default_function",
    binds: Mapping[Any, Any] | None = None,
) -> Module:
    """Compile a schedule with its arguments, a module of `lower` or a list of such.

    target: a text or a `Target`; by default that of the `with` block around, or "llvm", this machine. target_host is
    TVM's: the host is this machine. Raises TVMError for what cannot be compiled.
    """
    if isinstance(inputs, te.Schedule):
        functions = lower(inputs, args, name, binds).functions
    else:
        target = target if target is not None or isinstance(args, list | tuple) else cast("Any", args)
        functions, target = _functions(inputs, target)
    if not functions:
        raise UsageError("tvm.build takes a schedule and its arguments, or modules that tvm.lower made")
    chosen = Target.current() if target is None else Target(target)
    text = chosen.text if chosen is not None else "llvm"
    built = {
        key: PackedFunc(api.build(f.schedule, f.arguments, text, key, checked=f.checked), f.arguments)
        for key, f in functions.items()
    }
    return Module(built, text)


def _functions(inputs: Any, target: Any) -> tuple[dict[str, PrimFunc], Any]:
    """The functions of modules, and the target, which a dictionary may name."""
    if isinstance(inputs, IRModule):
        return inputs.functions, target
    if isinstance(inputs, Mapping):
        given = cast("Mapping[Any, IRModule]", inputs)
        if len(given) != 1:
            refused("build({target: module, ...})", "build a module for each target")()
        [(target, module)] = given.items()
        return module.functions, target
    merged: dict[str, PrimFunc] = {}
    for module in cast("Sequence[object]", inputs) if isinstance(inputs, list | tuple) else [inputs]:
        if not isinstance(module, IRModule):
            raise UsageError(f"tvm.build takes a schedule, or modules of tvm.lower, not a {type(module).__name__}")
        for key, function in module.functions.items():
            if key in merged:
                raise UsageError(f"two functions are called '{key}': give them names, as in tvm.lower(..., name='f')")
            merged[key] = function
    return merged, target
