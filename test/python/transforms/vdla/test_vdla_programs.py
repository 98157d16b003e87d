"""Scheduled kernels become streams that are clean, and compute what numpy does."""

from __future__ import annotations

import random

import numpy as np
import pytest
from vdla_kernels import Product
from vdla_programs import machine

from tilework.dialects.support.diagnostics import CompileError
from tilework.tools.fuzz.vdla.check import function_of, run_in_interpreter, run_on_simulator


def check(product: Product, options: str = "") -> float:
    """Run a product in the interpreter and on the simulator; how many cycles it takes there."""
    target = machine(options)
    function = function_of(product.text(str(target)))
    arguments = product.arguments()
    expected = product.expected(*arguments)
    run_in_interpreter(function, arguments)
    np.testing.assert_array_equal(arguments[-1], expected)
    arguments = product.arguments()
    report = run_on_simulator(function, arguments, target)
    np.testing.assert_array_equal(arguments[-1], expected)
    return report.cycles


def random_product(draw: random.Random) -> Product:
    """Tiles divide the sizes, and threads what is left of them."""
    tile = (draw.randint(1, 4), draw.randint(1, 4), draw.randint(1, 4))
    threads, by_rows = draw.choice([1, 1, 2, 3]), draw.random() < 0.5
    counts = [draw.randint(1, 3) for _ in range(3)]
    counts[0 if by_rows else 1] *= threads
    m, n, k = (size * count for size, count in zip(tile, counts, strict=True))
    once = draw.random() < 0.3 and not (by_rows and threads > 1)
    return Product(m, n, k, tile, threads, by_rows, draw.random() < 0.4, once)


@pytest.mark.parametrize("seed", range(40))
def test_products_of_random_sizes(seed: int):
    draw = random.Random(seed)
    check(random_product(draw), draw.choice(["", "-machine=vta", f"-queue={1 + seed % 4}", "-dram-latency=3"]))


@pytest.mark.parametrize(
    ("single", "threaded"),
    [
        (Product(16, 16, 16, (4, 4, 4)), Product(16, 16, 16, (4, 4, 4), threads=2)),
        (Product(16, 16, 16, (8, 4, 4)), Product(16, 16, 16, (8, 4, 4), threads=2)),
        (Product(16, 16, 16, (4, 4, 4)), Product(16, 16, 16, (4, 4, 4), threads=2, by_rows=True)),
    ],
    ids=str,
)
def test_virtual_threads_hide_transfers(single: Product, threaded: Product):
    """While one thread multiplies, the other one's tiles are loaded."""
    assert check(threaded) < 0.93 * check(single)


def test_what_does_not_fit_is_refused():
    with pytest.raises(CompileError) as error:
        function_of(Product(16, 16, 8, (16, 16, 8)).text("vdla -wgt-kib=16"))
    assert error.value.message == (
        'the buffers in "vdla.wgt" take 128 tiles, and it has 64: %w_vdla_wgt 128; make the tiles of the schedule '
        "smaller"
    )
