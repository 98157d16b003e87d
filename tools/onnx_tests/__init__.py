"""The node tests of the ONNX standard, as they stand: compiled, run, and compared with what they expect."""
