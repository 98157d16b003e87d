"""Printing the IR around passes, as mlir-opt does with `--mlir-print-ir-*`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tilework.dialects.support.diagnostics import TileworkError, name_of
from tilework.driver.instrumentation import Instrumentation


class Sink(Protocol):
    """Takes the text of IR around a pass. `when` is "Before" or "After"; `failed` says that the pass failed."""

    def write(self, when: str, pass_: ModulePass, op: Operation, text: str, *, failed: bool) -> None: ...


@dataclass(frozen=True)
class PrintedIR:
    """Prints IR under a banner that names the pass."""

    print: Callable[[str], object]

    def write(self, when: str, pass_: ModulePass, op: Operation, text: str, *, failed: bool) -> None:
        title = f"IR Dump {when} {type(pass_).__name__}{' Failed' if failed else ''} ({pass_.name}){_which(op)}"
        self.print(f"// -----// {title} //----- //\n{text}\n\n")


class IRTree:
    """Writes IR to files, as `--mlir-print-ir-tree-dir` of mlir-opt does: a folder for each operation, a file a pass.

    `func_func_main/0_2_cse.mlir` in the folder of the module is what the third pass over @main left, when one pass had
    run over the module; what is printed before a pass has `_before` in its name, what a failing one left `_failed`.
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self._counts = Counter[Path]()

    def write(self, when: str, pass_: ModulePass, op: Operation, text: str, *, failed: bool) -> None:
        folder, counts = self._folder, list[str]()
        for around in _nest(op):
            folder /= _folder_name(around)
            counts.append(str(self._counts[folder]))
        if when == "After":
            self._counts[folder] += 1
        suffix = "_failed" if failed else "_before" if when == "Before" else ""
        path = folder / f"{'_'.join(counts)}_{pass_.name}{suffix}.mlir"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise TileworkError(f"cannot write {path}: {error.strerror}") from None


@dataclass
class PrintIR(Instrumentation):
    """Hands the IR to a sink, before and after the passes that were asked for.

    `show` makes text of an operation. `before` and `after` are names of passes, None for all of them; with
    `only_changes` the IR after a pass is shown only where its text differs from that before; with `on_failure` the IR
    that a failing pass leaves is shown. With `whole_module` all of the module is, whatever the pass ran on.
    """

    show: Callable[[Operation], str]
    sink: Sink
    before: Collection[str] | None = ()
    after: Collection[str] | None = ()
    only_changes: bool = False
    on_failure: bool = False
    whole_module: bool = False
    _texts: list[str] = field(default_factory=list[str], init=False)

    def before_pass(self, pass_: ModulePass, op: Operation) -> None:
        if _asked(pass_, self.before):
            self._print("Before", pass_, op)
        if self.only_changes:
            self._texts.append(self._text(op))

    def after_pass(self, pass_: ModulePass, op: Operation) -> None:
        unchanged = self.only_changes and self._texts.pop() == self._text(op)
        if _asked(pass_, self.after) and not unchanged:
            self._print("After", pass_, op)

    def pass_failed(self, pass_: ModulePass, op: Operation, error: Exception) -> None:
        if self.on_failure:
            self._print("After", pass_, op, failed=True)

    def _print(self, when: str, pass_: ModulePass, op: Operation, *, failed: bool = False) -> None:
        self.sink.write(when, pass_, op, self._text(op), failed=failed)

    def _text(self, op: Operation) -> str:
        return self.show(_nest(op)[0] if self.whole_module else op)


def _asked(pass_: ModulePass, names: Collection[str] | None) -> bool:
    return names is None or pass_.name in names


def _nest(op: Operation) -> list[Operation]:
    """An operation and all around it, outermost first."""
    parent = op.parent_op()
    return [op] if parent is None else [*_nest(parent), op]


def _folder_name(op: Operation) -> str:
    symbol = op.get_attr_or_prop("sym_name")
    name = symbol.data if isinstance(symbol, StringAttr) else "no-symbol-name"
    return f"{name_of(op).replace('.', '_')}_{name}"


def _which(op: Operation) -> str:
    """Says which operation is shown where it is not the module."""
    if isinstance(op, ModuleOp):
        return ""
    symbol = op.get_attr_or_prop("sym_name")
    name = f": @{symbol.data}" if isinstance(symbol, StringAttr) else ""
    return f" ('{name_of(op)}' operation{name})"
