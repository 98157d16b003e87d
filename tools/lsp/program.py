"""What an editor asks about the text of a program: what is wrong with it, and what is at a place."""

from __future__ import annotations

import re
from inspect import cleandoc

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation
from xdsl.utils.exceptions import ParseError

from tilework.analysis.verification import refuse_out_of_bounds, verify
from tilework.dialects.support.diagnostics import TileworkError
from tilework.dialects.support.locations import source_position
from tilework.dialects.support.registration import make_context
from tilework.driver.registry import all_passes
from tilework.lowering.pipelines import PIPELINES
from tilework.tools.diagnostics_printer import Diagnostic, diagnostics_of
from tilework.tools.expected_diagnostics import expected_diagnostics
from tilework.tools.list_passes import pass_description
from tilework.tools.lsp.indexing_parser import Definition, IndexingParser
from tilework.tools.opt_tool import split_input

RUN = re.compile(r"//\s*RUN:.*")
WORD = re.compile(r"%[\w.$-]+|@[\w.$-]+|[A-Za-z_][\w.$-]*")


class Program:
    """The text of a file, parsed and verified part by part where its RUN lines say that it is split.

    `diagnostics` are the errors in it, without those that it expects itself.
    """

    def __init__(self, text: str, name: str = "program.mlir"):
        self.text = text
        self._name = name
        runs = " ".join(RUN.findall(text))
        self._context = make_context(allow_unregistered="--allow-unregistered-dialect" in runs)
        self._definitions: list[Definition] = []
        self._symbols: dict[str, Operation] = {}
        self.diagnostics: list[Diagnostic] = []
        for part in split_input(text) if "--split-input-file" in runs else [text]:
            self._read(part)
        expected = expected_diagnostics(text, name)
        self.diagnostics = [d for d in self.diagnostics if not any(one.meets(d) for one in expected)]

    def _read(self, part: str) -> None:
        """Read a part, whose places are those in the file."""
        parser = IndexingParser(self._context, part, self._name)
        try:
            module = parser.parse_module()
            for op in module.walk():
                symbol = op.get_attr_or_prop("sym_name")
                if isinstance(symbol, StringAttr):
                    self._symbols.setdefault(symbol.data, op)
            verify(module)
            refuse_out_of_bounds(module)
        except (ParseError, TileworkError) as error:
            self.diagnostics += diagnostics_of(error)
        except RecursionError:
            self.diagnostics.append(Diagnostic("error", "operations are nested too deeply to be read"))
        self._definitions += parser.definitions

    def hover(self, offset: int) -> str | None:
        """Markdown about what is at an offset: the type of a value, what an operation or a pass does."""
        word, start = self._word_at(offset)
        if word.startswith("%"):
            found = self._definition(word[1:], start)
            return None if found is None else _code("\n".join(f"{word} : {value.type}" for value in found.values))
        if word.startswith("@"):
            op = self._symbols.get(word[1:])
            return None if op is None else _code(f"{op.name} {word}")
        if RUN.search(self._line_of(start)):
            name = word.lstrip("-")
            return _code(pass_description(name), "text") if name in {*all_passes(), *PIPELINES} else None
        op_type = self._context.get_optional_op(word)
        if op_type is None:
            return None
        described = f"\n\n{_code(cleandoc(op_type.__doc__), 'text')}" if op_type.__doc__ else ""
        return f"**{word}**{described}"

    def definition(self, offset: int) -> int | None:
        """The offset where the value or symbol at an offset is defined."""
        word, start = self._word_at(offset)
        if word.startswith("%"):
            found = self._definition(word[1:], start)
            return None if found is None else found.start
        position = source_position(self._symbols[word[1:]].location) if word[1:] in self._symbols else None
        if not word.startswith("@") or position is None:
            return None
        line = sum(len(line) for line in self.text.splitlines(keepends=True)[: position.line - 1])
        return line + position.column - 1

    def completions(self, offset: int) -> list[str]:
        """The names of passes and pipelines in a RUN line; elsewhere, behind a dialect and a dot, of its operations."""
        line = self._line_of(offset)
        if RUN.search(line):
            return sorted({*all_passes(), *PIPELINES})
        written = re.search(r"([a-z_]+)\.\w*$", self.text[:offset])
        if written is None or written[1] not in self._context.registered_dialect_names:
            return []
        return sorted(op.name for op in self._context.get_dialect(written[1]).operations)

    def _definition(self, name: str, offset: int) -> Definition | None:
        """The definition that a name means at an offset: that of the innermost region."""
        meant = [d for d in self._definitions if d.is_meant(name.partition("#")[0], offset)]
        return max(meant, key=lambda d: (d.start == offset, d.scope[0], -d.scope[1]), default=None)

    def _word_at(self, offset: int) -> tuple[str, int]:
        """The word around an offset, and where it begins; an empty one where there is none."""
        start = self.text.rfind("\n", 0, offset) + 1
        for match in WORD.finditer(self._line_of(offset)):
            if match.start() <= offset - start <= match.end():
                return match.group(), start + match.start()
        return "", offset

    def _line_of(self, offset: int) -> str:
        start, end = self.text.rfind("\n", 0, offset) + 1, self.text.find("\n", offset)
        return self.text[start : len(self.text) if end < 0 else end]


def _code(text: str, language: str = "mlir") -> str:
    return f"```{language}\n{text.strip()}\n```"
