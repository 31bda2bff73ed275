"""Measurements of pgrecall: `python -m benchmarks --help`."""
