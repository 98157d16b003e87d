"""Random graphs of operators and control flow, whose values stay small integers."""

from __future__ import annotations

import random
from collections.abc import Generator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import (
    BoolAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    f32,
    i64,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from tilework.algebra.index_expr import ExprLike, const, product, var
from tilework.dialects.graph import (
    AddOp,
    ConcatOp,
    ConvOp,
    DropoutOp,
    IfOp,
    LessOp,
    MaxPoolOp,
    MulOp,
    NegOp,
    PadOp,
    ParameterOp,
    PositionsOp,
    ReduceSumOp,
    ReluOp,
    ReshapeOp,
    SectionOp,
    SizeOp,
    SliceOp,
    SubOp,
    TransposeOp,
    WhileOp,
    YieldOp,
)
from tilework.dialects.graph.base import ints
from tilework.dialects.graph.control import sequence_of
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.shapes import dims_of, tensor_type

Array = NDArray[np.float32]

DEEPEST = 2
"""How many graphs with operators of their own are inside of each other."""


class RandomGraph:
    """A function of random operators on images [N or 2 or 1, channels, 4, 4], whose values stay small integers."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.batch: ExprLike = self.random.choice([const(1), const(2), var("N")])
        self.block = Block()
        self.images: list[SSAValue] = [
            self.block.insert_arg(tensor_type([self.batch, 2, 4, 4], f32), i) for i in range(2)
        ]
        self.parameters: dict[str, Array] = {}
        self.vectors: list[SSAValue] = []
        self.others: list[SSAValue] = []
        self.functions: list[FuncOp] = []
        self.depth = 0
        self.symbols = 0
        for _ in range(self.random.randint(5, 20)):
            self.add_operator()
        results = self.random.sample(self.images, k=min(3, len(self.images)))
        results += self.random.sample(self.vectors, k=min(1, len(self.vectors)))
        results += self.random.sample(self.others, k=min(2, len(self.others)))
        self.block.add_op(ReturnOp(*results))
        types = (list(self.block.arg_types), [r.type for r in results])
        self.module = ModuleOp([*self.functions, FuncOp("main", types, Region(self.block))])

    def insert(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def parameter(self, *shape: int) -> SSAValue:
        name = f"p{len(self.parameters)}"
        rng = np.random.default_rng(len(self.parameters))
        self.parameters[name] = rng.integers(-1, 2, shape).astype(np.float32)
        return self.insert(ParameterOp(name, TensorType(f32, shape)))

    def channels(self, x: SSAValue) -> int:
        return dims_of(x.type)[1].offset

    def add_operator(self) -> None:
        x = self.random.choice(self.images)
        kinds = [*("conv", "pool", "concat", "affine", "movement", "sum", "relu"), "slice", "vector"]
        kinds += ["if", "while", "call", "recursion", "counted"] if self.depth < DEEPEST else []
        kind = self.random.choice(kinds)
        made = getattr(self, f"make_{kind}")(x)
        if made is not None:
            self.images.append(made)

    def make_conv(self, x: SSAValue) -> SSAValue:
        pad = self.random.choice([0, 1])
        if self.random.random() < 0.3:
            ends = [0, 0, pad, pad, 0, 0, pad, pad]
            x, pad = self.insert(PadOp.of(x, pads=ints(ends), value=FloatAttr(0.0, f32))), 0
        elif pad == 0 or self.random.random() < 0.5:
            w, pad = self.parameter(self.random.randint(1, 3), self.channels(x), 1, 1), 0
            return self.conv(x, w, pad)
        size = 3 if pad or dims_of(x.type)[2] == 6 else 1
        return self.conv(x, self.parameter(self.random.randint(1, 3), self.channels(x), size, size), pad)

    def conv(self, x: SSAValue, w: SSAValue, pad: int) -> SSAValue:
        attributes = {"strides": ints([1, 1]), "dilations": ints([1, 1]), "pads": ints([pad] * 4)}
        return self.insert(ConvOp.of(x, w, **attributes, groups=IntegerAttr(1, i64)))

    def make_pool(self, x: SSAValue) -> SSAValue:
        attributes = {"strides": ints([1, 1]), "dilations": ints([1, 1]), "kernel": ints([3, 3]), "pads": ints([1] * 4)}
        return self.insert(MaxPoolOp.of(x, **attributes, ceil_mode=BoolAttr.from_bool(False)))

    def make_concat(self, x: SSAValue) -> SSAValue | None:
        parts = [x, *self.random.choices(self.images, k=self.random.randint(0, 2))]
        if sum(self.channels(p) for p in parts) > 9:
            return None
        return self.insert(ConcatOp.of(*parts, axis=IntegerAttr(1, i64)))

    def make_affine(self, x: SSAValue) -> SSAValue:
        for _ in range(self.random.randint(1, 4)):
            p = self.parameter(self.channels(x), 1, 1)
            op = self.random.choice([AddOp, MulOp, SubOp])
            x = self.insert(op.of(x, p) if op is SubOp or self.random.random() < 0.5 else op.of(p, x))
        return x

    def make_movement(self, x: SSAValue) -> SSAValue:
        c = self.channels(x)
        flat = self.insert(ReshapeOp.of(x, shape=DimsAttr.of([self.batch, c * 16])))
        if self.random.random() < 0.5:
            flat = self.insert(NegOp.of(flat))
        cube = self.insert(ReshapeOp.of(flat, shape=DimsAttr.of([self.batch, c, 4, 4])))
        axes = self.random.choice([(0, 1, 2, 3), (0, 1, 3, 2)])
        return self.insert(TransposeOp.of(cube, permutation=ints(axes)))

    def make_sum(self, x: SSAValue) -> SSAValue:
        others = [y for y in self.images if y.type == x.type]
        return self.insert(AddOp.of(x, self.random.choice(others)))

    def make_relu(self, x: SSAValue) -> SSAValue:
        return self.insert(ReluOp.of(x))

    def make_slice(self, x: SSAValue) -> SSAValue | None:
        c = self.channels(x)
        if c < 2:
            return None
        first, step = self.random.randint(0, 1), self.random.choice([1, 1, 2])
        return self.insert(SliceOp.of(x, axes=ints([1]), starts=ints([first]), stops=ints([c]), steps=ints([step])))

    def make_vector(self, x: SSAValue) -> None:
        total = self.insert(ReduceSumOp.of(x, axes=ints([2, 3]), keep_dims=BoolAttr.from_bool(True)))
        dropped = self.insert(DropoutOp.of(total, ratio=FloatAttr(0.5, f32)))
        self.vectors.append(self.insert(ReshapeOp.of(dropped, shape=DimsAttr.of([self.batch, self.channels(x)]))))

    def inputs(self) -> list[Array]:
        n = self.batch.constant if self.batch.constant is not None else 3
        rng = np.random.default_rng(7)
        return [rng.integers(-2, 3, (n, 2, 4, 4)).astype(np.float32) for _ in range(2)]

    # -- control flow

    @contextmanager
    def inside(self, *types: TensorType) -> Generator[Block]:
        """Draw operators in a block of its own, which takes tensors of these types, of which the images are seen."""
        before = self.block, self.images, self.vectors, self.others
        self.block = Block(arg_types=types)
        self.images, self.vectors, self.others = [v for v in self.block.args if len(dims_of(v.type)) == 4], [], []
        self.depth += 1
        try:
            yield self.block
        finally:
            self.block, self.images, self.vectors, self.others = before
            self.depth -= 1

    def drawn_like(self, x: SSAValue) -> SSAValue:
        """A value of that type, some operators later."""
        for _ in range(self.random.randint(0, 4)):
            self.add_operator()
        return self.random.choice([y for y in self.images if y.type == x.type])

    def constant(self, type_: TensorType, number: int) -> SSAValue:
        return self.insert(ConstantOp(DenseIntOrFPElementsAttr.from_list(type_, [number])))

    def is_less(self, x: SSAValue, limit: int) -> SSAValue:
        """Whether the sum of an image is less than a number."""
        total = self.insert(ReduceSumOp.of(x, axes=ints(range(4)), keep_dims=BoolAttr.from_bool(False)))
        return self.insert(LessOp.of(total, self.constant(TensorType(f32, []), limit)))

    def make_if(self, x: SSAValue) -> SSAValue:
        condition = self.is_less(x, self.random.choice([-10, 0, 10]))
        constants = list(dict.fromkeys([x, self.random.choice(self.images)]))
        sides: list[Region] = []
        for _ in range(2):
            with self.inside(*(v.type for v in constants)) as block:
                block.add_op(YieldOp([self.drawn_like(block.args[0])]))
                sides.append(Region(block))
        return self.insert(IfOp(condition, constants, [x.type], *sides))

    def make_while(self, x: SSAValue) -> SSAValue:
        condition, constant = self.is_less(x, 40), self.random.choice(self.images)
        with self.inside(x.type, constant.type) as block:
            following = self.drawn_like(block.args[0])
            element = self.random.choice(self.images)
            block.add_op(YieldOp([self.is_less(following, 40), following, element]))
        self.symbols += 1
        count = f"K{self.symbols}"
        types = [x.type, sequence_of(element.type, var(count))]
        limit = const(self.random.choice([0, 1, 3]))
        loop = WhileOp(condition, [x], [constant], types, Region(block), limit, count)
        self.insert(loop)
        self.others.append(loop.new_sequences[0])
        return loop.end_states[0]

    def function(self, block: Block, results: Sequence[SSAValue]) -> str:
        name = f"f{len(self.functions)}"
        block.add_op(ReturnOp(*results))
        types = (list(block.arg_types), [v.type for v in results])
        self.functions.append(FuncOp(name, types, Region(block), StringAttr("private")))
        return name

    def make_call(self, x: SSAValue) -> SSAValue:
        with self.inside(x.type) as block:
            name = self.function(block, [self.drawn_like(block.args[0])])
        return self.insert(CallOp(name, [x], [x.type]))

    def make_recursion(self, x: SSAValue) -> SSAValue:
        """A function that calls itself with a number less by one, as long as that is above 0."""
        number = TensorType(i64, [])
        name = f"f{len(self.functions)}"
        self.functions.append(FuncOp(name, ([], []), Region(Block([ReturnOp()]))))  # keeps the name
        place = len(self.functions) - 1
        with self.inside(number, x.type) as block:
            more = self.insert(LessOp.of(self.constant(number, 0), block.args[0]))
            with self.inside(number, x.type) as again:
                less = self.insert(SubOp.of(again.args[0], self.constant(number, 1)))
                call = self.insert(CallOp(name, [less, self.drawn_like(again.args[1])], [x.type]))
                again.add_op(YieldOp([call]))
            with self.inside(number, x.type) as end:
                end.add_op(YieldOp([end.args[1]]))
            result = self.insert(IfOp(more, block.args, [x.type], Region(again), Region(end)))
            block.add_op(ReturnOp(result))
        types = (list(block.arg_types), [x.type])
        self.functions[place] = FuncOp(name, types, Region(block), StringAttr("private"))
        return self.insert(CallOp(name, [self.constant(number, self.random.choice([0, 1, 3])), x], [x.type]))

    def make_counted(self, x: SSAValue) -> None:
        """The places of numbers above 0, as many as there are."""
        size = product(dims_of(x.type))
        flat = self.insert(ReshapeOp.of(x, shape=DimsAttr.of([size])))
        mask = self.insert(LessOp.of(self.constant(TensorType(f32, []), 0), flat))
        found = PositionsOp.of(mask)
        self.insert(found)
        self.symbols += 1
        count = SizeOp(f"K{self.symbols}", found.results[1], size)
        self.insert(count)
        bounds = {"axis": IntegerAttr(0, i64), "start": DimsAttr.of([0]), "size": DimsAttr.of([count.size])}
        self.others.append(self.insert(SectionOp.of(found.results[0], count.result, **bounds)))
