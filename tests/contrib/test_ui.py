"""What the pages of the inspector say, in this process, against a real database."""

from __future__ import annotations

import html
import re
import threading
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgrecall.admin.migrate import migrate
from pgrecall.server import EmbeddedServer
from support.facts import fact, told
from support.memories import embed, remember, share
from support.operations import beat, fail_for_good
from support.ui import import_sample, inspecting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from starlette.testclient import TestClient

# What the pages say does not depend on the server's version.
HOUND = "Which thing frightens our hound?"
CANARY = "xyzzy-canary-4711"


@pytest.fixture(scope="module")
def sample(new_database: Callable[..., str], template: str) -> str:
    dsn = new_database(template)
    import_sample(dsn)
    return dsn


@pytest.fixture(scope="module")
def pages(sample: str) -> Iterator[TestClient]:
    """The inspector of the sample, which no test changes."""
    with inspecting(sample) as client:
        yield client


@pytest.fixture
def own(dsn: str) -> Iterator[TestClient]:
    """An inspector of the test's own database."""
    with inspecting(dsn) as client:
        yield client


def text(answer: Any) -> str:
    """What a page says, without its tags and its head."""
    body = re.sub(r"(?s)^.*?<main|<script.*?</script>", "<main", answer.text)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


def hits(answer: Any) -> list[int]:
    """The memories that a page lists, in order."""
    return [int(number) for number in re.findall(r'<h3 id="hit-(\d+)"', answer.text)]


def problem(answer: Any) -> str:
    """The part of a page that says what went wrong."""
    [found] = re.findall(r'(?s)role="alert">(.*?)</div>', answer.text)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", found)).split())


# -- search


def test_a_search_tells_ranks_scores_and_legs(pages: TestClient) -> None:
    answer = pages.get("/", params={"q": "Who is Lotte's best friend?", "k": "3"})
    assert answer.status_code == 200
    assert len(hits(answer)) == 3
    said = text(answer)
    assert "legs that took part: lexical, graph, strategy hybrid" in said
    assert "no embedder is alive: recalled by words and concepts only" in said
    assert re.search(r"lexical #1 \d+\.\d{3} dense – graph", said)
    assert 'class="lexical" x="0.0"' in answer.text  # a bar of what the words add
    assert 'value="Who is Lotte&#39;s best friend?"' in answer.text
    assert "<title>Who is Lotte" in answer.text


def test_an_embedder_embeds_the_question(dsn: str, own: TestClient) -> None:
    question = "which pet is that?"
    with psycopg.connect(dsn, autocommit=True) as conn:
        number = remember(conn, "The cat sleeps.")
        embed(conn, number)
        remember(conn, "Ana drinks green tea.")
        beat(conn, generations=[1])
        # What an embedder does, in one go: the page finds it answered.
        conn.execute("SELECT pgrecall.request_query_embedding(%s)", [question])
        [(asked, _)] = conn.execute("SELECT * FROM pgrecall.claim_query_embeddings(1)").fetchall()
        conn.execute(
            "SELECT pgrecall.complete_query_embeddings(%s, %s, '{NULL}')", ([asked], [str([0.5] * 384)])
        )
    answer = own.get("/", params={"q": question})
    assert hits(answer) == [number]
    said = text(answer)
    assert re.search(r"legs that took part: .*dense", said), said
    assert re.search(r"dense #1 1\.000", said)
    assert "words and concepts only" not in said
    assert "cosine" in text(own.get("/explain", params={"q": question, "id": str(number)}))


def test_filters_and_settings_of_the_address_count(pages: TestClient) -> None:
    def found(**given: str) -> list[int]:
        answer = pages.get("/", params={"q": "Lotte", "k": "50", **given})
        assert answer.status_code == 200, problem(answer)
        return hits(answer)

    every = found()
    assert found(timeframe="2024") != every
    assert len(found(as_of="2020-01-01")) < len(every)
    assert found(superseded="on") != []
    assert found(**{"set.min_score": "0.9"}) != every
    assert found(**{"set.sort_by": "recency"}) != every
    assert found(namespace="nowhere") == []
    answer = pages.get("/", params={"q": "Lotte", "namespace": "nowhere"})
    assert "There is no namespace of this name" in text(answer)
    answer = pages.get("/", params={"q": "Lotte", "set.fusion": "rrf", "set.rrf_k": "7"})
    assert "<option selected>rrf</option>" in answer.text
    assert 'name="set.rrf_k" type="text" value="7"' in answer.text
    assert "(2 given)" in text(answer)


def test_what_no_longer_holds_comes_only_when_asked_for(dsn: str, own: TestClient) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        old = remember(conn, "Priya lives in Oslo")
        conn.execute("SELECT supersede(%s, 'Priya lives in Goa')", [old])
    assert old not in hits(own.get("/", params={"q": "Priya lives"}))
    assert old in hits(own.get("/", params={"q": "Priya lives", "superseded": "on"}))


