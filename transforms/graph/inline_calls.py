"""Put small functions, and those that are called once, where they are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tilework.analysis.bound_symbols import symbol_binders
from tilework.analysis.calls import called_by, is_recursive
from tilework.analysis.functions import body_of
from tilework.analysis.parameters import graph_functions
from tilework.transforms.patterns import PatternPass

MOST_OPERATIONS = 64
"""A function of more is put where it is called if that is one place only."""


@dataclass(frozen=True)
class InlineCalls(PatternPass):
    """Put the body of a function where it is called, and drop private functions that nobody calls then.

    func.func private @twice(%x: ...) -> ... {          func.func @main(%x: ...) -> ... {
      %y = graph.add %x, %x ...                           %y = graph.add %x, %x ...
      func.return %y                               ->     func.return %y
    }                                                   }
    func.func @main(%x: ...) -> ... {
      %y = func.call @twice(%x) ...
      func.return %y
    }

    A function that calls itself, by way of others too, stays, and so does one that data tell sizes in. Requires
    nothing; the calls that are left become calls of host functions.
    """

    name = "graph-inline-calls"

    def operations(self, op: Operation) -> Iterable[Operation]:
        return [call for call in op.walk() if isinstance(call, CallOp)]

    def patterns(self, op: Operation) -> Sequence[RewritePattern]:
        assert isinstance(op, ModuleOp)
        return [InlineCall(_inlined(op))]

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, ModuleOp)
        while before := _inlinable_calls(op):
            super().run(ctx, op)
            if _inlinable_calls(op) == before:
                break
        _drop_uncalled(op)


@dataclass(frozen=True)
class InlineCall(RewritePattern):
    """A call of a function is what its body computes of the operands.

    functions: those that are put where they are called, by name.
    """

    functions: Mapping[str, FuncOp]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CallOp, rewriter: PatternRewriter) -> None:
        function = self.functions.get(op.callee.root_reference.data)
        if function is None:
            return
        body = body_of(function)
        values = dict[SSAValue, SSAValue](zip(body.args, op.arguments, strict=True))
        *inside, end = body.ops
        assert isinstance(end, ReturnOp)
        copies = [o.clone(values) for o in inside]
        rewriter.replace(op, copies, [values[v] for v in end.arguments])


def _inlined(module: ModuleOp) -> Mapping[str, FuncOp]:
    """The functions that are put where they are called."""
    functions = {f.sym_name.data: f for f in graph_functions(module)}
    calls = [name for f in functions.values() for name in called_by(f)]
    return {
        name: function
        for name, function in functions.items()
        if not is_recursive(name, functions)
        and not symbol_binders(function)
        and not any(called_by(function))
        and (calls.count(name) == 1 or len(list(function.walk())) <= MOST_OPERATIONS)
    }


def _inlinable_calls(module: ModuleOp) -> list[CallOp]:
    inlined = _inlined(module)
    return [o for o in module.walk() if isinstance(o, CallOp) and o.callee.root_reference.data in inlined]


def _drop_uncalled(module: ModuleOp) -> None:
    """Erase private functions that no function calls, but itself."""
    functions = {f.sym_name.data: f for f in graph_functions(module)}
    reached = {name for name, f in functions.items() if f.sym_visibility is None or f.sym_visibility.data != "private"}
    pending = list(reached)
    while pending:
        found = set(called_by(functions[pending.pop()])) & functions.keys() - reached
        reached |= found
        pending += found
    for name in functions.keys() - reached:
        functions[name].detach()
        functions[name].erase()
