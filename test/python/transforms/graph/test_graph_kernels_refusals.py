"""Operators that a program defines as te kernels: what is refused, how text names them, and how they are fused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from kernel_models import KERNELS, gelu, matmul, model, numbers, own, silu, softmax, swish, transpose
from xdsl.dialects.builtin import f32

import tilework as tw
from tilework import te
from tilework.algebra.index_expr import var
from tilework.dialects.graph.base import Category
from tilework.dialects.graph.kernel_category import kernel_category
from tilework.dialects.support.diagnostics import TileworkError, UsageError
from tilework.dialects.support.shapes import tensor_type
from tilework.driver.check_semantics import SemanticCheck
from tilework.frontends.te.operator import Kernel
from tilework.runtime.cache import KernelCache


def refusal(source: Any, kernels: Any, **options: Any) -> str:
    with pytest.raises(TileworkError) as caught:
        tw.compile(source, kernels=kernels, **options)
    return str(caught.value)


# ---- what is refused -------------------------------------------------------------------------------------------------

ONE = [own("Mine", "x", "y", alpha=1.0)]


def test_a_node_without_a_kernel_names_the_argument():
    assert refusal(model(ONE, {"x": [4]}), None).split("\n") == [
        "1 node(s) use an operator that Tilework does not support (opset 20):",
        "  my.ops.Mine 'Mine_0' of (4xf32); tilework.compile(..., kernels={\"my.ops::Mine\": ...}) would define it",
    ]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x, alpha: None, "what kernel lambda returns: tensors are expected, not a NoneType"),
        (lambda x, alpha: [], "kernel lambda returns no tensor"),
        (lambda x, alpha: 3, "what kernel lambda returns: tensors are expected, not a int"),
        (
            lambda x: x,
            "kernel lambda(x) does not take what it is given, operands: 1, attributes: alpha: "
            "got an unexpected keyword argument 'alpha'",
        ),
        (
            lambda x, z, alpha: x,
            "kernel lambda(x, z, alpha) does not take what it is given, operands: 1, attributes: alpha: "
            "missing a required argument: 'z'",
        ),
        (
            lambda x, alpha: te.compute((5,), lambda i: x[i], name="far"),
            "compute 'far' reads argument 0 (%x) out of bounds: axis 0 has 4 elements, "
            "index i runs from 0 to 4, and is 4 at i = 4",
        ),
        (
            lambda x, alpha: te.compute((4,), lambda i: te.placeholder((4,), name="z")[i], name="far"),
            "placeholder 'z' is read but is not among the arguments",
        ),
    ],
)
def test_functions_that_define_nothing(function: Any, message: str):
    found = refusal(model(ONE, {"x": [4]}), {"my.ops::Mine": tw.kernel(function)})
    assert found == f"Mine 'Mine_0': {message} (inputs: 4xf32)"


def test_too_few_results():
    two = model([own("Gelu", "x", "y z")], {"x": [4]}, "y z")
    assert refusal(two, KERNELS) == (
        "Gelu 'Gelu_0': the node has 2 outputs, but kernel gelu returns 1 of them (inputs: 4xf32)"
    )


EXAMPLE = 'as in kernels={"my.ops::Swish": swish}'


@pytest.mark.parametrize(
    ("kernels", "message"),
    [
        ([swish], f"kernels= takes a dictionary of kernels by operator, {EXAMPLE}, not a list"),
        ({3: swish}, f"kernels= names operators by texts, {EXAMPLE}, not by a int"),
        (
            {"my.ops::Mine": str.upper},
            "kernels= has a method_descriptor for my.ops::Mine: decorate the function with @tilework.kernel",
        ),
    ],
)
def test_what_is_no_dictionary_of_kernels(kernels: Any, message: str):
    with pytest.raises(UsageError) as caught:
        tw.compile(model(ONE, {"x": [4]}), kernels=kernels)
    assert str(caught.value) == message


def test_what_is_no_function():
    with pytest.raises(UsageError, match=r"tilework\.kernel takes a function of tensors, not a int"):
        tw.kernel(3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(UsageError, match=r"takes a function whose parameters Python knows; write one around it"):
        tw.kernel(min)


# ---- in text ---------------------------------------------------------------------------------------------------------

TEXT = """
func.func @main(%x: ROWS, %b: tensor<4xf32>) -> ROWS {
  %h = graph.neg %x : (ROWS) -> ROWS
  %y = graph.kernel @swish (%h, %b) : (ROWS, tensor<4xf32>) -> RESULT
  func.return %y : RESULT
}
"""

DEFINITION = """
te.kernel @swish(%x: MATRIX, %b: tensor<?xf32, #graph.dims<[B]>>) -> MATRIX {
  %y = te.compute "swish" [N: A, j: B] : MATRIX {
    %0 = te.read %x[N, j] : MATRIX
    %1 = te.read %b[j] : tensor<?xf32, #graph.dims<[B]>>
    %2 = arith.mulf %0, %1 : f32
    te.yield %2 : f32
  }
  te.return %y : MATRIX
}
"""

ROWS, MATRIX = "tensor<?x4xf32, #graph.dims<[N, 4]>>", "tensor<?x?xf32, #graph.dims<[A, B]>>"


def in_file(folder: Path, text: str, result: str = ROWS) -> Path:
    text = text.replace("MATRIX", MATRIX).replace("ROWS", ROWS).replace("RESULT", result)
    (folder / "program.mlir").write_text(text)
    return folder / "program.mlir"


def compiled(folder: Path, text: str, kernels: Mapping[str, Kernel] | None = None) -> tw.Module:
    check = SemanticCheck()
    cache = KernelCache(folder / "cache")
    return tw.compile(in_file(folder, text), kernels=kernels, cache=cache, processes=1, instrumentations=[check])


def test_a_kernel_of_the_module(tmp_path: Path):
    """Its axis has the name of a symbol around it."""
    module = compiled(tmp_path, DEFINITION + TEXT)
    x, b = numbers(6, 4), numbers(4, seed=1)
    np.testing.assert_allclose(module(x, b), -x * b, rtol=1e-6)
    assert module.report is not None and module.report.kernels == ["neg_swish"]


def test_a_kernel_of_the_module_from_python(tmp_path: Path):
    module = compiled(tmp_path, TEXT, {"swish": swish})
    x, b = numbers(6, 4), numbers(4, seed=1)
    np.testing.assert_allclose(module(x, b), silu(-x, b), rtol=1e-5)


def test_a_kernel_that_no_operator_names_keeps_its_name(tmp_path: Path):
    """The kernels of operators get other ones."""
    other = TEXT.replace("graph.kernel @swish (%h, %b) : (ROWS, tensor<4xf32>)", "graph.relu %h : (ROWS)")
    module = compiled(tmp_path, DEFINITION.replace("@swish", "@neg_relu") + other)
    np.testing.assert_array_equal(module(numbers(2, 4), numbers(4)), np.maximum(-numbers(2, 4), 0))
    assert module.report is not None and module.report.kernels == ["neg_relu", "neg_relu_1"]


def test_a_kernel_on_two_devices(tmp_path: Path):
    """The definition is shared; each group's kernel is compiled for its device."""
    group = """
  %g = graph.fused "swish" (%h, %b) : (ROWS, tensor<4xf32>) -> (ROWS) attributes {device = "npu0"} {
  ^bb0(%p: ROWS, %q: tensor<4xf32>):
    %r = graph.kernel @swish (%p, %q) : (ROWS, tensor<4xf32>) -> ROWS
    graph.yield %r : ROWS
  }
  %y = graph.kernel @swish (%g, %b)"""
    targets = 'attributes {tilework.targets = {host = "llvm", npu0 = "llvm -mcpu=haswell"}}'
    text = (DEFINITION + TEXT).replace("\n  %y = graph.kernel @swish (%h, %b)", group)
    module = compiled(tmp_path, f"builtin.module {targets} {{{text}}}")
    x, b = numbers(6, 4), numbers(4, seed=1)
    np.testing.assert_allclose(module(x, b), -x * b * b, rtol=1e-6)
    assert [device.name for device in module.manifest.devices] == ["npu0"]


