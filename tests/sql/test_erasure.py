"""erase() and erase_namespace(): what goes, what stays, who may, and that every table is thought of."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql

from support.attack import CANARY, VICTIM, filled, inside, relations
from support.declarations import declarations
from support.memories import call, contents, embed, refused, remember, rows, scalar, stored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

    from support.attack import Tenants

pytestmark = pytest.mark.rollback

WORKER = "11111111-1111-4111-8111-111111111111"


@pytest.fixture
def planted(conn: Connection[Any], dsn: str) -> Iterator[Tenants]:
    """A database with canaries of acme's in nearly every table; two generations, a version kept, a name given by hand."""
    suffix = conn.info.backend_pid
    reader, writer = f"erase_reader_{suffix}", f"erase_writer_{suffix}"
    conn.execute(f"CREATE ROLE {reader} IN ROLE pgrecall_reader".encode())
    conn.execute(f"CREATE ROLE {writer} IN ROLE pgrecall_writer".encode())
    try:
        tenants = filled(conn, dsn, reader, writer)
        conn.execute("CALL pgrecall.rebuild_all_postings()")  # which was added to by hand
        yield tenants
    finally:
        for role in (reader, writer):
            conn.execute(f"DROP OWNED BY {role}".encode())
            conn.execute(f"DROP ROLE {role}".encode())


def erase(conn: Connection[Any], memory: int, *, dry_run: bool = False) -> dict[str, int]:
    """Erase a memory and return the counts of the receipt."""
    (found,) = rows(conn, "erase", memory, dry_run=dry_run)
    counts: dict[str, int] = found[5]
    return counts


def holding(conn: Connection[Any], word: str = CANARY) -> dict[str, int]:
    """How many rows of each table hold a word, in any of its columns as text."""
    found = {table: sum(word in row.lower() for row in texts) for table, texts in contents(conn).items()}
    return {table: number for table, number in found.items() if number}


def test_what_refers_to_a_memory_goes_with_it(conn: Connection[Any]) -> None:
    """By a foreign key: erase() itself deletes memories, and what has changed since it was posted."""
    query = """
        SELECT a.attname FROM pg_constraint k JOIN pg_attribute a ON a.attrelid = k.conrelid AND k.conkey = ARRAY[a.attnum]
        WHERE k.conrelid = %s::regclass AND k.confrelid = 'pgrecall.memories'::regclass AND k.confdeltype = 'c'
    """
    for table, declared in declarations(conn).items():
        if declared.is_kept or table in {"memories", "pending_postings"}:
            continue
        cascading = {name for (name,) in conn.execute(query, (f"pgrecall.{table}",))}
        assert cascading == set(declared.columns_of_memories), table


def test_the_page_names_every_table_that_a_receipt_may_count(conn: Connection[Any]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "erasure.md").read_text(encoding="utf-8")
    section = page[page.index("## What goes") : page.index("## What stays")]
    cells = re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE)
    named = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}
    counted = conn.execute("SELECT name FROM _pgrecall.erasure_counts(1, '{}', '{}', '{}')").fetchall()
    assert named == {name for (name,) in counted} | {"query_embeddings", "query_expansions"}


def test_no_canary_is_left_in_any_table(planted: Tenants, conn: Connection[Any]) -> None:
    # One that is posted and has changed since: the note holds the words that are posted.
    changed = sorted(planted.memories)[-2]
    # An edited message would take its note with it, which holds a row of every table.
    conn.execute("DELETE FROM pgrecall.note_evidence WHERE memory_id = %s", (changed,))
    call(conn, "update_memory", changed, content="Another quokka")
    before = holding(conn)
    assert set(before) >= {
        "memories", "term_stats", "postings", "concepts", "concept_aliases", "relationship_evidence",
        "judged_queries", "judgements", "query_embeddings", "query_expansions", "llm_answers",
        "jobs", "pending_postings", "concept_merges", "relation_labels", "curations",
    }  # fmt: skip
    for memory in sorted(planted.memories):
        erase(conn, memory)
    # What an administrator set by hand stays until the namespace goes.
    assert set(holding(conn)) <= {"entity_rules", "relation_labels", "pages"}
    rows(conn, "erase_namespace", VICTIM)
    assert holding(conn) == {}


