"""`tilework.tune` on te programs: what it finds, how it goes on, what it says."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
from onnx_models import model, node
from te_products import kernel_of, matmul

import tilework as tw
from tilework import te, tuning
from tilework.algebra.errors import TileworkError, UsageError
from tilework.dialects.schedule import knobs_of
from tilework.targets import parse_target
from tilework.tuning.explorers.genetic import GeneticExplorer
from tilework.tuning.explorers.grid import GridExplorer
from tilework.tuning.explorers.random import RandomExplorer
from tilework.tuning.measuring.outcome import Failure
from tilework.tuning.records import DEFAULT, read_records
from tilework.tuning.sketches.base import Limit, Sketch
from tilework.tuning.sketches.derive import sketches_of
from tilework.tuning.space import Space
from tilework.tuning.templates.config import Config
from tilework.tuning.text import schedule_text

CPU = parse_target("llvm -mcpu=znver4")


def softmax(n: int, m: int) -> list[te.Tensor]:
    """The tensors of a softmax of rows."""
    x = te.placeholder((n, m), name="X")
    k, r = te.reduce_axis((0, m), name="k"), te.reduce_axis((0, m), name="r")
    most = te.compute((n,), lambda i: te.max(x[i, k], axis=k), name="M")
    powers = te.compute((n, m), lambda i, j: te.exp(x[i, j] - most[i]), name="E")
    total = te.compute((n,), lambda i: te.sum(powers[i, r], axis=r), name="S")
    return [x, te.compute((n, m), lambda i, j: powers[i, j] / total[i], name="Y")]


@pytest.fixture(autouse=True)
def one_thread():
    """Times of several threads depend on what else runs."""
    before = tw.get_num_threads()
    tw.set_num_threads(1)
    yield
    tw.set_num_threads(before)


def test_finds_a_faster_schedule_that_is_right(tmp_path: Path):
    records = tmp_path / "records.jsonl"
    tuned = tw.tune(matmul(65, 67, 61), trials=12, records=records, rules=False)
    a, b = np.random.rand(65, 61).astype("f4"), np.random.rand(61, 67).astype("f4")
    c = np.empty((65, 67), "f4")
    tuned.function(a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4)
    assert tuned.default_seconds is not None and tuned.best_seconds < tuned.default_seconds
    assert "schedule.vectorize" in tuned.schedule
    assert len(tuned.trials) == 12
    kept = list(read_records(records))
    assert [r.sketch for r in kept].count(DEFAULT) == 1 and len(kept) == 13  # the last one is the winner's


def test_goes_on_where_the_records_end(tmp_path: Path):
    records = tmp_path / "records.jsonl"
    tw.tune(matmul(33, 34, 35), trials=5, records=records, rules=False)
    before = records.read_text().splitlines()
    tuned = tw.tune(matmul(33, 34, 35), trials=9, records=records, rules=False)
    after = records.read_text().splitlines()
    assert after[: len(before)] == before
    trials = [line for line in after if json.loads(line)["default_seconds"] is None]
    assert len(trials) == len(tuned.trials) == 9


def test_is_never_slower_than_the_rules():
    tuned = tw.tune(matmul(64, 64, 64), trials=3)
    assert tuned.default_seconds is not None and tuned.best_seconds <= tuned.default_seconds


def test_a_program_without_a_candidate_keeps_its_default():
    x = te.placeholder((8,), name="X")
    tuned = tw.tune([x, te.compute((8,), lambda i: te.exp(x[i]), name="Y")], trials=4)
    y = np.empty(8, "f4")
    tuned.function(np.zeros(8, "f4"), y)
    assert (y == 1).all()


def test_an_empty_tensor_is_tuned_to_no_avail():
    x = te.placeholder((0, 8), name="X")
    tuned = tw.tune([x, te.compute((0, 8), lambda i, j: x[i, j] + 1.0, name="Y")], trials=3)
    tuned.function(np.empty((0, 8), "f4"), np.empty((0, 8), "f4"))


@pytest.mark.parametrize(
    "options, message",
    [
        ({"trials": 0}, "trials=0: the number of trials is a positive integer"),
        ({"seconds": -1}, "seconds=-1: the time for a search is a positive number of seconds"),
        ({"seed": -2}, "seed=-2: a seed is an integer that is not negative"),
        ({"records": 7}, "records= takes the path of a file, not a int"),
    ],
)
def test_options_are_checked(options: dict[str, object], message: str):
    with pytest.raises(UsageError) as caught:
        tw.tune(matmul(4, 4, 4), **options)
    assert message in str(caught.value)


def test_symbolic_sizes_are_refused():
    n = te.var("n")
    x = te.placeholder((n,), name="X")
    with pytest.raises(UsageError, match=r"@main has symbolic sizes \(n\): a schedule is measured for numbers"):
        tw.tune([x, te.compute((n,), lambda i: x[i] + 1.0, name="Y")])


def test_rules_are_for_te_programs():
    with pytest.raises(UsageError, match="rules=False is for te programs"):
        tw.tune("model.onnx", rules=False)


def test_the_knobs_of_a_schedule_are_searched():
    a, b, c = matmul(32, 48, 16)
    s = te.create_schedule(c.op)
    i, j = s[c].op.axis
    _, inner = s[c].split(j, factor=te.knob("width", [1, 4, 16], 1))
    s[c].vectorize(inner)
    tuned = tw.tune([a, b, c], schedule=s, trials=4)
    assert len(tuned.trials) == 4 and {t.record.knobs.get("width") for t in tuned.trials} == {None, 1, 4, 16}
    assert '#schedule.knob<"width", [1, 4, 16], ' in tuned.schedule


def test_a_program_has_a_result():
    with pytest.raises(UsageError, match="the program to tune has no result"):
        tw.tune([te.placeholder((4,), name="X")])


# -- templates


@tuning.template
def tiled(n: int, m: int, k: int):
    """A product of matrices, tiled as AutoTVM's tutorial does."""
    a, b, c = matmul(n, m, k)
    s = te.create_schedule(c.op)
    config = tuning.get_config()
    i, j = s[c].op.axis
    [r] = s[c].op.reduce_axis
    config.define_split("tile_i", i, num_outputs=2)
    config.define_split("tile_j", j, num_outputs=2, filter=lambda split: split.size[-1] <= 16)
    config.define_knob("outer first", [True, False])
    if config["tile_i"].size[-1] == n:
        config.raise_error("a tile is not all")
    io, ii = config["tile_i"].apply(s, c, i)
    jo, ji = config["tile_j"].apply(s, c, j)
    config.define_reorder("order", [r, ii], policy="all")
    s[c].reorder(io, jo, *config["order"].apply(s, c, [r, ii]), ji)
    config.define_annotate("inner", [ii, ji], policy="try_unroll_vec")
    config["inner"].apply(s, c, [ii, ji])
    return s, [a, b, c]


