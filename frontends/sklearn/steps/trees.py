"""Decision trees, alone and in forests and boosted models: all nodes in one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from xdsl.dialects.builtin import IntegerAttr, UnitAttr, i64
from xdsl.ir import SSAValue

from tilework.dialects.matrix import TreesOp
from tilework.dialects.te.builder import KernelBuilder, Scalar
from tilework.frontends.sklearn.emitter import Array, Emitter, Features, Numbers, Step, Unsupported, step
from tilework.frontends.sklearn.untyped import allows_missing

DEEPEST = 64
"""Steps from a root, all of which every row takes: trees that are deeper stay scikit-learn's."""


@dataclass(frozen=True)
class Nodes:
    """The nodes of several trees behind one another: what `matrix.trees` takes."""

    roots: Array
    columns: Array
    thresholds: Array
    left: Array
    right: Array
    missing_left: Array
    values: Array
    depth: int

    @staticmethod
    def of(trees: list[Any], values: list[Array]) -> Nodes:
        """Those of scikit-learn's trees, with these values, a row for each node. Raises Unsupported."""
        depth = max(tree.max_depth for tree in trees)
        if depth > DEEPEST:
            raise Unsupported(f"a tree of depth {depth}, which is above {DEEPEST}")
        roots = np.cumsum([0, *(tree.node_count for tree in trees)])[:-1]
        firsts = [_links(tree.children_left, root) for root, tree in zip(roots, trees, strict=True)]
        seconds = [_links(tree.children_right, root) for root, tree in zip(roots, trees, strict=True)]
        return Nodes(
            roots,
            np.concatenate([np.maximum(tree.feature, 0) for tree in trees]),
            np.concatenate([tree.threshold for tree in trees]),
            np.concatenate(firsts),
            np.concatenate(seconds),
            np.concatenate([tree.missing_go_to_left.astype(bool) for tree in trees]),
            np.concatenate(values),
            depth,
        )

    def sums(self, e: Emitter, x: Numbers, *, wide: bool = False) -> Numbers:
        """Append the sums of the values of leaves; `wide`: of trees that compare numbers in double precision."""
        arrays = {"roots": self.roots, "columns": self.columns, "thresholds": self.thresholds}
        arrays |= {"left": self.left, "right": self.right, "missing": self.missing_left, "values": self.values}
        tables: list[SSAValue] = [e.parameter(f"trees.{name}", array, _dtype(array)) for name, array in arrays.items()]
        width = {"wide": UnitAttr()} if wide else {}
        return Numbers(e.insert(TreesOp.of(x.value, *tables, depth=IntegerAttr(self.depth, i64), **width)))


def _links(children: Array, root: int) -> Array:
    """The children of the nodes of a tree, numbered among the nodes of all trees; a leaf is its own child."""
    here: Array = np.arange(len(children))
    return root + np.where(children < 0, here, children)


def _dtype(array: Array) -> str:
    return {"b": "bool", "f": "float64"}.get(array.dtype.kind, "int64")


def _input(e: Emitter, estimator: Any, x: Features) -> Numbers:
    """The matrix that trees read. Raises Unsupported for several outputs."""
    if getattr(estimator, "n_outputs_", 1) != 1:
        raise Unsupported(f"{type(estimator).__name__} with several outputs")
    matrix = e.numbers(x)
    return matrix if allows_missing(estimator) else e.refuse_missing(matrix)


@step(
    DecisionTreeRegressor,
    DecisionTreeClassifier,
    RandomForestRegressor,
    RandomForestClassifier,
    ExtraTreesRegressor,
    ExtraTreesClassifier,
)
class Forest(Step):
    """The mean over all trees of what each says: a number, or the share of each class."""

    @classmethod
    def convert(cls, e: Emitter, estimator: Any, x: Features) -> Features:
        members: list[Any] = list(getattr(estimator, "estimators_", [estimator]))
        trees = [member.tree_ for member in members]
        count = float(len(trees))
        summed = Nodes.of(trees, [tree.value[:, 0, :] for tree in trees]).sums(e, _input(e, estimator, x))

        def mean(k: KernelBuilder, v: Scalar) -> Scalar:
            return v / count

        return e.map(summed, [], mean) if len(trees) > 1 else summed


@step(GradientBoostingRegressor, GradientBoostingClassifier)
class Boosted(Step):
    """What it begins with, and the sums over all rounds times the learning rate, with a column for each class."""

    @classmethod
    def convert(cls, e: Emitter, estimator: Any, x: Features) -> Features:
        if estimator.init is not None and estimator.init != "zero":
            raise Unsupported(f"{type(estimator).__name__} that begins with an estimator")
        matrix = e.refuse_missing(e.numbers(x))
        begun = estimator._raw_predict_init(np.zeros((1, estimator.n_features_in_), np.float32))  # noqa: SLF001
        width: int = estimator.estimators_.shape[1]
        columns: list[Numbers] = []
        for k in range(width):
            trees = [member.tree_ for member in estimator.estimators_[:, k]]
            columns.append(Nodes.of(trees, [tree.value[:, 0, :] for tree in trees]).sums(e, matrix))
        rate = np.full(width, estimator.learning_rate)
        vectors = [e.parameter("boosting.rate", rate), e.parameter("boosting.begin", np.ravel(begun))]

        def function(k: KernelBuilder, v: Scalar, rate: Scalar, begin: Scalar) -> Scalar:
            return begin + v * rate

        return e.map(e.beside(columns), vectors, function)


@step(HistGradientBoostingRegressor, HistGradientBoostingClassifier)
class BinnedBoosted(Step):
    """What it begins with, and the sums over all rounds, with a column for each class."""

    @classmethod
    def convert(cls, e: Emitter, estimator: Any, x: Features) -> Features:
        name = type(estimator).__name__
        if estimator.is_categorical_ is not None:
            raise Unsupported(f"{name} with categories")
        if hasattr(estimator, "loss") and estimator.loss in ("poisson", "gamma"):
            raise Unsupported(f"{name}(loss={estimator.loss!r})")
        matrix = e.numbers(x)
        rounds = list(zip(*([tree.nodes for tree in each] for each in estimator._predictors), strict=True))  # noqa: SLF001
        columns = [_binned(list(trees)).sums(e, matrix, wide=True) for trees in rounds]
        begin = e.parameter("boosting.begin", np.ravel(estimator._baseline_prediction))  # noqa: SLF001

        def function(k: KernelBuilder, v: Scalar, begin: Scalar) -> Scalar:
            return begin + v

        return e.map(e.beside(columns), [begin], function)


def _binned(trees: list[Array]) -> Nodes:
    """The nodes of trees, each in scikit-learn's array of records."""
    roots = np.cumsum([0, *(len(nodes) for nodes in trees)])[:-1]
    every = np.concatenate(trees)
    here, leaf = np.arange(len(every)), every["is_leaf"].astype(bool)
    first = np.repeat(roots, [len(nodes) for nodes in trees])
    left, right = (np.where(leaf, here, first + every[side].astype(np.int64)) for side in ("left", "right"))
    columns, goes_left = every["feature_idx"].astype(np.int64), every["missing_go_to_left"].astype(bool)
    depth = int(every["depth"].max())
    if depth > DEEPEST:
        raise Unsupported(f"a tree of depth {depth}, which is above {DEEPEST}")
    return Nodes(roots, columns, every["num_threshold"], left, right, goes_left, every["value"][:, None], depth)
