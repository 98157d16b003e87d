"""A function of a row that is put together of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from xdsl.dialects.builtin import f64
from xdsl.ir import Block, Region, SSAValue

from tilework.dialects.bag import BagType, RowsOp, YieldOp
from tilework.dialects.bag.conversion import scalar_of


class RowFunction:
    """Takes the columns and the scalars that the functions in it ask for, each once."""

    def __init__(self, bag: BagType):
        self._bag = bag
        self._block = Block()
        self._columns: dict[str, SSAValue] = {}
        self._scalars: dict[SSAValue, SSAValue] = {}

    @property
    def reads(self) -> list[str]:
        """The columns that it takes."""
        return [*self._columns]

    @property
    def scalars(self) -> list[SSAValue]:
        """The scalars that it takes."""
        return [*self._scalars]

    def append(self, op: RowsOp, known: Mapping[str, SSAValue] = MappingProxyType({})) -> list[SSAValue]:
        """What the function of an operation makes, given columns that are known already."""
        columns = [known[name] if name in known else self.column(name) for name in op.names]
        arguments = [*columns, *map(self.scalar, op.scalars)]
        values: dict[SSAValue, SSAValue] = dict(zip(op.body.block.args, arguments, strict=True))
        for inner in op.body.block.ops:
            if isinstance(inner, YieldOp):
                return [values[value] for value in inner.values]
            self._block.add_op(inner.clone(values))
        raise AssertionError("the verifier has seen the yield")

    @property
    def block(self) -> Block:
        """Where more can be appended to."""
        return self._block

    def region(self, values: Sequence[SSAValue]) -> Region:
        """The function, which makes these values; nothing is appended any more."""
        self._block.add_op(YieldOp(values))
        return Region(self._block)

    def column(self, name: str) -> SSAValue:
        """The column of that name, in a row."""
        if name not in self._columns:
            made = self._block.insert_arg(scalar_of(self._bag.columns[name]), len(self._columns))
            made.name_hint = name if name.isidentifier() else None
            self._columns[name] = made
        return self._columns[name]

    def scalar(self, value: SSAValue) -> SSAValue:
        """A scalar that all rows share, as the function knows it."""
        if value not in self._scalars:
            self._scalars[value] = self._block.insert_arg(f64, len(self._block.args))
        return self._scalars[value]
