"""Cost models on made-up data, and on schedules that were measured on a Zen 4 with one thread.

`measured_schedules.json` holds the least of several times of each, in microseconds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from schedule_templates import conv, gemm, kernel_and_schedule
from scipy.stats import spearmanr

from tilework.algebra.errors import UsageError
from tilework.targets import parse_target
from tilework.targets.cpu.target import CpuTarget
from tilework.tuning.features import symbolic_nest
from tilework.tuning.features.columns import names
from tilework.tuning.models import Analytic, BoostedTrees, CostModel, Pooled, Residual

TEMPLATES = {"gemm": gemm, "conv": conv}
RECORDS: Mapping[str, Any] = json.loads((Path(__file__).parent / "measured_schedules.json").read_text())
TARGET = CpuTarget.of(parse_target(RECORDS["target"]), "llvm")
MODELS = [lambda: BoostedTrees(), lambda: Residual(TARGET), lambda: Pooled(BoostedTrees(), [made_up(30, 5)])]


@cache
def measured(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The features and the scores of a kernel's configurations."""
    task = RECORDS["tasks"][name]
    rows = np.array(task["rows"])
    table = np.zeros((len(rows), len(names())))
    for at, structure in enumerate(task["structures"]):
        here = rows[:, 0] == at
        nest = symbolic_nest(*kernel_and_schedule(TEMPLATES[task["template"]](**task["sizes"], **structure)), TARGET)
        table[here] = nest.features({k: rows[here, 1 + i] for i, k in enumerate(task["knobs"])})
    return table, rows[:, -1].min() / rows[:, -1]


