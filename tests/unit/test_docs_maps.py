"""The maps of the source name every part of it, and nothing that is not there."""

from __future__ import annotations

import ast
import dataclasses
import re
import tomllib
from pathlib import Path

import pytest

from pgrecall.config.settings import Settings
from pgrecall_embedder import providers

ROOT = Path(__file__).resolve().parents[2]
CLIENT = ROOT / "pyclient" / "pgrecall"


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def parts(folder: Path) -> set[str]:
    """The modules and packages of a folder."""
    packages = {path.parent.name for path in folder.glob("*/__init__.py")}
    return packages | {path.stem for path in folder.glob("*.py") if not path.stem.startswith("__")}


def rooms_of_the_map() -> dict[str, str]:
    """The first and the second column of the table of pyclient/README.md."""
    return dict(re.findall(r"(?m)^\| (`.+?) \| (.+) \|$", text_of("pyclient/README.md")))


def test_every_room_and_module_of_the_client_is_on_its_map() -> None:
    named = re.findall(r"`(\w+)/?`", " ".join(rooms_of_the_map()))
    assert len(named) == len(set(named))
    assert set(named) == parts(CLIENT)


@pytest.mark.parametrize("room", ["_async", "contrib"])
def test_every_module_of_a_room_is_on_the_map(room: str) -> None:
    assert set(re.findall(r"`(\w+)`", rooms_of_the_map()[f"`{room}/`"])) == parts(CLIENT / room)


def test_the_paths_of_a_call_lead_through_functions_that_are_there() -> None:
    steps = re.findall(r"`([\w/]+\.py)`(?: \(`(\w+)`\))?", text_of("pyclient/README.md"))
    assert len(steps) > 8
    for path, name in steps:
        source = (CLIENT / path).read_text(encoding="utf-8")
        assert not name or re.search(rf"def {name}\(", source), f"{path} has no {name}"


def test_the_decision_on_the_house_names_what_is_there() -> None:
    page = text_of("docs/adr/0019-the-house.md")
    [rooms] = re.findall(r"\*\*Rooms\.\*\* (.*?) \[The map\]", page, re.DOTALL)
    assert set(re.findall(r"`(\w+)`", rooms)) == {path.parent.name for path in CLIENT.glob("*/__init__.py")}
    sources = {path.name: path.read_text(encoding="utf-8") for path in (CLIENT / "_async").glob("*.py")}
    attributes = set(re.findall(r"self\.([a-z]\w+) = Async\w+\(", sources["connected.py"]))
    assert (
        set(re.findall(r"`client\.(\w+)`", page.split("**One class")[1].split("**Base classes")[0])) - {"py"}
        == attributes
    )
    lists = re.findall(r"class \w+\((Async\w+(?:, Async\w+)*)\)", "".join(sources.values()))
    bases = {name for names in lists for name in names.split(", ")}
    assert set(
        re.findall(r"`(Async\w+)`", page.split("**Base classes")[1].split("**The embedder")[0])
    ) == bases | {"AsyncClient"}


def test_every_page_is_on_the_front_page_and_in_the_navigation() -> None:
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"index.md"}
    assert pages - set(re.findall(r"\]\(([\w-]+\.md)", text_of("docs/index.md"))) == set()
    assert pages - set(re.findall(r": ([\w-]+\.md)$", text_of("mkdocs.yml"), re.MULTILINE)) == set()


def test_every_extra_for_users_is_in_the_readme() -> None:
    extras = set(tomllib.loads(text_of("pyproject.toml"))["project"]["optional-dependencies"])
    install = text_of("README.md").split("## Install")[1].split("\n## ")[0]
    named = set(re.findall(r"`([\w-]+)`", install.split("Other extras:")[1].split("Hosted")[0]))
    named |= {name for names in re.findall(r"'\.\[([\w,-]+)\]'", install) for name in names.split(",")}
    assert named == extras - {"bench", "dev"}


