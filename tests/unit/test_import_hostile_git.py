"""Repositories whose author wants something of the reader: nothing in them is run, fetched or followed."""

from __future__ import annotations

import os
import shutil
import subprocess
import zlib
from typing import TYPE_CHECKING

import pytest

from pgrecall import PgrecallError
from pgrecall.contrib.importers import Row
from pgrecall.contrib.importers.git import git_source

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pgrecall.contrib.importers import Rejected

_WHO = {f"GIT_{who}_{what}": "Lea" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}


def git(folder: Path, *words: str, message: str | None = None) -> str:
    return subprocess.run(
        ["git", "-c", "init.defaultBranch=main", *words],
        cwd=folder,
        input=message,
        capture_output=True,
        check=True,
        text=True,
        env={**os.environ, **_WHO, "GIT_CONFIG_GLOBAL": os.devnull},
    ).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init")
    (folder / "a.txt").write_text("x")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "First")
    (folder / "a.txt").write_text("y")
    git(folder, "commit", "-am", "Second")
    return folder


@pytest.fixture
def program(tmp_path: Path) -> str:
    """A program that leaves a marker."""
    file = tmp_path / "program"
    file.write_text(f"#!/bin/sh\ntouch {tmp_path}/marker\nexit 1\n")
    file.chmod(0o755)
    return str(file)


def _read(folder: Path, **options: str) -> list[Row | Rejected]:
    with git_source(folder, **options) as source:  # type: ignore[arg-type]
        return list(source.rows())


def _without_a_tree(folder: Path) -> None:
    """Remove an object, so that git has to fetch it from the promisor."""
    tree = git(folder, "rev-parse", "HEAD^{tree}")
    (folder / ".git" / "objects" / tree[:2] / tree[2:]).unlink()


def _promisor(url: str, *more: str) -> Callable[[Path, str], None]:
    def make(folder: Path, program: str) -> None:
        _without_a_tree(folder)
        lines = [
            "[core]\n\trepositoryformatversion = 1",
            "[extensions]\n\tpartialClone = origin",
            f'[remote "origin"]\n\tpromisor = true\n\turl = {url.format(program=program)}',
            *(line.format(program=program) for line in more),
        ]
        (folder / ".git" / "config").write_text("\n".join(lines))

    return make


def _configured(*lines: str) -> Callable[[Path, str], None]:
    def make(folder: Path, program: str) -> None:
        with (folder / ".git" / "config").open("a") as config:
            config.write("\n".join(line.format(program=program) for line in lines))

    return make


def _included(folder: Path, program: str) -> None:
    _promisor('"ext::{program} %S"')(folder, program)
    shutil.move(folder / ".git" / "config", folder.parent / "elsewhere")
    (folder / ".git" / "config").write_text(f"[include]\n\tpath = {folder.parent}/elsewhere\n")


def _worktree_configuration(folder: Path, program: str) -> None:
    _promisor('"ext::{program} %S"')(folder, program)
    shutil.move(folder / ".git" / "config", folder / ".git" / "config.worktree")
    (folder / ".git" / "config").write_text(
        "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n"
    )


def _attributes(folder: Path, program: str) -> None:
    (folder / ".gitattributes").write_text("* diff=evil filter=evil\n")
    (folder / ".git" / "info" / "attributes").write_text("* diff=evil filter=evil\n")
    git(folder, "add", ".")
    git(folder, "commit", "-m", "Attributes")
    _configured(
        '[diff "evil"]\n\ttextconv = {program}\n\tcommand = {program}',
        '[filter "evil"]\n\tsmudge = {program}\n\tclean = {program}\n\tprocess = {program}\n\trequired = true',
        "[diff]\n\texternal = {program}",
    )(folder, program)


def _signed(folder: Path, program: str) -> None:
    commit = git(folder, "cat-file", "commit", "HEAD")
    head, _, text = commit.partition("\n\n")
    forged = f"{head}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n{text}\n"
    made = git(folder, "hash-object", "-t", "commit", "-w", "--stdin", message=forged)
    git(folder, "update-ref", "HEAD", made)
    _configured(
        "[gpg]\n\tprogram = {program}",
        "[log]\n\tshowSignature = true",
        "[format]\n\tpretty = %G?",
        '[gpg "ssh"]\n\tprogram = {program}\n\tdefaultKeyCommand = {program}',
    )(folder, program)


