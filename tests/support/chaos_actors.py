"""Who uses a database while it is killed: each does one thing again and again, and writes down what it was promised."""

from __future__ import annotations

import contextlib
import itertools
import json
import random
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import psycopg

from support.chaos import Database
from support.chaos_server import DIMENSION
from support.provider_servers import vector_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

EXPIRING = "expiring"
"""A category whose memories the namespace erases when they expire."""
TOPICS = ("tea", "trains", "the garden", "piano lessons", "the passport")
REMEMBER = "SELECT * FROM remember_many(%s, on_conflict => 'update')"


@dataclass
class Ledger:
    """What must be there in the end, and what must not.

    Attributes:
        kept: Content by external id.
        sessions: What was said, in order, without what was erased.
        gone: Words that each stand for a memory that has been erased, or has expired into nothing.
        erased: The ids of memories that were erased by their writer.
        seen: Words of erased memories that recall() gave after the erasure.
        counts: How often each was done.
        deadlocks: Calls that a deadlock ended.
    """

    kept: dict[str, str] = field(default_factory=dict)
    sessions: dict[str, list[str]] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    erased: set[int] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)
    counts: dict[str, int] = field(default_factory=dict)
    deadlocks: int = 0


class Actors:
    """Threads that use one database until their time is over."""

    def __init__(self, dsn: str, folder: Path, seconds: float, seed: int) -> None:
        self.ledger = Ledger()
        self._dsn = dsn
        self._folder = folder
        self._until = time.monotonic() + seconds
        self._seed = seed
        self._errors: list[BaseException] = []
        actors = (self._keep, self._expire, self._erase, self._talk, self._import, self._judge, self._look)
        self._threads = [threading.Thread(target=self._run, args=(actor,)) for actor in actors]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def join(self) -> None:
        for thread in self._threads:
            thread.join()
        if self._errors:
            raise self._errors[0]

    def _run(self, actor: Callable[[Database, random.Random, int], None]) -> None:
        name = actor.__name__
        database = Database(self._dsn)
        draw = random.Random(f"{self._seed} {name}")
        try:
            number = 0
            while time.monotonic() < self._until:
                actor(database, draw, number)
                number += 1
                self.ledger.counts[name] = number
        except BaseException as error:  # noqa: BLE001 - join() raises it
            self._errors.append(error)
        finally:
            self.ledger.deadlocks += database.deadlocks
            database.close()

    def _keep(self, database: Database, draw: random.Random, number: int) -> None:
        """Remember some, and change some that are there."""
        numbers = {number * 20 + place for place in range(draw.randrange(1, 20))}
        numbers |= {draw.randrange(number * 20 + 1) for _ in range(5)}
        texts = {
            f"kept-{each:06}": f"markkept{each:06} as of {number}, about {draw.choice(TOPICS)}"
            for each in draw.sample(sorted(numbers), len(numbers))
        }
        memories = [{"external_id": key, "content": text} for key, text in texts.items()]
        database.rows(REMEMBER, [json.dumps(memories)])
        self.ledger.kept |= texts

    def _expire(self, database: Database, draw: random.Random, number: int) -> None:
        """Remember some that expire soon, and keep the last one if it is still there."""
        words = [f"marklate{number:06}x{place}" for place in range(6)]
        expires_at = (datetime.now(UTC) + timedelta(seconds=draw.uniform(1, 5))).isoformat()
        memories = [
            {
                "external_id": word,
                "content": f"{word} about {draw.choice(TOPICS)}",
                "category": EXPIRING,
                "expires_at": expires_at,
            }
            for word in words
        ]
        ids = [row[0] for row in database.rows(REMEMBER, [json.dumps(memories)])]
        self.ledger.gone |= set(words[:-1])
        time.sleep(draw.uniform(0, 5.2))
        try:
            database.rows("SELECT update_memory(%s, expires_at => '2100-01-01')", [ids[-1]])
        except psycopg.errors.NoDataFound:
            self.ledger.gone.add(words[-1])
        else:
            self.ledger.kept[words[-1]] = str(memories[-1]["content"])

    def _erase(self, database: Database, draw: random.Random, number: int) -> None:
        """Remember some, and erase them, one by one or by a filter."""
        words = [f"markgone{number:06}x{place}" for place in range(4)]
        memories = [
            {
                "external_id": word,
                "content": f"{word} about {draw.choice(TOPICS)}",
                "metadata": {"batch": number},
            }
            for word in words
        ]
        ids = [row[0] for row in database.rows(REMEMBER, [json.dumps(memories)])]
        time.sleep(draw.uniform(0, 2))
        if draw.random() < 0.5:
            database.rows(
                "SELECT * FROM erase_many(metadata_contains => %s)", [json.dumps({"batch": number})]
            )
        else:
            for memory in ids:
                _erase(database, memory)
        self.ledger.gone |= set(words)
        self.ledger.erased |= set(ids)

    def _talk(self, database: Database, draw: random.Random, number: int) -> None:
        """Hand over a conversation that grows, then erase one of its messages."""
        session = f"session-{number:04}"
        said: list[str] = []
        for turn in range(draw.randrange(2, 12)):
            said.append(f"I prefer marksaid{number:04}x{turn}")
            messages = [{"role": "user", "name": "Priya", "content": text} for text in said]
            rows = database.rows("SELECT id FROM remember_messages(%s, %s)", [json.dumps(messages), session])
            time.sleep(draw.uniform(0, 0.4))
        place = draw.randrange(len(said))
        _erase(database, rows[place][0])
        self.ledger.erased.add(rows[place][0])
        self.ledger.gone.add(said.pop(place).split()[-1])
        self.ledger.sessions[session] = said

    def _import(self, _database: Database, draw: random.Random, number: int) -> None:
        """Import a file by the command, which is killed, later each time, until it says that all is stored."""
        texts = {
            f"file-{number:04}-{place}": f"markfile{number:04}x{place} about {draw.choice(TOPICS)}"
            for place in range(200)
        }
        path = self._folder / f"import-{number:04}.jsonl"
        path.write_text(
            "".join(json.dumps({"external_id": key, "content": text}) + "\n" for key, text in texts.items())
        )
        command = [sys.executable, "-m", "pgrecall", "import", str(path), "--dsn", self._dsn]
        for attempt in itertools.count():
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                code = process.wait(draw.uniform(0.4, 4) * 2**attempt)
            except subprocess.TimeoutExpired:
                process.kill()
                code = process.wait()
            if code == 0:
                break
        self.ledger.kept |= texts

    def _judge(self, database: Database, draw: random.Random, number: int) -> None:
        """Say of what recall() gives whether it was useful; learn from it now and then."""
        query = f"{draw.choice(TOPICS)} as of {number}"
        vector = json.dumps(vector_of(f"query: {query}", DIMENSION))
        for (memory,) in database.rows("SELECT id FROM recall(%s, %s, k => 5)", [query, vector]):
            with contextlib.suppress(psycopg.errors.NoDataFound):  # it is gone since
                database.rows(
                    "SELECT recall_feedback(%s, %s, %s, %s)", [query, memory, draw.random() < 0.5, vector]
                )
        if number % 200 == 60:
            with contextlib.suppress(
                psycopg.OperationalError
            ):  # it takes longer than the time between two kills
                database.once("SELECT * FROM pgrecall.learn()")

    def _look(self, database: Database, _draw: random.Random, _number: int) -> None:
        """Nothing that was erased before is recalled."""
        erased = set(self.ledger.gone)
        found = database.rows("SELECT content FROM recall('as of tea trains prefer', k => 500)")
        words = {word for (content,) in found for word in content.split()}
        # Those that expire are not yet due when their writer notes them.
        self.ledger.seen |= {word for word in words & erased if not word.startswith("marklate")}
        time.sleep(0.05)


def _erase(database: Database, memory: int) -> Any:
    try:
        return database.rows("SELECT * FROM erase(%s)", [memory])
    except psycopg.errors.NoDataFound:
        return None  # the connection broke after it was done
