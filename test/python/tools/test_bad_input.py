"""What users get wrong, from a file to a number: a clear error, and nothing is lost. And what is merely odd."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from places import ROOT

import tilework as tw
from tilework.runtime.cache import KernelCache
from tilework.tools import cli

onnxruntime = pytest.importorskip("onnxruntime")

DIGITS = ROOT / "examples" / "digits" / "digits.onnx"
FLOAT = TensorProto.FLOAT


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> KernelCache:
    return KernelCache(tmp_path_factory.mktemp("kernels"))


@pytest.fixture(scope="module")
def digits(cache: KernelCache) -> tw.Module:
    return tw.compile(DIGITS, cache=cache)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, cache: KernelCache):
    """Runs `tilework` in process: (status, lines of stderr)."""
    monkeypatch.setenv("TILEWORK_CACHE", str(cache.folder))

    def run(*arguments: str | Path) -> tuple[int, list[str]]:
        status = cli.main([str(argument) for argument in arguments])
        return status, capsys.readouterr().err.splitlines()

    return run


def model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Sequence[int | str]],
    outputs: Sequence[str] = ("y",),
    weights: Mapping[str, np.ndarray] | None = None,
) -> onnx.ModelProto:
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info(name, FLOAT, shape) for name, shape in inputs.items()],
        [helper.make_empty_tensor_value_info(name) for name in outputs],
        [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def small_network() -> onnx.ModelProto:
    """Convolution, pooling, normalization, softmax over a symbolic batch, and a reduction over that batch."""
    rng = np.random.default_rng(0)
    weights = {"w": rng.standard_normal((4, 2, 3, 3), np.float32), "d": rng.standard_normal((4, 3), np.float32)}
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"]),
        helper.make_node("MaxPool", ["r"], ["m"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("GlobalAveragePool", ["m"], ["g"]),
        helper.make_node("Flatten", ["g"], ["f"]),
        helper.make_node("MatMul", ["f", "d"], ["s"]),
        helper.make_node("Softmax", ["s"], ["y"], axis=1),
        helper.make_node("Sigmoid", ["s"], ["z"]),
    ]
    return model(nodes, {"x": ["N", 2, 6, 6]}, ["y", "z", "m"], weights)


def onnxruntime_results(source: onnx.ModelProto, feeds: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    session = onnxruntime.InferenceSession(source.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, dict(feeds)), strict=True))


# ---- Files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [DIGITS.read_bytes()[:3000], DIGITS.read_bytes()[:-1], b"", b"PNG\r\n" * 50])
def test_files_that_are_no_whole_model(command, tmp_path: Path, content: bytes):
    """The artefact of an earlier, successful compilation stays as it was."""
    path, artefact = tmp_path / "model.onnx", tmp_path / "model.tw"
    path.write_bytes(content)
    artefact.write_bytes(b"from before")
    status, lines = command("compile", path, "-o", artefact)
    assert (status, len(lines)) == (1, 1)
    assert lines[0].startswith(f"tilework: error: {path} is not an ONNX model, or was cut short")
    assert artefact.read_bytes() == b"from before" and sorted(tmp_path.iterdir()) == [path, artefact]


def test_a_file_that_is_not_there(command, tmp_path: Path):
    path = tmp_path / "nothing.onnx"
    assert command("run", path) == (1, [f"tilework: error: cannot read {path}: No such file or directory"])


@pytest.mark.parametrize("source", [3, None, ["model.onnx"]])
def test_what_is_no_model_at_all(source: Any):
    with pytest.raises(tw.UsageError, match=f"a model is a path, .*; this is of type {type(source).__name__}"):
        tw.compile(source)


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("gone.bin", "the elements of 'w' are missing: there is no file {folder}/gone.bin"),
        ("../w.bin", "the elements of 'w' lie in '../w.bin', outside the model's folder {folder}"),
        ("/etc/passwd", "the elements of 'w' lie in '/etc/passwd', outside the model's folder {folder}"),
    ],
)
def test_external_data_that_cannot_be_read(command, tmp_path: Path, location: str, message: str):
    made = model([helper.make_node("Add", ["x", "w"], ["y"])], {"x": [4]})
    tensor = onnx.TensorProto(name="w", data_type=FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
    tensor.external_data.add(key="location", value=location)
    made.graph.initializer.append(tensor)
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "w.bin").write_bytes(bytes(16))
    (folder / "model.onnx").write_bytes(made.SerializeToString())
    status, lines = command("run", folder / "model.onnx", "--random", "0")
    assert (status, lines) == (1, [f"tilework: error: {message.format(folder=folder)}"])


# ---- Graphs ----------------------------------------------------------------------------------------------------------


def test_all_unsupported_operators_at_once(command, tmp_path: Path):
    nodes = [
        helper.make_node("RandomNormalLike", ["x"], ["a"], name="first"),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("RandomUniformLike", ["b"], ["y"], name="second"),
    ]
    onnx.save(model(nodes, {"x": ["N", 3, 3]}), tmp_path / "model.onnx")
    assert command("compile", tmp_path / "model.onnx") == (
        1,
        [
            "tilework: error: 2 node(s) use an operator that Tilework does not support (opset 13):",
            "  RandomNormalLike 'first' of (Nx3x3xf32)",
            "  RandomUniformLike 'second' of (?)",
        ],
    )


def test_contradictory_shapes():
    made = model([helper.make_node("Add", ["x", "z"], ["y"], name="sum")], {"x": [2, 3], "z": [2, 4]})
    with pytest.raises(tw.TileworkError, match=r"Add 'sum': shapes \[2, 3\] and \[2, 4\] do not broadcast: 3 is not 4"):
        tw.compile(made)


def test_unknown_target():
    with pytest.raises(tw.UsageError, match="unknown target 'fpga'"):
        tw.compile(DIGITS, target="fpga")


@pytest.mark.parametrize("node", [("Conv", {}), ("MaxPool", {"kernel_shape": [3, 3]})])
def test_windows_that_do_not_fit_into_the_image_of_one_call(node):
    """The image has a size that only a call tells; it is refused also where what follows would hide it."""
    kind, attributes = node
    made = model(
        [
            helper.make_node(kind, ["x", "w"] if kind == "Conv" else ["x"], ["c"], **attributes),
            helper.make_node("GlobalAveragePool", ["c"], ["y"]),
        ],
        {"x": [1, 4, "H", "W"]},
        weights={"w": np.ones((4, 4, 3, 3), np.float32)},
    )
    compiled = tw.compile(made)
    assert compiled(np.ones((1, 4, 3, 5), np.float32)).shape == (1, 4, 1, 1)
    for height, width, dim in ((2, 5, "H"), (5, 1, "W"), (0, 0, "H")):
        with pytest.raises(tw.UsageError) as caught:
            compiled(np.ones((1, 4, height, width), np.float32))
        label, axis, size = {"Conv": "conv", "MaxPool": "max_pool"}[kind], *((2, height) if dim == "H" else (3, width))
        assert str(caught.value) == (
            f"the windows of {label} '{kind}_0' do not fit into the image: dimension {axis} of its result would be "
            f"{dim} - 2 ({dim} = {size} is dimension {axis} of input 'x')"
        )


def test_a_table_that_is_empty_in_one_call():
    made = model([helper.make_node("Gather", ["x", "i"], ["y"])], {"x": ["N", 2]}, weights={"i": np.array([[-1, 0]])})
    compiled = tw.compile(made)
    assert compiled(np.array([[1, 2], [3, 4]], np.float32)).tolist() == [[[3, 4], [1, 2]]]
    with pytest.raises(tw.UsageError) as caught:
        compiled(np.ones((0, 2), np.float32))
    why = "gather 'Gather_0' has nothing to take elements of: dimension 0 of its input is N"
    assert str(caught.value) == f"{why} (N = 0 is dimension 0 of input 'x')"


def test_an_image_too_short_to_be_mirrored_in_one_call():
    pads = {"p": np.array([0, 2, 0, 1])}
    made = model([helper.make_node("Pad", ["x", "p"], ["y"], mode="reflect")], {"x": [1, "W"]}, weights=pads)
    compiled = tw.compile(made)
    assert compiled(np.array([[1, 2, 3]], np.float32)).tolist() == [[3, 2, 1, 2, 3, 2]]
    with pytest.raises(tw.UsageError) as caught:
        compiled(np.ones((1, 2), np.float32))
    why = "axis 1 of the input of extend 'Pad_0', of size W, is too short: reflect takes 3 elements"
    assert str(caught.value) == f"{why} (W = 2 is dimension 1 of input 'x')"


def test_unknown_precision():
    with pytest.raises(
        tw.UsageError, match="^unknown precision 'strit': it is one of default, strict, direct; did you mean 'strict'"
    ):
        tw.compile(DIGITS, precision="strit")


# ---- Inputs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({}, "'images' is missing: the module takes 1 input (images: float32 (N, 1, 8, 8))"),
        (
            {"image": np.zeros((2, 1, 8, 8), np.float32)},
            "'images' is missing, 'image' is unknown: the module takes 1 input (images: float32 (N, 1, 8, 8))",
        ),
        (
            {"images": np.zeros((2, 1, 8, 8))},
            "input 'images' is float64, the module takes float32: convert with images.astype(np.float32)",
        ),
        (
            {"images": np.zeros((2, 8, 8), np.float32)},
            "input 'images' has 3 dimensions, (2, 8, 8): the module takes 4, (N, 1, 8, 8)",
        ),
        (
            {"images": np.zeros((2, 3, 8, 8), np.float32)},
            "input 'images' has shape (2, 3, 8, 8), the module takes (N, 1, 8, 8): dimension 1 must be 1",
        ),
        ({"images": "7.png"}, "input 'images' is a str: pass a numpy array or a DLPack tensor"),
    ],
)
def test_wrong_inputs(digits: tw.Module, inputs: dict[str, Any], message: str):
    """And the module goes on working."""
    with pytest.raises(tw.UsageError) as caught:
        digits.run(inputs)
    assert str(caught.value) == message
    assert digits(np.zeros((2, 1, 8, 8), np.float32)).shape == (2, 10)


def test_symbols_that_contradict(cache: KernelCache):
    compiled = tw.compile(
        model([helper.make_node("Add", ["a", "b"], ["y"])], {"a": ["N", 2], "b": ["N", 2]}), cache=cache
    )
    with pytest.raises(tw.UsageError, match="dimension 0 of input 'b' is 4, but N is 3: N = 3 is dimension 0 of input"):
        compiled(np.zeros((3, 2), np.float32), np.zeros((4, 2), np.float32))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_no_numbers_propagate(cache: KernelCache, value: float):
    """They stand in all elements, then in one of them."""
    made = small_network()
    compiled = tw.compile(made, cache=cache)
    everywhere = np.full((2, 2, 6, 6), value, np.float32)
    once = np.random.default_rng(1).standard_normal((5, 2, 6, 6), np.float32)
    once[3, 1, 2, 2] = value
    for x in (everywhere, once):
        got, wanted = compiled.run({"x": x}), onnxruntime_results(made, {"x": x})
        for name, array in wanted.items():
            np.testing.assert_allclose(got[name], array, rtol=1e-4, atol=1e-5, err_msg=name)


def test_a_batch_of_nothing(cache: KernelCache):
    """Sizes of zero, where the batch is symbolic; the maximum over pixels of no image is no number at all."""
    compiled = tw.compile(small_network(), cache=cache)
    shapes = {name: array.shape for name, array in compiled.run({"x": np.zeros((0, 2, 6, 6), np.float32)}).items()}
    assert shapes == {"y": (0, 3), "z": (0, 3), "m": (0, 4, 3, 3)}


def test_a_sum_over_nothing_is_zero(cache: KernelCache):
    made = model([helper.make_node("ReduceSum", ["x"], ["y"], keepdims=0)], {"x": ["N", 3]})
    compiled = tw.compile(made, cache=cache)
    assert compiled(np.zeros((0, 3), np.float32)) == 0
    assert compiled(np.ones((5, 3), np.float32)) == 15


@pytest.mark.parametrize(
    ("node", "weights"),
    [
        (helper.make_node("ReduceMean", ["x"], ["y"], keepdims=0), {}),
        (helper.make_node("Size", ["x"], ["y"]), {}),
        (helper.make_node("Relu", ["w"], ["y"]), {"w": np.array(3, np.float32)}),
        (helper.make_node("Constant", [], ["y"], value_float=2.0), {}),
        (helper.make_node("Add", ["x", "w"], ["y"]), {"w": np.zeros((2, 0, 1), np.float32)}),
        (helper.make_node("PRelu", ["x", "w"], ["y"]), {"w": np.zeros((2, 0, 1), np.float32)}),
    ],
    ids=lambda value: getattr(value, "op_type", ""),
)
def test_no_axes_and_no_elements(node: onnx.NodeProto, weights: dict[str, np.ndarray], cache: KernelCache):
    """Tensors of rank 0 and empty ones, constant or not."""
    made = model([node], {"x": [2, 1, 4]}, weights=weights)
    feeds = {"x": np.random.default_rng(0).standard_normal((2, 1, 4), np.float32)}
    wanted, got = onnxruntime_results(made, feeds)["y"], tw.compile(made, cache=cache).run(feeds)["y"]
    assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_more_memory_than_there_is(cache: KernelCache):
    made = model([helper.make_node("Expand", ["x", "s"], ["y"])], {"x": [1]}, weights={"s": np.array([10**6, 10**7])})
    compiled = tw.compile(made, cache=cache)
    with pytest.raises(tw.TileworkError, match=r"^there is no memory for an array of 40000000000000 bytes, float32 \("):
        compiled(np.zeros(1, np.float32))


@pytest.mark.parametrize("target", [b"llvm", 3])
def test_a_target_that_is_no_text(target: Any):
    with pytest.raises(tw.UsageError, match='^a target is a text such as "llvm", not a value of type'):
        tw.compile(DIGITS, target=target)


@pytest.mark.parametrize("path", [None, 3, b"bytes"])
def test_an_artefact_that_is_no_path(path: Any):
    with pytest.raises(tw.UsageError, match="^an artefact is loaded from a path or an open file, not a value of type"):
        tw.load(path)


@pytest.mark.parametrize(
    "argument, value, message",
    [
        ("processes", 0, "processes=0: the number of processes is a positive integer"),
        ("processes", 1.5, "processes=1.5: the number of processes is a positive integer"),
        ("cache", "folder", "cache= takes a KernelCache of a folder, not a str"),
        ("cache", False, "cache= takes a KernelCache of a folder, not a bool"),
        ("instrumentations", None, "instrumentations= takes a list, not a NoneType"),
        (
            "instrumentations",
            [print],
            "instrumentations= takes a list of Instrumentations, not of a builtin_function_or_meth",
        ),
        ("progress", 3, "progress= takes a function of a text and two numbers, not a int"),
        ("progress", lambda: None, "progress= takes a function of a text and two numbers, not a function"),
        ("precision", ["strict"], r"unknown precision '\['strict'\]': it is one of default, strict, direct"),
        ("parameters", 3, "parameters= belongs to a graph module; an ONNX model brings its own"),
    ],
)
def test_wrong_options_of_compile(argument: str, value: Any, message: str):
    with pytest.raises(tw.UsageError, match=f"^{message}"):
        tw.compile(DIGITS, **{argument: value})


def test_numbers_of_numpy_are_numbers(cache: KernelCache, digits: tw.Module):
    module = tw.compile(DIGITS, cache=cache, processes=np.int64(1))
    x = np.zeros((1, 1, 8, 8), np.float32)
    assert np.array_equal(module(x), digits(x))


@pytest.mark.parametrize("path", [None, 3, b"bytes"])
def test_a_place_for_an_artefact_that_is_no_path(path: Any, digits: tw.Module):
    with pytest.raises(tw.UsageError, match="^an artefact is saved to a path or an open file, not a value of type"):
        digits.save(path)


# ---- Depth -----------------------------------------------------------------------------------------------------------


def chain(length: int, operators: Sequence[str]) -> onnx.ModelProto:
    """x -> operator -> operator -> ... -> y; of two operands, the second is b."""
    names = ["x", *(f"v{i}" for i in range(length - 1)), "y"]
    nodes = [
        helper.make_node(kind, [names[i], "b"] if kind in ("Add", "Sub") else [names[i]], [names[i + 1]])
        for i, kind in zip(range(length), operators * length, strict=False)
    ]
    return model(nodes, {"x": ["N", 16], "b": [16]})


@pytest.mark.parametrize(
    "operators",
    [
        pytest.param(["Relu"], id="fused"),
        pytest.param(["Add", "Softmax"], id="apart", marks=pytest.mark.slow),
    ],
)
def test_20_000_operators_in_a_row(operators: list[str], cache: KernelCache):
    """No recursion breaks, nothing takes quadratic time: groups of operators, or 20 000 calls."""
    compiled = tw.compile(chain(20_000, operators), cache=cache)
    short = chain(20, operators)  # softmax(softmax(...)) has long converged by then
    x, b = np.random.default_rng(0).standard_normal((3, 16), np.float32), np.zeros(16, np.float32)
    (wanted,) = onnxruntime_results(short, {"x": x, "b": b}).values()
    np.testing.assert_allclose(compiled(x, b), wanted, rtol=1e-5)


# ---- The cache's folder ----------------------------------------------------------------------------------------------


def test_a_cache_that_cannot_be_written(tmp_path: Path, digits: tw.Module, caplog: pytest.LogCaptureFixture):
    """One warning, and the result is right."""
    (tmp_path / "file").write_text("not a folder")
    unwritable = KernelCache(tmp_path / "file" / "cache")
    with caplog.at_level(logging.WARNING):
        compiled = tw.compile(DIGITS, cache=unwritable)
    assert [record.getMessage() for record in caplog.records] == [
        f"tilework: the kernel cache {unwritable.folder} cannot be written (Not a directory): going on without"
    ]
    x = np.random.default_rng(0).random((4, 1, 8, 8), np.float32)
    assert np.array_equal(compiled(x), digits(x))


def test_names_of_any_length():
    """Inputs, outputs, nodes, weights and sizes have long names; two of them differ at the end only."""
    long = "n" * 10_000
    nodes = [
        helper.make_node("Add", [f"{long}x", f"{long}w"], [f"{long}s"], name=f"{long}1"),
        helper.make_node("Exp", [f"{long}s"], [f"{long}y"], name=f"{long}2"),
    ]
    made = model(nodes, {f"{long}x": [f"{long}a", f"{long}b", 1]}, [f"{long}y"], {f"{long}w": np.ones(3, np.float32)})
    x = np.array([[[1], [2]]], np.float32)
    np.testing.assert_allclose(tw.compile(made)(x), np.exp(x + np.ones(3, np.float32)), rtol=1e-6)
