"""Printing the IR around passes, as mlir-opt does with `--mlir-print-ir-*`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tilework.dialects.support.diagnostics import name_of
from tilework.driver.instrumentation import Instrumentation


@dataclass
class PrintIR(Instrumentation):
    """Hands the IR to `write` under a banner, before and after the passes that were asked for.

    `show` makes text of an operation. `before` and `after` are names of passes, None for all of them; with
    `only_changes` the IR after a pass is shown only where its text differs from that before; with `on_failure` the IR
    that a failing pass leaves is shown. With `whole_module` all of the module is, whatever the pass ran on.
    """

    show: Callable[[Operation], str]
    write: Callable[[str], object]
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
        title = f"IR Dump {when} {type(pass_).__name__}{' Failed' if failed else ''} ({pass_.name}){_which(op)}"
        self.write(f"// -----// {title} //----- //\n{self._text(op)}\n\n")

    def _text(self, op: Operation) -> str:
        return self.show(_outermost(op) if self.whole_module else op)


def _outermost(op: Operation) -> Operation:
    parent = op.parent_op()
    return op if parent is None else _outermost(parent)


def _asked(pass_: ModulePass, names: Collection[str] | None) -> bool:
    return names is None or pass_.name in names


def _which(op: Operation) -> str:
    """Says which operation is shown where it is not the module."""
    if isinstance(op, ModuleOp):
        return ""
    symbol = op.get_attr_or_prop("sym_name")
    name = f": @{symbol.data}" if isinstance(symbol, StringAttr) else ""
    return f" ('{name_of(op)}' operation{name})"
