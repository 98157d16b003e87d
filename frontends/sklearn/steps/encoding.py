"""Encoders: what the codes of a dictionary stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from xdsl.dialects.builtin import StringAttr

from tilework.dialects.bag import LookupOp, OneHotOp
from tilework.frontends.sklearn.emitter import (
    FLOATS,
    Array,
    Columns,
    Emitter,
    Features,
    Learned,
    Numbers,
    Step,
    TrainingData,
    Unsupported,
    step,
)
from tilework.frontends.sklearn.untyped import clone, is_exactly
from tilework.runtime.pipelines.dictionary import OTHER, Dictionary


def columns_of(estimator: Any, x: Features) -> Columns:
    """The columns that an encoder reads. Raises Unsupported for anything else."""
    if not isinstance(x, Columns):
        raise Unsupported(f"{type(estimator).__name__} of numbers that are computed")
    return x


def float_name(estimator: Any) -> str:
    """The name of the floating-point type that holds what an encoder makes. Raises Unsupported where none does."""
    dtype = np.dtype(estimator.dtype)
    if dtype.kind not in "iub" and dtype.name not in FLOATS:
        raise Unsupported(f"{type(estimator).__name__}(dtype={dtype.name})")
    return dtype.name if dtype.name in FLOATS else "float64"


def fitted_to(e: Emitter, estimator: Any, x: Columns) -> Any:
    """The encoder as it has been fitted, or as it is when it has seen the values of all rows."""
    if e.data is None:
        return estimator
    data = e.data
    learned: Any = clone(estimator)
    if isinstance(estimator.categories, str):
        values = [_values(data, key, x.fills.get(key)) for key in x.keys]
    else:
        values = [np.asarray(given).tolist() for given in estimator.categories]
    learned.categories_ = [_array(v) for v in values]
    learned._check_infrequent_enabled()  # noqa: SLF001  what `fit` calls, with counts that are known already
    counts: list[Array] = []
    if learned._infrequent_enabled:  # noqa: SLF001
        counts = [_counts(data, key, x.fills.get(key), v) for key, v in zip(x.keys, values, strict=True)]
    finish_encoder(learned, counts, len(data))
    e.learned[id(estimator)] = Learned(estimator, lambda fitted, _, rows: finish_encoder(fitted, counts, rows))
    return learned


def finish_encoder(encoder: Any, counts: list[Array], rows: int) -> None:
    """Let an encoder that knows all values know which of them are frequent, and which it drops."""
    missing: dict[int, int] = {}
    if is_exactly(encoder, OrdinalEncoder):
        found = {i: len(values) - 1 for i, values in enumerate(encoder.categories_)}
        missing = {i: last for i, last in found.items() if encoder.categories_[i][last] != encoder.categories_[i][last]}
        encoder._missing_indices = missing  # noqa: SLF001
    if counts:
        encoder._fit_infrequent_category_mapping(rows, counts, missing)  # noqa: SLF001
    if is_exactly(encoder, OneHotEncoder):
        encoder._set_drop_idx()  # noqa: SLF001
        encoder._n_features_outs = encoder._compute_n_features_outs()  # noqa: SLF001


def _values(data: TrainingData, key: Any, fill: Any) -> list[Any]:
    """The values of a column in which another one stands for NaN."""
    found = list(data.encoded(key).ordered)
    known = [v for v in found if v == v]
    if fill is None or len(known) == len(found):
        return found
    return [*sorted({*(v for v in known if v is not None), fill}), *([None] if None in known else [])]


def _counts(data: TrainingData, key: Any, fill: Any, values: list[Any]) -> Array:
    """How often each value stands in a column, and those that are missing as the one that is filled in."""
    found = data.whole(key)
    counts = np.array(found.counts_of(values))
    if fill is not None:
        counts[[value == fill for value in values]] += found.counts_of([np.nan])[0]
    return counts


def _array(values: list[Any]) -> Array:
    made = np.empty(len(values), object)
    made[:] = values
    return made


def dictionary_of(encoder: Any, column: int, fill: Any, *, strict: bool) -> Dictionary:
    """What an encoder makes of the values of a column: infrequent ones, if there are some, are one."""
    values: tuple[Any, ...] = tuple(encoder.categories_[column].tolist())
    warning = _warning(encoder, column)
    mapping = encoder._default_to_infrequent_mappings[column] if encoder._infrequent_enabled else None  # noqa: SLF001
    if mapping is None:
        return Dictionary(values, fill, strict, warning=warning)
    groups = mapping.tolist()
    infrequent = max(groups)
    if len(groups) < len(values):  # a missing value keeps a place of its own
        groups.append(infrequent + 1)
    other = infrequent if encoder.handle_unknown in ("infrequent_if_exist", "warn") else OTHER
    return Dictionary(values, fill, strict, tuple(groups), other, warning)


def _warning(encoder: Any, column: int) -> str:
    """What an encoder says of a column with values that it does not know, if it says something."""
    mode = encoder.handle_unknown
    if not is_exactly(encoder, OneHotEncoder) or mode == "error" or (mode != "warn" and encoder.drop is None):
        return ""
    found = f"Found unknown categories in columns [{column}] during transform. These unknown categories will be"
    return f"{found} encoded as {'all zeros' if mode == 'ignore' else 'the infrequent category.'}"


@step(OneHotEncoder)
class OneHot(Step):
    """A column for each value, of which those that the encoder drops are left out."""

    @classmethod
    def convert(cls, e: Emitter, estimator: Any, x: Features) -> Features:
        columns = columns_of(estimator, x)
        dtype, strict = float_name(estimator), estimator.handle_unknown == "error"
        encoder = fitted_to(e, estimator, columns)
        parts: list[Numbers] = []
        ones, is_open = 0, e.data is not None and (estimator.sparse_output or encoder._infrequent_enabled)  # noqa: SLF001
        for i, key in enumerate(columns.keys):
            dictionary = dictionary_of(encoder, i, columns.fills.get(key), strict=strict)
            name = StringAttr(e.codes(key, dictionary))
            part = Numbers(e.insert(OneHotOp.of(e.table, column=name, dtype=FLOATS[dtype])))
            without: int | None = None if encoder.drop_idx_ is None else encoder.drop_idx_[i]
            dropped = without if without is None or dictionary.groups is None else dictionary.groups[without]
            if dropped is not None:
                part = e.taken(part, [code for code in range(dictionary.size) if code != dropped])
            if is_open and e.data is not None:
                ones += e.data.encoded(key).known_in(dictionary, dropped)
            parts.append(part)
        e.ones[id(estimator)] = ones
        e.is_open |= is_open
        return e.beside(parts)


@step(OrdinalEncoder)
class Ordinal(Step):
    """The number of each value; another number for one that is not known, another for a missing one."""

    @classmethod
    def convert(cls, e: Emitter, estimator: Any, x: Features) -> Features:
        columns = columns_of(estimator, x)
        dtype, strict = float_name(estimator), estimator.handle_unknown == "error"
        encoder = fitted_to(e, estimator, columns)
        parts: list[Numbers] = []
        for i, key in enumerate(columns.keys):
            dictionary = dictionary_of(encoder, i, columns.fills.get(key), strict=strict)
            table = np.array([*range(dictionary.size), np.nan if strict else estimator.unknown_value], np.float64)
            if i in encoder._missing_indices:  # noqa: SLF001
                table[dictionary.size - 1] = estimator.encoded_missing_value
            name = StringAttr(e.codes(key, dictionary))
            rows = e.parameter("ordinalencoder.numbers", table[:, None], dtype)
            part = e.insert(LookupOp.of(e.table, rows, column=name))
            parts.append(Numbers(part, frozenset([key]) if np.isnan(table[:-1]).any() else frozenset()))
        return e.beside(parts)
