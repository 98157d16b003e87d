"""What graph passes and rules made of a program, kept in the cache: who compiles it again runs none of them."""

from __future__ import annotations

import hashlib

from xdsl.dialects.builtin import ModuleOp

from tilework.analysis.parameters import graph_functions
from tilework.dialects.support.source_parser import SourceParser
from tilework.driver.ir_printer import PrintingOptions, ir_text
from tilework.driver.price_ahead import price_ahead
from tilework.driver.session import Session
from tilework.runtime.cache import source_hash

LOCATED = PrintingOptions(locations=True)
"""How programs are written: errors of requirements tell nodes by the names in locations."""


def choose(module: ModuleOp, session: Session) -> None:
    """Run the phases "optimize-graph" and "apply-rules" over a graph module, in place; or take what is known of them.

    Where somebody watches the passes they run, whatever is known. Raises what the passes raise.
    """
    key = "" if session.instrumentations else _key(module, session.precision)
    known = session.cache.get(key) if key else None
    if known is not None:
        _become(module, known[0].decode(), session)
        return
    session.run("optimize-graph", module, precision=session.precision)
    for function in graph_functions(module):
        price_ahead(function, session)
    session.run("apply-rules", module, precision=session.precision)
    if key:
        session.chosen[key] = ir_text(module, LOCATED)


def keep_choices(session: Session) -> None:
    """Put what was chosen into the cache, once the program is compiled."""
    for key, text in session.chosen.items():
        session.cache.put(key, text.encode(), {})


def _key(module: ModuleOp, precision: str) -> str:
    """What choices depend on: the program, with names that errors tell, its targets, the precision, the compiler."""
    content = "\n".join(["choices", ir_text(module, LOCATED), precision, source_hash()])
    return hashlib.sha256(content.encode()).hexdigest()


def _become(module: ModuleOp, text: str, session: Session) -> None:
    """Give a module the operations of a text."""
    block, known = module.body.block, SourceParser(session.context, text, "choices").parse_module()
    for op in list(block.ops)[::-1]:
        block.erase_op(op, safe_erase=False)
    for op in list(known.body.block.ops):
        op.detach()
        block.add_op(op)
    module.attributes.clear()
    module.attributes |= known.attributes
