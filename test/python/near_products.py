"""Operands of products, and how near the results of two ways to compute them are."""

import numpy as np

from tilework.dialects.support.shapes import dims_of

ORDER = 3e-6
"""What sums of another order differ by."""


def normal(*types):
    rng = np.random.default_rng(0)
    return [rng.standard_normal([d.offset for d in dims_of(t)], np.float32) for t in types]


def is_near(found, expected, error: float):
    np.testing.assert_allclose(found, expected, rtol=0, atol=error * float(np.abs(expected).max()))


def doubles(*arrays):
    return [a.astype(np.float64) for a in arrays]
