"""What becomes of a graph on the host: kernel calls and views one after the other, control flow around them."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.dialects import func, memref, scf
from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from tilework.algebra.index_expr import Expr, var
from tilework.analysis.post_dominators import VIEW
from tilework.analysis.program_targets import HOST
from tilework.analysis.tensor_devices import device_of_tensor
from tilework.dialects import arith
from tilework.dialects.graph.choice import IfOp as GraphIfOp
from tilework.dialects.graph.control import element_of, sequence_of, yielded_by
from tilework.dialects.graph.iteration import WhileOp
from tilework.dialects.graph.layout import WordsOp
from tilework.dialects.graph.movement import ConcatOp, SliceOp
from tilework.dialects.graph.require import RequireOp
from tilework.dialects.graph.reshape import ReshapeOp
from tilework.dialects.graph.scan import ScanOp
from tilework.dialects.graph.size import SizeOp
from tilework.dialects.graph.structure import CopyOp, FusedOp, ParameterOp
from tilework.dialects.loop import INDEX, CallOp, ForOp, IfOp, InvokeOp
from tilework.dialects.support.diagnostics import CompileError, name_of
from tilework.dialects.support.locations import copy_location
from tilework.dialects.support.shapes import dims_of
from tilework.lowering.host.buffers import HostBuffers, Plan, is_made_here, plan_placements
from tilework.lowering.host.shapes import HostShapes, memref_type, space_of
from tilework.transforms.graph.joined_sizes import KernelVersion, versions_of
from tilework.transforms.graph.te_kernels import KernelTable


@dataclass(frozen=True)
class HostBlock:
    """A block of the host function that is being written, at its end."""

    block: Block
    at: Builder
    shapes: HostShapes
    buffers: HostBuffers
    kernels: KernelTable


@contextmanager
def located(block: Block, source: Operation) -> Generator[None]:
    """Give what is appended to a block meanwhile the location of `source`."""
    last = block.last_op
    yield
    op = block.first_op if last is None else last.next_op
    while op is not None:
        copy_location(op, source)
        op = op.next_op


def lower_graph(graph: Block, host: HostBlock) -> None:
    """Append what the operators of a graph become, and copies of the results that are made elsewhere."""
    last = graph.last_op
    assert last is not None
    for op in list(graph.ops)[:-1]:
        with located(host.block, op):
            _lower(op, host)
    with located(host.block, last):
        host.buffers.copy_outputs()


def _lower(op: Operation, host: HostBlock) -> None:
    match op:
        case RequireOp():
            host.shapes.require(op.requirement)
        case SizeOp():
            number = host.at.insert(memref.LoadOp.get(host.buffers.of(op.number), [])).res
            index = host.at.insert(arith.IndexCastOp(number, INDEX)).result
            host.shapes.name_checked(op.size, index, op.most, op.refusal)
        case _ if not any(result.uses for result in op.results):
            return  # constants that moved into the kernels, and other dead code
        case _ if VIEW in op.attributes:
            _view(op, host)
        case FusedOp():
            _call(op, host)
        case func.CallOp():
            _invoke(op, host)
        case ScanOp():
            _scan(op, host)
        case GraphIfOp():
            _if(op, host)
        case WhileOp():
            _while(op, host)
        case ParameterOp():
            parameter = memref.GetGlobalOp(global_name(op), global_type(op))
            host.buffers.put(op.result, host.at.insert(parameter).memref)
        case CopyOp():
            host.buffers.copy_between_devices(op.source, op.result)
        case _:
            raise _left(op)


def _view(op: Operation, host: HostBlock) -> None:
    """A view of a buffer."""
    match op:
        case ConcatOp():
            host.buffers.of(op.result)  # there already: its operands were made in it
        case ReshapeOp():
            host.buffers.alias_reshape(op)
        case SliceOp():
            host.buffers.alias_slice(op)
        case WordsOp():
            host.buffers.alias_words(op)
        case _:
            raise _left(op)


def _left(op: Operation) -> CompileError:
    """The error for an operation that only kernels can hold."""
    if isinstance(op, ConstantOp):
        return CompileError("a constant is used outside the kernels; run graph-fold-parameters first", op)
    return CompileError(f"{name_of(op)} is in no graph.fused; run graph-fuse-operators first", op)


def global_name(op: ParameterOp) -> str:
    """The global that holds a parameter, on the host or in the memory of the device that it names."""
    device = device_of_tensor(op.result)
    return op.sym_name.data if device == HOST else f"{op.sym_name.data}.{device}"


def global_type(op: ParameterOp) -> MemRefType[Attribute]:
    """The type of that global."""
    return memref_type(op.result.type, space=space_of(device_of_tensor(op.result)))


def _call(group: FusedOp, host: HostBlock) -> None:
    """A call of the first version of the group whose conditions hold."""
    *versions, general = [(version, _call_of(version, group, host)) for version in versions_of(group)]
    call: Operation = general[1]
    for version, special in reversed(versions):
        values = host.shapes.values_of(*(p.expr for p in version.conditions))
        then, otherwise = (Region(Block([op])) for op in (special, call))
        call = IfOp([p.substitute(values) for p in version.conditions], then, otherwise)
    host.at.insert(call)


def _call_of(version: KernelVersion, group: FusedOp, host: HostBlock) -> CallOp:
    values = [*group.inputs, *group.outputs]
    buffers = [host.buffers.of(v) for v in values]
    kernel = host.kernels.kernel_for(version.group, [host.buffers.layout_for_kernel(v) for v in values])
    count = len(group.inputs)
    symbols = [host.shapes.value(version.size_of(name)) for name in kernel.symbols]
    return CallOp(kernel.sym_name.data, buffers[:count], buffers[count:], (), symbols)


def _invoke(call: func.CallOp, host: HostBlock) -> None:
    """A call of another function, which writes its results where they lie here."""
    given = {key: None for value in call.arguments for d in dims_of(value.type) for key in d.variables()}
    made = {key for value in call.res for d in dims_of(value.type) for key in d.variables()}
    if open_ := [str(key) for key in made if key not in given]:
        raise CompileError(f"a function that is called returns a size that its arguments do not tell, {open_[0]}", call)
    inputs, outputs = [host.buffers.whole(v) for v in call.arguments], [host.buffers.whole_to_fill(v) for v in call.res]
    symbols = [host.shapes.value(var(key)) for key in given]
    host.at.insert(InvokeOp(call.callee.root_reference.data, inputs, outputs, symbols))
    for result, output in zip(call.res, outputs, strict=True):
        if output is not host.buffers.of(result):
            host.at.insert(memref.CopyOp(output, host.buffers.of(result)))


# -- scans


def _scan(scan: ScanOp, host: HostBlock) -> None:
    """A loop whose iterations change the states' buffers, which hold the states that are given before the first."""
    states = [host.buffers.of(v) for v in scan.end_states]
    for given, state in zip(scan.states, states, strict=True):
        host.at.insert(memref.CopyOp(host.buffers.of(given), state))
    for tensor in (*scan.sequences, *scan.constants, *(new for new in scan.new_sequences if new.uses)):
        host.buffers.of(tensor)  # outside of the loop
    loop = host.at.insert(ForOp(0, scan.steps.substitute(host.shapes.values_of(scan.steps)), "step"))
    body = _step(scan, loop, states, host)
    lower_graph(scan.body.block, body)
    count = len(states)
    with located(body.block, scan.yielded):
        _replace_states(states, scan.yielded.values[:count], list(scan.body.block.args[:count]), body)


