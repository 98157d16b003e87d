"""Which operators become one kernel. The first part mirrors TVM's own tests of its fusion (test_pass_fuse_ops)."""

from collections.abc import Callable, Sequence

import pytest
from xdsl.context import Context
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import BoolAttr, DenseIntOrFPElementsAttr, IntegerAttr, TensorType, f32, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from tilework.dialects.graph import (
    AddOp,
    BroadcastOp,
    ConcatOp,
    ConvOp,
    DenseOp,
    DivOp,
    ExpOp,
    MaxPoolOp,
    MulOp,
    ReduceMaxOp,
    ReduceSumOp,
    ReluOp,
    ReshapeOp,
    SliceOp,
    SoftmaxOp,
    SubOp,
    TanhOp,
    TransposeOp,
)
from tilework.dialects.graph.base import ints
from tilework.dialects.graph.structure import FusedOp
from tilework.dialects.support.index_attr import DimsAttr
from tilework.transforms.graph.fuse_operators import FuseOperators, explain

Values = Sequence[SSAValue]


def function(shapes: Sequence[Sequence[int]], body: Callable[..., SSAValue | Values]) -> FuncOp:
    """@main of tensors of these shapes that returns what `body` makes of its arguments."""
    block = Block(arg_types=[TensorType(f32, shape) for shape in shapes])
    made = body(*block.args)
    results = [made] if isinstance(made, SSAValue) else list(made)
    block.add_ops(needed(results))
    block.add_op(ReturnOp(*results))
    types = (list(block.arg_types), [r.type for r in results])
    return FuncOp("main", types, Region(block))


def needed(results: Values) -> list[Operation]:
    """All operations that the results hang on, each after its operands."""
    order: dict[Operation, None] = {}
    pending = [(r.owner, False) for r in reversed(results)]
    while pending:
        op, operands_done = pending.pop()
        if isinstance(op, Block) or op in order:
            continue
        if operands_done:
            order[op] = None
            continue
        pending.append((op, True))
        pending += [(v.owner, False) for v in reversed(op.operands)]
    return list(order)


def fused(func: FuncOp, **options: int) -> list[str]:
    """The kernels' names after fusion."""
    FuseOperators(**options).run(Context(), func)
    func.verify()
    return [op.label.data for op in func.body.block.ops if isinstance(op, FusedOp)]


# -- operators in short


def one() -> SSAValue:
    return ConstantOp(DenseIntOrFPElementsAttr.from_list(TensorType(f32, []), [1.0])).result


def add(a: SSAValue, b: SSAValue) -> SSAValue:
    return AddOp.of(a, b).result


def exp(x: SSAValue) -> SSAValue:
    return ExpOp.of(x).result


def tanh(x: SSAValue) -> SSAValue:
    return TanhOp.of(x).result


def relu(x: SSAValue) -> SSAValue:
    return ReluOp.of(x).result


def conv(x: SSAValue, w: SSAValue, pad: int = 0) -> SSAValue:
    attributes = {"strides": ints([1, 1]), "pads": ints([pad] * 4), "dilations": ints([1, 1])}
    return ConvOp.of(x, w, **attributes, groups=IntegerAttr(1, i64)).result


def max_pool(x: SSAValue) -> SSAValue:
    attributes = {"kernel": ints([1, 1]), "strides": ints([1, 1]), "dilations": ints([1, 1]), "pads": ints([0] * 4)}
    return MaxPoolOp.of(x, **attributes, ceil_mode=BoolAttr.from_bool(False)).result


def concat(*inputs: SSAValue) -> SSAValue:
    return ConcatOp.of(*inputs, axis=IntegerAttr(1, i64)).result


def reshape(x: SSAValue, *shape: int) -> SSAValue:
    return ReshapeOp.of(x, shape=DimsAttr.of(shape)).result


def transpose(x: SSAValue, *permutation: int) -> SSAValue:
    return TransposeOp.of(x, permutation=ints(permutation)).result


