"""The trees of ai.onnx.ml as tables of nodes, in which every decision is whether a number is at most a threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tilework.frontends.onnx.node import Node
from tilework.frontends.onnx.values import Array

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER")
"""The kinds of decisions, by the numbers that a TreeEnsemble has for them."""

MEMBER = MODES.index("BRANCH_MEMBER")

LEAF = "LEAF"


@dataclass(frozen=True)
class Forest:
    """Trees as `walk_trees` takes them: an element, or a row of values, for each node."""

    roots: Array
    columns: Array
    thresholds: Array
    left: Array
    right: Array
    missing_left: Array
    values: Array
    depth: int

    def tables(self) -> list[tuple[str, Array]]:
        """The tables with their names, in the order of `walk_trees`."""
        names = ("roots", "columns", "thresholds", "left", "right", "missing_left", "values")
        return [(name, getattr(self, name)) for name in names]


@dataclass
class Planter:
    """Puts nodes into tables; what a node decides on may take several."""

    targets: int
    columns: list[int] = field(default_factory=list[int])
    thresholds: list[float] = field(default_factory=list[float])
    branches: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    missing_left: list[bool] = field(default_factory=list[bool])
    values: list[Array] = field(default_factory=list[Array])

    def node(self) -> int:
        """A new node, a leaf without values."""
        at = len(self.columns)
        self.columns.append(0)
        self.thresholds.append(0.0)
        self.branches.append((at, at))
        self.missing_left.append(False)
        self.values.append(np.zeros(self.targets, np.float64))
        return at

    def decide(self, at: int, mode: str, column: int, numbers: Sequence[float], yes: int, no: int, nan: bool) -> None:
        """Let a node go on at `yes` where its column's number is as the mode says, else at `no`; NaN at `yes` if `nan`.

        x < t is x <= the number before t, and x == t is x <= t without x < t.
        """
        first = float(numbers[0])
        before = float(np.nextafter(first, -np.inf))
        match mode:
            case "BRANCH_LEQ":
                self._at_most(at, column, first, yes, no, nan)
            case "BRANCH_LT":
                self._at_most(at, column, before, yes, no, nan)
            case "BRANCH_GT":
                self._at_most(at, column, first, no, yes, not nan)
            case "BRANCH_GTE":
                self._at_most(at, column, before, no, yes, not nan)
            case "BRANCH_NEQ":
                self.decide(at, "BRANCH_EQ", column, numbers, no, yes, not nan)
            case _:
                rest = self.node() if len(numbers) > 1 else no
                is_least = self.node()
                self._at_most(is_least, column, before, rest, yes, nan)
                self._at_most(at, column, first, is_least, rest, False)
                if nan and len(numbers) == 1:
                    self._pass_missing(at, column, first, is_least, no, yes)
                if len(numbers) > 1:
                    self.decide(rest, mode, column, numbers[1:], yes, no, nan)

    def _at_most(self, at: int, column: int, threshold: float, left: int, right: int, nan: bool) -> None:
        self.columns[at], self.thresholds[at] = column, threshold
        self.branches[at], self.missing_left[at] = (left, right), nan

    def _pass_missing(self, at: int, column: int, threshold: float, left: int, no: int, yes: int) -> None:
        """Send NaN, which is at most no threshold, to `yes`: above the largest number there is nothing else."""
        above = self.node()
        self._at_most(at, column, threshold, left, above, False)
        self._at_most(above, column, float("inf"), no, yes, False)

    def forest(self, roots: Sequence[int]) -> Forest:
        """The tables."""
        left, right = np.array(self.branches, np.int64).reshape(-1, 2).T
        return Forest(
            np.array(roots, np.int64),
            np.array(self.columns, np.int64),
            np.array(self.thresholds, np.float64),
            left.copy(),
            right.copy(),
            np.array(self.missing_left, bool),
            np.array(self.values, np.float64).reshape(-1, self.targets),
            _depth(roots, left, right),
        )


def by_keys(node: Node, kind: str, targets: int) -> Forest:
    """The trees of a node whose nodes and leaves have the numbers of trees, and numbers in these."""
    keys = [*zip(_attribute(node, "nodes_treeids"), _attribute(node, "nodes_nodeids"), strict=True)]
    if not keys:
        raise node.error("it has no trees")
    planter, modes = Planter(targets), [_text(mode) for mode in node.attribute("nodes_modes")]
    places = {key: planter.node() for key in keys}
    thresholds, missing = _values_of(node, "nodes_values"), node.attribute("nodes_missing_value_tracks_true")
    columns = _attribute(node, "nodes_featureids")
    children = [_attribute(node, f"nodes_{name}nodeids") for name in ("true", "false")]
    for i, (key, mode) in enumerate(zip(keys, modes, strict=True)):
        if mode == LEAF:
            continue
        if mode not in MODES[:MEMBER]:
            raise node.error(f"a node decides by {mode}, which is none of {', '.join(MODES[:MEMBER])}")
        ends = [(key[0], ids[i]) for ids in children]
        if any(end not in places for end in ends):
            raise node.error(f"a node goes on at one that tree {key[0]} does not have")
        yes, no = (places[end] for end in ends)
        planter.decide(places[key], mode, columns[i], [thresholds[i]], yes, no, bool(missing[i]) if missing else False)
    _give_values(node, kind, planter, places)
    inner = {child for i, mode in enumerate(modes) if mode != LEAF for child in ((keys[i][0], c[i]) for c in children)}
    return planter.forest([places[key] for key in keys if key not in inner])


def _give_values(node: Node, kind: str, planter: Planter, places: dict[tuple[int, int], int]) -> None:
    """Put the weights of leaves where they are."""
    leaves = zip(_attribute(node, f"{kind}_treeids"), _attribute(node, f"{kind}_nodeids"), strict=True)
    targets = _attribute(node, f"{kind}_ids")
    for leaf, target, weight in zip(leaves, targets, _values_of(node, f"{kind}_weights"), strict=True):
        if leaf not in places or not 0 <= target:
            raise node.error(f"it has a weight for node {leaf[1]} of tree {leaf[0]}, which is not there")
        planter.values[places[leaf]][target if planter.targets > 1 else 0] += weight


def by_numbers(node: Node) -> Forest:
    """The trees of a TreeEnsemble, whose nodes and leaves have numbers of their own."""
    planter, modes = Planter(node.attribute("n_targets", 1)), node.attribute("nodes_modes")
    inner = [planter.node() for _ in modes]
    leaves: list[int] = []
    for target, weight in zip(_attribute(node, "leaf_targetids"), node.attribute("leaf_weights"), strict=True):
        leaves.append(planter.node())
        planter.values[-1][target] = weight
    members: list[list[float]] = _members(node.attribute("membership_values"))
    missing = node.attribute("nodes_missing_value_tracks_true")
    for i, (mode, split) in enumerate(zip(modes, node.attribute("nodes_splits"), strict=True)):
        yes, no = (_end(node, name, i, leaves, inner) for name in ("true", "false"))
        numbers = members.pop(0) if mode == MEMBER else [float(split)]
        column = _attribute(node, "nodes_featureids")[i]
        nan = bool(missing[i]) if missing else False
        planter.decide(inner[i], MODES[int(mode)], column, numbers, yes, no, nan)
    return planter.forest([inner[root] for root in _attribute(node, "tree_roots")])


def _end(node: Node, name: str, i: int, leaves: Sequence[int], inner: Sequence[int]) -> int:
    """The leaf or the other node that a branch of node `i` leads to."""
    places = leaves if _attribute(node, f"nodes_{name}leafs")[i] else inner
    return places[_attribute(node, f"nodes_{name}nodeids")[i]]


def _members(array: Array | None) -> list[list[float]]:
    """The sets of numbers that NaN stands between."""
    sets: list[list[float]] = [[]]
    for number in () if array is None else array.tolist():
        if number == number:
            sets[-1].append(number)
        else:
            sets.append([])
    return sets


def _attribute(node: Node, name: str) -> list[int]:
    return [*node.attribute(name, ())]


def _values_of(node: Node, name: str) -> list[float]:
    """Numbers that are an attribute of f32, or one that is a tensor."""
    tensor = node.attribute(f"{name}_as_tensor")
    return [*node.attribute(name, ())] if tensor is None else tensor.tolist()


def _text(mode: Any) -> str:
    return mode.decode() if isinstance(mode, bytes) else mode


def _depth(roots: Sequence[int], left: Array, right: Array) -> int:
    """How many steps lead to the farthest leaf."""
    depth, reached = 0, np.unique(np.array(roots, np.int64))
    while True:
        reached = reached[left[reached] != reached]
        if not reached.size or depth > len(left):
            return depth
        reached = np.unique(np.concatenate([left[reached], right[reached]]))
        depth += 1
