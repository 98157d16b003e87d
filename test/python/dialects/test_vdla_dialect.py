"""What functions over VDLA's units compute: in numpy, one operation after the other, with tokens from queues."""

from __future__ import annotations

import numpy as np
import pytest
from places import ROOT
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp

from tilework.algebra.errors import UsageError
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.interpreters.units import run_units
from tilework.runtime.devices.vdla.assembly import parse_stream
from tilework.runtime.devices.vdla.simulator import simulate
from tilework.targets.vdla.machines import PAPER

SHOWN = ROOT / "test" / "dialects" / "vdla" / "ops.mlir"
DRAW = np.random.default_rng(46)


def function_of(text: str, name: str = "f") -> func.FuncOp:
    module = SourceParser(make_context(), text, "<test>").parse_module()
    assert isinstance(module, ModuleOp)
    module.verify()
    return next(op for op in module.ops if isinstance(op, func.FuncOp) and op.sym_name.data == name)


def test_two_buffers_in_a_loop():
    """The function that shows the operations: four rounds, in each of which two micro-operations use a padded load."""
    x, w = (DRAW.integers(-128, 128, shape, np.int8) for shape in ((64, 1, 16), (64, 16, 16)))
    y = np.zeros((8, 1, 16), np.int8)
    run_units(function_of(SHOWN.read_text(encoding="utf-8"), "two_buffers"), [x, w, y, 4])
    sums = np.zeros((2, 16), np.int64)
    for i in range(4):
        zero = np.zeros(16, np.int64)
        rows = [[zero, *x[8 * i + 4 * row : 8 * i + 4 * row + 3, 0]] for row in range(2)]
        for result in range(2):
            sums[result] += sum(w[4 * result + k].astype(np.int64) @ rows[result][k] for k in range(4))
    sums = np.maximum(sums, -3)
    np.testing.assert_array_equal(y[4, 0], (sums[0] + sums[1]).astype(np.int8))
    assert not y[:4].any() and not y[5:].any()


OPERATIONS = """
func.func @f(%x: memref<20x1x16xi8>, %w: memref<20x16x16xi8>, %a: memref<8x1x16xi32>, %y: memref<20x1x16xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %inp = memref.alloca() : memref<12x1x16xi8, "vdla.inp">
  %wgt = memref.alloca() : memref<9x16x16xi8, "vdla.wgt">
  %acc = memref.alloca() : memref<8x1x16xi32, "vdla.acc">
  vdla.load %a[%c0] to %acc[%c0] size [1, 8] stride 8 : memref<8x1x16xi32> to memref<8x1x16xi32, "vdla.acc">
  vdla.load %x[%c1] to %inp[%c0] size [2, 2] stride 5 pad [1, 0, 0, 1] :
      memref<20x1x16xi8> to memref<12x1x16xi8, "vdla.inp">
  %l = vdla.load %w[%c2] to %wgt[%c1] size [2, 4] stride 6 :
      memref<20x16x16xi8> to memref<9x16x16xi8, "vdla.wgt"> -> !vdla.token<"load", "compute">
  vdla.reset %acc[%c1] ops [0, 2] inner [2, 1] wait(%l : !vdla.token<"load", "compute">) :
      memref<8x1x16xi32, "vdla.acc">
  vdla.gemm %acc[%c0], %inp[%c1], %wgt[%c1] ops [0, 0, 0, 2, 1, 1] outer [2, 1, 3, 4] inner [2, 0, 1, 2] :
      memref<8x1x16xi32, "vdla.acc">, memref<12x1x16xi8, "vdla.inp">, memref<9x16x16xi8, "vdla.wgt">
  vdla.alu "mul" %acc[%c2] with %acc[%c0] outer [3, 1, 2] :
      memref<8x1x16xi32, "vdla.acc"> with memref<8x1x16xi32, "vdla.acc">
  vdla.alu "shr" %acc[%c0] imm -3 inner [2, 3, 0] : memref<8x1x16xi32, "vdla.acc">
  vdla.alu "min" %acc[%c1] with %acc[%c1] ops [0, 1, 1, 2] :
      memref<8x1x16xi32, "vdla.acc"> with memref<8x1x16xi32, "vdla.acc">
  %c = vdla.alu "shr" %acc[%c0] imm 9 inner [8, 1, 0] :
      memref<8x1x16xi32, "vdla.acc"> -> !vdla.token<"compute", "store">
  vdla.store %acc[%c0] to %y[%c1] size [2, 4] stride 9 wait(%c : !vdla.token<"compute", "store">) :
      memref<8x1x16xi32, "vdla.acc"> to memref<20x1x16xi8>
  func.return
}
"""

ASSEMBLY = """
uop dst=1
uop dst=3
uop dst=0 src=1 wgt=1
uop dst=2 src=2 wgt=2
uop dst=2 src=0
uop dst=0 src=0
uop dst=1 src=2
uop dst=2 src=3
load.uop rows=1 columns=8
load.acc dram=0 rows=1 columns=8 stride=8
load.inp dram=33 rows=2 columns=2 stride=5 pad=1,0,0,1
load.wgt sram=1 dram=6 rows=2 columns=4 stride=6 push=load->compute
gemm.reset uops=0:2 inner=2:dst+1,src+0,wgt+0 pop=load->compute
gemm uops=2:4 outer=2:dst+1,src+3,wgt+4 inner=2:dst+0,src+1,wgt+2
alu.mul uops=4:5 outer=3:dst+1,src+2,wgt+0
alu.shr uops=5:6 inner=2:dst+3,src+0,wgt+0 imm=-3
alu.min uops=6:8
alu.shr uops=5:6 inner=8:dst+1,src+0,wgt+0 imm=9 push=compute->store
store dram=401 rows=2 columns=4 stride=9 pop=compute->store push=store->compute
finish pop=store->compute
"""
"""The same operations on the machine, with their operands behind each other in DRAM: accumulators, inputs, weights."""


