"""The same products as the graph level writes them: channels in one axis, blocks in arguments and results alone.

The rule for products writes their schedules, with any of the tiles that it takes into account.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from tilework.dialects.support.registration import make_context
from tilework.dialects.support.source_parser import SourceParser
from tilework.dialects.te import KernelOp
from tilework.rules.vdla.product_form import product_form
from tilework.rules.vdla.tile import TileChoice
from tilework.rules.vdla.tiled_product import TiledProductPlan
from tilework.targets.vdla.target import VdlaTarget
from tilework.tools.fuzz.draw import Draw
from tilework.tools.fuzz.vdla.kernels import ALU, Array, Kernel, tensor_text


@dataclass(frozen=True)
class Layer(Kernel):
    """A kernel with other stages: blocks are taken apart first, and put together last.

    planes: how many bytes of each word are the result, one behind the other along an axis in front of the others; None
    for the lowest bytes, without such an axis.
    """

    planes: int | None = None

    def arguments(self, seed: int) -> list[Array]:
        *operands, result = super().arguments(seed)
        return [*operands, result if self.planes is None else np.full((self.planes, *result.shape), 77, np.uint8)]

    def expected(self, x: Array, w: Array, *words: Array) -> Array:
        if self.planes is None:
            return super().expected(x, w, *words)
        before = self.words_before(x, w, *words)
        return np.stack([before >> 8 * plane for plane in range(self.planes)]).astype(np.uint8)

    @property
    def text(self) -> str:
        bi, bo, sizes = self.block_in, self.block_out, dict(self.axes)
        places, windows = [f"q{i}" for i in range(len(self.positions))], [n for _, n in self.reduction[1:]]
        inputs, outputs = self.channels * bi, self.outputs * bo
        x = tensor_text([self.channels, *(p.size for p in self.positions), bi], "i8")
        w = tensor_text([self.outputs, self.channels, *windows, bo, bi], "i8")
        image_sizes = [p.size for p in self.positions]
        words = {name: tensor_text([*(sizes[a] for a in axes), bo], "i32") for name, axes in self.words}
        front, element = ([], "i8") if self.planes is None else ([self.planes], "ui8")
        y = tensor_text([*front, *(n for _, n in self.axes), bo], element)
        image = tensor_text([1, inputs, *(p.size for p in self.positions)], "i8")
        padded = tensor_text([1, inputs, *(p.padded for p in self.positions)], "i8")
        weight = tensor_text([outputs, inputs, *windows], "i8")
        sums = tensor_text([1, outputs, *(p.extent for p in self.positions)], "i32")
        arguments = ", ".join(f"%{name}: {type_}" for name, type_ in {"x": x, "w": w, **words}.items())
        listed = _listed(places)
        us = _listed([name for name, _ in self.reduction[1:]])
        lines = [
            f"te.kernel @product({arguments}) -> {y} {{",
            f'%unpack = te.compute "unpack" [n: 1, c: {inputs}{_axes(places, image_sizes)}] : {image} {{',
            f"%a = te.read %x[c floordiv {bi}{listed}, c mod {bi}] : {x}",
            *("te.yield %a : i8", "}"),
            f'%weight = te.compute "weight" [o: {outputs}, c: {inputs}'
            f"{_axes([name for name, _ in self.reduction[1:]], windows)}] : {weight} {{",
            f"%a = te.read %w[o floordiv {bo}, c floordiv {bi}{us}, o mod {bo}, c mod {bi}] : {w}",
            *("te.yield %a : i8", "}"),
        ]
        source = "%unpack"
        if self.is_padded:
            source = "%pad"
            axes = _axes(places, [p.padded for p in self.positions])
            lines += [
                f'%pad = te.compute "pad" [n: 1, c: {inputs}{axes}] : {padded} {{',
                *self.if_inside(f"te.read %unpack[n, c{_listed(self.places_read())}] : {image}"),
                "}",
            ]
        spatial = f"n: 1, o: {outputs}{_axes([n for n, _ in self.axes[1:]], [p.extent for p in self.positions])}"
        reduction = f"c: {inputs}{_axes([n for n, _ in self.reduction[1:]], windows)}"
        lines += [
            f'%sum = te.compute "sum" [{spatial}] reduce [{reduction}] : {sums} {{',
            f"%a = te.read {source}[n, c{_listed(self.windows_read())}] : {padded}",
            f"%b = te.read %weight[o, c{us}] : {weight}",
            *self.multiplied(),
            "}",
        ]
        at, previous, number = "n, o" + _listed([n for n, _ in self.axes[1:]]), "sum", 0
        for i, stage in enumerate(self.stages):
            lines += [f'%e{i} = te.compute "e{i}" [{spatial}] : {sums} {{', f"%v = te.read %{previous}[{at}] : {sums}"]
            last = "%v"
            for step in stage:
                other = f"%k{number}"
                if step.words is None:
                    lines.append(f"{other} = arith.constant {step.number} : i32")
                else:
                    moved = _listed([a for a in dict(self.words)[f"b{number}"] if a != "o"])
                    type_ = words[f"b{number}"]
                    lines.append(f"{other} = te.read %b{number}[o floordiv {bo}{moved}, o mod {bo}] : {type_}")
                lines.append(f"%w{number} = {ALU[step.operation]} {last}, {other} : i32")
                last, number = f"%w{number}", number + 1
            lines += [f"te.yield {last} : i32", "}"]
            previous = f"e{i}"
        narrow = tensor_text([*front, 1, outputs, *(p.extent for p in self.positions)], element)
        axis, number = ("", "") if self.planes is None else (f"plane: {self.planes}, ", "plane, ")
        if self.planes is not None:
            shifted = tensor_text([*front, 1, outputs, *(p.extent for p in self.positions)], "i32")
            lines += [
                f'%shifted = te.compute "shifted" [{axis}{spatial}] : {shifted} {{',
                f"%v = te.read %{previous}[{at}] : {sums}",
                *("%n = te.index 8 * plane", "%b = arith.index_cast %n : index to i32"),
                *("%s = arith.shrsi %v, %b : i32", "te.yield %s : i32", "}"),
            ]
            previous, sums = "shifted", shifted
        result = axis + ", ".join(f"{name}: {size}" for name, size in (*self.axes, ("j", bo)))
        return "\n".join(
            [
                *lines,
                f'%cast = te.compute "cast" [{axis}{spatial}] : {narrow} {{',
                f"%v = te.read %{previous}[{number}{at}] : {sums}",
                *("%t = arith.trunci %v : i32 to i8", "te.yield %t : i8", "}"),
                f'%y = te.compute "y" [{result}] : {y} {{',
                f"%v = te.read %cast[{number}0, {bo} * o + j{_listed([n for n, _ in self.axes[1:]])}] : {narrow}",
                *("te.yield %v : i8", "}", f"te.return %y : {y}", "}"),
            ]
        )


def _listed(names: list[str]) -> str:
    return "".join(f", {name}" for name in names)


def _axes(names: list[str], sizes: list[int]) -> str:
    return "".join(f", {name}: {size}" for name, size in zip(names, sizes, strict=True))


def layer_of(kernel: Kernel, planes: int | None = None) -> Layer:
    """The same numbers as a layer; its result has its axes in order."""
    order = tuple(range(len(kernel.axes)))
    shape = kernel.outputs, kernel.channels, kernel.positions
    return Layer(*shape, kernel.stages, order, kernel.block_in, kernel.block_out, planes)


def ruled_schedule(layer: Layer, target: VdlaTarget, draw: Draw) -> str | None:
    """The schedule that the rule writes for one of the tiles that fit; None where it is not for the kernel."""
    module = SourceParser(make_context(), layer.text, "<fuzz>").parse_module()
    assert isinstance(module, ModuleOp)
    kernel = next(op for op in module.ops if isinstance(op, KernelOp))
    form = product_form(kernel, target, frozenset())
    if form is None:
        return None
    choice = TileChoice(form, target)
    tiles = list(dict.fromkeys(chain(*(choice.candidates(threads) for threads in (1, 2, 4)))))
    fitting = [tile for tile in tiles if choice.fits(tile)]
    if not fitting:
        return None
    plan = TiledProductPlan(kernel, target, frozenset(), form, draw.choice(fitting))
    return str(plan.schedule(kernel))
