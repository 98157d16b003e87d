"""What is known of the index values at a position in a loop nest, from the loops and conditions around it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from math import gcd

from xdsl.dialects.builtin import DenseArrayBase, DictionaryAttr
from xdsl.ir import Block, Operation, SSAValue

from tilework.algebra.bounds import Domain
from tilework.algebra.index_expr import Compound, Expr, Key, Var, maximum, minimum
from tilework.algebra.predicate import Predicate, at_least
from tilework.dialects.loop import ForOp, IfOp, KernelOp
from tilework.dialects.loop.annotations import SYMBOL_RANGES


class Scope:
    """The ranges of all index values that are visible at a position, and the conditions that hold there."""

    __slots__ = ("_domain", "facts")

    def __init__(self, domain: Domain | Callable[[], Domain], facts: frozenset[Predicate] = frozenset()):
        self._domain = domain
        self.facts = facts

    @property
    def domain(self) -> Domain:
        """The ranges. They are worked out when they are first asked for, since most branches hold nothing that asks."""
        if not isinstance(self._domain, Domain):
            self._domain = self._domain()
        return self._domain

    def inside_loop(self, index: SSAValue, lower: Expr, upper: Expr) -> Scope:
        """The scope of the body of a loop over `lower <= index < upper`."""
        # what runs is not empty: no maximum that ends it is an argument up to `lower`, no minimum one from `upper` on
        first = self._without("min", lower, lambda e: at_least(e, upper))
        end = self._without("max", upper, lambda e: at_least(lower, e))
        return Scope(positive(self.domain, upper - lower).extended(index, first, end - 1), self.facts)

    def _without(self, kind: str, e: Expr, is_other: Callable[[Expr], Predicate]) -> Expr:
        """Where `e` is a minimum or maximum and a number: that of the arguments of which `is_other` is not proven."""
        match e.terms:
            case ((Compound() as atom, 1),) if atom.kind == kind:
                left = [a for a in atom.args if not self.domain.proves(is_other(a + e.offset))]
                return (minimum if kind == "min" else maximum)(*left) + e.offset if left else e
            case _:
                return e

    def inside_if(self, conditions: Iterable[Predicate]) -> Scope:
        """The scope where all `conditions` hold."""
        known = tuple(conditions)
        return Scope(lambda: _where_all_hold(self.domain, known), self.facts | {*known}) if known else self

    def inside_else(self, conditions: Iterable[Predicate]) -> Scope:
        """The scope where not all `conditions` hold; more is known only where there is one of the kind `>=`."""
        only = list(conditions)
        if len(only) != 1 or only[0].kind != ">=":
            return self
        return self.inside_if([_negated(only[0])])

    def proves(self, p: Predicate) -> bool | None:
        """True or False where the predicate is decided here, None where it is not."""
        if p in self.facts:
            return True
        if p.kind == ">=" and _negated(p) in self.facts:
            return False
        return self.domain.proves(p)


def loops_around(op: Operation, inside: Operation | None = None) -> Iterator[ForOp]:
    """The loops that enclose an operation, innermost first; only those inside another operation, if one is given."""
    while (parent := op.parent_op()) is not inside and parent is not None:
        if isinstance(parent, ForOp):
            yield parent
        op = parent


def positive(domain: Domain, e: Expr) -> Domain:
    """The domain where an expression is 1 or more, as the extent of a loop that runs: none of its factors is 0."""
    if len(e.terms) != 1:
        return domain
    [(atom, c)] = e.terms
    least = -(-(1 - e.offset) // c)
    if c < 0 or least < 1:
        return domain
    if isinstance(atom, Var):
        first, last = domain.range_of(atom.key)
        is_less = first is not None and first.constant is not None and first.constant < least
        return domain.extended(atom.key, least, last) if is_less else domain
    match atom.kind:
        case "product" if all((low := domain.lower(a)) is not None and low >= 0 for a in atom.args):
            for factor in atom.args:
                domain = positive(domain, factor)
            return domain
        case "floordiv" if (d := atom.args[1].constant) is not None and d > 0:
            return positive(domain.narrowed(atom, least, None), atom.args[0] - (least * d - 1))
        case _:
            return domain


def kernel_scope(kernel: KernelOp) -> Scope:
    """The scope of a kernel's body: every symbol is a dimension, so 0 or more, but for those of which more is known."""
    domain = Domain({symbol: (0, None) for symbol in kernel.symbol_values})
    known = kernel.attributes.get(SYMBOL_RANGES)
    for name, symbol in zip(kernel.symbols, kernel.symbol_values, strict=True):
        ends = known.data.get(name.data) if isinstance(known, DictionaryAttr) else None
        if isinstance(ends, DenseArrayBase):
            least, greatest = ends.get_values()
            domain.add(symbol, least, greatest)
    return Scope(domain)


def scope_at(op: Operation) -> Scope:
    """The scope in which `op` stands."""
    parent = op.parent_op()
    if parent is None:
        return Scope(Domain())
    if isinstance(parent, KernelOp):
        return kernel_scope(parent)
    outer = scope_at(parent)
    block = op.parent_block()
    assert block is not None
    return scope_of_block(block, outer)


