"""`tilework bench --compile`, `--bit-serial` and `--family`, which measure no model. No time of ours is asserted."""

import json
from xml.etree import ElementTree

import numpy as np
import pytest
from quantized_layers import Layer
from xdsl.ir import Operation
from xdsl.passes import ModulePass

import tilework as tw
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.driver.instrumentation import Instrumentation
from tilework.lowering.graph_to_te import GraphToTe
from tilework.tools.bench.bit_serial import WithoutIntrinsic, bit_serial_program
from tilework.tools.bench.operators import parse_operator
from tilework.tools.bench.vdla.layers import measure, runs_of
from tilework.tools.cli import main


def test_table_and_file(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("tilework.tools.bench.compiling.STAGES", (1, 2))
    file = tmp_path / "out.json"
    assert main(["bench", "--compile", "--repeat", "1", "--json", str(file)]) == 0
    first, *stages = capsys.readouterr().out.splitlines()
    measured = json.loads(file.read_text())["compiling"]
    assert measured["primitives"] >= 20 and first.startswith(f"te kernel of {measured['primitives']} primitives")
    assert set(measured["kernel"]) == {"schedule", "lower", "emit"} and set(measured["stages"]) == {"1", "2"}
    assert [line.split()[:2] for line in stages] == [["1", "stages"], ["2", "stages"]]


@pytest.mark.parametrize("arguments", [[], ["--compile", "light:mlp"], ["--family=vdla", "--bit-serial"]])
def test_models_or_the_compiler(arguments, capsys):
    assert main(["bench", *arguments]) == 2
    said = "bench takes models, or no model and one of --compile, --bit-serial and --family"
    assert capsys.readouterr().err == f"tilework: error: {said}\n"


def test_products_of_bits(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("tilework.tools.bench.bit_serial.LAYERS", ("C11",))
    file = tmp_path / "out.json"
    assert main(["bench", "--bit-serial", "--repeat", "1", "--threads", "1", "--json", str(file)]) == 0
    title, head, layer, mean = capsys.readouterr().out.splitlines()
    [measured] = json.loads(file.read_text())["bit_serial"]
    assert measured["threads"] == 1 and title == "1 thread(s), us"
    assert set(measured["layers"]["C11"]) == {"floats", "bits", "products", "plain"}
    assert head.startswith("layer") and layer.startswith("C11") and mean.startswith("mean")


def test_layers_on_an_accelerator(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("tilework.tools.bench.vdla.layers.LAYERS", ("C11",))
    file, drawing = tmp_path / "out.json", tmp_path / "out.svg"
    assert main(["bench", "--family", "vdla", "--json", str(file), "--svg", str(drawing)]) == 0
    head, layer, most, paper = capsys.readouterr().out.splitlines()
    measured = json.loads(file.read_text())["layers"]
    c11 = measured["layers"]["C11"]
    assert c11["operations"] == 2 * 7 * 7 * 512 * 256
    assert c11["bytes"] == 14 * 14 * 256 + 512 * 256 + 7 * 7 * 512
    assert c11["single"]["gemm_cycles"] == c11["threads"]["gemm_cycles"] == c11["operations"] // 512
    assert c11["threads"]["cycles"] < 0.7 * c11["single"]["cycles"]
    assert head.startswith("layer") and layer.split()[:2] == ["C11", str(c11["single"]["cycles"])]
    assert most.startswith("most") and paper.split()[2:] == ["70", "%", "88", "%"]
    shapes = ElementTree.parse(drawing).getroot()
    circles = [shape for shape in shapes.iter() if shape.tag.endswith("circle")]
    assert [circle.get("class") for circle in circles] == ["single", "threads"] * 2  # the last two are the legend's


def test_virtual_threads_help_every_layer():
    """The rule's choice is faster than the best without threads; the fastest layer reaches what the paper's does."""
    measured = measure(("C3", "C8", "C12"))
    single, threads = (runs_of(measured, kind) for kind in ("single", "threads"))
    assert all(several.seconds < one.seconds for one, several in zip(single, threads, strict=True))
    assert max(run.of_peak for run in threads) > 0.88
    assert all(run.of_peak <= run.of_roofline <= 1 for run in threads)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["light:mlp", "--svg", "x.svg"], "--svg: it draws what --family measures"),
        (["--family=vdla", "--target=vdla0=vdla"], "--target: it is for models"),
        (
            ["op:C2", "--target=vdla"],
            "--target: bench measures this machine; name one that is simulated beside it, as DEVICE=TARGET",
        ),
        (
            ["op:C2", "--target=gpu=opencl"],
            "--target gpu=opencl: bench reports on what is simulated, which is vdla",
        ),
    ],
)
def test_targets_and_drawings_that_are_refused(arguments, said, capsys):
    assert main(["bench", *arguments]) == 2
    assert capsys.readouterr().err == f"tilework: error: {said}\n"


def test_a_network_on_an_accelerator(tmp_path, capsys):
    model, file = tmp_path / "layer.onnx", tmp_path / "out.json"
    model.write_bytes(Layer(dense=True, channels=64, filters=32).model().SerializeToString())
    assert main(["bench", str(model), "--target", "vdla0=vdla", "--json", str(file)]) == 0
    title, head, layer, total = capsys.readouterr().out.splitlines()
    [measured] = json.loads(file.read_text())["simulated"]
    assert title == f"{model} on vdla0, {measured['devices']['vdla0']['target']}"
    [values] = measured["devices"]["vdla0"]["layers"]
    assert values["gemm_cycles"] == 64 * 32 // 256 and values["dram_bytes"]["wgt"] == 64 * 32
    assert values["bound"] == "dependences" and set(values["units"]) == {"load", "compute", "store"}
    assert head.split()[:2] == ["layer", "kernel"]
    assert layer.split()[1:3] == ["dense", str(values["cycles"])] and total.split()[:2] == [
        "all",
        str(values["cycles"]),
    ]


def test_a_network_that_stays_on_the_host(capsys):
    assert main(["bench", "op:gemv,n=8,k=8", "--target", "vdla0=vdla"]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "  all of it stays on the host"


def test_bits_are_counted_without_the_intrinsic():
    """The kernel that the intrinsic is compared with counts them."""
    program = bit_serial_program(parse_operator("op:C11")[1], packed=True)
    module = SourceParser(make_context(), program, "<test>").parse_module()
    weights = {"w": np.random.default_rng(0).integers(0, 2, (512, 256, 1, 1)).astype(np.uint8)}
    words = np.random.default_rng(1).integers(-(2**31), 2**31, (2, 1, 8, 14, 14)).astype(np.int32)
    found: list[str] = []

    class Kernels(Instrumentation):
        def after_pass(self, pass_: ModulePass, op: Operation) -> None:
            if isinstance(pass_, GraphToTe):
                found.append(str(op))

    with_it = tw.compile(module, parameters=weights, instrumentations=[Kernels()])
    without = tw.compile(module, parameters=weights, instrumentations=[Kernels(), WithoutIntrinsic()])
    assert "@bits.dot" in found[0] and "@bits.dot" not in found[1]
    np.testing.assert_array_equal(with_it(words), without(words))