def test_a_namespace_goes_whole(planted: Tenants, conn: Connection[Any]) -> None:
    others = [remember(conn, "a wombat", tags=["wombat"], namespace="evil")]
    expected = rows(conn, "recall", "wombat plan", namespace="evil")
    (receipt,) = rows(conn, "erase_namespace", VICTIM)
    assert holding(conn) == {}
    assert VICTIM not in str(receipt)
    assert receipt[4]["memories"] == len(planted.memories)
    for table in relations(conn, "r"):
        query = "SELECT count(*) FROM pg_attribute WHERE attrelid = %s::regclass AND attname = 'namespace_id'"
        if table != "erasures" and scalar(conn, query, f"pgrecall.{table}"):
            left = sql.SQL("SELECT count(*) FROM {} WHERE namespace_id = %s").format(
                sql.Identifier("pgrecall", table)
            )
            assert conn.execute(left, (planted.home,)).fetchone() == (0,), table
    assert stored(conn, others[0])["deleted_at"] is None
    assert rows(conn, "recall", "wombat plan", namespace="evil") == expected
    with refused(conn, "42704"):
        rows(conn, "erase_namespace", VICTIM)


def test_a_dry_run_changes_nothing_and_says_what_would_go(planted: Tenants, conn: Connection[Any]) -> None:
    before = contents(conn)
    (told,) = rows(conn, "erase", planted.memory, dry_run=True)
    (all_told,) = rows(conn, "erase_namespace", VICTIM, dry_run=True)
    assert contents(conn) == before
    assert (told[0], all_told[0]) == (None, None)
    assert erase(conn, planted.memory) == told[5]
    assert all_told[4]["memories"] == len(planted.memories)


def test_the_receipt_is_kept_and_says_nothing(planted: Tenants, conn: Connection[Any]) -> None:
    (receipt,) = rows(conn, "erase", planted.memory)
    number, namespace, memory, role, _, counts = receipt
    assert (namespace, memory, role) == (planted.home, planted.memory, scalar(conn, "SELECT current_user"))
    assert counts["memories"] == 1
    assert set(counts) <= {
        name for name, one in declarations(conn).items() if not one.is_kept and one.rows != "shared"
    }
    assert all(isinstance(rows, int) and rows > 0 for rows in counts.values())
    kept = conn.execute("SELECT * FROM pgrecall.erasures").fetchone()
    assert kept is not None
    assert kept[0] == number
    assert CANARY not in str(kept)


def test_postings_and_statistics_are_as_if_it_had_never_been(conn: Connection[Any]) -> None:
    remember(conn, "alpha beta gamma")
    while scalar(conn, "SELECT pgrecall.flush_pending_postings(1)"):
        pass
    state = {
        table: [
            re.sub(r",\d+,", ",", row, count=1) if table == "postings" else row
            for row in contents(conn)[table]
        ]
        for table in ("term_stats", "postings", "pending_postings")
    }
    posted = remember(conn, "alpha delta")
    while scalar(conn, "SELECT pgrecall.flush_pending_postings(1)"):
        pass
    noted = remember(conn, "beta epsilon")
    counts = [erase(conn, posted), erase(conn, noted)]
    assert [each.get("term_stats") for each in counts] == [1, None]
    lexicon = scalar(conn, "SELECT array_agg(term || documents ORDER BY term) FROM pgrecall.term_stats")
    assert lexicon == ["1", "alpha1", "beta1", "gamma1"]
    after = {table: contents(conn)[table] for table in ("term_stats", "pending_postings")}
    assert after == {table: state[table] for table in after}
    assert (
        scalar(
            conn, "SELECT count(*) FROM pgrecall.postings WHERE memory_ids && %s::bigint[]", [posted, noted]
        )
        == 0
    )


