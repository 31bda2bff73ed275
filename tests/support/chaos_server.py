"""Servers of embeddings that fail at random, in a process of their own; they write down what they are asked.

    PYTHONPATH=tests python -m support.chaos_server --seed 1 --servers 3 --record FILE

It prints their addresses as JSON and serves until SIGTERM. One server for each daemon: so the record says who
asked.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from support.provider_servers import Asked, Fault, ProviderServer, chaos

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TESTS = Path(__file__).resolve().parents[1]
DIMENSION = 32
POISON = "Xyzzypoison"
"""A text that holds this word is always refused."""
MAX_WORDS = 200
"""A text of more words is too long."""
FAULT_RATE = 0.1

_GOOD = {None, Fault.SHUFFLED}


@dataclass(frozen=True)
class Request:
    """A request, and what became of it.

    Attributes:
        server: Which of the servers it came to.
        at: When, in seconds as time.time() has them.
        texts: What was to be embedded.
        outcome: `vectors`, `refused`, or the name of a fault.
    """

    server: int
    at: float
    texts: list[str]
    outcome: str

    @property
    def is_good(self) -> bool:
        return self.outcome == "vectors"


def is_refused(text: str) -> bool:
    return POISON in text or len(text.split()) > MAX_WORDS


class Servers:
    """The servers, as a test sees them."""

    def __init__(self, urls: list[str], record: Path) -> None:
        self.urls = urls
        self._record = record

    def requests(self) -> list[Request]:
        """What they were asked so far, in that order."""
        with self._record.open() as lines:
            return [Request(**json.loads(line)) for line in lines]


@contextmanager
def failing_servers(count: int, seed: int, record: Path) -> Iterator[Servers]:
    """Run servers in a process of their own."""
    command = [
        sys.executable,
        "-m",
        "support.chaos_server",
        "--seed",
        str(seed),
        "--servers",
        str(count),
        "--record",
        str(record),
    ]
    path = os.pathsep.join([str(TESTS), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    try:
        assert process.stdout is not None
        yield Servers(json.loads(process.stdout.readline()), record)
        assert process.poll() is None, "the servers did not hold out"
    finally:
        process.terminate()
        process.communicate()


def recorded(record: Path, server: int, seed: int, lock: threading.Lock) -> Callable[[Asked], Fault | None]:
    """Faults at random, written down with the texts that met with them."""
    draw = chaos(seed * 100 + server, FAULT_RATE)

    def fault_of(asked: Asked) -> Fault | None:
        fault = draw(asked)
        outcome = "vectors"
        if fault not in _GOOD:
            assert fault is not None
            outcome = fault.name
        elif any(is_refused(text) for text in asked.texts):
            outcome = "refused"
        line = json.dumps({"server": server, "at": time.time(), "texts": asked.texts, "outcome": outcome})
        with lock, record.open("a") as file:
            file.write(line + "\n")
        return fault

    return fault_of


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve embeddings that fail at random.")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--servers", type=int, required=True)
    parser.add_argument("--record", type=Path, required=True)
    given = parser.parse_args()
    stopped = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stopped.set())
    given.record.touch()
    lock = threading.Lock()
    with ExitStack() as stack:
        servers = [
            stack.enter_context(
                ProviderServer(
                    dimension=DIMENSION,
                    faults=recorded(given.record, number, given.seed, lock),
                    max_words=MAX_WORDS,
                    refused=POISON,
                    retry_after=1,
                )
            )
            for number in range(given.servers)
        ]
        print(json.dumps([server.url for server in servers]), flush=True)
        stopped.wait()


if __name__ == "__main__":
    main()
