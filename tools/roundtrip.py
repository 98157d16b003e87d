"""Does IR print as text that parses back to it, in custom and in generic form?"""

from __future__ import annotations

from itertools import zip_longest

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import ParseError

from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.source_parser import SourceParser
from tilework.driver.ir_printer import PrintingOptions, ir_text


def check_roundtrip(module: ModuleOp, context: Context) -> None:
    """Raise a CompileError that shows the first line that printing and parsing changes."""
    for form, printing in (("custom", PrintingOptions()), ("generic", PrintingOptions(generic=True))):
        printed = ir_text(module, printing)
        try:
            again = SourceParser(context, printed, f"<{form} form>").parse_module()
        except ParseError as error:
            place = error.span.get_location()
            line = printed.split("\n")[place.line - 1].strip()
            raise CompileError(f"the {form} form does not parse back: {error.msg}, in '{line}'", module) from error
        _compare(printed, ir_text(again, printing), f"the {form} form", module)
        _compare(ir_text(module, PrintingOptions()), ir_text(again, PrintingOptions()), f"the {form} form", module)


def _compare(before: str, after: str, what: str, module: ModuleOp) -> None:
    for old, new in zip_longest(before.split("\n"), after.split("\n"), fillvalue=""):
        if old != new:
            raise CompileError(f"{what} changes in a round trip: '{old.strip()}' became '{new.strip()}'", module)
