"""A function of a row that is put together of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from xdsl.dialects.builtin import f64
from xdsl.ir import Block, Region, SSAValue

from tilework.dialects.bag import BagType, RowsOp, YieldOp
from tilework.dialects.bag.conversion import scalar_of


class RowFunction:
    """Takes the columns of one table, or of several, and the scalars that the functions in it ask for, each once."""

    def __init__(self, *bags: BagType):
        self._bags = bags
        self._block = Block()
        self._columns: dict[tuple[int, str], SSAValue] = {}
        self._scalars: dict[SSAValue, SSAValue] = {}

    @property
    def reads(self) -> list[str]:
        """The columns that it takes of the first table."""
        return self.reads_of(0)

    def reads_of(self, table: int) -> list[str]:
        """The columns that it takes of a table."""
        return [name for at, name in self._columns if at == table]

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

    def column(self, name: str, table: int = 0) -> SSAValue:
        """The column of that name, in a row of a table."""
        key = (table, name)
        if key not in self._columns:
            before = sum(at <= table for at, _ in self._columns)
            made = self._block.insert_arg(scalar_of(self._bags[table].columns[name]), before)
            made.name_hint = name if name.isidentifier() else None
            self._columns[key] = made
        return self._columns[key]

    def scalar(self, value: SSAValue) -> SSAValue:
        """A scalar that all rows share, as the function knows it."""
        if value not in self._scalars:
            self._scalars[value] = self._block.insert_arg(f64, len(self._block.args))
        return self._scalars[value]
