"""A short fuzz run of schedules; the long one is `make fuzz`."""

from collections.abc import Sequence
from typing import TypeVar

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tilework.dialects.schedule import SplitOp
from tilework.tools.fuzz.cases import random_case
from tilework.tools.fuzz.draw import Seeded
from tilework.tools.fuzz.shrink import shrink

T = TypeVar("T")


class Hypothesis:
    """Choices that hypothesis makes, and shrinks."""

    def __init__(self, data: st.DataObject):
        self.data = data

    def choice(self, options: Sequence[T]) -> T:
        return options[self.data.draw(st.integers(0, len(options) - 1))]

    def chance(self, percent: int) -> bool:
        return self.data.draw(st.integers(0, 99)) >= 100 - percent


@settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_an_accepted_schedule_computes_what_te_says(data: st.DataObject):
    case = random_case(Hypothesis(data), seed=0)
    assert case.run().difference is None, str(case)


def test_both_sides_of_the_border_are_met():
    """Schedules are accepted and refused; many accepted ones rewrite te late, tensorize or have virtual threads."""
    cases = [random_case(Seeded(seed), seed) for seed in range(80)]
    accepted = [case for case in cases if case.run().refused is None]
    assert len(cases) - len(accepted) > 5 and len(accepted) > 20
    for by_python in (False, True):
        made = [case for case in accepted if bool(case.shown) == by_python]
        assert sum(case.rewrites_late for case in made) > 2
        assert sum(case.tensorizes for case in made) > 1 and sum(case.interleaves for case in made) > 1


def test_a_finding_is_shrunk():
    """Pretend that splits are wrong: of a case with several primitives only what a split needs is left."""
    case = next(c for c in map(lambda s: random_case(Seeded(s), s), range(200)) if _splits(c.sequence) >= 2)
    small = shrink(case, lambda c: _splits(c.sequence) > 0)
    assert _splits(small.sequence) == 1
    assert len(list(small.sequence.body.block.ops)) < len(list(case.sequence.body.block.ops))


def test_a_reproducer_is_read_back(parse_module):
    for seed in range(40):
        case = random_case(Seeded(seed), seed)
        module = parse_module(str(case))
        assert [str(op) for op in module.ops] == [str(op) for op in case.ops]


def _splits(sequence) -> int:
    return sum(isinstance(op, SplitOp) for op in sequence.body.block.ops)
