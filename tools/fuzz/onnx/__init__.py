"""Random ONNX models with control flow and sizes that data tell, compared with onnxruntime."""
