"""The networks by name, as in `tilework bench net:resnet18`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from onnx import ModelProto

from tilework.algebra.errors import UsageError, did_you_mean
from tilework.tools.bench.networks.dcgan import dcgan
from tilework.tools.bench.networks.dqn import dqn, dqn_2013
from tilework.tools.bench.networks.mobile import mobilenet_v1, mobilenet_v2
from tilework.tools.bench.networks.quantized import resnet18_qdq, resnet18_qdq_tight
from tilework.tools.bench.networks.recurrent import lstm_35, lstm_step
from tilework.tools.bench.networks.residual import resnet18, resnext26
from tilework.tools.bench.networks.transformer import decoder_step, encoder
from tilework.tools.bench.networks.unet import unet

NETWORK = "net:"

NETWORKS: dict[str, Callable[..., ModelProto]] = {
    "resnet18": resnet18,
    "mobilenet_v1": mobilenet_v1,
    "dqn": dqn,
    "dcgan": dcgan,
    "lstm_step": lstm_step,
    "lstm_35": lstm_35,
    "dqn_2013": dqn_2013,
    "mobilenet_v2": mobilenet_v2,
    "resnext26": resnext26,
    "unet": unet,
    "encoder": encoder,
    "decoder_step": decoder_step,
    "resnet18_qdq": resnet18_qdq,
    "resnet18_qdq_tight": resnet18_qdq_tight,
}
"""The first six are those of section 6 of the TVM paper (Chen et al., OSDI 2018)."""

_RESIDUAL: dict[str, Any] = {"image": 32, "width": 4, "blocks": (1, 2)}
_LSTM: dict[str, Any] = {"hidden": 10, "vocabulary": 20}
_WORDS: dict[str, Any] = {"layers": 1, "words": 6, "size": 16, "heads": 4}

SMALL: dict[str, dict[str, Any]] = {
    "resnet18": _RESIDUAL,
    "mobilenet_v1": {"image": 32, "divisor": 16},
    "dqn": {},
    "dcgan": {"width": 4},
    "lstm_step": _LSTM,
    "lstm_35": {"steps": 3, **_LSTM},
    "dqn_2013": {},
    "mobilenet_v2": {"image": 32, "divisor": 16},
    "resnext26": {"image": 32, "width": 8, "blocks": (1, 2), "groups": 4},
    "unet": {"image": 16, "width": 4, "depth": 2},
    "encoder": _WORDS,
    "decoder_step": _WORDS,
    "resnet18_qdq": _RESIDUAL,
    "resnet18_qdq_tight": _RESIDUAL,
}
"""Sizes that take a moment, such as those of tests; networks without are small anyway."""


def check_network(word: str) -> None:
    """Raise a UsageError for "net:NAME" with a name that there is not."""
    name = word.removeprefix(NETWORK)
    if name not in NETWORKS:
        hint = did_you_mean(name, NETWORKS) or f"; there are {', '.join(NETWORKS)}"
        raise UsageError(f"{word}: there is no network '{name}'{hint}")


def network_model(word: str) -> ModelProto:
    """The model of "net:NAME", of its usual sizes. Raises UsageError where there is none."""
    check_network(word)
    return NETWORKS[word.removeprefix(NETWORK)]()