def test_empty_fields_leave_the_address(pages: TestClient) -> None:
    answer = pages.get("/?q=Lotte&k=&namespace=&set.rrf_k=&set.fusion=rrf", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/?q=Lotte&set.fusion=rrf")
    assert pages.get("/?q=", follow_redirects=False).headers["location"] == "/"
    assert pages.get("/?q=%20%20").status_code == 200


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("q=x&k=ten", "not a whole number Write 1 to 1000."),
        ("q=x&k=0", "It accepts a whole number between 1 and 1000"),
        ("q=x&k=99999999999", "out of range"),
        ("q=a%00b", "contains a NUL character"),
        ("q=x&as_of=yesterday", "not an ISO 8601 time"),
        ("q=x&set.rrf_k=many", "It accepts a number between 1 and 10000"),
        ("q=x&set.rrf_kk=5", "no such setting for a call Did you mean rrf_k?"),
        ("q=x&set.transaction_read_only=off", "no such setting"),
        ("q=x&set.extract_llm=on", "no such setting"),
        (f"q={'x' * 17_000}", "16384 is the limit"),
        ("q=x&namespace=a%00b", "contains a NUL character"),
    ],
)
def test_what_is_wrong_is_said_beside_the_form(pages: TestClient, query: str, said: str) -> None:
    answer = pages.get(f"/?{query}")
    assert answer.status_code == 400
    assert said in problem(answer)
    assert 'name="q"' in answer.text
    compared = pages.get(f"/compare?{query.replace('set.', 'b.')}")
    assert compared.status_code == 400
    assert said in problem(compared)


# -- explain


def test_an_explanation_adds_up(pages: TestClient) -> None:
    found = pages.get("/", params={"q": HOUND, "k": "4"})
    for place, number in enumerate(hits(found), 1):
        link = f"/explain?q=Which+thing+frightens+our+hound%3F&k=4&id={number}"
        assert html.escape(link) in found.text
        said = text(pages.get(link))
        assert f"Why memory {number} is number {place}" in said
        parts = re.search(r"at most [\d.]+\. (.*?) = ([\d.]+) Importance", said)
        assert parts is not None
        terms = [float(term) for term in re.findall(r"(\d\.\d{4})", parts[1])]
        assert sum(terms) == pytest.approx(float(parts[2]), abs=3e-4)
        assert f"= {parts[2]} Its place. number {place} by score" in said


def test_an_explanation_says_why_not(dsn: str, own: TestClient) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        old = remember(conn, "Priya lives in Oslo")
        new = int(conn.execute("SELECT supersede(%s, 'Priya lives in Goa')", [old]).fetchall()[0][0])
    said = text(own.get("/explain", params={"q": "Priya", "id": str(old)}))
    assert f"Why memory {old} does not come" in said
    assert f"superseded by {new}" in said
    assert "Priya lives in Oslo" in said
    assert "not returned" in said
    nobody = text(own.get("/explain", params={"q": "Priya", "id": "99"}))
    assert "Why memory 99 does not come" in nobody
    for query in ("q=x&id=one", "id=1", "q=x", f"q=x&id={'9' * 5000}", "q=x&id=1&set.nothing=1"):
        answer = own.get(f"/explain?{query}")
        assert answer.status_code == 400
        assert problem(answer)


# -- sensitive memories


def test_sensitive_memories_are_hidden_unless_asked_for(dsn: str, own: TestClient) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        number = remember(
            conn, f"the PIN is {CANARY}", title=f"{CANARY} title", is_sensitive=True, tags=["PIN"]
        )
    addresses = (
        "/?q=PIN",
        f"/explain?q=PIN&id={number}",
        "/compare?q=PIN",
        "/status",
        "/concepts",
        "/concepts?name=PIN",
    )
    for address in addresses:
        answer = own.get(address)
        assert answer.status_code == 200
        assert CANARY not in answer.text
        assert "--include-sensitive" not in answer.text
    with inspecting(dsn, include_sensitive=True) as everything:
        for address in addresses[:3]:
            answer = everything.get(address)
            assert CANARY in answer.text
            assert "--include-sensitive" in answer.text


# -- concepts


def test_one_walks_from_concept_to_concept(dsn: str, own: TestClient) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        memory = told(
            conn, "Priya works at Acme.", fact("Priya", "works at", "Acme", statement="Priya works at Acme.")
        )
        remember(conn, "the picnic", tags=["Priya", "Goa"])
    listed = own.get("/concepts")
    assert {"Priya", "Acme", "Goa"} <= set(re.findall(r"<bdi>(.*?)</bdi>", listed.text))
    assert "Goa" not in re.findall(r"<bdi>(.*?)</bdi>", own.get("/concepts?name=pri").text)
    found = own.get("/concepts?name=PRIYA", follow_redirects=False)
    assert found.status_code == 303
    said = own.get(found.headers["location"])
    assert f"memory {memory}" in text(said)
    assert "Priya works at Acme" in text(said)
    assert "the picnic" in text(said)
    [acme] = set(re.findall(r'<th scope="row"><a href="(/concepts/\d+)"><bdi>Acme', said.text))
    assert f'<a href="{acme}" aria-label="Acme">' in said.text  # and in the drawing
    there = own.get(acme)
    assert '<h1 dir="auto">Acme</h1>' in there.text
    assert found.headers["location"] in there.text
    assert "No concept has them in its name." in text(own.get("/concepts?name=nobody"))
    for number in ("0", "one", "9" * 30, "9" * 5000, "-1", "٣"):
        assert own.get(f"/concepts/{number}").status_code == 404


