"""Wrong arguments of the te language, function by function and argument by argument.

Each is meaningful, as a number of numpy is where a number is asked for, or refused in one line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import tilework as tw
from tilework import te

NOTHING: frozenset[str] = frozenset()
TEXT = {"a text", "an empty text"}
EXTENT = {"0", "2", "2**62", "numpy's 2", "an array of no dimensions", "te.var"}
FACTOR = {"2", "2**62", "numpy's 2", "an array of no dimensions", "a knob"}
INTEGER = {"0", "-1", "2", "numpy's 2", "an array of no dimensions"}
INDEX = {*INTEGER, "2**62", "te.var", "another axis", "a thread axis", "a number of te"}
NUMBER = {"0", "-1", "2", "2**62", "1.5", "nan", "numpy's 2", "numpy's 2.5", "an element"} | (INDEX - {*INTEGER})
ANY_NUMBER = NUMBER | {"True", "numpy's True"}
FLAG = {"True", "numpy's True"}
FUNCTION = {"a function"}


class Foreign:
    """A value of a library of someone else."""


def odd_values() -> dict[str, Any]:
    A = te.placeholder((4,), name="A")
    B = te.compute((4,), lambda i: A[i] + 1, name="B")
    s = te.create_schedule(B.op)
    return {
        **{"None": None, "True": True, "0": 0, "-1": -1, "2": 2, "2**62": 1 << 62, "10**30": 10**30},
        **{"1.5": 1.5, "nan": float("nan"), "a complex number": 1j, "a fraction": Fraction(2)},
        **{"numpy's 2": np.int64(2), "numpy's 2.5": np.float32(2.5), "numpy's True": np.bool_(True)},
        **{"an array of no dimensions": np.array(2), "an array": np.array([2, 3])},
        **{"a text": "x", "an empty text": "", "two lines": "a\nb", "bytes": b"x"},
        **{"[]": [], "[1]": [1], "[None]": [None], "{}": {}, "a set": {1}, "a generator": (i for i in range(2))},
        **{"a function": lambda *i: 1, "a function of nothing": lambda: 1, "a class": Foreign, "an object": Foreign()},
        **{"a function that returns None": lambda *i: None, "a function that returns a text": lambda *i: "x"},
        **{"a tensor": B, "an operation": B.op, "another axis": B.op.axis[0], "a stage": s[B], "a schedule": s},
        **{"an element": A[0], "te.var": te.var("v"), "a number of te": te.const(2)},
        **{"a thread axis": te.thread_axis("threadIdx.x"), "a knob": te.knob("t", [2, 4])},
    }


class Program:
    """A product, and its double; a schedule of it."""

    def __init__(self):
        self.A, self.B = te.placeholder((6, 8), name="A"), te.placeholder((8, 5), name="B")
        self.k = te.reduce_axis((0, 8), "k")
        self.C = te.compute((6, 5), lambda i, j: te.sum(self.A[i, self.k] * self.B[self.k, j], axis=self.k), name="C")
        self.D = te.compute((6, 5), lambda i, j: self.C[i, j] * 2, name="D")
        self.s = te.create_schedule(self.D.op)
        self.c, self.d = self.s[self.C], self.s[self.D]
        self.i, self.j = self.D.op.axis


Call = Callable[..., Any]
TABLE: list[tuple[str, Call, Mapping[str, Any], Mapping[str, set[str] | frozenset[str]]]] = []
"""A name, the call of a program and named arguments, arguments that are right, and which odd values are too."""


def calling(function: str, call: Call, taken: Mapping[str, set[str] | frozenset[str]], /, **right: Any) -> None:
    TABLE.append((function, call, right, taken))


def reducer(p: Program, fcombine: Any, fidentity: Any, name: Any) -> Any:
    return te.comm_reducer(fcombine, fidentity, name)(p.A[0, p.k], p.k)


def scan(p: Program, **given: Any) -> Any:
    X, state = te.placeholder((6, 8), name="X"), te.placeholder((6, 8), name="state")
    init = te.compute((1, 8), lambda t, i: X[0, i], name="init")
    update = te.compute((6, 8), lambda t, i: state[t - 1, i] + X[t, i], name="update")
    return te.scan(**{"init": init, "update": update, "state_placeholder": state, **given})


def statements(inside: Call) -> Call:
    """A call inside the statements of an extern."""

    def call(p: Program, **given: Any) -> Any:
        def fill(ins: Any, outs: Any) -> Any:
            ib = te.ir_builder.create()
            inside(ib, ib.buffer_ptr(outs[0]), **given)
            return ib.get()

        return te.extern((6,), [p.A], fill)

    return call


def loop(ib: Any, out: Any, **given: Any) -> None:
    with ib.for_range(**{"begin": 0, "end": 6, "name": "i", "kind": "serial", **given}) as i:
        out[i] = 0.0


def condition(ib: Any, out: Any, cond: Any) -> None:
    with ib.if_scope(cond):
        out[0] = 0.0


def rfactor(p: Program, **given: Any) -> Any:
    _, inner = p.c.split(p.k, 2)
    return p.s.rfactor(**{"tensor": p.C, "axis": inner, "factor_axis": 0, **given})


def set_knobs(p: Program, value: Any) -> None:
    p.d.split(p.i, te.knob("t", [2, 4]))
    p.s.set_knobs(t=value)


# -- what is computed

ATTRIBUTES = {"tag": TEXT, "attrs": {"None", "{}"}, "name": TEXT}
calling(
    "placeholder",
    lambda p, **a: te.placeholder(**a),
    {"shape": EXTENT | {"[]", "[1]"}, "dtype": {"None"}, "name": TEXT},
    shape=(3,),
    dtype="int8",
    name="A",
)
calling(
    "compute",
    lambda p, **a: te.compute(**a),
    {
        "shape": (EXTENT - {"an array"}) | {"[1]"},
        "fcompute": FUNCTION | {"a tensor"},
        "varargs_names": {"None", "[]"},
        **ATTRIBUTES,
    },
    shape=(3,),
    fcompute=lambda i: i * 2,
    name="C",
    tag="",
    attrs=None,
    varargs_names=None,
)
calling("reduce_axis", lambda p, **a: te.reduce_axis(**a), {"dom": INDEX, "name": TEXT}, dom=(0, 4), name="k")
calling(
    "thread_axis",
    lambda p, **a: te.thread_axis(**a),
    {"dom": INDEX | {"None", "a text"}, "tag": {"a text"}, "name": TEXT},
    dom=(0, 4),
    tag="threadIdx.x",
    name="tx",
)
calling("var", lambda p, **a: te.var(**a), {"name": TEXT, "dtype": NOTHING}, name="n", dtype="int32")
calling("Range", lambda p, **a: te.Range(**a), {"min": INDEX, "extent": INDEX}, min=0, extent=2)
calling("tag_scope", lambda p, tag: te.tag_scope(tag).__enter__(), {"tag": TEXT}, tag="x")
calling(
    "const",
    lambda p, **a: te.const(**a),
    {"value": INTEGER - {"an array of no dimensions"} | {"True", "numpy's True"}, "dtype": {"None"}},
    value=2,
    dtype="int32",
)
calling(
    "sum",
    lambda p, **a: te.sum(**a),
    {"expr": NUMBER, "axis": ANY_NUMBER, "where": FLAG | {"None"}},
    expr=te.const(1.0),
    axis=te.reduce_axis((0, 3), "r"),
    where=None,
)
calling(
    "all",
    lambda p, condition, axis: te.all(condition, axis=axis),
    {"condition": FLAG, "axis": {"None"}},
    condition=te.const(True, "bool"),
    axis=te.reduce_axis((0, 3), "r"),
)
calling(
    "comm_reducer",
    reducer,
    # Of the odd functions each returns 1, which is no identity of a sum.
    {
        "fcombine": FUNCTION,
        "fidentity": NOTHING,
        "name": TEXT,
    },  # The functions return 1, which a sum does not start from.
    fcombine=lambda x, y: x + y,
    fidentity=lambda t: te.const(0, t),
    name="plus",
)
calling("exp", lambda p, x: te.exp(x), {"x": {"1.5", "nan", "numpy's 2.5", "an element"}}, x=1.0)
calling("floordiv", lambda p, a, b: te.floordiv(a, b), {"a": INDEX | FLAG, "b": (INDEX - {"0", "-1"}) | FLAG}, a=4, b=2)
calling(
    "if_then_else",
    lambda p, **a: te.if_then_else(**a),
    {"cond": FLAG, "t": ANY_NUMBER, "f": ANY_NUMBER},
    cond=te.const(True, "bool"),
    t=1.0,
    f=2.0,
)
calling("min_value", lambda p, dtype: te.min_value(dtype), {"dtype": NOTHING}, dtype="int8")
calling("an index of a tensor", lambda p, i: p.A[i, 0], {"i": INDEX - {"-1", "2**62"}}, i=0)
calling("output", lambda p, index: p.D.op.output(index), {"index": {"0"}}, index=0)
calling(
    "scan",
    scan,
    {
        "init": NOTHING,
        "update": NOTHING,
        "state_placeholder": NOTHING,
        "inputs": {"None", "[]", "a tensor"},
        "independent": {"0"},
        **ATTRIBUTES,
    },
    inputs=None,
    independent=0,
    name="s",
    tag="",
    attrs=None,
)
calling(
    "extern",
    lambda p, **a: te.extern(**a),
    {"shape": EXTENT | {"[]", "[1]"}, "inputs": {"a tensor"}, "fcompute": NOTHING, "dtype": {"None"}, **ATTRIBUTES},
    shape=(6,),
    inputs=[te.placeholder((6,), name="X")],
    fcompute=lambda ins, outs: te.ir_builder.create().get(),
    name="e",
    dtype=None,
    tag="",
    attrs=None,
)
calling(
    "allocate",
    statements(lambda ib, out, **a: ib.allocate(**a)),
    {"dtype": NOTHING, "shape": (EXTENT - {"te.var"}) | {"[]", "[1]"}, "name": TEXT, "scope": NOTHING},
    dtype="float32",
    shape=4,
    name="t",
    scope="local",
)
calling(
    "for_range",
    statements(loop),
    {"begin": INDEX, "end": INDEX, "name": TEXT, "kind": NOTHING},
    begin=0,
    end=6,
    name="i",
    kind="serial",
)
calling("if_scope", statements(condition), {"cond": FLAG}, cond=te.const(True, "bool"))
calling("buffer_ptr", statements(lambda ib, out, buffer: ib.buffer_ptr(buffer)), {"buffer": NOTHING})

# -- how it is computed

calling("create_schedule", lambda p, ops: te.create_schedule(ops), {"ops": {"a tensor", "an operation"}})
calling("a stage by its tensor", lambda p, key: p.s[key], {"key": NOTHING})
calling("knob", lambda p, **a: te.knob(**a), {"name": TEXT, "choices": {"[1]"}}, name="t", choices=[2, 4])
calling(
    "the choice of a knob",
    lambda p, chosen: te.knob("t", [2, 4], chosen),
    {"chosen": {"None", "2", "numpy's 2", "an array of no dimensions"}},
)
calling("set_knobs", set_knobs, {"value": {"2", "numpy's 2", "an array of no dimensions"}})
calling(
    "split",
    lambda p, **a: p.d.split(**{"parent": p.i, **a}),
    {"parent": NOTHING, "factor": FACTOR, "tail": NOTHING},
    factor=2,
    tail="guard",
)
calling("split into parts", lambda p, nparts: p.d.split(p.i, nparts=nparts), {"nparts": FACTOR})
calling("fuse", lambda p, axis: p.d.fuse(p.i, axis), {"axis": NOTHING})
calling("reorder", lambda p, axis: p.d.reorder(axis, p.i), {"axis": NOTHING})
calling(
    "tile",
    lambda p, **a: p.d.tile(**{"x_parent": p.i, "y_parent": p.j, **a}),
    {"x_parent": NOTHING, "y_parent": NOTHING, "x_factor": FACTOR, "y_factor": FACTOR},
    x_factor=2,
    y_factor=2,
)
calling("vectorize", lambda p, var: p.d.vectorize(var), {"var": NOTHING})
calling("parallel", lambda p, var: p.d.parallel(var), {"var": NOTHING})
calling("unroll", lambda p, var: p.d.unroll(var), {"var": NOTHING})
calling(
    "bind",
    lambda p, **a: p.d.bind(**{"ivar": p.i, "thread_ivar": te.thread_axis("threadIdx.x"), **a}),
    {"ivar": NOTHING, "thread_ivar": {"a thread axis"}},
)
calling(
    "pragma",
    lambda p, **a: p.d.pragma(**{"var": p.i, "pragma_type": "auto_unroll_max_step", "pragma_value": 4, **a}),
    {"var": NOTHING, "pragma_type": NOTHING, "pragma_value": FACTOR | {"0"}},
)
calling(
    "tensorize",
    lambda p, **a: p.d.tensorize(**{"var": p.i, "tensor_intrin": "amx", **a}),
    {"var": NOTHING, "tensor_intrin": {*TEXT, "two lines"}},
)
calling(
    "prefetch",
    lambda p, **a: p.d.prefetch(**{"tensor": p.A, "var": p.i, "offset": 1, **a}),
    {"tensor": NOTHING, "var": NOTHING, "offset": FACTOR},
)
calling(
    "compute_at",
    lambda p, **a: p.c.compute_at(**{"parent": p.d, "scope": p.i, **a}),
    {"parent": NOTHING, "scope": NOTHING},
)
calling(
    "reverse_compute_at",
    lambda p, **a: p.d.reverse_compute_at(**{"parent": p.c, "scope": p.C.op.axis[0], **a}),
    {"parent": NOTHING, "scope": NOTHING},
)
calling("decompose_reduction", lambda p, axis: p.c.decompose_reduction(axis), {"axis": NOTHING})
calling("set_store_predicate", lambda p, predicate: p.c.set_store_predicate(predicate), {"predicate": NOTHING})
calling(
    "env_threads",
    lambda p, threads: te.create_schedule(scan(p).op).stages[-1].env_threads(threads),
    {"threads": NOTHING},
)
calling("set_scope", lambda p, scope: p.c.set_scope(scope), {"scope": NOTHING})
calling(
    "storage_align",
    lambda p, **a: p.c.storage_align(**{"axis": p.C.op.axis[0], "factor": 8, "offset": 1, **a}),
    {"axis": NOTHING, "factor": FACTOR, "offset": FACTOR | {"0"}},
)
calling(
    "pad_to_multiple",
    lambda p, **a: p.c.pad_to_multiple(**{"axis": p.C.op.axis[0], "factor": 8, **a}),
    {"axis": NOTHING, "factor": FACTOR},
)
calling(
    "cache_write",
    lambda p, **a: p.s.cache_write(**{"tensor": p.C, "scope": "local", **a}),
    {"tensor": NOTHING, "scope": NOTHING},
)
calling(
    "cache_read",
    lambda p, **a: p.s.cache_read(**{"tensor": p.C, "scope": "local", "readers": [p.D], **a}),
    {"tensor": NOTHING, "scope": NOTHING, "readers": NOTHING},
)
calling("rfactor", rfactor, {"tensor": NOTHING, "axis": NOTHING, "factor_axis": INTEGER})
calling(
    "create_group",
    lambda p, **a: p.s.create_group(**{"outputs": p.C, "inputs": p.A, "include_inputs": False, **a}),
    {"outputs": NOTHING, "inputs": {"[]"}, "include_inputs": FLAG},
)
calling(
    "compute_at of a group",
    lambda p, **a: p.s.create_group(p.C, p.A).compute_at(**{"parent": p.d, "scope": p.i, **a}),
    {"parent": NOTHING, "scope": NOTHING},
)
calling("AutoInlineElemWise", lambda p, sch: te.AutoInlineElemWise(sch), {"sch": {"a schedule"}})
calling("AutoInlineInjective", lambda p, sch: te.AutoInlineInjective(sch), {"sch": {"a schedule"}})
calling(
    "module", lambda p, **a: p.s.module(**{"name": "main", "args": None, **a}), {"name": {"a text"}, "args": {"None"}}
)
calling(
    "lower",
    lambda p, **a: tw.lower(**{"s": p.s, "args": [p.A, p.B, p.D], "name": "main", "simple_mode": True, **a}),
    {"s": NOTHING, "args": NOTHING, "name": {"a text"}, "simple_mode": FLAG},
)
calling(
    "build",
    lambda p, **a: tw.build(**{"s": p.s, "args": [p.A, p.B, p.D], **a}),
    {"s": NOTHING, "args": NOTHING, "target": NOTHING, "name": TEXT, "cache": {"None"}, "checked": FLAG},
)


@pytest.mark.parametrize("name, call, right, taken", TABLE, ids=[name for name, *_ in TABLE])
def test_each_value_of_each_argument_is_taken_or_refused(name: str, call: Call, right: Any, taken: Any):
    for argument, meaningful in taken.items():
        accepted = set[str]()
        for what, value in odd_values().items():
            try:
                call(Program(), **{**right, argument: value})
                accepted.add(what)
            except (tw.UsageError, te.ScheduleError) as refusal:
                message = str(refusal)
                assert message and "\n" not in message and " at 0x" not in message, (argument, what, message)
        assert accepted == set(meaningful), argument


def sums(p: Program) -> Any:
    return te.compute((6,), lambda i: te.sum(p.A[i, p.k], axis=[p.k, p.k]))


@pytest.mark.parametrize(
    "call, message",
    [
        (
            lambda p: p.c.compute_at(Program().d, p.i),
            "compute_at takes a stage of the same schedule; this one is of another",
        ),
        (lambda p: p.c.compute_at(p.d, Program().i), "compute_at: axis 'i' is not one of stage 'D'"),
        (lambda p: p.c.compute_at(p.c, p.C.op.axis[0]), "stage 'C' cannot be computed at its own axis 'i'"),
        (lambda p: p.c.reverse_compute_at(p.c, p.C.op.axis[0]), "stage 'C' cannot be computed at its own axis 'i'"),
        (lambda p: p.d.fuse(p.i, p.C.op.axis[1]), "fuse: axis 'j' is not one of stage 'D'"),
        (lambda p: p.d.fuse(p.i, p.i), "axes 'i', 'i' of stage 'D' are not adjacent in this order; reorder first"),
        (
            lambda p: p.d.bind(p.i, p.j),
            "bind of axis 'i': 'j' is no thread axis; known: blockIdx.x, blockIdx.y, blockIdx.z, ",
        ),
        (
            lambda p: p.d.split(p.i, te.knob("t", [2, 0])),
            "split of axis 'i' by knob 't', which may be 0: must be at least 1",
        ),
        (lambda p: te.knob("t", [2, 2]), "knob 't' lists a choice twice: 2, 2"),
        (lambda p: te.knob("t", []), "knob 't' takes a list of numbers to choose from, not none"),
        (lambda p: te.knob("t", [2], 3), "knob 't' cannot be 3; its choices are 2"),
        (lambda p: p.s.cache_read(p.A, "local", []), "cache_read of 'A' takes at least one reader"),
        (lambda p: p.s.cache_read(p.A, "local", [p.A]), "'A' is a placeholder and has no stage; its stages are C, D"),
        (
            lambda p: p.s.cache_read(Program().C, "local", [p.D]),
            "'C' is not part of this schedule; its stages are C, D",
        ),
        (lambda p: p.s.cache_read(p.C, "register.x", [p.D]), "scope register takes no tag, got 'register.x'"),
        (lambda p: p.s.cache_write([p.C, p.C], "local"), "cache_write of stage 'C' takes all of its 1 tensors"),
        (lambda p: p.s.cache_write([], "local"), "cache_write takes a tensor, or all that a compute makes"),
        (lambda p: p.s.create_group([], p.A), "create_group takes at least one output"),
        (lambda p: p.s.create_group(p.A, p.A), "'A' is a placeholder and has no stage; its stages are C, D"),
        (
            lambda p: p.d.tensorize(p.i, print),
            "tensorize takes an intrinsic of te.decl_tensor_intrin, or a name, not a builtin_function_or_method; ",
        ),
        (lambda p: tw.lower(p.s, [p.A, p.B, p.D, p.D]), "an argument is given twice"),
        (lambda p: tw.lower(p.s, [p.A, p.B, Program().D]), "argument 'D' is not part of this schedule"),
        (lambda p: tw.lower(p.s, [p.A, p.B, p.D.op]), "arguments: tensors are expected, not a ComputeOp"),
        (sums, "a reduction runs over axis 'k' once, not 2 times"),
        (
            lambda p: te.placeholder((p.i,)),
            "a shape has the extent i: it is made of integers and te.var, not of axis 'i'",
        ),
        (lambda p: te.compute((3,), lambda i: 1 << 70), "1180591620717411303424 is no number of 64 bits"),
        (lambda p: te.const(1e39, "float32"), "1e+39 does not fit float32: it would be infinite"),
        (
            lambda p: te.compute((3,), lambda i, *, j: i),
            "the function of compute 'compute' asks for j=: it is called with indices",
        ),
        (lambda p: p.A["x"], "an index is made of integers, axes and te.var, not of a str"),
        (lambda p: p.A[0:2], "an index is made of integers, axes and te.var, not of a slice"),
        (lambda p: p.D.op.output(1), "'D' has 1 tensors, counted from 0: there is no 1"),
    ],
)
def test_what_is_of_another_schedule_or_given_twice(call: Callable[[Program], Any], message: str):
    with pytest.raises((tw.UsageError, te.ScheduleError)) as refusal:
        call(Program())
    assert str(refusal.value).startswith(message) and "\n" not in str(refusal.value)


def test_numbers_take_the_type_that_holds_them():
    assert [te.compute((1,), lambda i, n=n: n).dtype for n in (1 << 31, 1 << 63, 1e39)] == [
        "int64",
        "uint64",
        "float64",
    ]


def test_a_buffer_larger_than_memory_can_be_is_refused():
    p = Program()
    p.c.pad_to_multiple(p.C.op.axis[0], 1 << 62)
    with pytest.raises(
        te.ScheduleError, match=r"^the buffer of 'C' would have 4611686018427387904 x 5 elements, more than"
    ):
        tw.lower(p.s, [p.A, p.B, p.D])