def test_embeddings_of_every_generation_go(conn: Connection[Any]) -> None:
    call(conn, "pgrecall.activate_model", "a model", 384)
    conn.execute("SELECT pgrecall.add_generation('another', 8)")
    number = remember(conn, "content")
    embed(conn, number)
    conn.execute("UPDATE pgrecall.memories SET embedding_2 = array_fill(0.25::real, ARRAY[8])::halfvec")
    assert erase(conn, number)["memories"] == 1
    assert contents(conn)["memories"] == []


def test_a_forgotten_memory_is_erased_with_the_name_given_to_its_concept(conn: Connection[Any]) -> None:
    number = remember(conn, "she came", tags=["Jane Quokka"])
    concept = scalar(conn, "SELECT id FROM pgrecall.concepts")
    call(conn, "pgrecall.add_alias", concept, "Jane")
    call(conn, "forget", number)
    assert contents(conn)["concept_aliases"] != []
    counts = erase(conn, number)
    assert counts["concepts"] == 1
    assert (contents(conn)["concepts"], contents(conn)["concept_aliases"]) == ([], [])


def test_a_concept_of_another_memory_stays_with_its_names(conn: Connection[Any]) -> None:
    number, other = remember(conn, "one", tags=["shared", "own"]), remember(conn, "two", tags=["shared"])
    call(
        conn,
        "pgrecall.add_alias",
        scalar(conn, "SELECT id FROM pgrecall.concepts WHERE key = 'shared'"),
        "common",
    )
    counts = erase(conn, number)
    assert (counts["concepts"], counts["concept_aliases"], counts["mentions"]) == (1, 1, 2)
    names = scalar(conn, "SELECT array_agg(alias ORDER BY alias) FROM pgrecall.concept_aliases")
    assert names == ["common", "shared"]
    assert stored(conn, other)["deleted_at"] is None


def test_only_judged_queries_that_quote_it_go(conn: Connection[Any]) -> None:
    number, other = remember(conn, "the quokka sleeps"), remember(conn, "the wombat sleeps")
    call(conn, "pgrecall.judge", "answered", "who rests", None, [number, other])
    call(conn, "pgrecall.judge", "quoted", "where is the quokka", None, [other])
    call(conn, "pgrecall.judge", "unrelated", "where does the wombat sleep", None, [other])
    counts = erase(conn, number)
    assert (counts["judged_queries"], counts["judgements"]) == (2, 3)
    assert scalar(conn, "SELECT array_agg(query_id) FROM pgrecall.judged_queries") == ["unrelated"]


def test_what_it_superseded_is_not_recalled_as_if_it_were_true(conn: Connection[Any]) -> None:
    first = remember(conn, "Jane lives in Rome")
    second = call(conn, "supersede", first, "Jane lives in Oslo")
    third = call(conn, "supersede", second, "Jane lives in Lima")
    erase(conn, second)
    assert stored(conn, first)["superseded_by"] == third
    erase(conn, third)
    after = stored(conn, first)
    assert (after["superseded_by"], after["deleted_at"] is None) == (None, False)
    assert rows(conn, "recall", "where does Jane live") == []


def test_what_its_notes_superseded_is_handed_on(conn: Connection[Any]) -> None:
    message, before = remember(conn, "I moved to Oslo"), remember(conn, "Jane lives in Rome")
    note = call(conn, "supersede", before, "Jane lives in Oslo")
    after = call(conn, "supersede", note, "Jane lives in Lima")
    conn.execute("INSERT INTO pgrecall.note_evidence (note_id, memory_id) VALUES (%s, %s)", (note, message))
    erase(conn, message)
    assert (stored(conn, before)["superseded_by"], stored(conn, before)["deleted_at"]) == (after, None)
    other, said = remember(conn, "Tom lives in Rome"), remember(conn, "I said that Tom lives in Oslo")
    note = call(conn, "supersede", other, "Tom lives in Oslo")
    conn.execute("INSERT INTO pgrecall.note_evidence (note_id, memory_id) VALUES (%s, %s)", (note, said))
    call(conn, "supersede", said, successor=note)
    erase(conn, said)
    assert stored(conn, other)["superseded_by"] is None
    assert stored(conn, other)["deleted_at"] is not None