def _hooks(folder: Path, program: str) -> None:
    for name in ("post-checkout", "reference-transaction", "fsmonitor-watchman", "post-index-change"):
        shutil.copy(program, folder / ".git" / "hooks" / name)
    _configured(
        "[core]\n\thooksPath = hooks\n\tfsmonitor = {program}\n\tpager = {program}\n\teditor = {program}"
    )(folder, program)


def _alias(folder: Path, program: str) -> None:
    _configured(
        '[alias]\n\tlog = "!{program}"\n\trev-list = "!{program}"\n\trev-parse = "!{program}"',
        "[pager]\n\tlog = {program}\n\trev-list = {program}",
        "[core]\n\talternateRefsCommand = {program}\n\tgitProxy = {program}\n\taskPass = {program}",
    )(folder, program)


HOSTILE: dict[str, Callable[[Path, str], None]] = {
    "a promisor by ext": _promisor('"ext::{program} %S"', "[protocol]\n\tallow = always"),
    "a promisor by ext, allowed": _promisor('"ext::{program} %S"', '[protocol "ext"]\n\tallow = always'),
    "a promisor by ssh": _promisor("ssh://host/x", "[core]\n\tsshCommand = {program}"),
    "a promisor in a folder": _promisor("/tmp", "\tuploadpack = {program}"),
    "a promisor by git": _promisor("git://127.0.0.1/x", "[core]\n\tgitProxy = {program}"),
    "a promisor by a helper of its own": _promisor("x", "\tvcs = ext"),
    "a promisor behind insteadOf": _promisor(
        "harmless:x", '[url "ext::{program} "]\n\tinsteadOf = harmless:', '[protocol "ext"]\n\tallow = always'
    ),
    "a promisor in an included file": _included,
    "a promisor in the configuration of a worktree": _worktree_configuration,
    "drivers and filters": _attributes,
    "a signature": _signed,
    "hooks and a monitor": _hooks,
    "aliases and pagers": _alias,
}


@pytest.mark.parametrize("make", HOSTILE.values(), ids=HOSTILE)
def test_nothing_in_a_repository_is_run(
    repository: Path, program: str, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path, str], None]
) -> None:
    make(repository, program)
    marker = repository.parent / "marker"
    marker.unlink(missing_ok=True)
    monkeypatch.setenv("GIT_ALLOW_PROTOCOL", "ext:ssh:file:git")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", program)
    try:
        read = _read(repository)
        said = ""
    except PgrecallError as error:
        read, said = [], error.message
    # Where an object is missing, that is said.
    assert said.startswith("git cannot read project: ") or len(read) >= 2
    assert not marker.exists()


def _elsewhere(folder: Path) -> Path:
    other = folder.parent / "private"
    other.mkdir()
    git(other, "init")
    git(other, "commit", "--allow-empty", "-m", "Secret of another repository")
    return other


def _borrowed(folder: Path) -> None:
    other = _elsewhere(folder)
    (folder / ".git" / "objects" / "info" / "alternates").write_text(f"{other}/.git/objects\n")
    git(folder, "update-ref", "HEAD", git(other, "rev-parse", "HEAD"))


def _pointing(folder: Path) -> None:
    shutil.rmtree(folder / ".git")
    (folder / ".git").write_text(f"gitdir: {_elsewhere(folder)}/.git\n")


def _linked(folder: Path) -> None:
    shutil.rmtree(folder / ".git")
    (folder / ".git").symlink_to(_elsewhere(folder) / ".git")


def _linked_objects(folder: Path) -> None:
    other = _elsewhere(folder)
    shutil.rmtree(folder / ".git" / "objects")
    (folder / ".git" / "objects").symlink_to(other / ".git" / "objects")
    (folder / ".git" / "refs" / "heads" / "main").write_text(git(other, "rev-parse", "HEAD"))