def test_refusals_of_kernels_for_a_module(tmp_path: Path):
    both = in_file(tmp_path, DEFINITION + TEXT)
    assert refusal(both, {"swish": swish}) == (
        "kernels= defines swish, but so does te.kernel @swish of the module: take one out"
    )
    assert f"kernel swish makes {ROWS}, not tensor<4xf32>" in refusal(
        in_file(tmp_path, TEXT, "tensor<4xf32>").rename(tmp_path / "other.mlir"), {"swish": swish}
    )
    assert "the module has no te.kernel @swish" in refusal(in_file(tmp_path, TEXT), {})
    assert "does not take what it is given, operands: 2" in refusal(in_file(tmp_path, TEXT), {"swish": gelu})


def test_what_a_function_raises_says_for_what_it_was_called():
    def broken(x: Any, alpha: float) -> Any:
        raise ValueError("of its own")

    with pytest.raises(ValueError, match="of its own") as caught:
        tw.compile(model(ONE, {"x": [4]}), kernels={"my.ops::Mine": tw.kernel(broken)})
    [note] = caught.value.__notes__
    assert note == "while the function of kernel broken was called for operands of (tensor<4xf32>)"


def test_results_of_less_than_no_elements(tmp_path: Path):
    """A size of the results is a requirement of the operator, checked when the model runs."""
    tail = tw.kernel(lambda x: te.compute((x.shape[0] - 5, 4), lambda i, j: x[i + 5, j], name="tail"))
    module = tw.compile(
        model([own("Tail", "x", "y")], {"x": ["N", 4]}), kernels={"my.ops::Tail": tail}, cache=KernelCache(tmp_path)
    )
    np.testing.assert_array_equal(module(numbers(7, 4)), numbers(7, 4)[5:])
    assert module(numbers(5, 4)).shape == (0, 4)
    with pytest.raises(TileworkError, match=r"a result would have N - 5 elements along an axis"):
        module(numbers(4, 4))


