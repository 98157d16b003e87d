"""Operators of networks that a program defines itself, as te kernels: in Python for ONNX nodes, and in text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from kernel_models import BFLOAT, FLOAT, HALF, KERNELS, model, numbers, own, silu, standard, transpose
from onnx import helper, numpy_helper

import tilework as tw
from tilework import te
from tilework.dialects.support.diagnostics import TileworkError
from tilework.driver.check_semantics import SemanticCheck
from tilework.frontends.onnx.kernels import by_kernel
from tilework.frontends.onnx.node import converter
from tilework.runtime.cache import KernelCache

Compiled = Callable[..., tw.Module]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """Compiles for this machine; the passes are checked by the interpreters."""
    cache = KernelCache(tmp_path_factory.mktemp("cache"))

    def compile_(source: Any, kernels: Mapping[str, Any] = KERNELS, **options: Any) -> tw.Module:
        check = {"instrumentations": [SemanticCheck()]}
        return tw.compile(source, cache=cache, processes=1, kernels=kernels, **{**check, **options})

    return compile_


# ---- as operators of a model -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [[8], ["N"], ["N", 3], ["N", "M"], [1], [7, 1]])
def test_an_activation_joins_the_layer_in_front_of_it(compiled: Compiled, rows: Sequence[int | str]):
    nodes = [
        standard("MatMul", "x w", "h"),
        own("Swish", "h b", "s", scale=2.0),
        standard("Relu", "s", "y"),
    ]
    w, b = numbers(32, 16), numbers(16, seed=1)
    module = compiled(model(nodes, {"x": [*rows, 32]}, constants={"w": w, "b": b}))
    x = numbers(*(5 if isinstance(n, str) else n for n in rows), 32, seed=2)
    np.testing.assert_allclose(module(x), np.maximum(silu(x @ w, 2 * b), 0), rtol=1e-4, atol=1e-5)
    assert module.report is not None and module.report.kernels == ["dense_swish_relu"]


@pytest.mark.parametrize("size", [0, 1, 2, 31, 64])
@pytest.mark.parametrize("kernel", ["Gelu", "Softmax", "Transpose"])
def test_a_kernel_is_as_good_as_the_operator(compiled: Compiled, kernel: str, size: int):
    attributes = {"Transpose": {"perm": [1, 0]}}.get(kernel, {})
    models = [
        model([standard("Neg", "x", "a"), make(kernel, "a", "b", **given), standard("Abs", "b", "y")], {"x": shape})
        for shape in ([size, 5], ["N", 5], ["N", "M"])
        for make, given in ((own, {}), (standard, attributes))
    ]
    x = numbers(size, 5)
    first, *others = (compiled(m)(x) for m in models)
    assert first.shape == ((5, size) if kernel == "Transpose" else (size, 5))
    for other in others:
        np.testing.assert_allclose(other, first, rtol=1e-5, atol=1e-6)


def test_a_product_is_as_good_as_the_operator(compiled: Compiled):
    w, x = numbers(24, 18), numbers(13, 24, seed=1)
    mine, theirs = (
        compiled(model([product, standard("Relu", "h", "y")], {"x": [13, 24]}, constants={"w": w}))
        for product in (own("Matmul", "x w", "h"), standard("MatMul", "x w", "h"))
    )
    np.testing.assert_allclose(mine(x), theirs(x), rtol=1e-5, atol=1e-5)
    assert mine.report is not None and mine.report.kernels == ["matmul_relu"]


def test_images_in_blocks_of_channels(compiled: Compiled):
    """The kernel takes its operands in their usual order, whatever lies in memory between convolutions."""
    channels = tw.kernel(lambda x, b: te.compute(x.shape, lambda n, c, i, j: te.max(x[n, c, i, j], b[c]), name="most"))
    nodes = [
        standard("Conv", "x w", "h", pads=[1, 1, 1, 1]),
        own("Channels", "h b", "s"),
        standard("Conv", "s v", "y", pads=[1, 1, 1, 1]),
    ]
    constants = {"w": numbers(32, 16, 3, 3), "v": numbers(16, 32, 3, 3, seed=1), "b": numbers(32, seed=2)}
    mine = compiled(model(nodes, {"x": [1, 16, 28, 28]}, constants=constants), {"my.ops::Channels": channels})
    theirs = [nodes[0], standard("Max", "h b", "s"), nodes[2]]
    reference = compiled(
        model(theirs, {"x": [1, 16, 28, 28]}, constants={**constants, "b": constants["b"].reshape(32, 1, 1)})
    )
    x = numbers(1, 16, 28, 28, seed=3)
    np.testing.assert_allclose(mine(x), reference(x), rtol=1e-4, atol=1e-3)
    assert mine.report is not None and mine.report.kernels == ["conv_lambda", "conv"]


def test_sizes_that_broadcast(compiled: Compiled):
    """In front of the kernel two sizes become one, of which only the running model knows which."""
    nodes = [standard("Add", "x z", "h"), own("Gelu", "h", "g"), standard("Neg", "g", "y")]
    theirs, sizes = [nodes[0], standard("Gelu", "h", "g"), nodes[2]], {"x": ["N", 4], "z": ["M", 4]}
    module, reference = (compiled(model(ops, sizes), instrumentations=()) for ops in (nodes, theirs))
    for n, m in ((3, 3), (1, 5), (4, 1), (1, 1)):
        x, z = numbers(n, 4), numbers(m, 4, seed=1)
        np.testing.assert_allclose(module(x, z), reference(x, z), rtol=1e-5, atol=1e-6)


def test_parameters_alone_are_computed_before_the_first_run(compiled: Compiled):
    nodes = [own("Transpose", "w", "t"), standard("MatMul", "x t", "y")]
    w, x = numbers(16, 40), numbers(3, 40, seed=1)
    module = compiled(model(nodes, {"x": [3, 40]}, constants={"w": w}))
    np.testing.assert_allclose(module(x), x @ w.T, rtol=1e-5, atol=1e-5)
    assert module.report is not None and module.report.kernels == ["dense"]


def test_what_is_computed_from_a_default_is_computed_again(compiled: Compiled, tmp_path: Path):
    """In a saved module, too, which holds the kernel."""
    made = model([own("Transpose", "w", "t"), standard("MatMul", "x t", "y")], {"x": [3, 40], "w": [16, 40]})
    w, x = numbers(16, 40), numbers(3, 40, seed=1)
    made.graph.initializer.append(numpy_helper.from_array(w, "w"))
    compiled(made).save(tmp_path / "model.tw")
    module = tw.load(tmp_path / "model.tw")
    for other in (w, w + 1):
        [y] = module.run({"x": x, "w": other}).values()
        np.testing.assert_allclose(y, x @ other.T, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("dtype", "numpy_type"), [(HALF, np.float16), (BFLOAT, ml_dtypes.bfloat16)])
def test_half_precision_is_given_to_the_kernel_as_it_is(compiled: Compiled, dtype: int, numpy_type: Any):
    seen: list[str] = []

    @tw.kernel
    def twice(x: te.Tensor) -> te.Tensor:
        seen.append(x.dtype)
        return te.compute(x.shape, lambda i: x[i] + x[i], name="twice")

    nodes = [standard("Neg", "x", "a"), own("Twice", "a", "b"), standard("Abs", "b", "y")]
    module = compiled(model(nodes, {"x": [33]}, dtype=dtype), {"my.ops::Twice": twice}, instrumentations=())
    x = numbers(33).astype(numpy_type)
    np.testing.assert_array_equal(module(x), np.abs(-x + -x))
    assert set(seen) == {"float16" if dtype == HALF else "bfloat16"}


def test_several_results_truth_values_and_operands_that_are_absent(compiled: Compiled):
    @tw.kernel
    def split(x: te.Tensor, absent: None, limit: te.Tensor, names: Sequence[int] = ()) -> list[te.Tensor]:
        assert absent is None and list(names) == [4, 5]
        k = te.reduce_axis((0, x.shape[0]), "k")
        less = te.compute(x.shape, lambda i: x[i] < limit[i], name="less")
        return [less, te.compute((1,), lambda i: te.sum(x[k], axis=k), name="total")]

    nodes = [own("Split", "x  z", "c t", names=[4, 5]), standard("Not", "c", "n")]
    module = compiled(model(nodes, {"x": [9], "z": [9]}, "n t"), {"my.ops::Split": split})
    x, z = numbers(9), numbers(9, seed=1)
    found = module.run({"x": x, "z": z})
    np.testing.assert_array_equal(found["n"], ~(x < z))
    np.testing.assert_allclose(found["t"], [x.sum()], rtol=1e-5)


def test_what_is_given_stands_before_an_operator_of_the_standard(compiled: Compiled):
    module = compiled(model([standard("Relu", "x", "y")], {"x": [4, 4]}), {"Relu": transpose})
    np.testing.assert_array_equal(module(numbers(4, 4)), numbers(4, 4).T)


def test_a_converter_that_a_plugin_registers(compiled: Compiled):
    converter("Twice", domain="plugin.ops")(by_kernel(tw.kernel(lambda x: te.compute(x.shape, lambda i: x[i] * 2.0))))
    made = model([helper.make_node("Twice", ["x"], ["y"], domain="plugin.ops")], {"x": [3]})
    np.testing.assert_array_equal(compiled(made, {})(numbers(3)), 2 * numbers(3))


def test_in_a_function_of_the_model_and_in_a_branch(compiled: Compiled):
    """A kernel serves a node wherever it stands."""
    result = [helper.make_empty_tensor_value_info("r")]
    branches = {
        "then_branch": helper.make_graph([own("Gelu", "x", "r")], "a", [], result),
        "else_branch": helper.make_graph([standard("Neg", "x", "r")], "b", [], result),
    }
    made = model([standard("ReduceSum", "x", "s", keepdims=0), standard("Greater", "s o", "c")], {"x": [6]})
    made.graph.node.append(standard("If", "c", "h", **branches))
    made.graph.initializer.append(numpy_helper.from_array(np.float32(0), "o"))
    made.graph.node.append(helper.make_node("Mine", ["h"], ["y"], domain="local"))
    inside = [own("Gelu", "a", "r")]
    made.functions.append(helper.make_function("local", "Mine", ["a"], ["r"], inside, made.opset_import))
    made.opset_import.append(helper.make_opsetid("local", 1))
    module, by_itself = compiled(made), compiled(model([own("Gelu", "x", "y")], {"x": [6]}))
    x = np.abs(numbers(6))
    np.testing.assert_allclose(module(x), by_itself(by_itself(x)), rtol=1e-5)
    np.testing.assert_allclose(module(-x), by_itself(x), rtol=1e-5)


def test_steps_and_statements(compiled: Compiled):
    """A scan and an extern are kernels of their own, whose sizes are those of the operands."""

    @tw.kernel
    def running(x: te.Tensor) -> te.Tensor:
        n, m = x.shape
        state = te.placeholder((n, m), name="state")
        first = te.compute((1, m), lambda _, i: x[0, i], name="first")
        following = te.compute((n, m), lambda t, i: state[t - 1, i] + x[t, i], name="following")
        return te.scan(first, following, state, name="running")

    @tw.kernel
    def backwards(x: te.Tensor) -> te.Tensor:
        n, m = x.shape

        def write(ins: Any, outs: Any) -> Any:
            ib = te.ir_builder.create()
            source, result = ib.buffer_ptr(ins[0]), ib.buffer_ptr(outs[0])
            with ib.for_range(0, n, name="i") as i, ib.for_range(0, m, name="j") as j:
                result[i, j] = source[n - 1 - i, j]
            return ib.get()

        return te.extern((n, m), [x], write, name="backwards")

    nodes = [standard("Neg", "x", "a"), own("Running", "a", "b"), own("Backwards", "b", "c"), standard("Abs", "c", "y")]
    kernels = {"my.ops::Running": running, "my.ops::Backwards": backwards}
    for shape in ([7, 3], ["t", 3], ["i", "j"]):
        module, x = compiled(model(nodes, {"x": shape}), kernels), numbers(7, 3)
        np.testing.assert_allclose(module(x), np.abs(np.cumsum(-x, 0)[::-1]), rtol=1e-5, atol=1e-6)


def test_what_is_returned_unchanged_is_copied(compiled: Compiled):
    same = tw.kernel(lambda x: [x, x])
    made = model([own("Same", "x", "a b")], {"x": [5]}, "a b")
    found = compiled(made, {"my.ops::Same": same}).run({"x": numbers(5)})
    for name in "ab":
        np.testing.assert_array_equal(found[name], numbers(5))


def test_sizes_that_a_kernel_reads_out_of_are_refused_at_the_call(compiled: Compiled):
    third = tw.kernel(lambda x: te.compute((1,), lambda i: x[i + 2], name="third"))
    made = model([own("Third", "x", "y")], {"x": ["N"]})
    module = compiled(made, {"my.ops::Third": third}, instrumentations=())
    np.testing.assert_array_equal(module(numbers(3)), numbers(3)[2:])
    with pytest.raises(TileworkError, match="'third' reads"):
        module(numbers(2))


def test_kernels_are_compiled_in_other_processes_and_found_in_the_cache(tmp_path: Path):
    """What a kernel says is in the text: two programs that call different kernels by one name share nothing."""
    cache, x = KernelCache(tmp_path), numbers(3, 8)
    for factor in (2.0, 3.0):

        @tw.kernel
        def scaled(x: te.Tensor, by: float = factor) -> te.Tensor:
            return te.compute(x.shape, lambda *i: x(*i) * by, name="scaled")

        nodes = [standard("MatMul", "x w", "h"), own("Scaled", "h", "y")]
        made = model(nodes, {"x": [3, 8]}, constants={"w": numbers(8, 8)})
        for cached in ([], ["dense_scaled"]):
            module = tw.compile(made, cache=cache, processes=2, kernels={"my.ops::Scaled": scaled})
            np.testing.assert_allclose(module(x), factor * (x @ numbers(8, 8)), rtol=1e-5, atol=1e-5)
            assert module.report is not None and module.report.cached == cached


def test_equal_operators_are_computed_once(compiled: Compiled):
    nodes = [own("Gelu", "x", "a"), own("Gelu", "x", "b"), own("Gelu", "z", "c"), standard("Sum", "a b c", "y")]
    module = compiled(model(nodes, {"x": [4], "z": [4]}))
    by_itself = compiled(model([own("Gelu", "x", "y")], {"x": [4]}))
    x, z = numbers(4), numbers(4, seed=1)
    np.testing.assert_allclose(module(x, z), 2 * by_itself(x) + by_itself(z), rtol=1e-5)
    assert module.report is not None and module.report.kernels == ["gelu_gelu_add_add"]


def test_rows_of_attention(compiled: Compiled):
    """A kernel that goes element by element stands between a product and a softmax as any operator does."""
    q, k, v = numbers(2, 16, 8), numbers(2, 8, 32, seed=1), numbers(2, 32, 8, seed=2)
    sizes = {"q": q.shape, "k": k.shape, "v": v.shape}
    mine, theirs = (
        compiled(
            model(
                [
                    standard("MatMul", "q k", "s"),
                    make("Gelu", "s", "g"),
                    standard("Softmax", "g", "p", axis=-1),
                    standard("MatMul", "p v", "y"),
                ],
                sizes,
            )
        )
        for make in (own, standard)
    )
    np.testing.assert_allclose(mine(q, k, v), theirs(q, k, v), rtol=1e-4, atol=1e-5)
    assert mine.report is not None and mine.report.kernels == ["matmul_gelu_softmax_matmul"]


def test_in_each_step_of_a_scan(compiled: Compiled):
    def scan(make: Any) -> onnx.ModelProto:
        nodes = [make("Gelu", "s", "g"), standard("Add", "g x", "n"), standard("Identity", "n", "o")]
        inputs = [helper.make_tensor_value_info(name, FLOAT, [4]) for name in "sx"]
        body = helper.make_graph(nodes, "body", inputs, [helper.make_empty_tensor_value_info(name) for name in "no"])
        step = standard("Scan", "h xs", "end ys", num_scan_inputs=1, body=body)
        return model([step], {"h": [4], "xs": [40, 4]}, "end ys")

    h, xs = numbers(4), numbers(40, 4, seed=1)
    mine, theirs = (compiled(scan(make)).run({"h": h, "xs": xs}) for make in (own, standard))
    for name in ("end", "ys"):
        np.testing.assert_allclose(mine[name], theirs[name], rtol=1e-5, atol=1e-5)


def test_attributes_of_every_type(compiled: Compiled):
    seen: dict[str, Any] = {}

    @tw.kernel
    def noted(x: te.Tensor, **attributes: Any) -> te.Tensor:
        seen.update(attributes)
        return te.compute((), lambda: x() + attributes["n"], name="noted")

    table = numpy_helper.from_array(np.arange(3))
    node = own("Noted", "x", "y", n=3, ratio=0.5, word="ab", sizes=[1, 2], table=table)
    assert compiled(model([node], {"x": []}), {"my.ops::Noted": noted})(np.float32(2)) == 5
    np.testing.assert_array_equal(seen.pop("table"), [0, 1, 2])
    assert seen == {"n": 3, "ratio": 0.5, "word": "ab", "sizes": [1, 2]}
