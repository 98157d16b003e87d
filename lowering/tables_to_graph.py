"""Tables and matrices of rows become operators on whole tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, f32, f64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.algebra.index_expr import Expr
from tilework.analysis.functions import body_of
from tilework.dialects import graph, matrix
from tilework.dialects.bag import (
    BagType,
    ColumnOp,
    FilterOp,
    FoldOp,
    JoinOp,
    LookupOp,
    MapOp,
    OneHotOp,
    PackOp,
    ToMatrixOp,
    bag_of,
    tensors_of,
)
from tilework.dialects.graph.base import ints
from tilework.dialects.matrix import FromTensorOp, MatrixType
from tilework.dialects.te.builder import KernelBuilder, Scalar, Tensor
from tilework.dialects.te.decision_trees import walk_trees
from tilework.lowering.tables.folds import reductions_of_rows
from tilework.lowering.tables.joins import pairs
from tilework.lowering.tables.maps import columns_made
from tilework.lowering.tables.rows import Rows, inlined, place_of
from tilework.lowering.tables.summary import extremes, reductions
from tilework.transforms.patterns import PatternPass, rewrite


def _is_legal(op: Operation) -> str | None:
    if op.name.partition(".")[0] in ("bag", "matrix"):
        return f"{op.name} is left after tables-to-graph"
    return None


@dataclass(frozen=True)
class TablesToGraph(PatternPass):
    """Let every matrix be a tensor, and every table a tensor for each type of its columns.

        func.func @main(%t: !bag.bag<N x [age: f64, pay: f64]>, %w: tensor<2x1xf64>) {
          %x = bag.to_matrix %t {columns = ["age", "pay"]}
          %p = matrix.matmul %x, %w {origin = "p"}
    ->
        func.func @main(%t: tensor<?x2xf64, #graph.dims<[N, 2]>>, %w: tensor<2x1xf64>) {
          %p = graph.matmul %t, %w

    Maps and what codes stand for become `graph.kernel`s, which are fused like any other operator. Requires nothing;
    leaves neither tables nor matrices.
    """

    name = "tables-to-graph"
    legal_after: ClassVar = staticmethod(_is_legal)
    inserted_too: ClassVar = True

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, ModuleOp)
        for function in [f for f in op.ops if isinstance(f, FuncOp) and not f.is_declaration]:
            _take_tensors(function)
            rewrite(list(body_of(function).ops), self.patterns(op), inserted_too=True)
            for left in reversed([o for o in body_of(function).ops if isinstance(o, PackOp | FromTensorOp)]):
                if not left.result.uses:
                    left.detach()
                    left.erase()


def _take_tensors(function: FuncOp) -> None:
    """Let a function take tensors, of which it makes the tables and matrices that it took."""
    block = body_of(function)
    given = function.arg_attrs
    attributes: list[DictionaryAttr] = []
    first = block.first_op
    for i, argument in enumerate(list(block.args)):
        own = [] if given is None else [given.data[i]]
        if not isinstance(argument.type, BagType | MatrixType):
            attributes += own
            continue
        tensors = [block.insert_arg(type_, argument.index) for type_ in tensors_of(argument.type)]
        for tensor in tensors:
            tensor.name_hint = argument.name_hint
        attributes += own * len(tensors)
        pack = _pack(argument.type, tensors)
        assert first is not None
        block.insert_op_before(pack, first)
        argument.replace_all_uses_with(pack.results[0])
        block.erase_arg(argument)
    function.function_type = FunctionType.from_lists(list(block.arg_types), list(function.function_type.outputs))
    if given is not None:
        function.properties["arg_attrs"] = ArrayAttr(attributes)


def _pack(type_: Attribute, tensors: Sequence[SSAValue]) -> Operation:
    if isinstance(type_, BagType):
        return PackOp.holding(tensors, type_)
    assert isinstance(type_, MatrixType)
    return FromTensorOp.of(*tensors, origins=type_.origins)


# -- tables


class GatherColumns(RewritePattern):
    """to_matrix(pack(x, ...)) has columns of x."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ToMatrixOp, rewriter: PatternRewriter) -> None:
        bag = op.input.owner
        if not isinstance(bag, PackOp):
            return
        rows, places = Rows(op, rewriter), [place_of(bag, name) for name in op.names]
        runs = [(tensor, [at for _, at in run]) for tensor, run in groupby(places, lambda place: place[0])]
        columns = [rows.columns(tensor, which) for tensor, which in runs]
        rows.done(columns[0] if len(columns) == 1 else rows.beside(columns))


class ReadColumn(RewritePattern):
    """column(pack(x, ...)) is a column of x as a vector."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ColumnOp, rewriter: PatternRewriter) -> None:
        bag = op.input.owner
        if isinstance(bag, PackOp):
            rows = Rows(op, rewriter)
            rows.done(rows.vector(rows.column(bag, op.column.data)))


class CompareCodes(RewritePattern):
    """one_hot(pack(..., codes))[n, j] is 1 where codes[n] is j."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: OneHotOp, rewriter: PatternRewriter) -> None:
        bag = op.input.owner
        if not isinstance(bag, PackOp):
            return
        (codes, at), size, dtype = place_of(bag, op.column.data), op.known_values, op.dtype

        def write(k: KernelBuilder, x: Tensor) -> Tensor:
            def element(n: Expr, j: Expr) -> Scalar:
                same = x[n, at].compare("eq", k.index(j, x.dtype))
                return k.select(same, k.constant(1.0, dtype), 0.0)

            return k.compute("one_hot", (x.dims[0], size), element)

        rows = Rows(op, rewriter)
        rows.done(rows.kernel("one_hot", [codes], write))


class ReadTable(RewritePattern):
    """lookup(pack(..., codes), table)[n, j] is table[codes[n], j], or an element of the last row for a code of -1."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LookupOp, rewriter: PatternRewriter) -> None:
        bag = op.input.owner
        if not isinstance(bag, PackOp):
            return
        (codes, at), size = place_of(bag, op.column.data), op.known_values

        def write(k: KernelBuilder, x: Tensor, table: Tensor) -> Tensor:
            def element(n: Expr, j: Expr) -> Scalar:
                code = x[n, at]
                return table[k.select(code.compare("lt", 0), k.constant(size, x.dtype), code), j]

            return k.compute("lookup", (x.dims[0], table.dims[1]), element)

        rows = Rows(op, rewriter)
        rows.done(rows.kernel("lookup", [codes, op.table], write))


class MapRows(RewritePattern):
    """map(pack(...), f) is a table of the columns that f makes and of those that stay."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MapOp, rewriter: PatternRewriter) -> None:
        bag = op.input.owner
        if not isinstance(bag, PackOp):
            return
        rows, type_ = Rows(op, rewriter), bag_of(op.result)
        columns = dict(zip(op.written, columns_made(rows, op, bag), strict=True))
        columns |= {name: rows.column(bag, name) for name in type_.columns if name not in columns}
        rewriter.replace(op, [], [rows.packed(type_, columns)])


class KeepRows(RewritePattern):
    """filter(pack(x, ...), p) has the rows of x whose positions are those at which p holds; data tell how many."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FilterOp, rewriter: PatternRewriter) -> None:
        bag = op.input.owner
        if not isinstance(bag, PackOp):
            return
        rows = Rows(op, rewriter)
        [holds] = columns_made(rows, op, bag)
        places = rows.places(holds, op.rows.data)
        kept = [rows.at(x, places) for x in bag.tensors]
        rewriter.replace(op, PackOp.holding(kept, bag_of(op.result)))


class JoinRows(RewritePattern):
    """join(pack(x, ...), pack(y, ...)) has the rows of x and of y whose numbers are those of pairs with one key."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: JoinOp, rewriter: PatternRewriter) -> None:
        left, right = op.left.owner, op.right.owner
        if not isinstance(left, PackOp) or not isinstance(right, PackOp):
            return
        rows = Rows(op, rewriter)
        at, other = pairs(rows, op, left, right)
        columns = {name: rows.at(rows.column(left, name), at) for name in bag_of(op.left).columns}
        columns |= {new: rows.at(rows.column(right, old), other) for new, old in op.taken.items()}
        rewriter.replace(op, [], [rows.packed(bag_of(op.result), columns)])


class ReduceRows(RewritePattern):
    """fold(pack(...), f)[j] joins what f makes of each row, or of those whose code is j."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FoldOp, rewriter: PatternRewriter) -> None:
        bag = op.input.owner
        if not isinstance(bag, PackOp):
            return
        rows = Rows(op, rewriter)
        rewriter.replace(op, [], rows.kernels("fold", *reductions_of_rows(op, bag)))


# -- matrices


class MapElements(RewritePattern):
    """map(x, v)[n, j] is the function of x[n, j] and v[j]."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: matrix.MapOp, rewriter: PatternRewriter) -> None:
        body = op.body.block

        def write(k: KernelBuilder, x: Tensor, *vectors: Tensor) -> Tensor:
            def element(n: Expr, j: Expr) -> Scalar:
                [made] = inlined(k, body, [x[n, j], *(v[(j,)] for v in vectors)])
                return made

            return k.compute("map", x.dims, element)

        rows = Rows(op, rewriter)
        rows.done(rows.kernel("map", [rows.tensor(op.input), *op.vectors], write))


class KeepMatrixRows(RewritePattern):
    """filter(x, p) has the rows of x whose positions are those at which p holds; data tell how many."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: matrix.FilterOp, rewriter: PatternRewriter) -> None:
        reads, body = op.reads.get_values(), op.body.block

        def write(k: KernelBuilder, x: Tensor) -> Tensor:
            def element(n: Expr, j: Expr) -> Scalar:
                return inlined(k, body, [x[n, i] for i in reads])[0]

            return k.compute("holds", (x.dims[0], 1), element)

        rows = Rows(op, rewriter)
        x = rows.tensor(op.input)
        places = rows.places(rows.kernel("holds", [x], write), op.rows.data)
        rows.done(rows.at(x, places))


class ConcatColumns(RewritePattern):
    """concat(x, y) of matrices is a concat of tensors along axis 1."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: matrix.ConcatOp, rewriter: PatternRewriter) -> None:
        rows = Rows(op, rewriter)
        rows.done(rows.beside([rows.tensor(x) for x in op.inputs]))


class TakeColumns(RewritePattern):
    """columns(x, which)[n, j] is x[n, which[j]]."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: matrix.ColumnsOp, rewriter: PatternRewriter) -> None:
        rows = Rows(op, rewriter)
        rows.done(rows.columns(rows.tensor(op.input), op.which.get_values()))


class MultiplyTensors(RewritePattern):
    """matmul(x, w) of a matrix is one of a tensor."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: matrix.MatmulOp, rewriter: PatternRewriter) -> None:
        rows = Rows(op, rewriter)
        rows.done(rows.insert(graph.MatmulOp.of(rows.tensor(op.input), op.weight)))


class AddTensors(RewritePattern):
    """add(x, y) of matrices is one of tensors."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: matrix.AddOp, rewriter: PatternRewriter) -> None:
        rows = Rows(op, rewriter)
        rows.done(rows.insert(graph.AddOp.of(rows.tensor(op.left), rows.tensor(op.right))))


class MultiplyPairs(RewritePattern):
    """pairs(x, z)[n, k] is x[n, left[k]] z[n, right[k]], whose columns tables say."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: matrix.PairsOp, rewriter: PatternRewriter) -> None:
        def write(k: KernelBuilder, x: Tensor, z: Tensor, left: Tensor, right: Tensor) -> Tensor:
            def element(n: Expr, j: Expr) -> Scalar:
                return x[n, left[(j,)]] * z[n, right[(j,)]]

            return k.compute("pairs", (x.dims[0], left.dims[0]), element)

        rows = Rows(op, rewriter)
        tables = [rows.numbers(which.get_values()) for which in (op.left, op.right)]
        rows.done(rows.kernel("pairs", [rows.tensor(op.first), rows.tensor(op.second), *tables], write))


class WalkTrees(RewritePattern):
    """trees(x) is the sum of the values of leaves, to each of which a row comes by as many steps as the deepest has."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: matrix.TreesOp, rewriter: PatternRewriter) -> None:
        depth, rounded_to = op.depth.value.data, f32 if op.wide is None else f64

        def write(k: KernelBuilder, x: Tensor, roots: Tensor, *nodes: Tensor) -> Tensor:
            return walk_trees(k, x, roots, nodes, depth, rounded_to=rounded_to)

        rows = Rows(op, rewriter)
        rows.done(rows.kernel("trees", [rows.tensor(op.input), *op.operands[1:]], write))


class MultiplyTransposed(RewritePattern):
    """gram(x) is matmul(transpose(x), x)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: matrix.GramOp, rewriter: PatternRewriter) -> None:
        rows = Rows(op, rewriter)
        x = rows.tensor(op.input)
        transposed = rows.insert(graph.TransposeOp.of(x, permutation=ints([1, 0])))
        rows.done(rows.insert(graph.MatmulOp.of(transposed, x)))


class SummarizeTensors(RewritePattern):
    """summary(x, shift) is six reductions over the rows of a tensor."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: matrix.SummaryOp, rewriter: PatternRewriter) -> None:
        rows = Rows(op, rewriter)
        rewriter.replace(op, [], rows.kernels("summary", [rows.tensor(op.input), op.shift], reductions))


class CompareTensors(RewritePattern):
    """extremes(x) is two reductions over the rows of a tensor."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: matrix.ExtremesOp, rewriter: PatternRewriter) -> None:
        rows = Rows(op, rewriter)
        rewriter.replace(op, [], rows.kernels("extremes", [rows.tensor(op.input)], extremes))


class ForgetOrigins(RewritePattern):
    """to_tensor(from_tensor(x)) is x."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: matrix.ToTensorOp, rewriter: PatternRewriter) -> None:
        if isinstance(op.input.owner, FromTensorOp):
            rewriter.replace(op, [], [op.input.owner.input])
