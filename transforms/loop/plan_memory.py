"""Put all temporaries of a host function into one arena."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import func, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    FixedBitwidthType,
    FunctionType,
    IndexType,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    UnitAttr,
    i8,
)
from xdsl.ir import Attribute, Operation, SSAValue

from tilework.algebra.index_expr import Expr, Key, product, var
from tilework.analysis.accesses import memref_type, root_buffer
from tilework.analysis.functions import body_of
from tilework.analysis.host_symbols import ARENA, ARENA_BYTES, AT_RUN_TIME, HostSymbols
from tilework.analysis.in_place import in_place_pairs
from tilework.analysis.liveness import buffer_uses, spans_of
from tilework.analysis.packing import Lifetime, pack
from tilework.dialects import arith
from tilework.dialects.loop import ApplyOp, CallOp, KernelOp
from tilework.dialects.support.diagnostics import CompileError
from tilework.dialects.support.index_attr import DimsAttr
from tilework.dialects.support.locations import copy_location
from tilework.dialects.tilework import DeviceAttr
from tilework.transforms.base import TileworkPass


def _legal(op: Operation) -> str | None:
    is_outside = isinstance(op, memref.AllocOp) and AT_RUN_TIME not in op.attributes
    return "a temporary outside the arena" if is_outside else None


@dataclass(frozen=True)
class PlanMemory(TileworkPass):
    """Replace the temporaries of a host function, and the scratch of the kernels it calls, by views of an arena.

    func.func @main(%x, %y) {                        func.func @main(%x, %y, %arena: memref<?xi8> {tilework.arena})
      %t = memref.alloc() : memref<16xf32>               attributes {tilework.arena_bytes = #graph.dims<[64]>} {
      loop.call @exp ins(%x) outs(%t) ..      ->       %t = memref.view %arena[%c0][] : memref<?xi8> to memref<16xf32>
      loop.call @exp ins(%t) outs(%y) ..               loop.call @exp ins(%x) outs(%t) ..

    The host has one arena, and every device one in its memory. Buffers that are in use at different times share memory,
    in a loop those that are allocated there. An output takes the place of an input that is used for the last time where
    the kernel's accesses allow it (`analysis.in_place`).
    This is an algorithm and no pattern: where a buffer lies depends on when all others are in use.
    Where a symbol that the function binds has a limit, there is room for that; where it has none, the allocation stays,
    marked `tilework.at_run_time`. Requires every size to be an expression over the dimensions of the arguments and such
    symbols; leaves no other allocation.
    """

    name = "loop-plan-memory"
    anchor = func.FuncOp
    legal_after = staticmethod(_legal)

    def run(self, ctx: Context, op: Operation) -> None:
        assert isinstance(op, func.FuncOp)
        if not op.is_declaration:
            _Planner(op).plan()


@dataclass
class _Temporary:
    """A buffer to be placed; `alloc` is None for scratch that the call `user` needs."""

    type_: MemRefType[Attribute]
    dims: tuple[Expr, ...]
    first: int
    last: int
    user: Operation
    alloc: memref.AllocOp | None = None
    host: _Temporary | None = None
    """The temporary whose memory this one overwrites."""

    @property
    def size(self) -> Expr:
        """How many bytes there are."""
        element = self.type_.element_type
        bytes_ = 8 if isinstance(element, IndexType) else element.size if isinstance(element, FixedBitwidthType) else 0
        if not bytes_:
            raise CompileError(f"the size of {element} is not known", self.user)
        return product(self.dims) * bytes_

    @property
    def owner(self) -> _Temporary:
        """The temporary that holds the memory in the end."""
        return self if self.host is None else self.host.owner


@dataclass
class _Planner:
    function: func.FuncOp
    symbol_values: dict[Key, SSAValue] = field(default_factory=dict[Key, SSAValue])

    def __post_init__(self) -> None:
        self.body = body_of(self.function)
        self.spans = spans_of(self.body)
        self.symbols = HostSymbols(self.function)
        module = self.function.parent_op()
        siblings = [] if module is None else [op for b in module.regions[0].blocks for op in b.ops]
        self.kernels = {op.sym_name.data: op for op in siblings if isinstance(op, KernelOp)}
        self.calls = [op for op in self.function.walk() if isinstance(op, CallOp)]

    def plan(self) -> None:
        """Rewrite the function."""
        allocated = [self._allocated(op) for op in self.function.walk() if isinstance(op, memref.AllocOp)]
        allocated = [t for t in allocated if not self._stays(t)]
        scratch = [t for call in self.calls for t in self._scratch(call)]
        self._share_in_place({t.alloc.memref: t for t in allocated if t.alloc is not None})
        temporaries = [*allocated, *scratch]
        owners = [t for t in temporaries if t.host is None and self.symbols.largest(t.size) is not None]
        spaces = dict.fromkeys([NoneAttr(), *(t.type_.memory_space for t in owners)])
        offsets: dict[int, Expr] = {}
        arenas: dict[Attribute, SSAValue] = {}
        for space in spaces:
            inside = [t for t in owners if t.type_.memory_space == space]
            packing = pack([Lifetime(self._most(t), t.first, t.last) for t in inside])
            offsets |= {id(t): offset for t, offset in zip(inside, packing.offsets, strict=True)}
            arenas[space] = self._add_arena(packing.size, space)
        lent: dict[Operation, list[SSAValue]] = {}
        for t in temporaries:
            if self.symbols.largest(t.size) is None:
                view = self._allocation(t)
            else:
                view = self._view(t, arenas[t.type_.memory_space], offsets[id(t.owner)])
            if t.alloc is None:
                lent.setdefault(t.user, []).append(view)
            else:
                self._replace(t.alloc, view)
        for call, buffers in lent.items():
            assert isinstance(call, CallOp)
            self._lend(call, buffers)

    # -- what there is to place

    def _allocated(self, op: memref.AllocOp) -> _Temporary:
        type_ = memref_type(op.memref.type)
        dims = self.symbols.dims_of(type_.get_shape(), op.dynamic_sizes, op)
        uses = buffer_uses(op.memref, self.spans) or [self.spans[op]]
        return _Temporary(type_, dims, min(first for first, _ in uses), max(last for _, last in uses), op, op)

    def _scratch(self, call: CallOp) -> list[_Temporary]:
        kernel = self._kernel(call)
        inputs, outputs, scratch, _ = kernel.group_sizes
        if call.scratch:
            return []
        names = [name.data for name in kernel.symbols]
        values = [self.symbols.expr_of(v, call) for v in call.symbol_values]
        by_name: dict[Key, Expr] = dict(zip(names, values, strict=True))
        step, _ = self.spans[call]
        space = NoneAttr() if call.device is None else DeviceAttr(call.device)
        found: list[_Temporary] = []
        for i in range(inputs + outputs, inputs + outputs + scratch):
            dims = tuple(e.substitute(by_name) for e in kernel.dims.data[i])
            type_ = memref_type(kernel.function_type.inputs.data[i])
            type_ = MemRefType(type_.element_type, type_.shape, type_.layout, space)
            found.append(_Temporary(type_, dims, step, step, call))
        return found

    def _kernel(self, call: CallOp) -> KernelOp:
        kernel = self.kernels.get(call.kernel_name)
        if kernel is None:
            raise CompileError(f"no kernel @{call.kernel_name}; the module has {_listed(self.kernels)}", call)
        return kernel

    def _most(self, t: _Temporary) -> Expr:
        """How many bytes there are at most."""
        most = self.symbols.largest(t.size)
        assert most is not None
        return most

    def _stays(self, t: _Temporary) -> bool:
        """Whether nothing says how large a buffer is at most: it is allocated when that is known."""
        assert t.alloc is not None
        if self.symbols.largest(t.size) is not None:
            return False
        if not isinstance(t.type_.memory_space, NoneAttr):
            raise CompileError("data alone decide how large a buffer of a device is: give it a limit", t.alloc)
        t.alloc.attributes[AT_RUN_TIME] = UnitAttr()
        return True

    def _allocation(self, t: _Temporary) -> SSAValue:
        """Scratch of which data alone decide the size, allocated in front of the call that it is lent to."""
        sizes = [self._index(d, t.user) for s, d in zip(t.type_.get_shape(), t.dims, strict=True) if s == DYNAMIC_INDEX]
        alloc = memref.AllocOp(sizes, [], t.type_)
        alloc.attributes[AT_RUN_TIME] = UnitAttr()
        self._insert(alloc, t.user)
        return alloc.memref

    # -- sharing

    def _share_in_place(self, temporaries: Mapping[SSAValue, _Temporary]) -> None:
        """Let outputs overwrite inputs, call by call."""
        pairs: dict[str, list[tuple[int, int]]] = {}
        for call in self.calls:
            if call.kernel_name not in pairs:
                pairs[call.kernel_name] = in_place_pairs(self._kernel(call))
            for i, o in pairs[call.kernel_name]:
                self._try_in_place(call, i, o, pairs[call.kernel_name], temporaries)

    def _try_in_place(
        self, call: CallOp, i: int, o: int, pairs: list[tuple[int, int]], temporaries: Mapping[SSAValue, _Temporary]
    ) -> None:
        step, _ = self.spans[call]
        source, target = (temporaries.get(_whole_buffer(v)) for v in (call.inputs[i], call.outputs[o]))
        if source is None or target is None or source.owner is target.owner or target.host is not None:
            return
        if source.owner.last != step or target.first != step or source.size != target.size:
            return
        # whatever else of this call lies in the same memory must allow it too
        shared = [k for k, v in enumerate(call.inputs) if _owner(v, temporaries) is source.owner]
        taken = any(_owner(v, temporaries) is source.owner for v in call.outputs)
        if taken or any((k, o) not in pairs for k in shared):
            return
        target.host = source.owner
        source.owner.last = target.last

    # -- rewriting

    def _add_arena(self, size: Expr, space: Attribute) -> SSAValue:
        type_ = MemRefType(i8, [DYNAMIC_INDEX], memory_space=space)
        attributes = [*self.symbols.attributes, DictionaryAttr({ARENA: UnitAttr()})]
        arena = self.body.insert_arg(type_, len(self.body.args))
        arena.name_hint = "arena"
        old = self.function.function_type
        self.function.properties["function_type"] = FunctionType.from_lists([*old.inputs, type_], list(old.outputs))
        self.function.properties["arg_attrs"] = ArrayAttr(attributes)
        self.symbols = HostSymbols(self.function)
        sizes = self.function.attributes.get(ARENA_BYTES)
        self.function.attributes[ARENA_BYTES] = DimsAttr.of([*(sizes if isinstance(sizes, DimsAttr) else ()), size])
        return arena

    def _view(self, t: _Temporary, arena: SSAValue, offset: Expr) -> SSAValue:
        """The temporary as a view of the arena, in front of its allocation or the call that it is lent to."""
        at = self._index(offset, t.user)
        sizes = [self._index(d, t.user) for s, d in zip(t.type_.get_shape(), t.dims, strict=True) if s == DYNAMIC_INDEX]
        view = memref.ViewOp(arena, at, sizes, t.type_)
        self._insert(view, t.user)
        return view.result

    def _index(self, e: Expr, user: Operation) -> SSAValue:
        """An expression over symbols as a value in front of `user`."""
        number = e.constant
        if number is not None:
            constant = arith.ConstantOp(IntegerAttr(number, IndexType()))
            self._insert(constant, user)
            return constant.result
        if (name := e.as_var) is not None:
            return self._symbol(name, user)
        apply = ApplyOp(e.substitute({name: var(self._symbol(name, user)) for name in e.variables()}))
        self._insert(apply, user)
        return apply.result

    def _symbol(self, name: Key, user: Operation) -> SSAValue:
        """A symbol as a value that is there from the start of the function."""
        if name in self.symbols.named:
            return self.symbols.named[name].result
        if name not in self.symbol_values:
            place = self.symbols.place_of(name)
            if place is None:
                raise CompileError(f"no argument has {name} itself as a dimension, so its value is not known", user)
            argument, i = place
            index = arith.ConstantOp(IntegerAttr(i, IndexType()))
            dim = memref.DimOp(argument, index)
            dim.result.name_hint = str(name)
            first = self.body.first_op
            assert first is not None
            self.body.insert_ops_before([index, dim], first)
            self.symbol_values[name] = dim.result
        return self.symbol_values[name]

    def _replace(self, alloc: memref.AllocOp, view: SSAValue) -> None:
        view.name_hint = alloc.memref.name_hint
        for use in list(alloc.memref.uses):
            if isinstance(use.operation, memref.DeallocOp):
                use.operation.detach()
                use.operation.erase()
        alloc.memref.replace_all_uses_with(view)
        alloc.detach()
        alloc.erase()

    def _lend(self, call: CallOp, scratch: list[SSAValue]) -> None:
        new = CallOp(call.kernel_name, call.inputs, call.outputs, scratch, call.symbol_values)
        new.attributes |= call.attributes
        self._insert(new, call)
        call.detach()
        call.erase()

    def _insert(self, new: Operation, before: Operation) -> None:
        copy_location(new, before)
        block = before.parent_block()
        assert block is not None
        block.insert_op_before(new, before)


def _whole_buffer(value: SSAValue) -> SSAValue:
    """The buffer that `value` is, or is another shape of, from its first element on."""
    while isinstance(cast := value.owner, memref.CastOp | memref.ReinterpretCastOp):
        if isinstance(cast, memref.ReinterpretCastOp) and any(o != 0 for o in cast.static_offsets.get_values()):
            return value
        value = cast.source
    return value


def _owner(value: SSAValue, temporaries: Mapping[SSAValue, _Temporary]) -> _Temporary | None:
    temporary = temporaries.get(root_buffer(value))
    return None if temporary is None else temporary.owner


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"@{name}" for name in names) or "none"
