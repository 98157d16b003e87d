"""Which rewrite patterns there are, by name: those of the passes, and those that operations bring to `canonicalize`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import HasCanonicalizationPatternsTrait

from tilework.dialects.support.registration import tilework_dialects
from tilework.driver.registry import tilework_passes
from tilework.driver.upstream_passes import Canonicalize
from tilework.transforms.patterns import PatternPass, pattern_name


@dataclass(frozen=True)
class Listed:
    """A pattern that can be applied alone, and the pass that has it; None for those of `canonicalize`."""

    pattern: type[RewritePattern]
    owner: type[PatternPass] | None = None

    def anchors(self, module: ModuleOp) -> Iterable[Operation]:
        """The operations of a module that the pass runs on, one after the other."""
        return [module] if self.owner is None else list(self.owner.anchored(module))

    def operations(self, anchor: Operation) -> Iterable[Operation]:
        """The operations that the pass tries the pattern on, in order."""
        return anchor.walk() if self.owner is None else self.owner().operations(anchor)

    def instance(self, anchor: Operation) -> RewritePattern:
        """The pattern with what the pass, its options being the defaults, lets it know of an anchor."""
        made = _canonicalization() if self.owner is None else self.owner().patterns(anchor)
        return next(pattern for pattern in made if type(pattern) is self.pattern)


def all_patterns() -> Mapping[str, Listed]:
    """Every pattern by its name, `<pass>.<pattern>`. It imports all passes."""
    passes = [make() for make in tilework_passes().values()]
    found = {
        pattern_name(owner.name, pattern): Listed(pattern, owner)
        for owner in passes
        if issubclass(owner, PatternPass)
        for pattern in owner.pattern_types()
    }
    own = {pattern_name(Canonicalize.name, type(p)): Listed(type(p)) for p in _canonicalization()}
    return dict(sorted((own | found).items()))


def _canonicalization() -> Sequence[RewritePattern]:
    """One pattern of each type that an operation of our dialects brings."""
    found = {type(pattern): pattern for op in _operations() for pattern in _brought(op)}
    return list(found.values())


def _operations() -> Iterator[type[Operation]]:
    for dialect in tilework_dialects().values():
        yield from dialect().operations


def _brought(op: type[Operation]) -> Iterator[RewritePattern]:
    for trait in op.get_traits_of_type(HasCanonicalizationPatternsTrait):
        yield from trait.get_patterns(op)
