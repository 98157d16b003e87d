"""What is computed from tables is kept by its lineage: a table that changed is another one, and a budget holds."""

from __future__ import annotations

import pickle
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from tilework.runtime.pipelines.columns import names_of
from tilework.runtime.pipelines.encoded import EncodedColumn
from tilework.runtime.pipelines.lineage_cache import (
    BUDGET,
    KEY_BYTES,
    Derived,
    Key,
    LineageCache,
    bytes_of,
    is_worth_keeping,
    quarter_of_free_memory,
)
from tilework.runtime.pipelines.source import Source, digest_of, digest_speed


def keys_of(table: Any) -> list[Any]:
    return names_of(table) or list(range(table.shape[1]))


def digest(table: Any) -> bytes:
    """The digest of a table with all its columns."""
    source = Source.of(table, keys_of(table))
    assert source is not None
    return source.digest()


def columns() -> dict[str, Any]:
    """More rows than a block has, of numbers of three types and of words."""
    numbers = np.arange(9000)
    return {"a": numbers * 0.5, "b": numbers, "c": numbers % 2 == 0, "d": [f"w{i % 7}" for i in range(9000)]}


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize("place", [0, 4096, 8999])
@pytest.mark.parametrize(("name", "other"), [("a", 0.25), ("b", -1), ("c", None), ("d", "w8")])
def test_a_value_anywhere_changes_the_digest(library: Any, place: int, name: str, other: Any):
    before, after = columns(), columns()
    after[name][place] = not before[name][place] if other is None else other
    assert digest(library(before)) == digest(library(columns())) != digest(library(after))


def test_the_layout_of_rows_changes_no_digest_but_their_order_does():
    rows = np.random.default_rng(0).standard_normal((5000, 3))
    assert digest(rows) == digest(np.asfortranarray(rows)) == digest(np.repeat(rows, 2, axis=1)[:, ::2])
    assert len({digest(rows), digest(rows[::-1]), digest(rows[:, ::-1]), digest(rows.astype(np.float32))}) == 4
    assert digest(pd.DataFrame(rows)) == digest(pd.DataFrame({i: rows[:, i].copy() for i in range(3)}))


def test_words_that_are_cut_elsewhere_are_others():
    cut = ["ab", "c"], ["a", "bc"], ["abc", ""], ["ab", None]
    assert len({digest(pd.DataFrame({"a": words})) for words in cut}) == 4
    categories = [pd.DataFrame({"a": pd.Categorical(["x", "y"], names)}) for names in (["x", "y"], ["y", "x"])]
    assert digest(categories[0]) != digest(pd.DataFrame({"a": pd.Categorical(["x", "z"])})) != digest(categories[1])


def test_libraries_have_different_missing_values():
    words = ["a", None]
    frames = [pd.DataFrame({"a": pd.Series(words, dtype=dtype)}) for dtype in ("str", "string", "category")]
    assert len({digest(frame) for frame in [*frames, pl.DataFrame({"a": words}), pa.table({"a": words})]}) == 5


def test_no_rows_and_no_columns_have_digests():
    assert digest(np.zeros((0, 2))) != digest(np.zeros((0, 3)))
    assert digest(pd.DataFrame({"a": np.zeros(0)})) != digest(pd.DataFrame({"a": np.zeros(0), "b": np.zeros(0)}))


@pytest.mark.parametrize(
    "table",
    [
        np.array([["a", 1.0]], object),
        pd.DataFrame({0: pd.Series(["a", 1], dtype=object)}),
        pa.table({"0": [[1, 2], [3]]}),
        pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]),
    ],
    ids=["array of objects", "column of objects", "lists", "same names"],
)
def test_what_has_no_digest(table: Any):
    assert Source.of(table, keys_of(table)) is None


def test_bytes_that_a_digest_reads():
    source = Source.of(pd.DataFrame({"a": np.zeros(1000)}), ["a"])
    assert source is not None
    assert source.nbytes == 8000
    assert digest_speed() > 1e7


def test_the_cost_rule():
    """A digest is read twice, by the fit that keeps and by the one that takes."""
    assert is_worth_keeping(seconds=0.21, nbytes=1000, speed=10_000)
    assert not is_worth_keeping(seconds=0.19, nbytes=1000, speed=10_000)


def cache_of(nbytes: int, speed: float = 1e12) -> LineageCache:
    """One with a budget of so many values of 1,000 bytes, besides their keys."""
    return LineageCache(lambda: nbytes, lambda: speed)


def key(number: int) -> Key:
    return Key("outline", b"digest", number)


def test_the_budget_evicts_what_saves_least_for_its_bytes():
    kept = cache_of(3 * (1000 + KEY_BYTES))
    for number, seconds in enumerate([3.0, 1.0, 2.0]):
        kept.put(key(number), np.zeros(125), seconds)
    assert (len(kept), kept.nbytes) == (3, 3 * (1000 + KEY_BYTES))
    kept.put(key(3), np.zeros(125), 2.5)
    assert [kept.get(key(number)) is None for number in range(4)] == [False, True, False, False]
    kept.put(key(4), np.zeros(250), 3.5)  # twice the bytes
    assert kept.nbytes <= 3 * (1000 + KEY_BYTES)
    assert kept.get(key(2)) is None


