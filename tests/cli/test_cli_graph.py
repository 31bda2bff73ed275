"""`pgrecall graph`: build, show, export, merge, split and rules against a real server."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from pgrecall.cli import main
from pgrecall.cli.graph_files import GraphRow, dot, graphml
from pgrecall.installing import install_command
from support.extractor import mentions_of, pending, read_all, store, texts, without_spacy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import psycopg

    Cli = Callable[..., tuple[int, str, str]]

NAMESPACE = "{http://graphml.graphdrawing.org/xmlns}"
HOSTILE = 'a"]; node [b="<c>&\\N\\"\r\n\x01]]>\ufffe'


@pytest.fixture
def cli(
    dsn: str,
    conn: psycopg.Connection[Any],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Cli:
    without_spacy(conn)
    monkeypatch.setenv("PGRECALL_DSN", dsn)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as caught:
            main(["graph", *arguments])
        captured = capsys.readouterr()
        return int(caught.value.code or 0), captured.out, captured.err

    return run


def test_build_reads_what_waits(cli: Cli, conn: psycopg.Connection[Any]) -> None:
    store(conn, texts(30))
    code, out, err = cli("build")
    assert (code, out) == (0, "read 30 memories\n"), err
    assert pending(conn) == 0
    assert cli("build")[1] == "read 0 memories\n"
    assert cli("build", "--backfill")[1] == "read 0 memories\n"
    assert cli("build", "--again")[1] == "read 30 memories\n"


def test_build_fills_what_another_version_read(cli: Cli, conn: psycopg.Connection[Any]) -> None:
    [memory] = store(conn, ["The zorblax is broken."])
    conn.execute("SELECT remember('The zorblax is mended.', namespace => 'other', create_namespace => true)")
    cli("build")
    assert "zorblax" not in mentions_of(conn, memory)
    code, out, _ = cli("rules", "GADGET", "--keyword", "zorblax", "--everywhere")
    assert (code, out) == (0, "GADGET: 1 keyword, 0 patterns, for memories read from now on\n")
    assert cli("build")[1] == "read 0 memories\n"
    assert cli("build", "--backfill", "--namespace", "default")[1] == "read 1 memory\n"
    assert "zorblax" in mentions_of(conn, memory)
    assert cli("build", "--backfill")[1] == "read 1 memory\n"


def test_build_says_what_could_not_be_read(cli: Cli, conn: psycopg.Connection[Any]) -> None:
    store(conn, texts(2))
    conn.execute("ALTER TABLE pgrecall.mentions ADD CHECK (source <> 'path')")
    code, out, err = cli("build")
    assert (code, out) == (0, "read 0 memories\n")
    assert "2 could not be read" in err


def test_build_without_the_embedder(dsn: str, conn: psycopg.Connection[Any]) -> None:
    store(conn, texts(2))
    script = (
        "import sys; sys.modules['structlog'] = None; from pgrecall.cli import main; "
        "main(['graph', 'build', *sys.argv[1:]])"
    )

    def build(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", script, *arguments],
            env=os.environ | {"PGRECALL_DSN": dsn},
            capture_output=True,
            text=True,
        )

    alone = build()
    assert alone.returncode == 1
    assert install_command("embedder", "nlp") in alone.stderr
    conn.execute("SELECT pgrecall.heartbeat(gen_random_uuid(), 'host', 1, 'hash', 'model', 0)")
    beside = build()
    assert (beside.returncode, beside.stdout) == (0, "the running embedder will read 2 memories\n"), (
        beside.stderr
    )


def test_rules_are_checked_before_they_are_stored(cli: Cli, conn: psycopg.Connection[Any]) -> None:
    code, _, err = cli("rules", "GADGET", "--pattern", "(open")
    assert code == 1
    assert "no regular expression" in err
    assert conn.execute("SELECT count(*) FROM pgrecall.entity_rules").fetchall() == [(0,)]
    assert cli("rules", "GADGET", "--pattern", "Z-[0-9]+", "--keyword", "zorblax")[0] == 0
    query = "SELECT n.name, r.keywords, r.patterns FROM pgrecall.entity_rules r JOIN pgrecall.namespaces n ON n.id = r.namespace_id"
    assert conn.execute(query).fetchall() == [("default", ["zorblax"], ["Z-[0-9]+"])]
    assert cli("rules", "GADGET")[0] == 0
    assert conn.execute("SELECT count(*) FROM pgrecall.entity_rules").fetchall() == [(0,)]


def test_show_prints_a_concept(cli: Cli, dsn: str, conn: psycopg.Connection[Any]) -> None:
    store(conn, ["Priya Raman wrote docs/a.md.", "Priya Raman wrote docs/b.md."])
    read_all(dsn)
    code, out, err = cli("show", "priya RAMAN")
    assert code == 0, err
    assert "Priya Raman" in out.splitlines()[0]
    assert "by 2 memories" in out
    assert "docs/a.md" in out
    found = json.loads(cli("show", "Priya Raman", "--json")[1])
    assert (found["name"], found["mentions"], found["aliases"]) == ("Priya Raman", 2, ["priya raman"])
    assert {one["name"] for one in found["neighbours"]} >= {"docs/a.md", "docs/b.md"}
    code, out, err = cli("show", "Nobody")
    assert (code, out) == (1, "")
    assert err.startswith('error: no concept is called "Nobody"')
    assert "there is no namespace" in cli("show", "Nobody", "--namespace", "nowhere")[2]


def test_merge_and_split(cli: Cli, dsn: str, conn: psycopg.Connection[Any]) -> None:
    store(conn, ["Priya Raman wrote docs/a.md.", "Pri Raman wrote docs/b.md."])
    read_all(dsn)
    code, out, err = cli("merge", "Pri Raman", "Priya Raman")
    assert code == 0, err
    found = re.search(r"split (\d+)", out)
    assert found is not None
    merged = json.loads(cli("show", "Pri Raman", "--json")[1])
    assert (merged["name"], merged["mentions"]) == ("Priya Raman", 2)
    assert cli("split", found[1]) == (0, "split: Pri Raman is a separate concept again\n", "")
    assert json.loads(cli("show", "Pri Raman", "--json")[1])["mentions"] == 1
    assert cli("split", found[1])[0] == 1


def test_export_is_graphml_that_a_parser_reads(
    cli: Cli, dsn: str, conn: psycopg.Connection[Any], tmp_path: Path
) -> None:
    store(conn, ["Priya Raman wrote docs/a.md.", "Priya Raman wrote docs/a.md again."])
    read_all(dsn)
    conn.execute("UPDATE pgrecall.concepts SET name = %s WHERE key = 'priya raman'", [HOSTILE])
    conn.execute(
        "INSERT INTO pgrecall.relationships "
        "(namespace_id, source_id, source_alias_id, target_id, target_alias_id, label, weight, valid_from) "
        "SELECT s.namespace_id, s.concept_id, s.id, t.concept_id, t.id, 'wrote <it>', 0.5, '2024-05-03Z' "
        "FROM pgrecall.concept_aliases s, pgrecall.concept_aliases t "
        "WHERE s.alias = 'priya raman' AND t.alias = 'docs a.md'"
    )
    out = tmp_path / "graph.xml"
    assert cli("export", "--format", "graphml", "--out", str(out))[:2] == (0, "")
    root = ElementTree.parse(out).getroot()  # noqa: S314 - of our own making
    nodes = {node.get("id"): _data(node) for node in root.iter(f"{NAMESPACE}node")}
    assert {node["name"] for node in nodes.values()} >= {
        HOSTILE.replace("\x01", "\ufffd").replace("\ufffe", "\ufffd"),
        "docs/a.md",
    }
    edges = list(root.iter(f"{NAMESPACE}edge"))
    assert all({edge.get("source"), edge.get("target")} <= set(nodes) for edge in edges)
    kinds = {(_data(edge)["kind"], _data(edge).get("label")) for edge in edges}
    assert {("shared", None), ("relationship", "wrote <it>")} <= kinds
    [said] = [_data(edge) for edge in edges if _data(edge).get("label") == "wrote <it>"]
    assert said["valid_from"].startswith("2024-05-03")
    assert cli("export", "--min-mentions", "3")[1].count("<node") == 0
    assert "no namespace" in cli("export", "--namespace", "nowhere")[2]


def test_dot_quotes_what_names_hold() -> None:
    rows = [
        GraphRow("concept", 1, None, HOSTILE, "PERSON", 2.0),
        GraphRow("concept", 2, None, "plain", "FILE", 2.0),
        GraphRow("shared", 1, 2, None, None, 2.0),
        GraphRow("relationship", 1, 2, 'says "so"', None, 0.5),
    ]
    lines = list(dot(rows))
    assert (lines[0], lines[-1], len(lines)) == ("digraph concepts {\n", "}\n", 6)
    # One statement a line, and between its brackets names with quoted values only.
    statement = re.compile(r'  c\d+( -> c\d+)? \[(\w+="(?:[^"\\\n]|\\.)*"(, |(?=\])))*\];\n')
    assert all(statement.fullmatch(line) for line in lines[1:-1])
    assert "\\\\N" in lines[1]
    ElementTree.fromstring("".join(graphml(rows)))  # noqa: S314 - of our own making


def _data(element: ElementTree.Element) -> dict[str, str]:
    return {str(data.get("key")): data.text or "" for data in element.iter(f"{NAMESPACE}data")}


def test_export_says_where_it_cannot_write(cli: Cli, tmp_path: Path) -> None:
    code, out, err = cli("export", "--out", str(tmp_path / "none" / "graph"))
    assert (code, out) == (1, "")
    assert err.startswith("error: cannot write ")
    assert "No such file" in err
