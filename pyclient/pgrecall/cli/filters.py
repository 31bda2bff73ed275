"""The filters that commands share, under the names of the client."""

from typing import Any

from .common import json_object, moment


def given_filters(
    namespace: str | None,
    category: list[str] | None,
    tag: list[str] | None,
    all_tag: list[str] | None,
    metadata: str | None,
    where: str | None,
    session: list[str] | None,
    speaker: list[str] | None,
    source: list[str] | None,
    external_id_prefix: str | None,
    since: str | None,
    until: str | None,
    include_superseded: bool = False,
) -> dict[str, Any]:
    """Return the filters that were given, under the names of the client."""
    given = {
        "namespace": namespace,
        "categories": category,
        "tags_any": tag,
        "tags_all": all_tag,
        "metadata_contains": json_object("--metadata", metadata),
        "metadata_where": json_object("--where", where),
        "sessions": session,
        "speakers": speaker,
        "sources": source,
        "external_id_prefix": external_id_prefix,
        "since": moment("--since", since),
        "until": moment("--until", until),
        "include_superseded": include_superseded or None,
    }
    return {name: value for name, value in given.items() if value is not None}
