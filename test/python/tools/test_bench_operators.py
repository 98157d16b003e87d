"""Single operators on `tilework bench`'s command line: what they mean, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from onnx.reference import ReferenceEvaluator

from tilework.tools.bench.operators import PAPER, expand_operators, operator_model, parse_operator
from tilework.tools.cli import main


def result_shape(name: str, *inputs: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that ONNX's own evaluator finds; the model promises the same."""
    model = operator_model(name)
    feeds = {value.name: np.ones(shape, np.float32) for value, shape in zip(model.graph.input, inputs, strict=True)}
    (result,) = ReferenceEvaluator(model).run(None, feeds)
    assert result.shape == tuple(d.dim_value for d in model.graph.output[0].type.tensor_type.shape.dim)
    return result.shape


@pytest.mark.parametrize(
    ("name", "inputs", "result"),
    [
        ("op:gemm,m=2,n=3,k=4", [(2, 4)], (2, 3)),
        ("op:gemv,n=3,k=4", [(1, 4)], (1, 3)),
        ("op:batch-matmul,batch=5,m=2,n=3,k=4", [(5, 2, 4), (5, 4, 3)], (5, 2, 3)),
        ("op:conv,ic=2,oc=4,hw=7,k=3", [(1, 2, 7, 7)], (1, 4, 7, 7)),
        ("op:conv,ic=2,oc=4,hw=7,k=1,stride=2,batch=2", [(2, 2, 7, 7)], (2, 4, 4, 4)),
        ("op:depthwise,c=3,hw=8,k=5,stride=2", [(1, 3, 8, 8)], (1, 3, 4, 4)),
        ("op:top-k,n=9,k=4", [(9,)], (4,)),
        ("op:running-sum,n=9", [(9,)], (9,)),
    ],
)
def test_shapes(name, inputs, result):
    assert result_shape(name, *inputs) == result


def test_weights_are_the_same_every_time():
    assert operator_model("op:gemv,n=3,k=4") == operator_model("op:gemv,n=3,k=4")


def test_the_paper():
    names = expand_operators(["op:paper"])
    assert names == [f"op:{name}" for name in PAPER] and len(names) == 21
    assert parse_operator("op:C7") == ("conv", {"ic": 128, "oc": 256, "hw": 28, "k": 3, "stride": 2, "batch": 1})
    images = [dict(parse_operator(name)[1]) for name in names]
    assert [image["hw"] // image["stride"] for image in images[:6]] == [112, 56, 56, 28, 28, 28]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("op:convv,k=3", "op:convv,k=3: there is no operator 'convv'; did you mean 'conv'?"),
        ("op:gemm,m=2", "op:gemm,m=2: n, k missing: write op:gemm,m=..,n=..,k=.."),
        ("op:gemv,n=2,k=3,m=4", "op:gemv,n=2,k=3,m=4: there is no size 'm'; there are n, k"),
        ("op:gemv,n=2,n=3,k=4", "op:gemv,n=2,n=3,k=4: n is given twice"),
        ("op:gemv,n=0,k=4", "op:gemv,n=0,k=4: n is a whole number from 1 on, not '0'"),
        ("op:gemv,n,k=4", "op:gemv,n,k=4: n is a whole number from 1 on, not ''"),
    ],
)
def test_refused(name, message, capsys):
    assert main(["bench", name]) == 2
    assert capsys.readouterr().err == f"tilework: error: {message}\n"


def test_weights_that_no_file_holds(capsys):
    assert main(["bench", "op:gemv,n=65536,k=65536"]) == 1
    said = "weights of shape (65536, 65536) do not fit into an ONNX file, which holds less than 2 GB"
    assert capsys.readouterr().err.splitlines()[-1] == f"tilework: error: {said}", "behind a warning, on busy machines"
