# ruff: noqa: N818 - the names say what happened, as in pgrecall.errors.
"""Why a provider gives no vectors."""

from __future__ import annotations

__all__ = ["InputRefused", "ProviderPaused", "VectorsUnusable"]


class ProviderPaused(Exception):
    """The provider cannot be asked now; no text is to blame, and none has used up an attempt.

    Args:
        cause: One word for statistics: rate_limit, outage (no answer, or a server error), refused (a key or a
            model that the server does not take).
        message: What happened, without any text, key or answer of the server in it.
        retry_after: For how many seconds the server wants to be left alone; None: it did not say.
    """

    def __init__(self, cause: str, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.cause = cause
        self.retry_after = retry_after


class InputRefused(ValueError):
    """The server does not take these texts, or one of them."""


class VectorsUnusable(ValueError):
    """The server answered with vectors of the wrong length, zero, or not finite."""
