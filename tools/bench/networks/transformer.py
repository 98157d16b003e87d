"""Layers of transformers (Vaswani et al. 2017), of the sizes of BERT's: whole texts, and one word after others."""

from __future__ import annotations

from math import sqrt

import numpy as np
from onnx import ModelProto

from tilework.tools.bench.networks.builder import Network, Value


def encoder(layers: int = 4, words: int = 128, size: int = 768, heads: int = 12) -> ModelProto:
    """Every word looks at all words; normalized after each half of a layer, with GELU between dense layers."""
    net = Network("encoder")
    x = net.input("words", [1, words, size], channels=2)
    for _ in range(layers):
        queries, keys, values = (_by_head(net, net.linear(x, size), words, heads) for _ in range(3))
        x = _normalized(net, net.add(x, _attention(net, queries, keys, values, words, heads)))
        x = _normalized(net, net.add(x, _dense_layers(net, x)))
    net.output(x, "states")
    return net.model()


def decoder_step(layers: int = 4, words: int = 128, size: int = 768, heads: int = 12) -> ModelProto:
    """One word looks at `words` before it, whose keys and values are inputs; normalized before each half of a layer."""
    net = Network("decoder_step")
    x = net.input("word", [1, 1, size], channels=2)
    for layer in range(layers):
        past = [net.input(f"{name}_{layer}", [1, heads, words, size // heads], 3) for name in ("keys", "values")]
        y = _normalized(net, x)
        queries, *new = (_by_head(net, net.linear(y, size), 1, heads) for _ in range(3))
        keys, values = (net.node("Concat", [a, b], a.size, axis=2) for a, b in zip(past, new, strict=True))
        net.output(keys, f"new_keys_{layer}")
        net.output(values, f"new_values_{layer}")
        x = net.add(x, _attention(net, queries, keys, values, 1, heads))
        x = net.add(x, _dense_layers(net, _normalized(net, x)))
    net.output(_normalized(net, x), "state")
    return net.model()


def _by_head(net: Network, x: Value, words: int, heads: int) -> Value:
    """[1, words, size] as [1, heads, words, size / heads]."""
    size = x.size // heads
    return net.node("Transpose", [net.reshape(x, [1, words, heads, size], size)], size, perm=[0, 2, 1, 3])


def _attention(net: Network, queries: Value, keys: Value, values: Value, words: int, heads: int) -> Value:
    """Values by how much their keys resemble the queries, heads joined, and a dense layer."""
    keys_by_column = net.node("Transpose", [keys], keys.size, perm=[0, 1, 3, 2])
    products = net.node("MatMul", [queries, keys_by_column], 0)
    scaled = net.node("Div", [products, net.constant(np.array(sqrt(keys.size), np.float32))], 0)
    shares = net.node("Softmax", [scaled], 0, axis=-1)
    mixed = net.node("Transpose", [net.node("MatMul", [shares, values], values.size)], 0, perm=[0, 2, 1, 3])
    size = heads * values.size
    return net.linear(net.reshape(mixed, [1, words, size], size), size)


def _dense_layers(net: Network, x: Value) -> Value:
    """Two dense layers with GELU between them: x * (1 + erf(x / sqrt(2))) / 2, as exporters spell it."""
    y = net.linear(x, 4 * x.size, gain=2.0)
    root, one, half = (net.constant(np.array(number, np.float32)) for number in (sqrt(2), 1, 0.5))
    share = net.node("Add", [net.node("Erf", [net.node("Div", [y, root], y.size)], y.size), one], y.size)
    y = net.node("Mul", [net.node("Mul", [y, share], y.size), half], y.size)
    return net.linear(y, x.size)


def _normalized(net: Network, x: Value) -> Value:
    scale, bias = net.numbers([x.size], 0.8, 1.2), net.numbers([x.size], -0.1, 0.1)
    return net.node("LayerNormalization", [x, scale, bias], x.size, axis=-1, epsilon=1e-5)