def test_what_nobody_asks_for_leaves_in_the_end():
    kept = cache_of(2 * (1000 + KEY_BYTES))
    kept.put(key(-1), np.zeros(125), 3.0)
    for number in range(8):
        kept.put(key(number), np.zeros(125), 1.0)
    assert kept.get(key(-1)) is None
    assert kept.get(key(7)) is not None


def test_a_value_larger_than_the_budget_is_not_kept():
    kept = cache_of(1000)
    kept.put(key(0), np.zeros(1000), 9.0)
    assert (len(kept), kept.nbytes, kept.knows("outline")) == (0, 0, False)


def test_the_same_lineage_twice_is_one_entry():
    kept = cache_of(1 << 20)
    for _ in range(2):
        kept.put(key(0), np.zeros(125), 1.0)
    assert (len(kept), kept.nbytes) == (1, 1000 + KEY_BYTES)


def test_a_copy_begins_empty():
    kept = LineageCache()
    kept.put(key(0), np.zeros(125), 1.0)
    assert len(pickle.loads(pickle.dumps(kept))) == 0


def test_sizes():
    assert bytes_of([(np.zeros(2), np.zeros(3))]) == 40
    assert bytes_of(EncodedColumn(("a",), np.zeros(100, np.int8))) > 100
    assert bytes_of(frozenset({1})) > 0


def test_a_digest_without_xxhash_is_sha256(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "xxhash", None)
    assert len({digest_of(np.zeros(3)), digest_of(np.ones(3)), digest_of(np.zeros(4))}) == 3
    assert len(digest_of(np.zeros(3))) == 32


def test_free_memory_that_nobody_tells(monkeypatch: pytest.MonkeyPatch):
    assert quarter_of_free_memory() > 0
    monkeypatch.setattr("pathlib.Path.read_text", lambda _: "MemTotal: 8 kB")
    assert quarter_of_free_memory() == BUDGET
    monkeypatch.setattr("pathlib.Path.read_text", lambda _: (_ for _ in ()).throw(OSError()))
    assert quarter_of_free_memory() == BUDGET


def derived(cache: LineageCache | None, rows: np.ndarray) -> Derived:
    return Derived(cache, rows.shape, lambda: Source.of(rows, range(rows.shape[1])))


def test_a_source_is_read_only_where_something_may_be_found():
    reads: list[int] = []

    def source() -> Source | None:
        reads.append(1)
        return Source.of(rows, range(2))

    rows, kept = np.ones((10, 2)), cache_of(1 << 20)
    first = Derived(kept, rows.shape, source)
    assert first.of("sum", "sum", rows.sum) == 20
    assert not reads
    first.keep()
    second = Derived(kept, rows.shape, source)
    assert second.of("sum", "sum", lambda: pytest.fail("it is kept")) == 20
    assert (second.taken, len(reads)) == (["sum"], 2)
    rows[3] = 5
    assert derived(kept, rows).of("sum", "sum", rows.sum) == 28
    assert Derived(kept, (5, 2), lambda: pytest.fail("it looks unlike")).of("sum", "sum", lambda: 7) == 7


@pytest.mark.parametrize(("speed", "entries"), [(1e12, 1), (1.0, 0)], ids=["worth it", "cheaper to compute"])
def test_what_is_cheaper_than_its_digest_is_not_kept(speed: float, entries: int):
    rows, kept = np.ones((10, 2)), cache_of(1 << 20, speed)
    own = derived(kept, rows)
    own.of("sum", "sum", rows.sum)
    own.keep()
    assert len(kept) == entries


def test_values_in_values_have_their_own_seconds():
    """The seconds of an outer value are without those of an inner one."""
    rows, kept = np.ones((10, 2)), cache_of(1 << 20)
    own = derived(kept, rows)
    own.of("outer", "outer", lambda: own.of("inner", "inner", lambda: sum(range(10**6))))
    own.keep()
    entries = {key.lineage: entry.seconds for key, entry in kept._entries.items()}  # noqa: SLF001
    assert entries["outer"] < entries["inner"]


def test_nothing_is_kept_without_a_cache_or_a_source():
    assert derived(None, np.ones((1, 1))).of("sum", "sum", lambda: 3) == 3
    kept = cache_of(1 << 20)
    own = Derived(kept, (), lambda: None)
    assert own.of("sum", "sum", lambda: 3) == 3
    own.keep()
    assert len(kept) == 0


def test_arrays_with_the_same_bytes_and_other_shapes_are_others():
    assert digest_of(np.zeros((2, 3))) != digest_of(np.zeros((3, 2))) != digest_of(np.zeros(3), np.zeros(3))