# ---- how it is fused -------------------------------------------------------------------------------------------------

N = var("N")


def categories(kernel: Kernel, *shapes: Sequence[Any]) -> tuple[Category, ...]:
    found = kernel_category(kernel.lower([tensor_type(shape, f32) for shape in shapes], {}))
    return found.whole, *found.arguments


def by(function: Any) -> Any:
    """The kernel of one compute of the shape of its first operand."""
    return tw.kernel(lambda *t: te.compute(t[0].shape, lambda *i: function(i, *t), name="k"))


E, B, I, R, C, O = (  # noqa: E741
    Category.ELEMENTWISE,
    Category.BROADCAST,
    Category.INJECTIVE,
    Category.REDUCTION,
    Category.COMPLEX,
    Category.OPAQUE,
)


@pytest.mark.parametrize(
    ("kernel", "shapes", "expected"),
    [
        (gelu, [[3, 4]], [E, E]),
        (gelu, [[N, 4]], [E, E]),
        (swish, [[3, 4], [4]], [B, E, B]),
        (transpose, [[4, 4]], [I, I]),
        (matmul, [[3, 4], [4, 5]], [C, C, C]),
        (softmax, [[3, 4]], [O, O]),
        (by(lambda i, x: x[i[0], i[1]] + x[i[1], i[0]]), [[4, 4]], [I, I]),
        (by(lambda i, x, z: x[i[0], i[1]] + z[0, i[1]]), [[3, 4], [1, 4]], [B, E, B]),
        (by(lambda i, x, z: x[i[0], i[1]] + z[0, i[1]]), [[3, 4], [2, 4]], [I, E, I]),
        (by(lambda i, x, z: x[i[0]] + z[i[0]]), [[3], [5]], [I, E, I]),
        (by(lambda i, x: x[i[0]] + i[0]), [[3]], [I, E]),
        (by(lambda i, x: te.if_then_else(i[0] < 2, x[i[0]], 0.0)), [[3]], [I, E]),
        (by(lambda i, x: te.if_then_else(x[i[0]] < 2, x[i[0]], 0.0)), [[3]], [E, E]),
        (by(lambda i, x, z: te.if_then_else(x[i[0]] < 2, z[0], 0.0)), [[3], [1]], [B, E, B]),
        (by(lambda i, x, z: z[x[i[0]].astype("int32")]), [[3], [9]], [I, O, I]),
        (by(lambda i, x: x[i[0]] + x.shape[0]), [[N]], [E, E]),
    ],
)
def test_categories(kernel: Any, shapes: Sequence[Any], expected: Sequence[Category]):
    assert categories(kernel, *shapes) == tuple(expected)
