"""A program on a board: a static executable, which is copied there once, and files with inputs and outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from tilework.algebra.errors import TileworkError, UsageError
from tilework.algebra.nibbles import is_narrow, packed_size, unpack
from tilework.runtime.arrays import Array, aligned_empty, dtype_named, input_array, packed
from tilework.runtime.call_sizes import CallSizes, SizesOfCalls
from tilework.runtime.function import Function
from tilework.runtime.module import Module
from tilework.runtime.shapes import InputShapes, Shape
from tilework.runtime.tensor_spec import TensorSpec
from tilework.targets import parse_target
from tilework.targets.cpu.target import CpuTarget
from tilework.tuning.pool.board_runner import answer_of, refuse_foreign, run_program
from tilework.tuning.pool.executable import Buffer, Linker, kernel_source, module_source
from tilework.tuning.pool.execution import Answer, Request
from tilework.tuning.pool.messages import bytes_of
from tilework.tuning.pool.shell import Shell


class BoardProgram:
    """Runs a module or a function on a board. A program is linked anew for other sizes of its inputs."""

    def __init__(self, shell: Shell, linker: Linker, program: Module | Function):
        self._shell, self._linker = shell, linker
        self._calls = _ModuleCalls(program) if isinstance(program, Module) else _FunctionCalls(program)
        refuse_foreign(self._calls.target, shell.board)
        self._name = shell.new_name()
        self._there: tuple[str, tuple[Shape, ...]] | None = None
        """The folder that the executable is in, and for which shapes."""

    def close(self) -> None:
        """Remove its files; the shell is somebody else's."""
        self._shell.discard(self._name)

    def run(self, request: Request) -> Answer:
        """Run the program. Raises TileworkError for what it refuses, and where the board does not answer."""
        calls = self._calls
        inputs = calls.checked(request.inputs)
        shapes = tuple(array.shape for array in inputs)
        sizes = calls.sizes.of(shapes)
        self._bring(shapes, sizes)
        self._shell.put(f"{self._name}inputs", bytes_of(map(_memory, inputs)))
        roles = ["inputs", "outputs", *(["parameters"] if calls.parameters else [])]
        options = [f"{role}={self._name}{role}" for role in roles]
        if request.repeat:
            options += [f"number={request.number}", f"repeat={request.repeat}"]
        options.append(f"threads={CpuTarget.of(parse_target(self._shell.board.target), 'llvm').cores}")
        done = run_program(self._shell, f"{self._name}program", request.seconds, options)
        answer = answer_of(done, request.seconds)
        if "status" in answer:
            raise TileworkError(calls.messages[answer["status"]])
        if "failure" in answer:
            raise TileworkError(f"{self._shell.board.place}: {answer['message']}")
        return Answer(self._outputs(sizes), tuple(answer.get("times", ())))

    def _bring(self, shapes: tuple[Shape, ...], sizes: CallSizes) -> None:
        """Link and copy the executable, and copy the parameters, unless they are there."""
        there = self._shell.folder, shapes
        if self._there == there:
            return
        self._shell.put(
            f"{self._name}program", self._linker.program(self._calls.objects, self._calls.source(shapes, sizes))
        )
        if self._calls.parameters and (self._there is None or self._there[0] != there[0]):
            self._shell.put(f"{self._name}parameters", bytes_of(self._calls.parameters))
        self._there = there

    def _outputs(self, sizes: CallSizes) -> dict[str, Array]:
        specs = self._calls.outputs
        sizes_in_bytes = [_bytes(spec, shape) for spec, shape in zip(specs, sizes.outputs, strict=True)]
        content = self._shell.get(f"{self._name}outputs", sum(sizes_in_bytes))
        outputs: dict[str, Array] = {}
        at = 0
        for spec, shape, size in zip(specs, sizes.outputs, sizes_in_bytes, strict=True):
            outputs[spec.name] = _array(spec, shape, np.frombuffer(content[at : at + size], np.uint8))
            at += size
        return outputs


