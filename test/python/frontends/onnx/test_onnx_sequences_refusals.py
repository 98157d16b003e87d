"""Sequences and optionals of ONNX that are refused: what each message says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx_models import FLOAT, graph, model, node, refusal
from onnx_sequences import TENSOR, branch, loop_over, map_model, sequence_model, split_model

from tilework.frontends.onnx import import_onnx

PARTS = node("SplitToSequence", "x", "parts")
"""The three rows of x, which is 3 by 2."""


def of_parts(
    op: str, given: str = "parts", constants: Mapping[str, Any] | None = None, **attributes: Any
) -> onnx.ModelProto:
    """A node that makes y of the parts, and of i, a number that data decide."""
    nodes = [PARTS, node(op, given, "y", **attributes)]
    if op in ("SequenceInsert", "SequenceErase"):
        nodes = [PARTS, node(op, given, "s"), node("ConcatFromSequence", "s", "y", axis=0)]
    return model(nodes, {"x": [3, 2], "i": []}, "y", constants, 18)


# ---- Lengths and positions -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("op", "given"), [("SequenceAt", "parts i"), ("SequenceInsert", "parts x i"), ("SequenceErase", "parts i")]
)
def test_positions_that_data_decide(op: str, given: str):
    expected = f"{op} '{op}_1': its position is computed from data, but has to be known beforehand: shapes depend on it"
    assert refusal(of_parts(op, given)).startswith(expected)


@pytest.mark.parametrize(
    ("op", "given", "positions"),
    [
        ("SequenceAt", "parts at", (-4, 3)),
        ("SequenceInsert", "parts x at", (-4, 4)),
        ("SequenceErase", "parts at", (-4, 3)),
    ],
)
def test_positions_that_there_are_not(op: str, given: str, positions: Sequence[int]):
    for position in positions:
        made = of_parts(op, given, {"at": np.array(position)})
        assert f"{op} '{op}_1': a sequence of 3 has no position {position} (" in refusal(made)
    for position in (positions[0] + 1, positions[1] - 1):
        import_onnx(of_parts(op, given, {"at": np.array(position)}))


def test_a_position_that_is_a_size():
    nodes = [node("Shape", "x", "shape"), PARTS, node("SequenceAt", "parts rows", "y")]
    nodes.insert(1, node("Gather", "shape one", "rows"))
    made = model(nodes, {"x": [3, "N"]}, "y", {"one": np.array(1)})
    assert "its position depends on symbolic dimensions" in refusal(made)


def test_two_positions():
    made = of_parts("SequenceAt", "parts at", {"at": np.array([0, 1])})
    assert "its position is one number, not 2" in refusal(made)


def test_nothing_is_left_to_erase():
    nodes = [node("SequenceEmpty", "", "none"), node("SequenceErase", "none", "s"), node("SequenceLength", "s", "y")]
    assert "SequenceErase 'SequenceErase_1': nothing can be erased from an empty sequence" in refusal(
        model(nodes, {}, "y")
    )


def test_another_element_type():
    nodes = [
        node("SequenceEmpty", "", "none", dtype=TensorProto.DOUBLE),
        node("SequenceInsert", "none x", "s"),
        node("SequenceLength", "s", "y"),
    ]
    assert "a tensor(float) is put into a seq(tensor(double))" in refusal(model(nodes, {"x": [2]}, "y"))


def test_elements_of_two_types():
    nodes = [node("SequenceConstruct", "x i", "s"), node("SequenceLength", "s", "y")]
    expected = "inputs 0 and 1 are of one type, not a tensor(float) and a tensor(int64)"
    assert expected in refusal(model(nodes, {"x": [2], "i": [2]}, "y"))


# ---- Sequences and tensors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [None, 2])
def test_an_open_number_of_parts(sizes: int | None):
    expected = "SplitToSequence 'SplitToSequence_0': how many parts it makes is open: axis 0 has size N ("
    assert refusal(split_model(["N", 2], 0, sizes)).startswith(expected)


def test_sizes_of_parts_that_are_open():
    nodes = [node("Shape", "x", "shape"), node("Gather", "shape zero", "rows"), node("SplitToSequence", "x rows", "s")]
    made = sequence_model(nodes, {"x": ["N", 2]}, "s", {"zero": np.array(0)})
    assert "its size of parts depends on symbolic dimensions" in refusal(made)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([1, 1], "sizes [1, 1] do not add up to 3"),
        ([2, 2], "sizes [2, 2] do not add up to 3"),
        ([4, -1], "-1 in its list of sizes [4, -1] is no size"),
        ([[1, 2]], "the sizes of its parts are one number, or a list"),
        (0, "0 is no size of parts"),
        (-1, "-1 is no size of parts"),
    ],
)
def test_sizes_of_parts_that_do_not_fit(sizes: Any, message: str):
    assert message in refusal(split_model([3, 2], 0, sizes))


@pytest.mark.parametrize("axis", [-3, 2])
def test_an_axis_to_split_that_there_is_not(axis: int):
    assert f"a tensor of rank 2 has no axis {axis}" in refusal(split_model([3, 2], axis))


@pytest.mark.parametrize(("axis", "new_axis", "rank"), [(2, 0, 2), (-3, 0, 2), (3, 1, 3), (-4, 1, 3)])
def test_an_axis_to_concatenate_along_that_there_is_not(axis: int, new_axis: int, rank: int):
    made = of_parts("ConcatFromSequence", axis=axis, new_axis=new_axis)
    assert f"a tensor of rank {rank} has no axis {axis}" in refusal(made)


def test_an_empty_sequence_is_concatenated():
    nodes = [node("SequenceEmpty", "", "none"), node("ConcatFromSequence", "none", "y", axis=0)]
    expected = "ConcatFromSequence 'ConcatFromSequence_1': an empty sequence does not tell what shape"
    assert refusal(model(nodes, {}, "y")).startswith(expected)


@pytest.mark.parametrize(
    ("shapes", "attributes", "message"),
    [
        (([2, 3], [3]), {"axis": 0}, "its elements are of one rank, not of 2 and 1"),
        (([2, 3], [2, 4]), {"axis": 0}, "ConcatFromSequence 'ConcatFromSequence_1': "),
        (([2, 3], [3, 3]), {"axis": 0, "new_axis": 1}, "ConcatFromSequence 'ConcatFromSequence_1': "),
    ],
)
def test_elements_that_do_not_fit_together(
    shapes: tuple[Sequence[int], Sequence[int]], attributes: dict[str, int], message: str
):
    nodes = [node("SequenceConstruct", "a b", "s"), node("ConcatFromSequence", "s", "y", **attributes)]
    said = refusal(model(nodes, dict(zip("ab", shapes, strict=True)), "y"))
    assert message in said and "\n" not in said


def test_known_elements_that_do_not_fit_together():
    nodes = [node("SequenceConstruct", "a b", "s"), node("ConcatFromSequence", "s", "y", axis=0)]
    made = model(nodes, {}, "y", {"a": np.ones((2, 3), np.int64), "b": np.ones((2, 4), np.int64)})
    assert "its elements do not fit together: " in refusal(made)


def test_what_computes_with_tensors_is_given_a_sequence():
    expected = "it does not follow the ONNX standard: input 0 is a seq(tensor(float)), not a tensor("
    assert expected in refusal(of_parts("Relu"))
    nodes = [node("Optional", "x", "o"), node("Relu", "o", "y")]
    expected = "it does not follow the ONNX standard: input 0 is a optional(tensor(float)), not a tensor("
    assert expected in refusal(model(nodes, {"x": [3]}, "y", opset=18))


def test_what_others_define_is_given_a_sequence():
    nodes = [PARTS, helper.make_node("QuickGelu", ["parts"], ["y"], domain="com.microsoft")]
    made = model(nodes, {"x": [3, 2]}, "y")
    made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    assert "is a seq(tensor(float)), not a" in refusal(made)


def test_what_is_given_is_shown():
    """A few elements are shown."""
    nodes = [node("SplitToSequence", "x", "s"), node("SequenceAt", "s i", "y")]
    for rows, shown in ((2, "seq(1x2xf32, 1x2xf32), i64"), (9, f"seq({'1x2xf32, ' * 4}...), i64")):
        assert refusal(model(nodes, {"x": [rows, 2], "i": []}, "y")).endswith(f"(inputs: {shown})")
    nodes = [node("Optional", "", "o", type=TENSOR), node("OptionalGetElement", "o", "y")]
    assert refusal(model(nodes, {}, "y", opset=18)).endswith("its optional is empty (inputs: optional())")


# ---- Control ---------------------------------------------------------------------------------------------------------


LONGER = branch([node("SequenceConstruct", "a b a", "s")])
SHORTER = branch([node("SequenceConstruct", "a b", "s")])
SINGLE = graph([node("Identity", "a", "s")], {}, "s")
HELD = graph([node("Optional", "a", "s")], {}, "s")
NOTHING = graph([node("Optional", "", "s", type=TENSOR)], {}, "s")


@pytest.mark.parametrize("branches", [(LONGER, SHORTER), (SHORTER, SINGLE), (HELD, NOTHING), (NOTHING, HELD)])
def test_data_decide_of_what_structure_something_is(branches: tuple[onnx.GraphProto, onnx.GraphProto]):
    nodes = [node("If", "c", "s", then_branch=branches[0], else_branch=branches[1])]
    expected = "If 'If_0': which branch it takes depends on data, so both have to make tensors, sequences of one length"
    assert refusal(model(nodes, {"c": [], "a": [2], "b": [2]}, "s", opset=18)).startswith(expected)


def test_data_decide_between_sequences_of_elements_of_other_ranks():
    first, other = branch([node("SequenceConstruct", "a", "s")]), branch([node("SequenceConstruct", "b", "s")])
    nodes = [node("If", "c", "s", then_branch=first, else_branch=other)]
    expected = "so both have to make tensors of the same type"
    assert expected in refusal(model(nodes, {"c": [], "a": [2], "b": [3, 1]}, "s", opset=18))


def test_a_long_loop_that_makes_a_sequence():
    """One iteration makes a part of two rows."""
    expected = (
        "Loop 'Loop_3': it works on a sequence, which takes at most 16 iterations, a number known beforehand, not 17 ("
    )
    assert refusal(loop_over(34)).startswith(expected)


def long_loop(nodes: Sequence[onnx.NodeProto], op: str = "Loop") -> onnx.ModelProto:
    """A loop whose body makes something of the numbers h."""
    if op == "Scan":
        body = graph(nodes, {"s": [4], "x": [4]}, "n y")
        return model([node("Scan", "h xs", "end ys", body=body, num_scan_inputs=1)], {"h": [4], "xs": [3, 4]}, "end ys")
    body = graph([*nodes, node("Identity", "c", "goes_on")], {"i": [], "c": [], "s": [4]}, "goes_on n y")
    return model([node("Loop", "count  h", "end ys", body=body)], {"h": [4]}, "end ys", {"count": np.array(20)})


STATE_OF_SEQUENCES = [node("SequenceConstruct", "s", "n"), node("Identity", "s", "y")]
MADE_OF_SEQUENCES = [node("SequenceConstruct", "s", "y"), node("Identity", "s", "n")]


@pytest.mark.parametrize("nodes", [STATE_OF_SEQUENCES, MADE_OF_SEQUENCES])
def test_bodies_of_many_steps_that_make_sequences(nodes: Sequence[onnx.NodeProto]):
    assert "Loop 'Loop_0': it works on a sequence, which takes at most 16 iterations" in refusal(long_loop(nodes))
    assert "Scan 'Scan_0': what its body makes is a sequence, not a tensor" in refusal(long_loop(nodes, "Scan"))


def test_a_body_of_few_steps_makes_sequences_to_be_one():
    """What it makes at every iteration is put together, which sequences cannot be."""
    made = long_loop(MADE_OF_SEQUENCES)
    made.graph.initializer[0].CopyFrom(onnx.numpy_helper.from_array(np.array(3), "count"))
    assert "Loop 'Loop_0': what its body makes is a sequence, not a tensor" in refusal(made)


def test_sequences_of_different_lengths_are_mapped():
    made = map_model([4, 6], [node("Add", "a b", "s_"), node("Sub", "a w", "s2_")])
    assert "SequenceMap 'SequenceMap_2': its sequences are of one length, not of 2 and 3" in refusal(made)


def test_sequences_are_mapped_to_sequences():
    made = map_model([4], [node("SequenceConstruct", "a", "s_"), node("Sub", "a w", "s2_")])
    assert "SequenceMap 'SequenceMap_1': what its body makes is a sequence, not a tensor" in refusal(made)


# ---- Optionals, inputs and outputs -----------------------------------------------------------------------------------


def test_an_optional_of_nothing():
    nodes = [node("Optional", "", "o"), node("OptionalHasElement", "o", "c")]
    assert "it has neither an element nor the type of one" in refusal(model(nodes, {}, "c", opset=18))


def test_the_element_of_an_empty_optional():
    nodes = [node("Optional", "", "o", type=TENSOR), node("OptionalGetElement", "o", "y")]
    expected = "OptionalGetElement 'OptionalGetElement_1': its optional is empty ("
    assert refusal(model(nodes, {}, "y", opset=18)).startswith(expected)


def test_an_input_that_is_an_optional():
    made = model([node("OptionalGetElement", "x", "y")], {"x": [1]}, "y", opset=18)
    made.graph.input[0].type.CopyFrom(helper.make_optional_type_proto(TENSOR))
    assert refusal(made) == "input 'x' is a optional, not a tensor"


def test_outputs_of_nothing():
    said = "so that there is nothing to return"
    empty = model([node("SequenceEmpty", "", "s")], {}, "s")
    assert refusal(empty) == f"output 's' is a sequence that is empty, {said}"
    empty = model([node("Optional", "", "o", type=TENSOR)], {}, "o", opset=18)
    assert refusal(empty) == f"output 'o' is an optional that is empty, {said}"


@pytest.mark.parametrize("outputs", ["s s_1", "s_1 s"])
def test_names_of_elements_that_other_outputs_have(outputs: str):
    nodes = [node("SplitToSequence", "x", "s"), node("Neg", "x", "s_1")]
    expected = "two outputs are named 's_1'; one is an element of a sequence"
    assert refusal(model(nodes, {"x": [2, 2]}, outputs)) == expected
    import_onnx(model(nodes, {"x": [1, 2]}, outputs))


@pytest.mark.parametrize(
    ("nodes", "declared", "message"),
    [
        ([node("SplitToSequence", "x", "y")], TENSOR, "output 'y' as tensor, but its nodes make a sequence"),
        ([node("Neg", "x", "y")], helper.make_sequence_type_proto(TENSOR), "as sequence, but its nodes make a tensor"),
        ([node("Optional", "x", "y")], TENSOR, "output 'y' as tensor, but its nodes make an optional"),
        (
            [node("SplitToSequence", "x", "y")],
            helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.DOUBLE, None)),
            "output 'y_0' as DOUBLE, but its nodes make f32",
        ),
        (
            [node("SplitToSequence", "x", "y")],
            helper.make_sequence_type_proto(helper.make_tensor_type_proto(FLOAT, [2, 2])),
            "output 'y_0' as [2, 2], but its nodes make [1, 2]",
        ),
    ],
)
def test_outputs_that_are_declared_otherwise(nodes: Sequence[onnx.NodeProto], declared: onnx.TypeProto, message: str):
    made = model(nodes, {"x": [3, 2]}, "y", opset=18)
    made.graph.output[0].type.CopyFrom(declared)
    assert refusal(made).endswith(message)
