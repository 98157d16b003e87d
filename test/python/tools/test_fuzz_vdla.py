"""A short fuzz run of VDLA's lowering; the long one is `python -m tilework.tools.fuzz --family vdla`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.dialects.te import KernelOp
from tilework.rules.vdla.product_form import product_form
from tilework.runtime.devices.vdla import simulator
from tilework.tools.fuzz.check import Outcome
from tilework.tools.fuzz.draw import Seeded
from tilework.tools.fuzz.shrink import shrink
from tilework.tools.fuzz.vdla.cases import Case, random_case
from tilework.tools.fuzz.vdla.check import check
from tilework.tools.fuzz.vdla.kernels import Position, Step
from tilework.tools.fuzz.vdla.layers import Layer, ruled_schedule
from tilework.tools.fuzz.vdla.machines import machine
from tilework.tools.fuzz.vdla.planting import FOUND, HARMLESS


def case_of(seed: int) -> Case:
    return random_case(Seeded(seed), seed)


def test_accepted_schedules_compute_what_numpy_does_and_faults_are_found():
    """Most schedules are accepted; of the faults that are planted in their streams most do harm."""
    counts, traits = Counter[str](), Counter[str]()
    refused = 0
    for seed in range(10):
        case = case_of(seed)
        outcome = case.run()
        assert outcome.difference is None, f"{outcome.difference}\n{case}"
        refused += outcome.refused is not None
        if outcome.refused is None:
            counts.update(outcome.counts)
            traits.update(case.traits())
    assert refused < 5
    assert counts[FOUND] > 20 and counts[HARMLESS] > 5
    assert all(traits[trait] for trait in ("have virtual threads", "pad", "unroll"))


def test_a_simulator_that_finds_nothing_is_caught(monkeypatch: pytest.MonkeyPatch):
    """Pretend that it does not look for races."""
    monkeypatch.setattr(simulator, "hazards", lambda *_: [])
    missed = [case.with_faults()[1] for case in map(case_of, range(4)) if case.run().refused is None]
    assert any(text is not None and "the simulator finds nothing" in text for text in missed)


def test_what_does_not_fit_is_refused_with_its_sizes():
    refusals = [replace(case_of(seed), target=machine("-wgt-kib=1")).run().refused for seed in range(6)]
    assert any(text is not None and 'in "vdla.wgt" take ' in text and "it has 4: " in text for text in refusals)


def test_a_finding_is_shrunk():
    """Pretend that virtual threads are wrong: what they do not need is left out of the schedule."""
    case = next(c for c in map(case_of, range(40)) if "vthread" in c.schedule and c.target != machine())
    small = shrink(case, lambda c: "vthread" in c.schedule)
    assert small.target == machine() and len(small.schedule.splitlines()) < len(case.schedule.splitlines())


PADDED = (Position(5, 3, 1, 1, 1), Position(6, 3, 2, 0, 1))
WORDS = ((Step("add", words="outputs"), Step("max", 0)), (Step("shr", 2), Step("add", words="sums")))


@pytest.mark.parametrize(
    ("layer", "seeds"),
    [
        (Layer(4, 2, PADDED, WORDS, (0, 1, 2)), (2, 3)),
        (Layer(3, 1, PADDED[:1], WORDS[:1], (0, 1)), (0, 1)),
        (Layer(4, 2, (Position(4, 1, 1, 0, 0),), WORDS[1:], (0, 1)), (0, 1)),
        (Layer(2, 1, (Position(2, 1, 1, 0, 0),), (), (0, 1)), (6,)),
        (Layer(4, 2, PADDED, WORDS, (0, 1, 2), planes=4), (4,)),
        (Layer(2, 1, (Position(2, 1, 1, 0, 0),), (), (0, 1), planes=4), (1,)),
    ],
    ids=["image", "row", "matrix", "small", "planes of an image", "planes of sums as they are"],
)
def test_tiles_that_the_rule_takes_into_account_are_lowered(layer: Layer, seeds: Sequence[int]):
    """They fit, and have double buffers where threads take turns, and zeros in which threads differ."""
    target = machine("-inp-kib=1 -wgt-kib=8 -acc-kib=1")
    for seed in seeds:
        schedule = ruled_schedule(layer, target, Seeded(seed))
        assert schedule is not None
        assert check(layer, schedule, target, seed) == Outcome(), schedule


def test_the_rule_is_not_for_sums_whose_first_axis_is_outputs():
    """What moves along the second axis is taken for the weights, and has zeros around it here."""
    text = Layer(2, 1, PADDED[:1], (), (0, 1)).text.replace("n: 1, o: 32, p0: 5", "o: 32, p0: 5, n: 1")
    text = text.replace("tensor<1x32x5xi", "tensor<32x5x1xi").replace("[n, o, p0]", "[o, p0, n]")
    text = text.replace("%pad[n, c", "%pad[0, c").replace("%cast[0, 16 * o + j, p0]", "%cast[16 * o + j, p0, 0]")
    module = SourceParser(make_context(), text, "<test>").parse_module()
    module.verify()
    [kernel] = (op for op in module.walk() if isinstance(op, KernelOp))
    assert product_form(kernel, machine(), frozenset()) is None