def _step(scan: ScanOp, loop: ForOp, states: Sequence[SSAValue], host: HostBlock) -> HostBlock:
    """The body of the loop, still empty: it knows where the arguments of the scan's body are, and new elements go."""
    at = Builder(InsertPoint.at_end(loop.body.block))
    shapes = host.shapes.inside(at)
    step = scan.steps - 1 - var(loop.index) if scan.reverse else var(loop.index)
    made = zip(scan.new_sequences, scan.yielded.values[len(states) :], strict=True)
    sequences = {new: value for new, value in made if new.uses}
    outputs = [host.buffers.element(new, step, at, shapes) for new in sequences]
    plan = plan_placements(list(scan.body.block.ops)[:-1], list(sequences.values()))
    buffers = host.buffers.inside(at, shapes, outputs, plan)
    elements = [host.buffers.element(v, step, at, shapes) for v in scan.sequences]
    constants = [host.buffers.of(v) for v in scan.constants]
    for argument, buffer in zip(scan.body.block.args, [*states, *elements, *constants], strict=True):
        buffers.put(argument, buffer)
    return HostBlock(loop.body.block, at, shapes, buffers, host.kernels)


def _replace_states(
    states: Sequence[SSAValue], following: Sequence[SSAValue], arguments: Sequence[SSAValue], host: HostBlock
) -> None:
    """Copy the next states over the states; those that are no new tensor through buffers of their own, as the old ones
    may be part of them."""
    changed = [(state, v) for state, v, before in zip(states, following, arguments, strict=True) if v is not before]
    sources = [host.buffers.of(v) if is_made_here(v) else host.buffers.copied(v) for _, v in changed]
    for (state, _), source in zip(changed, sources, strict=True):
        host.at.insert(memref.CopyOp(source, state))


