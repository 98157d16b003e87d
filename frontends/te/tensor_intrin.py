"""Tensor intrinsics of the te language: what an instruction computes, as a compute, and how it is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.ir import Attribute

from tilework.algebra.errors import UsageError
from tilework.algebra.given_values import integer_of
from tilework.dialects import te
from tilework.dialects.support.shapes import dims_of
from tilework.dialects.te.builder import KernelBuilder
from tilework.dialects.te.intrinsic import RESULT
from tilework.dialects.te.joining import identity
from tilework.frontends.te.arguments import check_function, check_integer, check_text, kind, listed
from tilework.frontends.te.dtypes import check_dtype, element_type_of
from tilework.frontends.te.index import Var
from tilework.frontends.te.kernel import build_kernel, name_everything, operations_for
from tilework.frontends.te.tensor import ComputeOp, PlaceholderOp, Tensor

Snippets = dict[str, list[str]]
"""The lines that a back end writes, by the kind of target, such as "llvm"."""


@dataclass(frozen=True)
class Buffer:
    """What an instruction wants of the buffer of one of its tensors. Snippets call it by its name.

    wanted: the distance of elements along each dimension, None for any; None for the usual ones.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    wanted: tuple[int | None, ...] | None = None
    scope: str = ""

    @property
    def strides(self) -> list[str]:
        """The distances of elements along the dimensions, as snippets write them."""
        return [f"${self.name}_stride{axis}" for axis in range(len(self.shape))]

    def access_ptr(self, access_mask: str) -> str:
        """The pointer to the first element, as snippets write it, whether for reading ("r") or writing ("w")."""
        check_text(access_mask, "what access_ptr is for")
        return f"${self.name}"

    @property
    def type(self) -> MemRefType[Attribute]:
        """What is wanted, as a memref type says it."""
        usual = (*(None for _ in self.shape[1:]), *(1 for _ in self.shape[:1]))
        layout = StridedLayoutAttr(list(usual if self.wanted is None else self.wanted))
        space = StringAttr(self.scope) if self.scope else NoneAttr()
        return MemRefType(element_type_of(self.dtype), self.shape, layout if self.shape else NoneAttr(), space)


def decl_buffer(
    shape: Sequence[int],
    dtype: str = "float32",
    name: str = "buffer",
    data: None = None,
    strides: Sequence[int | Var] | None = None,
    elem_offset: None = None,
    scope: str = "",
    data_alignment: int = -1,
    offset_factor: int = 0,
) -> Buffer:
    """What an intrinsic wants of a buffer: its strides, a `te.var` for any distance, and its scope.

    Without strides, elements of a row follow each other, and rows are any distance apart. Nobody knows of what number
    the beginning of a part is a multiple, so that data_alignment and offset_factor above 1 are refused.
    """
    dims = listed(shape)
    if dims is None:
        raise UsageError(f"the shape of a buffer is a list of whole numbers, not {kind(shape)}")
    sizes = tuple(check_integer(n, f"a dimension of buffer '{name}'") for n in dims)
    if data is not None or elem_offset is not None:
        raise UsageError("data and elem_offset of decl_buffer are chosen where the intrinsic is used: leave them out")
    for what, number in (("data_alignment", data_alignment), ("offset_factor", offset_factor)):
        if check_integer(number, f"{what} of decl_buffer") > 1:
            raise UsageError(f"{what} of decl_buffer is {number}: parts of buffers may begin at any element")
    given = None if strides is None else listed(strides)
    if strides is not None and (given is None or len(given) != len(sizes)):
        raise UsageError(f"strides of buffer '{name}' are a list of {len(sizes)} numbers or te.vars")
    wanted = None if given is None else tuple(None if isinstance(s, Var) else integer_of(s) for s in given)
    return Buffer(check_text(name, "the name of a buffer"), sizes, check_dtype(dtype), wanted, scope)


@dataclass(frozen=True, eq=False)
class TensorIntrin:
    """An instruction on tensors, for `tensorize` of a stage.

    op: what it computes. buffers: of the tensors that it reads, then of the result. body, reset, update: the snippets
    of the whole, of what sets the result to the identity of a reduction, and of what joins a part of a reduction; None
    where there is no such instruction.
    """

    name: str
    op: ComputeOp
    buffers: tuple[Buffer, ...]
    body: Snippets | None
    reset: Snippets | None
    update: Snippets | None

    def declarations(self, name: str) -> list[te.IntrinsicOp]:
        """The `te.intrinsic` of that name, and those that it names."""
        found: list[te.IntrinsicOp] = []
        others: dict[str, Attribute] = {}
        if self.reset is not None:
            others["reset"] = SymbolRefAttr(f"{name}.reset")
            found.append(self._declared(f"{name}.reset", self._identity(), [self.buffers[-1]], self.reset, {}))
        accumulates: dict[str, Attribute] = {"accumulates": UnitAttr()}
        if self.body is None:
            assert self.update is not None
            return [*found, self._declared(name, self._meaning(), self.buffers, self.update, others | accumulates)]
        if self.update is not None:
            others["update"] = SymbolRefAttr(f"{name}.update")
            updating = self._declared(f"{name}.update", self._meaning(), self.buffers, self.update, accumulates)
            found.append(updating)
        return [*found, self._declared(name, self._meaning(), self.buffers, self.body, others)]

    def _declared(
        self,
        name: str,
        meaning: te.KernelOp,
        buffers: Sequence[Buffer],
        snippets: Snippets,
        others: Mapping[str, Attribute],
    ) -> te.IntrinsicOp:
        properties: dict[str, Attribute] = {
            "sym_name": StringAttr(name),
            "function_type": meaning.function_type,
            "names": ArrayAttr(StringAttr(buffer.name) for buffer in buffers[:-1]),
            "buffers": ArrayAttr(buffer.type for buffer in buffers),
            "snippets": DictionaryAttr({target: _text(lines) for target, lines in snippets.items()}),
        }
        return te.IntrinsicOp.create(properties={**properties, **others}, regions=[meaning.detach_region(meaning.body)])

    def _meaning(self) -> te.KernelOp:
        operations = operations_for([self.op])
        return build_kernel("meaning", name_everything(operations), self.op.input_tensors, self.op.outputs, operations)

    def _identity(self) -> te.KernelOp:
        """A tensor of the identity of the reduction."""
        [compute] = self._meaning().computes
        last = compute.terminator
        assert isinstance(last, te.ReduceOp) and last.kind is not None
        number, type_ = identity(last.kind.data, last.values[0].type), compute.results[0].type
        k = KernelBuilder("identity")
        value: Any = number.value.data
        made = k.compute("identity", dims_of(type_), lambda *_: k.constant(value, last.values[0].type))
        return k.finish([made])


