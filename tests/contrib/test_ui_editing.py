"""The pages of the inspector that list, show and change memories, and forms that are not the inspector's."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from psycopg.conninfo import make_conninfo

from pgrecall import Client
from support.memories import call, remember, scalar, share, stored
from support.ui import PORT, inspecting, make_inspector

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg
    from starlette.testclient import TestClient

ACTIONS = ("edit", "supersede", "forget", "restore")


@pytest.fixture
def pages(dsn: str) -> Iterator[TestClient]:
    with inspecting(dsn) as client:
        yield client


def fields_of(page: str) -> dict[str, str]:
    """Return what a browser would post of the page's form."""
    [form] = re.findall(r'<form action="[^"]+" method="post".*?</form>', page, re.S)
    inputs = re.findall(r"<input ([^>]*)>", form)
    given = {}
    for one in inputs:
        attributes = dict(re.findall(r'([a-z]+)="([^"]*)"', one))
        if attributes["type"] != "checkbox" or " checked" in one:
            given[attributes["name"]] = html.unescape(attributes["value"])
    for name, text in re.findall(r'<textarea id="[^"]+" name="([^"]+)"[^>]*>\n(.*?)</textarea>', form, re.S):
        given[name] = html.unescape(text).replace("\n", "\r\n")
    return given


def form(pages: TestClient, path: str) -> dict[str, str]:
    answer = pages.get(path)
    assert answer.status_code == 200, answer.text
    return fields_of(answer.text)


def listed(pages: TestClient, **query: Any) -> list[int]:
    answer = pages.get("/memories", params=query)
    assert answer.status_code == 200, answer.text
    return [int(number) for number in re.findall(r'<h3 id="memory-(\d+)"', answer.text)]


# -- listing


def test_the_newest_come_first_everywhere(pages: TestClient, conn: psycopg.Connection[Any]) -> None:
    assert "There is no memory yet" in pages.get("/").text
    ids = [remember(conn, f"quokka {number}", session=f"walk {number % 2}") for number in range(30)]
    assert re.findall(r'<h3 id="memory-(\d+)"', pages.get("/").text) == [str(one) for one in ids[:-11:-1]]
    assert listed(pages) == ids[:-26:-1]
    first = pages.get("/memories").text
    [after] = re.findall(r'href="([^"]+)" rel="next"', first)
    second = pages.get(html.unescape(after)).text
    assert re.findall(r'<h3 id="memory-(\d+)"', second) == [str(one) for one in ids[4::-1]]
    assert 'rel="next"' not in second
    assert "First page" in second
    assert listed(pages, order="oldest") == ids[:25]


def test_what_the_list_is_held_to(pages: TestClient, conn: psycopg.Connection[Any]) -> None:
    kept = remember(
        conn, "quokka in the burrow", speaker="Priya", session="walk & talk", category="animal", tags=["burrow"],
        source="diary", occurred_at="2026-03-05",
    )  # fmt: skip
    old = remember(conn, "quokka in the tree", occurred_at="2026-05-17")
    new = call(conn, "supersede", old, "quokka on the rock")
    gone = remember(conn, "quokka gone")
    call(conn, "forget", gone)
    secret = remember(conn, "quokka secret", is_sensitive=True)
    other = remember(conn, "quokka elsewhere", namespace="other", create_namespace=True)
    for filters in (
        {"speaker": "Priya"},
        {"session": "walk & talk"},
        {"category": "animal"},
        {"tag": "burrow"},
        {"source": "diary"},
        {"until": "2026-05-01"},
    ):
        assert listed(pages, **filters) == [kept]
    assert set(listed(pages)) == {kept, new}
    assert set(listed(pages, state="superseded")) == {kept, old, new}
    assert listed(pages, state="forgotten") == [gone]
    assert listed(pages, namespace="other") == [other]
    assert (
        "There is no namespace of this name" in pages.get("/memories", params={"namespace": "nowhere"}).text
    )
    assert '<option value="other">' in pages.get("/memories").text
    for wrong in ({"since": "yesterday"}, {"after": "one"}, {"after": "999999"}):
        answer = pages.get("/memories", params=wrong)
        assert answer.status_code in (400, 404)
        assert 'role="alert"' in answer.text
    assert secret not in listed(pages, state="superseded")


