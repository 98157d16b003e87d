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


def large_and_rich(people: DataBag, towns: DataBag):
    """Rows of rows, and sums of pairs of which no pair is made."""
    rich = DataBag(p | {"pay": p.pay * 2} for p in people if p.pay > 2)
    pairs = DataBag(p | {"size": t.size} for p in rich for t in towns if p.town == t.name)
    return sum(r.pay * r.size for r in pairs), min(r.pay for r in pairs), pairs.count()


def keep_second(people: DataBag, towns: DataBag):
    return DataBag(t | {"more": p.n * 2} for p in people for t in towns if p.k == t.k and p.n < t.n)


def two_keys(people: DataBag, towns: DataBag):
    return DataBag(t | {"more": p.n} for p in people for t in towns if p.k == t.k and p.land == t.land)


def test_rows_of_the_second_table_replace_columns_of_one_name():
    people = pd.DataFrame({"k": ["a", "b", "b"], "land": ["x", "y", None], "n": [1.0, 2.0, 7.0]})
    towns = pd.DataFrame({"k": ["b", "b", "a"], "land": ["y", "x", None], "n": [1.0, 5.0, 8.0]})
    for run in (interpreted, compiled):
        made = run(keep_second, people, towns)
        assert {name: values.tolist() for name, values in made.items()} == {
            "k": ["a", "b"], "land": [None, "x"], "n": [8.0, 5.0], "more": [2.0, 4.0],
        }  # fmt: skip
    made = interpreted(two_keys, people, towns)
    assert {name: values.tolist() for name, values in made.items()} == {
        "k": ["b"],
        "land": ["y"],
        "n": [1],
        "more": [2],
    }


def two_of_three(people: DataBag, towns: DataBag, lands: DataBag):
    return sum(p.pay * v.votes for p in people for t in towns for v in lands if p.town == t.name and t.name == p.town)


def words_in_the_way(people: DataBag, towns: DataBag, lands: DataBag):
    rows = DataBag(p | {"one": 1.0} for p in people)
    return DataBag(t | {"w": v.n} for p in rows for t in towns for v in lands if p.k == t.k and p.land == v.land)


def test_a_third_table_that_nothing_joins_is_refused():
    line = two_of_three.__code__.co_firstlineno + 1
    with pytest.raises(tw.UsageError, match=f"two_of_three, line {line}: rows of several tables need an `if`"):
        interpreted(two_of_three, PEOPLE, TOWNS, LANDS)
    table = pd.DataFrame({"k": ["a", "b"], "land": ["x", "y"], "n": [1.0, 2.0]})
    with pytest.raises(tw.UsageError, match="words_in_the_way, rows keep a column that is called as a column of words"):
        interpreted(words_in_the_way, table, table, table)


def by_number(people: DataBag, towns: DataBag):
    return sum(p.pay for p in people for t in towns if p.age == t.size)


def same_name(people: DataBag, towns: DataBag):
    return sum(p.size for p in people for p in towns if p.name == p.name)  # noqa: F402, PLR0124


def of_one_table(people: DataBag, towns: DataBag):
    return sum(p.pay for p in people for t in towns if t.name == t.land)


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


def test_sums_of_pairs_make_no_pairs():
    pairs = merged(PEOPLE[PEOPLE.pay > 2].assign(pay=PEOPLE.pay * 2), TOWNS)
    expected = ((pairs.pay * pairs["size"]).sum(), pairs.pay.min(), len(pairs))
    assert interpreted(large_and_rich, PEOPLE, TOWNS) == expected
    assert compiled(large_and_rich, PEOPLE, TOWNS) == expected
    text = pipelines.quote(large_and_rich).show(PEOPLE, TOWNS, optimize=True)
    assert "bag.join" not in text
    assert "bag.comprehension" not in text
    assert text.count("bag.fold") == 2


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (by_number, "rows of several tables need an `if` by which words of both are equal"),
        (of_one_table, "rows of several tables need an `if` by which words of both are equal"),
        (same_name, "rows of two tables are called p"),
    ],
)
def test_what_is_no_join_is_refused_with_its_line(function: Any, message: str):
    with pytest.raises(tw.UsageError, match=f"{function.__name__}, line [0-9]+: {message}"):
        interpreted(function, PEOPLE, TOWNS)


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
