"""The errors that a user of Tilework meets: one line, both sides named, a place to look at.

Everything that is the user's to mend (a bad model, an illegal schedule, a wrong input) is a `TileworkError`; the
command line prints it without a traceback. Anything else that escapes is a defect of Tilework itself.
"""

from __future__ import annotations

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Operation

from tilework.algebra.errors import DataRefused, TileworkError, UsageError

__all__ = ["CompileError", "DataRefused", "TileworkError", "UsageError", "name_of"]


class CompileError(TileworkError):
    """A program that cannot be compiled as it stands.

    `op` is the operation the message is about: the driver prints its location and a caret under it.
    `notes` are further lines, each with an operation of its own or None.
    """

    def __init__(self, message: str, op: Operation | None = None, notes: tuple[tuple[str, Operation | None], ...] = ()):
        super().__init__(message)
        self.message = message
        self.op = op
        self.notes = notes


def name_of(op: Operation) -> str:
    """The name of an operation as it is written, that of an unregistered one included."""
    return op.op_name.data if isinstance(op, UnregisteredOp) else op.name
