"""Tests that run OpenCL kernels are left out where no device does, with the reason."""

from __future__ import annotations

import pytest

from tilework.algebra.errors import TileworkError
from tilework.runtime.devices.opencl.queue import queue


def skip_without_opencl() -> None:
    """Leave out the tests of the module that calls this, unless a device builds kernels."""
    try:
        queue()
    except TileworkError as error:
        pytest.skip(str(error), allow_module_level=True)