# -- status


def test_status_tells_what_waits_what_failed_and_who_works(dsn: str, own: TestClient) -> None:
    with psycopg.connect(dsn, autocommit=True) as conn:
        number = remember(conn, CANARY)
        remember(conn, "tea")
        fail_for_good(conn, number, "input_refused", error="BadRequestError")
        beat(conn, generations=[1], per_second=2.5)
    answer = own.get("/status")
    said = text(answer)
    assert answer.status_code == 200
    assert "2 memories 0 embedded 2 pending embeddings" in said
    assert "2 pending extractions 0 retrying 1 failed" in said
    assert "1 embedder at 2.5/s" in said
    assert f"{number} default input_refused BadRequestError" in said
    assert "host:17 alive" in said
    assert re.search(r"_idx (hnsw|gin|btree) [\d.]+ KiB valid", said)
    assert re.search(r"\bok pgvector\b", said)
    assert CANARY not in answer.text


def test_a_part_that_fails_says_so_in_its_place(dsn: str, conn: psycopg.Connection[Any]) -> None:
    share(conn)
    conn.execute("REVOKE EXECUTE ON FUNCTION pgrecall.health FROM pgrecall_reader")
    reader = make_conninfo(dsn, options="-c role=pgrecall_reader")
    with inspecting(reader) as pages:
        answer = pages.get("/status")
        assert answer.status_code == 200
        assert "permission denied" in problem(answer)
        assert "memories_embedding_idx" in answer.text


def test_a_role_sees_what_it_was_granted(dsn: str, conn: psycopg.Connection[Any]) -> None:
    number = remember(conn, f"tea {CANARY}", tags=["Priya"])
    with inspecting(make_conninfo(dsn, options="-c role=pgrecall_reader")) as pages:
        for address in (
            "/?q=tea",
            f"/explain?q=tea&id={number}",
            "/compare?q=tea",
            "/concepts",
            "/concepts?name=priya",
        ):
            answer = pages.get(address)
            assert answer.status_code == 200
            assert CANARY not in answer.text
            assert "Priya" not in answer.text
        assert pages.get("/concepts/1").status_code == 404
        share(conn)
        assert hits(pages.get("/?q=tea")) == [number]


# -- when the database does not answer


def test_every_call_has_a_time_limit(dsn: str, conn: psycopg.Connection[Any], own: TestClient) -> None:
    remember(conn, "tea")
    with inspecting(dsn, timeout=0.5) as hasty, conn.transaction():
        conn.execute("LOCK TABLE pgrecall.memories IN ACCESS EXCLUSIVE MODE")
        for address in ("/?q=tea", "/explain?q=tea&id=1", "/status"):
            answer = hasty.get(address)
            assert answer.status_code == (200 if address == "/status" else 504)
            assert "the call timed out" in answer.text
    assert len(hits(own.get("/?q=tea"))) == 1


@pytest.mark.slow
def test_a_server_that_stops_and_comes_back(public_dir: Path) -> None:
    server = EmbeddedServer(public_dir / "ui", settings={"fsync": "off", "shared_buffers": "32MB"})
    dsn = server.up()
    try:
        migrate(dsn)
        with psycopg.connect(dsn, autocommit=True) as conn:
            number = remember(conn, "tea")
        with inspecting(dsn, timeout=6.0) as pages:
            assert hits(pages.get("/?q=tea")) == [number]
            server.down()
            for address in ("/?q=tea", "/concepts", "/concepts/1", "/status", "/compare"):
                answer = pages.get(address)
                assert answer.status_code == 503, address
                assert "pgrecall up" in problem(answer)
            server.up()
            assert hits(pages.get("/?q=tea")) == [number]
    finally:
        server.down()


def test_a_database_without_pgrecall_and_one_that_is_migrated_later(new_database: Callable[..., str]) -> None:
    dsn = new_database()
    with inspecting(dsn) as pages:
        answer = pages.get("/")
        assert answer.status_code == 503
        assert "pgrecall migrate" in problem(answer)
        migrate(dsn)
        assert pages.get("/").status_code == 200
    with inspecting("host=/nonexistent") as pages:
        assert pages.get("/").status_code == 503


def test_many_pages_at_once(pages: TestClient) -> None:
    seen: list[int] = []

    def look() -> None:
        seen.append(pages.get("/", params={"q": HOUND}).status_code)

    threads = [threading.Thread(target=look) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [200] * 12
