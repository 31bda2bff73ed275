"""Git on the objects of a repository alone, without its configuration, its hooks and what it points to.

git does what a repository's configuration says: it runs filters, pagers, signature programs and transports,
and follows paths. The author of a repository may have written any of that. Here git sees a repository of our
own, with our configuration, and borrows the folder of objects. The refs are read here, and copied.
"""

from __future__ import annotations

import os
import re
import stat
import subprocess
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pgrecall.errors import InvalidInput, PgrecallError
from pgrecall.files import open_regular, temporary_file

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Git", "isolated_git"]

_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF = re.compile(r"refs(?:/[^\x00-\x20\x7f~^:?*\[\\/.][^\x00-\x20\x7f~^:?*\[\\/]*)+")
_LONGEST_REF = 4096
_MOST_REFS = 64 * 2**20
"""Bytes of packed-refs and shallow that are read."""

_CLONE = "If you trust it: clone it without hard links, and import the clone."

_MOST_MEMORY = "256m"
"""What git may allocate for one object: a few kilobytes can be the delta of a gigabyte."""

_SECRETIVE = {
    "GIT_ALLOC_LIMIT": _MOST_MEMORY,
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}


@dataclass(frozen=True, slots=True)
class Git:
    """How to call git.

    Attributes:
        name: The name of the repository.
        command: What each command begins with.
        environment: The only variables that git gets.
        folder: The folder to run it in.
    """

    name: str
    command: tuple[str, ...]
    environment: dict[str, str]
    folder: str

    def ask(self, *words: str) -> str:
        """Run a command and return what it prints.

        Raises:
            PgrecallError: It fails, or git is not installed.
        """
        try:
            answer = subprocess.run(
                (*self.command, *words),
                capture_output=True,
                check=False,
                stdin=subprocess.DEVNULL,
                env=self.environment,
                cwd=self.folder,
            )
        except FileNotFoundError:
            raise PgrecallError("git is not there", hint="Install git.") from None
        if answer.returncode != 0:
            raise self.failed(answer.stderr)
        return answer.stdout.decode(errors="replace").strip()

    def failed(self, complaint: bytes) -> PgrecallError:
        """Return the error for what git has printed."""
        output = complaint.decode(errors="replace").strip().splitlines()
        return PgrecallError(
            f"git cannot read {self.name}" + (f": {output[-1]}" if output else ""),
            hint="Name the folder of a repository, and a commit that it has.",
        )


@contextmanager
def isolated_git(repository: Path) -> Iterator[Git]:
    """Make a repository of our own that borrows the objects of another one.

    Args:
        repository: Its folder, or one inside it.

    Raises:
        PgrecallError: It is no repository, or one that borrows objects from elsewhere.
    """
    found = _git_folder(repository)
    _check_objects(found / "objects")
    refs = _refs(found)
    head = _resolved("HEAD", {**refs, "HEAD": _line(found / "HEAD")})
    name = (found.parent if found.name == ".git" else found).name
    with temporary_file():
        temporary = tempfile.TemporaryDirectory(prefix="pgrecall-git-")
    with temporary as folder:
        own = Path(folder) / "repository"
        (own / "objects").mkdir(parents=True)
        (own / "refs").mkdir()
        values = {ref: _resolved(ref, refs) for ref in refs if not ref.startswith("refs/replace/")}
        known = {ref: value for ref, value in values.items() if value is not None}
        lines = "".join(f"{known[ref]} {ref}\n" for ref in sorted(known))
        (own / "packed-refs").write_text(f"# pack-refs with: sorted \n{lines}", encoding="utf-8")
        (own / "HEAD").write_text(f"{head or 'ref: refs/heads/none'}\n", encoding="utf-8")
        grafted = [line for line in _lines(found / "shallow") if _HASH.fullmatch(line)]
        if grafted:
            (own / "shallow").write_text("\n".join(grafted) + "\n", encoding="utf-8")
        (own / "config").write_text(
            _configuration(any(len(value) == 64 for value in known.values())), encoding="utf-8"
        )
        passed_on = {key: os.environ[key] for key in ("PATH", "SYSTEMROOT", "TMPDIR") if key in os.environ}
        environment = {
            **passed_on,
            **_SECRETIVE,
            "GIT_DIR": str(own),
            "GIT_OBJECT_DIRECTORY": str((found / "objects").resolve()),
            "HOME": folder,
            "LC_ALL": "C.UTF-8",
        }
        command = ("git", "--no-pager", "-c", "protocol.allow=never", "-c", "i18n.logOutputEncoding=UTF-8")
        yield Git(name, command, environment, folder)