@pytest.mark.parametrize("imported", [False, True])
def test_versions_kept_of_it_go_too(conn: Connection[Any], imported: bool) -> None:
    number, other = remember(conn, "mine"), remember(conn, "other")
    conn.execute(
        "SELECT _pgrecall.store_losing_version(m, '{\"content\": \"lost quokka\"}', 'key', 'mine') "
        "FROM pgrecall.memories m WHERE m.id = %s", (number,),
    )  # fmt: skip
    if imported:  # it says what id its winner had elsewhere
        conn.execute(
            "UPDATE pgrecall.memories SET metadata = jsonb_set(metadata, '{conflict,with}', '4711') WHERE superseded_by = %s",
            (number,),
        )
    assert erase(conn, number)["memories"] == 2
    assert scalar(conn, "SELECT array_agg(id) FROM pgrecall.memories") == [other]


def test_decisions_of_curation_go(conn: Connection[Any]) -> None:
    one, two = remember(conn, "one"), remember(conn, "two")
    hashes = [stored(conn, number)["content_hash"] for number in (one, two)]
    call(conn, "pgrecall.apply_curation", two, one, "SUPERSEDE", "rules", {}, *hashes[::-1])
    assert erase(conn, two)["curations"] == 1
    assert contents(conn)["curations"] == []


@pytest.mark.rollback
def test_no_setting_names_an_erased_namespace(conn: Connection[Any]) -> None:
    for name in ("gone", "kept"):
        call(conn, "pgrecall.create_namespace", name)
    call(conn, "pgrecall.set_setting", "namespace", "gone")
    call(conn, "pgrecall.set_setting", "namespaces", "{kept,gone}")
    (receipt,) = rows(conn, "erase_namespace", "gone")
    assert receipt[-1]["settings"] == 2
    assert conn.execute("SELECT name, value FROM pgrecall.settings WHERE name ^@ 'namespace'").fetchall() == [
        ("namespaces", "{kept}")
    ]
    rows(conn, "erase_namespace", "kept")
    assert scalar(conn, "SELECT count(*) FROM pgrecall.settings WHERE name ^@ 'namespace'") == 0


@pytest.mark.parametrize("unknown", [10**15, -1, 0, None])
def test_an_unknown_memory(conn: Connection[Any], unknown: int | None) -> None:
    remember(conn, "content")
    for dry_run in (True, False):
        with refused(conn, "P0002"):
            rows(conn, "erase", unknown, dry_run=dry_run)


def test_erasing_twice(conn: Connection[Any]) -> None:
    number = remember(conn, "content")
    erase(conn, number)
    with refused(conn, "P0002"):
        rows(conn, "erase", number)


def test_an_older_snapshot_is_refused(conn: Connection[Any], dsn: str) -> None:
    number = remember(conn, "content")
    with psycopg.connect(dsn) as other:
        other.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        with refused(conn, "55000"):
            rows(other, "erase", number)


def test_the_default_namespace_comes_back_empty(conn: Connection[Any]) -> None:
    remember(conn, "content")
    (receipt,) = rows(conn, "erase_namespace", "default")
    assert receipt[4]["namespaces"] == 1
    again = remember(conn, "new", create_namespace=True)
    assert stored(conn, again)["namespace"] == "default"


# --- Who may ---


