"""What the command line says of input that people get wrong: what was wrong, and what to do."""

from __future__ import annotations

import codecs
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.main import get_command

import pgrecall
from pgrecall.cli import app
from pgrecall.formatting import counted
from support.command import commands

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.command import Outcome

    Cli = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("encoding", "byte"), [("latin-1", "0xe9"), ("cp1252", "0xe9"), ("mac-roman", "0x8e"), ("cp437", "0x82")]
)
def test_standard_input_in_another_encoding(cli: Cli, encoding: str, byte: str) -> None:
    told = cli("remember", "-", stdin="café au lait".encode(encoding))
    assert told.code == 1
    assert f"standard input is not UTF-8: byte {byte} at 3" in told.err
    assert "iconv" in told.err


@pytest.mark.parametrize("argument", ["caf\udce9", "na\udcefve", "\udcff"])
def test_an_argument_in_another_encoding(cli: Cli, argument: str) -> None:
    told = cli("remember", argument)
    assert told.code == 1
    assert "content is not UTF-8: byte 0x" in told.err
    assert "Latin-1" in told.err
    assert "surrogate" not in told.err


@pytest.mark.parametrize(
    "raw",
    [
        codecs.BOM_UTF8 + "café".encode(),
        "café".encode("utf-16"),
        codecs.BOM_UTF16_BE + "café".encode("utf-16-be"),
        "café".encode(),
    ],
)
def test_a_byte_order_mark_is_no_part_of_the_text(cli: Cli, raw: bytes) -> None:
    number = cli("remember", "-", stdin=raw).out.strip()
    assert cli("get", number).out.splitlines()[-1] == "café"


def test_a_dash_is_standard_input_wherever_a_text_is_given(cli: Cli, tmp_path: Path) -> None:
    """`update --content -` and `supersede ID -` stored the dash."""
    number = cli("remember", "-", stdin=b"tea\n").out.strip()
    assert cli("update", number, "--content", "-", stdin=b"green tea\n").out == "updated\n"
    assert cli("get", number).out.splitlines()[-1] == "green tea"
    later = cli("supersede", number, "-", stdin=b"black tea\n").out.strip()
    assert cli("get", later).out.splitlines()[-1] == "black tea"
    copy = str(tmp_path / "copy.db")
    cli("offline", "pull", copy)
    cli("offline", "remember", copy, "-", stdin=b"white tea\n")
    assert "white tea" in cli("offline", "recall", copy, "white").out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("recall", "", "--no-embed"), "hint: Pass words.\n"),
        (("facts", " ", "--no-embed"), "hint: Pass words.\n"),
        (("list", "--after", "999"), "Begin again without --after."),
        (("config", "set", "k", "0"), "Use `pgrecall config set`."),
        (
            ("remember", "tea", "--language", "klingon"),
            "`pgrecall psql -c 'SELECT cfgname FROM pg_ts_config'`",
        ),
        (("recall", "tea", "--no-embed", "-n", "none"), "with `pgrecall remember --create-namespace`."),
        (("facts", "tea", "--no-embed", "-n", "none"), "with `pgrecall remember --create-namespace`."),
    ],
)
def test_hints_and_notices_name_options_and_commands(cli: Cli, arguments: tuple[str, ...], told: str) -> None:
    assert told in cli(*arguments).err


def test_one_setting(cli: Cli) -> None:
    for arguments in (("config", "graph_weight"), ("config", "get", "graph_weight")):
        told = cli(*arguments)
        assert told.code == 0
        assert told.out.endswith("(default)\n")
    told = cli("config", "graph_wieght")
    assert told.code == 1
    assert "there is no setting 'graph_wieght'" in told.err
    assert "graph_weight" in told.err


def test_the_fields_of_a_memory_as_people_write_them(cli: Cli) -> None:
    number = cli(
        "remember", "Priya lives in Goa", "--tag", "Priya", "--metadata", '{"rating": 4}'
    ).out.strip()
    cli("update", number, "--tag", "Goa", "--tag", "home")
    told = cli("get", number).out
    assert "tags              Goa, home" in told
    assert 'metadata          {"rating": 4}' in told
    assert "tags: Priya -> Goa, home" in cli("history", number).out
    cli("supersede", number, "Priya lives in Kochi")
    printed = cli("history", number).out
    assert "None" not in printed
    assert "superseded_by: - -> " in printed


def test_a_memory_cannot_supersede_itself(cli: Cli) -> None:
    number = cli("remember", "Priya lives in Goa").out.strip()
    told = cli("supersede", number, "--successor", number)
    assert told.code == 1
    assert f"memory {number} cannot supersede itself" in told.err


def _numbers() -> dict[str, float | None]:
    """The numeric options of every command, with their least values."""
    return {
        f"{name} {option.opts[0]}": option.min
        for name, command in commands(get_command(app))
        for option in command.params
        if option.param_type_name == "option" and option.bare_type() in ("int", "float")
    }


def test_numeric_options_have_a_range() -> None:
    """Those without one are ids, positions, and a dimension that the database checks."""
    without = {name for name, least in _numbers().items() if least is None}
    assert without == {
        "remember --position",
        "list --after",
        "supersede --successor",
        "failures retry --id",
        "shard move --to",
        "migrate --dim",
    }


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("recall", "tea", "-k", "0"), ("'-k'", "greater than or equal to 1")),
        (("timeline", "tea", "-k", "1001"), ("'-k'", "less than or equal to 1000")),
        (("list", "-k", "-1"), ("'-k'", "greater than or equal to 1")),
        (("briefing", "--max-chars", "5"), ("'--max-chars'", "greater than or equal to 200")),
        (("briefing", "--per-item", "5"), ("'--per-item'", "greater than or equal to 20")),
        (("recall", "tea", "--ef-search", "0"), ("'--ef-search'", "greater than or equal to 1")),
        (("remember", "tea", "--importance", "2"), ("'--importance'", "less than or equal to 1")),
        (("duplicates", "--similarity", "7"), ("'--similarity'", "less than or equal to 1")),
    ],
)
def test_a_number_out_of_range_names_the_option(
    cli: Cli, arguments: tuple[str, ...], named: tuple[str, ...]
) -> None:
    told = cli(*arguments)
    assert told.code == 2
    assert all(part in told.err for part in named), told.err
    assert "config set" not in told.err


