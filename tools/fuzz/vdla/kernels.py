"""Random products of bytes, convolutions among them, whose sums the ALU makes bytes of: as te, and by numpy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tilework.targets.vdla.target import VdlaTarget
from tilework.tools.fuzz.draw import Draw

Array = NDArray[Any]

ALU = {
    "max": "arith.maxsi",
    "min": "arith.minsi",
    "add": "arith.addi",
    "mul": "arith.muli",
    "shr": "arith.shrsi",
    "shl": "arith.shli",
    "sub": "arith.subi",
}
"""Operations of the ALU with a number."""


@dataclass(frozen=True)
class Position:
    """An axis of the data, after padding. extent: how many windows there are along it."""

    size: int
    window: int
    stride: int
    before: int
    after: int

    @property
    def padded(self) -> int:
        return self.size + self.before + self.after

    @property
    def extent(self) -> int:
        return (self.padded - self.window) // self.stride + 1


@dataclass(frozen=True)
class Step:
    """One operation on all sums: with a number, with words of each output, or with words of each sum."""

    operation: str
    number: int = 0
    words: str | None = None


@dataclass(frozen=True)
class Kernel:
    """y[o, p.., j] = lowest byte of steps(sum over c, u.., l of x[c, p * stride + u.., l] * w[o, c, u.., j, l]).

    outputs, channels: in tiles. stages: the steps, stage by stage. order: the axes of the result, of o and positions by
    number; lanes are the last. block_in, block_out: how many channels and outputs a tile of the machine has.
    """

    outputs: int
    channels: int
    positions: tuple[Position, ...]
    stages: tuple[tuple[Step, ...], ...]
    order: tuple[int, ...]
    block_in: int = 16
    block_out: int = 16

    @property
    def is_padded(self) -> bool:
        return any(p.before or p.after for p in self.positions)

    @property
    def is_windowed(self) -> bool:
        return any(p.window > 1 or p.stride > 1 for p in self.positions)

    @property
    def steps(self) -> list[Step]:
        return [step for stage in self.stages for step in stage]

    @property
    def axes(self) -> list[tuple[str, int]]:
        """Those of the sums, the lanes apart."""
        return [("o", self.outputs), *((f"p{i}", p.extent) for i, p in enumerate(self.positions))]

    @property
    def reduction(self) -> list[tuple[str, int]]:
        """Those that are combined away, the elements of tiles apart."""
        windows = [(f"u{i}", p.window) for i, p in enumerate(self.positions)] if self.is_windowed else []
        return [("c", self.channels), *windows]

    @property
    def words(self) -> list[tuple[str, list[str]]]:
        """The arguments with words: their names, and their axes without lanes."""
        return [
            (f"b{i}", ["o"] if step.words == "outputs" else [name for name, _ in self.axes])
            for i, step in enumerate(self.steps)
            if step.words is not None
        ]

    # -- te

    @property
    def text(self) -> str:
        """The kernel."""
        bi, bo, sizes = self.block_in, self.block_out, dict(self.axes)
        x = tensor_text([self.channels, *(p.size for p in self.positions), bi], "i8")
        windows = [n for _, n in self.reduction[1:]]
        w = tensor_text([self.outputs, self.channels, *windows, bo, bi], "i8")
        words = [(name, tensor_text([*(sizes[a] for a in axes), bo], "i32")) for name, axes in self.words]
        y = tensor_text([self.axes[i][1] for i in self.order] + [bo], "i8")
        arguments = ", ".join(f"%{name}: {type_}" for name, type_ in [("x", x), ("w", w), *words])
        lines = [f"te.kernel @product({arguments}) -> {y} {{"]
        lines += [*self._padding(x), *self._product(x, w), *self._stages(dict(words)), *self._result(y)]
        return "\n".join([*lines, f"te.return %y : {y}", "}"])

    @property
    def _sums(self) -> str:
        return tensor_text([*(n for _, n in self.axes), self.block_out], "i32")

    @property
    def _spatial(self) -> str:
        return ", ".join(f"{a}: {n}" for a, n in [*self.axes, ("j", self.block_out)])

    def _padding(self, x: str) -> list[str]:
        if not self.is_padded:
            return []
        shape = [self.channels, *(p.padded for p in self.positions), self.block_in]
        axes = ", ".join(f"{a}: {n}" for a, n in zip(["c", *self._places(), "l"], shape, strict=True))
        type_ = tensor_text(shape, "i8")
        read = f"te.read %x[c, {', '.join(self.places_read())}, l] : {x}"
        return [f'%pad = te.compute "pad" [{axes}] : {type_} {{', *self.if_inside(read), "}"]

    def if_inside(self, read: str) -> list[str]:
        """The body of what pads: what is read inside of the image, and zeros around it."""
        conditions = [
            condition
            for name, p in zip(self._places(), self.positions, strict=True)
            if p.before or p.after
            for condition in (f"{name} - {p.before} >= 0", f"{p.size + p.before - 1} - {name} >= 0")
        ]
        return [
            f"%v = te.if_then_else [{', '.join(conditions)}] : i8 {{",
            *(f"%a = {read}", "te.yield %a : i8", "} else {", "%z = arith.constant 0 : i8", "te.yield %z : i8", "}"),
            "te.yield %v : i8",
        ]

    def places_read(self) -> list[str]:
        """Where the image is read for each place of the padded one."""
        return [f"{name} - {p.before}" for name, p in zip(self._places(), self.positions, strict=True)]

    def windows_read(self) -> list[str]:
        """Where the padded image is read for a sum."""
        if not self.is_windowed:
            return [f"p{i}" for i in range(len(self.positions))]
        return [f"{p.stride} * p{i} + u{i}" for i, p in enumerate(self.positions)]

    def multiplied(self) -> list[str]:
        """The end of a body that adds the products of two bytes."""
        return [
            "%ai = arith.extsi %a : i8 to i32",
            "%bi = arith.extsi %b : i8 to i32",
            "%p = arith.muli %ai, %bi : i32",
            "te.reduce add %p : i32",
        ]

    def _places(self) -> list[str]:
        return [f"q{i}" for i in range(len(self.positions))]

    def _product(self, x: str, w: str) -> list[str]:
        source, type_ = ("%x", x)
        if self.is_padded:
            source, type_ = (
                "%pad",
                tensor_text([self.channels, *(p.padded for p in self.positions), self.block_in], "i8"),
            )
        windows = "".join(f", {name}" for name, _ in self.reduction[1:])
        reduction = ", ".join(f"{a}: {n}" for a, n in [*self.reduction, ("l", self.block_in)])
        return [
            f'%sum = te.compute "sum" [{self._spatial}] reduce [{reduction}] : {self._sums} {{',
            f"%a = te.read {source}[c, {', '.join(self.windows_read())}, l] : {type_}",
            f"%b = te.read %w[o, c{windows}, j, l] : {w}",
            *self.multiplied(),
            "}",
        ]

    def _stages(self, types: dict[str, str]) -> list[str]:
        lines, source, number = list[str](), "sum", 0
        places = ", ".join(name for name, _ in self.axes)
        for i, stage in enumerate(self.stages):
            lines += [f'%e{i} = te.compute "e{i}" [{self._spatial}] : {self._sums} {{']
            lines += [f"%v = te.read %{source}[{places}, j] : {self._sums}"]
            last = "%v"
            for step in stage:
                other = f"%k{number}"
                if step.words is None:
                    lines.append(f"{other} = arith.constant {step.number} : i32")
                else:
                    at = ", ".join(dict(self.words)[f"b{number}"])
                    lines.append(f"{other} = te.read %b{number}[{at}, j] : {types[f'b{number}']}")
                lines.append(f"%w{number} = {ALU[step.operation]} {last}, {other} : i32")
                last, number = f"%w{number}", number + 1
            lines += [f"te.yield {last} : i32", "}"]
            source = f"e{i}"
        return lines

    def _result(self, y: str) -> list[str]:
        axes = ", ".join(f"{self.axes[i][0]}: {self.axes[i][1]}" for i in self.order)
        source = f"e{len(self.stages) - 1}" if self.stages else "sum"
        return [
            f'%y = te.compute "y" [{axes}, j: {self.block_out}] : {y} {{',
            f"%v = te.read %{source}[{', '.join(name for name, _ in self.axes)}, j] : {self._sums}",
            "%t = arith.trunci %v : i32 to i8",
            "te.yield %t : i8",
            "}",
        ]

    # -- numpy

    def arguments(self, seed: int) -> list[Array]:
        """Random operands, and a result that is not computed yet."""
        draw, sizes = np.random.default_rng(seed), dict(self.axes)
        bi, bo = self.block_in, self.block_out
        x = draw.integers(-128, 128, (self.channels, *(p.size for p in self.positions), bi), np.int8)
        w = draw.integers(-128, 128, (self.outputs, *(n for _, n in self.reduction), bo, bi), np.int8)
        words = [
            draw.integers(-(1 << 15), 1 << 15, (*(sizes[a] for a in axes), bo)).astype(np.int32)
            for _, axes in self.words
        ]
        return [x, w, *words, np.full((*(self.axes[i][1] for i in self.order), bo), 77, np.int8)]

    def expected(self, x: Array, w: Array, *words: Array) -> Array:
        """The result."""
        return self.words_before(x, w, *words).astype(np.int8)

    def words_before(self, x: Array, w: Array, *words: Array) -> Array:
        """What the result is the lowest bytes of."""
        x = np.pad(x, [(0, 0), *((p.before, p.after) for p in self.positions), (0, 0)]).astype(np.int32)
        sums = np.zeros((*(n for _, n in self.axes), self.block_out), np.int32)
        spatial = "xyz"[: len(self.positions)]
        for taps in product(*(range(p.window) for p in self.positions)):
            rows = [
                slice(u, u + p.stride * (p.extent - 1) + 1, p.stride) for u, p in zip(taps, self.positions, strict=True)
            ]
            weights = w[:, :, *taps] if self.is_windowed else w
            sums += np.einsum(f"c{spatial}l,ocjl->o{spatial}j", x[:, *rows], weights.astype(np.int32))
        given = iter(words)
        for step in self.steps:
            other: Any = np.int32(step.number)
            if step.words is not None:
                other = next(given)
                if step.words == "outputs":
                    other = other.reshape(self.outputs, *[1] * len(self.positions), self.block_out)
            sums = _STEPS[step.operation](sums, other)
        return sums.transpose(*self.order, len(self.order))


_STEPS = {
    "max": np.maximum,
    "min": np.minimum,
    "add": np.add,
    "mul": np.multiply,
    "shr": np.right_shift,
    "shl": np.left_shift,
    "sub": np.subtract,
}


def tensor_text(shape: Sequence[int], element: str) -> str:
    return f"tensor<{'x'.join(map(str, shape))}x{element}>"


def random_kernel(draw: Draw, target: VdlaTarget) -> Kernel:
    """A product of matrices, or a convolution along one axis or two; sizes are odd, and so are windows."""
    rank = draw.choice((1, 1, 2))
    positions = tuple(_position(draw, draw.chance(40), 9 if rank == 1 else 6) for _ in range(rank))
    stages = tuple(tuple(_step(draw) for _ in range(draw.choice((1, 2, 3)))) for _ in range(draw.choice((0, 1, 1, 2))))
    order = list(range(rank + 1))
    if draw.chance(40):
        order = [order.pop(draw.choice(range(len(order)))) for _ in range(rank + 1)]
    outputs, channels = draw.choice((1, 2, 3, 4, 5)), draw.choice((1, 2, 3, 4))
    return Kernel(outputs, channels, positions, stages, tuple(order), target.block_in, target.block_out)


def _position(draw: Draw, is_windowed: bool, most: int) -> Position:
    size = draw.choice(range(1, most + 1))
    if not is_windowed:
        return Position(size, 1, 1, 0, 0)
    before, after = draw.choice((0, 0, 1, 2)), draw.choice((0, 0, 1, 2))
    window = draw.choice([n for n in (1, 2, 3) if n <= size + before + after])
    return Position(size, window, draw.choice((1, 1, 2)), before, after)


def _step(draw: Draw) -> Step:
    operation = draw.choice(("max", "min", "add", "add", "mul", "shr", "shr", "shl", "sub"))
    if operation in ("max", "min", "add", "mul") and draw.chance(40):
        return Step(operation, words=draw.choice(("outputs", "outputs", "sums")))
    if operation in ("shr", "shl"):
        return Step(operation, draw.choice((0, 1, 4, 7)))
    return Step(operation, draw.choice((0, 1, -1, 3, -128, 127, 1000)))
