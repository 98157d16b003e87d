"""Converter: the matrix that makes bands of the mel scale of frequencies."""

from __future__ import annotations

import numpy as np

from tilework.dialects.graph.base import numpy_dtype
from tilework.frontends.onnx.convert_fourier import LARGEST
from tilework.frontends.onnx.node import Node, converter
from tilework.frontends.onnx.values import Array, Value, known

INPUTS = ("number of bands", "length", "sample rate", "lowest frequency", "highest frequency")


@converter("MelWeightMatrix", since=17)
def mel_weight_matrix(node: Node) -> Value:
    """Write for each frequency (row) and band (column) a triangle: 1 in the band's middle, 0 in those of its
    neighbours."""
    bands, length, rate, lowest, highest = (node.number(i, what) for i, what in enumerate(INPUTS))
    if min(bands, length, rate) < 1 or not 0 <= lowest <= highest <= rate / 2:
        raise node.error("its bands are of frequencies that rise, from 0 to half of the sample rate at most")
    if bands * length > LARGEST:
        raise node.error(f"{bands} bands of {length} samples are more than is computed beforehand")
    mels = [2595 * np.log10(1 + hertz / 700) for hertz in (lowest, highest)]
    steps = mels[0] + np.arange(int(bands) + 2) * (mels[1] - mels[0]) / (bands + 2)
    bins: Array = (length + 1) * (700 * (10 ** (steps / 2595) - 1)) // rate
    low, middle, high = bins[:-2], bins[1:-1], bins[2:]
    distance = np.arange(int(length) // 2 + 1)[:, None] - middle
    width = np.where(distance < 0, middle - low, high - middle)
    weights = np.maximum(1 - abs(distance) / np.maximum(width, 1), 0)
    return known(weights.astype(numpy_dtype(node.element_type(node.attribute("output_datatype", 1)))), node.title)
