"""Prices asked of workers before layouts are searched: they are the search's own, and the cache keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from pathlib import Path

import pytest
from programs import for_target
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from tilework.analysis.functions import body_of
from tilework.analysis.precision import precision_of
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.driver.pool import CompilePool, OnDone
from tilework.driver.price_ahead import price_ahead
from tilework.driver.session import Session
from tilework.driver.worker import FailedKernel, Job, KernelBuildError
from tilework.rules.algorithms.strassen import Strassen
from tilework.rules.algorithms.winograd import Winograd
from tilework.runtime.cache import KernelCache
from tilework.targets import Target, parse_target
from tilework.transforms.graph.algorithms import (
    Algorithms,
    Choice,
    algorithms_for,
    question_of,
    remembered_algorithms,
)
from tilework.transforms.graph.layout_search import LayoutSearch

TARGET = parse_target("llvm -mcpu=haswell")


def two_convolutions(beside: int = 1) -> FuncOp:
    """One after the other, of 32 channels on 28 x 28 images; the second adds a residue.

    beside: elements of a further parameter.
    """
    x, w = "tensor<1x32x28x28xf32>", "tensor<32x32x3x3xf32>"
    attributes = (
        "strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, groups = 1 : i64"
    )
    text = f"""
        func.func @main(%x: {x}) -> {x} {{
          %w = graph.parameter @w : {w}
          %v = graph.parameter @v : {w}
          %u = graph.parameter @u : tensor<{beside}xf32>
          %y = graph.fused "conv" (%x, %w) : ({x}, {w}) -> ({x}) {{
          ^bb0(%a: {x}, %b: {w}):
            %c = graph.conv %a, %b {{{attributes}}} : ({x}, {w}) -> {x}
            graph.yield %c : {x}
          }}
          %z = graph.fused "conv_add" (%y, %v, %x) : ({x}, {w}, {x}) -> ({x}) {{
          ^bb0(%a: {x}, %b: {w}, %r: {x}):
            %c = graph.conv %a, %b {{{attributes}}} : ({x}, {w}) -> {x}
            %d = graph.add %c, %r : ({x}, {x}) -> {x}
            graph.yield %d : {x}
          }}
          func.return %z : {x}
        }}
    """
    [function] = SourceParser(make_context(), text, "test").parse_module().ops
    assert isinstance(function, FuncOp)
    function.detach()
    return function


class Pool(CompilePool):
    """One process, which counts what it is asked."""

    def __init__(self):
        super().__init__(1)
        self.asked = 0

    def run(self, jobs: Sequence[Job], on_done: OnDone | None = None):
        self.asked += len(jobs)
        return super().run(jobs, on_done)


def price(main: FuncOp, target: Target, cache: KernelCache, pool: CompilePool, precision: str = "default") -> None:
    """Ask ahead, for a function that becomes the only one of a module."""
    module = main.parent_op()
    for_target(module if isinstance(module, ModuleOp) else ModuleOp([main]), target)
    price_ahead(main, Session(cache, pool, precision))


@pytest.fixture(autouse=True)
def nothing_known() -> None:
    """Every test begins like a new process."""
    remembered_algorithms.cache_clear()


def algorithms(main: FuncOp) -> Algorithms:
    """Those that `choose-layouts` would ask."""
    return algorithms_for(TARGET, precision_of("default"), body_of(main))


def test_prices_are_those_of_the_search(tmp_path: Path):
    main = two_convolutions()
    groups = list(LayoutSearch.of(body_of(main), TARGET, algorithms(main)).first_questions())
    with Pool() as pool:
        price(main, TARGET, KernelCache(tmp_path), pool)
    assert pool.asked == len(groups) == 4
    told = algorithms(main)
    here = Algorithms(told.target, told.precision)
    for group in groups:
        assert told.knows(question_of(group))
        assert told.best_for(group) == here.best_for(group)


def test_what_is_known_is_not_asked_again(tmp_path: Path):
    with Pool() as pool:
        price(two_convolutions(), TARGET, KernelCache(tmp_path), pool)
        price(two_convolutions(), TARGET, KernelCache(tmp_path / "other"), pool)
    assert pool.asked == 4


def test_prices_are_found_in_the_cache(tmp_path: Path):
    main = two_convolutions()
    groups = list(LayoutSearch.of(body_of(main), TARGET, algorithms(main)).first_questions())
    with Pool() as pool:
        price(main, TARGET, KernelCache(tmp_path), pool)
        first = [algorithms(main).best_for(group) for group in groups]
        remembered_algorithms.cache_clear()
        price(main, TARGET, KernelCache(tmp_path), pool)
    assert pool.asked == 4
    assert [algorithms(main).best_for(group) for group in groups] == first


def test_a_damaged_entry_is_asked_for_again(tmp_path: Path):
    with Pool() as pool:
        price(two_convolutions(), TARGET, KernelCache(tmp_path), pool)
        damaged = next(tmp_path.glob("??/*"))
        damaged.write_bytes(damaged.read_bytes()[:-1])
        remembered_algorithms.cache_clear()
        price(two_convolutions(), TARGET, KernelCache(tmp_path), pool)
    assert pool.asked == 5


def test_the_precision_and_the_machine_are_part_of_the_key(tmp_path: Path):
    with Pool() as pool:
        for mcpu, precision in (("haswell", "default"), ("haswell", "strict"), ("znver3", "default")):
            price(two_convolutions(), parse_target(f"llvm -mcpu={mcpu}"), KernelCache(tmp_path), pool, precision)
            remembered_algorithms.cache_clear()
    assert pool.asked == 12


def test_whether_weights_stay_in_the_last_cache_is_part_of_the_key(tmp_path: Path):
    with Pool() as pool:
        for beside in (1, 2, 1 << 26):
            price(two_convolutions(beside), TARGET, KernelCache(tmp_path), pool)
            remembered_algorithms.cache_clear()
    assert pool.asked == 8


def test_a_failure_names_the_kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    failure = FailedKernel("conv", "the compiler process died (signal 9)", "it printed nothing")

    def fail(_job: Job) -> FailedKernel:
        return failure

    monkeypatch.setattr("tilework.driver.pool.do_job", fail)
    with Pool() as pool, pytest.raises(KernelBuildError, match="kernel 'conv': the compiler process died"):
        price(two_convolutions(), TARGET, KernelCache(tmp_path), pool)


@pytest.mark.parametrize(
    "algorithm",
    [Choice(1.5), Choice(inf), Choice(2.0, Winograd(4, phases=True)), Choice(3.0, Strassen(2))],
    ids=str,
)
def test_an_algorithm_is_json_and_back(algorithm: Choice, tmp_path: Path):
    cache = KernelCache(tmp_path)
    cache.put("key", b"", algorithm.to_json())
    entry = cache.get("key")
    assert entry is not None and Choice.from_json(entry[1]) == algorithm
