"""What the chaos test is made of: memories that change all the time, daemons that are killed, a server that restarts."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import psycopg

from support.chaos_server import MAX_WORDS, POISON, is_refused
from support.waiting import PATIENCE, until

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence
    from typing import IO

    from pgrecall.server import EmbeddedServer

PROMPT = "passage: "
MARK = "Quuxilory"
"""A word of every memory, and of nothing else."""
LEASE_SECONDS = 10
TIMEOUT_SECONDS = 4
BACKLOG = 600
SHORT_WORDS = 150
"""A memory of more words has passages."""
NAMESPACES = ("alpha", "beta", "gamma", "delta", "epsilon")


class Database:
    """A connection that is made again when it breaks, for statements that may be repeated."""

    def __init__(self, dsn: str) -> None:
        self._dsn = dsn
        self._connection: psycopg.Connection[Any] | None = None
        self.deadlocks = 0

    def rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                return self.once(query, values)
            except psycopg.OperationalError as error:
                assert time.monotonic() < deadline, "the server does not come back"
                self.deadlocks += error.sqlstate == "40P01"
                time.sleep(0.05)

    def once(self, query: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Return the rows of a statement that is not repeated."""
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(self._dsn, autocommit=True)
        return self._connection.execute(query.encode(), values).fetchall()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()


