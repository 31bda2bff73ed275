"""The database's settings as this user gives them: by the environment, else by the settings file.

They hold for the client's own calls, as if SET LOCAL came before each. Which settings there are, Python does
not know: the database lists them, and what is asked for is compared with its list at the first connection.
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

# Variables of the daemon, the tests, the benchmarks, the reranker, the MCP server and the expander: whatever
# the database may call its settings, these never go to it. Some hold secrets.
_RESERVED = ("embedder_", "test_", "bench_", "rerank_", "mcp_", "expand_")
_ELSEWHERE = {
    "namespace": "It goes above [settings], beside dsn.",
    "embedding_model": "Choose it with `pgrecall migrate --model`, another by `pgrecall reembed --model`.",
    "query_model": "It follows from the model that queries are embedded with: `model`, above [settings].",
}


@dataclass(frozen=True, slots=True)
class RequestedSetting:
    """One setting of the database that environment or file asks for.

    Attributes:
        name: Its short name, such as 'rrf_k'.
        value: As SET takes it.
        source: Where it comes from, as `pgrecall config` shows it.
        place: The same, with the line of the file.
        may_be_foreign: True where the name may belong to something else: then an unknown one is left alone.
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
    """Collect what may be settings of the database, the stronger after the weaker."""
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
    """Return by name what the database has a setting for.

    Args:
        given: What was asked for.
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
                    f"It holds for the whole database: `pgrecall config set {one.name} VALUE`.",
                ),
            )
        chosen[one.name] = one
    return chosen