def test_a_template_is_tuned():
    tuned = tw.tune(tiled(6, 8, 5), trials=9, rules=False)
    failures = {t.record.outcome.failure for t in tuned.trials}
    assert len(tuned.trials) == 9 and failures <= {None, Failure.INSTANTIATION}
    assert {*tuned.trials[1].record.knobs} == {"tile_i", "tile_j", "outer first", "order", "inner"}
    a, b, c = np.random.rand(6, 5).astype("f4"), np.random.rand(5, 8).astype("f4"), np.empty((6, 8), "f4")
    tuned.function(a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-4)


def test_a_template_says_what_is_to_be_chosen():
    config = Config()
    tiled(6, 32, 5).instantiate(config)
    assert [split.size for split in config.options["tile_i"]] == [(-1, 1), (-1, 2), (-1, 3), (-1, 6)]
    assert [split.size for split in config.options["tile_j"]] == [(-1, 1), (-1, 2), (-1, 4), (-1, 8), (-1, 16)]
    assert [order.perm for order in config.options["order"]] == [(0, 1), (1, 0)]
    assert ("unroll", "vec") in [annotate.anns for annotate in config.options["inner"]]


@pytest.mark.parametrize(
    "policy, extent, expected",
    [
        ("factors", 7, [(-1, 1), (-1, 7)]),
        ("power2", 7, [(-1, 1), (-1, 2), (-1, 4)]),
        ("verbose", 3, [(-1, 1), (-1, 2), (-1, 3)]),
        ("candidate", 7, [(-1, 5)]),
    ],
)
def test_policies_of_splits(policy: str, extent: int, expected: list[tuple[int, ...]]):
    config = Config()
    config.define_split("t", extent, policy=policy, candidate=[(-1, 5)])
    assert [split.size for split in config.options["t"]] == expected


def test_templates_are_refused_in_a_line():
    with pytest.raises(UsageError, match="get_config belongs into a function that tuning.template is applied to"):
        tuning.get_config()
    config = Config()
    with pytest.raises(UsageError, match="define_split: the policies are factors, power2, .* not 'all'"):
        config.define_split("t", 8, policy="all")
    with pytest.raises(UsageError, match="'t' has nothing to choose from: loosen its filter"):
        config.define_split("t", 8, filter=lambda _: False)
    with pytest.raises(UsageError, match="the template has defined nothing of the name 'tile'"):
        _ = config["tile"]
    with pytest.raises(UsageError, match="the template <lambda> returns a schedule and a list of tensors"):
        tw.tune(tuning.template(lambda: None)())


