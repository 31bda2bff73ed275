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


@pytest.mark.usefixtures("filled")
def test_a_page_that_is_not_there_is_told_from_a_namespace_that_is_not(
    cli: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    of_me = cli("page", "show", "about-user", "-n", "me")
    assert (of_me.code, of_me.err) == (1, "there is no page about-user\n")
    missing = cli("page", "show", "about-user", "-n", "nope")
    assert (missing.code, 'error: there is no namespace "nope"' in missing.err) == (1, True)
    assert "hint: `pgrecall namespace list`" in missing.err
    monkeypatch.setenv("PGRECALL_NAMESPACE", "nope")
    assert "there is no namespace" in cli("page", "show", "about-user").err
