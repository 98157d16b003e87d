"""A short fuzz run of schedules with threads; the long one is `python -m tilework.tools.fuzz --family gpu`."""

from __future__ import annotations

from collections import Counter

from tilework.tools.fuzz.draw import Seeded
from tilework.tools.fuzz.gpu.cases import ON_POCL, random_case

SEEDS = [seed for seed in range(1, 80) if seed % ON_POCL]
"""None of them is compiled for PoCL, which would take longer than all the rest."""


def test_accepted_schedules_compute_what_te_says_and_need_their_barriers():
    counts: Counter[str] = Counter()
    accepted = 0
    for seed in SEEDS:
        case = random_case(Seeded(seed), seed)
        outcome = case.run()
        assert outcome.difference is None, f"{outcome.difference}\n{case}"
        accepted += outcome.refused is None
        counts.update(outcome.counts)
    assert accepted >= 10 and counts["missing barriers reported"] >= 1
    assert "missing barriers: other errors" not in counts
