"""Arrays, devices, targets, modules, options, graphs and templates by TVM's names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tilework as tw
import tilework.compat.tvm as tvm
import tilework.compat.tvm.topi.testing
from tilework.compat.tvm import autotvm, relay, te
from tilework.compat.tvm.contrib import graph_executor, graph_runtime, nvcc, utils

RNG = np.random.default_rng(0)


def vector_add(n=16):
    A, B = te.placeholder((n,), name="A"), te.placeholder((n,), name="B")
    C = te.compute((n,), lambda i: A[i] + B[i], name="C")
    return te.create_schedule(C.op), [A, B, C]


def test_arrays():
    source = np.arange(6, dtype="float32").reshape(2, 3)
    a = tvm.nd.array(source, tvm.cpu(0))
    source[0, 0] = 9
    assert (a.shape, a.dtype, str(a.device)) == ((2, 3), "float32", "cpu(0)") and a.numpy()[0, 0] == 0
    b = tvm.nd.empty((2, 3), "float", tvm.cpu(0))
    assert a.copyto(b) is b and b.asnumpy()[1, 2] == 5
    b.numpy()[0, 0] = 7
    assert b.numpy()[0, 0] == 0, "numpy() is a copy"
    b[:] = 3
    assert np.asarray(b).sum() == 18 and b.copyto(tvm.cpu(0)).same_as(b) is False
    assert tvm.nd.array([1, 2]).dtype == "int64" and tvm.nd.array(np.float32(2)).shape == ()
    with pytest.raises(tvm.TVMError, match=r"^an array of shape \(3,\) is copied to one of shape \(2, 3\)$"):
        a.copyfrom(np.zeros(3))
    with pytest.raises(tvm.TVMError, match="^an NDArray is assigned as a whole"):
        a[0:1] = 3


def test_devices():
    assert tvm.device("llvm -mcpu=haswell") == tvm.cpu(0) == tvm.context("cpu") and tvm.cpu().exist
    assert tvm.gpu(0) == tvm.cuda(0) and tvm.cuda(0).device_type == 2 and not tvm.vulkan().exist
    assert tvm.testing.enabled_targets()[0] == ("llvm", tvm.cpu(0))
    with pytest.raises(tvm.TVMError, match="^unknown device 'opnecl'; known: cpu, .*did you mean 'opencl'"):
        tvm.device("opnecl")


def test_targets():
    target = tvm.target.Target("llvm -mcpu=haswell -libs=cblas -keys=cpu")
    assert str(target) == "llvm -mcpu=haswell" and target.kind.name == "llvm" and target.keys == ["llvm", "cpu"]
    assert tvm.target.Target.current() is None
    with target, tvm.target.create("c"):
        assert str(tvm.target.Target.current()) == "c"
        s, args = vector_add()
        assert "int" in tvm.build(s, args).get_source()
    with pytest.raises(tvm.TVMError, match="^unknown target 'hexagon'"):
        tvm.target.Target("hexagon")
    with pytest.raises(tvm.TVMError, match="^no target: write `with"):
        tvm.target.Target.current(allow_none=False)


def test_modules_of_several_functions():
    s, args = vector_add()
    one, two = tvm.lower(s, args, name="fadd1"), tvm.lower(s, args, name="fadd2")
    assert "@fadd1" in str(one) and "@fadd2" in str(two["fadd2"])
    module = tvm.build([one, two], "llvm")
    a, b = np.ones(16, "float32"), np.ones(16, "float32")
    for function in (module["fadd2"], module.get_function("fadd1"), module):
        c = tvm.nd.empty((16,))
        function(a, b, c)
        assert (c.numpy() == 2).all()
    assert tvm.build({"llvm": one}).entry_func.name == "fadd1"
    with pytest.raises(tvm.TVMError, match="^module has no function 'fadd3'; it has fadd1, fadd2"):
        module["fadd3"]
    with pytest.raises(tvm.TVMError, match="^two functions are called 'fadd1'"):
        tvm.build([one, one], "llvm")
    with pytest.raises(tvm.TVMError, match="^the code is object code: "):
        module.get_source()
    for action in (lambda: tvm.lower(3), lambda: tvm.lower(s), lambda: tvm.build(3), lambda: tvm.build([])):
        with pytest.raises(tvm.TVMError, match="^tvm.(lower|build) takes "):
            action()
    with pytest.raises(tvm.error.OpNotImplemented, match="^tvm.runtime.Module.export_library is not supported: "):
        module.export_library("x.so")


def test_options():
    n = te.var("n")
    A, index = te.placeholder((n,), name="A"), te.placeholder((4,), "int32", name="index")
    B = te.compute((4,), lambda i: A[index[i]], name="B")
    with tvm.transform.PassContext(opt_level=3, config={"tir.instrument_bound_checkers": True, "tir.noalias": False}):
        f = tvm.build(te.create_schedule(B.op), [A, index, B])
    with pytest.raises(tvm.TVMError, match="has 3 elements, the subscript is 5$"):
        f(np.zeros(3, "float32"), np.array([0, 1, 5, 2], "int32"), tvm.nd.empty((4,)))
    with pytest.raises(tvm.TVMError, match="^PassContext: Tilework has no option 'tir.add_lower_pass'; known: "):
        tvm.transform.PassContext(config={"tir.add_lower_pass": []})


def test_functions_by_name():
    @tvm.register_func("compat.tvm.test.registered", override=True)
    def function(x):
        return x + 1

    assert tvm.get_global_func("compat.tvm.test.registered")(3) == 4
    assert "compat.tvm.test.registered" in tvm.list_global_func_names()
    with pytest.raises(tvm.TVMError, match="^there is a function 'compat.tvm.test.registered' already"):
        tvm.register_func("compat.tvm.test.registered", function)
    tvm.remove_global_func("compat.tvm.test.registered")
    assert tvm.get_global_func("compat.tvm.test.registered", allow_missing=True) is None
    with pytest.raises(tvm.TVMError, match="^there is no function 'compat.tvm.test.registered'"):
        tvm.get_global_func("compat.tvm.test.registered")


def test_errors_and_values():
    assert tvm.TVMError is tvm.error.TVMError is tw.TileworkError
    assert tvm.runtime.convert([1, 2.5, True])[0].value == 1 and tvm.convert({"a": 3})["a"].value == 3
    m = te.var("m")
    assert tvm.ir.structural_equal((m + 3) * 2, 2 * m + 6) and not tvm.ir.structural_equal(m, m + 1)
    with pytest.raises(tvm.TVMError, match="^tvm.contrib.nvcc.compile_cuda is not supported: tvm.build"):
        nvcc.compile_cuda("")
    with pytest.raises(tvm.TVMError, match="^tvm.te.create_prim_func is not supported"):
        te.create_prim_func([])
    assert Path(utils.tempdir().relpath("x")).name == "x"


@tvm.testing.parametrize_targets("llvm", "opencl", "vulkan")
def test_for_each_target(target, dev):
    assert target in ("llvm", "opencl") and dev.exist


# -- graphs


def network():
    x, w, b = relay.var("x", shape=(1, 3, 8, 8)), relay.var("w", shape=(4, 3, 3, 3)), relay.var("b", shape=(4,))
    y = relay.nn.relu(relay.nn.bias_add(relay.nn.conv2d(x, w, padding=(1, 1)), b))
    y = relay.nn.batch_flatten(relay.nn.max_pool2d(y, (2, 2), (2, 2)))
    return relay.Function([x, w, b], relay.nn.softmax(y * 2.0))


def test_a_graph_runs():
    params = {"w": RNG.random((4, 3, 3, 3), np.float32), "b": RNG.random(4, np.float32)}
    module = tvm.IRModule.from_expr(network())
    assert "graph.conv" in str(module)
    with tvm.transform.PassContext(opt_level=3):
        lib = relay.build(module, target="llvm", params=params)
    x = RNG.random((1, 3, 8, 8), np.float32)
    conv = tvm.topi.testing.conv2d_nchw_python(x, params["w"], 1, 1) + params["b"][None, :, None, None]
    pooled = np.maximum(conv, 0).reshape(1, 4, 4, 2, 4, 2).max((3, 5)).reshape(1, -1)
    m = graph_executor.GraphModule(lib["default"](tvm.cpu(0)))
    m.set_input("x", tvm.nd.array(x))
    m.run()
    tvm.testing.assert_allclose(m.get_output(0).numpy(), tvm.topi.testing.softmax_python(2 * pooled), rtol=1e-4)
    graph, library, _ = relay.build(network(), params=params)
    old = graph_runtime.create(graph, library, tvm.cpu(0))
    old.run(x=x)
    tvm.testing.assert_allclose(old.get_output(0).numpy(), m.get_output(0).numpy())
    with pytest.raises(tvm.TVMError, match="^the model has no input 'y'; it has x$"):
        m.set_input("y", x)


def test_operators_of_graphs():
    x = relay.var("x", shape=(2, 6))
    value = RNG.random((2, 6), np.float32) + 0.5
    for expr, expected in [
        (relay.exp(x) - relay.const(1.0), np.exp(value) - 1),
        (relay.sum(x, axis=1, keepdims=True), value.sum(1, keepdims=True)),
        (relay.mean(x), value.mean()),
        (relay.transpose(x), value.T),
        (relay.reshape(x, (3, -1)), value.reshape(3, 4)),
        (relay.squeeze(relay.expand_dims(x, 0)), value),
        (relay.concatenate(relay.Tuple((x, x)), axis=-1), np.concatenate([value, value], -1)),
        (relay.clip(x, 0.6, 0.9), np.clip(value, 0.6, 0.9)),
        (relay.cast(x, "int32"), value.astype("int32")),
        (relay.where(relay.less(x, 1.0), x, -x), np.where(value < 1, value, -value)),
        (1.0 / x if hasattr(x, "__rtruediv__") else relay.divide(1.0, x), 1 / value),
        (relay.nn.dropout(relay.nn.leaky_relu(x, 0.1)), value),
    ]:
        m = graph_executor.GraphModule(relay.build(relay.Function([x], expr)))
        m.run(x=value)
        np.testing.assert_allclose(m.get_output(0).numpy(), expected, rtol=1e-5)


def test_passes_on_graphs():
    module = tvm.IRModule.from_expr(network())
    fused = relay.transform.Sequential([relay.transform.InferType(), relay.transform.FuseOps(2)])(module)
    assert 'graph.fused "conv_add_relu"' in str(fused) and "graph.fused" not in str(module)
    assert len(fused.graph.body.block.ops) == 1


def test_graphs_that_are_refused():
    x, y = relay.var("x", shape=(2, 3)), relay.var("y", shape=(4,))
    for message, action in {
        "^relay.add: ": lambda: relay.build(relay.Function([x, y], x + y)),
        "^relay.var 'y' is used, and is no parameter": lambda: relay.build(relay.Function([x], y + y)),
        "^relay.var 'z' needs a shape": lambda: relay.var("z"),
        "^relay.build takes a relay.Function": lambda: relay.build(3),
        "^IRModule.from_expr takes a relay.Function": lambda: tvm.IRModule.from_expr(x),
        "^tvm.relay.nn.conv2d in NHWC with HWIO is not supported": lambda: relay.nn.conv2d(
            x, y, data_layout="NHWC", kernel_layout="HWIO"
        ),
    }.items():
        with pytest.raises(tvm.TVMError, match=message):
            action()


# -- templates


@autotvm.template("compat.tvm.test.matmul")
def matmul(n):
    A, B = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    k = te.reduce_axis((0, n), "k")
    C = te.compute((n, n), lambda i, j: te.sum(A[i, k] * B[k, j], axis=k), name="C")
    s = te.create_schedule(C.op)
    y, x = s[C].op.axis
    cfg = autotvm.get_config()
    cfg.define_split("tile_y", y, num_outputs=2)
    cfg.define_split("tile_x", x, num_outputs=2)
    cfg.define_knob("vectorize", [0, 1])
    yo, yi = cfg["tile_y"].apply(s, C, y)
    xo, xi = cfg["tile_x"].apply(s, C, x)
    s[C].reorder(yo, xo, k, yi, xi)
    if cfg["vectorize"].val:
        s[C].vectorize(xi)
    return s, [A, B, C]


def test_a_template_is_tuned(tmp_path: Path):
    task = autotvm.task.create("compat.tvm.test.matmul", args=(16,), target="llvm")
    assert list(task.config_space.options) == ["tile_y", "tile_x", "vectorize"]
    option = autotvm.measure_option(builder=autotvm.LocalBuilder(), runner=autotvm.LocalRunner(number=2))
    log = tmp_path / "matmul.log"
    best = autotvm.tuner.RandomTuner(task).tune(
        n_trial=2, measure_option=option, callbacks=[autotvm.callback.log_to_file(str(log))]
    )
    assert best.best_seconds > 0 and log.is_file()
    s, args = matmul(16)
    a, b = RNG.random((16, 16), np.float32), RNG.random((16, 16), np.float32)
    c = tvm.nd.empty((16, 16))
    tvm.build(s, args)(a, b, c)
    tvm.testing.assert_allclose(c.numpy(), a @ b, rtol=1e-4)
    with pytest.raises(tvm.TVMError, match="^there is no template 'compat.tvm.test.matmu'; did you mean"):
        autotvm.task.create("compat.tvm.test.matmu", args=(), target="llvm")
    with pytest.raises(tvm.TVMError, match="^there is a template 'compat.tvm.test.matmul' already"):
        autotvm.template("compat.tvm.test.matmul")(lambda: None)
