"""Tensors, by TVM's name of the module."""

from tilework.te import ComputeOp, ExternOp, Operation, PlaceholderOp, ScanOp, Tensor, TensorSlice

__all__ = ["ComputeOp", "ExternOp", "Operation", "PlaceholderOp", "ScanOp", "Tensor", "TensorSlice"]
