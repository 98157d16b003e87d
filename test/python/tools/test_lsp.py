"""`tilework lsp`: what it knows of a program, and the server as an editor talks to it, over its protocol."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
from lsprotocol import types
from places import ROOT
from pygls.lsp.client import LanguageClient

from tilework.tools.lsp.program import Program

TEXT = """// RUN: opt-tool %s -p cse,lower-to-te
func.func @main(%x: tensor<8xf32>, %n: index) -> tensor<8xf32> {
  %0 = graph.relu %x : (tensor<8xf32>) -> tensor<8xf32>
  func.return %0 : tensor<8xf32>
}
func.func @other(%x: tensor<4xf16>) -> tensor<4xf16> {
  func.return %x : tensor<4xf16>
}
func.func @caller(%y: tensor<4xf16>) -> tensor<4xf16> {
  %r = func.call @other(%y) : (tensor<4xf16>) -> tensor<4xf16>
  func.return %r : tensor<4xf16>
}
"""


def at(text: str, pattern: str, number: int = 0) -> int:
    """The offset at which a pattern matches for the `number`th time, from 0."""
    return [match.start() for match in re.finditer(pattern, text)][number]


@pytest.fixture(scope="module")
def program() -> Program:
    return Program(TEXT)


def test_a_valid_program_has_no_diagnostics(program: Program):
    assert program.diagnostics == []


@pytest.mark.parametrize(
    ("pattern", "number", "shown"),
    [
        ("%x", 0, "%x : tensor<8xf32>"),
        ("%x", 1, "%x : tensor<8xf32>"),
        ("%x", 2, "%x : tensor<4xf16>"),
        ("%x", 3, "%x : tensor<4xf16>"),
        ("%0", 1, "%0 : tensor<8xf32>"),
        ("%n", 0, "%n : index"),
        ("graph.relu", 0, "max(x, 0)"),
        ("@other", 1, "func.func @other"),
        ("lower-to-te", 0, "lower-to-te = "),
        ("cse", 0, "cse"),
    ],
)
def test_hover(program: Program, pattern: str, number: int, shown: str):
    assert shown in (program.hover(at(TEXT, pattern, number) + 1) or "")


@pytest.mark.parametrize("pattern", ["opt-tool", "tensor", "%s"])
def test_nothing_is_known_of_other_words(program: Program, pattern: str):
    assert program.hover(at(TEXT, pattern)) is None and program.definition(at(TEXT, pattern)) is None


@pytest.mark.parametrize(
    ("pattern", "used", "defined"), [("%x", 1, 0), ("%x", 3, 2), ("%0", 1, 0), ("%x", 0, 0), ("%r", 1, 0)]
)
def test_a_value_leads_to_its_definition(program: Program, pattern: str, used: int, defined: int):
    assert program.definition(at(TEXT, pattern, used) + 1) == at(TEXT, pattern, defined)


def test_a_symbol_leads_to_its_operation(program: Program):
    assert program.definition(at(TEXT, "@other", 1)) == at(TEXT, "func.func @other")


def test_passes_are_completed_in_run_lines_and_operations_elsewhere(program: Program):
    assert {"cse", "lower-to-te", "loop-vectorize"} <= {*program.completions(at(TEXT, "cse"))}
    assert "graph.relu" in program.completions(at(TEXT, "relu"))
    assert program.completions(at(TEXT, "tensor")) == []


def test_a_program_with_an_error_answers_for_what_stands_before_it():
    text = TEXT.replace("func.return %0", "func.return %zero")
    program = Program(text)
    [error] = program.diagnostics
    assert error.message == "use of undeclared SSA value name '%zero'" and error.position[1:] == (4, 15)
    assert program.definition(at(text, "%x", 1)) == at(text, "%x")


def test_parts_of_a_split_file_are_read_by_themselves():
    part = "func.func @f(%a: i32) -> i32 {\n  func.return %a : i32\n}\n"
    text = f"// RUN: opt-tool %s --split-input-file\n{part}// -----\n{part.replace('i32', 'i8')}// -----\n}}\n"
    program = Program(text)
    assert [d.position.line for d in program.diagnostics] == [10]
    assert program.definition(at(text, "%a", 3)) == at(text, "%a", 2)
    assert "%a : i8" in (program.hover(at(text, "%a", 3)) or "")


def test_an_error_that_the_file_expects_is_none():
    text = "// RUN: opt-tool %s --verify-diagnostics\n// expected-error @below {{Unexpected}}\n}\n"
    (given,) = Program(text.replace("expected-error", "")).diagnostics
    assert Program(text.replace("Unexpected", given.message)).diagnostics == []


# -- over the protocol


@asynccontextmanager
async def editor() -> AsyncGenerator[tuple[LanguageClient, asyncio.Queue[types.PublishDiagnosticsParams]]]:
    """A client that talks to a server in a process of its own, and the diagnostics that the server sends."""
    client = LanguageClient("editor", "1")
    published = asyncio.Queue[types.PublishDiagnosticsParams]()

    @client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
    def keep(params: types.PublishDiagnosticsParams) -> None:
        published.put_nowait(params)

    await client.start_io(sys.executable, "-m", "tilework", "lsp", "--stdio")
    await client.initialize_async(types.InitializeParams(types.ClientCapabilities(), root_uri="file:///"))
    client.initialized(types.InitializedParams())
    yield client, published
    await client.shutdown_async(None)
    client.exit(None)
    await client.stop()


def place(text: str, offset: int) -> types.Position:
    return types.Position(text.count("\n", 0, offset), offset - text.rfind("\n", 0, offset) - 1)


async def talk() -> None:
    uri = "file:///program.mlir"
    document = types.TextDocumentIdentifier(uri)
    async with editor() as (client, published):
        client.text_document_did_open(types.DidOpenTextDocumentParams(types.TextDocumentItem(uri, "mlir", 1, TEXT)))
        assert (await published.get()).diagnostics == ()
        where = place(TEXT, at(TEXT, "%x", 1))
        hover = await client.text_document_hover_async(types.HoverParams(document, where))
        assert "%x : tensor<8xf32>" in hover.contents.value
        found = await client.text_document_definition_async(types.DefinitionParams(document, where))
        assert found.uri == uri and found.range.start == place(TEXT, at(TEXT, "%x"))
        where = place(TEXT, at(TEXT, "cse"))
        items = await client.text_document_completion_async(types.CompletionParams(document, where))
        assert "lower-to-te" in {item.label for item in items}
        broken = types.TextDocumentContentChangeWholeDocument(TEXT.replace("graph.relu %x", "/* 😀 */ graph.rely %x"))
        change = types.DidChangeTextDocumentParams(types.VersionedTextDocumentIdentifier(2, uri), [broken])
        client.text_document_did_change(change)
        [error] = (await published.get()).diagnostics
        assert error.range.start == types.Position(2, 7) and error.severity == types.DiagnosticSeverity.Error
        client.text_document_did_close(types.DidCloseTextDocumentParams(document))
        assert (await published.get()).diagnostics == ()


def test_an_editor_over_the_protocol():
    asyncio.run(asyncio.wait_for(talk(), 60))


def test_without_pygls_the_command_says_what_to_install(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture):
    from tilework.tools.cli import main

    monkeypatch.setitem(sys.modules, "pygls.lsp.server", None)
    monkeypatch.delitem(sys.modules, "tilework.tools.lsp.server", raising=False)
    assert main(["lsp"]) == 1
    assert capsys.readouterr().err == (
        "tilework: error: the language server needs pygls: pip install 'tilework[lsp]'\n"
    )


# -- the extension of VS Code

EXTENSION = ROOT / "tools" / "vscode"


def test_the_extension_names_files_that_are_there():
    package = json.loads((EXTENSION / "package.json").read_text())
    [language], [grammar] = package["contributes"]["languages"], package["contributes"]["grammars"]
    for path in (package["main"], language["configuration"], grammar["path"]):
        assert (EXTENSION / path).is_file()
    assert language["extensions"] == [".mlir"]


@pytest.mark.parametrize(
    ("text", "scope"),
    [
        ("// RUN: opt-tool", "comment.line"),
        ("%x_1", "variable"),
        ("@main", "entity.name.function"),
        ("^bb0", "entity.name.label"),
        ("graph.fused", "keyword.operator"),
        ("!vdla.token", "storage.type"),
        ("tensor", "storage.type"),
        ("f32", "storage.type"),
        ("#map", "constant.other"),
        ('"a \\"b\\""', "string.quoted"),
        ("0x1F", "constant.numeric"),
        ("-1.5e+3", "constant.numeric"),
    ],
)
def test_the_grammar_names_what_a_word_is(text: str, scope: str):
    """The patterns are tried in order at the beginning of the word, as an editor does."""
    grammar = json.loads((EXTENSION / "syntaxes" / "mlir.tmLanguage.json").read_text())
    for pattern in grammar["patterns"]:
        match = re.match(pattern["match"], text)
        if match is not None:
            assert match.group() == text and pattern["name"].startswith(scope)
            return
    pytest.fail("no pattern matches")