@pytest.mark.parametrize(
    ("source", "page"),
    [
        ("pyclient/pgrecall/metrics.py", "docs/query-embeddings.md"),
        ("embedder/pgrecall_embedder/prometheus.py", "docs/operations.md"),
    ],
)
def test_every_metric_is_on_its_page(source: str, page: str) -> None:
    made = {
        (call.func.id.lower(), re.sub("_total$", "", str(call.args[0].value)))
        for call in ast.walk(ast.parse(text_of(source)))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Name)
        and call.func.id in {"Counter", "Gauge", "Histogram"}
        and isinstance(call.args[0], ast.Constant)
    }
    rows = re.findall(r"(?m)^\| `(pgrecall_\w+)(?:\{[^}]*\})?` \| (\w+) \|", text_of(page))
    assert {(kind, re.sub("_total$", "", name)) for name, kind in rows} == made
    assert len(made) > 4


def first_columns(page: str, head: str) -> list[set[str]]:
    """What stands in backticks in the first column of each table whose first head is this."""
    tables = re.findall(rf"(?m)^\| {head} \|.*\n\|(?:---\|)+\n((?:\|.*\n)+)", text_of(page))
    rows = [[row.split("|")[1] for row in table.splitlines()] for table in tables]
    return [set(re.findall(r"`([^`]+)`", " ".join(cells))) for cells in rows]


def test_every_provider_is_in_the_tables_of_providers() -> None:
    kinds = set(providers._FACTORIES)
    assert [kinds - named for named in first_columns("docs/embedding.md", "provider")] == [set(), set()]


def test_every_key_of_the_settings_file_is_on_its_page() -> None:
    [keys] = first_columns("docs/settings.md", "key")
    assert keys - {"[settings]"} == {field.name for field in dataclasses.fields(Settings)}


def test_the_pages_agree_on_how_long_the_tests_take() -> None:
    said = {
        re.findall(r"(?m)^make test .*?(\S+ \S+ \S+ \S+) on 2 cores", text_of(page))[0]
        for page in ("README.md", "CONTRIBUTING.md")
    }
    assert len(said) == 1
    [minutes] = re.findall(r"CI \(`.ci/run`\), in about (\d+) minutes on 2 cores", text_of("CONTRIBUTING.md"))
    [limit] = re.findall(r"timeout-minutes: (\d+)", text_of(".github/workflows/ci.yml"))
    assert int(minutes) < int(limit)


def test_every_event_to_look_for_in_the_log_is_logged() -> None:
    [events] = first_columns("docs/operations.md", "event")
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "embedder").rglob("*.py"))
    assert {event for event in events if f'"{event}"' not in source} == set()


def test_every_benchmark_has_its_line() -> None:
    """A command is added by `add_parser`."""
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "benchmarks").rglob("*.py"))
    commands = {name for source in sources for name in re.findall(r'add_parser\(\s*"([\w-]+)"', source)}
    assert len(commands) > 10
    assert (
        commands - set(re.findall(r"python -m benchmarks ([\w-]+)", text_of("benchmarks/README.md"))) == set()
    )


def test_every_folder_of_tests_is_in_the_table_of_folders() -> None:
    [rows] = re.findall(r"\| folder of tests/ \|.*\n\|---\|---\|\n((?:\|.*\n)+)", text_of("CONTRIBUTING.md"))
    named = set(re.findall(r"(\w+)/", " ".join(row.split("|")[1] for row in rows.splitlines())))
    assert named == {
        path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and path.name[0] != "_"
    }


def test_the_functions_that_python_replaces_are_on_their_page() -> None:
    """A file of sql/plpython/ makes a public function, or pagerank, which is what graph_ppr needs."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "sql" / "plpython").glob("*.sql")]
    replaced = {name for text in texts for name in re.findall(r"FUNCTION public\.(\w+)\(", text)}
    named = {
        name.partition("(")[0] for names in first_columns("docs/plpython.md", "function") for name in names
    }
    assert named == replaced | {"graph_ppr"}


def test_every_file_chosen_for_other_versions_of_the_server_is_there() -> None:
    """A file that is renamed would leave `make test-versions` without a word."""
    chosen = set(re.findall(r'"(test_\w+)"', text_of("tests/conftest.py")))
    assert len(chosen) > 30
    assert chosen - {path.stem for path in (ROOT / "tests").rglob("test_*.py")} == set()
