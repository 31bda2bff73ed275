"""Filters: which memories a call is about.

A condition is declared here once: its name, which is that of the database's `pgrecall.recall_conditions`, its
type, its check, and its option on the command line. The calls of the database and the options of the commands
are derived from that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypedDict, get_args

from .arguments import as_bool, as_datetime, as_str, as_str_list, json_object
from .errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "ErasureFilters",
    "Filter",
    "ListFilters",
    "Origin",
    "Period",
    "RecallFilters",
    "SearchFilters",
    "Timeframe",
    "split_filter",
]

Origin = Literal["web", "tool", "import", "agent", "user"]
"""Where a memory comes from, from the least to the most trusted."""

Period = tuple[datetime | None, datetime | None]
"""A half-open period [from, before); None leaves that side open."""

Timeframe = str | Period
"""A phrase such as 'last week', or a period."""


def as_timeframe(_: str, value: Timeframe) -> Timeframe:
    """Return a timeframe, which the client makes a range when it calls."""
    return value


def _declared(check: Callable[[str, Any], Any], option: str = "", help: str = "") -> dict[str, Any]:
    """Return what a condition declares besides its type: the check of its value, and its option, if any."""
    return {"check": check, "option": option, "help": help}


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Conditions that a memory must meet, all of them; None and an empty value are no condition.

    Where memories are deleted, an empty value is refused.

    Attributes:
        categories: Only memories of these categories.
        tags_any: Only memories with one of these tags.
        tags_all: Only memories with all of these tags.
        metadata_contains: Only memories whose metadata contains this object.
        metadata_where: Only memories whose metadata fits these conditions, such as `{"user_id": "priya",
            "price": {"$lt": 10}}`; operators are $eq, $ne, $lt, $lte, $gt, $gte, $in, $nin and $exists, and
            `{"$and": […]}` and `{"$or": […]}` join conditions.
        sessions: Only memories of these sessions.
        speakers: Only memories that these speakers said.
        sources: Only memories from these sources.
        external_id_prefix: Only memories whose external id begins with this text.
        since: Only memories from this time on.
        until: Only memories before this time.
        timeframe: Only memories from or about that time: a phrase such as 'last week' or 'in March 2026',
            interpreted in the time zone of the connection, or a pair (from, before).
        as_of: Only memories recorded by this time; those superseded later still count as valid.
        include_superseded: True includes superseded memories.
        include_sensitive: False excludes sensitive memories.
        min_trust: Only memories of this origin or a more trusted one: 'web', 'tool', 'import', 'agent' or
            'user'.
    """

    categories: Iterable[str] | None = field(
        default=None,
        metadata=_declared(as_str_list, "--category", "Only memories in this category; repeatable."),
    )
    tags_any: Iterable[str] | None = field(
        default=None,
        metadata=_declared(
            as_str_list, "--tag", "Only memories with at least one of these tags; repeatable."
        ),
    )
    tags_all: Iterable[str] | None = field(
        default=None,
        metadata=_declared(as_str_list, "--all-tag", "Only memories with all of these tags; repeatable."),
    )
    metadata_contains: Mapping[str, Any] | None = field(
        default=None,
        metadata=_declared(
            json_object, "--metadata", "Only memories whose metadata contains this JSON object."
        ),
    )
    metadata_where: Mapping[str, Any] | None = field(
        default=None,
        metadata=_declared(
            json_object,
            "--where",
            "Only memories whose metadata fits these conditions, as JSON: "
            '{"user_id": "priya", "price": {"$lt": 10}}; $eq, $ne, $lt, $lte, $gt, $gte, $in, $nin, $exists.',
        ),
    )
    sessions: Iterable[str] | None = field(
        default=None,
        metadata=_declared(as_str_list, "--session", "Only memories of this session; repeatable."),
    )
    speakers: Iterable[str] | None = field(
        default=None, metadata=_declared(as_str_list, "--speaker", "Only what this speaker said; repeatable.")
    )
    sources: Iterable[str] | None = field(
        default=None,
        metadata=_declared(as_str_list, "--source", "Only memories from this source; repeatable."),
    )
    external_id_prefix: str | None = field(
        default=None,
        metadata=_declared(
            as_str, "--external-id-prefix", "Only memories whose external id begins with this text."
        ),
    )
    since: datetime | str | None = field(
        default=None,
        metadata=_declared(
            as_datetime, "--since", "Only memories from this time on: ISO 8601, today or yesterday."
        ),
    )
    until: datetime | str | None = field(
        default=None,
        metadata=_declared(
            as_datetime, "--until", "Only memories before this time: ISO 8601, today or yesterday."
        ),
    )
    timeframe: Timeframe | None = field(
        default=None,
        metadata=_declared(
            as_timeframe,
            "--timeframe",
            "Only memories from or about this time: 'last week', 'March 2026', 'since Monday'.",
        ),
    )
    as_of: datetime | str | None = field(
        default=None,
        metadata=_declared(as_datetime, "--as-of", "Recall what was known at this time, ISO 8601."),
    )
    include_superseded: bool | None = field(
        default=None, metadata=_declared(as_bool, "--include-superseded", "Include superseded memories.")
    )
    include_sensitive: bool | None = field(default=None, metadata=_declared(as_bool))
    min_trust: Origin | None = field(
        default=None,
        metadata=_declared(
            as_str,
            "--min-trust",
            f"Only memories of this origin or a more trusted one: {', '.join(get_args(Origin))}.",
        ),
    )

    def __post_init__(self) -> None:
        # A call checks the conditions before it sends them. An iterator has ended by then: it would be an
        # empty list, which is no condition.
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping):
                object.__setattr__(self, one.name, tuple(value))

    def conditions(self) -> dict[str, Any]:
        """Return the conditions that are given by name, each checked.

        Raises:
            InvalidInput: A value of the wrong type, or that the database cannot store.
        """
        given = {one: getattr(self, one.name) for one in fields(self)}
        return {one.name: one.metadata["check"](one.name, v) for one, v in given.items() if v is not None}


