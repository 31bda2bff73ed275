"""What the command line says of input that people get wrong: what was wrong, and what to do."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

import pytest

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
