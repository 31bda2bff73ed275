"""Fills a generation of embeddings, by running daemons or by an embedder process started here."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

from psycopg.rows import class_row

from pgrecall.config.settings import load
from pgrecall.errors import EmbeddingUnavailable
from pgrecall.files import temporary_file
from pgrecall.models import Generation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import psycopg

__all__ = ["Backfill", "generations", "try_model"]

_POLL_SECONDS = 1.0
# Counting progress scans the whole table, so pause ten times as long as that takes.
_REST = 10.0
_STOP_SECONDS = 60.0


def generations(conn: psycopg.Connection[Any]) -> list[Generation]:
    """Return the progress of each generation, active one first."""
    with conn.cursor(row_factory=class_row(Generation)) as cursor:
        return cursor.execute("SELECT * FROM pgrecall.generation_progress()").fetchall()


def try_model(**spec: object) -> None:
    """Load a model in a process of its own and embed a word with it.

    Args:
        **spec: The model: name, dimension, provider, document_prompt, query_prompt.

    Raises:
        EmbeddingUnavailable: It cannot embed on this machine.
    """
    done = subprocess.run(
        [sys.executable, "-m", "pgrecall_embedder.trial", json.dumps(spec)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        # What the libraries print comes first.
        told = {}
        with contextlib.suppress(ValueError, IndexError):
            told = json.loads(done.stdout.splitlines()[-1])
        raise EmbeddingUnavailable(
            told.get("error") or f"the model {spec['name']} cannot be loaded here",
            hint=told.get("hint")
            or "Nothing was changed. Install what the model needs, or embed elsewhere: --leave-to-daemons.",
        )


class Backfill:
    """Waits for a generation to be filled.

    Args:
        conn: An autocommit connection.
        dsn: Connection string for the embedder process.
        generation: The number of the generation.
        own: True starts an embedder process when no live daemon works on the generation.
        report: Called with the progress, and with warnings of the embedder process.
    """

    def __init__(
        self,
        conn: psycopg.Connection[Any],
        dsn: str,
        generation: int,
        *,
        own: bool,
        report: Callable[[str | Generation], None],
    ) -> None:
        self._conn = conn
        self._dsn = dsn
        self._generation = generation
        self._own = own
        self._report = report
        self._embedder: _Embedder | None = None

    def run(self) -> Generation:
        """Return when it is filled, except for failed memories and those written just now.

        Raises:
            EmbeddingUnavailable: The embedder process ended although there was something to embed.
        """
        is_reported = False
        try:
            while True:
                began = time.monotonic()
                exit_code = None if self._embedder is None else self._embedder.poll()
                found = self._look()
                self._report(found)
                self._pass_on_complaints()
                if found.is_caught_up:
                    return found
                if self._embedder is not None and exit_code is not None:
                    self._after(self._embedder, exit_code, found)
                is_served = found.per_second is not None
                if self._own and self._embedder is None and not is_served and found.claimable > 0:
                    self._embedder = _Embedder(self._dsn, found.embedded)
                elif not self._own and not is_served and not is_reported:
                    self._report("waiting for a daemon that embeds with the new model: pgrecall embedder")
                    is_reported = True
                time.sleep(max(_POLL_SECONDS, _REST * (time.monotonic() - began)))
        finally:
            if self._embedder is not None:
                self._embedder.stop()

    def _look(self) -> Generation:
        [found] = [found for found in generations(self._conn) if found.generation == self._generation]
        return found

    def _pass_on_complaints(self) -> None:
        if self._embedder is not None:
            for complaint in self._embedder.complaints():
                self._report(f"embedder: {complaint}")

    def _after(self, ended: _Embedder, exit_code: int, found: Generation) -> None:
        """Clean up after an ended embedder; raise an error if it left claimable memories."""
        self._embedder = None
        ended.stop()
        if found.claimable > 0 and (exit_code != 0 or found.embedded <= ended.embedded_before):
            raise EmbeddingUnavailable(
                ended.last_complaint or f"the embedder exited with code {exit_code}",
                hint=ended.last_hint or "Run `pgrecall embedder --drain` to see the cause.",
            )


def _environment(dsn: str) -> dict[str, str]:
    """Return the environment of an embedder process, without what belongs to this machine's daemon."""
    kept = {**os.environ, "PGRECALL_DSN": dsn}
    # The daemon holds that port, and a second process on it would end at once.
    kept.pop("PGRECALL_EMBEDDER_METRICS_PORT", None)
    if load().dsn != dsn:
        # The user named it beside another database, whose notifications say nothing about this one.
        kept.pop("PGRECALL_EMBEDDER_LISTEN_DSN", None)
    return kept


class _Embedder:
    """A process that embeds until nothing is pending.

    It logs to a file, so that it finishes undisturbed if this process is killed.
    """

    def __init__(self, dsn: str, embedded_before: int) -> None:
        self.embedded_before = embedded_before
        self.last_complaint: str | None = None
        self.last_hint: str | None = None
        with temporary_file():
            self._log = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        self._read = 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "pgrecall_embedder", "--drain", "--only", "embedding", "--log-json"],
            env=_environment(dsn),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=self._log,
            # Ctrl-C goes to this process only, which then stops the embedder.
            process_group=0,
        )

    def poll(self) -> int | None:
        return self._process.poll()

    def complaints(self) -> Iterator[str]:
        """Yield its warnings since the last call."""
        # pread, because the process shares the file offset.
        text = os.pread(self._log.fileno(), 1 << 20, self._read)
        whole = text[: text.rfind(b"\n") + 1]
        self._read += len(whole)
        for line in whole.splitlines():
            with contextlib.suppress(ValueError):
                entry = json.loads(line)
                if isinstance(entry, dict) and entry.get("level") in {"warning", "error", "critical"}:
                    self.last_complaint = str(entry.get("event"))
                    self.last_hint = entry.get("hint")
                    details = (str(entry[name]) for name in ("model", "cause", "error") if entry.get(name))
                    about = ", ".join(details)
                    yield f"{self.last_complaint} ({about})" if about else self.last_complaint

    def stop(self) -> None:
        """Terminate it; it first stores its current batch."""
        self._process.terminate()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()