def test_a_tenant_erases_nothing_of_others_and_learns_nothing(
    planted: Tenants, conn: Connection[Any]
) -> None:
    before = contents(conn)
    for role in (planted.writer, planted.reader):
        with planted.attacker(role) as attacker:
            told = set()
            for memory in (planted.memory, 10**15):
                for function in ("public.erase(%s)", "public.erase(%s, true)"):
                    with pytest.raises(psycopg.Error) as caught, attacker.transaction():
                        attacker.execute(f"SELECT * FROM {function}".encode(), (memory,))
                    message = str(caught.value.diag.message_primary).replace(str(memory), "ID")
                    told.add((function, caught.value.sqlstate, message))
            # The same for one of another's as for none.
            assert len(told) == 2
            assert {state for _, state, _ in told} == {"P0002" if role == planted.writer else "42501"}
            refusals = set()
            for function, given in (
                ("public.erase_namespace", (VICTIM, "evil", "nowhere")),
                ("_pgrecall.erase_namespace_granted", (planted.home, planted.own_home, 10**8)),
            ):
                for namespace in given:
                    with (
                        pytest.raises(psycopg.errors.InsufficientPrivilege) as caught,
                        attacker.transaction(),
                    ):
                        attacker.execute(f"SELECT {function}(%s, false)".encode(), (namespace,))
                    refusals.add((function, caught.value.diag.message_primary))
            assert len(refusals) == 2
            for helper in (
                f"_pgrecall.erase_granted({planted.own_memory}, false)",
                f"_pgrecall.erase_memory_rows({planted.home}, {planted.memory}, 'x')", f"_pgrecall.erase_namespace_rows({planted.home}, 'x')",
                f"_pgrecall.clear_query_caches({planted.home})", f"_pgrecall.erasure_counts({planted.home}, '{{}}', '{{}}', '{{}}')",
            ):  # fmt: skip
                with pytest.raises(psycopg.errors.InsufficientPrivilege), attacker.transaction():
                    attacker.execute(f"SELECT {helper}".encode())
    assert contents(conn) == before


def test_a_tenant_sees_no_receipt_but_by_its_own_call(planted: Tenants, conn: Connection[Any]) -> None:
    erase(conn, planted.memory)
    with planted.attacker() as attacker:
        (own,) = rows(attacker, "erase", planted.own_memory)
        assert (own[1], own[2], own[3]) == (planted.own_home, planted.own_memory, planted.writer)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            attacker.execute("SELECT * FROM pgrecall.erasures")


def test_a_granted_reader_cannot_erase(planted: Tenants, conn: Connection[Any]) -> None:
    before = contents(conn)
    with (
        planted.attacker() as attacker,
        pytest.raises(psycopg.errors.InsufficientPrivilege, match="may only read"),
    ):
        rows(attacker, "erase", planted.library_memory)
    # As the function is called, were the first check not there.
    with planted.attacker() as attacker:
        told = inside(
            attacker, f"SELECT _pgrecall.erase_granted(ARRAY[{planted.library_memory}]::bigint[], false)"
        )
        assert told.startswith("42501")
    with planted.attacker(planted.reader) as attacker, pytest.raises(psycopg.errors.InsufficientPrivilege):
        rows(attacker, "erase", planted.own_memory)
    assert contents(conn) == before


def test_caches_of_those_who_do_not_see_the_namespace_stay(planted: Tenants, conn: Connection[Any]) -> None:
    """The owner sees all, so its cache goes; that of a role of acme's own stays when evil erases."""
    conn.execute("CREATE ROLE erase_only_acme IN ROLE pgrecall_reader")
    try:
        call(conn, "pgrecall.grant_namespace", "erase_only_acme", VICTIM)
        conn.execute(
            "INSERT INTO pgrecall.query_embeddings (generation_id, role, query_hash, query) "
            "VALUES (1, 'erase_only_acme'::regrole, 'own', 'own question')"
        )
        with planted.attacker() as attacker:
            rows(attacker, "erase", planted.own_memory)
            attacker.commit()
        asked = "SELECT array_agg(role::text) FROM pgrecall.query_embeddings"
        assert scalar(conn, asked) == ["erase_only_acme"]
        erase(conn, planted.memory)
        assert scalar(conn, asked) is None
    finally:
        conn.execute("DROP OWNED BY erase_only_acme")
        conn.execute("DROP ROLE erase_only_acme")


