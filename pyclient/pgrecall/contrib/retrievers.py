"""Adapters of the clients to frameworks: each module needs an extra, and is imported by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pgrecall.errors import InvalidInput, PgrecallError
from pgrecall.filters import Filter
from pgrecall.installing import install_command

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pgrecall.models import RecalledMemory, RecallResult

__all__ = ["described", "missing_extra", "no_client", "recall_options"]


def missing_extra(library: str, extra: str) -> PgrecallError:
    """Return the error for a library that is not installed."""
    command = install_command(extra)
    return PgrecallError(f"{library} is not installed: {command}", hint=f"Run: {command}.")


def no_client(argument: str, method: str) -> InvalidInput:
    """Return the error for a call that the retriever was given no client for."""
    return InvalidInput(
        f"the retriever has no {argument}", hint=f"Give it one: {method}() asks the database through it."
    )


def recall_options(k: int | None, *given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments of a client's `recall`; what is given later counts.

    What a retriever finds goes into a prompt, often to a model elsewhere. So sensitive memories are left out
    unless `include_sensitive` asks for them, as in a briefing. A `filter` that is no `Filter` is the
    `metadata_where` of one, as the frameworks' filters are.
    """
    options: dict[str, Any] = {"k": k}
    for one in given:
        options |= one
    asked = options.get("filter")
    if asked is not None and not isinstance(asked, Filter):
        asked = options["filter"] = Filter(metadata_where=asked)
    if asked is None or asked.include_sensitive is None:
        options.setdefault("include_sensitive", False)
    return options


def described(memory: RecalledMemory, result: RecallResult) -> dict[str, Any]:
    """Return all that recall says of a memory but its text, as plain JSON values, and the recall's notice."""
    return {
        **{name: value for name, value in memory.as_dict().items() if name != "content"},
        "notice": result.notice,
    }
