"""ONNX models as graph modules: `import_onnx`."""

from tilework.frontends.onnx.importer import ImportedModel, import_onnx

__all__ = ["ImportedModel", "import_onnx"]
