// Starts `tilework lsp` for .mlir files.

const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = function () {
  const command = workspace.getConfiguration("tilework").get("command");
  const server = { command, args: ["lsp", "--stdio"] };
  client = new LanguageClient("tilework", "Tilework", server, { documentSelector: [{ language: "mlir" }] });
  return client.start();
};

exports.deactivate = () => client && client.stop();
