"""Tables that quoted functions join say what pandas says, and become joins of filtered tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from interpreted_tables import Interpreted

import tilework as tw
from tilework import pipelines
from tilework.frontends.quoted.function import Quoted
from tilework.pipelines import DataBag

PEOPLE = pd.DataFrame(
    {
        "age": [17, 30, 41, 52, 63, 70],
        "pay": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
        "town": ["Ulm", "Bonn", None, "Kiel", "Ulm", "Bonn"],
    }
)
TOWNS = pd.DataFrame({"name": ["Bonn", "Ulm", "Rom", "Ulm", None], "size": [10.0, 20.0, 30.0, 40.0, 50.0]})
TOWNS["land"] = ["NRW", "BW", "Lazio", "BW", None]
LANDS = pd.DataFrame({"short": ["BW", "NRW"], "votes": [6.0, 8.0]})


def rows(people: DataBag, towns: DataBag):
    return DataBag(p | {"size": t.size} for p in people for t in towns if p.town == t.name and p.age >= 18)


def total(people: DataBag, towns: DataBag):
    large = sum(p.pay * t.size for p in people for t in towns if p.town == t.name if t.size > 15 and p.pay < t.size)
    return large, max(t.size for p in people for t in towns if t.name == p.town and p.age > 18)


def chain(people: DataBag, towns: DataBag, lands: DataBag):
    return sum(p.pay * v.votes for p in people for t in towns for v in lands if p.town == t.name and t.land == v.short)


def by_number(people: DataBag, towns: DataBag):
    return sum(p.pay for p in people for t in towns if p.age == t.size)


def merged(people: pd.DataFrame, towns: pd.DataFrame) -> pd.DataFrame:
    """Their pairs; pandas pairs missing words too."""
    return people.dropna(subset="town").merge(towns, left_on="town", right_on="name")


def interpreted(function: Any, *tables: Any) -> Any:
    return Quoted(function, Interpreted)(*tables)  # type: ignore[arg-type]


def compiled(function: Any, *tables: Any) -> Any:
    return pipelines.quote(function)(*tables)


@pytest.mark.parametrize("run", [interpreted, compiled])
def test_pairs_of_rows(run: Any):
    expected = merged(PEOPLE, TOWNS)
    made = run(rows, PEOPLE, TOWNS)
    adults = expected[expected.age >= 18]
    assert [*made] == ["age", "pay", "town", "size"]
    for name in made:
        assert made[name].tolist() == adults[name].tolist()
    both = expected[(expected["size"] > 15) & (expected.pay < expected["size"])]
    found = run(total, PEOPLE, TOWNS)
    assert found == ((both.pay * both["size"]).sum(), expected[expected.age > 18]["size"].max())


@pytest.mark.parametrize("run", [interpreted, compiled])
def test_three_tables(run: Any):
    pairs = merged(PEOPLE, TOWNS).merge(LANDS, left_on="land", right_on="short")
    assert run(chain, PEOPLE, TOWNS, LANDS) == (pairs.pay * pairs.votes).sum()


@pytest.mark.parametrize("towns", [TOWNS[:0], TOWNS[2:3], TOWNS[:1]], ids=["empty", "none of them", "one"])
def test_few_pairs(towns: pd.DataFrame):
    if not len(towns):  # as scikit-learn, tables of no rows are refused
        with pytest.raises(ValueError, match="0 sample"):
            compiled(rows, PEOPLE, towns)
        return
    expected = merged(PEOPLE, towns)
    assert compiled(rows, PEOPLE, towns)["pay"].tolist() == expected[expected.age >= 18].pay.tolist()


def test_a_guard_of_one_table_filters_it_before_the_join():
    text = pipelines.quote(rows).show(PEOPLE, TOWNS, optimize=True)
    assert text.index("bag.filter") < text.index("bag.join")
    assert "bag.comprehension" in pipelines.quote(rows).show(PEOPLE, TOWNS)
    assert "bag.comprehension" not in text
    assert "land" not in text


def test_joins_are_by_words():
    with pytest.raises(tw.UsageError, match="by_number, line .*: rows of several tables need an `if` by which words"):
        interpreted(by_number, PEOPLE, TOWNS)


def test_a_random_join_of_many_rows():
    rng = np.random.default_rng(0)
    names = np.array([f"t{i}" for i in range(50)])
    people = pd.DataFrame({"age": rng.integers(1, 90, 3000), "pay": rng.random(3000), "town": rng.choice(names, 3000)})
    towns = pd.DataFrame({"name": rng.choice(names[10:], 80), "size": rng.random(80)})
    expected = merged(people, towns)
    expected = expected[expected.age >= 18]
    made = compiled(rows, people, towns)
    np.testing.assert_array_equal(made["size"], expected["size"])
    np.testing.assert_array_equal(made["pay"], expected["pay"])
