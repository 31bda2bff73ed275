"""`pgrecall explain`: what it prints for a person, and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall.cli import main
from support.memories import call, remember

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg


@pytest.fixture
def explain(
    dsn: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Run the command in this process against the test's own database, and return what it printed."""
    monkeypatch.setenv("PGRECALL_DSN", dsn)

    def run(*arguments: str) -> str:
        with pytest.raises(SystemExit) as caught:
            main(["explain", *arguments, "--no-embed"])
        captured = capsys.readouterr()
        assert caught.value.code in {None, 0}, captured.err
        return captured.out or captured.err

    return run


def test_a_block_a_memory(conn: psycopg.Connection[Any], explain: Callable[..., str]) -> None:
    first = remember(
        conn,
        "tea with Priya, green tea",
        title="tea",
        tags=["Priya"],
        importance=0.5,
        session="s",
        position=1,
    )
    second = remember(conn, "she brought cups", session="s", position=2)
    settings = ("importance_weight=0.2", "cc_alpha=0.6", "graph_weight=1.2", "entity_boost=1.5")
    chosen = [word for setting in settings for word in ("--set", setting)]
    first_block, second_block = explain("tea with Priya", *chosen).strip().split("\n\n")
    lines = first_block.splitlines()
    score = lines[0].removeprefix(f"1. memory {first}, score ")
    assert lines[1] == "   tea: tea with Priya, green tea"
    assert lines[2].split()[:4] == ["lexical", "rank", "1", "score"]
    assert lines[2].split()[5:] == ["weight", "0.4", "adds", "1.0000"]
    assert lines[3] == "   dense      not used"
    assert lines[-1].startswith("   (lexical 1) * ")
    assert float(lines[-1].rsplit(" = ", 1)[1]) == pytest.approx(float(score), abs=1e-4)
    assert "   times      importance 0.9000, named concept 1.5000" in lines
    assert any(line.split()[:2] == ["neighbours", "adds"] for line in second_block.splitlines())
    assert second_block.startswith(f"2. memory {second}, score ")


def test_what_speaks_for_and_against(conn: psycopg.Connection[Any], explain: Callable[..., str]) -> None:
    remember(conn, "The production database runs PostgreSQL 17.2")
    remember(conn, "We meet the landlord on Tuesday")
    *_, line, arithmetic = explain("PostgreSQL 16.4", "-k", "1").strip().splitlines()
    assert arithmetic.startswith("   lexical ")
    assert line.startswith("   confidence 0.1865 (for: ")
    told, against = line.split("; ")
    assert [part.split()[0] for part in told.split("(for: ")[1].split(", ")] == ["share", "evidence", "lead"]
    assert against == "against: contradiction 4.00, base 5.60)"
    shown = explain("PostgreSQL 16.4", "-k", "1", "--json")
    assert json.loads(shown)[0]["confidence_parts"]["contradiction"] == -4


def test_why_a_memory_is_not_there(conn: psycopg.Connection[Any], explain: Callable[..., str]) -> None:
    found = remember(conn, "green tea")
    bicycle = remember(conn, "a bicycle")
    other = remember(conn, "tea of theirs", namespace="them", create_namespace=True)
    gone = remember(conn, "cold tea")
    call(conn, "forget", gone)
    printed = explain("tea", *(f"--id={number}" for number in (bicycle, other, gone)))
    blocks = printed.strip().split("\n\n")
    assert blocks[0].splitlines()[:3] == [
        f"memory {bicycle} is not returned: found by no leg: it holds no query word; no vector was given; "
        "no concept links to it",
        "   a bicycle",
        "   it would score 0.0000",
    ]
    assert blocks[1] == f"memory {other} is not returned: in another namespace"
    assert blocks[2].splitlines()[0] == f"memory {gone} is not returned: forgotten"
    assert "cold" not in printed
    remember(conn, "tea tea")
    cut = explain("tea", f"--id={found}", "-k", "1").splitlines()
    assert cut[0].startswith(
        f"memory {found} is not returned: below the cut: place 2, the last returned has score "
    )
    assert cut[2].startswith("   its score is ")


def test_the_terminal_is_not_steered(conn: psycopg.Connection[Any], explain: Callable[..., str]) -> None:
    remember(conn, f"tea \x1b[31m {'and milk ' * 30}", title="a\ntitle")
    line = explain("tea").splitlines()[1]
    assert line.startswith("   a title: tea [31m and milk")
    assert line.endswith("…")
    assert len(line) < 100


def test_duplicates_and_diversity_are_told(
    conn: psycopg.Connection[Any], explain: Callable[..., str]
) -> None:
    first, second = remember(conn, "green tea"), remember(conn, "green tea")
    remember(conn, "tea and milk", occurred_at="2024-01-01")
    printed = explain("tea", "--set", "collapse_duplicates=on", "--set", "mmr_lambda=0.5")
    assert f"   hides      {second}" in printed.split("\n\n")[0].splitlines()
    assert "   MMR        subtracted 0." in printed.split("\n\n")[1]
    assert f"hidden behind duplicate {first}" in explain(
        "tea", f"--id={second}", "--set", "collapse_duplicates=on"
    )


def test_a_memory_without_an_embedding(conn: psycopg.Connection[Any], explain: Callable[..., str]) -> None:
    vector = str([1.0] * 384)
    near = remember(conn, "green tea")
    remember(conn, "a cup of black tea without any milk")
    conn.execute("UPDATE pgrecall.memories SET embedding = %s WHERE id = %s", (vector, near))
    from pgrecall import Client
    from pgrecall.cli.explain import block

    with Client(conn.info.dsn) as client:
        embedded, pending = client.explain("tea", vector=[1.0] * 384)
    assert "cosine 1.0000" in "\n".join(block(embedded))
    assert "no embedding: scored as average" in "\n".join(block(pending))


def test_json_and_nothing_found(conn: psycopg.Connection[Any], explain: Callable[..., str]) -> None:
    assert explain("tea").strip() == "nothing found"
    number = remember(conn, "tea", category="drink")
    (told,) = json.loads(explain("tea", "--json"))
    assert (told["id"], told["place"], told["reason"]) == (number, 1, None)
    assert told["settings_in_force"]["fusion"] == "cc"
    (told,) = json.loads(explain("tea", "--json", "--category", "food", "--id", str(number)))
    assert told["reason"] == "filtered by categories"
