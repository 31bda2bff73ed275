"""`pgrecall get`, `list`, `count`, `history`, `update`, `supersede`, `forget`, `restore` and `namespace`, on a real database."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.command import Outcome

    Cli = Callable[..., Outcome]


def test_a_memory_through_its_life(cli: Cli) -> None:
    number = cli(
        "remember", "Priya lives in Goa", "--session", "s1", "--speaker", "Priya", "--metadata", '{"n": 3}'
    ).out.strip()
    assert "Priya lives in Goa" in cli("get", number).out
    (one,) = json.loads(cli("get", number, "--json").out)
    assert (one["id"], one["speaker"], one["metadata"]) == (int(number), "Priya", {"n": 3})
    assert cli("update", number, "--content", "Priya lives in Kochi").out == "updated\n"
    assert cli("update", number, "--content", "Priya lives in Kochi").out == "nothing changed\n"
    successor = cli("supersede", number, "Priya lives in Munnar").out.strip()
    assert cli("forget", successor).out == "1 forgotten\n"
    assert cli("get", successor).code == 1
    assert successor in cli("list", "--forgotten").out
    assert cli("restore", successor).out == "1 restored\n"
    actions = [change["action"] for change in json.loads(cli("history", number, "--json").out)]
    assert actions == ["remember", "update", "supersede", "remember", "forget", "restore"]
    printed = cli("history", number).out
    assert "content: Priya lives in Goa -> Priya lives in Kochi" in printed


def test_lists_and_filters(cli: Cli) -> None:
    for place in range(5):
        cli(
            "remember",
            f"note {place} " + "word " * 40,
            "--session",
            f"s{place % 2}",
            "--metadata",
            json.dumps({"n": place}),
        )
    assert all(len(line) <= 80 for line in cli("list").out.splitlines())
    assert cli("count", "--session", "s1").out == "2\n"
    assert cli("count", "--where", '{"n": {"$gte": 3}}').out == "2\n"
    assert cli("count", "--since", "yesterday").out == "5\n"
    first = json.loads(cli("list", "-k", "2", "--json").out)
    second = json.loads(cli("list", "-k", "2", "--after", str(first[-1]["id"]), "--json").out)
    assert [one["content"].split()[1] for one in first + second] == ["4", "3", "2", "1"]
    assert [line.split()[-1] for line in cli("sessions").out.splitlines()] == ["s0", "s1"]
    assert "note 1" in cli("recall", "note", "--session", "s1", "--where", '{"n": 1}', "--no-embed").out
    outcome = cli("list", "--where", '{"n": {"$like": 1}}')
    assert outcome.code == 1
    assert "operators" in outcome.err


def test_forgetting_by_filter_asks_first(cli: Cli) -> None:
    cli("remember", "one", "--session", "s")
    cli("remember", "two", "--session", "s")
    assert cli("forget", "--session", "s", "--dry-run").out == "2 to forget\n"
    assert cli("forget", "--session", "s").code == 1
    assert cli("forget").code == 2
    assert cli("count").out == "2\n"
    assert cli("forget", "--session", "s", "--yes").out == "2 forgotten\n"
    assert cli("count").out == "0\n"


def test_a_dry_run_counts_what_would_be_forgotten(cli: Cli) -> None:
    tea, ended, gone = (
        cli("remember", *words).out.strip()
        for words in (("tea",), ("milk", "--expires-at", "2020-01-01"), ("coffee",))
    )
    cli("forget", gone)
    planned = cli("forget", tea, tea, ended, "--dry-run")
    assert (planned.code, planned.out) == (0, "2 to forget\n")
    # As many of them as one call to the database takes, and one more.
    unknown = [str(id) for id in range(10**9, 10**9 + 1000)]
    planned = cli("forget", *unknown, gone, tea, ended, "--dry-run")
    assert (planned.code, planned.out) == (1, "2 to forget\n")
    assert "not found: 1000000000, " in planned.err
    done = cli("forget", *unknown, gone, tea, ended)
    assert (done.code, done.out, done.err) == (1, "2 forgotten\n", planned.err)


def test_namespaces(cli: Cli) -> None:
    assert cli("namespace", "create", "old").code == 0
    cli("remember", "tea", "--namespace", "old")
    assert cli("namespace", "rename", "old", "new").code == 0
    assert "new" in cli("namespace", "list").out
    assert cli("count", "--namespace", "new").out == "1\n"
    assert cli("namespace", "retention", "new", "--keep", "90 days", "--action", "erase").code == 0
    assert cli("namespace", "retention").out == "new: erase after 90 days, 0:00:00, 0 due\n"
    assert cli("namespace", "retention", "new", "--keep", "never").code == 0
    assert cli("namespace", "retention").out == ""
    assert cli("namespace", "retention", "new", "--keep", "soon").code == 2
    assert cli("namespace", "rename", "nowhere", "there").code == 1


def test_secrets_of_a_namespace(cli: Cli) -> None:
    said = "the wifi password is " + "tiger" + "2041"
    cli("remember", said)
    assert cli("namespace", "secrets").out == "default: sensitive, in messages redact; found: 1 password\n"
    assert cli("namespace", "secrets", "default", "--policy", "refuse", "--in-messages", "allow").code == 0
    refused = cli("remember", said)
    assert refused.code != 0
    assert "password" in refused.err
    assert "tiger" not in refused.err
    assert '"policy": "refuse"' in cli("namespace", "secrets", "--json").out
    assert cli("namespace", "secrets", "--policy", "allow").code == 2
    # To look at one changes nothing, and what is left out stays as it is.
    cli("namespace", "create", "other")
    assert (
        cli("namespace", "secrets", "default").out
        == "default: refuse, in messages allow; found: 1 password\n"
    )
    assert cli("namespace", "secrets", "nowhere").code == 1
    assert cli("namespace", "secrets", "default", "--policy", "redact").code == 0
    assert (
        cli("namespace", "secrets", "default").out
        == "default: redact, in messages allow; found: 1 password\n"
    )
    cli("namespace", "secrets", "default", "--policy", "default", "--in-messages", "default")
    assert "default: sensitive, in messages redact" in cli("namespace", "secrets").out


def test_a_scan_for_secrets_asks_first(cli: Cli) -> None:
    cli("namespace", "create", "vault")
    cli("namespace", "secrets", "vault", "--policy", "allow")
    cli("remember", "the wifi password is " + "tiger" + "2041", "-n", "vault")
    cli("namespace", "secrets", "vault", "--policy", "redact")
    assert cli("namespace", "scan", "--dry-run").out == (
        "default: 0 memories read, 0 to be redacted, 0 to be made sensitive; found: none\n"
        "vault: 1 memory read, 1 to be redacted, 0 to be made sensitive; found: 1 password\n"
    )
    unasked = cli("namespace", "scan", "vault")
    assert unasked.code == 1
    assert "--dry-run" in unasked.err
    assert "tiger" in cli("list", "-n", "vault").out
    (told,) = json.loads(cli("namespace", "scan", "vault", "--yes", "--json").out)
    assert told == {"namespace": "vault", "scanned": 1, "redacted": 1, "marked": 0, "found": {"password": 1}}
    assert "[redacted: password]" in cli("list", "-n", "vault").out
    assert cli("namespace", "scan", "vault", "nowhere", "--yes").out == (
        "vault: 1 memory read, 0 redacted, 0 made sensitive; found: none\n"
    )
    assert cli("namespace", "scan", "nowhere", "--yes").code == 1
