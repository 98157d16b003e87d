"""Quoted functions say what pandas says, in as few passes as they can, and name the line of what they refuse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from interpreted_tables import Interpreted

import tilework as tw
from tilework import pipelines
from tilework.frontends.quoted.function import Quoted
from tilework.pipelines import DataBag

LIMIT = 18.0


def people(rows: int = 200) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"age": rng.integers(1, 90, rows), "pay": rng.standard_normal(rows) * 10 + 100})
    frame["town"] = rng.choice(["Ulm", "Bonn", None], rows)
    return frame


def summary(table: DataBag):
    """Written as its users write it."""
    adults = table.filter(lambda p: p.age >= LIMIT and not p.town == "Ulm")
    rows = DataBag(p | {"rate": p.pay / p.age if p.age > 1 else 0.0} for p in table if p.age > 2)
    return adults.count(), sum(p.pay * 2 for p in adults), max(p.rate for p in rows), adults["pay"].mean() - 1


def scaled(table: DataBag):
    for c in ["age", "pay"]:
        mean = table[c].mean()
        deviation = table[c].std()
        table = table.map(lambda p: p | {c: (p[c] - mean) / deviation})  # noqa: B023  it is read, not run
    return table["age"].max(), sum(p.age * p.pay for p in table) / len(table)


def grouped(table: DataBag):
    by = table.group_by("town")
    return by.mean("pay"), by.count(), table["age"].min()


def call(function: Any, *tables: Any) -> Any:
    return Quoted(function, Interpreted)(*tables)  # type: ignore[arg-type]


def test_filters_maps_and_sums():
    frame = people()
    adults = frame[(frame.age >= 18) & (frame.town != "Ulm")]
    rows = frame[frame.age > 2]
    expected = (len(adults), adults.pay.sum() * 2, (rows.pay / rows.age).max(), adults.pay.mean() - 1)
    np.testing.assert_allclose(call(summary, frame), expected, rtol=1e-12)


def test_a_loop_over_columns():
    frame = people()
    z = (frame[["age", "pay"]] - frame[["age", "pay"]].mean()) / frame[["age", "pay"]].std(ddof=0)
    np.testing.assert_allclose(call(scaled, frame), (z.age.max(), (z.age * z.pay).mean()), rtol=1e-10)


def test_groups():
    frame = people()
    means, counts, least = call(grouped, frame)
    expected = frame.groupby("town").pay
    assert counts == expected.count().to_dict()
    assert means == pytest.approx(expected.mean().to_dict())
    assert least == frame.age.min()


def of_those_left(table: DataBag):
    old = table.filter(lambda p: p.age > LIMIT).group_by("town")
    return old.sum("pay"), old.count(), old.mean("pay"), old.min("pay"), old.sum("pay") / table.group_by("town").count()


@pytest.mark.parametrize("run", [call, lambda f, table: pipelines.quote(f)(table)], ids=["interpreted", "compiled"])
def test_groups_without_rows_are_left_out(run: Any):
    frame = pd.DataFrame({"town": ["Ulm", "Bonn", "Ulm", None], "age": [17.0, 40.0, 60.0, 70.0], "pay": [1.0, 0, 3, 4]})
    assert run(of_those_left, frame.assign(age=frame.age - 30)) == (
        {"Ulm": 3.0},
        {"Ulm": 1},
        {"Ulm": 3.0},
        {"Ulm": 3.0},
        {"Ulm": 1.5},
    )
    sums, counts, means, least, shares = run(of_those_left, frame)
    assert (sums, counts, means) == ({"Bonn": 0.0, "Ulm": 3.0}, {"Bonn": 1, "Ulm": 1}, {"Bonn": 0.0, "Ulm": 3.0})
    assert (least, shares) == ({"Bonn": 0.0, "Ulm": 3.0}, {"Bonn": 0.0, "Ulm": 1.5})


def two_columns_of_groups(table: DataBag):
    return table.group_by("town").count() / table.group_by("land").count()


def test_groups_by_different_words_are_not_combined():
    frame = people()
    with pytest.raises(tw.UsageError, match="computes with groups by different words"):
        call(two_columns_of_groups, frame.assign(land=frame.town.map({"Ulm": "BW", "Bonn": "NRW"})))


def test_all_folds_are_one_pass_and_columns_that_nobody_reads_go():
    quoted = pipelines.quote(summary)
    assert quoted.show(people()).count("bag.fold") == 4
    text = quoted.show(people(), optimize=True)
    assert text.count("bag.fold") == 1
    assert "bag.map" not in text and "bag.filter" not in text
    assert "!bag.bag<N0 x [age: f64?, pay: f64?, town" in text
    assert (
        pipelines.quote(grouped).show(people()[["town", "pay", "age"]].assign(more=1), optimize=True).count("more") == 0
    )


def test_compiled():
    frame = people(5000)
    assert pipelines.quote(summary)(frame) == pytest.approx(call(summary, frame), rel=1e-12)


def missing(table: DataBag):
    """Written in all ways in which a word can be missing."""
    unequal = table.filter(lambda p: p.town != None).count()  # noqa: E711
    other = table.filter(lambda p: p.town is not None).count()
    equal = table.filter(lambda p: p.town == None).count()  # noqa: E711
    mirrored = table.filter(lambda p: None is p.town).count()
    return unequal, other, equal, mirrored, sum(1 for p in table if "Ulm" == p.town)


def test_a_missing_word_is_none():
    frame = people()
    known = int(frame.town.notna().sum())
    lost = len(frame) - known
    assert call(missing, frame) == (known, known, lost, lost, (frame.town == "Ulm").sum())
    assert call(missing, frame.assign(town=None)) == (0, 0, len(frame), len(frame), 0)


def while_loop(table: DataBag):
    while True:
        pass


def joined(people_: DataBag, towns: DataBag):
    return sum(p.pay for p in people_ for t in towns)


def wrong_column(table: DataBag):
    return table["height"].mean()


def wrong_word(table: DataBag):
    return sum(p.pay for p in table if p.town < "Ulm")


def number_for_word(table: DataBag):
    return sum(p.pay for p in table if p.town == 1)


def word_for_number(table: DataBag):
    return sum(p.pay for p in table if p.pay == "Ulm")


def number_missing(table: DataBag):
    return sum(p.pay for p in table if p.pay is None)


def word_and_number(table: DataBag):
    return sum(p.pay for p in table if p.pay == p.town)


def wrong_method(table: DataBag):
    return table.sort("pay")


def constant(table: DataBag):
    return 3


@pytest.mark.parametrize(
    ("function", "count", "message"),
    [
        (while_loop, 1, "the statement 'while True:' is not known"),
        (joined, 2, "rows of several tables need an `if` by which words of both are equal"),
        (wrong_column, 1, "the table has no column height; it has age, pay, town"),
        (wrong_word, 1, "words are compared with one word by == or !=, not as p.town < 'Ulm'"),
        (number_for_word, 1, "p.town == 1 compares words with what is none of their kind"),
        (word_for_number, 1, "'Ulm' is no number that a row can be given"),
        (number_missing, 1, "the comparison of p.pay is None is not known"),
        (word_and_number, 1, "words are compared with one word by == or !=, not as p.pay == p.town"),
        (wrong_method, 1, "table.sort\\('pay'\\) is not known"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_is_not_known_is_named_with_its_line(function: Any, count: int, message: str):
    line = function.__code__.co_firstlineno + 1
    with pytest.raises(tw.UsageError, match=f"{function.__name__}, line {line}: {message}"):
        call(function, *[people()] * count)


def test_what_is_returned_is_a_number_and_tables_are_counted():
    with pytest.raises(tw.UsageError, match="constant, what it returns is no number, matrix or table"):
        call(constant, people())
    with pytest.raises(tw.UsageError, match="summary takes 1 tables, 2 are given"):
        call(summary, people(), people())
    with pytest.raises(tw.UsageError, match="the source of .* is not there to be read"):
        pipelines.quote(eval("lambda t: t"))
    with pytest.raises(tw.UsageError, match="a function that is quoted is written with def"):
        pipelines.quote(lambda t: t)


def test_a_function_that_is_not_quoted_says_so():
    with pytest.raises(tw.UsageError, match="a DataBag is a table in a function that is read: quote the function"):
        DataBag([])


@pytest.mark.parametrize("given", [3, len, DataBag], ids=["number", "builtin", "class"])
def test_what_is_no_function_of_python_is_not_quoted(given: Any):
    with pytest.raises(tw.UsageError, match="is written with def; a .* is given"):
        pipelines.quote(given)


def floor(x: Any) -> Any:
    """Has the name of a function that is known."""
    return x - 100


root = math.sqrt


class Own:
    """Has a method with the name of a function that is known."""

    exp = staticmethod(floor)


def own_floor(table: DataBag):
    return sum(floor(p.age) for p in table)


def own_exp(table: DataBag):
    return sum(Own.exp(p.age) for p in table)


def own_of_vector(table: DataBag):
    return Own.exp(table.to_vector("age"))


def local_function(table: DataBag, abs: Any):  # noqa: A002
    return sum(abs(p.age) for p in table)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (own_floor, "floor\\(p.age\\) is not known"),
        (own_exp, "the name Own is not known"),
        (own_of_vector, "the name Own is not known"),
        (local_function, "abs\\(p.age\\) is not known"),
    ],
)
def test_functions_are_known_by_what_they_are_not_by_their_names(function: Any, message: str):
    tables = [people()] * len(Quoted(function, Interpreted).parameters)  # type: ignore[arg-type]
    with pytest.raises(tw.UsageError, match=f"line {function.__code__.co_firstlineno + 1}: {message}"):
        call(function, *tables)


def test_a_function_that_is_known_has_any_name():
    def sums(table: DataBag):
        return sum(root(p.age) + math.floor(p.pay) + np.fabs(p.pay) for p in table)

    frame = people()
    assert call(sums, frame) == pytest.approx((np.sqrt(frame.age) + np.floor(frame.pay) + np.abs(frame.pay)).sum())


def features(table: DataBag):
    """A matrix of the rows that are kept, and a table."""
    rows = table.filter(lambda p: p.age >= LIMIT)
    rows = rows.filter(lambda p: not p.town == "Ulm").map(lambda p: p | {"pay": np.log1p(p.pay), "one": 1.0})
    return rows.to_matrix("pay", "age"), rows.to_vector("one"), rows.filter(lambda p: p.one > p.age)


def rows_of(table: DataBag):
    return table.map(lambda p: p | {"age": p.age + 1}).filter(lambda p: p.age > LIMIT)


@pytest.mark.parametrize("limit", [18.0, 100.0, 0.0], ids=["some", "none", "every"])
def test_matrices_and_tables_of_as_many_rows_as_data_decide(limit: float, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(globals(), "LIMIT", limit)
    frame = people()
    kept = frame[(frame.age >= limit) & (frame.town != "Ulm")]
    compiled = [lambda f: pipelines.quote(f)(frame)] if limit == 100 else []
    for run in (lambda f: call(f, frame), *compiled):
        matrix, ones, nothing = run(features)
        np.testing.assert_allclose(matrix, np.stack([np.log1p(kept.pay), kept.age], axis=1), rtol=1e-14)
        assert ones.tolist() == [1.0] * len(kept)
        assert {name: len(column) for name, column in nothing.items()} == {"age": 0, "pay": 0, "town": 0, "one": 0}
        table, expected = run(rows_of), frame.assign(age=frame.age + 1)[frame.age + 1 > limit]
        assert [*table] == ["age", "pay", "town"]
        assert table["age"].tolist() == expected.age.tolist()
        assert table["town"].tolist() == [town if isinstance(town, str) else None for town in expected.town]


def test_filters_and_maps_stand_before_the_matrix_in_one_pass():
    text = pipelines.quote(features).show(people(), optimize=True)
    assert text.count("bag.filter") == 2  # of these the second for the table alone
    assert text.index("bag.filter") < text.index("bag.map") < text.index("bag.to_matrix")