def test_a_memory_shows_everything_it_holds(pages: TestClient, conn: psycopg.Connection[Any]) -> None:
    number = remember(
        conn,
        "quokka <b>in</b> the tree",
        title="Quokka",
        speaker="Priya",
        metadata={"user": "<i>"},
        tags=["a&b"],
    )
    call(conn, "update_memory", number, content="quokka in the burrow", importance=0.9)
    new = call(conn, "supersede", number, "quokka on the rock")
    page = pages.get(f"/memories/{number}").text
    for shown in (
        "quokka in the burrow",
        "quokka &lt;b&gt;in&lt;/b&gt; the tree",
        "{&#34;user&#34;: &#34;&lt;i&gt;&#34;}",
        "content, importance",
        f'<a href="/memories/{new}">memory {new}</a>',
        "not yet",
        "a&amp;b",
        "0.90",
    ):
        assert shown in page, shown
    assert f"/memories/{number}/supersede" not in page  # it is superseded
    assert "0 passages" not in page


# -- changing


def test_a_form_that_changes_nothing(pages: TestClient, conn: psycopg.Connection[Any]) -> None:
    number = remember(
        conn, "\n  two\nlines\r\nand a third ", title="'Quoted' \"title\"", tags=["a,b", "c"], speaker="Priya",
        importance=0.3, occurred_at="2026-03-05T10:00:00+01:00", valid_to="2030-01-01", metadata={"a": 1},
    )  # fmt: skip
    before = stored(conn, number)
    answer = pages.post(f"/memories/{number}/edit", data=form(pages, f"/memories/{number}/edit"))
    assert answer.url.path == f"/memories/{number}"
    assert stored(conn, number) == before


def test_a_memory_is_edited(pages: TestClient, conn: psycopg.Connection[Any]) -> None:
    number = remember(conn, "quokka", title="Old", speaker="Priya", valid_to="2030-01-01", tags=["x"])
    given = form(pages, f"/memories/{number}/edit") | {
        "content": "a quokka\r\nin two lines", "title": "", "tags": "burrow\r\n\r\n tree ", "importance": "0.9",
        "valid_to": "", "occurred_at": "2026-05-17",
    }  # fmt: skip
    answer = pages.post(f"/memories/{number}/edit", data=given)
    assert answer.history[0].status_code == 303  # loading the page again posts nothing
    assert "The change is stored" in answer.text
    now = stored(conn, number)
    assert (now["content"], now["title"], now["tags"], now["speaker"]) == (
        "a quokka\nin two lines",
        None,
        ["burrow", "tree"],
        "Priya",
    )
    assert (now["importance"], now["valid_to"]) == (pytest.approx(0.9), None)
    with Client(conn.info.dsn) as client:
        assert client.history(number)[-1].action == "update"


def test_a_refused_edit_keeps_what_was_written(pages: TestClient, conn: psycopg.Connection[Any]) -> None:
    number = remember(conn, "quokka", occurred_at="2026-05-17")
    path = f"/memories/{number}/edit"
    for wrong in (
        {"content": " "},
        {"importance": "much"},
        {"importance": "7"},
        {"occurred_at": "yesterday"},
        {"occurred_at": ""},
        {"content": "x" * 300_000},
    ):
        answer = pages.post(path, data=form(pages, path) | {"title": "a careful title"} | wrong)
        assert answer.status_code == 400, wrong
        assert 'role="alert"' in answer.text
        assert fields_of(answer.text)["title"] == "a careful title"
    assert stored(conn, number)["title"] is None


def test_an_edit_of_what_was_changed_meanwhile_is_asked_again(
    pages: TestClient, conn: psycopg.Connection[Any]
) -> None:
    number = remember(conn, "quokka")
    path = f"/memories/{number}/edit"
    given = form(pages, path)
    call(conn, "update_memory", number, content="quokka of an agent")
    answer = pages.post(path, data=given | {"content": "quokka of mine"})
    assert answer.status_code == 409
    assert stored(conn, number)["content"] == "quokka of an agent"
    again = fields_of(answer.text)
    assert again["content"] == "quokka of mine"
    assert pages.post(path, data=again).status_code == 200
    assert stored(conn, number)["content"] == "quokka of mine"


def test_a_memory_is_superseded(pages: TestClient, conn: psycopg.Connection[Any]) -> None:
    number = remember(conn, "quokka in the tree")
    path = f"/memories/{number}/supersede"
    given = form(pages, path)
    assert given["content"] == "quokka in the tree"
    answer = pages.post(path, data=given | {"content": "quokka in the burrow", "occurred_at": "2026-05-17"})
    assert "This memory holds now" in answer.text
    new = stored(conn, number)["superseded_by"]
    assert answer.url.path == f"/memories/{new}"
    for wrong, status in (
        ({"content": "again"}, 400),
        ({"successor": "one"}, 400),
        ({"successor": "999999"}, 400),
    ):
        assert pages.post(path, data=given | wrong).status_code in (status, 404)
    third = remember(conn, "quokka on the rock")
    pages.post(
        f"/memories/{new}/supersede", data=form(pages, f"/memories/{new}/supersede") | {"successor": third}
    )
    assert stored(conn, new)["superseded_by"] == third