class _ModuleCalls:
    """What calling a module from C takes."""

    def __init__(self, module: Module):
        manifest = self._manifest = module.manifest
        if manifest.devices:
            raise UsageError(
                f"the module uses the device '{manifest.devices[0].name}': boards run their host's code alone"
            )
        if manifest.bound:
            [symbol, *_] = manifest.bound
            raise UsageError(f"data decide how large outputs are ({symbol}): boards have no such outputs yet")
        self.target, self.objects, self.messages = manifest.target, module.objects, manifest.messages
        self.inputs, self.outputs = manifest.inputs, manifest.outputs
        self.parameters: Sequence[Array] = [module.parameters[spec.name] for spec in manifest.parameters]
        given = InputShapes(manifest.inputs, manifest.symbols, requirements=manifest.requirements)
        self.sizes = SizesOfCalls(given, [spec.shape for spec in manifest.outputs], (manifest.arena_bytes,))

    def checked(self, inputs: Mapping[str, Array]) -> list[Array]:
        """The inputs in order. Raises UsageError where they are not those of the module."""
        defaults = {default.input.name for default in self._manifest.defaults}
        if replaced := defaults & inputs.keys():
            raise UsageError(f"'{min(replaced)}' has a default, which cannot be replaced on a board")
        return _in_order(inputs, self.inputs, "the module")

    def source(self, shapes: Sequence[Shape], sizes: CallSizes) -> str:
        """C that calls it."""
        buffers = [*_buffers("INPUT", self.inputs, shapes), *_buffers("OUTPUT", self.outputs, sizes.outputs)]
        buffers += [Buffer("PARAMETER", "uint8", array.nbytes) for array in self.parameters]
        buffers.append(Buffer("SCRATCH", "uint8", sizes.scratch[0]))
        return module_source(self._manifest, buffers, [*sizes.symbols.values()])


class _FunctionCalls:
    """What calling a function from C takes."""

    parameters: Sequence[Array] = ()
    messages: Mapping[int, str] = {}

    def __init__(self, function: Function):
        info = self._info = function.info
        if info.checks:
            raise UsageError(
                f"{info.name} checks subscripts, which boards do not report: build it without checked=True"
            )
        self.target, self.objects = info.target, [function.object_code]
        self.inputs = [info.arguments[i] for i in info.inputs]
        self.outputs = [info.arguments[i] for i in info.outputs]
        given = InputShapes(self.inputs, info.symbols, info.name, info.requirements)
        self.sizes = SizesOfCalls(given, [spec.shape for spec in self.outputs], info.scratch_bytes)

    def checked(self, inputs: Mapping[str, Array]) -> list[Array]:
        """The inputs in order. Raises UsageError where they are not those of the function."""
        return _in_order(inputs, self.inputs, self._info.name)

    def source(self, shapes: Sequence[Shape], sizes: CallSizes) -> str:
        """C that calls it."""
        buffers = [*_buffers("INPUT", self.inputs, shapes), *_buffers("OUTPUT", self.outputs, sizes.outputs)]
        buffers += [Buffer("SCRATCH", "uint8", size) for size in sizes.scratch]
        return kernel_source(self._info.entry, buffers, [*sizes.symbols.values()])


def _in_order(inputs: Mapping[str, Array], specs: Sequence[TensorSpec], taker: str) -> list[Array]:
    if set(inputs) != {spec.name for spec in specs}:
        wanted, given = ", ".join(spec.name for spec in specs), ", ".join(inputs)
        raise UsageError(f"{taker} takes {wanted or 'no inputs'}; given are {given or 'none'}")
    return [input_array(inputs[spec.name], spec, dtype_named(spec.dtype), taker) for spec in specs]


def _buffers(role: str, specs: Sequence[TensorSpec], shapes: Sequence[Shape]) -> list[Buffer]:
    return [Buffer(role, "uint8", _bytes(spec, shape)) for spec, shape in zip(specs, shapes, strict=True)]


def _bytes(spec: TensorSpec, shape: Shape) -> int:
    """The size of an array in memory: 4-bit integers lie two to a byte."""
    dtype = dtype_named(spec.dtype)
    return packed_size(prod(shape)) if is_narrow(dtype) else dtype.itemsize * prod(shape)


def _memory(array: Array) -> Array:
    return packed(array) if is_narrow(array.dtype) else array


def _array(spec: TensorSpec, shape: Shape, content: Array) -> Array:
    array = aligned_empty(shape, dtype_named(spec.dtype))
    if is_narrow(array.dtype):
        unpack(content, array)
    else:
        array.reshape(-1).view(np.uint8)[...] = content
    return array
