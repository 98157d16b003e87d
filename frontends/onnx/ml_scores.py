"""From the scores of classes to what a classifier of ai.onnx.ml returns: labels, and scores after a function."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import BoolAttr

from tilework.dialects.graph import ArgMaxOp, ConcatOp, GatherOp, LessOp, NegOp, SigmoidOp, SoftmaxOp, SubOp, WhereOp
from tilework.frontends.onnx.node import Node, int_attr, value_dims
from tilework.frontends.onnx.values import Array, Known, Value


def transformed(node: Node, scores: Value, function: str | None = None) -> Value:
    """The scores after a function, by default that which the node names. Raises TileworkError for the rarer ones."""
    match function or node.attribute("post_transform", "NONE"):
        case "NONE":
            return scores
        case "LOGISTIC":
            return node.emit(SigmoidOp, scores)
        case "SOFTMAX":
            return node.emit(SoftmaxOp, scores, axis=int_attr(1))
        case other:
            raise node.error(f"its post_transform {other} is not supported; NONE, LOGISTIC and SOFTMAX are")


def labels(node: Node, name: str) -> Array:
    """The classes that a node names by integers."""
    if node.attribute("classlabels_strings"):
        raise node.error("its classes are texts, which Tilework does not compute with")
    classes = np.array(node.attribute(name, []), np.int64)
    if not classes.size:
        raise node.error(f"it has no {name}")
    return classes


def classified(node: Node, scores: Value, classes: Array, certain: bool = False) -> Sequence[Value]:
    """The label of each row of scores [rows, classes], and the scores after the node's function.

    Of two classes there may be the score of the second one alone: it is chosen above 0, or, where scores are
    probabilities (`certain`), above one half, and the first one's score is what is left of 1, else the opposite.
    """
    if value_dims(scores)[1] == 1 and len(classes) == 2:
        return _of_two(node, scores, classes, certain)
    along = {"axis": int_attr(1), "keep_dims": BoolAttr.from_bool(False), "last": BoolAttr.from_bool(False)}
    best = node.emit(ArgMaxOp, scores, **along)
    return [node.emit(GatherOp, Known(classes, node.title), best, axis=int_attr(0)), transformed(node, scores)]


def _of_two(node: Node, score: Value, classes: Array, certain: bool) -> Sequence[Value]:
    first, second = (Known(classes[i : i + 1].reshape(()), node.title) for i in (0, 1))
    bound = node.scalar(0.5 if certain else 0.0, score)
    is_second = node.reshape(node.emit(LessOp, bound, score), [value_dims(score)[0]])
    chosen = node.emit(WhereOp, is_second, second, first)
    other = node.emit(SubOp, node.scalar(1.0, score), score) if certain else node.emit(NegOp, score)
    return [chosen, transformed(node, node.emit(ConcatOp, other, score, axis=int_attr(1)))]