def _configuration(is_sha256: bool) -> str:
    version, extension = (1, "[extensions]\n\tobjectFormat = sha256\n") if is_sha256 else (0, "")
    return (
        f"[core]\n\trepositoryFormatVersion = {version}\n\tbare = true\n"
        f"\tcommitGraph = false\n\tmultiPackIndex = false\n{extension}"
    )


def _git_folder(repository: Path) -> Path:
    """Find the folder that holds the objects: of a working tree, or of a bare repository."""
    for folder in (repository.resolve(), *repository.resolve().parents):
        inside = folder / ".git"
        if inside.is_symlink() or inside.is_file():
            raise InvalidInput(
                f"{inside} points to a repository elsewhere, which is not followed",
                hint="Name the folder of that repository, and the commit by --revision.",
            )
        for found in (inside, folder):
            if (found / "HEAD").is_file() and (found / "objects").is_dir() and (found / "refs").is_dir():
                for part in ("HEAD", "objects", "refs"):
                    if (found / part).is_symlink():
                        raise InvalidInput(f"{found / part} is a link, which is not followed", hint=_CLONE)
                return found
    raise PgrecallError(
        f"git cannot read {repository}: it is no repository", hint="Name the folder of a repository."
    )


def _check_objects(objects: Path) -> None:
    """Refuse objects that are not here: links, what would be opened without end, and what is borrowed.

    Raises:
        InvalidInput: There is such an object.
    """
    folders = [objects]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(Path(entry.path))
                    elif not entry.is_file(follow_symlinks=False):
                        raise InvalidInput(
                            f"{entry.path} is neither a regular file nor a folder", hint=_CLONE
                        )
        except OSError as error:
            raise InvalidInput(
                f"cannot read {folder}: {error.strerror}", hint="Check its permissions."
            ) from None
    if (objects / "info" / "alternates").exists():
        raise InvalidInput(
            f"{objects} borrows objects of another repository, which are not read",
            hint="Copy them first: git repack -a -d, then delete objects/info/alternates.",
        )


def _refs(found: Path) -> dict[str, str]:
    """Read the refs as they are written; one that is no plain ref is left out."""
    refs: dict[str, str] = {}
    for line in _lines(found / "packed-refs"):
        value, _, name = line.partition(" ")
        if _HASH.fullmatch(value) and _is_ref(name):
            refs[name] = value
    for above, _, names in os.walk(found / "refs"):
        for one in names:
            file = Path(above) / one
            name = file.relative_to(found).as_posix()
            if _is_ref(name) and stat.S_ISREG(file.lstat().st_mode):
                refs[name] = _line(file)
    return refs


def _is_ref(name: str) -> bool:
    return (
        _REF.fullmatch(name) is not None
        and not name.endswith((".lock", "."))
        and ".." not in name
        and "@{" not in name
        and name.isprintable()
    )


def _resolved(name: str, refs: dict[str, str]) -> str | None:
    """Return the object of a ref, which may name another one; None if there is none."""
    for _ in range(5):
        value = refs.get(name, "")
        if _HASH.fullmatch(value):
            return value
        name = value.removeprefix("ref:").strip()
    return None


def _line(file: Path) -> str:
    with open_regular(file, follow=False) as opened:
        return opened.read(_LONGEST_REF).decode(errors="replace").strip()


def _lines(file: Path) -> list[str]:
    if not file.exists() and not file.is_symlink():
        return []
    with open_regular(file, follow=False) as opened:
        raw = opened.read(_MOST_REFS + 1)
    if len(raw) > _MOST_REFS:
        raise InvalidInput(f"{file} has more than {_MOST_REFS} bytes", hint="Delete refs that nobody needs.")
    return raw.decode(errors="replace").splitlines()
