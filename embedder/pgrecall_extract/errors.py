"""Errors of the extraction."""

from __future__ import annotations

__all__ = ["ExtractionUnavailable", "InvalidRules"]


class InvalidRules(ValueError):  # noqa: N818 - says what is invalid
    """A rule or an option is not valid.

    Attributes:
        message: What is wrong, in one sentence.
        hint: What to do about it.
    """

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ExtractionUnavailable(Exception):  # noqa: N818 - says what is the case
    """spaCy or its model cannot be used.

    Attributes:
        message: What is wrong, in one sentence.
        hint: What to do about it.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str = "Install pgrecall's extra `nlp`, or switch spaCy off.",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
