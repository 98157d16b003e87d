"""Programs are printed such that they can be read back, whatever their values are called."""

from __future__ import annotations

from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp, i32

from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.driver.ir_printer import PrintingOptions, ir_text


def test_a_numbered_name_is_no_other_ones_hint():
    """The hint of "a_1_0" is "a_1", which is also what the second of two values called "a" is printed as."""
    values = [test.TestOp(result_types=[i32]) for _ in range(6)]
    for op, name in zip(values, ("a", "a", "a_1_0", "a", "a_2_0", "a_1_0"), strict=True):
        op.results[0].name_hint = name
    readers = [test.TestOp(operands=[op.results[0]]) for op in values]
    text = ir_text(ModuleOp([*values, *readers]), PrintingOptions())
    again = list(SourceParser(make_context(), text, "printed").parse_module().ops)
    assert [op.operands[0].owner for op in again[6:]] == again[:6]
