"""The data of the example: scikit-learn's 1797 handwritten digits, 8 by 8 pixels each, split once and for all."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

HELD_OUT = 360
"""How many images the training never sees."""

BRIGHTEST = 16
"""The largest pixel value in the data set."""


class Digits(NamedTuple):
    """Images `float32[n, 1, 8, 8]` with values in [0, 1], and the digit that each shows, `int64[n]`."""

    images: NDArray[np.float32]
    labels: NDArray[np.int64]


def load_split(seed: int = 0) -> tuple[Digits, Digits]:
    """The 1437 digits to train on and the 360 held out; the same seed gives the same split."""
    images, labels = load_digits(return_X_y=True)
    images = (images / BRIGHTEST).astype(np.float32).reshape(-1, 1, 8, 8)
    labels = labels.astype(np.int64)
    order = np.random.default_rng(seed).permutation(len(images))
    held_out, training = order[:HELD_OUT], order[HELD_OUT:]
    return Digits(images[training], labels[training]), Digits(images[held_out], labels[held_out])
