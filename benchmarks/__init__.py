"""Benchmarks: `python -m benchmarks`. Ours, plain NumPy and other packages, on the same work in the same run."""
