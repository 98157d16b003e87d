"""The networks of `tilework bench net:NAME`: small ones of each are valid, and compute what onnxruntime says."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from small_networks import small_network

import tilework as tw
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function
from tilework.runtime.cache import KernelCache
from tilework.tools.bench.networks.catalogue import NETWORKS, network_model
from tilework.tools.bench.tasks import save_model
from tilework.tools.cli import main


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def check(got: Iterable[Any], wanted: Iterable[Any]) -> None:
    for result, expected in zip(got, wanted, strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("name", NETWORKS)
def test_a_small_network(name: str):
    model, feeds, wanted = small_network(name)
    onnx.checker.check_model(model, full_check=True)
    assert all(1e-3 < np.abs(array).max() < 100 for array in wanted), "values neither vanish nor explode"
    imported = import_onnx(model)
    check(run_function(imported.module, "main", list(feeds.values()), imported.parameters), wanted)


@pytest.mark.parametrize("name", ["dcgan", "lstm_35", "decoder_step"])
def test_a_small_network_compiled(name: str, cache: KernelCache):
    model, feeds, wanted = small_network(name)
    check(tw.compile(model, cache=cache).run(feeds).values(), wanted)


def test_weights_are_the_same_every_time():
    assert network_model("net:dqn") == network_model("net:dqn")


@pytest.mark.parametrize("command", ["bench", "compile", "run"])
def test_a_network_that_there_is_not(command: str, capsys: pytest.CaptureFixture[str]):
    assert main([command, "net:resnet"]) == 2
    said = "net:resnet: there is no network 'resnet'; did you mean 'resnet18'?"
    assert capsys.readouterr().err == f"tilework: error: {said}\n"


def test_the_bench_measures_a_network(tmp_path: Path):
    save_model("net:dqn_2013", str(tmp_path / "model.onnx"))
    assert onnx.load(tmp_path / "model.onnx") == network_model("net:dqn_2013")
