"""Random expressions: the same Python function of indices and values, as te and on numpy arrays."""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tilework import te
from tilework.dialects.te import KernelOp
from tilework.interpreters.te import run_kernel

SHAPE = (6, 7)


class Numpy:
    """What te's functions mean on arrays."""

    all = staticmethod(lambda *args: np.logical_and.reduce(args))
    any = staticmethod(lambda *args: np.logical_or.reduce(args))
    max = staticmethod(np.maximum)
    min = staticmethod(np.minimum)
    abs = staticmethod(np.abs)

    @staticmethod
    def if_then_else(condition: Any, then: Any, otherwise: Any) -> Any:
        return np.where(condition, then, otherwise)

    Select = if_then_else


Rule = Callable[[Any, Any, Any, Any], Any]
"""A value from the module of functions, two indices, and the tensors by name."""


def leaf(draw: Any) -> Rule:
    kind = draw(st.sampled_from(["a", "b", "shifted", "number", "axis", "gather"]))
    number = draw(st.integers(-3, 3))
    if kind in ("a", "b"):
        return lambda f, i, j, read: read(kind, i, j)
    if kind == "shifted":
        return lambda f, i, j, read: read("a", (i + number) % SHAPE[0], SHAPE[1] - 1 - j)
    if kind == "gather":
        return lambda f, i, j, read: read("a", read("at", i, j) % SHAPE[0], j)
    if kind == "number":
        return lambda f, i, j, read: read("b", i, j) * 0 + number
    return lambda f, i, j, read: read("b", i, j) * 0 + (i * number - j)


def condition(draw: Any, depth: int) -> Rule:
    kind = draw(st.sampled_from(["index", "value", "not", "all", "any"][: 5 if depth else 2]))
    if kind == "index":
        bound, other = draw(st.integers(-2, 8)), draw(st.sampled_from(["<", ">=", "==", "!="]))
        compare = {
            "<": lambda x: x < bound,
            ">=": lambda x: x >= bound,
            "==": lambda x: x == bound,
            "!=": lambda x: x != bound,
        }[other]
        return lambda f, i, j, read: compare(2 * i - j)
    if kind == "value":
        left, right = value(draw, 0), value(draw, 0)
        return lambda f, i, j, read: left(f, i, j, read) <= right(f, i, j, read)
    first = condition(draw, depth - 1)
    if kind == "not":
        return lambda f, i, j, read: ~first(f, i, j, read)
    second = condition(draw, depth - 1)
    return lambda f, i, j, read: getattr(f, kind)(first(f, i, j, read), second(f, i, j, read))


def value(draw: Any, depth: int) -> Rule:
    if depth == 0:
        return leaf(draw)
    kind = draw(st.sampled_from(["+", "-", "*", "max", "min", "abs", "if_then_else", "Select"]))
    first = value(draw, depth - 1)
    if kind == "abs":
        return lambda f, i, j, read: f.abs(first(f, i, j, read))
    second = value(draw, depth - 1)
    if kind in ("if_then_else", "Select"):
        when = condition(draw, 2)
        return lambda f, i, j, read: getattr(f, kind)(when(f, i, j, read), first(f, i, j, read), second(f, i, j, read))
    if kind in ("max", "min"):
        return lambda f, i, j, read: getattr(f, kind)(first(f, i, j, read), second(f, i, j, read))
    combine = {"+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y}[kind]
    return lambda f, i, j, read: combine(first(f, i, j, read), second(f, i, j, read))


@st.composite
def rules(draw: Any) -> Rule:
    return value(draw, draw(st.integers(1, 4)))


@settings(max_examples=60, deadline=None)
@given(rule=rules(), seed=st.integers(0, 9))
def test_te_and_numpy_agree(rule: Rule, seed: int):
    rng = np.random.default_rng(seed)
    arrays = {
        "a": rng.integers(-4, 5, SHAPE).astype(np.float64),
        "b": rng.integers(-4, 5, SHAPE).astype(np.float64),
        "at": rng.integers(0, 20, SHAPE),
    }
    tensors = {name: te.placeholder(SHAPE, array.dtype.name, name) for name, array in arrays.items()}
    made = te.compute(SHAPE, lambda i, j: rule(te, i, j, lambda name, *at: tensors[name](*at)), name="made")
    s = te.create_schedule(made.op)
    kernel = next(op for op in s.module().ops if isinstance(op, KernelOp))
    inputs = [arrays[value.name_hint] for value in kernel.body.block.args]
    (found,) = run_kernel(kernel, inputs)
    i, j = np.indices(SHAPE)
    with np.errstate(all="ignore"):
        expected = rule(Numpy, i, j, lambda name, *at: arrays[name][at])
    np.testing.assert_array_equal(found, expected)
