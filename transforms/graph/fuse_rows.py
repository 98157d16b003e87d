"""One kernel of operators that go row by row: a softmax between products, a normalization."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from math import prod

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.algebra.index_expr import Expr, const
from tilework.analysis.functions import graphs_of
from tilework.analysis.post_dominators import Dataflow, PostDominators
from tilework.analysis.program_targets import target_of
from tilework.dialects.graph.base import Category, GraphOp
from tilework.dialects.graph.dense import MatmulOp
from tilework.dialects.graph.normalization import SoftmaxLikeOp
from tilework.dialects.graph.reduction import ReduceOp
from tilework.dialects.support.shapes import dims_of
from tilework.transforms.graph.fuse_operators import outline
from tilework.transforms.graph.fusion_groups import MAX_OPERATORS
from tilework.transforms.graph.patterns import GraphPatternPass

LEAST_ROWS = 8
"""The least rows of what is multiplied: for fewer, a softmax is no more than a small part of the work."""


@dataclass(frozen=True)
class FuseRows(GraphPatternPass):
    """Put a softmax or row-wise reduction and the operators around it that go row by row into one graph.fused.

    %0 = graph.matmul %q, %k ...         %3 = graph.fused "matmul_mul_softmax_matmul" (%q, %k, %v) : ... {
    %1 = graph.mul %0, %scale ...        ^bb0(%a: ..., %b: ..., %c: ...):
    %2 = graph.softmax %1 ...        ->    ..
    %3 = graph.matmul %2, %v ...           graph.yield %r : ...
                                         }

    Which operators go together is an analysis of the whole graph, which the pattern asks. What they hand on is needed a
    few rows at a time then, and never as a whole. Row by row go element-wise and broadcasting operators, softmax along
    the last axis, reductions over the last axes that keep them as 1, and products that take the rows as their left
    operand, next to a softmax of several. Nothing outside may read what is between. Nothing is fused where it is not
    known how long rows are. Run it before graph-fuse-operators. Requires nothing.
    """

    name = "graph-fuse-rows"

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        assert isinstance(op, FuncOp)
        groups = [members for graph in graphs_of(op) for members in _groups(Dataflow.of(graph))]
        return [GatherRows({members[-1]: members for members in groups})]


@dataclass(frozen=True)
class GatherRows(RewritePattern):
    """The operators that go through the rows of one tensor with the last of them become one kernel.

    groups: such operators in program order, for each that is the last of several.
    """

    groups: Mapping[GraphOp, Sequence[GraphOp]]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GraphOp, rewriter: PatternRewriter) -> None:
        members = self.groups.get(op)
        if members is None:
            return
        rewriter.notify_op_modified(outline(members))


def _groups(flow: Dataflow) -> Iterator[list[GraphOp]]:
    """The operators of each group in program order, the last the one whose result leaves it."""
    tree, taken = PostDominators(flow), set[int]()
    for seed, op in enumerate(flow.ops):
        rows = _rows_of(op)
        if rows is None or seed in taken:
            continue
        members = _Growth(flow, tree, rows, taken).around(seed)
        if len(members) > 1:
            taken.update(members)
            yield [flow.ops[i] for i in sorted(members)]


def _rows_of(op: GraphOp) -> _Rows | None:
    """The rows that a softmax or reduction goes by; None for another operator, or one that goes across rows."""
    if isinstance(op, SoftmaxLikeOp):
        axes = (op.axis.value.data,)
    elif isinstance(op, ReduceOp) and op.keep_dims.value.data:
        axes = op.axes.get_values()
    else:
        return None
    full = op.dims(0)
    rows = _Rows(full, len(axes))
    are_last = len(axes) > 0 and tuple(axes) == tuple(range(len(full) - len(axes), len(full)))
    if not are_last or not all(d.constant for d in full[-rows.last :]):
        return None
    return rows if rows.length <= target_of(op).measured.near_row else None


@dataclass(frozen=True)
class _Rows:
    """Those of tensors with these dimensions, of which the last are those of a row."""

    full: tuple[Expr, ...]
    last: int

    @property
    def count(self) -> int:
        """How many of them follow each other along one axis."""
        return prod(d.constant or 0 for d in self.full[-self.last - 1 : -self.last])

    @property
    def length(self) -> int:
        """How many elements a row has."""
        return prod(d.constant or 0 for d in self.full[-self.last :])

    def fills(self, op: GraphOp) -> bool:
        """Whether the operator's result has all elements of each row."""
        return dims_of(op.results[0].type) == self.full

    def has(self, op: GraphOp) -> bool:
        """Whether an operator that is no product goes row by row, if its operands do."""
        if isinstance(op, SoftmaxLikeOp | ReduceOp):
            return _rows_of(op) == self
        return op.category <= Category.BROADCAST and (self.fills(op) or self._summarizes(op))

    def _summarizes(self, op: GraphOp) -> bool:
        return dims_of(op.results[0].type) == (*self.full[: -self.last], *[const(1)] * self.last)


