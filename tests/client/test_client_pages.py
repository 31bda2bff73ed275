"""Pages through the client, synchronous and asynchronous, and through the command line."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall import AsyncClient
from pgrecall.cli import main
from pgrecall.errors import InvalidInput, UnknownNamespace
from support.memories import call, remember

if TYPE_CHECKING:
    from psycopg import Connection

    from pgrecall import Client


def test_a_page_is_made_read_listed_and_dropped(client: Client, conn: Connection[Any]) -> None:
    one = remember(conn, "I prefer tea to coffee", occurred_at="2026-03-01T12:00:00+00:00")
    client.pages.set("about-user", "tea", budget=500, unit="tokens", sections=["preferences", "facts"])
    page = client.pages.get("about-user")
    assert page is not None
    assert (page.name, page.question, page.stale_since) == ("about-user", "tea", None)
    [line] = page.lines
    assert (line.section, line.text, line.memory_ids) == ("preferences", "I prefer tea to coffee", (one,))
    assert line.said_at.isoformat().startswith("2026-03-01")
    assert json.loads(json.dumps(page.as_dict()))["lines"][0]["memory_ids"] == [one]
    [info] = client.pages.list()
    assert (info.name, info.sections, info.budget, info.unit, info.lines) == (
        "about-user",
        ("preferences", "facts"),
        500,
        "tokens",
        1,
    )
    assert info.as_dict()["sections"] == ["preferences", "facts"]
    call(conn, "forget", one)
    page = client.pages.get("about-user")
    assert page is not None
    assert page.lines == ()
    assert page.stale_since is not None
    assert client.pages.drop("about-user") is True
    assert client.pages.drop("about-user") is False
    assert client.pages.get("about-user") is None


def test_default_pages_and_what_is_refused(client: Client) -> None:
    client.remember("We went to the sea")
    client.pages.set_defaults()
    assert [one.name for one in client.pages.list()] == ["about-user", "recent"]
    with pytest.raises(InvalidInput):
        client.pages.set("About User")
    with pytest.raises(UnknownNamespace):
        client.pages.set_defaults(namespace="nowhere")
    assert client.pages.get("about-user", namespace="nowhere") is None


def test_the_asynchronous_client_has_pages(dsn: str) -> None:
    async def use() -> list[str]:
        async with AsyncClient(dsn) as client:
            await client.remember("We went to the sea")
            await client.pages.set_defaults()
            page = await client.pages.get("recent")
            assert page is not None
            assert await client.pages.drop("recent")
            return [line.text for line in page.lines]

    assert asyncio.run(use()) == ["We went to the sea"]


def run(capsys: pytest.CaptureFixture[str], dsn: str, *arguments: str) -> tuple[int, str, str]:
    """The exit code of `pgrecall page …`, and what it printed."""
    with pytest.raises(SystemExit) as ended:
        main(["page", *arguments, "--dsn", dsn])
    captured = capsys.readouterr()
    return int(ended.value.code or 0), captured.out, captured.err


def test_the_command_line(conn: Connection[Any], dsn: str, capsys: pytest.CaptureFixture[str]) -> None:
    one = remember(conn, "I prefer tea to coffee")
    two = remember(conn, "We went to the sea")
    assert run(capsys, dsn, "set") == (0, "", "")
    assert (
        run(capsys, dsn, "set", "sea", "--question", "the sea", "--budget", "300", "--section", "recent")[0]
        == 0
    )
    code, out, _ = run(capsys, dsn, "show", "about-user")
    assert (code, out) == (
        0,
        f"preferences:\n  [agent] I prefer tea to coffee [{one}]\nrecent:\n  [agent] We went to the sea [{two}]\n",
    )
    assert json.loads(run(capsys, dsn, "show", "sea", "--json")[1])["lines"][0]["memory_ids"] == [two]
    listed = run(capsys, dsn, "list")[1]
    assert "sea: the sea (1 line, 300 characters)" in listed
    assert [page["name"] for page in json.loads(run(capsys, dsn, "list", "--json")[1])] == [
        "about-user",
        "recent",
        "sea",
    ]
    call(conn, "forget", two)
    code, out, err = run(capsys, dsn, "show", "sea")
    assert (code, out) == (0, "")
    assert "behind since" in err
    assert "behind since" in run(capsys, dsn, "list")[1]
    assert run(capsys, dsn, "drop", "sea") == (0, "", "")
    for command in ("drop", "show"):
        code, out, err = run(capsys, dsn, command, "sea")
        assert (code, out) == (1, "")
        assert "there is no page sea" in err