class ErasureFilters(TypedDict, total=False):
    """The namespace and the conditions of an erasure, as keyword arguments: see `Filter`.

    Attributes:
        namespace: The namespace to search.
        filter: Conditions as one value, besides those that are keyword arguments.
    """

    namespace: str | None
    filter: Filter | None
    categories: Iterable[str] | None
    tags_any: Iterable[str] | None
    tags_all: Iterable[str] | None
    metadata_contains: Mapping[str, Any] | None
    metadata_where: Mapping[str, Any] | None
    sessions: Iterable[str] | None
    speakers: Iterable[str] | None
    sources: Iterable[str] | None
    external_id_prefix: str | None
    since: datetime | str | None
    until: datetime | str | None


class RecallFilters(ErasureFilters, total=False):
    """The namespace and the conditions of a recall, as keyword arguments: see `Filter`."""

    as_of: datetime | str | None
    include_superseded: bool | None
    include_sensitive: bool | None
    min_trust: Origin | None


class SearchFilters(RecallFilters, total=False):
    """The namespaces and the conditions of a call that reads several, as keyword arguments: see `Filter`.

    Attributes:
        namespaces: Several namespaces to search at once, instead of `namespace`; one that the role does not
            see is left out. None takes the client's namespace, or else the setting `namespaces`.
    """

    namespaces: Iterable[str] | None


class ListFilters(SearchFilters, total=False):
    """The namespaces and the conditions of a list, as keyword arguments: see `Filter`.

    Attributes:
        forgotten: True lists forgotten memories instead.
    """

    forgotten: bool | None


_NAMES = frozenset(one.name for one in fields(Filter))


def split_filter(
    options: Mapping[str, Any], allowed: type, *, timeframe: Timeframe | None = None
) -> tuple[Filter, dict[str, Any]]:
    """Split keyword arguments into the filter and the rest.

    Args:
        options: The keyword arguments of a method.
        allowed: The TypedDict of those that it has.
        timeframe: The argument of that name, if the method has it.

    Raises:
        TypeError: An argument that `allowed` does not have, or a `filter` that is none.
        InvalidInput: A condition is given twice.
    """
    for name in options:
        if name not in allowed.__annotations__:
            raise TypeError(f"unexpected keyword argument {name!r}")
    given = {name: value for name, value in options.items() if name in _NAMES and value is not None}
    if timeframe is not None:
        given["timeframe"] = timeframe
    rest = {name: value for name, value in options.items() if name not in _NAMES and name != "filter"}
    whole = options.get("filter")
    if whole is None:
        return Filter(**given), rest
    if not isinstance(whole, Filter):
        raise TypeError(f"filter must be a Filter, not {type(whole).__name__}")
    for name in given:
        if getattr(whole, name) is not None:
            raise InvalidInput(
                f"{name} is given twice", hint="Give a condition in filter or as an argument, not both."
            )
    kept = {name: getattr(whole, name) for name in _NAMES}
    return Filter(**{**kept, **given}), rest