# -- sketches and spaces


def test_sketches_say_what_was_decided():
    names = [sketch.name for sketch in sketches_of(kernel_of(softmax(64, 128)), CPU)]
    assert "E inlined; Y in blocks of i; S in lanes along r at Y.rows; M in lanes along k at Y.rows" in names
    assert len(names) == len(set(names))


def test_knobs_of_a_sketch_are_printed():
    sketch = sketches_of(kernel_of(matmul(64, 64, 64)), CPU)[0]
    assert '#schedule.knob<"C.i.tile", [1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16], 1>' in schedule_text(sketch.sequence)
    assert "C.j.lanes" in knobs_of(sketch.sequence)


def test_what_is_beyond_a_limit_is_never_drawn():
    kernel = kernel_of(matmul(512, 512, 512))
    space, rng = Space(sketches_of(kernel, CPU)), Random(0)
    for _ in range(300):
        values = space.values(space.draw(rng))
        assert values["C.i.tile"] * values["C.j.lanes"] <= 30 * 16


def test_moves_stay_in_the_space():
    space, rng = Space(sketches_of(kernel_of(softmax(64, 128)), CPU)), Random(0)
    one = space.draw(rng)
    for _ in range(200):
        other = space.mutated(one, rng)
        assert sum(a != b for a, b in zip(one.values, other.values, strict=True)) <= 1
        one = space.crossed(other, space.draw(rng), rng)
        assert space.candidate(space.sketches[one.sketch].name, space.values(one)) == one


@pytest.mark.parametrize("explorer", [RandomExplorer, GridExplorer, GeneticExplorer])
def test_explorers_propose_each_candidate_once(explorer: type[RandomExplorer]):
    kernel = kernel_of(matmul(8, 16, 3))
    [sketch, *_] = sketches_of(kernel, CPU)
    space = Space([Sketch(sketch.name, sketch.sequence, (Limit(("C.i.tile",), 2),))])
    history: dict[object, float | None] = {}
    search = explorer(space, Random(0))
    while batch := search.propose(8, history):
        assert not set(batch) & set(history)
        history |= {candidate: 1.0 + candidate.values[0] for candidate in batch}
    everything = map(space.values, GridExplorer(space, Random(0)).propose(999, {}))
    assert len(history) == sum(values["C.i.tile"] <= 2 for values in everything) > 0


# -- networks


def test_a_network_of_symbolic_sizes_has_nothing_to_tune():
    network = model([node("Relu", "x", "y")], {"x": ["N", 4]}, "y")
    with pytest.raises(TileworkError, match="no kernel to tune: its sizes N are symbols: export it with numbers"):
        tw.tune(network, trials=1)


def test_a_network_is_tuned_and_made_again_from_its_records(tmp_path: Path):
    from onnx import TensorProto, helper, numpy_helper

    weight = numpy_helper.from_array(np.random.rand(31, 33).astype("f4"), "w")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Softmax", ["h"], ["y"], axis=1)],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [29, 31])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [29, 33])],
        [weight],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    records, x = tmp_path / "records.jsonl", np.random.rand(29, 31).astype("f4")
    module = tw.tune(model, trials=10, records=records)
    again = tw.compile(model, records=records)
    np.testing.assert_allclose(module(x), tw.compile(model)(x), rtol=1e-5)
    np.testing.assert_array_equal(module(x), again(x))
    assert {*again.report.tuned, *again.report.untuned} == {*again.report.kernels}
    assert again.report.tuned == module.report.tuned


# -- records


def test_a_torn_last_line_is_dropped(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    records = tmp_path / "records.jsonl"
    tw.tune(matmul(17, 18, 19), trials=3, records=records, rules=False)
    whole = records.read_text()
    records.write_text(whole + whole.splitlines()[0][:40])
    assert len(list(read_records(records))) == len(whole.splitlines())
    assert "the last line is not whole, and is dropped" in caplog.text
    tw.tune(matmul(17, 18, 19), trials=4, records=records, rules=False)
    assert len(list(read_records(records))) > len(whole.splitlines())


def test_what_is_no_record_is_named(tmp_path: Path):
    records = tmp_path / "records.jsonl"
    records.write_text('{"version": 1}\n')
    with pytest.raises(TileworkError, match=r"records.jsonl, line 1 is no record of a trial"):
        tw.tune(matmul(4, 4, 4), records=records)
    records.write_text('{"version": 99}\n')
    with pytest.raises(TileworkError, match=r"line 1: records of version 99, and this reads version 1"):
        tw.tune(matmul(4, 4, 4), records=records)
