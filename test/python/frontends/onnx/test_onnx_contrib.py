"""onnxruntime's own operators, compared with what onnxruntime computes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import onnxruntime
import pytest
from contrib_cases import Case, check, floats, integers, named
from onnx import helper
from onnx_models import Array

import tilework as tw
from tilework.dialects.support.diagnostics import TileworkError
from tilework.frontends.onnx import import_onnx
from tilework.runtime.cache import KernelCache


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


# ---- Layers ----------------------------------------------------------------------------------------------------------

ROWS = floats(2, 5, 12)
IMAGE = floats(1, 4, 6, 6)
FILTERS = floats(8, 4, 3, 3, scale=0.2)
IDS = integers(0, 9, 2, 5, dtype=np.int32)
TABLES = (floats(9, 12), floats(7, 12), floats(2, 12), floats(12), floats(12))

LAYERS = [
    Case("Gelu", (ROWS,)),
    Case("Gelu", (np.linspace(-3, 3, 7, dtype=np.float16),), tolerance=2e-3, title="halves"),
    Case("BiasGelu", (ROWS, floats(12))),
    Case("FastGelu", (ROWS,)),
    Case("FastGelu", (ROWS, floats(12)), title="bias"),
    Case("QuickGelu", (ROWS,)),
    Case("QuickGelu", (ROWS,), {"alpha": 1.0}, title="alpha"),
    Case("FusedMatMul", (ROWS, floats(2, 7, 12)), {"transB": 1, "alpha": 0.25, "transBatchA": 0}),
    Case("FusedMatMul", (ROWS, floats(2, 5, 3)), {"transA": 1}, title="left"),
    Case("FusedMatMul", (ROWS, floats(12, 3)), title="plain"),
    *(
        Case(
            "FusedConv",
            (IMAGE, FILTERS, floats(8)),
            {"activation": name, "pads": [1] * 4, "strides": [2, 2], **numbers},
            constants=(1, 2),
            title=name,
        )
        for name, numbers in (
            ("Relu", {}),
            ("Tanh", {}),
            ("Sigmoid", {}),
            ("LeakyRelu", {"activation_params": [0.3]}),
            ("Clip", {"activation_params": [-0.5, 0.5]}),
            ("HardSigmoid", {"activation_params": [0.3, 0.4]}),
        )
    ),
    Case("FusedConv", (IMAGE, FILTERS, floats(8), floats(1, 8, 4, 4)), {"activation": "Relu"}, title="sum"),
    Case("FusedConv", (IMAGE, FILTERS), {"activation": "Relu"}, title="no bias"),
    Case("FusedGemm", (floats(5, 4), floats(4, 3), floats(3)), {"activation": "Relu", "alpha": 0.5}),
    Case(
        "FusedGemm",
        (floats(5, 4), floats(3, 4), floats(3)),
        {"activation": "LeakyRelu", "activation_alpha": 0.2, "transB": 1, "beta": 2.0},
        title="LeakyRelu",
    ),
    Case(
        "FusedGemm",
        (floats(5, 4), floats(4, 3), floats(3)),
        {"activation": "LeakyRelu", "activation_alpha": 0.0},
        title="a slope of nothing",
    ),
    *(
        Case("FusedGemm", (floats(5, 4), floats(4, 3), floats(3)), {"activation": name, **numbers}, title=name)
        for name, numbers in (
            ("Elu", {"activation_alpha": 0.7}),
            ("Selu", {"activation_alpha": 1.6, "activation_gamma": 1.1}),
            ("ThresholdedRelu", {"activation_alpha": 0.2}),
            ("HardSigmoid", {"activation_alpha": 0.3, "activation_beta": 0.0}),
            ("Softplus", {}),
            ("Softsign", {}),
        )
    ),
    Case("SkipLayerNormalization", (ROWS, floats(2, 5, 12), floats(12), floats(12))),
    Case("SkipLayerNormalization", (ROWS, floats(5, 12), floats(12)), {"epsilon": 0.1}, title="no beta"),
    Case("SkipSimplifiedLayerNormalization", (ROWS, floats(2, 5, 12), floats(12))),
    Case("SkipSimplifiedLayerNormalization", (ROWS, floats(2, 5, 12), floats(12), floats(12)), title="bias"),
    Case("SimplifiedLayerNormalization", (ROWS, floats(12)), {"epsilon": 0.01, "stash_type": 1}, domain=""),
    Case("EmbedLayerNormalization", (IDS, IDS % 2, *TABLES, IDS % 2), outputs=2),
    Case("EmbedLayerNormalization", (IDS, None, *TABLES), outputs=2, title="first kind"),
    Case("EmbedLayerNormalization", (IDS, None, *TABLES[:2], None, *TABLES[3:]), outputs=2, title="no kinds"),
]


@pytest.mark.parametrize("case", LAYERS, ids=named)
def test_layer(case: Case, cache: KernelCache):
    check(case, cache)


def test_the_sum_before_a_normalization(cache: KernelCache):
    """The fourth output; the second and third, for training, are not made."""
    case = Case("SkipLayerNormalization", (ROWS, floats(2, 5, 12), floats(12), floats(12), floats(12)))
    made = case.model()
    made.graph.node[0].output[:] = ["y0", "", "", "y1"]
    made.graph.output.append(helper.make_empty_tensor_value_info("y1"))
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    for got, wanted in zip(
        tw.compile(made, cache=cache, processes=1).run(case.feeds()).values(),
        session.run(None, case.feeds()),
        strict=True,
    ):
        np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-5)


# ---- Quantized numbers -----------------------------------------------------------------------------------------------

SCALE, ZERO = np.float32(0.03), np.uint8(120)
BYTES = integers(0, 256, 2, 4, 6, 6)
SMALL = (np.float32(0.01), np.int8(0))

QUANTIZED = [
    Case("QLinearAdd", (BYTES, SCALE, ZERO, BYTES[::-1].copy(), np.float32(0.02), np.uint8(7), np.float32(0.05), ZERO)),
    Case("QLinearMul", (BYTES, SCALE, ZERO, BYTES[:1, :, :1], SCALE, ZERO, np.float32(0.0413), ZERO)),
    Case("QLinearSigmoid", (BYTES, SCALE, ZERO, np.float32(1 / 256), np.uint8(0))),
    Case("QLinearLeakyRelu", (BYTES, SCALE, ZERO, SCALE, ZERO), {"alpha": 0.2}),
    Case("QLinearGlobalAveragePool", (BYTES, SCALE, ZERO, SCALE, ZERO), {"channels_last": 0}),
    Case("QLinearAveragePool", (BYTES, SCALE, ZERO, SCALE, ZERO), {"kernel_shape": [3, 3], "strides": [2, 2]}),
    Case("QLinearSoftmax", (integers(0, 256, 3, 9), SCALE, ZERO, np.float32(1 / 256), np.uint8(0)), {"opset": 13}),
    Case(
        "QLinearSoftmax",
        (integers(0, 256, 3, 2, 9), SCALE, ZERO, np.float32(1 / 256), np.uint8(0)),
        {"opset": 12, "axis": 1},
        title="rows",
    ),
    Case("QLinearConcat", (SCALE, ZERO, BYTES, SCALE, ZERO, BYTES, np.float32(0.04), ZERO), {"axis": 1}),
    Case(
        "QLinearWhere",
        (BYTES > ZERO, BYTES, SCALE, ZERO, BYTES[::-1].copy(), np.float32(0.02), np.uint8(7), SCALE, ZERO),
    ),
    *(
        Case(
            "QGemm",
            (
                integers(0, 256, 5, 8),
                SCALE,
                ZERO,
                integers(-64, 64, 3, 8, dtype=np.int8),  # sums of two products that no processor saturates
                floats(3, scale=0.01) ** 2 + np.float32(0.001),
                np.zeros(3, np.int8),
                integers(-500, 500, 3, dtype=np.int32),
                *behind,
            ),
            {"transB": 1},
            constants=(3, 4, 5, 6),
            title=title,
        )
        for title, behind in (("floats", ()), ("bytes", (np.float32(0.1), ZERO)))
    ),
    Case("QuantizeLinear", (floats(3, 4), SCALE, ZERO)),
    Case("DequantizeLinear", (BYTES, SCALE, ZERO)),
    Case(
        "MatMulIntegerToFloat",
        (BYTES[0, 0], integers(-99, 99, 6, 5, dtype=np.int8), SCALE, floats(5), ZERO, None, floats(5)),
        tolerance=1e-4,
    ),
    Case(
        "DynamicQuantizeMatMul",
        (floats(3, 8), integers(-99, 99, 8, 5, dtype=np.int8), np.float32(0.02), np.int8(0), floats(5)),
        constants=(1, 2, 3, 4),
        tolerance=1e-4,
    ),
]


@pytest.mark.parametrize("case", QUANTIZED, ids=named)
def test_quantized(case: Case, cache: KernelCache):
    check(case, cache)


# ---- Weights of few bits ---------------------------------------------------------------------------------------------


def few_bits(bits: int, block: int, columns: int, zeros: str | None) -> Case:
    rows, blocks = 6, -(-columns // block)
    packed = integers(0, 256, rows, blocks, block * bits // 8)
    zero = {
        None: None,
        "packed": integers(0, 256, rows * -(-blocks * bits // 8)),
        "floats": floats(rows, blocks) + 2 ** (bits - 1),
    }[zeros]
    numbers = {"K": columns, "N": rows, "bits": bits, "block_size": block}
    inputs = (floats(3, columns), packed, floats(rows, blocks, scale=0.1), zero)
    constants = (1, 2) if zero is None else (1, 2, 3)
    title = f"{bits}-{columns}-{zeros}"
    return Case("MatMulNBits", inputs, numbers, constants=constants, tolerance=1e-3, title=title)


@pytest.mark.parametrize(
    "case",
    [
        few_bits(4, 16, 32, None),
        few_bits(4, 16, 40, None),
        few_bits(4, 32, 96, "packed"),
        few_bits(4, 16, 32, "floats"),
        few_bits(8, 16, 32, None),
        few_bits(8, 32, 64, "packed"),
    ],
    ids=named,
)
def test_weights_of_few_bits(case: Case, cache: KernelCache):
    check(case, cache)


@pytest.mark.parametrize("zeros", [False, True])
def test_rows_of_few_bits(zeros: bool, cache: KernelCache):
    table, indices = integers(0, 256, 9, 32), integers(0, 9, 2, 3, dtype=np.int64)
    inputs = (table, indices, floats(9, 4, scale=0.1), integers(0, 256, 9, 2) if zeros else None)
    numbers = {"bits": 4, "block_size": 16}
    check(Case("GatherBlockQuantized", inputs, numbers, constants=(0, 2, 3) if zeros else (0, 2)), cache)


@pytest.mark.parametrize("kind", ["int4", "uint4"])
def test_rows_of_a_type_of_few_bits(kind: str, cache: KernelCache):
    table = integers(-8 if kind == "int4" else 0, 7, 9, 32, dtype=np.int8).astype(getattr(ml_dtypes, kind))
    inputs = (table, integers(0, 9, 5, dtype=np.int64), floats(9, 2, scale=0.1), None)
    check(Case("GatherBlockQuantized", inputs, {"block_size": 16}, constants=(0, 2)), cache)


# ---- Attention -------------------------------------------------------------------------------------------------------

B, S, P, N, H = 2, 5, 3, 4, 8
D = N * H


def caches(rows: int) -> tuple[Array, Array]:
    angles = floats(rows, H // 2)
    return np.cos(angles), np.sin(angles)


def right_mask(keys: int) -> Array:
    mask = np.ones((B, keys), np.int32)
    mask[1, -2:] = 0
    return mask


PROJECTION = (floats(D, 3 * D, scale=0.2), floats(3 * D))
HEADS = {"num_heads": N}

ATTENTION = [
    Case("Attention", (floats(B, S, D), *PROJECTION), HEADS),
    Case("Attention", (floats(B, S, D), *PROJECTION), {**HEADS, "unidirectional": 1}, title="causal"),
    Case("Attention", (floats(B, S, D), *PROJECTION), {**HEADS, "scale": 0.0}, title="a scale of nothing"),
    Case("Attention", (floats(B, S, D), *PROJECTION, right_mask(S)), HEADS, title="mask"),
    Case("Attention", (floats(B, S, D), *PROJECTION, np.array([S, 2], np.int32)), HEADS, title="lengths"),
    Case(
        "Attention",
        (floats(B, S, D), *PROJECTION, None, None, floats(B, N, S, S)),
        {**HEADS, "scale": 0.1},
        title="scores",
    ),
    Case(
        "Attention",
        (floats(B, S, D), *PROJECTION, None, floats(2, B, N, P, H)),
        {**HEADS, "unidirectional": 1},
        outputs=2,
        title="past",
    ),
    Case(
        "Attention",
        (floats(B, S, D), floats(D, 80, scale=0.2), floats(80)),
        {**HEADS, "qkv_hidden_sizes": [32, 32, 16]},
        title="sizes",
    ),
    Case(
        "QAttention",
        (
            integers(0, 256, B, S, D),
            integers(-64, 64, D, 3 * D, dtype=np.int8),
            floats(3 * D),
            np.float32(0.01),
            np.float32(0.002),
            right_mask(S),
            np.uint8(128),
            np.int8(0),
        ),
        HEADS,
        constants=(1, 2, 3, 4, 6, 7),
        tolerance=1e-4,
    ),
    Case("MultiHeadAttention", (floats(B, S, D), floats(B, 7, D), floats(B, 7, 2 * D)), HEADS),
    Case("MultiHeadAttention", (floats(B, S, D), floats(B, S, D), floats(B, S, D), floats(3 * D)), HEADS, title="bias"),
    Case(
        "MultiHeadAttention",
        (floats(B, S, D), floats(B, S, D), floats(B, S, D), None, right_mask(S), floats(1, N, S, S)),
        {**HEADS, "unidirectional": 1},
        title="masks",
    ),
    Case(
        "MultiHeadAttention",
        (floats(B, S, D), floats(B, N, 7, H), floats(B, N, 7, H)),
        HEADS,
        title="by heads",
    ),
    Case(
        "MultiHeadAttention",
        (*(floats(B, S, D) for _ in range(3)), None, None, None, floats(B, N, P, H), floats(B, N, P, H)),
        HEADS,
        outputs=3,
        title="past",
    ),
    Case("RotaryEmbedding", (floats(B, S, D), np.array([2], np.int64), *caches(16))),
    Case("RotaryEmbedding", (floats(B, S, D), integers(0, 16, B, S, dtype=np.int64), *caches(16)), {"interleaved": 1}),
    Case("RotaryEmbedding", (floats(B, N, S, H), integers(0, 16, B, S, dtype=np.int64), *caches(16)), title="by heads"),
    Case(
        "RotaryEmbedding",
        (floats(B, S, D), np.array([0], np.int64), *(c[:, :2].copy() for c in caches(16))),
        {"num_heads": N, "rotary_embedding_dim": 4},
        title="partly",
    ),
]


@pytest.mark.parametrize("case", ATTENTION, ids=named)
def test_attention(case: Case, cache: KernelCache):
    check(case, cache)


def grouped(past: int, rows: int, lengths: list[int], title: str, packed: bool = False, **attributes: Any) -> Case:
    """Two heads of keys for four of queries; `lengths` are numbers of keys, old and new, in a batch."""
    batch, shared = len(lengths), 2
    size = H * 2
    q, k, v = floats(batch, rows, N * size), floats(batch, rows, shared * size), floats(batch, rows, shared * size)
    old = [floats(batch, shared, past, size) for _ in range(2)]
    angles = floats(32, size // 2)
    turning = (np.cos(angles), np.sin(angles)) if attributes.get("do_rotary") else ()
    first = (np.concatenate([q, k, v], axis=2), None, None) if packed else (q, k, v)
    last, total = np.array([n - 1 for n in lengths], np.int32), np.array(past + rows, np.int32)
    numbers = {"num_heads": N, "kv_num_heads": shared, **attributes}
    return Case("GroupQueryAttention", (*first, *old, last, total, *turning), numbers, outputs=3, title=title)


GROUPED = [
    grouped(0, 6, [6, 6], "prompt"),
    grouped(0, 6, [6, 6], "rotary", do_rotary=1),
    grouped(7, 1, [8, 8], "step", do_rotary=1),
    grouped(7, 1, [8], "one", packed=True, do_rotary=1, rotary_interleaved=1),
    grouped(7, 1, [8, 8], "window", local_window_size=4),
    grouped(7, 1, [8, 8], "capped", softcap=5.0, scale=0.3),
]


@pytest.mark.parametrize("case", GROUPED, ids=named)
def test_grouped_attention(case: Case, cache: KernelCache):
    check(case, cache)


def test_attention_of_open_sizes(cache: KernelCache):
    """A batch and rows that are known when the program runs, and what has been seen before them."""
    case = grouped(7, 1, [8, 8], "", do_rotary=1)
    sizes = {0: ("B", "S", N * H * 2), 1: ("B", "S", H * 4), 2: ("B", "S", H * 4), 5: ("B",)}
    sizes |= {i: ("B", 2, "P", H * 2) for i in (3, 4)}
    check(case, cache, sizes)
    case = next(case for case in ATTENTION if case.op == "MultiHeadAttention" and case.title == "past")
    check(case, cache, {**{i: ("B", "S", D) for i in range(3)}, **{i: ("B", N, "P", H) for i in (6, 7)}})


@pytest.mark.parametrize(
    ("past", "lengths", "total"),
    [(7, [8, 5], None), (12, [8, 8], 8), (7, [8, 8], 8)],
    ids=["more and less", "room for more", "no room"],
)
def test_what_a_batch_has_seen(past: int, lengths: list[int], total: int | None, cache: KernelCache):
    """Behind what counts, onnxruntime leaves what there was. How much there is at most may be a constant."""
    case = grouped(past, 1, lengths, "", do_rotary=1)
    if total is not None:
        inputs = (*case.inputs[:6], np.array(total, np.int32), *case.inputs[7:])
        case = replace(case, inputs=inputs, constants=(6,))
    session = onnxruntime.InferenceSession(case.model().SerializeToString(), providers=["CPUExecutionProvider"])
    wanted = session.run(None, case.feeds())
    results = tw.compile(case.model(), cache=cache, processes=1).run(case.feeds()).values()
    for got, expected in zip(results, wanted, strict=True):
        assert got.shape == expected.shape
        for i, length in enumerate(lengths):
            kept = (i, slice(None), slice(0, length)) if got.ndim == 4 else (i,)
            np.testing.assert_allclose(got[kept], expected[kept], rtol=2e-5, atol=2e-5)


# ---- Refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "message"),
    [
        (
            Case("FusedMatMul", (ROWS, ROWS), {"transBatchA": 1, "transB": 1}),
            "its attribute transBatchA is not supported",
        ),
        (
            Case("MultiHeadAttention", (floats(B, S, N, 3, H), None, None), HEADS),
            "query, key and value are three tensors",
        ),
        (Case("FusedConv", (IMAGE, FILTERS), {"activation": "Elu"}), "what its inputs and attributes ask for together"),
        (Case("FusedGemm", (ROWS[0],) * 3, {"activation": "Clip"}), "what its inputs and attributes ask for together"),
        (Case("QLinearConcat", (SCALE, ZERO), {"axis": 0}), "three inputs for each part"),
        (
            Case("QGemm", (BYTES[0, 0], SCALE, ZERO, BYTES[0, 0], SCALE, ZERO, None, None, ZERO)),
            "what its inputs and attributes ask for together",
        ),
        (
            Case("SkipLayerNormalization", (ROWS[:1], ROWS, floats(12), floats(12))),
            "what is added to it does not make it larger",
        ),
        (grouped(7, 1, [8], "", do_rotary=3), "its do_rotary is 0 or 1, not 3"),
        (grouped(7, 1, [8], "", softcap=float("nan")), "its softcap is a number that is not negative"),
        (Case("RotaryEmbedding", (ROWS, np.array([0]), floats(4), floats(4))), "its caches of cosines and sines are"),
        (Case("Gelu", (ROWS,), {"alpha": 0.5}), "its attribute alpha is not supported"),
        (Case("QuickGelu", (ROWS,), {"alpha": 2}), "its attribute alpha is of type float"),
        (Case("Attention", (ROWS, floats(12, 36), floats(36)), {"num_heads": 1.5}), "num_heads is of type int"),
        (
            Case("Attention", (ROWS, floats(12, 36), floats(36)), {"num_heads": 3, "scale": -1.0}),
            "scale is not negative",
        ),
        (
            Case("Attention", (ROWS[:1], floats(12, 36), floats(36), np.array([5, 0], np.int32)), {"num_heads": 3}),
            "its mask has a row, or a number of keys, for each of the batch of 1",
        ),
        (
            Case("MultiHeadAttention", (ROWS, ROWS[:, :2], ROWS[:, :2]), {"num_heads": 3, "unidirectional": 1}),
            "unidirectional attention has as many new keys as queries",
        ),
        (
            Case("RotaryEmbedding", (ROWS, np.array(0), floats(9, 6), floats(9, 6))),
            "its positions are that of the first",
        ),
        (grouped(7, 1, [8], "", smooth_softmax=1), "smooth_softmax are not supported"),
        (grouped(7, 1, [8], "", causal=0), "not causal"),
    ],
    ids=lambda x: x.op if isinstance(x, Case) else "",
)
def test_refusals(case: Case, message: str):
    with pytest.raises(TileworkError, match=message):
        import_onnx(case.model())
