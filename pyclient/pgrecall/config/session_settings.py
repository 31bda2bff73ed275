"""Database settings from the environment or the settings file.

They apply to the client's calls, as if SET LOCAL preceded each. Python does not know which settings exist:
the client compares the requested ones with the database's list when it connects.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pgrecall.errors import InvalidInput

from .file import CONNECTION, closest_match_hint

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from .file import SettingsFile

PREFIX = "PGRECALL_"

# Variables of the daemon, the language model, the tests, the benchmarks, the reranker, the MCP server and the
# expander. They are never sent to the database, whatever its settings are called: some hold secrets.
_RESERVED = ("embedder_", "llm_url", "llm_api_key", "test_", "bench_", "rerank_", "mcp_", "expand_", "hook_")
_ELSEWHERE = {
    "namespace": "Put it above [settings], beside dsn.",
    "embedding_model": "Set it with `pgrecall migrate --model`, change it with `pgrecall reembed --model`.",
    "query_model": "It is derived from the model that embeds queries: set `model` above [settings].",
}


@dataclass(frozen=True, slots=True)
class RequestedSetting:
    """One database setting requested by the environment or the file.

    Attributes:
        name: Its short name, such as 'rrf_k'.
        value: The value in the format of SET.
        source: Its source, as `pgrecall config` prints it.
        place: The source, with the line in the file.
        may_be_foreign: True if the name may belong to another program; an unknown name is then ignored.
    """

    name: str
    value: str
    source: str
    place: str
    may_be_foreign: bool


def environment_variable(name: str) -> str:
    """Return the environment variable of a setting."""
    return f"{PREFIX}{name.upper()}"


def requested_settings(file: SettingsFile) -> tuple[RequestedSetting, ...]:
    """Collect possible database settings, weaker sources first."""
    from_file = (
        RequestedSetting(name, setting.value, str(file.path), setting.place, may_be_foreign=False)
        for name, setting in file.settings.items()
    )
    return (*from_file, *_from_environment())


def _from_environment() -> Iterable[RequestedSetting]:
    for full, value in sorted(os.environ.items()):
        name = full.removeprefix(PREFIX).lower()
        if not full.startswith(PREFIX) or not value or name in (*CONNECTION, "config"):
            continue
        if not name.startswith(_RESERVED):
            source = f"environment {full}"
            yield RequestedSetting(name, value, source, source, may_be_foreign=True)


def accept_settings(
    given: Iterable[RequestedSetting], known: Iterable[Mapping[str, Any]]
) -> dict[str, RequestedSetting]:
    """Return the requested settings that the database knows, by name.

    Args:
        given: The requested settings.
        known: The rows of `pgrecall.settings_list()`.

    Raises:
        InvalidInput: The file names a setting that does not exist, or one that holds for the whole database
            and not for one client.
    """
    stored_only = {row["name"]: row["is_stored_only"] for row in known}
    chosen: dict[str, RequestedSetting] = {}
    for one in given:
        if one.name not in stored_only and one.name not in _ELSEWHERE:
            if one.may_be_foreign:
                continue
            raise InvalidInput(
                f"{one.place}: there is no setting {one.name!r}",
                hint=closest_match_hint(one.name, stored_only) or "`pgrecall config` lists them all.",
            )
        if one.name in _ELSEWHERE or stored_only[one.name]:
            raise InvalidInput(
                f"{one.place}: {one.name} cannot be set here",
                hint=_ELSEWHERE.get(
                    one.name,
                    f"It applies to the whole database: `pgrecall config set {one.name} VALUE`.",
                ),
            )
        chosen[one.name] = one
    return chosen
