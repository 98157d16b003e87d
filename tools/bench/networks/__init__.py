"""Whole networks as ONNX models: the layers of well-known ones, written as exporters write them, with random weights.

One file a family; `catalogue` lists them by name. A builder takes sizes, so that tests can have small ones.
"""
