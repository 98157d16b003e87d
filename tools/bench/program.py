"""What a compiled model consists of: its kernel calls with their work, its memory plan, and a clock around each call.

Kernels are timed where they are: the host function reads the clock before and after each call, some 50 ns a call, so
that every kernel finds its data, and the caches, as it does in an inference.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from xdsl.dialects import func, memref
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnitAttr,
    i64,
)
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from tilework.algebra.errors import TileworkError
from tilework.algebra.index_expr import Expr, product
from tilework.analysis.accesses import memref_type
from tilework.analysis.functions import body_of
from tilework.analysis.host_symbols import NAME, OUTPUT, HostSymbols
from tilework.analysis.liveness import Span, buffer_uses
from tilework.backends.host_signature import find_host
from tilework.dialects import arith, te
from tilework.dialects.loop import CallOp, ForOp
from tilework.dialects.support.locations import source_name
from tilework.dialects.support.registration import make_context
from tilework.driver.instrumentation import Instrumentation
from tilework.lowering.graph_to_te import GraphToTe
from tilework.runtime.devices.llvm.compile import compile_ir
from tilework.targets import Target
from tilework.targets.cpu.target import CpuTarget
from tilework.tools.bench.work import Work, element_bytes, work_of
from tilework.transforms.graph.choose_algorithms import ChooseAlgorithms
from tilework.transforms.loop.plan_memory import PlanMemory

TICKS = "tilework.ticks"
"""The output that `ProgramWatcher` adds: two int64 a call, nanoseconds on a monotonic clock, before and after it."""

_TICK = "tilework_tick"


class ProgramWatcher(Instrumentation):
    """Takes notes while a model is compiled, and adds the output `TICKS`; the code needs `tick_object` then.

    dims: sizes of the model's symbols; 1 for those it does not name. Notes are JSON values:
    flops: of the model as it is defined, before algorithms are chosen that do with fewer.
    calls: in the order of execution, the "kernel" called, the "source" (the ONNX node's name) and its work. A loop of
        calls counts as one.
    buffers: what lies in the arena, with "offset" and "bytes", from the "first" to the "last" call that uses it.
    """

    def __init__(self, dims: Mapping[str, int]):
        self._dims = dims
        self.flops = 0
        self.calls: list[dict[str, Any]] = []
        self.buffers: list[dict[str, Any]] = []

    def before_pass(self, pass_: ModulePass, op: Operation) -> None:
        if isinstance(pass_, ChooseAlgorithms):
            assert isinstance(op, ModuleOp)
            defined = op.clone()
            GraphToTe().apply(make_context(), defined)
            self.flops = sum(call["flops"] for call in self._calls_of(defined))

    def after_pass(self, pass_: ModulePass, op: Operation) -> None:
        if isinstance(pass_, GraphToTe):
            assert isinstance(op, ModuleOp)
            self.calls = self._calls_of(op)
        elif isinstance(pass_, PlanMemory):
            assert isinstance(op, ModuleOp)
            host = _host_of(op)
            self._note_buffers(host)
            _add_ticks(host)

    def _calls_of(self, module: ModuleOp) -> list[dict[str, Any]]:
        host = _host_of(module)
        kernels = {op.sym_name.data: op for op in module.ops if isinstance(op, te.KernelOp)}
        found: list[dict[str, Any]] = []
        for op in _calls(host):
            inside, work = _kernel_calls(op), self._work(op, kernels, HostSymbols(host))
            name = inside[0].kernel_name if isinstance(op, CallOp) else f"loop of {len(inside)} kernels"
            source = source_name(op.location)
            found.append({"kernel": name, "source": source, "flops": work.flops, "bytes": work.bytes})
        return found

    def _work(self, op: Operation, kernels: Mapping[str, te.KernelOp], symbols: HostSymbols) -> Work:
        """What a call does, or a loop in all its iterations."""
        match op:
            case CallOp():
                kernel = kernels[op.kernel_name]
                values = (self._value(symbols.expr_of(v, op)) for v in op.symbol_values)
                return work_of(kernel, dict(zip(kernel.symbols, values, strict=True)))
            case ForOp():
                extent = op.extent.substitute({v: symbols.expr_of(v, op) for v in op.index_operands})
                once = sum((self._work(inside, kernels, symbols) for inside in op.body.block.ops), Work())
                return once.times(self._value(extent))
            case _:
                return Work()

    def _note_buffers(self, host: func.FuncOp) -> None:
        """A step is a call: what happens between two of them counts to the later one, what follows all to the last."""
        symbols, last = HostSymbols(host), len(_calls(host)) - 1
        steps: dict[Operation, Span] = {}
        calls = 0
        for op in body_of(host).ops:
            step = min(calls, last)
            steps.update(dict.fromkeys(op.walk(), (step, step)))
            calls += bool(_kernel_calls(op))
        for view in (op for op in host.walk() if isinstance(op, memref.ViewOp)):
            type_ = memref_type(view.result.type)
            uses = [step for step, _ in buffer_uses(view.result, steps)]
            dims = symbols.dims_of(type_.get_shape(), view.sizes, view)
            self.buffers.append(
                {
                    "name": view.result.name_hint or "scratch",
                    "offset": self._value(symbols.expr_of(view.byte_shift, view)),
                    "bytes": self._value(product(dims)) * element_bytes(type_),
                    "first": min(uses),
                    "last": max(uses),
                }
            )

    def _value(self, e: Expr) -> int:
        return int(e.evaluate({key: self._dims.get(str(key), 1) for key in e.variables()}))


def _host_of(module: ModuleOp) -> func.FuncOp:
    host = find_host(module)
    assert host is not None
    return host


def _calls(host: func.FuncOp) -> list[Operation]:
    """Calls of kernels; a loop with such calls counts as one."""
    return [op for op in body_of(host).ops if _kernel_calls(op)]


def _kernel_calls(op: Operation) -> list[CallOp]:
    return [inside for inside in op.walk() if isinstance(inside, CallOp)]


# ---- The clock -------------------------------------------------------------------------------------------------------


def _add_ticks(host: func.FuncOp) -> None:
    """One more output, and a call before and after every kernel's that writes the time there."""
    calls = _calls(host)
    ticks = _add_output(host, MemRefType(i64, [2 * len(calls)]))
    for i, call in enumerate(calls):
        block = call.parent_block()
        assert block is not None
        block.insert_ops_before(_tick(ticks, 2 * i), call)
        block.insert_ops_after(_tick(ticks, 2 * i + 1), call)


def _add_output(host: func.FuncOp, type_: MemRefType[Any]) -> SSAValue:
    body, attributes = body_of(host), [*HostSymbols(host).attributes, _output_attributes()]
    output = body.insert_arg(type_, len(body.args))
    host.properties["function_type"] = FunctionType.from_lists([*body.arg_types], list(host.function_type.outputs))
    host.properties["arg_attrs"] = ArrayAttr(attributes)
    return output


def _output_attributes() -> DictionaryAttr:
    return DictionaryAttr({OUTPUT: UnitAttr(), NAME: StringAttr(TICKS)})


def _tick(ticks: SSAValue, place: int) -> list[Operation]:
    index = arith.ConstantOp(IntegerAttr(place, IndexType()))
    return [index, CallOp(_TICK, (), [ticks], (), [index.result])]


def tick_object(target: Target) -> bytes:
    """Code that writes the time in nanoseconds to a place of the output `TICKS`.

    Raises TileworkError where the system has no POSIX clock.
    """
    if not hasattr(time, "CLOCK_MONOTONIC"):
        raise TileworkError("kernels are timed by clock_gettime, which this system lacks")
    return compile_ir(_TICK_TEXT.format(triple=CpuTarget.of(target, "llvm").triple, clock=time.CLOCK_MONOTONIC), target)


_TICK_TEXT = f"""\
target triple = "{{triple}}"
declare i32 @clock_gettime(i32, ptr)
define void @{_TICK}(ptr %ticks, i64 %place, i32 %threads) {{{{
  %time = alloca {{{{ i64, i64 }}}}
  %status = call i32 @clock_gettime(i32 {{clock}}, ptr %time)
  %fraction = getelementptr {{{{ i64, i64 }}}}, ptr %time, i64 0, i32 1
  %seconds = load i64, ptr %time
  %nanoseconds = load i64, ptr %fraction
  %whole = mul i64 %seconds, 1000000000
  %now = add i64 %whole, %nanoseconds
  %slot = getelementptr i64, ptr %ticks, i64 %place
  store i64 %now, ptr %slot
  ret void
}}}}
"""
