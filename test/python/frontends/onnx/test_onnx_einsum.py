"""Einsum: what numpy's computes, of integers that are exact, and what is refused."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx
import pytest
from onnx_models import Array, model, node, refusal

import tilework as tw
from tilework.frontends.onnx import import_onnx
from tilework.interpreters.graph import run_function
from tilework.runtime.cache import KernelCache

Shape = Sequence[int | str]

SIZES = ({"N": 3, "M": 5, "K": 4}, {"N": 1, "M": 9, "K": 2}, {"N": 17, "M": 1, "K": 33})
"""What symbols stand for, each time that a compiled model is run."""

CASES: list[tuple[str, list[Shape]]] = [
    # products of matrices, in any order of their axes
    ("ij,jk->ik", [(3, 4), (4, 5)]),
    ("ij,kj->ik", [(3, 4), (5, 4)]),
    ("ji,jk->ki", [(4, 3), (4, 5)]),
    ("ij,jk", [(3, 4), (4, 5)]),
    ("kj,ji", [(3, 4), (4, 5)]),
    # vectors
    ("i,i->", [(7,), (7,)]),
    ("i,i", [(7,), (7,)]),
    ("ij,j->i", [(3, 4), (4,)]),
    ("i,ij->j", [(3,), (3, 4)]),
    # batches, first, last and between, several of them, and several axes summed at once
    ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
    ("ibj,jkb->bik", [(3, 2, 4), (4, 5, 2)]),
    ("bhqd,bhkd->bhqk", [(2, 3, 5, 4), (2, 3, 6, 4)]),
    ("bqhd,bkhd->bhqk", [(2, 5, 3, 4), (2, 6, 3, 4)]),
    ("abcd,dcef->abef", [(2, 3, 4, 5), (5, 4, 2, 3)]),
    # nothing summed: element by element, and outer products
    ("ij,ij->ij", [(3, 4), (3, 4)]),
    ("ij,ji->ji", [(3, 4), (4, 3)]),
    ("i,j->ij", [(3,), (4,)]),
    ("i,j->ji", [(3,), (4,)]),
    ("ij,k->kji", [(3, 4), (5,)]),
    (",ij->ij", [(), (3, 4)]),
    # one operand: itself, transposed, summed
    ("ij->ij", [(3, 4)]),
    ("ijk->kij", [(3, 4, 5)]),
    ("ba", [(3, 4)]),
    ("ijk->ki", [(3, 4, 5)]),
    ("ij->", [(3, 4)]),
    ("", [()]),
    # diagonals, traces, of some axes or several, before a product
    ("ii->i", [(5, 5)]),
    ("ii", [(5, 5)]),
    ("ii->i", [(1, 1)]),
    ("...ii->...i", [(2, 3, 4, 4)]),
    ("iji->j", [(3, 17, 3)]),
    ("iijj->ji", [(3, 3, 2, 2)]),
    ("iii->i", [(4, 4, 4)]),
    ("iij->ij", [(3, 3, "N")]),
    ("ii,ij->j", [(3, 3), (3, 5)]),
    # summed by itself before it is multiplied
    ("ijk,jl->il", [(3, 4, 5), (4, 2)]),
    ("ij,kl->", [(3, 4), (5, 2)]),
    # an ellipsis, also for nothing, for another number of axes of each, within letters, with an implicit result
    ("...ij,...jk->...ik", [(2, 6, 3, 4), (2, 6, 4, 5)]),
    ("...ij,...jk->...ik", [(3, 4), (4, 5)]),
    ("...ij,jk->...ik", [(2, 6, 3, 4), (4, 5)]),
    ("ij,...jk->...ik", [(3, 4), (2, 4, 5)]),
    ("...i,...i->...", [(2, 3, 4), (3, 4)]),
    ("...i,...i->...", [(4,), (2, 3, 4)]),
    ("a...b,b...->...a", [(3, 2, 4), (4, 2)]),
    ("...ij,...jk", [(2, 3, 4), (2, 4, 5)]),
    ("i...->...", [(3, 2, 4)]),
    ("b...a", [(3, 2, 4)]),
    # three operands and four
    ("ij,jk,kl->il", [(3, 4), (4, 5), (5, 2)]),
    ("bi,bj,ijk->bk", [(2, 3), (2, 4), (3, 4, 5)]),
    ("i,j,k->kij", [(2,), (3,), (4,)]),
    ("i,i,i->i", [(4,), (4,), (4,)]),
    ("ab,bc,cd,da->", [(2, 3), (3, 4), (4, 5), (5, 2)]),
    ("...i,i,i...->...", [(2, 3), (3,), (3, 2)]),
    # letters of both cases, and spaces
    (" iA , Ak -> k i ", [(3, 4), (4, 5)]),
    ("bA,Aa", [(3, 4), (4, 5)]),
    # sizes that are not known: of rows, of a batch, of what is summed
    ("ij,jk->ik", [("N", 4), (4, "M")]),
    ("ij,jk->ik", [("N", "K"), ("K", "M")]),
    ("bhqd,bhkd->bhqk", [("N", 2, "M", 8), ("N", 2, "K", 8)]),
    ("bhqk,bkhd->bqhd", [("N", 2, "M", "K"), ("N", "K", 2, 8)]),
    ("ab,cb->ac", [("N", "K"), ("M", "K")]),
    ("abc,dbc->ad", [("N", "M", "K"), (3, "M", "K")]),
    ("...ij,...jk->...ik", [("N", 3, "K"), ("N", "K", 4)]),
    ("ij,kl->ijkl", [("N", 2), (3, "M")]),
    ("ijk->ki", [("N", "M", "K")]),
    ("ij->", [("N", "M")]),
]


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


def einsum_model(equation: str, shapes: Sequence[Shape]) -> onnx.ModelProto:
    names = [f"x{i}" for i in range(len(shapes))]
    nodes = [node("Einsum", " ".join(names), "y", equation=equation)]
    return model(nodes, dict(zip(names, shapes, strict=True)), "y")


def integers(shape: Sequence[int], seed: int) -> Array:
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32)


@pytest.mark.parametrize(("equation", "shapes"), CASES, ids=lambda value: str(value).replace(" ", ""))
def test_einsum(equation: str, shapes: list[Shape], cache: KernelCache):
    made = einsum_model(equation, shapes)
    imported, compiled = import_onnx(made), tw.compile(made, cache=cache, processes=1)
    is_open = any(isinstance(size, str) for shape in shapes for size in shape)
    for sizes in SIZES if is_open else SIZES[:1]:
        concrete = [[sizes[d] if isinstance(d, str) else d for d in shape] for shape in shapes]
        arrays = [integers(shape, seed) for seed, shape in enumerate(concrete)]
        wanted = np.einsum(equation, *arrays)
        [interpreted] = run_function(imported.module, "main", arrays, imported.parameters)
        for result in (interpreted, compiled(*arrays)):
            assert result.shape == wanted.shape and result.dtype == np.float32
            np.testing.assert_array_equal(result, wanted)


def test_nothing_to_sum_is_zero(cache: KernelCache):
    made = einsum_model("ij,jk->ik", [(3, "K"), ("K", 2)])
    result = tw.compile(made, cache=cache)(np.ones((3, 0), np.float32), np.ones((0, 2), np.float32))
    np.testing.assert_array_equal(result, np.zeros((3, 2)))


def test_a_product_of_many_letters_is_one_product_of_matrices():
    made = import_onnx(einsum_model("bqhd,bkhd->bhqk", [(2, 5, 3, 4), (2, 6, 3, 4)]))
    names = [op.name for op in made.module.walk()]
    assert names.count("graph.matmul") == 1 and not {"graph.mul", "graph.reduce_sum"} & {*names}


@pytest.mark.parametrize(
    ("equation", "shapes", "message"),
    [
        ("ij->ij", [(3, 4), (4, 5)], "its equation 'ij->ij' is of 1 operands"),
        ("ij,jk,kl->il", [(3, 4), (4, 5)], "its equation 'ij,jk,kl->il' is of 3 operands"),
        ("ijk,jk->i", [(3, 4), (4, 5)], "'ijk' of its equation does not fit input 0, which has 2 axes"),
        ("ij,j->i", [(3, 4), (4, 5)], "'j' of its equation does not fit input 1, which has 2 axes"),
        ("ij...k->i", [(3, 4)], "'ij...k' of its equation does not fit input 0, which has 2 axes"),
        ("i1->i", [(3, 4)], "'i1' of its equation does not fit input 0, which has 2 axes"),
        ("...ii->...i", [(2, 3, 4)], "'i' of its equation is 3 and 4"),
        ("ij,jk->ik", [(3, 4), (5, 6)], "'j' of its equation is 4 and 5"),
        ("ij->ik", [(3, 4)], "its result has an axis 'k', which no operand has"),
        ("ij->iij", [(3, 4)], "its result has an axis twice, which is not supported"),
    ],
)
def test_what_an_equation_is_refused_for(equation: str, shapes: list[Shape], message: str):
    assert message in refusal(einsum_model(equation, shapes))


def test_axes_of_1_behind_an_ellipsis_broadcast(cache: KernelCache):
    made = einsum_model("...ij,...jk->...ik", [(1, 3, 4), (2, 4, 5)])
    x, y = np.ones((1, 3, 4), np.float32), np.ones((2, 4, 5), np.float32)
    np.testing.assert_array_equal(tw.compile(made, cache=cache, processes=1)(x, y), x @ y)


def test_other_axes_behind_an_ellipsis_are_equal():
    assert "'...' of its equation is 3 and 2" in refusal(einsum_model("...i,...i->...", [(3, 4), (2, 4)]))
