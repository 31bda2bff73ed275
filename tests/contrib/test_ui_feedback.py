"""Feedback from the inspector: the two buttons, and forms that are not the inspector's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import make_conninfo

from support.memories import remember, scalar, share
from support.ui import inspecting, make_inspector

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg
    from starlette.testclient import TestClient

ASKED = "what does the quokka eat?"


@pytest.fixture
def pages(dsn: str, conn: psycopg.Connection[Any]) -> Iterator[TestClient]:
    remember(conn, "the quokka eats leaves")
    with inspecting(dsn) as client:
        yield client


def _opinions(conn: psycopg.Connection[Any]) -> list[tuple[int, bool]]:
    return conn.execute("SELECT memory_id, is_useful FROM pgrecall.judgements ORDER BY memory_id").fetchall()


def _fields(pages: TestClient) -> dict[str, str]:
    """The hidden fields of the first form that posts."""
    [form, *_] = re.findall(
        r'<form action="/feedback".*?</form>', pages.get("/", params={"q": ASKED}).text, re.S
    )
    return dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', form))


def test_the_buttons_record_an_opinion(pages: TestClient, conn: psycopg.Connection[Any]) -> None:
    fields = _fields(pages)
    number = int(fields["id"])
    answer = pages.post("/feedback", data={**fields, "useful": "yes"})
    assert answer.status_code == 200
    assert answer.history[0].status_code == 303  # loading the page again posts nothing
    assert fields["form_token"] not in str(answer.url)
    assert "Recorded" in answer.text
    assert _opinions(conn) == [(number, True)]
    pages.post("/feedback", data={**fields, "useful": "no"})
    assert _opinions(conn) == [(number, False)]
    assert scalar(conn, "SELECT query FROM pgrecall.judged_queries") == ASKED


@pytest.mark.parametrize("token", [None, "", "guess", "ключ"])
def test_a_form_without_the_token_changes_nothing(
    pages: TestClient, conn: psycopg.Connection[Any], token: str | None
) -> None:
    fields = _fields(pages)
    del fields["form_token"]
    forged = fields if token is None else {**fields, "form_token": token}
    assert pages.post("/feedback", data={**forged, "useful": "yes"}).status_code == 403
    assert _opinions(conn) == []


def test_what_else_is_no_form_of_the_inspector(pages: TestClient, conn: psycopg.Connection[Any]) -> None:
    fields = {**_fields(pages), "useful": "yes"}
    for site in ("cross-site", "same-site", "none"):
        assert pages.post("/feedback", data=fields, headers={"Sec-Fetch-Site": site}).status_code == 403
    assert pages.post("/feedback", json=fields).status_code == 415
    assert pages.post("/feedback", files={"q": b"x"}, data=fields).status_code == 415
    assert pages.post("/feedback", data={**fields, "q": "x" * 1_200_000}).status_code == 413
    assert pages.get("/feedback", params=fields).status_code == 405
    for wrong, status in (({"id": "999999"}, 404), ({"id": "one"}, 400), ({"namespace": "nowhere"}, 404)):
        assert pages.post("/feedback", data={**fields, **wrong}).status_code == status
    pages.cookies.clear()
    assert pages.post("/feedback", data=fields).status_code == 403
    assert _opinions(conn) == []


def test_a_read_only_inspector_takes_nothing(dsn: str, conn: psycopg.Connection[Any]) -> None:
    remember(conn, "the quokka eats leaves")
    client, keys = make_inspector(dsn, read_only=True)
    with client:
        client.get("/", params={"token": keys.token})
        page = client.get("/", params={"q": ASKED})
        assert "quokka eats" in page.text
        assert 'method="post"' not in page.text
        fields = {"q": ASKED, "id": "1", "useful": "yes", "form_token": keys.form_token}
        assert client.post("/feedback", data=fields).status_code in (404, 405)
    assert _opinions(conn) == []


def test_a_role_that_may_only_read_is_told_so(dsn: str, conn: psycopg.Connection[Any]) -> None:
    remember(conn, "the quokka eats leaves")
    share(conn, "default", "read")
    with inspecting(make_conninfo(dsn, options="-c role=pgrecall_reader")) as client:
        answer = client.post("/feedback", data={**_fields(client), "useful": "yes"})
        assert answer.status_code == 403
    assert _opinions(conn) == []
