"""Runs the scan, and the library that is compared with it, over labelled texts; measures its cost."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from pgrecall import Client

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .labels import Label

__all__ = ["costs", "library_finds", "scan_finds", "score"]

_WORKER = Path(__file__).with_name("library_worker.py")
_SWITCH = {
    True: b"ALTER TABLE pgrecall.memories ENABLE TRIGGER memories_05_secrets_insert",
    False: b"ALTER TABLE pgrecall.memories DISABLE TRIGGER memories_05_secrets_insert",
}
_PROSE = "Ana said that the boat leaves at nine and that we should bring warm clothes for the evening. "
_CODE = "value = load_table(path_of_results, name='daily')  # see https://example.org/a/b?page=2\n"
_HASHES = "commit 9fceb02d0ae598e95dc970b74767f19372d61af8 fixes the token of the key store\n"
_LENGTHS = (300, 20_000)
_TURNS = 4
_WARM = 5
_ROUNDS = 20


def scan_finds(dsn: str, labels: Sequence[Label]) -> list[tuple[bool, bool]]:
    """Tell of each text whether the scan finds something, and whether the secret is gone from the rest."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        found = []
        for label in labels:
            (clean, kinds) = connection.execute(
                "SELECT clean, kinds FROM _pgrecall.redact_text(%s)", (label.text,)
            ).fetchone() or ("", None)
            found.append((kinds is not None, bool(label.secret) and label.secret not in clean))
    return found


def library_finds(python: str, labels: Sequence[Label]) -> dict[str, Any]:
    """Tell of each text whether detect-secrets finds something, and how long it takes for one.

    Args:
        python: An interpreter that has the library.
        labels: The texts.
    """
    done = subprocess.run(
        [python, str(_WORKER)],
        input=json.dumps([label.text for label in labels]),
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def score(labels: Sequence[Label], found: Sequence[bool]) -> dict[str, Any]:
    """Count what was found: precision, recall, and recall by kind."""
    pairs = list(zip(labels, found, strict=True))
    right = sum(hit for label, hit in pairs if label.kind)
    wrong = sum(hit for label, hit in pairs if not label.kind)
    positives = sum(label.kind is not None for label in labels)
    kinds = sorted({label.kind for label in labels if label.kind})
    return {
        "positives": positives,
        "negatives": len(labels) - positives,
        "found": right,
        "false_alarms": wrong,
        "precision": round(right / max(right + wrong, 1), 4),
        "recall": round(right / max(positives, 1), 4),
        "recall_by_kind": {
            kind: f"{sum(hit for label, hit in pairs if label.kind == kind)}"
            f"/{sum(label.kind == kind for label in labels)}"
            for kind in kinds
        },
    }


def costs(dsn: str, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """Measure remember() with and without the scan, in turns, and the scan alone, for three sorts of text.

    The fastest counts: other work on the machine only adds.
    """
    measured = []
    with psycopg.connect(dsn, autocommit=True) as connection, Client(dsn) as client:
        for name, text in (("prose", _PROSE), ("code", _CODE), ("hashes", _HASHES)):
            for length in _LENGTHS:
                say(f"  {name}, {length} characters")
                body = (text * (length // len(text) + 1))[:length]
                times: dict[bool, list[float]] = {True: [], False: []}
                for turn in range(2 * _TURNS):
                    is_on = turn % 2 == 0
                    connection.execute(_SWITCH[is_on])
                    # The first ones plan anew.
                    for number in range(_WARM + _ROUNDS):
                        begun = time.perf_counter()
                        client.remember(f"{turn} {number} {body}")
                        if number >= _WARM:
                            times[is_on].append(time.perf_counter() - begun)
                measured.append(
                    {
                        "text": name,
                        "characters": length,
                        "scan_us": _alone(connection, body),
                        "remember_ms": round(min(times[True]) * 1000, 3),
                        "without_ms": round(min(times[False]) * 1000, 3),
                    }
                )
    return measured


def _alone(connection: psycopg.Connection[Any], body: str) -> float:
    """Return the microseconds of a scan in the database, without what stores the memory."""
    rounds = 200 if len(body) < 1000 else 20
    statement = (
        "SELECT count((_pgrecall.redact_text(%s || chr(65 + i %% 20))).clean) FROM generate_series(1, %s) i"
    )
    connection.execute(statement, (body, 2))
    took = []
    for _ in range(_TURNS):
        begun = time.perf_counter()
        connection.execute(statement, (body, rounds))
        took.append(time.perf_counter() - begun)
    return round(min(took) / rounds * 1e6, 1)
