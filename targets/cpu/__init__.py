"""Processors: CPUs of any architecture that LLVM or a C compiler knows."""
