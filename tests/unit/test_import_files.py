"""Git repositories and folders of Markdown as sources: which rows they give, and how rows are identified."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from pgrecall import PgrecallError
from pgrecall.contrib.importers import Rejected, Row
from pgrecall.contrib.importers.git import git_source
from pgrecall.contrib.importers.markdown import markdown_source
from support.import_from import unlistable

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from pgrecall.contrib.importers import Source


def _read(opened: AbstractContextManager[Source]) -> tuple[list[Row], list[Rejected]]:
    with opened as source:
        rows = list(source.rows())
        assert rows == list(source.rows())  # the same each time
    return (
        [row for row in rows if isinstance(row, Row)],
        [row for row in rows if isinstance(row, Rejected)],
    )


# -- git


@pytest.fixture
def repository(tmp_path: Path) -> tuple[Path, Callable[..., str]]:
    """A repository, and a function that runs git in it."""
    folder = tmp_path / "project"
    folder.mkdir()
    names = {f"GIT_{who}_{what}": "Lea Berg" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    date = {"GIT_AUTHOR_DATE": "2026-01-02T03:04:05+01:00", "GIT_CONFIG_GLOBAL": os.devnull}

    def git(*words: str, message: bytes | None = None) -> str:
        return subprocess.run(
            ["git", "-c", "init.defaultBranch=main", *words],
            cwd=folder,
            input=message,
            capture_output=True,
            check=True,
            env={**os.environ, **names, **date},
        ).stdout.decode(errors="replace")

    git("init")
    return folder, git


def test_commits_and_notes(repository: tuple[Path, Callable[..., str]]) -> None:
    folder, git = repository
    (folder / "a b.txt").write_text("x")
    (folder / "ü.txt").write_text("x")
    git("add", ".")
    git("commit", "-m", "Make tea\n\nWith milk,\n\x1e and \x1f.\n")
    git("commit", "--allow-empty", "-m", "Nothing changes")
    git("notes", "add", "-m", "Reviewed by Omar")
    rows, rejected = _read(git_source(folder))
    assert rejected == []
    first, second, remark = rows
    hashes = git("log", "--reverse", "--format=%H").split()
    assert [row.id for row in rows] == [hashes[0], hashes[1], f"{hashes[1]}#note"]
    assert first.memory.content == "Make tea\n\nWith milk,\n\x1e and \x1f."
    assert first.memory.speaker == "Lea Berg"
    assert first.memory.occurred_at == datetime(2026, 1, 2, 2, 4, 5, tzinfo=UTC)
    assert first.memory.source == "project"
    assert first.memory.metadata == {"commit": hashes[0], "paths": ["a b.txt", "ü.txt"]}
    assert second.memory.metadata == {"commit": hashes[1], "paths": []}
    assert remark.memory.content == "Reviewed by Omar"
    assert remark.memory.speaker is None


def test_merges_are_left_out_unless_asked_for(repository: tuple[Path, Callable[..., str]]) -> None:
    folder, git = repository
    git("commit", "--allow-empty", "-m", "One")
    git("checkout", "-b", "side")
    git("commit", "--allow-empty", "-m", "Two")
    git("checkout", "main")
    git("commit", "--allow-empty", "-m", "Three")
    git("merge", "--no-ff", "-m", "Merge", "side")
    rows, _ = _read(git_source(folder))
    assert {row.memory.content for row in rows} == {"One", "Two", "Three"}
    rows, _ = _read(git_source(folder, merges=True))
    assert {row.memory.content for row in rows} == {"One", "Two", "Three", "Merge"}
    rows, _ = _read(git_source(folder, revision="side"))
    assert [row.memory.content for row in rows] == ["One", "Two"]


def test_of_many_paths_some_are_named(repository: tuple[Path, Callable[..., str]]) -> None:
    folder, git = repository
    for number in range(250):
        (folder / f"{number:03}").write_text("")
    git("add", ".")
    git("commit", "-m", "Many")
    git("commit", "--allow-empty", "-m", "None")
    (row, last), _ = _read(git_source(folder))
    assert row.memory.metadata is not None
    assert row.memory.metadata["paths"] == [f"{number:03}" for number in range(200)]
    assert row.memory.metadata["number_of_paths"] == 250
    assert last.memory.content == "None"


def test_a_message_that_is_not_utf8_costs_its_commit(repository: tuple[Path, Callable[..., str]]) -> None:
    folder, git = repository
    git("commit", "--allow-empty", "-m", "good")
    # git itself would mend the message: the commit is written as other programs may write it.
    plain = git("cat-file", "commit", "HEAD").encode()
    parent = git("rev-parse", "HEAD").strip().encode()
    head, _, _ = plain.partition(b"\n\n")
    tree, _, people = head.partition(b"\n")
    for message, said in ((b"caf\xe9", b""), (b"th\xe9", b"\nencoding ISO-8859-1")):
        commit = tree + b"\nparent " + parent + b"\n" + people + said + b"\n\n" + message
        parent = git("hash-object", "-t", "commit", "-w", "--stdin", message=commit).strip().encode()
    git("update-ref", "HEAD", parent.decode())
    rows, rejected = _read(git_source(folder))
    assert [row.memory.content for row in rows] == ["good", "thé"]
    assert [row.reason for row in rejected] == ["the message is not UTF-8 at byte 4"]


@pytest.mark.parametrize("revision", ["nowhere", "--output=stolen"])
def test_no_such_commit(repository: tuple[Path, Callable[..., str]], revision: str) -> None:
    folder, git = repository
    git("commit", "--allow-empty", "-m", "One")
    with pytest.raises(PgrecallError) as caught, git_source(folder, revision=revision):
        pass
    assert caught.value.hint
    assert not (folder / "stolen").exists()


def test_no_repository(tmp_path: Path) -> None:
    with pytest.raises(PgrecallError, match="git cannot read"), git_source(tmp_path):
        pass


# -- Markdown

PAGE = """\
---
title: The page
tags: [tea, "2026-01-02"]
date: 2026-01-02
lang: de
author:
  name: Lea
  1: one