def crash(server: EmbeddedServer) -> None:
    """Kill the server and start it again."""
    os.kill(int((server.pgdata / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
    server.up()


def restart(server: EmbeddedServer) -> None:
    """Stop the server without waiting for its clients, and start it again."""
    server.down()
    server.up()


class Fleet:
    """Daemons, each with an embedding server and log files of its own.

    Attributes:
        kills: Which was killed, and when.
    """

    def __init__(
        self,
        dsn: str,
        urls: Sequence[str],
        folder: Path,
        *,
        options: Sequence[str] = ("--only", "embedding"),
        environment: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._dsn = dsn
        self._options = options
        self._environment = environment
        self._urls = urls
        self._folder = folder
        self._started = 0
        self._running: dict[int, tuple[subprocess.Popen[bytes], IO[bytes]]] = {}
        self.kills: list[tuple[int, float]] = []
        for number in range(len(urls)):
            self._start(number)

    def _start(self, number: int) -> None:
        self._started += 1
        log = (self._folder / f"daemon-{number}-{self._started:02}.log").open("wb")
        options = [*self._options, "--lease", str(LEASE_SECONDS), "--log-json"]
        process = subprocess.Popen(
            [sys.executable, "-m", "pgrecall_embedder", *options],
            env=os.environ
            | self._environment
            | {
                "PGRECALL_DSN": self._dsn,
                "PGRECALL_EMBEDDER_OPENAI_URL": self._urls[number],
                "PGRECALL_EMBEDDER_OPENAI_TIMEOUT": str(TIMEOUT_SECONDS),
            },
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        self._running[number] = process, log

    def check(self) -> None:
        """Make sure that all of them are running.

        One that found no server when it started has ended, as it should; its supervisor starts it again.
        """
        for number, (process, log) in list(self._running.items()):
            if process.poll() is not None:
                lines = [json.loads(line) for line in Path(log.name).read_text().splitlines()]
                events = {line["event"] for line in lines}
                is_away = lines[-1].get("sqlstate", "").startswith(("08", "57P"))
                assert is_away, f"it ended by itself: {log.name}"
                assert "embedder started" not in events, f"it did not wait for the server: {log.name}"
                log.close()
                self._start(number)

    def kill(self, number: int) -> None:
        """Kill one, and start another in its place."""
        self.check()
        process, log = self._running[number]
        process.kill()
        process.wait()
        log.close()
        self.kills.append((number, time.time()))
        self._start(number)

    def stop(self) -> list[int]:
        """Ask all to stop, and return their exit codes; one that is still starting would just be ended."""
        until(lambda: all(map(self.has_started, list(self._running))))
        for process, _ in self._running.values():
            process.terminate()
        codes = [process.wait(PATIENCE) for process, _ in self._running.values()]
        self.close()
        return codes

    def has_started(self, number: int) -> bool:
        """Whether one has got as far as to look for work."""
        self.check()
        return "embedder started" in Path(self._running[number][1].name).read_text()

    def close(self) -> None:
        for process, log in self._running.values():
            process.kill()
            process.wait()
            log.close()
        self._running.clear()

    def log(self) -> str:
        """What all of them said."""
        return "".join(path.read_text() for path in sorted(self._folder.glob("daemon-*.log")))


@dataclass
class Era:
    """A time in which a memory had a text that was to be embedded."""

    start: float
    end: float = math.inf


@dataclass
class Memory:
    """A memory as the test knows it."""

    number: int
    namespace: str
    content: str
    title: str | None = None
    is_sensitive: bool = False
    is_forgotten: bool = False
    former: list[tuple[str | None, str]] = field(default_factory=list)
    id: int = 0

    @property
    def sent(self) -> str:
        """What an embedder sends of it."""
        return PROMPT + ("" if self.title is None else f"{self.title}\n") + self.content


class World:
    """Memories, and all that happens to them.

    Attributes:
        eras: For every text, as it is sent, the times in which it was to be embedded.
    """

    def __init__(self, database: Database, draw: random.Random) -> None:
        self.memories: list[Memory] = []
        self.eras: dict[str, list[Era]] = {}
        self.changes: dict[str, int] = {}
        self._database = database
        self._draw = draw
        self._versions = 0

    def write(self, count: int) -> None:
        """Remember new ones: several at once, or a single one."""
        new = [self._new(len(self.memories) + place) for place in range(count)]
        started = time.time()
        if count == 1:
            [memory] = new
            query = (
                "SELECT remember(%s, title => %s, is_sensitive => %s, external_id => %s, namespace => %s, "
                "create_namespace => true, on_conflict => 'update')"
            )
            values = [memory.content, memory.title, memory.is_sensitive, str(memory.number), memory.namespace]
            ids = self._database.rows(query, values)
        else:
            ids = self._remember_many(new)
        for memory, (memory_id,) in zip(new, ids, strict=True):
            memory.id = memory_id
            self._begin(memory, started)
        self.memories += new

    def change(self) -> None:
        """Change one memory."""
        # Mostly one that a daemon may have in hand.
        memory = self._draw.choice(self.memories[-BACKLOG:] if self._draw.random() < 0.7 else self.memories)
        if memory.is_forgotten:
            possible = ["restore"]
        elif memory.is_sensitive:
            possible = ["unflag", "edit"]
        else:
            possible = ["edit", "edit", "importance", "forget", "flag"] + ["edit_back"] * (
                2 * bool(memory.former)
            )
        kind = self._draw.choice(possible)
        self.changes[kind] = self.changes.get(kind, 0) + 1
        getattr(self, f"_{kind}")(memory)

    def _remember_many(self, memories: Sequence[Memory]) -> list[tuple[Any, ...]]:
        fields = [
            {
                "content": memory.content,
                "title": "" if memory.title is None else memory.title,
                "is_sensitive": memory.is_sensitive,
                "external_id": str(memory.number),
                "namespace": memory.namespace,
            }
            for memory in memories
        ]
        query = "SELECT * FROM remember_many(%s, create_namespace => true, on_conflict => 'update')"
        return self._database.rows(query, [json.dumps(fields)])

    def _new(self, number: int) -> Memory:
        memory = Memory(number, self._draw.choice(NAMESPACES), self._text(number))
        chance = self._draw.random()
        if number % 1000 == 350:
            memory.content += f" {POISON}"
        elif number % 900 == 450:
            memory.content += " and so on" * MAX_WORDS
        elif chance < 0.06:
            memory.is_sensitive = True
        if chance > 0.7:
            memory.title = f"Title {number}"
        return memory

    def _text(self, number: int) -> str:
        self._versions += 1
        return f"{MARK} {number}, version {self._versions},{' very' * self._draw.randrange(40)} long."

    def _update(self, memory: Memory, title: str | None, content: str) -> None:
        started = time.time()
        query = "SELECT update_memory(%s, content => %s, title => %s)"
        self._database.rows(query, [memory.id, content, "" if title is None else title])
        self._end(memory)
        memory.former.append((memory.title, memory.content))
        memory.title, memory.content = title, content
        self._begin(memory, started)

    def _edit(self, memory: Memory) -> None:
        title = memory.title if self._draw.random() < 0.7 else None
        self._update(memory, title, self._text(memory.number))

    def _edit_back(self, memory: Memory) -> None:
        self._update(memory, *self._draw.choice(memory.former))

    def _importance(self, memory: Memory) -> None:
        # No embedded text changes, so nothing is to be embedded again.
        self._database.rows(
            "SELECT update_memory(%s, importance => %s, tags => %s)", [memory.id, self._draw.random(), ["x"]]
        )

    def _forget(self, memory: Memory) -> None:
        self._database.rows("SELECT forget(%s)", [memory.id])
        memory.is_forgotten = True
        self._end(memory)

    def _restore(self, memory: Memory) -> None:
        started = time.time()
        memory.is_forgotten = False
        self._remember_many([memory])
        self._begin(memory, started)

    def _flag(self, memory: Memory) -> None:
        self._database.rows("SELECT update_memory(%s, is_sensitive => true)", [memory.id])
        memory.is_sensitive = True
        self._end(memory)

    def _unflag(self, memory: Memory) -> None:
        started = time.time()
        self._database.rows("SELECT update_memory(%s, is_sensitive => false)", [memory.id])
        memory.is_sensitive = False
        self._begin(memory, started)

    def _begin(self, memory: Memory, started: float) -> None:
        if not memory.is_sensitive and not memory.is_forgotten:
            self.eras.setdefault(memory.sent, []).append(Era(started))

    def _end(self, memory: Memory) -> None:
        for era in self.eras.get(memory.sent, []):
            era.end = min(era.end, time.time())

    def was_to_be_embedded(self, text: str, at: float) -> bool:
        """Whether a text could be in the hands of a daemon at a time."""
        return any(era.start <= at <= era.end + LEASE_SECONDS for era in self.eras_of(text))

    def eras_of(self, text: str) -> list[Era]:
        """The times in which a text was to be embedded, whole or as the beginning of a long one."""
        found = (era for whole in self._wholes(text) for era in self.eras[whole])
        return sorted(found, key=lambda era: era.start)

    def has_passages(self, text: str) -> bool:
        """Whether it is the text of a long memory, or the beginning of one."""
        return any(len(whole.split()) > SHORT_WORDS for whole in self._wholes(text))

    def _wholes(self, text: str) -> list[str]:
        return [text] if text in self.eras else [whole for whole in self.eras if whole.startswith(text)]


def accepted(text: str) -> str:
    """What a server takes of a text: all of it, or the longest beginning that is tried."""
    length = len(text) - len(PROMPT)
    while is_refused(text) and length > 256:
        length = max(256, length // 2)
        text = text[: len(PROMPT) + length]
    return text
