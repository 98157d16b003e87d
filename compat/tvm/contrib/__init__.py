"""Libraries and helpers beside the compiler."""

from tilework.compat.tvm.contrib import cblas, cc, clang, graph_executor, mkl, nvcc, utils

util = utils
graph_runtime = graph_executor
"""The names of TVM 0.7 and before."""

__all__ = ["cblas", "cc", "clang", "graph_executor", "graph_runtime", "mkl", "nvcc", "util", "utils"]
