"""Numbers that operators treat in a special way."""

from __future__ import annotations

import numpy as np

no_number = np.array([[1, np.inf], [-np.inf, -np.inf], [np.nan, 1]], np.float32)
dividends = np.array([-7, 7, 0, -1], np.int32)
divisors = np.array([[3], [-3], [-1], [1]], np.int32)
halves = np.array([-5.5, 5.5, 0, 3, 1e8], np.float32)
