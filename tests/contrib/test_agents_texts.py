"""Entries in texts of JSON and TOML: put in, taken out, and not a character of the user's changed."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest

from pgrecall.contrib.agents.adapter import Entry
from pgrecall.contrib.agents.json_edits import add_to_json, merged, remove_from_json
from pgrecall.contrib.agents.jsonc import parse
from pgrecall.contrib.agents.toml_edits import add_to_toml, remove_from_toml
from pgrecall.contrib.agents.values import same
from pgrecall.errors import InvalidInput

SERVER = Entry(("mcpServers",), "pgrecall", {"command": "pgrecall", "args": ["mcp"]}, False)
HOOK = Entry(
    ("hooks", "Stop"), None, {"hooks": [{"type": "command", "command": "pgrecall hook capture x"}]}, False
)
VERSION = Entry((), "version", 1, True)
TABLE = Entry(
    ("mcp_servers",), "pgrecall", {"command": "/a b/pgrecall", "args": ["mcp", "--namespace", 'm"e']}, False
)

JSON = [
    "",
    "\n",
    "// nothing yet\n",
    "{}",
    "{ }\n",
    "{\n}\n",
    "{\n  // nothing yet\n}\n",
    '{"theme": "dark"}',
    '{"theme": "dark", "mcpServers": {}, "hooks": {"Stop": []}}\n',
    '{\n  "theme": "dark"\n}\n',
    '{\n\t"theme": "dark",\n\t"mcpServers": {\n\t\t"other": {"command": "x"}\n\t}\n}',
    '{\r\n    "theme": "dark",\r\n    "hooks": {\r\n        "Stop": [\r\n            {"hooks": []}\r\n        ]\r\n    }\r\n}\r\n',
    '{\n  "theme": "dark", // the best\n  "hooks": {\n    "Stop": [], /* none */\n  }, // end\n}\n',
    '\ufeff{\n  "a": [1, 2.5e3, -1, true, null, "\\"}]//"], // "x": {\n  "mcpServers": {} // none\n}\n',
    '{\n  "a": 1 // the last\n}\n',
    '{"a": 1 // the last\n}',
    '{\n  "a": 1, /* one */ /* two */\n  "b": {}\n}\n',
]


@pytest.mark.parametrize("text", JSON)
@pytest.mark.parametrize("entries", [[SERVER], [HOOK], [VERSION], [SERVER, VERSION, HOOK]], ids=str)
def test_an_entry_goes_in_and_comes_out(text: str, entries: list[Entry]) -> None:
    was = parse(text).value
    changed, expected = text, was
    for entry in entries:
        changed = add_to_json(changed, entry)
        expected = merged(expected, entry)
        assert parse(changed).value == expected
        assert add_to_json(changed, entry) == changed
    assert is_within(text, changed)

    def was_there(path: Any) -> bool:
        found: Any = was
        for key in path:
            if key not in found:
                return False
            found = found[key]
        return True

    for entry in reversed(entries):
        changed = remove_from_json(changed, entry, was_there=was_there)
    assert parse(changed).value == was
    assert comments(changed) == comments(text)


def is_within(text: str, changed: str) -> bool:
    """Whether all that a text says is there, in its order."""
    rest = iter(changed)
    return all(character in rest for character in text if not character.isspace())


def comments(text: str) -> list[str]:
    return [
        word for word in ("nothing yet", "the best", "none", "end", "the last", "one", "two") if word in text
    ]


def test_an_entry_looks_like_its_neighbours() -> None:
    text = '{\n    "a": {\n        "b": 1\n    } // why\n}\n'
    assert add_to_json(text, VERSION) == '{\n    "a": {\n        "b": 1\n    }, // why\n    "version": 1\n}\n'
    assert add_to_json('{"a": 1}', VERSION) == '{"a": 1, "version": 1}'
    assert add_to_json('{\n  "a": 1,\n}', VERSION) == '{\n  "a": 1,\n  "version": 1\n}'


def test_an_entry_between_others_is_taken_out() -> None:
    text = '{\n  "mcpServers": {\n    "a": {},\n    "pgrecall": {"command": "changed"}, // ours\n    // about b\n    "b": {}\n  }\n}\n'
    out = remove_from_json(text, SERVER, was_there=lambda _: True)
    assert out == '{\n  "mcpServers": {\n    "a": {},\n    // ours\n    // about b\n    "b": {}\n  }\n}\n'
    first = '{"mcpServers": {"pgrecall": {}, "b": {}}}'
    out = remove_from_json(first, SERVER, was_there=lambda _: True)
    assert out == '{"mcpServers": {"b": {}}}'


def stop(*commands: str, **group: Any) -> dict[str, Any]:
    return {**group, "hooks": [{"type": "command", "command": one} for one in commands]}


OURS = "pgrecall hook capture x"


@pytest.mark.parametrize(
    ("there", "left"),
    [
        ([stop(OURS, "mine")], [stop("mine")]),
        ([stop("mine", OURS)], [stop("mine")]),
        ([stop("mine", f"{OURS} -n other", matcher="*")], [stop("mine", matcher="*")]),
        ([stop("mine"), stop(OURS, matcher="*")], [stop("mine")]),
        ([stop(f"/opt/a/{OURS} --namespace 'my work'")], []),
        ([stop(f"PGRECALL_DSN=x python3 -m {OURS} 2> log")], []),
        ([{"mine": 1}, {"command": f"{OURS} -n other"}], [{"mine": 1}]),
        # The one that was written goes first, not another call of the same.
        ([stop(f"{OURS} -n mine"), stop(OURS)], [stop(f"{OURS} -n mine")]),
    ],
    ids=str,
)
def test_of_a_list_of_hooks_only_ours_goes(there: list[Any], left: list[Any]) -> None:
    for indent in (None, 2):
        text = json.dumps({"hooks": {"Stop": there}}, indent=indent)
        out = remove_from_json(text, HOOK, was_there=lambda _: True)
        assert parse(out).value == {"hooks": {"Stop": left}}


@pytest.mark.parametrize(
    "command",
    [
        "mine",
        "notify 'pgrecall hook capture x'",
        "pgrecall hook capture y",
        "pgrecall hook recall",
        "pgrecall export && mine hook capture x",
        f"mine; {OURS}",
        f"{OURS} && mine",
        f"{OURS} | mine",
        f"{OURS}\nmine",
        f"{OURS} `mine`",
        f"{OURS} $(mine)",
        f"{OURS} 'open",
        "my-pgrecall hook capture x",
        "",
    ],
)
@pytest.mark.parametrize("form", [lambda one: stop(one), lambda one: {"command": one}])
def test_a_hook_of_the_user_stays(command: str, form: Any) -> None:
    text = json.dumps({"hooks": {"Stop": [form(command), 7, {"hooks": 7}, {"hooks": [7, {}]}]}})
    assert remove_from_json(text, HOOK, was_there=lambda _: True) == text


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ('{"mcpServers": []}', SERVER),
        ('{"mcpServers": {"pgrecall": {"command": "other"}}}', SERVER),
        ('{"hooks": {"Stop": {}}}', HOOK),
        ('{"hooks": []}', HOOK),
        ("[]", SERVER),
        ("7", VERSION),
    ],
)
def test_what_is_something_else_is_refused(text: str, entry: Entry) -> None:
    with pytest.raises(InvalidInput):
        add_to_json(text, entry)


@pytest.mark.parametrize(
    "text",
    [
        "{", "}", '{"a" 1}', '{"a": }', '{"a": 1 "b": 2}', "{'a': 1}", '{"a": 1}}', '{"a": 01}', '{"a": tru}', '{"a": "\n"}',
        '{"a": 1, "a": 2}', "{a: 1}", "/* open", '{"a": "\\x"}', "[" * 100_000, '{,}',
    ],
)  # fmt: skip
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse(text)


def test_many_open_comments_take_no_time() -> None:
    with pytest.raises(InvalidInput):
        parse("{" + "/* " * 200_000)


# --- TOML ---

TOML = [
    "",
    "# mine\n",
    'model = "gpt" # best',
    '[mcp_servers.other]\ncommand = "x"\n\n\n',
    "a = 1\r\n[b]\r\nc = 2\r\n",
    "a = nan\nb = [inf, {c = -nan}]\n",
]


@pytest.mark.parametrize("text", TOML)
def test_a_table_goes_in_and_comes_out(text: str) -> None:
    changed = add_to_toml(text, TABLE)
    assert changed.startswith(text)
    assert tomllib.loads(changed)["mcp_servers"]["pgrecall"] == TABLE.value
    assert add_to_toml(changed, TABLE) == changed
    for after in ("", "\n[profiles.x]\nmodel = 'y'\n"):
        assert (
            remove_from_toml(changed + after, TABLE)
            == (text if text.endswith("\n") or not text else text + "\n") + after
        )


@pytest.mark.parametrize(
    ("text", "at_fault"),
    [
        ('{"hooks": null}', "hooks"),
        ('{"hooks": []}', "hooks"),
        ('{"hooks": {"Stop": {}}}', "hooks.Stop"),
        ('{"hooks": {"Stop": null}}', "hooks.Stop"),
        ("[]", "the whole"),
    ],
)
def test_what_is_at_fault_is_named(text: str, at_fault: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        add_to_json(text, HOOK)
    assert refused.value.message == f"{at_fault} is something else there"


@pytest.mark.parametrize(
    "text",
    [
        "mcp_servers = {}",
        "mcp_servers = 7",
        "[mcp_servers.pgrecall]\ncommand = 'x'",
        "a =",
        "[[mcp_servers]]",
    ],
)
def test_a_table_that_does_not_fit_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        add_to_toml(text, TABLE)


def test_a_table_that_was_rewritten_is_not_taken_out() -> None:
    with pytest.raises(InvalidInput):
        remove_from_toml("[mcp_servers]\npgrecall = {}\n", TABLE)
    assert remove_from_toml("a = 1\n", TABLE) == "a = 1\n"


@pytest.mark.parametrize(
    ("one", "other", "is_same"),
    [
        ("a = nan", "a = nan", True),
        ("a = [{b = nan}]", "a = [{b = nan}]", True),
        ("a = nan", "a = 1.0", False),
        ("a = 1", "a = true", False),
        ("a = 1", "a = 1.0", False),
        ("a = 2026-01-01", "a = 2026-01-01", True),
        ("a = [1]", "a = [1, 2]", False),
        ("a = 1", "b = 1", False),
        ("a = 1\nb = 2", "b = 2\na = 1", True),
    ],
)
def test_values_are_compared_as_they_are_meant(one: str, other: str, is_same: bool) -> None:
    assert same(tomllib.loads(one), tomllib.loads(other)) is is_same
