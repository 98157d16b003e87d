"""What the semantic check runs programs on: inputs, parameters, memory of the right layout, samples of elements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import MemRefType, ModuleOp, StridedLayoutAttr, TensorType, UnitAttr
from xdsl.ir import Attribute, Operation

from tilework.algebra.index_expr import Key
from tilework.analysis.parameters import PREPARE
from tilework.dialects.graph.base import Array, numpy_dtype
from tilework.dialects.graph.structure import DefineParameterOp, ParameterOp
from tilework.driver.fuzz_data import fuzz_parameter
from tilework.interpreters.buffers import allocate
from tilework.interpreters.graph import prepare_parameters

MOST_POINTS = 512
"""How many elements of a large result are looked at."""


@dataclass(frozen=True)
class Data:
    """What a program is run on. `limit` is how many scalar iterations are run in full; beyond it a sample is.

    Inputs may be `positive`, for the sake of roots, and outputs may hold integers (`filled`) instead of poison.
    """

    symbols: Mapping[Key, int]
    inputs: list[Array]
    given: Mapping[str, Array]
    seed: int
    limit: float
    positive: bool = False
    filled: bool = False

    def parameter(self, name: str, type_: Attribute) -> Array:
        """The bytes of a parameter: those given, or integers."""
        if name in self.given:
            return self.given[name]
        element = cast("TensorType[Attribute]", type_).element_type
        shape = cast("TensorType[Attribute]", type_).get_shape()
        return fuzz_parameter(shape, numpy_dtype(element), [self.seed, *name.encode()], positive=self.positive)


def parameters_of(module: ModuleOp, data: Data) -> dict[str, Array]:
    """Every parameter that the module's functions use: as @prepare defines it, or raw."""
    prepare = [op for op in module.ops if isinstance(op, func.FuncOp) and op.sym_name.data == PREPARE]
    defined = {op.sym_name.data: op for op in module.walk() if isinstance(op, DefineParameterOp)}
    raw: dict[str, Array] = {}
    for op in module.walk():
        if isinstance(op, ParameterOp) and (op.sym_name.data not in defined or _is_inside(op, prepare)):
            raw[op.sym_name.data] = data.parameter(op.sym_name.data, op.result.type)
        elif (
            isinstance(op, memref.GlobalOp)
            and isinstance(op.initial_value, UnitAttr)
            and op.sym_name.data not in defined
        ):
            tensor = TensorType(op.type.element_type, op.type.shape)
            raw[op.sym_name.data] = data.parameter(op.sym_name.data, tensor)
    if not defined:
        return raw
    reader = func.FuncOp("main", ([], []))  # prepare_parameters looks at what @main uses: all of them
    for name, op in defined.items():
        reader.body.block.add_op(ParameterOp(name, op.value.type))
    reader.body.block.add_op(func.ReturnOp())
    with np.errstate(all="ignore"):
        return raw | prepare_parameters(ModuleOp([*(p.clone() for p in prepare), reader]), raw)


def laid_out(array: Array, type_: Attribute) -> Array:
    """A copy of an array in memory of the memref's layout."""
    assert isinstance(type_, MemRefType)
    if not isinstance(type_.layout, StridedLayoutAttr):
        return np.array(array)
    strides = cast(Sequence[int], type_.layout.get_strides())
    span = 1 + sum((n - 1) * s for n, s in zip(array.shape, strides, strict=True)) if array.size else 0
    view = allocate([span], array.dtype).view(0, array.shape, strides).array
    view[...] = array
    return view


def sample_points(shape: tuple[int, ...], wanted: Array | None) -> Array:
    """Which elements of a large result to compute: those wanted, or its corners and some inside."""
    if wanted is not None:
        return wanted
    mask = np.zeros(shape, dtype=bool)
    mask[np.ix_(*[sorted({0, n // 2, n - 1}) for n in shape])] = True
    mask = thinned(mask)
    random = np.random.default_rng(0)
    mask[tuple(random.integers(0, n, 64) for n in shape)] = True
    return mask


def thinned(mask: Array) -> Array:
    """The mask with at most so many of the chosen elements, first and last among them."""
    chosen = np.flatnonzero(mask)
    if len(chosen) <= MOST_POINTS:
        return mask
    kept = np.zeros(mask.size, dtype=bool)
    kept[chosen[np.linspace(0, len(chosen) - 1, MOST_POINTS).astype(int)]] = True
    return kept.reshape(mask.shape)


def _is_inside(op: Operation, functions: Sequence[func.FuncOp]) -> bool:
    return any(function.is_ancestor(op) for function in functions)
