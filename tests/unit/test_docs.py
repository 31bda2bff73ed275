"""What the documents say is there: links, make targets, files, code; what is generated is in date."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from pglast import parse_sql

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = {".venv", ".git", "node_modules"}
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in ROOT.rglob("*.md")
    if not SKIPPED & set(path.relative_to(ROOT).parts) and not path.parent.name.startswith(".")
)
LINT = re.compile(r"(?m)^lint:.*\n((?:\t.*\n)+)")


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def code_blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", text_of(page))


def prose_of(page: str) -> str:
    return re.sub(r"(?ms)^```.*?^```$", "", text_of(page))


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"(?m)^#+ (.+)$", page.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def make_targets() -> set[str]:
    return set(re.findall(r"(?m)^([a-z-]+):.*## ", text_of("Makefile")))


def test_the_pages_are_there() -> None:
    assert {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/sql-api.md", "sql/README.md"} <= set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", prose_of(page)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        linked = (ROOT / page).parent / name if name else ROOT / page
        assert linked.exists(), f"{page} links to {target}"
        if anchor:
            assert anchor in anchors(linked), f"{page} links to {target}"


def test_files_that_contributing_names_exist() -> None:
    named = re.findall(
        r"`((?:sql|tests|tools|pyclient|embedder|docs|migrations)/[\w./-]+)`", text_of("CONTRIBUTING.md")
    )
    assert len(named) > 20
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", [*PAGES, ".github/workflows/ci.yml", ".ci/run"])
def test_make_targets_exist(page: str) -> None:
    named = re.findall(r"(?m)(?:`|^\s*|run: )make ([a-z-]+)", text_of(page))
    assert set(named) <= make_targets()


@pytest.mark.parametrize("page", [page for page in PAGES if code_blocks(page, "sql")])
def test_sql_examples_parse(page: str) -> None:
    for block in code_blocks(page, "sql"):
        # Signatures and file headers, with an ellipsis for what is left out, are not statements.
        if not re.search(r"\) → |RETURN \(…\)", block):
            parse_sql(block)


@pytest.mark.parametrize("page", [page for page in PAGES if code_blocks(page, "python")])
def test_python_examples_parse(page: str) -> None:
    for block in code_blocks(page, "python"):
        ast.parse(block)


@pytest.mark.parametrize("page", [page for page in PAGES if page != "CHANGELOG.md"])
def test_files_that_are_named_exist(page: str) -> None:
    for name in re.findall(
        r"`((?:sql|migrations|tools|tests|docs|pyclient|embedder|examples)/[\w./-]+)`", prose_of(page)
    ):
        assert (ROOT / name).exists(), f"{page} names {name}"


def test_every_folder_of_sql_is_on_its_map() -> None:
    folders = {path.parent.relative_to(ROOT / "sql").as_posix() for path in (ROOT / "sql").glob("*/**/*.sql")}
    assert set(re.findall(r"(?m)^\| `([\w/]+)/`", text_of("sql/README.md"))) == folders


def test_a_feature_declares_its_tables_in_its_own_folder() -> None:
    declaring = list((ROOT / "sql").rglob("tables_of_*.sql"))
    assert declaring
    assert [path for path in declaring if path.stem != f"tables_of_{path.parent.name}"] == []


def test_pre_commit_runs_what_make_lint_runs() -> None:
    entries = re.findall(r"(?m)^ +entry: (.+)$", text_of(".pre-commit-config.yaml"))
    found = LINT.search(text_of("Makefile"))
    assert found is not None
    commands = [line.strip().replace("$(BIN)", ".venv/bin") for line in found[1].splitlines()]
    assert sorted(entries) == sorted(commands)


def test_make_lint_checks_what_make_generate_writes() -> None:
    makefile = text_of("Makefile")
    [generate] = re.findall(r"(?m)^generate:.*\n((?:\t.*\n)+)", makefile)
    found = LINT.search(makefile)
    assert found is not None
    assert set(re.findall(r"tools/\w+\.py", generate)) - set(re.findall(r"(\S+) --check", found[1])) == set()


def test_the_changelog_names_the_version() -> None:
    version = tomllib.loads(text_of("pyproject.toml"))["project"]["version"]
    assert re.search(rf"(?m)^## (Unreleased|{re.escape(version)})", text_of("CHANGELOG.md"))


def test_every_decision_is_in_the_index() -> None:
    found = {path.name for path in (ROOT / "docs" / "adr").glob("[0-9]*.md")}
    assert set(re.findall(r"\]\((\d{4}[^)]+)\)", text_of("docs/adr/index.md"))) == found


# `make lint` compares them too; this one starts a server for it.
@pytest.mark.parametrize(
    "tool", [pytest.param("sql_reference.py", marks=pytest.mark.slow), "cli_reference.py"]
)
def test_the_references_are_in_date(tool: str) -> None:
    checked = subprocess.run(
        [sys.executable, str(ROOT / "tools" / tool), "--check"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr
