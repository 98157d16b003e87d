"""Kernels and models for OpenCL run on PoCL, a device that is this processor, and compute what others compute."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from opencl_devices import skip_without_opencl
from places import ROOT
from small_networks import small_network

import tilework as tw
from tilework import te
from tilework.runtime.cache import KernelCache
from tilework.tools.bench.gpu.programs import matrix_product
from tilework.tools.bench.networks.catalogue import NETWORKS
from tilework.tools.light_models import load_light_model, random_feeds

skip_without_opencl()

DIGITS = ROOT / "examples" / "digits" / "digits.onnx"
TOLERANCE = 1e-4
"""Results may differ by this part of the largest value."""


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("n", [1, 7, 33, 64])
def test_a_product_of_matrices(n: int, shared: bool, cache: KernelCache):
    """Sizes that blocks, and threads, do not divide have threads that do nothing but wait."""
    rng = np.random.default_rng(n)
    a, b = rng.standard_normal((2, n, n)).astype(np.float32)
    c = np.empty_like(a)
    matrix_product(n, shared=shared, target="opencl", cache=cache)(a, b, c)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b, rtol=1e-5, atol=1e-5)


def test_only_the_cooperative_one_shares_memory(cache: KernelCache):
    texts = [
        matrix_product(64, shared=shared, target="opencl", cache=cache).object_code.decode() for shared in (True, False)
    ]
    assert [text.count("__local float") for text in texts] == [2, 0]
    assert [text.count("barrier(") for text in texts] == [2, 0]


@pytest.mark.parametrize("shape", [(1, 5), (10, 300)])
def test_a_scan_whose_init_and_steps_are_dealt_out(shape: tuple[int, int], cache: KernelCache):
    """The init is stored where the history begins: nothing is copied by no threads."""
    m, n = te.var("m"), te.var("n")
    x, state = te.placeholder((m, n), name="X"), te.placeholder((m, n), name="state")
    init = te.compute((1, n), lambda _, i: x[0, i], name="init")
    update = te.compute((m, n), lambda t, i: state[t - 1, i] + x[t, i], name="update")
    sums = te.scan(init, update, state, inputs=[x], name="sums")
    s = te.create_schedule(sums.op)
    for stage in (init, update):
        block, thread = s[stage].split(stage.op.axis[1], factor=64)
        s[stage].bind(block, te.thread_axis("blockIdx.x"))
        s[stage].bind(thread, te.thread_axis("threadIdx.x"))
    a, b = np.random.default_rng(0).random(shape, np.float32), np.empty(shape, np.float32)
    tw.build(s, [x, sums], target="opencl", cache=cache)(a, b)
    np.testing.assert_allclose(b, np.cumsum(a, axis=0), rtol=1e-5)


@pytest.mark.parametrize("threads", [1, 6, 8])
@pytest.mark.parametrize("by_rfactor", [True, False])
def test_threads_sum_up_together(threads: int, by_rfactor: bool, cache: KernelCache):
    a, k = te.placeholder((5, 37), name="A"), te.reduce_axis((0, 37), name="k")
    b = te.compute((5,), lambda i: te.sum(a[i, k], axis=k), name="B")
    s = te.create_schedule(b.op)
    _, inner = s[b].split(b.op.reduce_axis[0], factor=threads)
    thread = te.thread_axis("threadIdx.x")
    if by_rfactor:
        partial = s.rfactor(b, inner)
        inner = s[b].op.reduce_axis[0]
        s[partial].compute_at(s[b], inner)
    s[b].bind(s[b].op.axis[0], te.thread_axis("blockIdx.x"))
    s[b].bind(inner, thread)
    if by_rfactor:
        s[b].set_store_predicate(thread.var.equal(0))
    x = np.random.default_rng(threads).standard_normal((5, 37)).astype(np.float32)
    y = np.empty(5, np.float32)
    tw.build(s, [a, b], target="opencl", cache=cache)(x, y)
    np.testing.assert_allclose(y, x.sum(1, dtype=np.float64), rtol=1e-5, atol=1e-5)


def test_names_that_are_words_of_opencl(cache: KernelCache):
    """Tensors are called what people call them."""
    kernel, half = te.placeholder((5,), name="kernel"), te.placeholder((5,), name="half")
    exp = te.compute((5,), lambda barrier: te.exp(kernel[barrier]) + half[barrier], name="exp")
    popcount = te.compute((5,), lambda step: te.exp(exp[step]), name="popcount")
    s = te.create_schedule(popcount.op)
    s[exp].set_scope("local")
    s[exp].compute_at(s[popcount], popcount.op.axis[0])
    s[popcount].bind(popcount.op.axis[0], te.thread_axis("threadIdx.x"))
    x, y = np.random.default_rng(0).random((2, 5), np.float32)
    z = np.empty(5, np.float32)
    tw.build(s, [kernel, half, popcount], target="opencl", cache=cache)(x, y, z)
    np.testing.assert_allclose(z, np.exp(np.exp(x) + y), rtol=1e-5)


def check(model, feeds, cache: KernelCache) -> tw.Module:
    """A model on the device, whose results are those of the processor."""
    wanted = tw.compile(model, cache=cache).run(feeds)
    compiled = tw.compile(model, target="opencl", cache=cache)
    for name, result in compiled.run(feeds).items():
        assert np.abs(result - wanted[name]).max() <= TOLERANCE * np.abs(wanted[name]).max(), name
    return compiled


def test_the_digits_network(cache: KernelCache, tmp_path: Path):
    feeds = {"images": np.random.default_rng(0).random((1, 1, 8, 8), np.float32)}
    compiled = check(DIGITS, feeds, cache)
    compiled.save(tmp_path / "digits.tw")
    loaded = tw.load(tmp_path / "digits.tw")
    np.testing.assert_array_equal(*(next(iter(m.run(feeds).values())) for m in (compiled, loaded)))


def test_squeezenet(cache: KernelCache):
    model = load_light_model("squeezenet")
    check(model, random_feeds(model), cache)


QUICK = ("encoder", "lstm_35", "resnext26")
"""Many products at a time, steps that are a loop of the host, and convolutions of groups."""


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in NETWORKS])
def test_a_small_network(name: str, cache: KernelCache):
    model, feeds, _ = small_network(name)
    check(model, feeds, cache)


def test_a_statement_as_a_whole_stays_on_the_host(cache: KernelCache):
    """A scatter has no axes; what is around it runs on the device."""
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("ScatterND", ["a", "i", "u"], ["b"]),
        helper.make_node("Exp", ["b"], ["y"]),
    ]
    indices = numpy_helper.from_array(np.array([[1], [3]], np.int64), "i")
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [n]) for name, n in (("x", 5), ("u", 2), ("y", 5))]
    model = helper.make_model(helper.make_graph(nodes, "scatter", ends[:2], ends[2:], [indices]))
    rng = np.random.default_rng(0)
    feeds = {name: rng.standard_normal(n).astype(np.float32) for name, n in (("x", 5), ("u", 2))}
    assert len(check(model, feeds, cache).device_code["opencl0"]) == 2


def test_a_stage_that_is_bound_to_no_threads_is_refused():
    a = te.placeholder((8,), name="A")
    b = te.compute((8,), lambda i: a[i] + 1, name="B")
    with pytest.raises(te.ScheduleError, match="what stores to %B is bound to no threads"):
        tw.build(te.create_schedule(b.op), [a, b], target="opencl")


def test_local_memory_that_another_thread_reads_is_refused():
    a = te.placeholder((16,), name="A")
    b = te.compute((16,), lambda i: a[i] * 2, name="B")
    c = te.compute((16,), lambda i: b[15 - i], name="C")
    s = te.create_schedule(c.op)
    block, thread = s[c].split(c.op.axis[0], factor=16)
    s[c].bind(block, te.thread_axis("blockIdx.x"))
    s[c].bind(thread, te.thread_axis("threadIdx.x"))
    s[b].set_scope("local")
    s[b].compute_at(s[c], block)
    s[b].bind(b.op.axis[0], te.thread_axis("threadIdx.x"))
    with pytest.raises(te.ScheduleError, match='%B is "local", of which every thread has its own'):
        tw.build(s, [a, c], target="opencl")
