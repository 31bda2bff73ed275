"""Attacks by what exists and what is granted: unique names, grants, memberships, roles that come and go."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from support.attack import LIBRARY, OWN, VICTIM, inside, outcome, tenants
from support.memories import call, remember, rows, scalar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

    from support.attack import Tenants

__all__ = ["tenants"]


@pytest.fixture
def attacker(tenants: Tenants) -> Iterator[Connection[Any]]:
    with tenants.attacker() as connection:
        yield connection


@pytest.fixture
def owner(tenants: Tenants) -> Iterator[Connection[Any]]:
    with tenants.owner() as connection:
        yield connection


@contextmanager
def one_more_role(owner: Connection[Any], name: str, *groups: str, options: str = "") -> Iterator[str]:
    """A role for the block."""
    role = f"attack_{name}_{owner.info.backend_pid}"
    owner.execute(f"CREATE ROLE {role} {options}".encode())
    try:
        for group in groups:
            owner.execute(f"GRANT {group} TO {role}".encode())
        yield role
    finally:
        owner.execute(f"DROP OWNED BY {role}".encode())
        owner.execute(f"DROP ROLE {role}".encode())


def seen(owner: Connection[Any], role: str) -> list[str]:
    """Namespaces that a role sees."""
    owner.execute(f"SET ROLE {role}".encode())
    try:
        return [name for (name,) in owner.execute("SELECT name FROM pgrecall.list_namespaces()")]
    finally:
        owner.execute("RESET ROLE")


# --- What exists ---


@pytest.mark.parametrize("on_conflict", ["error", "keep", "update"])
def test_an_external_id_of_another_tenant_is_free(attacker: Connection[Any], on_conflict: str) -> None:
    statement = (
        "SELECT public.remember('x', namespace => 'evil', external_id => '{}', on_conflict => '{}') > 0"
    )
    for taken in ("quokka-1", "quokka-3", "nobody-has-this"):
        assert outcome(attacker, statement.format(taken, on_conflict)) == "(True,)"


def test_a_policy_refuses_before_a_unique_name_is_looked_up(
    tenants: Tenants, attacker: Connection[Any]
) -> None:
    """As fast for a name that is taken as for one that is free: the index is not asked."""
    pairs = {
        "INSERT INTO pgrecall.memories (namespace_id, external_id, content, language, content_hash, search_vector) "
        f"VALUES ({tenants.home}, '{{}}', 'x', 'simple', '', '')": ("quokka-1", "free"),
        f"UPDATE pgrecall.memories SET namespace_id = {tenants.home}, external_id = '{{}}'": ("quokka-1", "free"),
        f"INSERT INTO pgrecall.concepts (namespace_id, key, name) VALUES ({tenants.home}, '{{}}', 'x')": ("quokka tag", "free"),
        "INSERT INTO pgrecall.concept_aliases (namespace_id, alias, name, concept_id) "
        f"VALUES ({tenants.home}, '{{}}', 'x', {tenants.concept})": ("quokka tag", "free"),
        "INSERT INTO pgrecall.judged_queries (namespace_id, query_id, query, stratum) "
        f"VALUES ({tenants.home}, '{{}}', 'x', 'all')": ("quokka query", "free"),
        f"INSERT INTO pgrecall.relation_labels (namespace_id, alias, label, method) VALUES ({tenants.home}, '{{}}', 'x', 'rule')": (
            "quokka alias",
            "free",
        ),
        "INSERT INTO pgrecall.namespaces (name) VALUES ('{}')": (VICTIM, "free"),
        "INSERT INTO pgrecall.namespaces (name) VALUES ('{}') ON CONFLICT DO NOTHING": (VICTIM, "free"),
        "INSERT INTO pgrecall.namespaces (name) VALUES ('{}') ON CONFLICT (name) DO UPDATE SET languages = '{{}}'": (VICTIM, "free"),
    }  # fmt: skip
    for statement, (taken, free) in pairs.items():
        told = [inside(attacker, statement.format(name)).replace(name, "…") for name in (taken, free)]
        assert told[0] == told[1], statement
        assert told[0].startswith("42501"), statement


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT pgrecall.create_namespace('{}')",
        "SELECT public.remember('x', namespace => '{}')",
        "SELECT public.remember('x', namespace => '{}', create_namespace => true)",
        'SELECT public.remember_many(\'[{{"content": "x", "namespace": "{}"}}]\')',
        "SELECT pgrecall.judge('x', 'x', NULL, '{{1}}', namespace => '{}')",
        "SELECT public.recall_feedback('x', 1, true, namespace => '{}')",
        "SELECT * FROM pgrecall.learn('{}')",
        "SELECT pgrecall.unlearn('{}')",
        "SELECT * FROM pgrecall.list_learned('{}')",
        "SELECT pgrecall.grant_namespace('pgrecall_reader', '{}')",
        "SELECT pgrecall.revoke_namespace('pgrecall_reader', '{}')",
        "SELECT _pgrecall.check_grantee('pgrecall_reader', '{}')",
        "SELECT * FROM pgrecall.graph_export(namespace => '{}')",
        "SELECT * FROM pgrecall.recall_eval('{}')",
    ],
)
def test_a_namespace_of_another_tenant_is_one_that_is_not_there(
    attacker: Connection[Any], statement: str
) -> None:
    told = [outcome(attacker, statement.format(name)).replace(name, "…") for name in (VICTIM, "nowhere")]
    assert told[0] == told[1]


# --- What is granted ---


def test_only_those_who_administer_grant(tenants: Tenants, attacker: Connection[Any]) -> None:
    for statement in (
        f"SELECT pgrecall.grant_namespace('{tenants.writer}', '{OWN}', 'write')",
        f"SELECT pgrecall.grant_namespace('{tenants.writer}', '{VICTIM}', 'write')",
        f"INSERT INTO pgrecall.grants (namespace_id, role, access) VALUES ({tenants.home}, '{tenants.writer}', 'write')",
        "UPDATE pgrecall.grants SET access = 'write'",
        "DELETE FROM pgrecall.grants",
        f"GRANT pgrecall_everywhere TO {tenants.writer}",
        f"GRANT pgrecall_admin TO {tenants.writer}",
    ):
        assert outcome(attacker, statement).startswith("42501"), statement


def test_a_role_sees_its_own_grants_only(
    tenants: Tenants, owner: Connection[Any], attacker: Connection[Any]
) -> None:
    with one_more_role(owner, "other", "pgrecall_reader") as other:
        call(owner, "pgrecall.grant_namespace", other, VICTIM)
        query = "SELECT DISTINCT role::text FROM pgrecall.grants"
        assert inside(attacker, query) == f"({tenants.writer})"
        assert other in {role for (role,) in owner.execute(query)}


@pytest.mark.parametrize(
    ("arguments", "sqlstate"),
    [
        (("nobody by this name", OWN), "42704"),
        (("pgrecall_reader", "nowhere"), "42704"),
        (("pgrecall_reader", None), "42704"),
        ((None, OWN), "42704"),
        (("pgrecall_reader", OWN, "own"), "22023"),
        (("pgrecall_reader", OWN, None), "22023"),
        (("pgrecall_reader; DROP TABLE pgrecall.grants", OWN), "42704"),
        (('"', OWN), "42704"),
        (("", OWN), "42704"),
    ],
)
def test_what_cannot_be_granted_is_refused_with_a_hint(
    owner: Connection[Any], arguments: tuple[str | None, ...], sqlstate: str
) -> None:
    before = scalar(owner, "SELECT count(*) FROM pgrecall.grants")
    with pytest.raises(psycopg.Error) as caught:
        call(owner, "pgrecall.grant_namespace", *arguments)
    assert caught.value.sqlstate == sqlstate
    assert caught.value.diag.message_hint
    assert scalar(owner, "SELECT count(*) FROM pgrecall.grants") == before


def test_a_name_that_needs_quotes_is_granted(owner: Connection[Any]) -> None:
    role = f'Attack "{owner.info.backend_pid}" x'
    quoted = '"' + role.replace('"', '""') + '"'
    owner.execute(f"CREATE ROLE {quoted} IN ROLE pgrecall_reader".encode())
    try:
        call(owner, "pgrecall.grant_namespace", role, LIBRARY)
        assert seen(owner, quoted) == [LIBRARY]
        assert call(owner, "pgrecall.revoke_namespace", role, LIBRARY) is True
        assert call(owner, "pgrecall.revoke_namespace", role, LIBRARY) is False
        assert seen(owner, quoted) == []
    finally:
        owner.execute(f"DROP ROLE {quoted}".encode())


def test_members_have_the_grants_of_their_group_if_they_inherit(owner: Connection[Any]) -> None:
    with (
        one_more_role(owner, "team", "pgrecall_reader") as team,
        one_more_role(owner, "wider", team) as wider,
        one_more_role(owner, "member", wider) as member,
        one_more_role(owner, "apart", team, "pgrecall_reader", options="NOINHERIT") as apart,
    ):
        call(owner, "pgrecall.grant_namespace", team, VICTIM)
        assert seen(owner, member) == seen(owner, team) == [VICTIM]
        # It has to SET ROLE first: neither the group's privileges nor its grants are its own.
        owner.execute(f"SET ROLE {apart}".encode())
        assert outcome(owner, "SELECT name FROM pgrecall.list_namespaces()").startswith("42501")
        owner.execute("RESET ROLE")
        owner.execute(f"REVOKE {wider} FROM {member}".encode())
        owner.execute(f"GRANT pgrecall_reader TO {member}".encode())
        assert seen(owner, member) == []


def test_a_grant_says_when_the_role_cannot_use_it_yet(owner: Connection[Any]) -> None:
    notices: list[str] = []
    owner.add_notice_handler(lambda told: notices.append(f"{told.message_primary} {told.message_hint}"))
    with one_more_role(owner, "bare") as bare:
        call(owner, "pgrecall.grant_namespace", bare, LIBRARY)
        assert notices == [
            f"role {bare} is not a member of pgrecall_reader yet GRANT pgrecall_reader TO {bare};"
        ]
        notices.clear()
        owner.execute(f"GRANT pgrecall_reader TO {bare}".encode())
        call(owner, "pgrecall.grant_namespace", bare, LIBRARY)
        assert notices == []
        call(owner, "pgrecall.grant_namespace", bare, LIBRARY, "write")
        assert "pgrecall_writer" in notices[0]
        call(owner, "pgrecall.revoke_namespace", bare, LIBRARY)


def test_a_role_made_anew_has_none_of_the_old_ones_grants(owner: Connection[Any]) -> None:
    before = call(owner, "pgrecall.grant_status")[1]
    for granting in (True, False):
        with one_more_role(owner, "phoenix", "pgrecall_reader") as role:
            if granting:
                call(owner, "pgrecall.grant_namespace", role, VICTIM)
                assert seen(owner, role) == [VICTIM]
            else:
                assert seen(owner, role) == []
    # What is left of the old one is found, and can be cleared as health() says.
    assert call(owner, "pgrecall.grant_status")[1] == before + 1
    told = {row[0]: row for row in rows(owner, "pgrecall.health")}["grants without a role"]
    assert told[1] == "info"
    owner.execute(told[3].encode())
    assert call(owner, "pgrecall.grant_status")[1] == 0


def test_what_is_revoked_is_gone_at_once_for_kept_plans_too(tenants: Tenants, owner: Connection[Any]) -> None:
    with tenants.attacker() as attacker:
        attacker.autocommit = True
        attacker.execute("SET plan_cache_mode = force_generic_plan")
        attacker.execute(
            "PREPARE counted AS SELECT count(*) FROM pgrecall.list_namespaces() WHERE name = 'library'"
        )
        attacker.execute(
            "PREPARE recalled AS SELECT count(*) FROM public.recall('book', namespace => 'library')"
        )
        try:
            assert scalar(attacker, "EXECUTE counted") == 1
            assert scalar(attacker, "EXECUTE recalled") == 1
            assert call(owner, "pgrecall.revoke_namespace", tenants.writer, LIBRARY)
            assert scalar(attacker, "EXECUTE counted") == 0
            assert scalar(attacker, "EXECUTE recalled") == 0
        finally:
            call(owner, "pgrecall.grant_namespace", tenants.writer, LIBRARY)
        assert scalar(attacker, "EXECUTE recalled") == 1
        attacker.autocommit = False


def test_write_includes_read_and_read_takes_write_away(tenants: Tenants, owner: Connection[Any]) -> None:
    with one_more_role(owner, "both", "pgrecall_writer") as both, tenants.attacker(both) as session:
        for access, is_written in (("read", False), ("write", True), ("read", False)):
            call(owner, "pgrecall.grant_namespace", both, LIBRARY, access)
            told = outcome(session, "SELECT public.remember('x', namespace => 'library')")
            assert told.startswith("(") is is_written
            assert (
                outcome(session, "SELECT count(*) FROM public.recall('book', namespace => 'library')")
                == "(1,)"
            )
        call(owner, "pgrecall.revoke_namespace", both, LIBRARY)


def test_health_names_who_can_log_in_and_sees_nothing(owner: Connection[Any]) -> None:
    def told() -> tuple[str, str]:
        row = {row[0]: row for row in rows(owner, "pgrecall.health")}["roles without a grant"]
        return row[1], row[2]

    with (
        one_more_role(owner, "blind", "pgrecall_reader", options="LOGIN") as blind,
        one_more_role(owner, "group", "pgrecall_reader", options="NOLOGIN") as group,
        one_more_role(owner, "wide", "pgrecall_writer", "pgrecall_everywhere", options="LOGIN") as wide,
    ):
        status, detail = told()
        assert status == "info"
        assert blind in detail
        assert group not in detail
        assert wide not in detail
        call(owner, "pgrecall.grant_namespace", group, LIBRARY)
        owner.execute(f"GRANT {group} TO {blind}".encode())
        assert blind not in told()[1]
        call(owner, "pgrecall.revoke_namespace", group, LIBRARY)


# --- Who the session is ---


def test_a_renamed_role_is_not_the_one_that_has_its_name_now(
    tenants: Tenants, owner: Connection[Any]
) -> None:
    with one_more_role(owner, "first", "pgrecall_writer", options="LOGIN") as first:
        call(owner, "pgrecall.grant_namespace", first, OWN)
        with psycopg.connect(make_conninfo(tenants.dsn, user=first), autocommit=True) as session:
            session.execute(f"SET ROLE {first}".encode())
            assert scalar(session, "SELECT name FROM pgrecall.list_namespaces()") == OWN
            owner.execute(f"ALTER ROLE {first} RENAME TO {first}_left".encode())
            try:
                for told in (
                    outcome(session, "SELECT pgrecall.list_namespaces()"),
                    outcome(session, "SELECT * FROM recall('plan')"),
                ):
                    assert told.startswith("42704")
                owner.execute(f"CREATE ROLE {first} IN ROLE pgrecall_writer".encode())
                call(owner, "pgrecall.grant_namespace", first, VICTIM, "write")
                for statement in (
                    "SELECT pgrecall.list_namespaces()",
                    f"SELECT * FROM recall('plan', namespace => '{VICTIM}')",
                    f"SELECT remember('mine now', namespace => '{VICTIM}')",
                ):
                    assert outcome(session, statement).startswith("42501")
                session.execute("RESET ROLE")
                assert scalar(session, "SELECT name FROM pgrecall.list_namespaces()") == OWN
            finally:
                owner.execute(f"DROP OWNED BY {first}; DROP ROLE IF EXISTS {first}".encode())
                owner.execute(f"ALTER ROLE {first}_left RENAME TO {first}".encode())


# --- What was asked ---


def test_what_one_role_asked_is_not_anothers_to_learn(tenants: Tenants, owner: Connection[Any]) -> None:
    with one_more_role(owner, "asking", "pgrecall_reader") as asking:
        owner.execute(
            "INSERT INTO pgrecall.query_embeddings (generation_id, role, query_hash, query) "
            f"VALUES (1, '{asking}', sha256('the secret question'), 'the secret question')"
        )
        with tenants.attacker() as attacker:
            assert inside(attacker, "SELECT count(*) FROM pgrecall.query_embeddings") == "(0)"
            told = [
                outcome(attacker, f"SELECT pgrecall.request_query_embedding('{question}')")
                for question in ("the secret question", "nobody asked")
            ]
            assert told[0] == told[1]
            forged = (
                "INSERT INTO pgrecall.query_embeddings (generation_id, role, query_hash, query) "
                f"VALUES (1, '{asking}', 'x', 'x')"
            )
            assert inside(attacker, forged).startswith("42501")
        owner.execute("DELETE FROM pgrecall.query_embeddings WHERE query = 'the secret question'")


def test_nobody_waits_for_a_lock_on_anothers_row(tenants: Tenants, owner: Connection[Any]) -> None:
    """By waiting an attacker would learn that a row is there, and in use."""
    with owner.transaction(), tenants.attacker() as attacker:
        number = remember(owner, "held", namespace=VICTIM, external_id="held")
        owner.execute(
            "SELECT FROM pgrecall.memories WHERE id = ANY (%s) FOR UPDATE", ([tenants.memory, number],)
        )
        attacker.execute("SET LOCAL lock_timeout = '5s'")
        for statement in (
            f"SELECT public.forget({tenants.memory})",
            f"SELECT public.update_memory({tenants.memory}, content => 'x')",
            f"SELECT public.supersede({tenants.memory}, 'x')",
            f"UPDATE pgrecall.memories SET superseded_by = {number}",
            "SELECT public.remember('x', namespace => 'evil', external_id => 'held')",
            "SELECT public.remember('x', namespace => 'acme', external_id => 'held')",
        ):
            assert not outcome(attacker, statement).startswith("55P03"), statement
        owner.execute("DELETE FROM pgrecall.memories WHERE id = %s", (number,))