def decl_tensor_intrin(
    op: ComputeOp,
    fcompute: Callable[[Sequence[Buffer], Sequence[Buffer]], Any],
    name: str = "tensor_intrin",
    binds: Mapping[Tensor, Buffer] | None = None,
    scalar_params: None = None,
    default_buffer_params: Mapping[str, Any] | None = None,
) -> TensorIntrin:
    """Declare an instruction: what it computes, and by `fcompute` how back ends write it.

    op: a compute of placeholders of known shape. fcompute: takes the buffers that are read and the result's, and
    returns snippets, such as {"c": f"dot8({outs[0].access_ptr('w')}, ...);"}, or three of these, of which any may be
    None: for the whole compute, for what sets the result to the identity of its reduction, and for what joins a part of
    the reduction. binds: buffers of tensors, by `decl_buffer`; others have default_buffer_params.
    """
    is_compute = isinstance(op, ComputeOp)  # pyright: ignore[reportUnnecessaryIsInstance]  users have no types
    if not is_compute or not all(isinstance(t.op, PlaceholderOp) for t in op.input_tensors):
        raise UsageError("decl_tensor_intrin takes a compute that reads placeholders alone")
    check_function(fcompute, 2, "fcompute of decl_tensor_intrin")
    if scalar_params is not None:
        raise UsageError("decl_tensor_intrin takes no scalar_params: a number that varies is a tensor")
    bound = dict(binds or {})
    names = name_everything(operations_for([op]))
    tensors = [*op.input_tensors, *op.outputs]
    if len(op.outputs) != 1 or any(not dim.is_constant for t in tensors for dim in t.dims):
        raise UsageError("decl_tensor_intrin takes a compute of one result, of tensors whose shapes are known")
    made = [_buffer(t, names.stages[t.op], bound.pop(t, None), dict(default_buffer_params or {})) for t in tensors]
    if bound:
        raise UsageError(f"binds of decl_tensor_intrin names '{next(iter(bound)).name}', which it does not read")
    buffers = (*made[:-1], replace(made[-1], name=RESULT))
    given = fcompute(buffers[:-1], buffers[-1:])
    parts = list(cast("tuple[Any, ...]", given)) if isinstance(given, tuple) else [given]
    body, reset, update = [_snippets(part) for part in [*parts, None, None]][:3]
    if len(parts) > 3 or (body is None and update is None):
        raise UsageError("fcompute returns snippets, or three of these: of the body, of the reset, and of the update")
    if not op.reduce_axis and (reset is not None or update is not None or body is None):
        raise UsageError("fcompute returns a body alone, since the compute is no reduction")
    return TensorIntrin(check_text(name, "the name of an intrinsic"), op, buffers, body, reset, update)


def _buffer(tensor: Tensor, name: str, bound: Buffer | None, default: Mapping[str, Any]) -> Buffer:
    shape = tuple(dim.offset for dim in tensor.dims)
    if bound is None:
        bound = decl_buffer(shape, tensor.dtype, name, **default)
    if not isinstance(bound, Buffer):  # pyright: ignore[reportUnnecessaryIsInstance]  users have no types
        raise UsageError(f"tensors are bound to buffers, which te.decl_buffer makes, not to {kind(bound)}")
    if (bound.shape, bound.dtype) != (shape, tensor.dtype):
        what = f"buffer '{bound.name}' is of shape {list(bound.shape)} and {bound.dtype}"
        raise UsageError(f"{what}, and tensor '{tensor.name}' of shape {list(shape)} and {tensor.dtype}")
    return replace(bound, name=name)


def _snippets(value: object) -> Snippets | None:
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise UsageError(f'snippets are a dictionary from kinds of targets, such as "llvm", to text, not {kind(value)}')
    found: Snippets = {}
    for target, text in cast("Mapping[str, object]", value).items():
        lines = listed(text)
        texts = [text] if lines is None else lines
        if not all(isinstance(line, str) for line in texts):
            raise UsageError(f"the snippet for '{target}' is a text, or a list of lines, not {kind(text)}")
        found[target] = cast("list[str]", texts)
    return found


def _text(lines: list[str]) -> Attribute:
    return ArrayAttr(map(StringAttr, lines))
