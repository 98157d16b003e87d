"""Random te kernels as operators: inside of another kernel they mean the same; how they read is found out rightly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.test import TestOp

from tilework.algebra.index_expr import const, var
from tilework.analysis.data_indices import index_limits
from tilework.analysis.verification import verify
from tilework.dialects import te
from tilework.dialects.graph import KernelOp
from tilework.dialects.graph.base import Category
from tilework.dialects.graph.kernel_category import kernel_category
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te.builder import KernelBuilder
from tilework.dialects.te.builder_inline import with_sizes
from tilework.interpreters.te import run_kernel, tensor_dtype
from tilework.tools.fuzz.draw import Seeded
from tilework.tools.fuzz.programs import SYMBOL, random_kernel

Array = np.ndarray[Any, Any]


@pytest.mark.parametrize("seed", range(60))
def test_a_kernel_means_the_same_inside_of_another(seed: int):
    """An inlined kernel computes the same where its symbol is a number, an expression, or has the name of an axis."""
    kernel = random_kernel(Seeded(seed))
    size = seed % 4
    arrays = data_for(kernel, size, seed)
    wanted = run_kernel(kernel, arrays)
    for around in (const(size), var("M"), var("i0"), 2 * var("k") + size % 2):
        symbol = next(iter(around.variables()), None)
        values: dict[Any, Any] = {SYMBOL: around}
        types = [with_sizes(type_, values) for type_ in kernel.function_type.inputs]
        op = KernelOp.holding(kernel.clone(), TestOp(result_types=types).results)
        k = KernelBuilder("around")
        made = op.define(k, *(k.argument(type_, f"x{i}") for i, type_ in enumerate(types)))
        whole = k.finish(list(made))
        verify(ModuleOp([whole]))
        assert whole.function_type.outputs.data == op.result_types
        known = {} if symbol is None else {symbol: (size - around.offset) // around.coefficient(symbol)}
        for one, other in zip(run_kernel(whole, arrays, known), wanted, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("seed", range(60))
def test_what_is_read_element_by_element_changes_its_own_element_alone(seed: int):
    kernel = random_kernel(Seeded(seed))
    found = kernel_category(kernel)
    arrays = data_for(kernel, 3, seed)
    before = run_kernel(kernel, arrays)
    for i, category in enumerate(found.arguments):
        is_read = bool(kernel.body.block.args[i].uses)
        if category is not Category.ELEMENTWISE or not is_read or not arrays[i].size or arrays[i].dtype != np.float32:
            continue
        changed = [array.copy() for array in arrays]
        place = np.unravel_index(seed % arrays[i].size, arrays[i].shape)
        changed[i][place] += 1
        [same] = (one == other for one, other in zip(run_kernel(kernel, changed), before, strict=True))
        same[place] = True
        assert same.all()


def data_for(kernel: te.KernelOp, size: int, seed: int) -> list[Array]:
    """Small whole numbers, those that choose elements within their limits."""
    draw, limits = np.random.default_rng(seed), index_limits(kernel)
    arrays: list[Array] = []
    for i, argument in enumerate(kernel.body.block.args):
        shape = [int(d.evaluate({SYMBOL: size})) for d in dims_of(argument.type)]
        numbers_ = draw.integers(-4, 5, shape)
        for limit in limits.get(i, ()):
            numbers_ = np.abs(numbers_) % max(1, int(limit.evaluate({SYMBOL: size})))
        dtype = tensor_dtype(argument)
        arrays.append((np.abs(numbers_) if "uint" in dtype.name else numbers_).astype(dtype))
    return arrays
