"""`tilework bench --compile` and `--bit-serial`, which measure no model. No time is asserted."""

import json

import numpy as np
import pytest
from xdsl.ir import Operation
from xdsl.passes import ModulePass

import tilework as tw
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.driver.instrumentation import Instrumentation
from tilework.lowering.graph_to_te import GraphToTe
from tilework.tools.bench.bit_serial import WithoutIntrinsic, bit_serial_program
from tilework.tools.bench.operators import parse_operator
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


@pytest.mark.parametrize("arguments", [[], ["--compile", "light:mlp"], ["--compile", "--bit-serial"]])
def test_models_or_the_compiler(arguments, capsys):
    assert main(["bench", *arguments]) == 2
    said = "bench takes models, or --compile and no model, or --bit-serial and no model"
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
