"""Every example of README and the pages of docs/ runs, or says why not; what it prints is as the page says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import sql

from pgrecall import Client
from pgrecall.admin.code import DATABASE_DEFAULTS
from support.docs import OF_README, PAGES, ROOT, Reader, commands, complaints, examples, matches
from support.extractor import WITHOUT_SPACY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

# SQL that differs from one version to another has tests of its own.
TEXTS = {page: (ROOT / page).read_text(encoding="utf-8") for page in PAGES}
EXAMPLES = {page: examples(page, text) for page, text in TEXTS.items()}
RUN = {page: [one for one in found if one.reason is None] for page, found in EXAMPLES.items()}


@pytest.fixture
def no_roles_left(server_dsn: str) -> Iterator[None]:
    """Roles belong to the server, not to the page's database: those that a page makes are dropped."""
    query = "SELECT rolname FROM pg_roles"
    with psycopg.connect(server_dsn, autocommit=True) as admin:
        before = set(admin.execute(query))
        yield
        for (role,) in set(admin.execute(query)) - before:
            admin.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))


@pytest.mark.parametrize("page", [page for page in PAGES if RUN[page]])
@pytest.mark.usefixtures("no_roles_left")
def test_the_examples_of_a_page_run(
    page: str, database: Callable[..., AbstractContextManager[str]], template: str, tmp_path: Path
) -> None:
    with database(template, DATABASE_DEFAULTS) as dsn:
        with Client(dsn) as client:
            client.admin.set_setting("extract", WITHOUT_SPACY)
        reader = Reader(dsn, tmp_path)
        try:
            for example in RUN[page]:
                printed = reader.run(example)
                if example.output is not None:
                    assert matches(example.output, printed), f"{page}:{example.line} prints\n{printed}"
        finally:
            reader.close()


def test_most_examples_are_run() -> None:
    everywhere = [one for found in EXAMPLES.values() for one in found]
    left_out = [one for one in everywhere if one.reason is not None and one.reason.startswith("not run")]
    assert len(everywhere) > 80
    assert len(left_out) < len(everywhere) / 2
    # Of the tutorial all but two: to install, and to start a server.
    assert len(EXAMPLES["docs/tutorial.md"]) - len(RUN["docs/tutorial.md"]) == 2


def test_what_is_said_of_readme_is_of_its_examples() -> None:
    assert {one.reason for one in EXAMPLES["README.md"] if one.reason} == set(OF_README.values())


@pytest.mark.parametrize("page", PAGES)
def test_what_is_not_run_says_why(page: str) -> None:
    assert complaints(TEXTS[page]) == []


# --- The check can fail ---


def test_examples_are_told_apart() -> None:
    page = (
        "<!-- not run: it needs a moon -->\n```sh\nmoon\n```\n\n```python\nprint(1)\n```\n\n"
        "<!-- output -->\n```text\n1\n```\n```toml\na = 1\n```\n```sql\nSELECT 1;\n```\n"
    )
    assert [(one.language, one.line, one.reason, one.output) for one in examples("docs/x.md", page)] == [
        ("sh", 3, "not run: it needs a moon", None),
        ("python", 7, None, "1\n"),
        ("sql", 18, None, None),
    ]


@pytest.mark.parametrize(
    ("page", "complaint"),
    [
        ("<!-- not run: no -->\n```sh\nx\n```\n", "'not run: no' is no reason"),
        ("<!-- run by: tests/test_none.py -->\n```sh\nx\n```\n", "tests/test_none.py is not there"),
        ("```\npgrecall up\n```\n", "no language: pgrecall up"),
    ],
)
def test_marks_are_checked(page: str, complaint: str) -> None:
    assert complaints(page) == [complaint]


def test_a_wrong_example_fails(dsn: str, tmp_path: Path) -> None:
    reader = Reader(dsn, tmp_path)
    right = "```sql\nSELECT 1 AS a;\n```\n```python\nprint(2)\n```\n```sh\nA=3 sh -c 'echo $A' | cat\n```\n"
    assert [reader.run(one).split()[-1] for one in examples("docs/x.md", right)] == ["row)", "2", "3"]
    wrong = (
        "```sql\nSELECT no_such();\n```\n```python\n1 / 0\n```\n```sh\nfalse | false\n```\n"
        "```sh\npgrecall doctor --dsn dbname=no_such_database\n```\n"
    )
    for one in examples("docs/x.md", wrong):
        with pytest.raises((AssertionError, ZeroDivisionError)):
            reader.run(one)


def test_commands_of_several_lines_are_whole() -> None:
    code = "cat > x <<'END'\na 'b\nEND\n\n# a word\npsql -c \"SELECT\n1\"  # two lines\ncat \\\n  x\n"
    assert list(commands(code)) == [
        "cat > x <<'END'\na 'b\nEND",
        'psql -c "SELECT\n1"  # two lines',
        "cat \\\n  x",
    ]


@pytest.mark.parametrize(
    ("printed", "is_right"),
    [
        ("1  one\n2  two\n", True),
        ("1 one\n\n2   two", True),
        ("1 one\n2 three", False),
        ("1 one\n2 two\n3 three", False),
    ],
)
def test_output_is_compared(printed: str, is_right: bool) -> None:
    assert matches("1  …\n2  two", printed) is is_right
