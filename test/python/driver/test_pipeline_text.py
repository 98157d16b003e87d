"""Pipelines as text: what is read, what is printed, and the options of a pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pytest
from xdsl.passes import ModulePass

from tilework.dialects.support.diagnostics import UsageError
from tilework.driver.pass_manager import Pipeline
from tilework.driver.pass_options import make_pass, options_of, pass_text
from tilework.driver.pipeline_text import PipelineError, parse_pipeline, pipeline_text
from tilework.driver.stop_after import stop_after
from tilework.transforms.base import TileworkPass


@dataclass(frozen=True)
class Tile(TileworkPass):
    """Has an option of every type."""

    name = "loop-tile"
    sizes: tuple[int, ...]
    tail_strategy: Literal["guard", "pad"] = "guard"
    scale: float = 1.0
    unroll: bool = False
    limit: int | None = None
    label: str = ""


def plain(pass_name: str) -> type[ModulePass]:
    return dataclass(frozen=True)(type("Plain", (TileworkPass,), {"name": pass_name}))


NAMES = ("graph-fuse", "graph-to-te", "te-simplify", "cse", "te-to-schedule", "schedule-check", "schedule-to-loop")
PASSES = {"loop-tile": lambda: Tile, **{name: (lambda name=name: plain(name)) for name in NAMES}}
TILE = Tile((4, 8), "pad", 0.5, True, 3, "a b")


def test_nested_pipeline_prints_as_it_is_read():
    text = "builtin.module(cse,func.func(cse,loop-tile{sizes=4}),graph-to-te)"
    assert pipeline_text(parse_pipeline(text, PASSES)) == text


def test_bare_list_stands_in_a_module():
    assert pipeline_text(parse_pipeline(" cse , graph-to-te ", PASSES)) == "builtin.module(cse,graph-to-te)"


def test_nested_alone_stands_in_a_module():
    assert pipeline_text(parse_pipeline("func.func(cse)", PASSES)) == "builtin.module(func.func(cse))"


@pytest.mark.parametrize("text", ["", "builtin.module()", "  "])
def test_empty_pipeline(text: str):
    assert parse_pipeline(text, PASSES) == Pipeline("builtin.module", ())


def test_named_pipeline_stands_for_its_passes():
    named = {"tile-twice": (Tile((2,)), Tile((3,)))}
    pipeline = parse_pipeline("cse,tile-twice", PASSES, named)
    assert pipeline_text(pipeline) == "builtin.module(cse,loop-tile{sizes=2},loop-tile{sizes=3})"


def test_options_of_a_named_pipeline_go_to_the_passes_that_have_them():
    named = {"tile-and-merge": (PASSES["cse"]()(), Tile((2,)), Tile((3,)))}
    pipeline = parse_pipeline("tile-and-merge{limit=3}", PASSES, named)
    assert pipeline_text(pipeline) == "builtin.module(cse,loop-tile{sizes=2 limit=3},loop-tile{sizes=3 limit=3})"
    with pytest.raises(PipelineError, match="pipeline 'tile-and-merge' has no option 'lmit'.*did you mean 'limit'"):
        parse_pipeline("tile-and-merge{lmit=1}", PASSES, named)
    with pytest.raises(PipelineError, match="option 'limit' of pass 'loop-tile' must be"):
        parse_pipeline("tile-and-merge{limit=x}", PASSES, named)


def test_options_of_every_type_are_read_and_printed():
    text = 'loop-tile{sizes=4,8 tail-strategy=pad scale=0.5 unroll=true limit=3 label="a b"}'
    (read,) = parse_pipeline(text, PASSES).steps
    assert read == TILE
    assert pass_text(TILE) == text


@pytest.mark.parametrize(
    "label", ["", "plain", "a b", 'say "no"', "back\\slash", "{x=1},(y)", "two\nlines", "é", "none"]
)
def test_every_text_can_be_an_option(label: str):
    written = pass_text(Tile((1,), label=label))
    assert parse_pipeline(written, PASSES).steps == (Tile((1,), label=label),)


def test_lone_key_is_true_and_underscores_are_dashes():
    (read,) = parse_pipeline("loop-tile{sizes=1 unroll tail_strategy=guard limit=none}", PASSES).steps
    assert read == Tile((1,), unroll=True)


def test_options_are_listed_with_type_and_default():
    assert [tuple(option) for option in options_of(Tile)] == [
        ("sizes", "int values separated by commas", None),
        ("tail-strategy", "'guard' or 'pad'", "guard"),
        ("scale", "float", "1.0"),
        ("unroll", "bool", "false"),
        ("limit", "int or none", "none"),
        ("label", "str", '""'),
    ]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "pass 'loop-tile' needs its option 'sizes' (int values separated by commas)"),
        ({"size": ["1"]}, "pass 'loop-tile' has no option 'size': its options are sizes, tail-strategy, scale, unroll"),
        ({"sizes": ["1"], "limit": ["x"]}, "option 'limit' of pass 'loop-tile' must be int or none, given 'x'"),
        ({"sizes": ["1"], "limit": []}, "option 'limit' of pass 'loop-tile' must be int or none, given nothing"),
        ({"sizes": ["1"], "unroll": ["2"]}, "option 'unroll' of pass 'loop-tile' must be bool, given '2'"),
        (
            {"sizes": ["1"], "tail-strategy": ["cut"]},
            "option 'tail-strategy' of pass 'loop-tile' must be 'guard' or 'pad', given 'cut'",
        ),
    ],
)
def test_refused_options(options: dict[str, list[str]], message: str):
    with pytest.raises(UsageError) as caught:
        make_pass(Tile, options)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("text", "position", "message"),
    [
        ("csee", 0, "'csee' does not refer to a registered pass or pipeline; did you mean 'cse'?"),
        ("cse,zzz", 4, "'zzz' does not refer to a registered pass or pipeline"),
        ("func.func(cse", 13, "expected ',' or ')' after a pass"),
        ("cse)", 3, "expected ',' or the end after a pass"),
        ("cse,", 4, "expected the name of a pass or operation"),
        ("loop-tile{sizes=1", 17, "expected an option or '}'"),
        ("loop-tile{sizes=}", 16, "expected a value"),
        ('loop-tile{label="a', 16, "expected a value"),
        ('loop-tile{label="\\q"}', 16, "expected a value"),
        ("loop-tile{sizes=1 sizes=2}", 18, "option 'sizes' is given twice"),
    ],
)
def test_refused_pipelines_point_at_the_place(text: str, position: int, message: str):
    with pytest.raises(PipelineError) as caught:
        parse_pipeline(text, PASSES)
    assert (str(caught.value), caught.value.position) == (message, position)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("graph", 1),
        ("te", 4),
        ("schedule", 6),
        ("loop", 7),
        ("te-simplify", 3),
        ("cse", 4),
    ],
)
def test_stop_after_a_pass_or_level(name: str, kept: int):
    pipeline = parse_pipeline(",".join(NAMES), PASSES)
    assert [pass_.name for pass_ in stop_after(pipeline, name).passes()] == list(NAMES[:kept])


def test_stop_inside_a_nested_pipeline():
    pipeline = parse_pipeline("graph-fuse,func.func(cse,te-simplify),cse", PASSES)
    assert pipeline_text(stop_after(pipeline, "te-simplify")) == "builtin.module(graph-fuse,func.func(cse,te-simplify))"
    assert pipeline_text(stop_after(pipeline, "graph")) == "builtin.module(graph-fuse,func.func(cse))"


def test_stop_after_what_is_not_there():
    with pytest.raises(UsageError, match="cannot stop after 'loop': .* its passes: cse"):
        stop_after(parse_pipeline("cse", PASSES), "loop")