def halves(x: SSAValue) -> Values:
    """The two halves of a matrix's columns."""
    width = x.type.get_shape()[1]
    bounds = ((0, width // 2), (width // 2, width))
    return [SliceOp.of(x, axes=ints([1]), starts=ints([a]), stops=ints([b]), steps=ints([1])).result for a, b in bounds]


def reduce(op: type, x: SSAValue, keep: bool = True) -> SSAValue:
    return op.of(x, axes=ints([1]), keep_dims=BoolAttr.from_bool(keep)).result


# -- TVM's list


def test_fuse_simple():
    assert fused(function([(10, 20)], lambda x: reshape(exp(add(x, one())), 200))) == ["add_exp_reshape"]


def test_conv2d_fuse():
    """The second convolution ends the first group; the sum joins the last convolution that it can."""

    def body(x: SSAValue, w1: SSAValue, w2: SSAValue, w3: SSAValue) -> SSAValue:
        y = add(conv(add(x, one()), w1, 1), one())
        z2 = conv(y, w2)
        z3 = conv(y, w3, 1)
        return add(z2, z3)

    shapes = [(1, 16, 64, 64), (16, 16, 3, 3), (16, 16, 1, 1), (16, 16, 3, 3)]
    assert fused(function(shapes, body)) == ["add", "conv_add", "conv", "conv_add"]


def test_concatenate():
    def body(x: SSAValue) -> SSAValue:
        pooled = max_pool(x)
        return add(concat(relu(pooled), pooled), one())

    assert fused(function([(1, 16, 8, 8)], body)) == ["max_pool", "relu_concat_add"]


def test_tuple_root():
    """What is returned ends a group."""

    def body(x: SSAValue) -> Values:
        pooled = max_pool(x)
        return [transpose(pooled, 0, 1, 3, 2), pooled]

    assert fused(function([(1, 16, 8, 4)], body)) == ["max_pool", "transpose"]


def test_stop_fusion():
    """A reshape that is a view stands between two kernels."""

    def body(x: SSAValue) -> SSAValue:
        y = ReshapeOp.of(add(x, one()), shape=DimsAttr.of((200,)))
        y.attributes["graph.view"] = BoolAttr.from_bool(True)
        return exp(y.result)

    assert fused(function([(10, 20)], body)) == ["add", "exp"]


def test_fuse_myia_regression():
    """Inputs returned as they are make no kernel."""
    assert fused(function([(2,), (2,)], lambda x, y: [y, x])) == []


def test_fuse_tuple_get_elemwise():
    def body(x: SSAValue, h: SSAValue, w: SSAValue) -> SSAValue:
        products = add(DenseOp.of(x, w).result, DenseOp.of(h, w).result)
        left, right = halves(products)
        return MulOp.of(SubOp.of(tanh(left), one()).result, relu(right)).result

    groups = fused(function([(1, 16), (1, 16), (64, 16)], body))
    assert groups == ["dense", "dense_add", "slice_tanh_sub_slice_relu_mul"]


def test_tuple_get_root():
    def body(x: SSAValue, w: SSAValue) -> SSAValue:
        return DenseOp.of(halves(x)[0], w).result

    assert fused(function([(1, 64), (16, 32)], body)) == ["slice", "dense"]


def test_tuple_intermediate():
    def body(x: SSAValue) -> SSAValue:
        squared = MulOp.of(x, x).result
        shifted = add(squared, one())
        shifted2 = add(squared, one())
        return add(concat(shifted, shifted2, squared), one())

    assert fused(function([(1, 16)], body)) == ["mul_add_add_concat_add"]


def test_tuple_consecutive():
    def body(x: SSAValue) -> SSAValue:
        pooled = [max_pool(x) for _ in range(3)]
        inner = concat(*pooled)
        parts = [max_pool(inner) for _ in range(3)]
        return add(concat(*parts), one())

    assert fused(function([(1, 4, 8, 8)], body)) == [*["max_pool"] * 3, "concat", *["max_pool"] * 3, "concat_add"]


def test_inception_like():
    def block(x: SSAValue, w: SSAValue) -> SSAValue:
        return concat(relu(conv(x, w, 1)), relu(conv(x, w, 1)))

    def body(x: SSAValue, w1: SSAValue, w2: SSAValue) -> SSAValue:
        return block(block(x, w1), w2)

    groups = fused(function([(1, 16, 8, 8), (16, 16, 3, 3), (16, 32, 3, 3)], body))
    assert groups == ["conv_relu", "conv_relu", "concat"] * 2


def test_fuse_parallel_injective():
    def body(x: SSAValue) -> SSAValue:
        y = add(x, one())
        left, right = transpose(reshape(y, 20, 10), 1, 0), transpose(reshape(y, 20, 10), 1, 0)
        return add(left, right)

    assert fused(function([(10, 20)], body)) == ["add_reshape_transpose_reshape_transpose_add"]


def test_split():
    """Branches that do not meet again stay apart."""

    def body(x: SSAValue) -> Values:
        left, right = halves(exp(x))
        return [relu(left), relu(right)]

    assert fused(function([(10, 6)], body)) == ["exp", "slice_relu", "slice_relu"]


def chain(length: int) -> FuncOp:
    def body(x: SSAValue) -> SSAValue:
        for _ in range(length):
            x = exp(x)
        return x

    return function([(10,)], body)


def test_fuse_max():
    """A chain longer than the limit becomes two kernels, the first of 256 operators."""
    func = chain(300)
    FuseOperators().run(Context(), func)
    groups = [op for op in func.body.block.ops if isinstance(op, FusedOp)]
    assert [len(list(g.body.block.ops)) - 1 for g in groups] == [256, 44]
    assert groups[0].label.data == "_".join(["exp"] * 12) + "_and_244_more"


def test_fuse_max_diamond():
    """Operators on both sides of a diamond count once each."""

    def body(x: SSAValue) -> SSAValue:
        for _ in range(40):
            x = add(tanh(x), exp(x))
        return x

    func = function([(10,)], body)
    FuseOperators(max_operators=30).run(Context(), func)
    sizes = [len(list(g.body.block.ops)) - 1 for g in func.body.block.ops if isinstance(g, FusedOp)]
    assert sum(sizes) == 120
    assert max(sizes) == 30


def test_fuse_bcast_reduce_scalar():
    def body(x: SSAValue) -> SSAValue:
        return reduce(ReduceSumOp, add(BroadcastOp.of(x, shape=DimsAttr.of((4, 8))).result, one()))

    assert fused(function([(4, 1)], body)) == ["broadcast_add_reduce_sum"]


def test_fuse_softmax():
    """A reduction ends its group; what follows starts another."""

    def body(x: SSAValue) -> SSAValue:
        shifted = SubOp.of(x, reduce(ReduceMaxOp, x)).result
        powers = exp(shifted)
        return DivOp.of(powers, reduce(ReduceSumOp, powers)).result

    assert fused(function([(1, 16)], body)) == ["reduce_max", "sub_exp", "reduce_sum", "div"]
    assert fused(function([(1, 16)], lambda x: relu(SoftmaxOp.of(x, axis=IntegerAttr(1, i64)).result))) == [
        "softmax",
        "relu",
    ]


# -- beyond TVM's list


def test_residual_joins_the_convolution():
    def body(x: SSAValue, w: SSAValue, b: SSAValue) -> SSAValue:
        return relu(add(add(conv(x, w), b), x))

    assert fused(function([(1, 8, 4, 4), (8, 8, 1, 1), (8, 1, 1)], body)) == ["conv_add_add_relu"]


def test_enlarging_broadcast_does_not_follow_a_product():
    """The sum has more elements than the product: inside one kernel each product would be computed several times."""
    shapes = [(1, 8), (4, 8), (3, 4)]
    assert fused(function(shapes, lambda x, w, b: add(DenseOp.of(x, w).result, b))) == ["dense", "add"]


def test_explain_names_both_sides_and_the_reason():
    def body(x: SSAValue, w: SSAValue) -> Values:
        y = relu(conv(relu(x), w))
        z = SoftmaxOp.of(transpose(y, 0, 2, 3, 1), axis=IntegerAttr(1, i64)).result
        return [exp(z), z]

    lines = explain(function([(1, 8, 4, 4), (8, 8, 1, 1)], body))
    assert lines == [
        "relu and conv are not fused: conv needs its operand whole, not element by element",
        "relu and transpose are not fused: only what reads its result element by element is fused behind relu",
        "transpose and softmax are not fused: softmax is a kernel of its own",
        "softmax and exp are not fused: softmax is a kernel of its own",
    ]


def test_explain_reasons_of_branches_and_size():
    assert explain(function([(4, 4)], lambda x: [(y := exp(x)), relu(y)])) == [
        "exp and relu are not fused: the result of exp is needed in memory: "
        "it is returned, seen through a view, or read by a kernel of rows"
    ]
    assert explain(function([(4, 4)], lambda x: [relu(y := exp(x)), tanh(y)])) == [
        "exp and relu are not fused: not everything that uses the result of exp comes together again",
        "exp and tanh are not fused: not everything that uses the result of exp comes together again",
    ]
    assert explain(chain(3), max_operators=2) == [
        "exp and exp are not fused: together they would be more than 2 operators"
    ]


@pytest.mark.parametrize("length", [2_000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_a_very_long_graph(length: int):
    """No recursion, nothing quadratic: a chain with long skip connections, as deep as graphs come."""

    def body(x: SSAValue) -> SSAValue:
        early: list[SSAValue] = []
        for i in range(length):
            x = add(x, early.pop()) if i > length // 2 and early else exp(x)
            if i < length // 2:
                early.append(x)
        return x

    assert len(fused(function([(10,)], body))) >= length // 256