def made_up(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Configurations whose time is what the analytic model says, times what one of the features tells."""
    rng = np.random.default_rng(seed)
    table = rng.uniform(8, 16, (count, len(names())))
    scores = 1 / (Analytic(TARGET).cycles(table) * np.where(table[:, 0] > 12, 8.0, 1.0))
    return table, scores / scores.max()


def order(model: CostModel, table: np.ndarray, scores: np.ndarray) -> float:
    """How well a model orders configurations: 1 for the right order, 0 for any."""
    return float(spearmanr(model.predict(table), scores).statistic)


# -- what was measured


@pytest.mark.parametrize("name, least", [("gemm", 0.75), ("conv", 0.65)])
def test_the_analytic_model_orders_what_was_measured(name: str, least: float):
    table, scores = measured(name)
    assert order(Analytic(TARGET), table, scores) >= least


@pytest.mark.parametrize("name", ["gemm", "conv"])
def test_the_first_that_the_analytic_model_proposes_is_good(name: str):
    table, scores = measured(name)
    first = np.argsort(-Analytic(TARGET).predict(table))[:8]
    assert scores[first].max() >= 0.9 and scores[first].mean() >= 1.5 * scores.mean()


@pytest.mark.parametrize("name", ["gemm", "conv"])
def test_the_residual_model_learns_from_what_was_measured(name: str):
    table, scores = measured(name)
    learned, unknown = np.arange(len(scores) // 2), np.arange(len(scores) // 2, len(scores))
    model = Residual(TARGET)
    assert order(model, table, scores) == order(Analytic(TARGET), table, scores)
    model.fit(table[learned], scores[learned] / scores[learned].max())
    alone = BoostedTrees()
    alone.fit(table[learned], scores[learned])
    found = order(model, table[unknown], scores[unknown])
    assert found >= 0.7 and found >= order(alone, table[unknown], scores[unknown])


def test_records_of_another_kernel_help_where_there_are_few():
    table, scores = measured("gemm")
    alone, pooled = BoostedTrees(), Pooled(BoostedTrees(), [measured("conv")])
    assert order(pooled, table, scores) > 0.3  # of a kernel that it has never seen
    gains: list[float] = []
    for seed in range(4):
        few, others = np.split(np.random.default_rng(seed).permutation(len(scores)), [8])
        for model in (alone, pooled):
            model.fit(table[few], scores[few])
        orders = [order(model, table[others], scores[others]) for model in (alone, pooled)]
        gains.append(orders[1] - orders[0])
    assert np.mean(gains) > 0


# -- what is made up


@pytest.mark.parametrize("model", MODELS, ids=["trees", "residual", "pooled"])
def test_models_learn_what_one_feature_tells(model: Any):
    model = model()
    table, scores = made_up(150, 0)
    model.fit(table, scores)
    unknown, expected = made_up(100, 1)
    assert order(model, unknown, expected) > 0.6


def test_the_residual_model_knows_more_than_either_part():
    table, scores = made_up(60, 0)
    unknown, expected = made_up(200, 1)
    residual, trees = Residual(TARGET), BoostedTrees()
    residual.fit(table, scores)
    trees.fit(table, scores)
    found = order(residual, unknown, expected)
    assert found > order(trees, unknown, expected) + 0.1
    assert found > order(Analytic(TARGET), unknown, expected) + 0.1


def test_the_analytic_model_counts_what_takes_longest():
    rows = np.zeros((3, len(names())))
    busy, waiting, start = (names().index(f"{part} cycles") for part in ("busy", "waiting", "start"))
    rows[0, busy] = rows[1, busy] = 20
    rows[1, waiting] = 22
    rows[2, busy], rows[2, start] = 20, 21
    cycles = Analytic(TARGET).cycles(rows)
    assert cycles[0] == pytest.approx(2**20) and 2**22 < cycles[1] < 2**22 + 2**20
    assert cycles[2] == pytest.approx(2**20 + 2**21)
    assert Analytic(TARGET).predict(rows)[0] == 1  # the best of a table, as long as nothing was measured


def test_scores_after_measuring_are_relative_to_the_best_that_was_measured():
    table, scores = made_up(50, 0)
    model = Analytic(TARGET)
    model.fit(table, scores)
    assert np.median(model.predict(table) / scores) == pytest.approx(1, rel=0.5)


def test_old_rows_count_as_much_as_new_ones():
    """Many old rows that say the opposite do not drown the new ones."""
    table, scores = made_up(40, 0)
    old, opposite = made_up(400, 1)
    pooled = Pooled(BoostedTrees(), [(old, opposite.min() / opposite)])
    pooled.fit(table, scores)
    assert order(pooled, table, scores) > 0.5


@pytest.mark.parametrize("model", MODELS, ids=["trees", "residual", "pooled"])
def test_the_same_data_gives_the_same_model(model: Any):
    table, scores = made_up(40, 0)
    predictions = []
    for one in (model(), model()):
        one.fit(table, scores)
        predictions.append(one.predict(table))
    np.testing.assert_array_equal(*predictions)


def test_no_rows_have_no_scores():
    table, scores = made_up(20, 0)
    model = Residual(TARGET)
    model.fit(table, scores)
    assert model.predict(table[:0]).shape == Analytic(TARGET).predict(table[:0]).shape == (0,)


# -- wrong use


@pytest.mark.parametrize(
    "table, scores, message",
    [
        (np.zeros((0, 3)), np.zeros(0), "a model learns from one configuration or more; none was measured"),
        (
            np.zeros((2, 3)),
            np.array([1.0, 0.0]),
            "scores are above 0: a configuration that failed has none, leave it out",
        ),
        (
            np.zeros((2, 3)),
            np.ones(3),
            "a model learns from a table of features and a score for each row, not from shapes [2, 3] and [3]",
        ),
    ],
)
@pytest.mark.parametrize("model", [*MODELS[:2], lambda: Analytic(TARGET)], ids=["trees", "residual", "analytic"])
def test_what_cannot_be_learned_is_refused(model: Any, table: np.ndarray, scores: np.ndarray, message: str):
    with pytest.raises(UsageError) as refusal:
        model().fit(table, scores)
    assert str(refusal.value) == message


def test_trees_that_were_not_fitted_say_so():
    with pytest.raises(UsageError, match="trees know nothing before they were fitted; Analytic and Residual do"):
        BoostedTrees().predict(np.zeros((1, len(names()))))


def test_a_pool_is_not_empty():
    with pytest.raises(UsageError, match="a pool has records of one other kernel or more"):
        Pooled(BoostedTrees(), [])
