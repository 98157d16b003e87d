"""Locations survive rewriting, and diagnostics find a place, a name and a line of source for an operation."""

from __future__ import annotations

import pytest
from xdsl.dialects import test as test_dialect
from xdsl.dialects.builtin import (
    CallSiteLoc,
    FusedLoc,
    LocationAttr,
    ModuleOp,
    NameLoc,
    NoneAttr,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Block, Region

from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.locations import (
    SourcePosition,
    copy_location,
    file_location,
    source_name,
    source_position,
)
from tilework.tools.diagnostics_printer import diagnostics_of, format_diagnostics

PLACE = SourcePosition("a.mlir", 2, 5)
OTHER = SourcePosition("b.mlir", 1, 1)
NAMED = NameLoc(StringAttr("conv_1"), file_location(PLACE))


@pytest.mark.parametrize(
    ("location", "position", "name"),
    [
        (UnknownLoc(), None, None),
        (file_location(PLACE), PLACE, None),
        (NAMED, PLACE, "conv_1"),
        (NameLoc(StringAttr("relu"), NoneAttr()), None, "relu"),
        (CallSiteLoc(NAMED, file_location(OTHER)), PLACE, "conv_1"),
        (CallSiteLoc(UnknownLoc(), file_location(OTHER)), OTHER, None),
        (FusedLoc((UnknownLoc(), NAMED, file_location(OTHER)), NoneAttr()), PLACE, "conv_1"),
        (FusedLoc((file_location(OTHER), NAMED), NoneAttr()), OTHER, "conv_1"),
    ],
)
def test_place_and_name_of_a_location(location: LocationAttr, position: SourcePosition | None, name: str | None):
    assert (source_position(location), source_name(location)) == (position, name)


def test_copied_location_fills_what_has_none():
    old, new, inner, known = (test_dialect.TestOp() for _ in range(4))
    old.location = NAMED
    known.location = file_location(OTHER)
    new.add_region(Region(Block([inner, known])))
    copy_location(new, old)
    assert [op.location for op in (new, inner, known)] == [NAMED, NAMED, file_location(OTHER)]
    several = [test_dialect.TestOp(), test_dialect.TestOp()]
    copy_location(several, old)
    assert [op.location for op in several] == [NAMED, NAMED]


def test_diagnostic_shows_place_name_line_caret_and_notes():
    op = test_dialect.TestOp()
    op.location = NAMED
    text = format_diagnostics(
        diagnostics_of(CompileError("does not fit", op, (("declared here", op), ("while running pass 'x'", None)))),
        {"a.mlir": "first\n\t   second"},
    )
    assert text.splitlines() == [
        'a.mlir:2:5: error: does not fit (from "conv_1")',
        "\t   second",
        "\t   ^",
        'a.mlir:2:5: note: see current operation: "test.op"() : () -> ()',
        'a.mlir:2:5: note: declared here (from "conv_1")',
        "\t   second",
        "\t   ^",
        "note: while running pass 'x'",
    ]


def test_operation_without_a_location_is_placed_by_what_is_around_it():
    op = test_dialect.TestOp()
    module = ModuleOp([op])
    module.location = file_location(PLACE)
    (diagnostic,) = diagnostics_of(CompileError("no", op))
    assert diagnostic.position == PLACE


def test_place_beyond_the_text_shows_no_line():
    op = test_dialect.TestOp()
    op.location = file_location(SourcePosition("a.mlir", 9, 1))
    text = format_diagnostics(diagnostics_of(CompileError("no", op)), {"a.mlir": "one line"})
    assert text.splitlines()[1].startswith("a.mlir:9:1: note: see current operation")
