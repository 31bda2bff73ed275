"""Where `pgrecall export` and `pgrecall graph export` write, and what a file of rejected rows may replace."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.command import Outcome

EXPORTS = [("export",), ("graph", "export", "--min-mentions", "0", "--out")]


@pytest.mark.parametrize("command", EXPORTS)
def test_a_file_is_its_owners_and_takes_the_place_of_another(
    cli: Callable[..., Outcome], tmp_path: Path, command: tuple[str, ...]
) -> None:
    assert cli("remember", "tea", "--tag", "Priya").code == 0
    file = tmp_path / "out"
    file.write_text("before")
    file.chmod(0o644)
    assert cli(*command, str(file)).code == 0
    assert "Priya" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("command", EXPORTS)
def test_a_pipe_stays_one_and_its_reader_gets_all(
    cli: Callable[..., Outcome], tmp_path: Path, command: tuple[str, ...]
) -> None:
    assert cli("remember", "tea", "--tag", "Priya").code == 0
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()), daemon=True)
    reader.start()
    assert cli(*command, str(pipe)).code == 0
    reader.join()
    assert "Priya" in read[0]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes devices")
@pytest.mark.parametrize("command", EXPORTS)
def test_a_device_stays_one(cli: Callable[..., Outcome], tmp_path: Path, command: tuple[str, ...]) -> None:
    null = tmp_path / "null"
    os.mknod(null, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    assert cli("remember", "tea").code == 0
    assert cli(*command, str(null)).code == 0
    assert stat.S_ISCHR(null.stat().st_mode)
    assert list(tmp_path.iterdir()) == [null]


@pytest.mark.parametrize("command", EXPORTS)
def test_a_link_is_followed(cli: Callable[..., Outcome], tmp_path: Path, command: tuple[str, ...]) -> None:
    assert cli("remember", "tea", "--tag", "Priya").code == 0
    link, target = tmp_path / "latest", tmp_path / "today"
    link.symlink_to(target)
    for _ in range(2):
        assert cli(*command, str(link)).code == 0
        assert link.is_symlink()
        assert "Priya" in target.read_text()
        target.write_text("before")


@pytest.mark.parametrize("command", EXPORTS)
def test_what_the_shell_opened_stays_what_it_is(
    dsn: str, cli: Callable[..., Outcome], tmp_path: Path, command: tuple[str, ...]
) -> None:
    assert cli("remember", "tea", "--tag", "Priya").code == 0
    for path in ("/dev/stdout", "/proc/self/fd/1"):
        with (tmp_path / "out").open("wb") as out:
            done = subprocess.run(
                [sys.executable, "-m", "pgrecall", *command, path],
                env=os.environ | {"PGRECALL_DSN": dsn},
                stdout=out,
                check=False,
            )
            assert done.returncode == 0
            assert os.fstat(out.fileno()).st_ino == (tmp_path / "out").stat().st_ino
        assert "Priya" in (tmp_path / "out").read_text()
    assert Path("/dev/stdout").is_symlink()


@pytest.mark.parametrize("command", EXPORTS)
def test_a_dash_is_standard_output(cli: Callable[..., Outcome], command: tuple[str, ...]) -> None:
    assert cli("remember", "tea", "--tag", "Priya").code == 0
    assert "Priya" in cli(*command, "-").out


GOOD = '{"content": "tea"}\n'
BAD = '{"content": ""}\n'


@pytest.mark.parametrize("text", [GOOD, '[{"content": "tea"}]', "content\ntea\n", "[1]\n", "# notes", "\xff"])
def test_rejected_rows_replace_nothing_else(cli: Callable[..., Outcome], tmp_path: Path, text: str) -> None:
    source, other = tmp_path / "in.jsonl", tmp_path / "other"
    source.write_text(GOOD)
    other.write_text(text, encoding="latin-1")
    done = cli("import", str(source), "--rejected", str(other))
    assert (done.code, other.read_text(encoding="latin-1")) == (1, text)
    assert "holds something else than rejected rows" in done.err
    assert "hint: Name another file with --rejected" in done.err
    assert "tea" not in cli("list").out


@pytest.mark.parametrize("link", [os.symlink, os.link, None])
def test_the_source_is_not_where_its_rejected_rows_go(
    cli: Callable[..., Outcome], tmp_path: Path, link: Callable[[Path, Path], None] | None
) -> None:
    source = tmp_path / "in.jsonl"
    source.write_text(GOOD + BAD)
    target = source
    if link is not None:
        target = tmp_path / "link"
        link(source, target)
    assert cli("import", str(source), "--rejected", str(target)).code == 1
    assert source.read_text() == GOOD + BAD


def test_rejected_rows_replace_those_of_an_earlier_run(cli: Callable[..., Outcome], tmp_path: Path) -> None:
    source, rejected = tmp_path / "in.jsonl", tmp_path / "rejected"
    for text, rows in ((BAD * 2, 2), (BAD, 1), (GOOD, 0), (BAD, 1)):
        source.write_text(text)
        assert cli("import", str(source), "--rejected", str(rejected)).code == bool(rows)
        assert len(rejected.read_text().splitlines()) == rows
