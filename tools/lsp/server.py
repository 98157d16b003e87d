"""The language server: what the protocol asks for, answered by `Program`."""

from __future__ import annotations

from importlib.metadata import version

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

from tilework.tools.diagnostics_printer import Diagnostic
from tilework.tools.lsp.program import Program

SEVERITIES = {"error": types.DiagnosticSeverity.Error, "warning": types.DiagnosticSeverity.Warning}

Asked = types.HoverParams | types.DefinitionParams | types.CompletionParams


class Server(LanguageServer):
    """Keeps the program of every document that is open, as of its last change."""

    def __init__(self) -> None:
        super().__init__("tilework", version("tilework"))  # pyright: ignore[reportUnknownMemberType]
        self._programs: dict[str, Program] = {}

    def update(self, uri: str) -> None:
        """Read a document again and send what is wrong with it."""
        document = self.workspace.get_text_document(uri)
        program = self._programs[uri] = Program(document.source, document.filename or "program.mlir")
        found = [_diagnostic(d, document) for d in program.diagnostics if d.severity in SEVERITIES]
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, document.version))

    def forget(self, uri: str) -> None:
        """Drop a document that is closed."""
        self._programs.pop(uri, None)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))

    def asked(self, params: Asked) -> tuple[Program, TextDocument, int]:
        """The program that a request is about, its document, and the offset in it."""
        uri = params.text_document.uri
        document = self.workspace.get_text_document(uri)
        return self._programs[uri], document, document.offset_at_position(params.position)


def make_server() -> Server:
    """A server that answers what `tilework lsp` promises."""
    server = Server()

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(ls: Server, params: types.DidOpenTextDocumentParams) -> None:  # pyright: ignore[reportUnusedFunction]
        ls.update(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(ls: Server, params: types.DidChangeTextDocumentParams) -> None:  # pyright: ignore[reportUnusedFunction]
        ls.update(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(ls: Server, params: types.DidCloseTextDocumentParams) -> None:  # pyright: ignore[reportUnusedFunction]
        ls.forget(params.text_document.uri)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def hover(ls: Server, params: types.HoverParams) -> types.Hover | None:  # pyright: ignore[reportUnusedFunction]
        program, _, offset = ls.asked(params)
        text = program.hover(offset)
        return None if text is None else types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text))

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def definition(ls: Server, params: types.DefinitionParams) -> types.Location | None:  # pyright: ignore[reportUnusedFunction]
        program, document, offset = ls.asked(params)
        found = program.definition(offset)
        if found is None:
            return None
        position = document.client_position_at_offset(found)
        return types.Location(document.uri, types.Range(position, position))

    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=["-", ",", "."]))
    def completion(ls: Server, params: types.CompletionParams) -> list[types.CompletionItem]:  # pyright: ignore[reportUnusedFunction]
        program, _, offset = ls.asked(params)
        return [types.CompletionItem(name) for name in program.completions(offset)]

    return server


def _diagnostic(found: Diagnostic, document: TextDocument) -> types.Diagnostic:
    """A diagnostic at the rest of its line; at the first line where nothing says which place it is about."""
    line, column = (1, 1) if found.position is None else found.position[1:]
    lines = document.lines or [""]
    line = min(line, len(lines))
    end = len(lines[line - 1].rstrip("\r\n"))
    start = document.position_codec.position_to_client_units(lines, types.Position(line - 1, min(column - 1, end)))
    stop = document.position_codec.position_to_client_units(lines, types.Position(line - 1, end))
    severity = SEVERITIES[found.severity]
    return types.Diagnostic(types.Range(start, stop), found.message, severity=severity, source="tilework")
