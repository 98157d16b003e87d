"""The language server for `.mlir` files."""
