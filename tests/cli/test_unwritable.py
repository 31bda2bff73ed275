"""Files, outputs and temporary folders that cannot be written: an error with a hint, never a traceback."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall.cli import main
from support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg

    from support.command import Outcome

FULL = Path("/dev/full")
RUN = [sys.executable, "-m", "pgrecall"]

full = pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")


@pytest.fixture
def exported(cli: Callable[..., Outcome], tmp_path: Path) -> Path:
    """An export whose restore needs a temporary file: it holds what is no memory."""
    file = tmp_path / "export.jsonl"
    assert cli("remember", "tea").code == 0
    assert cli("namespace", "retention", "default", "--keep", "90 days").code == 0
    assert cli("export", str(file)).code == 0
    return file


def test_a_folder_of_temporary_files_that_is_not_there_names_tmpdir(dsn: str, exported: Path) -> None:
    # Root may write everywhere, so every folder that Python tries is taken away.
    code = (
        "import tempfile\ntempfile._candidate_tempdir_list = lambda: ['/none']\n"
        f"from pgrecall.cli import main\nmain(['import', {str(exported)!r}])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PGRECALL_DSN": dsn},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "error: no temporary file can be written: No usable temporary directory" in done.stderr
    assert "hint: Set TMPDIR" in done.stderr
    assert "Traceback" not in done.stderr


@full
def test_a_temporary_file_that_does_not_fit_names_tmpdir(
    exported: Path, cli: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgrecall.jsonl.restore.TemporaryFile", lambda: FULL.open("r+b"))
    done = cli("import", str(exported))
    assert done.code == 1
    assert "error: no temporary file can be written: No space left on device" in done.err
    assert "hint: Set TMPDIR" in done.err


@full
@pytest.mark.parametrize("command", [["list"], ["export", "-"], ["graph", "export", "--min-mentions", "0"]])
def test_an_output_without_space_is_an_error(
    command: list[str], dsn: str, cli: Callable[..., Outcome]
) -> None:
    assert cli("remember", "tea").code == 0
    with FULL.open("wb") as out:
        done = subprocess.run(
            [*RUN, *command],
            env=os.environ | {"PGRECALL_DSN": dsn},
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert "error: No space left on device\nhint: " in done.stderr
    assert "Traceback" not in done.stderr
    assert "ignored" not in done.stderr


def test_a_reader_that_has_left_is_no_news(dsn: str, cli: Callable[..., Outcome]) -> None:
    assert cli("remember", "tea").code == 0
    reads, writes = os.pipe()
    os.close(reads)
    try:
        done = subprocess.run(
            [*RUN, "list"],
            env=os.environ | {"PGRECALL_DSN": dsn},
            stdout=writes,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    finally:
        os.close(writes)
    assert (done.returncode, done.stderr) == (1, "")


@full
def test_a_graph_that_does_not_fit_names_its_file(cli: Callable[..., Outcome]) -> None:
    assert cli("remember", "tea").code == 0
    done = cli("graph", "export", "--min-mentions", "0", "--out", str(FULL))
    assert done.code == 1
    assert "error: cannot write /dev/full: No space left on device\nhint: " in done.err
    assert "Traceback" not in done.err


def test_a_folder_in_place_of_a_file_is_refused(
    cli: Callable[..., Outcome], tmp_path: Path, exported: Path
) -> None:
    for command in (
        ["export", str(tmp_path)],
        ["graph", "export", "--out", str(tmp_path)],
        ["import", str(tmp_path)],
        ["import", str(exported), "--rejected", str(tmp_path)],
    ):
        done = cli(*command)
        assert done.code in {1, 2}, command
        assert done.err, command


_CLOSED = [
    (["get", "1"], "1", 1, "error: Bad file descriptor"),
    (["recall", "tea", "--json", "--no-embed"], "1", 1, "error: Bad file descriptor"),
    (["export"], "1", 1, "error: Bad file descriptor"),
    (["remember", "-"], "0", 1, "error: memory: content is empty"),
    (["erase", "1"], "0", 1, "and nobody can be asked"),
    (["import", "-"], "0", 0, ""),
    (["mcp"], "0", 0, ""),
    (["get", "999"], "2", 1, ""),
    (["hook", "recall"], "1", 0, ""),
]


@pytest.mark.parametrize(("arguments", "closed", "code", "said"), _CLOSED)
def test_a_standard_stream_that_is_closed(
    cli: Callable[..., Outcome], dsn: str, arguments: list[str], closed: str, code: int, said: str
) -> None:
    """Python has None for it: some commands ended with a traceback, others well, having printed nothing."""
    assert cli("remember", "tea").out == "1\n"
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"import os, sys; os.close({closed}); os.execv(sys.executable, sys.argv[1:])",
            *RUN,
            *arguments,
        ],
        env=os.environ | {"PGRECALL_DSN": dsn},
        input="{}",
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "Traceback" in done.stderr) == (code, False), done.stderr
    assert said in done.stderr


def _ended_by(number: signal.Signals) -> set[int]:
    # Python ends by SIGINT itself if it has once interrupted code that was made from text, as that of a dataclass is.
    return {128 + number, -number} if number == signal.SIGINT else {128 + number}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_export_that_is_ended_leaves_nothing_of_it(
    number: signal.Signals, dsn: str, conn: psycopg.Connection[Any], tmp_path: Path
) -> None:
    with conn.transaction():
        conn.execute("LOCK pgrecall.memories")
        process = subprocess.Popen(
            [*RUN, "export", str(tmp_path / "export.jsonl"), "--dsn", dsn],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # tests under nohup ignore one
        )
        until(lambda: any(tmp_path.iterdir()))
        process.send_signal(number)
        assert process.wait(60) in _ended_by(number)
    assert list(tmp_path.iterdir()) == []


# Sends the signal as soon as the file has a name, before Python can return to whoever opened it.
_ENDED_EARLY = """
import os, sys
from pgrecall.cli import main

folder, number, real = sys.argv[1], int(sys.argv[2]), os.open

def opened(path, *rest, **named):
    descriptor = real(path, *rest, **named)
    if os.path.dirname(path) == folder:
        os.kill(os.getpid(), number)
    return descriptor

os.open = opened
main(["export", folder + "/export.jsonl"])
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_export_that_is_ended_as_it_begins_leaves_nothing_of_it(
    number: signal.Signals, dsn: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _ENDED_EARLY, str(tmp_path), str(int(number))],
        env=os.environ | {"PGRECALL_DSN": dsn},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
    )
    assert done.returncode in _ended_by(number)
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


class _Interrupting:
    """What is made as modules are imported, and interrupted."""

    def __set_name__(self, owner: type, name: str) -> None:
        raise KeyboardInterrupt


def _importing() -> None:
    type("Made", (), {"field": _Interrupting()})


def _beginning() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("interrupted", [_importing, _beginning])
def test_an_interrupt_is_no_error(
    interrupted: Callable[[], None], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("pgrecall.cli._run", lambda _: interrupted())
    with pytest.raises(SystemExit) as ended:
        main(["status"])
    assert ended.value.code == 130
    assert capfd.readouterr() == ("", "")
