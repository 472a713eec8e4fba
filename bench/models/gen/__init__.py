"""ONNX models with float64 references: every call appends a node and computes its value."""
from .builder import Builder, Value
from .sizes import keep_residue, same_pads

__all__ = ["Builder", "Value", "keep_residue", "same_pads"]
