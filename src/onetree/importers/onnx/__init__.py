"""ONNX: tree ensembles in files and models, as onnxruntime computes them."""