@dataclass(frozen=True)
class _Growth:
    """What grows around a seed; `taken` are the operators of other groups."""

    flow: Dataflow
    tree: PostDominators
    rows: _Rows
    taken: Set[int]

    def around(self, seed: int) -> set[int]:
        """The seed, what follows it as far as all of that goes row by row, and what leads to it and to nothing else."""
        weighs = isinstance(self.flow.ops[seed], SoftmaxLikeOp) and self.rows.count >= LEAST_ROWS
        members = self._with_following(seed, weighs)
        for i in range(max(members, default=0), -1, -1):
            if i not in members and self._leads_to(i, members, weighs):
                members.add(i)
        return members

    def _with_following(self, seed: int, weighs: bool) -> set[int]:
        """The seed and what follows, up to an operator that fills rows; up to a product with these, if it `weighs`."""
        members, end = {seed}, seed
        found = set(members) if self.rows.fills(self.flow.ops[seed]) else set[int]()
        while (sink := self.tree.parent[end]) is not None:
            op, step = self.flow.ops[sink], {sink, *self.flow.between(end, sink, MAX_OPERATORS)}
            if step & self.taken or len(members | step) > MAX_OPERATORS:
                break
            if weighs and isinstance(op, MatmulOp) and len(step) == 1:
                end_op = self.flow.ops[end]
                return members | step if op.left.owner is end_op and op.right.owner is not end_op else found
            if not all(self.rows.has(self.flow.ops[i]) for i in step):
                break
            members, end = members | step, sink
            found = set(members) if self.rows.fills(op) else found
        return found

    def _leads_to(self, i: int, members: Set[int], weighs: bool) -> bool:
        """Whether only members read the result, row by row, and it is not better fused with what it reads."""
        op, consumers = self.flow.ops[i], {edge.consumer for edge in self.flow.edges[i]}
        if i in self.taken or self.flow.escapes[i] or not consumers <= members:
            return False
        if any(isinstance(self.flow.ops[consumer], MatmulOp) for consumer in consumers):
            return False
        if isinstance(op, MatmulOp):
            return weighs and self.rows.fills(op)
        made = _anchors_before(op)
        return self.rows.has(op) and all(weighs and isinstance(o, MatmulOp) and self.rows.fills(o) for o in made)


def _anchors_before(op: GraphOp) -> list[GraphOp]:
    """The convolutions and products that the operator would be fused behind, with those between that only it reads."""
    found: list[GraphOp] = []
    pending: list[Operation] = [op]
    while pending:
        for value in dict.fromkeys(pending.pop().operands):
            made = value.owner
            if isinstance(made, GraphOp) and len({use.operation for use in value.uses}) == 1:
                if made.category is Category.COMPLEX:
                    found.append(made)
                elif made.category <= Category.BROADCAST:
                    pending.append(made)
    return found