---
Before any heading.

# Tea

Pour *water*.

```sh
# no heading
```

## Green

> # quoted, no heading

### Empty

## Green

Again, `# no heading`.

Setext
======

Last.
"""


def test_sections(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "page.md").write_text(PAGE)
    (tmp_path / "plain.markdown").write_bytes(b"\xef\xbb\xbfNo heading\r\nat all")
    (tmp_path / "other.txt").write_text("# no")
    (tmp_path / ".hidden").mkdir()
    (tmp_path / ".hidden" / "x.md").write_text("# no\n\nno")
    rows, rejected = _read(markdown_source(tmp_path))
    assert rejected == []
    assert [(row.id, row.place, row.memory.title, row.memory.content) for row in rows] == [
        ("plain.markdown", "plain.markdown:1", "plain", "No heading\nat all"),
        ("sub/page.md", "sub/page.md:10", "The page", "Before any heading."),
        ("sub/page.md#Tea", "sub/page.md:13", "Tea", "Pour *water*.\n\n```sh\n# no heading\n```"),
        ("sub/page.md#Tea/Green", "sub/page.md:21", "Tea > Green", "> # quoted, no heading"),
        ("sub/page.md#Tea/Green#2", "sub/page.md:27", "Tea > Green", "Again, `# no heading`."),
        ("sub/page.md#Setext", "sub/page.md:32", "Setext", "Last."),
    ]
    for position, row in enumerate(rows[1:], 1):
        assert row.memory.position == position
        assert row.memory.session == row.memory.source == "sub/page.md"
        assert row.memory.tags == ["tea", "2026-01-02"]
        assert row.memory.occurred_at == datetime(2026, 1, 2, tzinfo=UTC)
        assert row.memory.language == "german"
        assert row.memory.metadata == {"author": {"name": "Lea", "1": "one"}}


def test_a_file_may_be_sensitive(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\nsensitive: true\n---\n# A\n\nsecret\n\n# B\n\nsecret\n")
    (tmp_path / "b.md").write_text("open")
    (tmp_path / "c.md").write_text("---\nis_sensitive: perhaps\n---\nsecret")
    rows, rejected = _read(markdown_source(tmp_path))
    assert [row.memory.is_sensitive for row in rows] == [True, True, False]
    assert rejected == [Rejected("c.md", "is_sensitive is neither true nor false")]


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"---\na: [\n---\nx", "front matter is not YAML"),
        (b"---\n- a\n---\nx", "front matter is not a mapping"),
        (b"---\na: &a [x]\nb: *a\n---\nx", "front matter uses aliases"),
        (b"---\na: !!python/object/apply:os.getcwd []\n---\nx", "front matter is not YAML"),
        *(
            (b"---\na: " + value + b"\n---\nx", "front matter is not YAML")
            for value in (
                b"!!bool maybe",
                b'!!int ""',
                b'!!float ""',
                b"!!timestamp x",
                b"!!timestamp 0001-01-01 00:00:00 +23:00",
                b"!!binary x",
            )
        ),
        (b"---\na: " + b"x" * 70_000 + b"\n---\nx", "front matter has more than"),
        (b"---\ndate: yesterday\n---\nx", "date is not an ISO 8601 time"),
        (b"caf\xe9", "not UTF-8 at byte 4"),
        (b"x" * 5_000_000, "it has more than"),
    ],
)
def test_a_bad_file_costs_only_itself(tmp_path: Path, raw: bytes, reason: str) -> None:
    (tmp_path / "a.md").write_bytes(raw)
    (tmp_path / "b.md").write_text("tea")
    rows, rejected = _read(markdown_source(tmp_path))
    assert [row.memory.content for row in rows] == ["tea"]
    assert [(row.place, reason in row.reason) for row in rejected] == [("a.md", True)]


def test_without_a_second_fence_there_is_no_front_matter(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\ntea")
    (row,), _ = _read(markdown_source(tmp_path))
    assert row.memory.content == "---\ntea"


def test_a_long_heading_still_tells_sections_apart(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(f"# {'é' * 900}1\n\ntea\n\n# {'é' * 900}2\n\ntea\n")
    rows, _ = _read(markdown_source(tmp_path))
    assert len({row.id for row in rows}) == 2
    assert all(len(row.id.encode()) < 1000 for row in rows)


def test_a_folder_that_cannot_be_read_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("tea")
    deepest = unlistable(tmp_path)
    rows, rejected = _read(markdown_source(tmp_path))
    assert [row.memory.content for row in rows] == ["tea"]
    assert rejected == [Rejected(str(deepest.relative_to(tmp_path)), "File name too long")]


def test_one_file_is_a_source_too(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("tea")
    assert [row.id for row in _read(markdown_source(tmp_path / "a.md"))[0]] == ["a.md"]
    with pytest.raises(PgrecallError, match="there is no folder"), markdown_source(tmp_path / "none"):
        pass
