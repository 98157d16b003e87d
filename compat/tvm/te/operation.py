"""What makes tensors, by TVM's name of the module."""

from tilework.te import (
    ComputeOp,
    ExternOp,
    Operation,
    PlaceholderOp,
    ScanOp,
    compute,
    extern,
    placeholder,
    reduce_axis,
    scan,
    size_var,
    thread_axis,
    var,
)

__all__ = [
    "ComputeOp",
    "ExternOp",
    "Operation",
    "PlaceholderOp",
    "ScanOp",
    "compute",
    "extern",
    "placeholder",
    "reduce_axis",
    "scan",
    "size_var",
    "thread_axis",
    "var",
]
