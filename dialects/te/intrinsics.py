"""Which intrinsics there are: those that the program declares, and those of Tilework's library.

The library is in the files `dialects/isa/<set>.mlir`, of plugins too, each with the declarations of one set: an
intrinsic `@dot4.ui8i8` is declared in `dot4.mlir`. Programs take other names for theirs. What the program declares has
to travel with the kernels that use it, which `declarations_used` finds; the library is everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import TypeVar, cast

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr
from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from tilework.algebra.errors import TileworkError, did_you_mean
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.memory_scopes import SCOPES
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import parse_file
from tilework.dialects.te.intrinsic import IntrinsicOp
from tilework.plugins.packages import Folder, by_name, folders_of

Copied = TypeVar("Copied", bound=Operation)


def declaration_of(op: Operation, name: str) -> IntrinsicOp:
    """The intrinsic that `op` names. Raises CompileError, about the operation, where none has the name."""
    own, known = next((declared for declared in _around(op) if declared.label == name), None), library().get(name)
    if own is not None and known is not None:
        raise CompileError(f"@{name} is an intrinsic of the library, which has its meaning: take another name", own)
    if own is None and known is None:
        names = [*dict.fromkeys([o.label for o in _around(op)]), *library()]
        listed = ", ".join(f"@{n}" for n in names)
        what = f"no te.intrinsic declares @{name}"
        raise CompileError(f"{what}; there are {listed or 'none'}{did_you_mean(name, names)}", op)
    return cast(IntrinsicOp, own or known)


def declarations_used(*ops: Operation) -> list[IntrinsicOp]:
    """What the program declares of the intrinsics that operations name: all that is to go wherever they go."""
    found: dict[IntrinsicOp, None] = {}
    for op in ops:
        around: dict[str, IntrinsicOp] = {}
        for declared in _around(op):
            around.setdefault(declared.label, declared)
        pending = [*op.walk()] if around else []
        while pending:
            for name in _named_by(pending.pop()):
                if name in around and around[name] not in found:
                    found[around[name]] = None
                    pending.append(around[name])
    return list(found)


def _named_by(op: Operation) -> Iterator[str]:
    """What an operation names, in whatever attribute."""
    for attribute in (*op.properties.values(), *op.attributes.values()):
        if isinstance(attribute, SymbolRefAttr):
            yield attribute.root_reference.data


def copy_with_declarations(op: Copied) -> Copied:
    """A copy of an operation, in a module with copies of what the program declares of the intrinsics that it names."""
    copy = op.clone()
    used = declarations_used(op)
    if used:
        ModuleOp([*(declaration.clone() for declaration in used), copy])
    return copy


def scopes_known(op: Operation | None = None) -> list[str]:
    """The memory scopes that there are, those that intrinsics around an operation or of the library want among them."""
    declared = [*(_around(op) if op is not None else ()), *library().values()]
    wanted = (
        want.memory_space for declaration in declared if not declaration.is_on_scalars for want in declaration.wants
    )
    return [*dict.fromkeys((*SCOPES, *(space.data for space in wanted if isinstance(space, StringAttr))))]


def verify_scope(scope: str, op: Operation | None = None) -> None:
    """Raise VerifyException for a scope that does not exist where `op` is."""
    name, _, tag = scope.partition(".")
    if name not in SCOPES and scope not in (known := scopes_known(op)):
        raise VerifyException(f"unknown scope '{scope}'; known: {', '.join(known)}")
    if tag and name == "register":
        raise VerifyException(f"scope {name} takes no tag, got '{scope}'")


def library() -> dict[str, IntrinsicOp]:
    """The intrinsics of Tilework and of plugins, by name."""
    return _library_in(folders_of("dialects/isa"))


@cache
def _library_in(folders: tuple[Folder, ...]) -> dict[str, IntrinsicOp]:
    files = [file for folder in folders for file in sorted(folder.path.glob("*.mlir"))]
    found = [(declaration.label, (declaration, file)) for file in files for declaration in _declared_in(file)]
    named = by_name("intrinsics", found, lambda of_file: str(of_file[1]))
    return {name: declaration for name, (declaration, _) in named.items()}


def _declared_in(file: Path) -> Iterable[IntrinsicOp]:
    module = parse_file(make_context(), file.read_text(encoding="utf-8"), str(file))
    try:
        module.verify()
    except (VerifyException, CompileError) as error:
        raise TileworkError(f"{file}: {' '.join(str(error).split())}") from error
    others = next((op.name for op in module.ops if not isinstance(op, IntrinsicOp)), None)
    if others is not None:
        raise TileworkError(f"{file}: a file of the library declares intrinsics, and holds no {others}")
    declared = [op for op in module.ops if isinstance(op, IntrinsicOp)]
    stray = next((op.label for op in declared if op.label.partition(".")[0] != file.stem), None)
    if stray is not None:
        raise TileworkError(f"{file}: @{stray} belongs into {stray.partition('.')[0]}.mlir, by its name")
    return declared


def _around(op: Operation) -> Iterator[IntrinsicOp]:
    """The declarations in the blocks around an operation, the nearest first."""
    around: Operation | None = op
    while around is not None:
        block = around.parent
        if block is not None:
            yield from (other for other in block.ops if isinstance(other, IntrinsicOp))
        around = around.parent_op()
