"""What an address asks: the question, its filters, and settings for this call alone."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from pgrecall.errors import InvalidInput
from pgrecall.filters import Filter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.datastructures import QueryParams

EMBED_SECONDS = 2.0
"""How long an embedder may take for a question; somebody waits, but it is no agent in mid-sentence."""


@dataclass(frozen=True, slots=True)
class QueryForm:
    """A question as the address has it, each part as it was written.

    Attributes:
        q: The question.
        k: How many memories at most.
        namespace: The namespace to search.
        timeframe: A phrase such as 'last week'.
        as_of: A time in ISO 8601.
        superseded: 'on' finds what no longer holds too.
        settings: Settings for this call by short names.
    """

    q: str = ""
    k: str = ""
    namespace: str = ""
    timeframe: str = ""
    as_of: str = ""
    superseded: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, given: QueryParams, prefix: str = "set.") -> QueryForm:
        """Read the parameters; settings are those whose names begin with `prefix`."""
        return cls(
            **{name: given.get(name, "").strip() for name in FIELDS},
            settings={
                name.removeprefix(prefix): value.strip()
                for name, value in given.items()
                if name.startswith(prefix) and value.strip()
            },
        )

    @property
    def is_blank(self) -> bool:
        """True if there is no question yet."""
        return not self.q

    @property
    def is_filtered(self) -> bool:
        """True if there is more than a question, a number and a namespace."""
        return bool(self.timeframe or self.as_of or self.superseded)

    def pairs(self, prefix: str = "set.") -> list[tuple[str, str]]:
        """Return the parameters that are given, as `read` takes them."""
        fields = [(name, getattr(self, name)) for name in FIELDS]
        settings = [(f"{prefix}{name}", value) for name, value in self.settings.items()]
        return [(name, value) for name, value in (*fields, *settings) if value]

    def address(self, path: str, **more: object) -> str:
        """Return a link of this site that asks the same."""
        pairs = [*self.pairs(), *((name, str(value)) for name, value in more.items())]
        return f"{path}?{urlencode(pairs)}" if pairs else path

    def with_settings(self, settings: Mapping[str, str]) -> QueryForm:
        """Return the same question with other settings."""
        return replace(self, settings=dict(settings))

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of `recall` and `explain`.

        Raises:
            InvalidInput: k is no whole number, or `as_of` is no time.
        """
        return {
            "k": _whole(self.k),
            "namespace": self.namespace or None,
            "filter": Filter(
                timeframe=self.timeframe or None,
                as_of=moment(self.as_of, "as of"),
                include_superseded=True if self.superseded else None,
            ),
            "settings": dict(self.settings) or None,
            "embed": "daemon",
            "embed_timeout": EMBED_SECONDS,
        }


FIELDS = ("q", "k", "namespace", "timeframe", "as_of", "superseded")
"""The parameters other than settings."""


def _whole(value: str) -> int | None:
    if not value:
        return None
    try:
        return int(value)
    except ValueError:
        raise InvalidInput("the number of memories is not a whole number", hint="Write 1 to 1000.") from None


def moment(value: str, name: str) -> datetime | None:
    """Read a time; an empty text is none.

    Raises:
        InvalidInput: It is not in ISO 8601.
    """
    if not value:
        return None
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        raise InvalidInput(
            f"{name!r} is not an ISO 8601 time",
            hint="Write a day such as 2026-05-17, or 2026-05-17T09:30+02:00.",
        ) from None


def identity(value: str) -> int:
    """Read the id of a memory.

    Raises:
        InvalidInput: It is no whole number.
    """
    try:
        return int(value)
    except ValueError:
        raise InvalidInput("the memory's id is not a whole number", hint="Write its number.") from None