class Scopes:
    """The scopes in which operations stand, as they are when they are first asked for."""

    def __init__(self) -> None:
        self._of_blocks: dict[Block, Scope] = {}

    def at(self, op: Operation) -> Scope:
        """The scope in which `op` stands."""
        block = op.parent
        if block is None:
            return Scope(Domain())
        known = self._of_blocks.get(block)
        if known is None:
            known = self._of_blocks[block] = self._of(block)
        return known

    def _of(self, block: Block) -> Scope:
        parent = block.parent_op()
        if parent is None:
            return Scope(Domain())
        return kernel_scope(parent) if isinstance(parent, KernelOp) else scope_of_block(block, self.at(parent))

    def learn(self, block: Block, scope: Scope) -> None:
        """Let the scope of a block be this one."""
        self._of_blocks[block] = scope

    def forget(self, block: Block) -> None:
        """Work out the scope of a block again when it is asked for next: what is around the block has changed."""
        self._of_blocks.pop(block, None)


def scope_of_block(block: Block, outer: Scope) -> Scope:
    """The scope of a block whose parent operation stands in `outer`."""
    parent = block.parent_op()
    if isinstance(parent, ForOp):
        return outer.inside_loop(parent.index, parent.lower, parent.upper)
    if isinstance(parent, IfOp):
        if block.parent is parent.then_body:
            return outer.inside_if(parent.conditions)
        return outer.inside_else(parent.conditions)
    return outer


def walk_scoped(block: Block, scope: Scope) -> Iterator[tuple[Operation, Scope]]:
    """The operations in a block and inside them, each with its scope, outer ones first.

    The operation just yielded may be replaced; what it holds at that moment is walked next.
    """
    for op in list(block.ops):
        yield op, scope
        for region in op.regions:
            for inner in region.blocks:
                yield from walk_scoped(inner, scope_of_block(inner, scope))


def tightened(p: Predicate) -> Predicate:
    """An equivalent condition with coprime coefficients, on no quotient: `4*i - 3 >= 0` is `i - 1 >= 0`.

    `i floordiv 4 - 3 >= 0` is `i - 12 >= 0`.
    """
    terms, offset = p.expr.terms, p.expr.offset
    g = reduce(gcd, (c for _, c in terms), 0)
    if p.kind == "==" and g and offset % g:
        return Predicate(Expr((), 1), "==")
    if g > 1:
        terms, offset = tuple((a, c // g) for a, c in terms), offset // g
    match terms:
        case ((Compound(kind="floordiv", args=(x, divisor)), c),) if divisor.is_constant and p.kind == ">=":
            # x floordiv d >= -o  is  x >= -d * o;  x floordiv d <= o  is  x < d * (o + 1)
            d = divisor.offset
            return tightened(Predicate(x + d * offset if c > 0 else d * (offset + 1) - 1 - x))
        case _:
            return Predicate(Expr(terms, offset), p.kind)


def ends_from(p: Predicate, key: Key) -> tuple[Expr | None, Expr | None]:
    """The first and last value of `key` that `p` admits; None where it sets no such end or is not affine in it."""
    c = p.expr.coefficient(key)
    if c == 0 or not p.expr.is_affine_in(key):
        return None, None
    rest = p.expr - Expr(((Var(key), c),), 0)
    if p.kind == "==":
        return (-rest * c, -rest * c) if abs(c) == 1 else (None, None)
    # c*v + rest >= 0  is  v >= ceil(-rest / c)  for c > 0,  v <= floor(rest / -c)  for c < 0
    return (-(rest // c), None) if c > 0 else (None, rest // -c)


def _negated(p: Predicate) -> Predicate:
    return Predicate(-p.expr - 1)


def _where_all_hold(domain: Domain, conditions: Iterable[Predicate]) -> Domain:
    for p in conditions:
        domain = _narrowed(domain, p)
        if p.kind == ">=":
            domain = domain.knowing(p.expr)
    return domain


def _narrowed(domain: Domain, p: Predicate) -> Domain:
    """The domain with the innermost variable of `p`, or its only quotient, restricted to where `p` can hold."""
    match p.expr.terms:
        case ((Compound(kind="floordiv" | "mod") as compound, c),) if p.kind == ">=":
            first, last = (-(p.expr.offset // c), None) if c > 0 else (None, p.expr.offset // -c)
            return domain.narrowed(compound, first, last)
        case _:
            return _with_narrowed_variable(domain, p)


def _with_narrowed_variable(domain: Domain, p: Predicate) -> Domain:
    key = domain.innermost(p.expr)
    if key is None:
        return domain
    first, last = domain.range_of(key)
    new_first, new_last = ends_from(p, key)
    if new_first is None and new_last is None:
        return domain
    if first is not None and new_first is not None:
        new_first = domain.simplify(maximum(first, new_first))
    if last is not None and new_last is not None:
        new_last = domain.simplify(minimum(last, new_last))
    return domain.extended(key, first if new_first is None else new_first, last if new_last is None else new_last)
