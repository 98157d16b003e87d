"""Networks by way of C: they compile without a warning, and compute what the LLVM back end's code does."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from c_compilers import need_compiler
from c_folders import example, make, need_emulator, write

import tilework as tw
from tilework.runtime.cache import KernelCache
from tilework.tools.bench.networks.catalogue import NETWORKS, SMALL
from tilework.tools.light_models import LIGHT_MODELS, load_light_model


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def feeds(model: onnx.ModelProto) -> dict[str, np.ndarray]:
    rng, given = np.random.default_rng(0), {tensor.name for tensor in model.graph.initializer}
    shapes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in model.graph.input}
    return {n: rng.standard_normal(shape).astype(np.float32) for n, shape in shapes.items() if n not in given}


def check(
    model: onnx.ModelProto,
    folder: Path,
    cache: KernelCache,
    target: str,
    *arguments: str,
    compiler: str = "gcc",
    runner: Sequence[str] = (),
) -> None:
    """Check that results by way of C are those of the LLVM back end for this machine."""
    need_compiler(compiler)
    inputs = feeds(model)
    m = write(model, folder, "network", target, cache)
    make(folder, *arguments, compiler=compiler)
    found = example(folder, m, inputs, "threads=2", runner=runner)
    expected = tw.compile(model, cache=cache).run(inputs)
    for name, array in expected.items():
        np.testing.assert_allclose(found[name].reshape(array.shape), array, rtol=1e-4, atol=1e-5 * np.abs(array).max())


@pytest.mark.parametrize("name", ["lstm_step", "decoder_step", pytest.param("resnext26", marks=pytest.mark.slow)])
def test_small_networks(name: str, tmp_path: Path, cache: KernelCache):
    check(NETWORKS[name](**SMALL[name]), tmp_path, cache, "c")


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("name", NETWORKS)
def test_networks(name: str, compiler: str, tmp_path: Path, cache: KernelCache):
    check(NETWORKS[name](), tmp_path, cache, "c", "CFLAGS=-O2 $(ARCH) -Werror", compiler=compiler)


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("name", LIGHT_MODELS)
def test_light_models(name: str, compiler: str, tmp_path: Path, cache: KernelCache):
    check(load_light_model(name), tmp_path, cache, "c", "CFLAGS=-O2 $(ARCH) -Werror", compiler=compiler)


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize(
    ("architecture", "target"),
    [
        ("aarch64", "c -mtriple=aarch64-linux-gnu"),
        ("aarch64", "llvm -mtriple=aarch64-linux-gnu"),
        ("aarch64", "llvm -mcpu=neoverse-v1"),
        ("riscv64", "c -mcpu=x86-64"),
    ],
)
def test_small_networks_on_other_machines(
    name: str, architecture: str, target: str, tmp_path: Path, cache: KernelCache
):
    runner, compiler = need_emulator(architecture), f"{architecture}-linux-gnu-gcc"
    words = "LDFLAGS=-static", "CFLAGS=-O2 -Werror"
    check(NETWORKS[name](**SMALL[name]), tmp_path, cache, target, *words, compiler=compiler, runner=runner)
