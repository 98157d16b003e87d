"""Programs in `.mlir` files: how they are read, and at which level they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Literal, TypeGuard, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue

from tilework.algebra.errors import TileworkError
from tilework.analysis.functions import body_of
from tilework.analysis.host_symbols import NAME
from tilework.analysis.verification import refuse_out_of_bounds, verify
from tilework.dialects import loop, te
from tilework.dialects.graph.base import GraphOp
from tilework.dialects.graph.structure import ParameterOp
from tilework.dialects.schedule import SequenceOp
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import parse_file
from tilework.interpreters.graph import find_function

SUFFIX = ".mlir"
"""How the names of such files end."""

Level = Literal["graph", "host", "kernels"]
"""`@main` on tensors; `@main` on buffers, which calls kernels; kernels alone."""


def is_program_file(given: object) -> TypeGuard[str | PathLike[str]]:
    """Whether what stands for a model is the path of such a file."""
    return isinstance(given, str | PathLike) and str(cast("object", given)).endswith(SUFFIX)


def read_program(path: str | PathLike[str], complete: Callable[[ModuleOp], None] | None = None) -> ModuleOp:
    """The module in a file. Inputs and outputs of a graph are called as its values are, where nothing else is said.

    complete: what adds to the text, before the module is verified, what the program brings besides.
    Raises TileworkError that names the place for what is no valid module.
    """
    try:
        text = Path(path).read_bytes().decode()
    except OSError as error:
        raise TileworkError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise TileworkError(f"cannot read {path}: it is not text in UTF-8") from None
    module = parse_file(make_context(), text, str(path))
    if complete is not None:
        complete(module)
    verify(module)
    refuse_out_of_bounds(module)
    main = find_function(module, "main")
    if main is not None and not main.is_declaration:
        _name_tensors(main)
    return module


def _name_tensors(main: FuncOp) -> None:
    """Let the caller know the tensors of a graph by the names in the text."""
    last = body_of(main).last_op
    if isinstance(last, ReturnOp):
        main.arg_attrs = _named(main.arg_attrs, body_of(main).args)
        main.res_attrs = _named(main.res_attrs, last.arguments)


def _named(attributes: ArrayAttr[DictionaryAttr] | None, values: Sequence[SSAValue]) -> ArrayAttr[DictionaryAttr]:
    given = [DictionaryAttr({})] * len(values) if attributes is None else attributes.data
    return ArrayAttr(
        DictionaryAttr({NAME: StringAttr(value.name_hint), **own.data})
        if value.name_hint and isinstance(value.type, TensorType)
        else own
        for own, value in zip(given, values, strict=True)
    )


def add_schedules(module: ModuleOp, path: str | PathLike[str]) -> None:
    """Add the schedules of a file to a program, with intrinsics that it declares.

    Raises TileworkError for a file with no schedules, or with anything else.
    """
    ops = list(read_program(path).ops)
    strangers = [op.name for op in ops if not isinstance(op, SequenceOp | te.IntrinsicOp)]
    if strangers or not any(isinstance(op, SequenceOp) for op in ops):
        found = strangers[0] if strangers else "no schedule.sequence"
        raise TileworkError(f"{path} holds {found}: a file of schedules holds these, te.intrinsic, and nothing else")
    for op in ops:
        op.detach()
        module.body.block.add_op(op)


def level_of(module: ModuleOp) -> Level:
    """At which level a program is. Raises TileworkError where there is no program."""
    main = find_function(module, "main")
    if main is None:
        _require_kernels(module)
        return "kernels"
    types = (*main.function_type.inputs, *main.function_type.outputs)
    computes = any(isinstance(op, GraphOp | ParameterOp) for op in main.walk())
    return "graph" if computes or any(isinstance(type_, TensorType) for type_ in types) else "host"


def kernels_of(module: ModuleOp) -> dict[str, te.KernelOp | loop.KernelOp]:
    """The kernels of a program that have a body, by name."""
    kernels = [op for op in module.ops if isinstance(op, te.KernelOp | loop.KernelOp)]
    return {k.sym_name.data: k for k in kernels if isinstance(k, te.KernelOp) or not k.is_declaration}


def _require_kernels(module: ModuleOp) -> None:
    if kernels_of(module):
        return
    functions = [f"@{op.sym_name.data}" for op in module.ops if isinstance(op, FuncOp)]
    there = f"; its functions are {', '.join(functions)}" if functions else ""
    raise TileworkError(f"there is no program: it would be a function @main, or a kernel{there}")
