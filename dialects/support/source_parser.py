"""Reading `.mlir` text: xDSL's parser, with every operation given the place in the file where it stands."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import AnyFloat, ComplexType, IndexType, IntegerType, ModuleOp, UnknownLoc
from xdsl.ir import AttributeInvT, Operation, SSAValue
from xdsl.parser import AttrParser, Parser, ParserState, UnresolvedOperand
from xdsl.utils.exceptions import ParseError
from xdsl.utils.lexer import Input, Position, Span, Token
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRToken, MLIRTokenKind, StringLiteral

from tilework.algebra.errors import TileworkError, did_you_mean
from tilework.dialects.support.locations import SourcePosition, file_location

LOCATION_ALIAS = re.compile(r"^#[A-Za-z_][\w$.]*(?=[ \t]*=[ \t]*loc\()", re.MULTILINE)


class _SourceLexer(MLIRLexer):
    """xDSL's lexer, except that strings are what UTF-8 writes, not bytes where that is not ASCII.

    One that is never closed is found in linear time, not in exponential time.
    """

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')

    def _lex_string_literal(self, start_pos: Position) -> MLIRToken:
        token = super()._lex_string_literal(start_pos)
        if token.kind is MLIRTokenKind.BYTES_LIT:
            with suppress(UnicodeDecodeError):
                StringLiteral.from_span(token.span).bytes_contents.decode()
                return Token(MLIRTokenKind.STRING_LIT, token.span)
        return token


class _BitsElement(AttrParser._TensorLiteralElement):  # pyright: ignore[reportPrivateUsage]
    """An element that is written in hexadecimal: of a floating-point type it is the bits, as MLIR writes infinities."""

    def to_type(self, parser: AttrParser, type: AnyFloat | IntegerType | IndexType | ComplexType) -> Any:
        if not isinstance(type, AnyFloat):
            return super().to_type(parser, type)
        assert isinstance(self.value, int)
        size = type.bitwidth // 8
        if not size or self.value >> type.bitwidth:
            parser.raise_error(f"{self.span.text} are no bits of {type}", self.span)
        [number] = type.unpack(self.value.to_bytes(size, "little"), 1)
        return number


class SourceParser(Parser):
    """xDSL's parser, except that an operation without a location gets `file:line:column`.

    A hexadecimal element of a dense floating-point constant is bits, which xDSL takes for a number.
    Location aliases may be used before they are defined, as MLIR prints them; a value that nobody defines is reported
    where it is used. `resources` holds the file's `external_resources`, by key (MLIR keeps reproducers there).
    """

    resources: dict[str, dict[str, str | bool]]

    def __init__(self, ctx: Context, text: str, name: str = "<unknown>"):
        super().__init__(ctx, "", name)
        self._parser_state = ParserState(_SourceLexer(Input(text, name)))
        self.resources = {}
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]
        self._first_use: dict[str, Span] = {}
        self._location_aliases: set[str] = set()
        self._define_location_aliases(text)

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        """The module that the text holds, or, where that is allowed, makes up: an empty one of no operation at all."""
        start = self.pos
        try:
            with self._refusals_located():
                while self._current_token.kind in (MLIRTokenKind.HASH_IDENT, MLIRTokenKind.EXCLAMATION_IDENT):
                    self._parse_alias_def()
                empty = allow_implicit_module and self._current_token.kind is MLIRTokenKind.EOF
                module = ModuleOp([]) if empty else super().parse_module(allow_implicit_module)
        except ParseError as error:
            if not error.msg.startswith("values used but not defined"):
                raise
            name = next(iter(self.forward_ssa_references))
            self.raise_error(f"use of undeclared SSA value name '%{name}'", self._first_use[name])
        self._locate(module, start)
        return module

    def parse_operation(self) -> Operation:
        start = self.pos
        with self._refusals_located():
            op = super().parse_operation()
        self._locate(op, start)
        return op

    @contextmanager
    def _refusals_located(self) -> Generator[None, None, None]:
        """The constructor of an attribute or operation that refuses what is written says so where that began."""
        start = self.pos
        try:
            yield
        except (ParseError, RecursionError):
            raise
        except Exception as error:
            self.raise_error(" ".join(str(error).split()) or type(error).__name__, start)

    def resolve_operand(self, operand: UnresolvedOperand, type: AttributeInvT) -> SSAValue[AttributeInvT]:
        if operand.operand_name not in self.ssa_values:
            self._first_use.setdefault(operand.operand_name, operand.span)
        return super().resolve_operand(operand, type)

    def _locate(self, op: Operation, start: Position) -> None:
        """Say that `op` begins at `start`, unless the text says where it came from."""
        if isinstance(op.location, UnknownLoc):
            line = bisect_right(self._line_starts, start)
            column = start - self._line_starts[line - 1] + 1
            op.location = file_location(SourcePosition(self.lexer.input.name, line, column))

    def _parse_tensor_literal_element(self) -> AttrParser._TensorLiteralElement:
        element = super()._parse_tensor_literal_element()
        if element.span.text.startswith(("0x", "0X")):
            return _BitsElement(element.is_negative, element.value, element.span)
        return element

    def _get_op_by_name(self, name: str) -> type[Operation]:
        try:
            return super()._get_op_by_name(name)
        except ParseError:
            written_at = self.lexer.input.content.rindex(name, 0, self.pos)
            self.raise_error(unknown_operation(self.ctx, name), written_at, written_at + len(name))

    def _define_location_aliases(self, text: str) -> None:
        start = self.pos
        for alias in LOCATION_ALIAS.finditer(text):
            self._resume_from(alias.start())
            self._parse_alias_def()
            self._location_aliases.add(alias.group())
        self._resume_from(start)

    def _parse_alias_def(self) -> None:
        name = self._current_token.text
        if name in self._location_aliases:  # defined ahead; here it is only read past
            self._location_aliases.remove(name)
            del self.attribute_aliases[name]
        super()._parse_alias_def()

    def _parse_external_resources(self) -> None:
        self.parse_comma_separated_list(self.Delimiter.BRACES, self._parse_external_resource)

    def _parse_external_resource(self) -> None:
        key = self.parse_identifier()
        self.parse_punctuation(":")
        entries = self.parse_comma_separated_list(self.Delimiter.BRACES, self._parse_resource_entry)
        self.resources[key] = dict(entries)

    def _parse_resource_entry(self) -> tuple[str, str | bool]:
        key = self.parse_identifier()
        self.parse_punctuation(":")
        if (text := self.parse_optional_str_literal()) is not None:
            return key, text
        return key, self.parse_boolean()


def unknown_operation(context: Context, name: str) -> str:
    """What to say about the name of an operation that the context does not know."""
    dialect = context.get_optional_dialect(name.partition(".")[0])
    if dialect is None:
        return f"unknown operation '{name}': its dialect is not registered (--allow-unregistered-dialect accepts it)"
    return f"unknown operation '{name}'{did_you_mean(name, [op.name for op in dialect.operations])}"


def parse_file(ctx: Context, text: str, name: str) -> ModuleOp:
    """The module of a file's text, not verified. Raises TileworkError that names the place for what is none."""
    try:
        return SourceParser(ctx, text, name).parse_module()
    except ParseError as error:
        place = error.span.get_location()
        raise TileworkError(f"{place.file}:{place.line}:{place.col}: {error.msg}") from None
