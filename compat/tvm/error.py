"""The errors of TVM: all that Tilework raises is a TVMError."""

from tilework.algebra.errors import TileworkError, UsageError
from tilework.compat.tvm.refused import NotSupported

TVMError = TileworkError
InternalError = TileworkError
OpError = UsageError
OpNotImplemented = NotSupported
OpAttributeRequired = UsageError
OpAttributeInvalid = UsageError
OpAttributeUnImplemented = NotSupported
DiagnosticError = TileworkError
"""Names of TVM for the errors of Tilework that come nearest."""

__all__ = [
    "DiagnosticError",
    "InternalError",
    "OpAttributeInvalid",
    "OpAttributeRequired",
    "OpAttributeUnImplemented",
    "OpError",
    "OpNotImplemented",
    "TVMError",
]