def test_a_receipt_says_nothing_of_what_others_ask(planted: Tenants, conn: Connection[Any]) -> None:
    """The cached questions of those who see everything go at every erasure."""
    conn.execute("DELETE FROM pgrecall.query_embeddings")
    conn.execute(
        "INSERT INTO pgrecall.query_embeddings (generation_id, role, query_hash, query) "
        "SELECT 1, r.role::regrole, sha256('asked'), 'asked' FROM unnest(ARRAY[current_user::text, %s]) r (role)",
        (planted.writer,),
    )
    with planted.attacker() as attacker:
        (told,) = rows(attacker, "erase", planted.own_memory, dry_run=True)
        assert told[-1]["query_embeddings"] == 1
    assert scalar(conn, "SELECT count(*) FROM pgrecall.query_embeddings WHERE query = 'asked'") == 2
    (receipt,) = rows(conn, "erase", planted.own_memory)
    assert receipt[-1]["query_embeddings"] == 2


@pytest.mark.rollback
def test_erase_many_erases_what_a_filter_finds_in_every_state(conn: Connection[Any]) -> None:
    of_priya = {"speaker": "Priya"}
    plain = remember(conn, "I moved to Kochi", **of_priya)
    forgotten = remember(conn, "I sold my boat", **of_priya)
    call(conn, "forget", forgotten)
    replaced = remember(conn, "My desk is oak", **of_priya)
    successor = call(conn, "supersede", replaced, "My desk is teak")
    expired = remember(conn, "My code is 4711", expires_at="2020-01-01Z", **of_priya)
    secret = remember(conn, "My blood group is A", is_sensitive=True, **of_priya)
    over = remember(conn, "I worked at Acme", valid_to="2020-01-01Z", **of_priya)
    other = remember(conn, "Priya moved to Kochi", speaker="Anna")
    wanted = {plain, forgotten, replaced, expired, secret, over}

    shown = rows(conn, "erase_many", speakers=["Priya"], dry_run=True)
    assert {row[0] for row in shown} == {None}
    assert {row[2] for row in shown} - {successor} == wanted
    assert scalar(conn, "SELECT count(*) FROM pgrecall.memories WHERE id = ANY (%s)", list(wanted)) == len(
        wanted
    )
    receipts = rows(conn, "erase_many", speakers=["Priya"])
    assert [row[2] for row in receipts] == [row[2] for row in shown]
    assert [row[5] for row in receipts] == [row[5] for row in shown]
    assert scalar(
        conn, "SELECT count(*) FROM pgrecall.erasures WHERE id = ANY (%s)", [row[0] for row in receipts]
    ) == len(receipts)
    assert scalar(conn, "SELECT count(*) FROM pgrecall.memories WHERE id = ANY (%s)", list(wanted)) == 0
    assert scalar(conn, "SELECT count(*) FROM pgrecall.memories WHERE id = %s", other) == 1
    assert rows(conn, "erase_many", speakers=["Priya"]) == []


def test_a_granted_reader_cannot_erase_many(planted: Tenants, conn: Connection[Any]) -> None:
    before = contents(conn)
    library = scalar(
        conn,
        "SELECT n.name FROM pgrecall.namespaces n JOIN pgrecall.memories m ON m.namespace_id = n.id WHERE m.id = %s",
        planted.library_memory,
    )
    with planted.attacker() as attacker:
        for namespace, sqlstate in ((library, "42501"), ("victim", "42704"), ("no such", "42704")):
            with pytest.raises(psycopg.Error) as caught, attacker.transaction():
                rows(attacker, "erase_many", namespace, until="2100-01-01Z")
            assert caught.value.sqlstate == sqlstate
    assert contents(conn) == before
