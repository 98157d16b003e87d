"""IR as text, with mlir-opt's choices: generic form, locations, large constants left out."""

from __future__ import annotations

from dataclasses import dataclass
from io import StringIO

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from tilework.dialects.support.unique_printer import UniquePrinter


@dataclass(frozen=True)
class PrintingOptions:
    """How to print: `elide_larger_than` counts elements of a constant, None prints all."""

    generic: bool = False
    locations: bool = False
    elide_larger_than: int | None = None


def ir_text(op: Operation, options: PrintingOptions) -> str:
    """`op` as text, without a newline at the end."""
    stream = StringIO()
    _Printer(stream, options).print_op(op)
    return stream.getvalue()


class _Printer(UniquePrinter):
    def __init__(self, stream: StringIO, options: PrintingOptions):
        super().__init__(stream, print_generic_format=options.generic, print_debuginfo=options.locations)
        self._elide_larger_than = options.elide_larger_than

    def print_attribute(self, attribute: Attribute) -> None:
        limit = self._elide_larger_than
        if limit is None or not isa(attribute, DenseIntOrFPElementsAttr) or len(attribute) <= limit:
            super().print_attribute(attribute)
            return
        self.print_string("dense_resource<__elided__> : ")
        super().print_attribute(attribute.type)
