"""What is wrong with a plugin is told in one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT
from plugin_packages import forgotten, make_plugin  # noqa: F401

PASS = """
from dataclasses import dataclass
from xdsl.context import Context
from xdsl.ir import Operation
from tilework.transforms.base import TileworkPass

@dataclass(frozen=True)
class Nothing(TileworkPass):
    name = "NAME"
    def run(self, ctx: Context, op: Operation) -> None: ...
"""
PASS_OF_ANOTHER_NAME = """
class Nothing:
    name = "loop-more"
"""
RELU = """
from xdsl.irdl import irdl_op_definition
from tilework.dialects.graph.elementwise import UnaryOp

@irdl_op_definition
class OtherReluOp(UnaryOp):
    name = "graph.relu"
    def scalar(self, k, x): ...
    def evaluate(self, *inputs): ...
"""
BACK_END = """
from tilework.backends.llvm.backend import LLVMBackend

class Other(LLVMBackend):
    kind = "llvm"
"""
CONVERTER = """
from tilework.frontends.onnx.node import converter

@converter("Relu")
def relu(node): ...
"""


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        (
            "transforms/loop/simplify.py",
            PASS.replace("NAME", "loop-simplify"),
            "there are two passes called 'loop-simplify', in taker.transforms.loop.simplify and in "
            "tilework.transforms.loop.simplify: rename one",
        ),
        (
            "dialects/graph/more.py",
            RELU,
            "there are two operations called 'graph.relu', in tilework.dialects.graph.elementwise and in "
            "taker.dialects.graph.more: rename one",
        ),
        (
            "dialects/loop.py",
            'Dialect("loop", [])',
            "there are two dialects called 'loop', in taker.dialects.loop and in tilework.dialects.loop: rename one",
        ),
        (
            "backends/other/backend.py",
            BACK_END,
            "there are two back ends called 'llvm', in tilework.backends.llvm.backend and in "
            "taker.backends.other.backend: rename one",
        ),
        (
            "targets/other/parse.py",
            'KINDS = ("llvm",)',
            "there are two kinds of targets called 'llvm', in tilework.targets.cpu.parse and in "
            "taker.targets.other.parse: rename one",
        ),
        (
            "frontends/onnx/convert_more.py",
            CONVERTER,
            "there are two converters for Relu, in tilework.frontends.onnx.convert_elementwise and in "
            "taker.frontends.onnx.convert_more",
        ),
        (
            "dialects/graph/more.py",
            "1 / 0",
            "plugin module taker.dialects.graph.more cannot be imported: ZeroDivisionError: division by zero",
        ),
        ("rules/cpu/more.py", "1 / 0", "plugin module taker.rules.cpu.more cannot be imported: ZeroDivisionError"),
        (
            "transforms/loop/more.py",
            PASS_OF_ANOTHER_NAME,
            "taker.transforms.loop.more must hold one TileworkPass named",
        ),
        (
            "transforms/loop/more.py",
            PASS.replace("NAME", "loop-mroe").replace("class Nothing", "class More"),
            "taker.transforms.loop.more holds a pass More named 'loop-mroe': file, class and name must agree; a pass "
            "of this file is named 'loop-more' or 'more'",
        ),
        (
            "transforms/loop/more.py",
            PASS.replace("NAME", "loop-more").replace("class Nothing", "class Mroe"),
            "taker.transforms.loop.more holds the pass 'loop-more' in a class Mroe: file, class and name must agree; "
            "call the class More",
        ),
        (
            "dialects/isa/mine.mlir",
            "te.intrinsic @other.twice(%x: f32) -> f32 { te.yield %x : f32 }",
            "mine.mlir: @other.twice belongs into other.mlir, by its name",
        ),
        (
            "dialects/isa/dot4.mlir",
            "te.intrinsic @dot4.ui8i8(%x: f32) -> f32 { te.yield %x : f32 }",
            "there are two intrinsics called 'dot4.ui8i8', in ",
        ),
        ("dialects/isa/mine.mlir", "te.intrinsic @mine.twice(%x: f32", "mine.mlir:1:33: "),
        (
            "dialects/isa/mine.mlir",
            "func.func private @f()",
            "mine.mlir: a file of the library declares intrinsics, and holds no func.func",
        ),
        ("backends/llvm/intrinsics/mine.py", "x = 1", "taker.backends.llvm.intrinsics.mine must define 'HANDLERS'"),
        (
            "backends/llvm/intrinsics/mine.py",
            'HANDLERS = {"other.twice": None}',
            "taker.backends.llvm.intrinsics.mine writes @other.twice, which belongs into 'other.py'",
        ),
        ("backends/more/backend.py", "x = 1", "taker.backends.more.backend must hold one Backend, it holds 0"),
        ("targets/more/parse.py", "x = 1", "taker.targets.more.parse must define 'KINDS'"),
    ],
)
def test_what_is_wrong_in_a_folder(file: str, text: str, message: str, tmp_path: Path):
    plugin = make_plugin(tmp_path / "taker", {file: text})
    model = str(ROOT / "examples" / "digits" / "digits.onnx")
    command = [sys.executable, "-m", "tilework.tools.cli", "compile", "--load-plugin", str(plugin), model]
    # whether the library of intrinsics is looked at depends on the target
    command += ["--target", "llvm -mcpu=sapphirerapids", "-o", str(tmp_path / "x.tw")]
    if "transforms" in file:
        command[2:] = ["tilework.tools.opt_tool", "--load-plugin", str(plugin), "--list-passes"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and message in done.stderr and "Traceback" not in done.stderr, done.stderr
