"""`tvm.testing`: what tests of te programs use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tilework import te
from tilework.compat.tvm.runtime.device import Device, device

_TARGETS = ("llvm", "opencl", "cuda")


def assert_allclose(actual: Any, desired: Any, rtol: float = 1e-7, atol: float = 1e-7) -> None:
    """Raise AssertionError unless two arrays have one shape, and elements near each other as numpy.testing means it."""
    actual, desired = np.asanyarray(actual), np.asanyarray(desired)
    np.testing.assert_allclose(actual.shape, desired.shape)
    np.testing.assert_allclose(actual, desired, rtol=rtol, atol=atol, verbose=True)


def assert_prim_expr_equal(lhs: Any, rhs: Any) -> None:
    """Raise AssertionError unless two indices are the same, whatever they were made of."""
    assert te.is_zero(lhs - rhs), f"{lhs} is not {rhs}"


def device_enabled(target: str) -> bool:
    """Whether code for a target runs here."""
    return device(target).exist


def enabled_targets() -> list[tuple[str, Device]]:
    """The targets whose code runs here, with their devices."""
    return [(target, device(target)) for target in _TARGETS if device_enabled(target)]


def _requires(target: str) -> Callable[..., Any]:
    def mark(*function: Callable[..., Any]) -> Any:
        import pytest  # only tests need it

        marked = pytest.mark.skipif(not device_enabled(target), reason=f"nothing here runs code for {target}")
        return marked(*function) if function else marked

    mark.__name__ = f"requires_{target}"
    mark.__doc__ = f"Let a test run only where code for {target} runs; a decorator."
    return mark


requires_llvm = _requires("llvm")
requires_opencl = _requires("opencl")
requires_cuda = requires_gpu = requires_cudagraph = requires_tensorcore = _requires("cuda")
requires_metal = _requires("metal")
requires_vulkan = _requires("vulkan")
requires_rocm = _requires("rocm")


def uses_gpu(*function: Callable[..., Any]) -> Any:
    """Marks a test that runs on a device where there is one; it is left as it is."""
    return function[0] if function else uses_gpu


def parametrize_targets(*targets: Any) -> Any:
    """Call a test with `target` and `dev` for each of the targets whose code runs here, or of those that are given."""
    import pytest

    def mark(names: Sequence[str]) -> Any:
        pairs = [(name, device(name)) for name in names if device_enabled(name)]
        return pytest.mark.parametrize(("target", "dev"), pairs, ids=[name for name, _ in pairs])

    if len(targets) == 1 and callable(targets[0]):
        return mark(_TARGETS)(targets[0])
    return mark(targets or _TARGETS)
