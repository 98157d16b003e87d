"""Graph passes and graph-to-te keep what a graph means: random graphs, evaluated before and after."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from random_graphs import RandomGraph
from xdsl.dialects.builtin import (
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    TensorType,
    f32,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from tilework.analysis.verification import verify
from tilework.dialects.graph import (
    BatchNormOp,
    ConvOp,
    ParameterOp,
)
from tilework.dialects.graph.base import ints
from tilework.dialects.support.registration import make_context
from tilework.interpreters.graph import prepare_parameters, run_function
from tilework.interpreters.host import run_host
from tilework.lowering.graph_to_te import GraphToTe
from tilework.transforms.graph.annotate_views import AnnotateViews
from tilework.transforms.graph.fold_batch_norm import FoldBatchNorm
from tilework.transforms.graph.fold_padding import FoldPadding
from tilework.transforms.graph.fold_parameters import FoldParameters
from tilework.transforms.graph.fuse_operators import FuseOperators
from tilework.transforms.graph.inline_calls import InlineCalls
from tilework.transforms.graph.remove_identities import RemoveIdentities
from tilework.transforms.graph.state_requirements import StateRequirements

Array = NDArray[np.float32]


GRAPH_PASSES = (
    InlineCalls(),
    StateRequirements(),
    RemoveIdentities(),
    FoldBatchNorm(),
    FoldPadding(),
    FoldParameters(),
    AnnotateViews(),
    FuseOperators(),
)


@pytest.mark.parametrize("seed", range(60))
def test_random_graphs_keep_their_meaning(seed: int):
    graph = RandomGraph(seed)
    context, module, inputs = make_context(), graph.module, graph.inputs()
    verify(module)
    expected = run_function(module, "main", inputs, graph.parameters)
    if max(np.abs(e).max(initial=0) for e in expected) > 2**20:
        pytest.skip("sums are not exact")
    for each in GRAPH_PASSES:
        each.apply(context, module)
        verify(module)
        parameters = prepare_parameters(module, graph.parameters)
        check(run_function(module, "main", inputs, parameters), expected, each.name)
    GraphToTe().apply(context, module)
    verify(module)
    check(run_host(module, "main", inputs, parameters), expected, "graph-to-te")


def check(found: Sequence[Array], expected: Sequence[Array], after: str) -> None:
    for i, (a, b) in enumerate(zip(found, expected, strict=True)):
        assert np.array_equal(a, b), f"result {i} differs after {after}"


def test_the_random_graphs_reach_what_they_should():
    """Views of every kind, outputs written in place, copies, folded weights: else the test above proves little."""
    seen: set[str] = set()
    for seed in range(60):
        module = RandomGraph(seed).module
        for each in (*GRAPH_PASSES, GraphToTe()):
            each.apply(make_context(), module)
            seen |= {f"{op.name} view" for op in module.walk() if "graph.view" in op.attributes}
            seen |= {op.name for op in module.walk()}
        seen |= {"te.layouts" for op in module.ops if "te.layouts" in op.attributes}
    assert {f"graph.{op} view" for op in ("concat", "reshape", "slice")} <= seen
    assert {"scf.if", "scf.while", "loop.invoke", "loop.symbol"} <= seen
    expected = {"memref.subview", "memref.reinterpret_cast", "memref.copy", "memref.alloc", "te.layouts"}
    assert expected | {"graph.define_parameter"} <= seen


def test_folded_batch_norm_computes_the_same():
    x = np.random.default_rng(0).standard_normal((2, 3, 5, 5)).astype(np.float32)
    block = Block(arg_types=[TensorType(f32, x.shape)])
    shapes = {"w": (4, 3, 3, 3), "scale": (4,), "bias": (4,), "mean": (4,), "variance": (4,)}
    rng = np.random.default_rng(1)
    parameters = {name: rng.uniform(0.5, 1.5, shape).astype(np.float32) for name, shape in shapes.items()}
    w, *vectors = [ParameterOp(name, TensorType(f32, shape)) for name, shape in shapes.items()]
    attributes = {"strides": ints([1, 1]), "dilations": ints([1, 1]), "pads": ints([0] * 4)}
    conv = ConvOp.of(block.args[0], w.result, **attributes, groups=IntegerAttr(1, i64))
    norm = BatchNormOp.of(conv.result, *(v.result for v in vectors), epsilon=FloatAttr(1e-3, f32))
    again = BatchNormOp.of(norm.result, *(v.result for v in vectors), epsilon=FloatAttr(1e-3, f32))
    block.add_ops([w, *vectors, conv, norm, again, ReturnOp(norm.result, again.result)])
    types = (list(block.arg_types), [norm.result.type, again.result.type])
    module = ModuleOp([FuncOp("main", types, Region(block))])
    expected = run_function(module, "main", [x], parameters)
    for each in (FoldBatchNorm(), FoldParameters()):
        each.apply(make_context(), module)
        verify(module)
    assert not any(isinstance(op, BatchNormOp) for op in module.walk())
    found = run_function(module, "main", [x], prepare_parameters(module, parameters))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)