@pytest.mark.parametrize(
    ("arguments", "bounds"),
    [
        (("recall", "tea", "-k", "{}", "--no-embed"), (1, 1000)),
        (("facts", "tea", "-k", "{}", "--no-embed"), (1, 1000)),
        (("timeline", "tea", "-k", "{}", "--no-embed"), (1, 1000)),
        (("list", "-k", "{}"), (1, 1000)),
        (("sessions", "-k", "{}"), (1, 1000)),
        (("briefing", "tea", "--max-chars", "{}", "--no-embed"), (200, 100_000)),
        (("briefing", "tea", "--per-item", "{}", "--no-embed"), (20, 10_000)),
        (("briefing", "tea", "-k", "{}", "--no-embed"), (1, 1000)),
    ],
)
def test_the_ends_of_a_range_are_accepted(
    cli: Cli, arguments: tuple[str, ...], bounds: tuple[int, int]
) -> None:
    cli("remember", "tea")
    for bound in bounds:
        told = cli(*(part.format(bound) for part in arguments))
        assert (told.code, "error" in told.err) == (0, False), told


@pytest.mark.parametrize(
    ("number", "noun", "text"),
    [
        (1, "memory", "1 memory"),
        (2, "memory", "2 memories"),
        (0, "write", "0 writes"),
        (1, "query", "1 query"),
        (3, "query", "3 queries"),
    ],
)
def test_one_is_no_plural(number: int, noun: str, text: str) -> None:
    assert counted(number, noun) == text


def test_no_count_is_printed_before_a_plural() -> None:
    nouns = (
        "memories|queries|writes|rows|tables|lines|namespaces|dimensions|facts|sessions|records|duplicates"
        "|files|commits|cells"
    )
    printed = re.compile(rf"\}}\s(?:{nouns})\b")
    package = Path(pgrecall.__file__).parent
    for file in [
        *package.glob("cli/*.py"),
        *package.glob("admin/*.py"),
        *package.glob("contrib/importers/*.py"),
        *package.glob("contrib/ui/*.py"),
        *package.glob("contrib/ui/templates/*.html"),
    ]:
        found = [line for line in file.read_text(encoding="utf-8").splitlines() if printed.search(line)]
        assert [line for line in found if "embeddings" not in line and "model} has" not in line] == []


def test_one_memory_in_every_count(cli: Cli, tmp_path: Path) -> None:
    cli("remember", "Priya likes tea", "--session", "s")
    copy = str(tmp_path / "copy.db")
    assert "1 memory of default" in cli("offline", "pull", copy).out
    cli("offline", "remember", copy, "tea")
    assert "1 write queued" in cli("offline", "status", copy).out
    assert "1 memory matches" in cli("forget", "--session", "s").err
    assert "1 memory matches, and nobody can be asked" in cli("erase", "--session", "s").err


@pytest.mark.parametrize("command", ["forget", "erase"])
def test_who_cannot_be_asked_passes_yes(cli: Cli, command: str) -> None:
    cli("remember", "Priya likes tea", "--session", "s")
    cli("remember", "Priya likes coffee", "--session", "s")
    told = cli(command, "--session", "s")
    assert told.code == 1
    assert told.err.splitlines()[-2:] == [
        "error: 2 memories match, and nobody can be asked",
        f"hint: Pass --yes to {command} them, or --dry-run to see what would happen.",
    ]
    assert "Usage" not in told.err
    assert cli("count").out == "2\n"
    assert cli(command, "--session", "s", "--yes").code == 0
    assert cli("count").out == "0\n"


def test_a_mark_is_explained(cli: Cli) -> None:
    number = cli("remember", "Priya lives in Goa").out.strip()
    assert "~" not in cli("list").err
    cli("supersede", number, "Priya lives in Kochi")
    told = cli("list", "--include-superseded")
    assert "~" in told.out
    assert told.err == "~ marks memories that another one has superseded\n"


def test_history_says_who(cli: Cli) -> None:
    number = cli("remember", "Priya lives in Goa").out.strip()
    cli("update", number, "--title", "home")
    first, changed = [line for line in cli("history", number).out.splitlines() if not line.startswith(" ")]
    assert first.endswith("remember role not recorded")
    assert changed.endswith("update by postgres")


@pytest.mark.parametrize(
    "arguments",
    [("recall", "tea", "--no-embed"), ("list",), ("count",), ("sessions",), ("facts", "tea", "--no-embed")],
)
def test_an_empty_default_namespace_names_the_filled_ones(
    cli: Cli, client: pgrecall.Client, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    assert "namespace" not in cli(*arguments).err
    client.remember("Priya likes tea", session="s", namespace="cust", create_namespace=True)
    client.admin.create_namespace("empty")
    told = cli(*arguments)
    assert told.code == 0
    assert "these have: cust. Choose one by -n, PGRECALL_NAMESPACE or" in told.err
    assert "these have" not in cli(*arguments, "-n", "empty").err
    monkeypatch.setenv("PGRECALL_NAMESPACE", "empty")
    assert "these have" not in cli(*arguments).err
    monkeypatch.delenv("PGRECALL_NAMESPACE")
    cli("remember", "green")
    assert "these have" not in cli(*arguments).err