def test_a_memory_is_forgotten_and_restored(pages: TestClient, conn: psycopg.Connection[Any]) -> None:
    number = remember(conn, "quokka")
    answer = pages.post(f"/memories/{number}/forget", data=form(pages, f"/memories/{number}/forget"))
    assert "The memory is forgotten" in answer.text
    assert stored(conn, number)["deleted_at"] is not None
    assert (listed(pages), listed(pages, state="forgotten")) == ([], [number])
    answer = pages.post(f"/memories/{number}/restore", data=form(pages, f"/memories/{number}/restore"))
    assert "The memory is back" in answer.text
    assert listed(pages) == [number]


def test_a_memory_becomes_sensitive(pages: TestClient, dsn: str, conn: psycopg.Connection[Any]) -> None:
    number = remember(conn, "quokka secret")
    path = f"/memories/{number}/edit"
    answer = pages.post(path, data=form(pages, path) | {"is_sensitive": "on"})
    assert answer.url.path == "/memories"
    assert stored(conn, number)["is_sensitive"] is True
    assert pages.get(f"/memories/{number}").status_code == 404
    with inspecting(dsn, include_sensitive=True) as all_pages:
        assert "quokka secret" in all_pages.get(f"/memories/{number}").text
        given = form(all_pages, path)
        assert given.pop("is_sensitive") == "on"
        all_pages.post(path, data=given | {"content": "quokka for all"})
    assert stored(conn, number)["is_sensitive"] is False
    # What it was while it was sensitive stays hidden.
    page = pages.get(f"/memories/{number}").text
    assert "quokka for all" in page
    assert "secret" not in page


def test_a_long_memory_is_edited_and_shows_its_passages(
    pages: TestClient, conn: psycopg.Connection[Any]
) -> None:
    text = "".join(f"Sentence {number} tells of a quokka in a tree by the sea.\n" for number in range(4000))
    number = remember(conn, text)
    path = f"/memories/{number}/edit"
    pages.post(path, data=form(pages, path) | {"content": "Новый " + text})
    assert stored(conn, number)["content"] == "Новый " + text
    conn.execute(
        "INSERT INTO pgrecall.passages (memory_id, namespace_id, generation_id, number, starts_at, ends_at, embedding)"
        " SELECT m.id, m.namespace_id, pgrecall.active_generation(), 1, 6, 15, %s FROM pgrecall.memories m WHERE m.id = %s",
        [str([0.1] * 384), number],
    )
    page = pages.get(f"/memories/{number}").text
    assert "1 passages" in page
    assert "Sentence " in page.partition("1 passages")[2]


# -- what is not the inspector's, and rights


@pytest.mark.parametrize("token", [None, "", "guess", "ключ"])
def test_a_forged_form_changes_nothing(
    pages: TestClient, conn: psycopg.Connection[Any], token: str | None
) -> None:
    number = remember(conn, "quokka")
    before = stored(conn, number)
    given = {"content": "wombat", "seen": "", **({} if token is None else {"form_token": token})}
    for action in ACTIONS:
        assert pages.post(f"/memories/{number}/{action}", data=given).status_code == 403
    assert stored(conn, number) == before


def test_forms_of_elsewhere_change_nothing(pages: TestClient, conn: psycopg.Connection[Any]) -> None:
    number = remember(conn, "quokka")
    before = stored(conn, number)
    given = form(pages, f"/memories/{number}/edit") | {"content": "wombat"}
    for action in ACTIONS:
        path = f"/memories/{number}/{action}"
        for site in ("cross-site", "same-site", "none"):
            assert pages.post(path, data=given, headers={"Sec-Fetch-Site": site}).status_code == 403
        assert pages.post(path, json=given).status_code == 415
        assert pages.post(path, data=given | {"content": "x" * 1_200_000}).status_code == 413
        assert pages.get(path, params=given).status_code == 200  # it asks and does nothing
        assert pages.put(path, data=given).status_code == 405
        assert pages.post(path, data=given, headers={"Host": "evil.example"}).status_code == 400
    pages.cookies.clear()
    assert pages.post(f"/memories/{number}/forget", data=given).status_code == 403
    assert stored(conn, number) == before


