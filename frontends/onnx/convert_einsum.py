"""Converter: Einsum, as sums, products of matrices and transposes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from string import ascii_letters

from xdsl.dialects.builtin import BoolAttr

from tilework.algebra.index_expr import Expr, broadcast, const, product
from tilework.dialects.graph import GatherOp, MatmulOp, MulOp, ReduceSumOp, TransposeOp
from tilework.dialects.graph.base import ints
from tilework.frontends.onnx.node import Node, converter, int_attr, value_dims
from tilework.frontends.onnx.sizes import repeated, section
from tilework.frontends.onnx.values import Value


@dataclass(frozen=True)
class _Term:
    """A tensor and a letter for each of its axes."""

    value: Value
    letters: str


@converter("Einsum")
def einsum(node: Node) -> Value:
    """Operands are joined from the left, two by two, each time as far as nothing else needs."""
    terms, result = _parsed(node)
    sizes = _sizes(node, terms, result)
    first, *others = (_without_broadcast(node, term, sizes) for term in terms)
    for i, other in enumerate(others):
        needed = {*result, *(letter for later in others[i + 1 :] for letter in later.letters)}
        first = _joined(node, first, other, needed, sizes)
    return _in_order(node, _summed(node, first, {*result}), result)


# ---- The equation ----------------------------------------------------------------------------------------------------


def _parsed(node: Node) -> tuple[list[_Term], str]:
    """The operands with the letters of their axes, and the letters of the result's; those of `...` are of our own."""
    equation = node.attribute("equation").replace(" ", "")
    left, arrow, right = equation.partition("->")
    inputs = left.split(",")
    if len(inputs) != len(node.inputs):
        raise node.error(f"its equation '{equation}' is of {len(inputs)} operands")
    named = [letters.replace("...", "") for letters in inputs]
    hidden = [len(node.dims(i)) - len(letters) for i, letters in enumerate(named)]
    own = "".join(letter for letter in ascii_letters if letter not in equation)[: max(hidden)]
    terms: list[_Term] = []
    for i, letters in enumerate(inputs):
        covered = own[len(own) - hidden[i] :] if hidden[i] > 0 else ""
        whole = letters.replace("...", covered)
        if len(whole) != len(node.dims(i)) or not set(whole) <= set(ascii_letters):
            raise node.error(f"'{letters}' of its equation does not fit input {i}, which has {len(node.dims(i))} axes")
        terms.append(_diagonal(node, _Term(node.value(i), whole)))
    if arrow:
        return terms, right.replace("...", own)
    once = [letter for letter, count in Counter("".join(named)).items() if count == 1]
    return terms, own + "".join(sorted(once))


def _diagonal(node: Node, term: _Term) -> _Term:
    """The tensor with one axis for each letter, those first that have several, which have one index there."""
    for letter, count in Counter(term.letters).items():
        if count == 1:
            continue
        at = [i for i, x in enumerate(term.letters) if x == letter]
        rest = [i for i, x in enumerate(term.letters) if x != letter]
        value, size = term.value, value_dims(term.value)[at[0]]
        for i in at[1:]:
            value = node.of_size(value, i, size, _differ(letter, size, value_dims(value)[i]))
        dims = value_dims(value)
        elements, step = product([size] * count), sum((product([size] * n) for n in range(count)), const(0))
        row = node.reshape(node.transposed(value, [*at, *rest]), [elements, *(dims[i] for i in rest)])
        letters = letter + "".join(term.letters[i] for i in rest)
        term = _Term(_every(node, row, size, step), letters)
    return term


def _every(node: Node, row: Value, size: Expr, step: Expr) -> Value:
    """So many elements of the first axis, so far from each other."""
    if step.constant is not None:
        return section(node, row, 0, const(0), size, step.constant)
    places = node.emit(MulOp, node.emitter.range(const(0), size, 1, node.title), node.size(step))
    return node.emit(GatherOp, row, places, axis=int_attr(0))


