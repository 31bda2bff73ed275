"""docs/benchmarks.md, its plots and the README's figures, made of the results files and nothing else."""

from benchmarks.report.command import add_to, main
from benchmarks.report.page import render

__all__ = ["add_to", "main", "render"]