def test_forged_ids_change_nothing(pages: TestClient, conn: psycopg.Connection[Any]) -> None:
    secret = remember(conn, "quokka secret", is_sensitive=True)
    plain = remember(conn, "quokka")
    before = stored(conn, secret)
    given = form(pages, f"/memories/{plain}/edit") | {"content": "wombat"}
    for id in (str(secret), "999999", "0", "-1", str(2**70)):
        assert pages.get(f"/memories/{id}").status_code == 404
        for action in ACTIONS:
            assert pages.get(f"/memories/{id}/{action}").status_code == 404
            assert pages.post(f"/memories/{id}/{action}", data=given).status_code == 404
    for id in ("one", "1;", quote("1/../2", safe=""), "%00"):
        assert pages.get(f"/memories/{id}").status_code in (400, 404)
        assert pages.post(f"/memories/{id}/forget", data=given).status_code in (400, 404)
    assert stored(conn, secret) == before


def test_an_inspector_that_only_reads_has_no_forms(dsn: str, conn: psycopg.Connection[Any]) -> None:
    number = remember(conn, "quokka")
    client, keys = make_inspector(dsn, read_only=True)
    with client:
        client.get("/", params={"token": keys.token})
        page = client.get(f"/memories/{number}").text
        assert "quokka" in page
        for action in ACTIONS:
            path = f"/memories/{number}/{action}"
            assert path not in page
            assert client.get(path).status_code == 404
            assert client.post(path, data={"form_token": keys.form_token}).status_code == 404
    assert scalar(conn, "SELECT count(*) FROM pgrecall.memory_changes") == 0


def test_a_role_that_may_only_read_changes_nothing(dsn: str, conn: psycopg.Connection[Any]) -> None:
    number = remember(conn, "quokka")
    hidden = remember(conn, "quokka elsewhere", namespace="other", create_namespace=True)
    share(conn, "default", "read")
    before = stored(conn, number)
    with inspecting(make_conninfo(dsn, options="-c role=pgrecall_reader")) as client:
        page = client.get(f"/memories/{number}").text
        assert "quokka" in page
        assert client.get(f"/memories/{hidden}").status_code == 404
        given = form(client, f"/memories/{number}/edit") | {"content": "wombat"}
        for action in ACTIONS:
            assert f"/memories/{number}/{action}" not in page
            assert client.post(f"/memories/{number}/{action}", data=given).status_code in (403, 404)
    assert stored(conn, number) == before


def test_pages_of_a_host_keep_to_its_names(dsn: str) -> None:
    client, _ = make_inspector(dsn)
    with client:
        for host in ("127.0.0.1", "localhost", f"localhost:{PORT}"):
            assert client.get("/", headers={"Host": host}).status_code == 403  # no token
        assert client.get("/", headers={"Host": "inspector.example"}).status_code == 400


# -- messages


def test_a_page_that_is_not_there_promises_nothing(pages: TestClient) -> None:
    for path in ("/nowhere", "/memories/x/y", "/static/none.css"):
        answer = pages.get(path)
        assert answer.status_code == 404
        assert "only reads" not in answer.text
        assert "Reload" not in answer.text
        assert 'href="/memories"' in answer.text


def test_a_wrong_setting_is_said_before_the_form(pages: TestClient) -> None:
    for name, value in (("set.rrf_k", "-5"), ("set.fusion", "magic"), ("set.lexical_weight", "many")):
        said = pages.get("/", params={"q": "tea", name: value}).text
        assert 0 < said.index('role="alert"') < said.index("<form")


def test_an_empty_namespace_links_to_those_with_memories(
    pages: TestClient, conn: psycopg.Connection[Any]
) -> None:
    for name in ("cust", "other & co"):
        remember(conn, "quokka", namespace=name, create_namespace=True)
    said = pages.get("/").text
    assert "There is no memory in this namespace" in said
    assert 'href="/?namespace=cust"' in said
    assert 'href="/?namespace=other+%26+co"' in said
    remember(conn, "quokka")
    assert "Namespaces with memories" not in pages.get("/").text


def test_confidence_is_shown_and_a_low_one_said(pages: TestClient, conn: psycopg.Connection[Any]) -> None:
    for number in range(12):
        remember(conn, f"Priya saw quokka {number} by the lake")
    said = pages.get("/", params={"q": "quokka 3"}).text
    assert "<span>confidence</span>" in said
    low = pages.get("/", params={"q": "who repaired the lake bridge in Kathmandu yesterday"}).text
    assert "probably none answers the question" in low