def _sizes(node: Node, terms: Sequence[_Term], result: str) -> dict[str, Expr]:
    """The size that each letter stands for."""
    sizes: dict[str, Expr] = {}
    equation = node.attribute("equation")
    for term in terms:
        for letter, size in zip(term.letters, value_dims(term.value), strict=True):
            known, what = sizes.get(letter, size), letter if letter in equation else "..."
            if letter in equation or (known.is_constant and size.is_constant and 1 not in (known, size)):
                node.require_equal(known, size, _differ(what, known, size))
            sizes[letter] = known if letter in equation else broadcast(known, size)
    if unknown := [letter for letter in result if letter not in sizes]:
        raise node.error(f"its result has an axis '{unknown[0]}', which no operand has")
    if len(set(result)) < len(result):
        raise node.error("its result has an axis twice, which is not supported")
    return sizes


def _differ(letter: str, one: Expr, other: Expr) -> str:
    return f"'{letter}' of its equation is {one} and {other}"


def _without_broadcast(node: Node, term: _Term, sizes: Mapping[str, Expr]) -> _Term:
    """The tensor without the axes of `...` that are of size 1 where others are not; of open ones as large as those."""
    dims = value_dims(term.value)
    kept = [(x, d) for x, d in zip(term.letters, dims, strict=True) if d == sizes[x] or d != 1]
    value = node.reshape(term.value, [d for _, d in kept])
    of_own, wanted = all(x in node.attribute("equation") for x, d in kept if d != sizes[x]), [sizes[x] for x, _ in kept]
    value = node.reshape(value, wanted) if of_own else repeated(node, value, wanted)
    return _Term(value, "".join(x for x, _ in kept))


# ---- Operators -------------------------------------------------------------------------------------------------------


def _joined(node: Node, a: _Term, b: _Term, needed: Set[str], sizes: Mapping[str, Expr]) -> _Term:
    """The product of two tensors, summed along what both have and nothing else needs."""
    a, b = (_summed(node, one, needed | {*other.letters}) for one, other in ((a, b), (b, a)))
    shared = [letter for letter in a.letters if letter in b.letters]
    batch, inner = ("".join(x for x in shared if (x in needed) == kept) for kept in (True, False))
    rows, columns = ("".join(x for x in one.letters if x not in shared) for one in (a, b))
    if not inner:
        letters = batch + rows + columns
        return _Term(node.emit(MulOp, *(_spread(node, one, letters, sizes) for one in (a, b))), letters)
    left = _grouped(node, a, [*batch, rows, inner], sizes)
    right = _grouped(node, b, [*batch, inner, columns], sizes)
    letters = batch + rows + columns
    return _Term(node.reshape(node.emit(MatmulOp, left, right), [sizes[x] for x in letters]), letters)


def _summed(node: Node, term: _Term, kept: Set[str]) -> _Term:
    """The sum along the axes that are not kept."""
    axes = [i for i, letter in enumerate(term.letters) if letter not in kept]
    if not axes:
        return term
    value = node.emit(ReduceSumOp, term.value, axes=ints(axes), keep_dims=BoolAttr.from_bool(False))
    return _Term(value, "".join(letter for letter in term.letters if letter in kept))


def _grouped(node: Node, term: _Term, groups: Sequence[str], sizes: Mapping[str, Expr]) -> Value:
    """The tensor with an axis for each group of letters, of size 1 for an empty one."""
    dims = [product(sizes[letter] for letter in group) if group else const(1) for group in groups]
    return node.reshape(_in_order(node, term, "".join(groups)), dims)


def _spread(node: Node, term: _Term, letters: str, sizes: Mapping[str, Expr]) -> Value:
    """The tensor with an axis for each letter, of size 1 where it has none."""
    ordered = _in_order(node, term, "".join(letter for letter in letters if letter in term.letters))
    return node.reshape(ordered, [sizes[letter] if letter in term.letters else const(1) for letter in letters])


def _in_order(node: Node, term: _Term, letters: str) -> Value:
    """The tensor with its axes in this order."""
    if term.letters == letters:
        return term.value
    return node.emit(TransposeOp, term.value, permutation=ints(term.letters.index(letter) for letter in letters))
