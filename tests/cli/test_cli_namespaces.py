"""Several namespaces at once on the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from support.memories import remember

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg import Connection

    from support.command import Outcome

BOTH = ["me", "team"]


@pytest.fixture
def filled(conn: Connection[Any]) -> None:
    for name in (*BOTH, "other"):
        remember(conn, f"the boat of {name}", namespace=name, create_namespace=True)


@pytest.mark.usefixtures("filled")
def test_on_the_command_line(cli: Callable[..., Outcome]) -> None:
    options = ("-n", "me", "-n", "team")
    outcome = cli("recall", "boat", *options, "--no-embed", "--json")
    rows: list[dict[str, Any]] = json.loads(outcome.out)
    assert {row["namespace_name"] for row in rows} == set(BOTH)
    shown = cli("recall", "boat", *options, "--no-embed", "--namespace-weight", "me=0.1").out
    assert "namespace" in shown
    assert shown.index("the boat of team") < shown.index("the boat of me")
    assert (
        "namespace 0.1" in cli("explain", "boat", *options, "--no-embed", "--namespace-weight", "me=0.1").out
    )
    for command in (("timeline", "boat", "--no-embed"), ("briefing", "boat", "--no-embed"), ("list",)):
        out = cli(*command, *options).out
        assert "the boat of me" in out
        assert "the boat of team" in out
        assert "other" not in out
    assert cli("count", *options).out.strip().startswith("2")
    assert cli("recall", "boat", *options, "--namespace-weight", "me=heavy").code == 2
    assert cli("recall", "boat", *options, "--namespace-weight", "me").code == 2
    assert "namespace" not in cli("recall", "boat", "-n", "me", "--no-embed").out