# -- what data decide


def _if(choice: GraphIfOp, host: HostBlock) -> None:
    """One of two blocks, both of which write the results where these lie."""
    used = [i for i, result in enumerate(choice.outputs) if result.uses]
    outputs = [host.buffers.of(choice.outputs[i]) for i in used]
    constants = [host.buffers.of(v) for v in choice.constants]  # outside of the blocks
    condition = host.at.insert(memref.LoadOp.get(host.buffers.of(choice.condition), [])).res
    sides: list[Region] = []
    for graph in choice.bodies:
        ops, yielded = list(graph.ops)[:-1], yielded_by(graph)
        side = _inside(Block(), host, outputs, plan_placements(ops, [yielded.values[i] for i in used]))
        for argument, buffer in zip(graph.args, constants, strict=True):
            side.buffers.put(argument, buffer)
        lower_graph(graph, side)
        side.at.insert(scf.YieldOp())
        sides.append(Region(side.block))
    then, otherwise = sides
    host.at.insert(scf.IfOp(condition, [], then, otherwise))


def _inside(block: Block, host: HostBlock, outputs: Sequence[SSAValue], plan: Plan) -> HostBlock:
    """A block inside of another, still to be written."""
    at = Builder(InsertPoint.at_end(block))
    shapes = host.shapes.inside(at)
    return HostBlock(block, at, shapes, host.buffers.inside(at, shapes, outputs, plan), host.kernels)


def _while(loop: WhileOp, host: HostBlock) -> None:
    """A loop that changes the states' buffers, and one that says whether it goes on; its runs are counted."""
    states = [host.buffers.of(v) for v in loop.end_states]
    for given, state in zip(loop.states, states, strict=True):
        host.at.insert(memref.CopyOp(host.buffers.of(given), state))
    again = host.buffers.copied(loop.condition)
    constants = [host.buffers.of(v) for v in loop.constants]
    first = host.shapes.value(0)
    used = [i for i, new in enumerate(loop.new_sequences) if new.uses]
    wholes = [_room(loop, loop.new_sequences[i], host) for i in used]
    graph, (goes_on, *yielded) = loop.body.block, loop.yielded.values
    elements = [yielded[len(states) + i] for i in used]
    plan = plan_placements(list(graph.ops)[:-1], [goes_on, *elements])
    block = Block(arg_types=[INDEX])
    at = Builder(InsertPoint.at_end(block))
    shapes, step = host.shapes.inside(at), var(block.args[0])
    outputs = [again, *(host.buffers.element_of(*whole, step, at, shapes) for whole in wholes)]
    body = HostBlock(block, at, shapes, host.buffers.inside(at, shapes, outputs, plan), host.kernels)
    for argument, buffer in zip(graph.args, [*states, *constants], strict=True):
        body.buffers.put(argument, buffer)
    lower_graph(graph, body)
    with located(body.block, loop.yielded):
        _replace_states(states, yielded[: len(states)], graph.args[: len(states)], body)
        following = body.at.insert(arith.AddiOp(body.block.args[0], body.shapes.value(1))).result
        body.at.insert(scf.YieldOp(following))
    test = Region(_test(again, loop, host))
    [count] = host.at.insert(scf.WhileOp([first], [INDEX], test, Region(body.block))).results
    if loop.count is not None:
        host.shapes.name(loop.steps, count, loop.most)
    for i, (whole, _) in zip(used, wholes, strict=True):
        host.buffers.put_beginning(loop.new_sequences[i], whole)


def _room(loop: WhileOp, sequence: SSAValue, host: HostBlock) -> tuple[SSAValue, Sequence[Expr]]:
    """A buffer for the elements of as many runs as there may be, and its dimensions."""
    assert loop.most is not None
    type_ = sequence_of(element_of(sequence.type), loop.most)
    return host.buffers.allocate(type_), dims_of(type_)


def _test(again: SSAValue, loop: WhileOp, host: HostBlock) -> Block:
    """Whether a loop goes on: where its body said so, and there were fewer runs than the limit."""
    block = Block(arg_types=[INDEX])
    at = Builder(InsertPoint.at_end(block))
    holds = at.insert(memref.LoadOp.get(again, [])).res
    if loop.most is not None:
        is_below = at.insert(arith.CmpiOp(block.args[0], host.shapes.inside(at).value(loop.most), "slt")).result
        holds = at.insert(arith.AndIOp(holds, is_below)).result
    at.insert(scf.ConditionOp(holds, block.args[0]))
    return block
