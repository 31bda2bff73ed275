# ruff: noqa: N818 - the names say what happened, as in pgrecall.errors.
"""What can go wrong between a memory and a language model; no message quotes a memory, an answer or a key."""

from __future__ import annotations

from pgrecall.errors import PgrecallError

__all__ = ["AnswerUnusable", "LlmMisconfigured", "LlmUnavailable"]


class LlmMisconfigured(PgrecallError):
    """The language model's server refuses every request until something is set right."""

    default_hint = "Check the address, the name of the model and the key."


class LlmUnavailable(PgrecallError):
    """The language model's server cannot be asked now; no memory is to blame.

    Attributes:
        retry_after: Seconds that the server wants to be left alone; None where it did not say.
    """

    default_hint = "Try again later."

    def __init__(
        self, message: str | None = None, *, hint: str | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class AnswerUnusable(PgrecallError):
    """The language model answered, and the answer is of no use; what it was asked may be to blame."""

    default_hint = "Ask for less at once."
