"""Learned sparse terms: words with weights that a SPLADE model gives to a memory, for those who opt in."""

from __future__ import annotations

from .job import SparseJob, sparse_model
from .queue import SparseQueue

__all__ = ["SparseJob", "SparseQueue", "sparse_model"]