def test_operations_mean_what_instructions_do():
    x, w = (DRAW.integers(-128, 128, shape, np.int8) for shape in ((20, 1, 16), (20, 16, 16)))
    a = DRAW.integers(-(1 << 20), 1 << 20, (8, 1, 16), np.int32)
    y = np.zeros((20, 1, 16), np.int8)
    run_units(function_of(OPERATIONS), [x, w, a, y])
    dram = np.zeros(400 * 16 + y.nbytes, np.uint8)
    for at, array in ((0, a), (32 * 16, x), (4 * 256, w)):
        dram[at : at + array.nbytes] = array.view(np.uint8).ravel()
    simulate(parse_stream(ASSEMBLY), dram, PAPER)
    np.testing.assert_array_equal(y.view(np.uint8).ravel(), dram[400 * 16 :])
    assert y[1:5].any() and y[10:14].any()


TOKEN = '!vdla.token<"load", "compute">'


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            f"""%s = vdla.nop "load" -> {TOKEN}
            %t = vdla.nop "load" -> {TOKEN}
            vdla.nop "compute" wait(%t : {TOKEN})
            vdla.nop "compute" wait(%s : {TOKEN})""",
            "a token of load->compute is taken before one that was pushed earlier",
        ),
        (
            f"""%t = vdla.nop "load" -> {TOKEN}
            scf.for %j = %c0 to %c2 step %c1 {{
              vdla.nop "compute" wait(%t : {TOKEN})
            }}""",
            "a token of load->compute is taken once more: the queue gives another one",
        ),
        (
            """vdla.load %x[%c0] to %inp[%c0] size [1, 9] stride 1 : memref<8x1x16xi8> to
            memref<8x1x16xi8, "vdla.inp">""",
            "vdla.load out of bounds: tile 8 of a memory that has 8",
        ),
        (
            """vdla.load %x[%c0] to %inp[%c1] size [1, 8] stride 1 : memref<8x1x16xi8> to
            memref<8x1x16xi8, "vdla.inp">""",
            "vdla.load out of bounds: tile 8 of a memory that has 8",
        ),
        (
            """vdla.store %acc[%c0] to %x[%minus] size [1, 1] stride 1 : memref<4x1x16xi32, "vdla.acc"> to
            memref<8x1x16xi8>""",
            "vdla.store out of bounds: tile -1 of a memory that has 8",
        ),
        (
            """vdla.store %acc[%c2] to %x[%c0] size [1, 3] stride 1 : memref<4x1x16xi32, "vdla.acc"> to
            memref<8x1x16xi8>""",
            "vdla.store out of bounds: tile 4 of a memory that has 4",
        ),
        (
            """vdla.reset %acc[%c0] inner [5, 1] : memref<4x1x16xi32, "vdla.acc">""",
            "vdla.reset out of bounds: tile 4 of a memory that has 4",
        ),
        (
            """vdla.alu "add" %acc[%c0] with %acc[%c0] inner [2, 0, 7] : memref<4x1x16xi32, "vdla.acc"> with
            memref<4x1x16xi32, "vdla.acc">""",
            "vdla.alu out of bounds: tile 7 of a memory that has 4",
        ),
    ],
)
def test_what_no_machine_does_is_refused(body: str, message: str):
    text = f"""
    func.func @f(%x: memref<8x1x16xi8>) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %minus = arith.constant -1 : index
      %inp = memref.alloca() : memref<8x1x16xi8, "vdla.inp">
      %acc = memref.alloc() : memref<4x1x16xi32, "vdla.acc">
      {body}
      func.return
    }}"""
    with pytest.raises(CompileError) as error:
        run_units(function_of(text), [np.zeros((8, 1, 16), np.int8)])
    assert error.value.message == message and error.value.op is not None


def test_memory_of_open_sizes():
    """It is as large as an argument says; what nothing has written holds the least numbers."""
    body = """
    func.func @f(%y: memref<4x1x16xi8>, %i: index) {
      %c0 = arith.constant 0 : index
      %acc = memref.alloca(%i) : memref<?x1x16xi32, "vdla.acc">
      vdla.alu "shr" %acc[%c0] imm 31 inner [3, 1, 0] : memref<?x1x16xi32, "vdla.acc">
      vdla.store %acc[%c0] to %y[%c0] size [1, 3] stride 3 : memref<?x1x16xi32, "vdla.acc"> to memref<4x1x16xi8>
      func.return
    }"""
    y = np.zeros((4, 1, 16), np.int8)
    run_units(function_of(body), [y, 3])
    assert (y[:3] == -1).all() and not y[3:].any()


def test_other_operations_have_no_meaning_there():
    with pytest.raises(CompileError, match="the interpreters give no meaning to 'memref.dealloc'"):
        run_units(
            function_of("func.func @f(%m: memref<4xi8>) {\n memref.dealloc %m : memref<4xi8>\n func.return\n}"), [0]
        )


def test_arguments_are_counted():
    with pytest.raises(UsageError, match="@f takes 0 arguments, 1 are given"):
        run_units(function_of("func.func @f() {\n func.return\n}"), [1])
