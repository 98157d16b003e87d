"""The space that a search walks: the sketches of a kernel, and the values that their knobs may take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from random import Random

from tilework.dialects.schedule import SequenceOp, knobs_of, set_knobs
from tilework.tuning.candidate import Candidate
from tilework.tuning.sketches.base import Limit, Sketch

MOST_DRAWS = 200
"""So often a sketch is asked for values within its limits before another sketch is."""


@dataclass(frozen=True)
class Knobs:
    """The knobs of one sketch: their names, and the choices of each."""

    names: tuple[str, ...]
    choices: tuple[tuple[int, ...], ...]
    limits: Sequence[Limit]

    @property
    def size(self) -> int:
        """How many combinations of values there are, those beyond the limits among them."""
        return prod(map(len, self.choices))

    def named(self, values: Sequence[int]) -> dict[str, int]:
        """The values by name."""
        return dict(zip(self.names, values, strict=True))

    def allows(self, values: Sequence[int]) -> bool:
        """Whether values are within the limits."""
        named = self.named(values)
        return all(limit.allows(named) for limit in self.limits)


class Space:
    """The candidates for a kernel."""

    def __init__(self, sketches: Sequence[Sketch]):
        self.sketches = tuple(sketches)

    @cached_property
    def knobs(self) -> tuple[Knobs, ...]:
        """The knobs of every sketch."""
        return tuple(_knobs(sketch) for sketch in self.sketches)

    @property
    def size(self) -> int:
        """How many candidates there are, those beyond limits among them."""
        return sum(knobs.size for knobs in self.knobs)

    def values(self, candidate: Candidate) -> Mapping[str, int]:
        """The values of a candidate's knobs, by name."""
        return self.knobs[candidate.sketch].named(candidate.values)

    def schedule(self, candidate: Candidate) -> SequenceOp:
        """The schedule of a candidate: a copy of its sketch with the knobs set."""
        sequence = self.sketches[candidate.sketch].sequence.clone()
        set_knobs(sequence, self.values(candidate))
        return sequence

    def candidate(self, name: str, values: Mapping[str, int]) -> Candidate | None:
        """The candidate of a sketch by name with these values; None where the space has no such one."""
        for number, (sketch, knobs) in enumerate(zip(self.sketches, self.knobs, strict=True)):
            if sketch.name == name and {*values} == {*knobs.names}:
                chosen = tuple(values[knob] for knob in knobs.names)
                known = all(v in c for v, c in zip(chosen, knobs.choices, strict=True))
                return Candidate(number, chosen) if known else None
        return None

    # -- moves

    def draw(self, rng: Random) -> Candidate:
        """Any candidate within the limits, every sketch as likely as another."""
        while True:
            found = self.draw_from(rng.randrange(len(self.sketches)), rng)
            if found is not None:
                return found

    def draw_from(self, sketch: int, rng: Random) -> Candidate | None:
        """Any candidate of a sketch within its limits; None if none is found."""
        knobs = self.knobs[sketch]
        for _ in range(MOST_DRAWS):
            values = tuple(rng.choice(choices) for choices in knobs.choices)
            if knobs.allows(values):
                return Candidate(sketch, values)
        return None

    def mutated(self, candidate: Candidate, rng: Random) -> Candidate:
        """A candidate that differs in one knob, mostly by one step; the same where no other is within the limits."""
        knobs = self.knobs[candidate.sketch]
        for _ in range(MOST_DRAWS if any(len(c) > 1 for c in knobs.choices) else 0):
            at = rng.choice([i for i, c in enumerate(knobs.choices) if len(c) > 1])
            choices, now = knobs.choices[at], candidate.values[at]
            place = choices.index(now)
            near = [p for p in (place - 1, place + 1) if 0 <= p < len(choices)]
            far = [p for p in range(len(choices)) if p != place]
            new = choices[rng.choice(near if rng.random() < 0.7 else far)]
            values = (*candidate.values[:at], new, *candidate.values[at + 1 :])
            if knobs.allows(values):
                return Candidate(candidate.sketch, values)
        return candidate

    def crossed(self, one: Candidate, other: Candidate, rng: Random) -> Candidate:
        """A candidate with values of both, where they are of one sketch and the mixture is within the limits."""
        if one.sketch != other.sketch:
            return one
        values = tuple(rng.choice(pair) for pair in zip(one.values, other.values, strict=True))
        return Candidate(one.sketch, values) if self.knobs[one.sketch].allows(values) else one


def _knobs(sketch: Sketch) -> Knobs:
    found = knobs_of(sketch.sequence)
    return Knobs(tuple(found), tuple(knob.values for knob in found.values()), sketch.limits)
