"""What the tests of reading share: texts with names, times and facts in them, and eyes on what was read."""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
from typing import TYPE_CHECKING, Any

from pgrecall_embedder.daemon import Daemon
from pgrecall_embedder.logger import make_logger

if TYPE_CHECKING:
    from collections.abc import Iterable

    import psycopg

PEOPLE = ("Priya Raman", "Rajesh Nair", "Jane Miller", "Tomas Novak", "Aiko Tanaka", "Lena Vogel")
COMPANIES = ("Acme Corp", "Globex Ltd", "Initech Inc", "Umbrella GmbH")
PLACES = ("Goa", "Lisbon", "Osaka", "Bergen")

# A daemon that only reads, as a process of its own.
READING_DAEMON = """
import sys
from pgrecall_embedder.cli import run

sys.exit(run(sys.argv[1], only="extraction", drain="drain" in sys.argv[2:], log_json=True))
"""


def texts(count: int, seed: int = 42) -> list[str]:
    """Texts that share names, each with a file and an issue of its own."""
    draw = random.Random(seed)
    return [
        f"{draw.choice(PEOPLE)} works at {draw.choice(COMPANIES)}. On {1 + number % 28} May 2024 "
        f"{draw.choice(PEOPLE)} wrote docs/plan-{number}.md about PROJ-{number + 1} in {draw.choice(PLACES)}."
        for number in range(count)
    ]


WITHOUT_SPACY = "patterns, keywords, names, titles, speakers, times, facts"
"""The setting extract without an extra that takes seconds to load."""


def without_spacy(conn: psycopg.Connection[Any]) -> None:
    """What a test does not ask about need not be loaded."""
    conn.execute("SELECT pgrecall.set_setting('extract', %s)", [WITHOUT_SPACY])


def store(conn: psycopg.Connection[Any], contents: Iterable[str]) -> list[int]:
    memories = json.dumps([{"content": content} for content in contents])
    return [row[0] for row in conn.execute("SELECT * FROM remember_many(%s)", [memories])]


def make_reader(dsn: str, **options: Any) -> Daemon:
    return Daemon(dsn, log=make_logger(as_json=True), **{"only": "extraction"} | options)


def read_all(dsn: str) -> dict[str, int]:
    daemon = make_reader(dsn, drain=True)
    asyncio.run(daemon.run())
    return daemon.sums()


def start_reading(dsn: str, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", READING_DAEMON, dsn, *arguments]
    return subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | environment
    )


def mentions_of(conn: psycopg.Connection[Any], memory: int) -> set[str]:
    return {
        row[0]
        for row in conn.execute(
            "SELECT a.alias FROM pgrecall.mentions m JOIN pgrecall.concept_aliases a ON a.id = m.alias_id "
            "WHERE m.memory_id = %s",
            [memory],
        )
    }


def pending(conn: psycopg.Connection[Any], enricher: str = "text") -> int:
    query = "SELECT count(*) FROM pgrecall.jobs WHERE kind = %s"
    [(count,)] = conn.execute(query, [enricher]).fetchall()
    return int(count)


def graph_of(conn: psycopg.Connection[Any]) -> dict[str, Any]:
    """All that was read, without numbers that depend on the order of reading."""
    queries = {
        "names": "SELECT a.alias, c.key FROM pgrecall.concept_aliases a JOIN pgrecall.concepts c ON c.id = a.concept_id",
        "types": "SELECT c.key, c.type FROM pgrecall.concepts c",
        "mentions": "SELECT m.memory_id, a.alias, m.source, m.type, m.confidence, m.is_about FROM pgrecall.mentions m "
        "JOIN pgrecall.concept_aliases a ON a.id = m.alias_id",
        "times": "SELECT memory_id, span::text, from_at, to_at, granularity, source FROM pgrecall.temporal_refs",
        "facts": "SELECT e.memory_id, s.alias, r.label, t.alias, e.source, e.confidence FROM pgrecall.relationships r "
        "JOIN pgrecall.concept_aliases s ON s.id = r.source_alias_id "
        "JOIN pgrecall.concept_aliases t ON t.id = r.target_alias_id "
        "JOIN pgrecall.relationship_evidence e ON e.relationship_id = r.id",
        "read": "SELECT memory_id, enricher, version FROM pgrecall.extractions",
    }
    return {name: sorted(map(repr, conn.execute(query))) for name, query in queries.items()}