def _linked_pack(folder: Path) -> None:
    other = _elsewhere(folder)
    git(other, "repack", "-a", "-d")
    for file in (other / ".git" / "objects" / "pack").iterdir():
        (folder / ".git" / "objects" / "pack" / file.name).symlink_to(file)
    (folder / ".git" / "refs" / "heads" / "main").write_text(git(other, "rev-parse", "HEAD"))


def _pipe(folder: Path) -> None:
    tree = git(folder, "rev-parse", "HEAD^{tree}")
    _without_a_tree(folder)
    os.mkfifo(folder / ".git" / "objects" / tree[:2] / tree[2:])


def _pipe_for_head(folder: Path) -> None:
    (folder / ".git" / "packed-refs").unlink(missing_ok=True)
    os.mkfifo(folder / ".git" / "packed-refs")


def _linked_head(folder: Path) -> None:
    (folder.parent / "secret").write_text("ref: refs/heads/main\n")
    (folder / ".git" / "HEAD").unlink()
    (folder / ".git" / "HEAD").symlink_to(folder.parent / "secret")


ELSEWHERE = (
    _borrowed,
    _pointing,
    _linked,
    _linked_objects,
    _linked_pack,
    _pipe,
    _pipe_for_head,
    _linked_head,
)


@pytest.mark.parametrize("make", ELSEWHERE)
def test_what_lies_elsewhere_is_refused(repository: Path, make: Callable[[Path], None]) -> None:
    make(repository)
    with pytest.raises(PgrecallError) as caught:
        _read(repository)
    assert caught.value.hint


def test_a_replacement_is_not_taken_for_the_commit(repository: Path) -> None:
    head = git(repository, "rev-parse", "HEAD")
    other = git(repository, "commit-tree", "HEAD^{tree}", "-m", "Never written")
    git(repository, "replace", head, other)
    rows = _read(repository)
    assert [row.memory.content for row in rows if isinstance(row, Row)] == ["First", "Second"]


def test_a_commit_that_unpacks_to_gigabytes_is_refused(repository: Path) -> None:
    packer = zlib.compressobj(9)
    packed = packer.compress(b"commit 1073741824\0")
    packed += b"".join(packer.compress(bytes(2**20)) for _ in range(300)) + packer.flush()
    name = "ab" + "0" * 38
    (repository / ".git" / "objects" / "ab").mkdir(exist_ok=True)
    (repository / ".git" / "objects" / "ab" / name[2:]).write_bytes(packed)
    (repository / ".git" / "refs" / "heads" / "main").write_text(name)
    with pytest.raises(PgrecallError, match="git cannot read project"):
        _read(repository)


def test_the_usual_forms_of_a_repository_are_read(repository: Path, tmp_path: Path) -> None:
    def contents(folder: Path, **options: str) -> list[str | None]:
        return [row.memory.content for row in _read(folder, **options) if isinstance(row, Row)]

    (repository / "sub").mkdir()
    assert contents(repository / "sub") == ["First", "Second"]
    git(repository, "branch", "topic/a")
    git(repository, "tag", "-a", "v1", "-m", "one", "HEAD~1")
    git(repository, "pack-refs", "--all")
    git(repository, "gc", "--quiet")
    assert contents(repository, revision="topic/a") == ["First", "Second"]
    assert contents(repository, revision="v1") == ["First"]
    assert contents(repository, revision="HEAD~1") == ["First"]
    git(tmp_path, "clone", "--bare", "--quiet", str(repository), "bare.git")
    assert contents(tmp_path / "bare.git") == ["First", "Second"]
    with git_source(tmp_path / "bare.git") as source:
        assert "commits of bare.git:" in source.found[0]
    git(tmp_path, "clone", "--depth=1", "--quiet", f"file://{repository}", "shallow")
    assert contents(tmp_path / "shallow") == ["Second"]
    assert contents(tmp_path / "shallow", revision="origin/HEAD") == ["Second"]
    git(tmp_path, "init", "--object-format=sha256", "long")
    git(tmp_path / "long", "commit", "--allow-empty", "-m", "Long names")
    assert contents(tmp_path / "long") == ["Long names"]
