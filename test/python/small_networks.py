"""Small forms of the bench's networks, and what onnxruntime makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from tilework.tools.bench.networks.catalogue import NETWORKS, SMALL

onnxruntime = pytest.importorskip("onnxruntime")


def random_feeds(model: onnx.ModelProto) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    shapes = {value.name: [d.dim_value for d in value.type.tensor_type.shape.dim] for value in model.graph.input}
    return {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}


def small_network(name: str) -> tuple[onnx.ModelProto, dict[str, Any], list[Any]]:
    """A model, feeds, and what onnxruntime makes of them."""
    model = NETWORKS[name](**SMALL[name])
    feeds = random_feeds(model)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return model, feeds, session.run(None, feeds)
