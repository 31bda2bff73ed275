"""A file that is replaced whole or not at all."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from pgrecall.files import atomic_file

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664])
def test_a_file_appears_when_it_is_complete(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "a file"
    mask = os.umask(0o077)
    try:
        for text in (b"first", b"second"):
            with atomic_file(file, mode) as out:
                out.write(text)
                assert not file.exists() or file.read_bytes() == b"first"
            assert file.read_bytes() == text
            assert stat.S_IMODE(file.stat().st_mode) == mode
    finally:
        os.umask(mask)
    assert list(tmp_path.iterdir()) == [file]


def write_half(file: Path, error: type[BaseException]) -> None:
    with atomic_file(file, 0o600) as out:
        out.write(b"half")
        raise error


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
@pytest.mark.parametrize("before", [None, b"before"])
def test_what_ends_the_block_leaves_all_as_it_was(
    tmp_path: Path, before: bytes | None, error: type[BaseException]
) -> None:
    file = tmp_path / "a file"
    if before is not None:
        file.write_bytes(before)
    with pytest.raises(error):
        write_half(file, error)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == ([] if before is None else [before])


def test_a_file_that_cannot_be_made_or_renamed(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), atomic_file(tmp_path / "none" / "file", 0o600):
        pass
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError), atomic_file(tmp_path / "folder", 0o600):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
