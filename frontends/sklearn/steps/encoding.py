"""Encoders: what the codes of a dictionary stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder
from xdsl.dialects.builtin import StringAttr

from tilework.dialects.bag import LookupOp, OneHotOp
from tilework.frontends.sklearn.emitter import FLOATS, Columns, Emitter, Features, Numbers, Step, Unsupported, step
from tilework.runtime.pipelines.dictionary import Dictionary


def columns_of(e: Emitter, estimator: Any, x: Features) -> Columns:
    """The columns that an encoder reads. Raises Unsupported for anything else."""
    if not isinstance(x, Columns):
        raise Unsupported(f"{type(estimator).__name__} of numbers that are computed")
    if estimator.min_frequency is not None or estimator.max_categories is not None:
        raise Unsupported(f"{type(estimator).__name__} with min_frequency or max_categories")
    return x


def float_name(estimator: Any) -> str:
    """The name of the floating-point type that an encoder makes. Raises Unsupported for any other."""
    name = np.dtype(estimator.dtype).name
    if name not in FLOATS:
        raise Unsupported(f"{type(estimator).__name__}(dtype={name})")
    return name


def dictionaries(e: Emitter, estimator: Any, x: Columns, *, strict: bool) -> list[Dictionary]:
    """The dictionary of each column: as the encoder has been fitted, or of all values that are there."""
    if e.data is not None:
        if not isinstance(estimator.categories, str):
            raise Unsupported(f"{type(estimator).__name__} with given categories is not learned")
        values = [e.data.values_of(key) for key in x.keys]
    else:
        values = [categories.tolist() for categories in estimator.categories_]
    return [Dictionary(tuple(v), x.fills.get(key), strict) for key, v in zip(x.keys, values, strict=True)]


@step(OneHotEncoder)
class OneHot(Step):
    """A column for each value, of which those that the encoder drops are left out."""

    @classmethod
    def convert(cls, e: Emitter, estimator: Any, x: Features) -> Features:
        columns = columns_of(e, estimator, x)
        dtype = float_name(estimator)
        if estimator.handle_unknown not in ("error", "ignore"):
            raise Unsupported(f"OneHotEncoder(handle_unknown={estimator.handle_unknown!r})")
        found = dictionaries(e, estimator, columns, strict=estimator.handle_unknown == "error")
        dropped: list[int | None] = [None] * len(found)
        if estimator.drop is not None:
            if e.data is not None:
                raise Unsupported("OneHotEncoder(drop=...) is not learned")
            if estimator.drop_idx_ is not None:
                dropped = list(estimator.drop_idx_)
        parts: list[Numbers] = []
        for key, dictionary, without in zip(columns.keys, found, dropped, strict=True):
            name = StringAttr(e.codes(key, dictionary))
            part = Numbers(e.insert(OneHotOp.of(e.table, column=name, dtype=FLOATS[dtype])))
            kept = [code for code in range(len(dictionary.values)) if code != without]
            parts.append(part if without is None else e.taken(part, kept))
        return e.beside(parts)


@step(OrdinalEncoder)
class Ordinal(Step):
    """The number of each value; another number for one that is not known, another for a missing one."""

    @classmethod
    def convert(cls, e: Emitter, estimator: Any, x: Features) -> Features:
        columns = columns_of(e, estimator, x)
        if e.data is not None:
            raise Unsupported("OrdinalEncoder is not learned")
        dtype, strict = float_name(estimator), estimator.handle_unknown == "error"
        parts: list[Numbers] = []
        for key, dictionary in zip(columns.keys, dictionaries(e, estimator, columns, strict=strict), strict=True):
            values = dictionary.values
            table = np.array([*range(len(values)), np.nan if strict else estimator.unknown_value], np.float64)
            for code, value in enumerate(values):
                if value is None or value != value:
                    table[code] = estimator.encoded_missing_value
            name = StringAttr(e.codes(key, dictionary))
            rows = e.parameter("ordinalencoder.numbers", table[:, None], dtype)
            part = e.insert(LookupOp.of(e.table, rows, column=name))
            parts.append(Numbers(part, frozenset([key]) if np.isnan(table[:-1]).any() else frozenset()))
        return e.beside(parts)
