"""Attacks by a call that names several namespaces: what is not granted is as if it were not there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.attack import OWN, VICTIM, tenants
from support.memories import call, rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

    from support.attack import Tenants

__all__ = ["tenants"]

FUNCTIONS = ("recall", "recall_explain", "recall_timeline", "recall_facts", "recall_briefing")


@pytest.fixture
def attacker(tenants: Tenants) -> Iterator[Connection[Any]]:
    with tenants.attacker() as connection:
        yield connection


def asked(conn: Connection[Any], function: str, namespaces: list[str]) -> tuple[list[Any], list[str]]:
    """What a function returns, and its notices without the name."""
    told: list[str] = []
    conn.add_notice_handler(lambda one: told.append(one.message_primary or ""))
    found = rows(conn, function, "quokka", namespaces=namespaces)
    return found, [one.replace(namespaces[-1], "…") for one in told]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_one_that_is_not_granted_is_one_that_is_not_there(attacker: Connection[Any], function: str) -> None:
    victims = asked(attacker, function, [OWN, VICTIM])
    nobodys = asked(attacker, function, [OWN, "x" * len(VICTIM)])
    assert victims == nobodys
    assert "quokka" not in str(asked(attacker, function, [VICTIM])).replace("'quokka'", "")


@pytest.mark.parametrize("function", ["list_memories", "count_memories"])
def test_a_list_has_nothing_of_it(attacker: Connection[Any], function: str) -> None:
    alone = rows(attacker, function, namespaces=[OWN])
    assert rows(attacker, function, namespaces=[OWN, VICTIM]) == alone
    assert rows(attacker, function, namespaces=[VICTIM]) in ([], [0])


def test_a_default_set_grants_nothing(attacker: Connection[Any]) -> None:
    attacker.execute("SELECT set_config('pgrecall.namespaces', %s, false)", ("{" + VICTIM + "}",))
    assert rows(attacker, "recall", "quokka") == []
    assert rows(attacker, "list_memories") == []


SHARE = """
    SELECT _pgrecall.best_word_share(
        jsonb_populate_record(
            _pgrecall.resolve_granted('quokka', NULL, 'evil', '{{}}'), '{{"namespace_id": {home}}}'
        ),
        NULL::pgrecall.recall_filter, now()
    )
"""


RESOLVES = (
    "SELECT _pgrecall.resolve_granted('quokka', NULL, '{namespace}', '{{}}')",
    "SELECT _pgrecall.resolve_requests('quokka', NULL, ARRAY['{namespace}'], '{{}}', NULL, now())",
)


def test_what_the_other_tenant_holds_does_not_move_a_score(
    tenants: Tenants, attacker: Connection[Any]
) -> None:
    """The yardstick for words is that of the namespaces that the role sees."""
    long = "a quokka was seen by nobody in the large and empty zoo of a town without any other animal"
    call(attacker, "remember", long, namespace=OWN)
    alone = rows(attacker, "recall", "quokka", namespaces=[OWN])
    assert rows(attacker, "recall", "quokka", namespaces=[OWN, VICTIM]) == alone != []


def test_a_forged_request_measures_nothing(tenants: Tenants, attacker: Connection[Any]) -> None:
    """Even called by the gate itself, the share of words is under the policies."""
    call(attacker, "remember", "a quokka", namespace=OWN)
    assert call(attacker, "breach.run", SHARE.format(home=tenants.own_home)) == "(1)"
    assert call(attacker, "breach.run", SHARE.format(home=tenants.home)) == "(0)"


@pytest.mark.parametrize("call_it", RESOLVES)
def test_a_question_is_resolved_as_if_the_other_namespace_did_not_exist(
    attacker: Connection[Any], call_it: str
) -> None:
    """Resolving runs without policies; words, concepts and learned settings of others stay out of it."""
    resolved = [
        call(attacker, "breach.run", call_it.format(namespace=name))
        for name in (VICTIM, "x" * len(VICTIM), OWN)
    ]
    assert resolved[0] == resolved[1] != resolved[2]


@pytest.mark.parametrize(
    "function", ["resolve_granted", "resolve_requests", "rank_across", "seen_namespaces", "asked_namespaces"]
)
def test_no_tenant_calls_what_is_below(attacker: Connection[Any], function: str) -> None:
    granted = attacker.execute(
        "SELECT bool_or(has_function_privilege(p.oid, 'EXECUTE')) FROM pg_proc p "
        "WHERE p.proname = %s AND p.pronamespace = '_pgrecall'::regnamespace",
        (function,),
    ).fetchone()
    assert granted == (False,)
