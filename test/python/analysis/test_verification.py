"""A verifier that checks the same IR again and again finds whatever has been broken since."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, UnitAttr, f64, i64
from xdsl.ir import Operation
from xdsl.rewriter import Rewriter

from tilework.analysis.verification import Verifier
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser

TEXT = """
te.kernel @k(%x: tensor<8x4xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [i: 8] reduce [j: 4] : tensor<8xf32> {
    %v = te.read %x[i, j] : tensor<8x4xf32>
    %w = arith.mulf %v, %v : f32
    te.reduce add %w : f32
  }
  te.return %y : tensor<8xf32>
}
func.func @f(%a: f32) -> f32 {
  %b = arith.addf %a, %a : f32
  %c = arith.mulf %b, %a : f32
  func.return %c : f32
}
"""


def find(module: ModuleOp, name: str) -> Operation:
    return next(op for op in module.walk() if op.name == name)


def other_type_of_a_result(module: ModuleOp) -> None:
    add = find(module, "arith.addf")
    Rewriter.replace_value_with_new_type(add.results[0], f64)


def other_operand(module: ModuleOp) -> None:
    multiply = find(module, "te.compute").regions[0].block.ops.first
    assert multiply is not None and multiply.next_op is not None
    argument = find(module, "func.func").regions[0].block.args[0]
    multiply.next_op.operands[0] = argument


def property_of_another_kind(module: ModuleOp) -> None:
    find(module, "te.compute").properties["stage"] = IntegerAttr(1, i64)


def property_that_is_needed(module: ModuleOp) -> None:
    del find(module, "te.compute").properties["stage"]


def property_that_is_unknown(module: ModuleOp) -> None:
    find(module, "arith.mulf").properties["stage"] = UnitAttr()


def terminator_gone(module: ModuleOp) -> None:
    last = find(module, "func.return")
    last.detach()
    last.erase()


def terminator_in_the_middle(module: ModuleOp) -> None:
    block = find(module, "func.func").regions[0].block
    add = find(module, "arith.addf")
    last = block.last_op
    assert last is not None
    last.detach()
    block.insert_op_after(last, add)


def definition_behind_its_use(module: ModuleOp) -> None:
    block = find(module, "func.func").regions[0].block
    add = find(module, "arith.addf")
    add.detach()
    last = block.last_op
    assert last is not None
    block.insert_op_before(add, last)


def operation_in_another_place(module: ModuleOp) -> None:
    read = find(module, "te.read")
    read.detach()
    block = module.body.block
    assert block.first_op is not None
    block.insert_op_before(read, block.first_op)


def axis_renamed(module: ModuleOp) -> None:
    """What is wrong then is the read inside, which has not been touched."""
    compute = find(module, "te.compute")
    axes = compute.properties["axes"]
    compute.properties["axes"] = type(axes)([StringAttr("other")])  # pyright: ignore[reportCallIssue]


def symbol_taken(module: ModuleOp) -> None:
    find(module, "func.func").properties["sym_name"] = StringAttr("k")


@pytest.mark.parametrize(
    "damage",
    [
        other_type_of_a_result,
        other_operand,
        property_of_another_kind,
        property_that_is_needed,
        property_that_is_unknown,
        terminator_gone,
        terminator_in_the_middle,
        definition_behind_its_use,
        operation_in_another_place,
        axis_renamed,
        symbol_taken,
    ],
)
def test_damage_is_found_whether_or_not_the_ir_was_seen_before(damage: Callable[[ModuleOp], None]):
    said: list[str] = []
    for looks in (0, 2):
        module, verifier = SourceParser(make_context(), TEXT, "<text>").parse_module(), Verifier()
        for _ in range(looks):
            verifier.verify(module)
        damage(module)
        with pytest.raises(CompileError) as caught:
            verifier.verify(module)
        said.append(caught.value.message)
    assert said[0] == said[1]
