"""get_memories(), list_memories(), count_memories(), list_sessions(), forget_many(), restore(), memory_history(), rename_namespace()."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from support.memories import call, embed, refused, remember, remember_many, rows, scalar, share, stored

if TYPE_CHECKING:
    from psycopg import Connection

MARCH = datetime(2024, 3, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def listed(conn: Connection[Any], function: str = "list_memories", **options: Any) -> list[int]:
    return [row[0] for row in rows(conn, function, **options)]


def history(conn: Connection[Any], memory_id: int) -> list[dict[str, Any]]:
    return (
        conn.cursor(row_factory=dict_row).execute("SELECT * FROM memory_history(%s)", (memory_id,)).fetchall()
    )


# --- get_memories ---


@pytest.mark.rollback
def test_get_returns_in_the_order_of_the_ids(conn: Connection[Any]) -> None:
    one, two = remember(conn, "one"), remember(conn, "two")
    gone, expired = remember(conn, "gone"), remember(conn, "expired", expires_at=MARCH)
    call(conn, "forget", gone)
    ids = [two, one, gone, expired, 10**12, None, two]
    assert listed(conn, "get_memories", ids=ids) == [two, one, two]
    assert listed(conn, "get_memories", ids=ids, include_forgotten=True) == [two, one, gone, expired, two]
    assert listed(conn, "get_memories", ids=[]) == []
    wrong: list[tuple[str, dict[str, Any]]] = [
        *(("22023", arguments) for arguments in ({"ids": None}, {}, {"ids": ids, "external_ids": ["a"]})),
        *(("54000", arguments) for arguments in ({"ids": list(range(1001))}, {"external_ids": ["a"] * 1001})),
    ]
    for sqlstate, arguments in wrong:
        with refused(conn, sqlstate), conn.transaction():
            rows(conn, "get_memories", **arguments)


@pytest.mark.rollback
def test_get_by_the_callers_own_ids(conn: Connection[Any]) -> None:
    one, two = remember(conn, "one", external_id="a"), remember(conn, "two", external_id="b")
    elsewhere = remember(conn, "elsewhere", external_id="a", namespace="other", create_namespace=True)
    gone = remember(conn, "gone", external_id="c")
    call(conn, "forget", gone)
    ids = ["b", "a", "nobody", None, "c"]
    assert listed(conn, "get_memories", external_ids=ids) == [two, one]
    assert listed(conn, "get_memories", external_ids=ids, include_forgotten=True) == [two, one, gone]
    assert listed(conn, "get_memories", external_ids=["a"], namespace="other") == [elsewhere]


@pytest.mark.rollback
def test_the_view_has_every_field_that_can_be_stored(conn: Connection[Any]) -> None:
    fields = {
        name
        for (name,) in conn.execute(
            "SELECT attname::text FROM pg_attribute WHERE attrelid = 'pgrecall.memory_fields'::regclass AND attnum > 0"
        )
    }
    columns = {
        name
        for (name,) in conn.execute(
            "SELECT attname::text FROM pg_attribute WHERE attrelid = 'pgrecall.stored_memories'::regclass AND attnum > 0"
        )
    }
    assert fields - {"position"} <= columns
    assert "session_position" in columns


@pytest.mark.rollback
def test_no_argument_of_a_public_function_needs_quotes(conn: Connection[Any]) -> None:
    query = """
        SELECT p.oid::regprocedure::text, a.name
        FROM pg_proc p CROSS JOIN LATERAL unnest(p.proargnames) a (name)
        WHERE p.pronamespace IN ('public'::regnamespace, 'pgrecall'::regnamespace) AND quote_ident(a.name) <> a.name
          AND a.name <> ''
          AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
          AND p.proargmodes IS NULL
    """
    assert conn.execute(query).fetchall() == []
    asked = conn.execute("SELECT remember('a note', session => 's', session_position => 3)").fetchone()
    assert asked is not None
    assert stored(conn, asked[0])["position"] == 3


# --- list_memories ---


@pytest.mark.rollback
def test_pages_are_complete_and_ordered_even_among_equal_times(conn: Connection[Any]) -> None:
    ids = remember_many(
        conn, [{"content": f"note {n}", "occurred_at": str(MARCH + (n // 4) * DAY)} for n in range(30)]
    )
    expected = [ids[n] for n in sorted(range(30), key=lambda n: (n // 4, n), reverse=True)]
    for oldest_first in (False, True):
        pages: list[int] = []
        while page := listed(
            conn, max_results=7, after_id=pages[-1] if pages else None, oldest_first=oldest_first
        ):
            pages += page
        assert pages == (expected[::-1] if oldest_first else expected)


@pytest.mark.rollback
def test_a_page_continues_after_a_memory_that_was_forgotten_meanwhile(conn: Connection[Any]) -> None:
    ids = remember_many(conn, [{"content": f"note {n}"} for n in range(6)])
    call(conn, "forget", ids[3])
    remember(conn, "newer")
    assert listed(conn, after_id=ids[3], max_results=2) == [ids[2], ids[1]]
    with refused(conn, "P0002"), conn.transaction():
        listed(conn, after_id=10**12)
    elsewhere = remember(conn, "elsewhere", namespace="there", create_namespace=True)
    with refused(conn, "P0002"), conn.transaction():
        listed(conn, after_id=elsewhere)
    for wrong in (0, -1, 1001, None):
        with refused(conn, "22023"), conn.transaction():
            rows(conn, "list_memories", max_results=wrong)
    assert listed(conn, namespace="nowhere") == []


FILTERS: list[dict[str, Any]] = [
    {},
    {"categories": ["a", "b"]},
    {"tags_any": ["x", "y"]},
    {"tags_all": ["x", "y"]},
    {"metadata_contains": {"n": 3}},
    {"metadata_where": {"n": {"$gte": 3, "$lt": 8}}},
    {"sessions": ["s1", "s2"]},
    {"speakers": ["Priya"]},
    {"sources": ["mail"]},
    {"external_id_prefix": "doc/1"},
    {"since": MARCH + 3 * DAY},
    {"until": MARCH + 3 * DAY},
    {"include_sensitive": False},
    {"include_superseded": True},
    {"timeframe": "[2024-03-02,2024-03-05)"},
    {"as_of": MARCH + 4 * DAY},
    {"sessions": ["s1"], "speakers": ["Bob"], "tags_any": ["x"], "oldest_first": True},
]


def corpus(conn: Connection[Any]) -> list[int]:
    ids = remember_many(
        conn,
        [
            {
                "content": f"tea {n}",
                "category": "abc"[n % 3],
                "tags": [["x"], ["x", "y"], ["z"], []][n % 4],
                "metadata": {"n": n % 10},
                "session": f"s{n % 5}",
                "speaker": ("Priya", "Bob", None)[n % 3],
                "source": ("mail", "chat")[n % 2],
                "external_id": f"doc/{n}",
                "occurred_at": str(MARCH + (n % 7) * DAY),
                "created_at": str(MARCH + (n % 9) * DAY),
                "is_sensitive": n % 11 == 0,
            }
            for n in range(60)
        ],
    )
    call(conn, "forget", ids[7])
    call(conn, "supersede", ids[8], successor=ids[9])
    remember(conn, "tea elsewhere", namespace="there", create_namespace=True)
    return ids


@pytest.mark.rollback
@pytest.mark.parametrize("filters", FILTERS, ids=str)
def test_every_filter_is_that_of_recall(conn: Connection[Any], filters: dict[str, Any]) -> None:
    corpus(conn)
    sent = {name: Jsonb(value) if isinstance(value, dict) else value for name, value in filters.items()}
    asked = {name: value for name, value in sent.items() if name != "oldest_first"}
    found = {row[0] for row in rows(conn, "recall", "tea", k=1000, **asked)}
    assert found
    assert set(listed(conn, "list_memories", max_results=1000, **sent)) == found
    assert call(conn, "count_memories", **asked) == len(found)
    timeline = {row[0] for row in rows(conn, "recall_timeline", "tea", k=1000, **asked)}
    assert timeline == found
    explained = {row[0] for row in rows(conn, "recall_explain", "tea", k=1000, **asked)}
    assert explained == found


@pytest.mark.rollback
def test_explain_names_the_filter(conn: Connection[Any]) -> None:
    (number,) = remember_many(
        conn,
        [
            {
                "content": "tea",
                "session": "s",
                "speaker": "Priya",
                "source": "mail",
                "external_id": "doc/1",
                "metadata": {"n": 1},
            }
        ],
    )
    cases: dict[str, object] = {
        "sessions": ["t"],
        "speakers": ["Bob"],
        "sources": ["chat"],
        "external_id_prefix": "doc/2",
        "metadata_where": Jsonb({"n": 2}),
    }
    for name, value in cases.items():
        (row,) = conn.cursor(row_factory=dict_row).execute(
            sql.SQL("SELECT * FROM recall_explain('tea', ids => %s, {} => %s)").format(sql.Identifier(name)),
            ([number], value),
        )
        assert row["reason"] == f"filtered by {name}"


@pytest.mark.rollback
def test_forgotten_memories_are_listed_apart(conn: Connection[Any]) -> None:
    ids = corpus(conn)
    due = remember(conn, "due", expires_at=MARCH, speaker="Bob")
    assert listed(conn, forgotten=True) == [ids[7]]
    call(conn, "forget", due)
    assert set(listed(conn, forgotten=True)) == {ids[7], due}
    assert listed(conn, forgotten=True, sessions=["s2"]) == [ids[7]]
    assert listed(conn, forgotten=True, speakers=["Bob"]) == [due, ids[7]]
    assert call(conn, "count_memories", forgotten=True) == 2


@pytest.mark.rollback
def test_only_what_the_role_may_read_is_listed(conn: Connection[Any]) -> None:
    mine = remember(conn, "mine", session="s")
    theirs = remember(conn, "theirs", namespace="there", create_namespace=True, session="s")
    share(conn, access="read")
    conn.execute("SET LOCAL ROLE pgrecall_writer")
    assert listed(conn) == [mine]
    assert listed(conn, namespace="there") == []
    assert call(conn, "count_memories", namespace="there") == 0
    assert rows(conn, "list_sessions", namespace="there") == []
    assert listed(conn, "get_memories", ids=[theirs, mine]) == [mine]
    for statement in ("SELECT memory_history(%s)", "SELECT restore(%s)"):
        with pytest.raises(psycopg.Error) as caught, conn.transaction():
            conn.execute(statement.encode(), (theirs,))
        assert caught.value.sqlstate == "P0002"
    with pytest.raises(psycopg.errors.InsufficientPrivilege), conn.transaction():
        call(conn, "forget_many", sessions=["s"])
    assert call(conn, "forget_many", namespace="there", sessions=["s"]) == 0
    with pytest.raises(psycopg.errors.InsufficientPrivilege), conn.transaction():
        conn.execute("SELECT * FROM pgrecall.stored_memories")


@pytest.mark.rollback
def test_pages_and_filters_use_their_indexes(conn: Connection[Any]) -> None:
    remember_many(
        conn,
        [
            {"content": f"n {n}", "session": f"s{n // 10}", "speaker": f"p{n % 500}", "external_id": f"doc/{n}",
             "category": f"c{n % 400}", "source": f"file {n % 600}",
             "metadata": {"user": f"u{n % 300}"}, "tags": [f"t{n % 300}"], "occurred_at": str(MARCH + n * timedelta(hours=1))}
            for n in range(6000)
        ],
    )  # fmt: skip
    conn.execute("ANALYZE pgrecall.memories")
    cases = {
        "memories_namespace_time_idx": "true ORDER BY COALESCE(m.occurred_at, m.created_at) DESC, m.id DESC LIMIT 10",
        "memories_session_idx": "_pgrecall.matches_filter(m, _pgrecall.memory_filter(NULL, NULL, NULL, NULL, NULL, '{s7}', NULL, NULL, NULL, NULL, NULL, false, true))",
        "memories_speaker_idx": "_pgrecall.matches_filter(m, _pgrecall.memory_filter(NULL, NULL, NULL, NULL, NULL, NULL, '{p7}', NULL, NULL, NULL, NULL, false, true))",
        "memories_category_idx": "_pgrecall.matches_filter(m, _pgrecall.memory_filter('{c7}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, false, true))",
        "memories_source_idx": "_pgrecall.matches_filter(m, _pgrecall.memory_filter(NULL, NULL, NULL, NULL, NULL, NULL, NULL, '{file 7}', NULL, NULL, NULL, false, true))",
        "memories_external_id_prefix_idx": "_pgrecall.matches_filter(m, _pgrecall.memory_filter(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'doc/42', NULL, NULL, false, true))",
    }  # fmt: skip
    keyed = (
        "'{t7}', NULL, NULL, NULL", "NULL, '{t7}', NULL, NULL", "NULL, NULL, '{\"user\": \"u7\"}', NULL",
        "NULL, NULL, NULL, '{\"user\": \"u7\"}'", "NULL, NULL, NULL, '{\"user\": {\"$in\": [\"u7\", \"u8\"]}}'",
    )  # fmt: skip
    for index, condition in [
        *cases.items(),
        *(
            (
                "memories_keys_idx",
                f"_pgrecall.matches_filter(m, _pgrecall.with_keys(1, _pgrecall.memory_filter(NULL, {tags_and_metadata}, NULL, NULL, NULL, NULL, NULL, NULL, false, true), 2000))",
            )
            for tags_and_metadata in keyed
        ),
    ]:
        statement = "SELECT m.id FROM pgrecall.memories m WHERE m.namespace_id = 1 AND " + condition
        if "memory_filter" in statement:
            # As list_granted() runs it: the filter is an argument, known to the planner.
            call_text = statement[statement.index("(m, ") + len("(m, ") : -1]
            value = scalar(conn, f"SELECT ({call_text})::text")
            statement = statement.replace(call_text, f"'{value}'::pgrecall.recall_filter")
        plan = "\n".join(line for (line,) in conn.execute(f"EXPLAIN {statement}".encode()))
        assert index in plan, plan


# --- list_sessions ---


@pytest.mark.rollback
def test_sessions_with_their_times_and_speakers(conn: Connection[Any]) -> None:
    for day, (session, speaker) in enumerate(
        [("old", "Bob"), ("new", "Priya"), ("new", "Bob"), ("new", None)]
    ):
        remember(conn, f"note {day}", session=session, speaker=speaker, occurred_at=MARCH + day * DAY)
    remember(conn, "without a session")
    call(conn, "forget", remember(conn, "gone", session="gone"))
    assert rows(conn, "list_sessions") == [
        ("new", 3, MARCH + DAY, MARCH + 3 * DAY, ["Bob", "Priya"]),
        ("old", 1, MARCH, MARCH, ["Bob"]),
    ]
    assert [row[0] for row in rows(conn, "list_sessions", max_results=1)] == ["new"]
    with refused(conn, "22023"), conn.transaction():
        rows(conn, "list_sessions", max_results=0)


# --- forget_many and restore ---


@pytest.mark.rollback
def test_forget_many_counts_first_and_needs_a_filter(conn: Connection[Any]) -> None:
    ids = corpus(conn)
    expected = set(listed(conn, sessions=["s1"], max_results=1000))
    assert call(conn, "forget_many", sessions=["s1"], dry_run=True) == len(expected)
    assert set(listed(conn, sessions=["s1"], max_results=1000)) == expected
    assert call(conn, "forget_many", sessions=["s1"]) == len(expected)
    assert listed(conn, sessions=["s1"]) == []
    assert set(listed(conn, forgotten=True)) == expected | {ids[7]}
    assert call(conn, "forget_many", sessions=["s1"]) == 0
    for nothing in ({}, {"include_superseded": True}, {"include_sensitive": False}):
        with refused(conn, "22023"), conn.transaction():
            call(conn, "forget_many", **nothing)


def test_restore_brings_everything_back(conn: Connection[Any]) -> None:
    number = remember(conn, "a yellow submarine", tags=["music"])
    embed(conn, number)
    assert call(conn, "restore", number) is False
    call(conn, "forget", number)
    assert rows(conn, "recall", "submarine") == []
    assert call(conn, "restore", number) is True
    assert [row[0] for row in rows(conn, "recall", "submarine")] == [number]
    assert stored(conn, number)["embedding"] is not None
    assert scalar(conn, "SELECT count(*) FROM pgrecall.mentions WHERE memory_id = %s", number) == 1
    assert scalar(conn, "SELECT true FROM pgrecall.jobs WHERE memory_id = %s AND kind = 'text'", number)
    with refused(conn, "P0002"):
        call(conn, "restore", 10**12)


@pytest.mark.rollback
def test_restore_ends_an_expiry_that_has_passed(conn: Connection[Any]) -> None:
    number = remember(conn, "tea", expires_at=MARCH)
    assert rows(conn, "recall", "tea") == []
    assert call(conn, "restore", number) is True
    assert [row[0] for row in rows(conn, "recall", "tea")] == [number]
    assert stored(conn, number)["expires_at"] is None


# --- memory_history ---


def test_every_change_is_kept_with_its_author(conn: Connection[Any]) -> None:
    number = remember(conn, "Priya lives in Goa", tags=["home"])
    share(conn)
    conn.execute("SET ROLE pgrecall_writer")
    call(conn, "update_memory", number, content="Priya lives in Kochi", tags=[])
    conn.execute("RESET ROLE")
    assert call(conn, "update_memory", number, content="Priya lives in Kochi") is False
    embed(conn, number)  # no change of the memory
    successor = call(conn, "supersede", number, "Priya lives in Munnar")
    call(conn, "forget", successor)
    call(conn, "restore", successor)
    changes = history(conn, number)
    assert changes == history(conn, successor)
    assert [(change["memory_id"], change["action"], change["content"]) for change in changes] == [
        (number, "remember", "Priya lives in Goa"),
        (number, "update", "Priya lives in Kochi"),
        (number, "supersede", "Priya lives in Kochi"),
        (successor, "remember", "Priya lives in Munnar"),
        (successor, "forget", "Priya lives in Munnar"),
        (successor, "restore", "Priya lives in Munnar"),
    ]
    assert changes[1]["role"] == "pgrecall_writer"
    assert changes[1]["before"] == {"content": "Priya lives in Goa", "tags": ["home"]}
    assert changes[1]["after"] == {"content": "Priya lives in Kochi", "tags": []}
    assert changes[2]["before"]["superseded_by"] is None
    assert changes[2]["after"]["superseded_by"] == successor
    with refused(conn, "P0002"):
        history(conn, 10**12)


def test_the_history_without_what_is_sensitive(conn: Connection[Any]) -> None:
    opened = remember(conn, "the pin is 1234", is_sensitive=True)
    call(conn, "update_memory", opened, content="the pin is 4321", title="Pin")
    call(conn, "update_memory", opened, content="the pin is known to Priya", is_sensitive=False)
    call(conn, "update_memory", opened, content="the pin is known to Sofia")
    secret = call(conn, "supersede", opened, "the pin is 9999")
    call(conn, "update_memory", secret, is_sensitive=True)
    plain = call(conn, "supersede", secret, "the pin is forgotten")
    call(conn, "update_memory", plain, is_sensitive=False)

    def versions(memory_id: int, *, include_sensitive: bool) -> list[dict[str, Any]]:
        return (
            conn.cursor(row_factory=dict_row)
            .execute(
                "SELECT * FROM memory_history(%s, include_sensitive => %s)", (memory_id, include_sensitive)
            )
            .fetchall()
        )

    assert versions(opened, include_sensitive=True) == history(conn, opened)
    kept = versions(opened, include_sensitive=False)
    assert [(change["memory_id"], change["content"]) for change in kept] == [
        (opened, "the pin is known to Priya"),
        (opened, "the pin is known to Sofia"),
        (opened, "the pin is known to Sofia"),
        (plain, "the pin is forgotten"),
    ]
    assert "1234" not in str(kept)
    assert "4321" not in str(kept)
    assert "9999" not in str(kept)
    with refused(conn, "P0002"):
        versions(secret, include_sensitive=False)


def test_the_history_names_the_curation(conn: Connection[Any]) -> None:
    old, new = remember(conn, "Priya lives in Goa"), remember(conn, "Priya lives in Kochi")
    number = scalar(
        conn,
        "SELECT pgrecall.apply_curation(n.id, o.id, 'SUPERSEDE', 'rules', '{}', n.content_hash, o.content_hash) "
        "FROM pgrecall.memories n, pgrecall.memories o WHERE n.id = %s AND o.id = %s",
        new,
        old,
    )
    (change,) = (change for change in history(conn, old) if change["action"] == "supersede")
    assert change["curation"] == number
    call(conn, "undo_curation", number)
    assert [c["action"] for c in history(conn, old) if c["memory_id"] == old] == [
        "remember",
        "supersede",
        "unsupersede",
    ]


def test_an_erased_memory_leaves_no_history(conn: Connection[Any]) -> None:
    number = remember(conn, "the pin is quokka")
    call(conn, "update_memory", number, content="the pin is known to quokka")
    call(conn, "forget", number)
    (receipt,) = rows(conn, "erase", number)
    assert receipt[-1]["memory_changes"] == 2
    assert scalar(conn, "SELECT count(*) FROM pgrecall.memory_changes") == 0


@pytest.mark.rollback
def test_forgotten_memories_are_listed_whatever_they_were_before(conn: Connection[Any]) -> None:
    plain, old, over = (
        remember(conn, "plain"),
        remember(conn, "old"),
        remember(conn, "over", valid_to="2020-01-01T00:00:00Z"),
    )
    call(conn, "supersede", old, "new")
    for number in (plain, old, over):
        call(conn, "forget", number)
    assert sorted(listed(conn, forgotten=True)) == sorted([plain, old, over])
    assert call(conn, "count_memories", forgotten=True) == 3


# --- rename_namespace ---


@pytest.mark.rollback
def test_a_namespace_keeps_everything_under_its_new_name(conn: Connection[Any]) -> None:
    number = remember(conn, "tea", namespace="old", create_namespace=True)
    conn.execute("SELECT pgrecall.set_setting('namespace', 'old')")
    conn.execute("SELECT pgrecall.rename_namespace('old', 'new')")
    assert listed(conn, namespace="new") == [number]
    assert listed(conn, namespace="old") == []
    assert listed(conn) == [number]
    for wrong, sqlstate in (
        ("default", "23505"),
        ("", "22023"),
        (" ", "22023"),
        (None, "22023"),
        ("x" * 201, "22023"),
    ):
        with refused(conn, sqlstate), conn.transaction():
            conn.execute("SELECT pgrecall.rename_namespace('new', %s)", (wrong,))
    with refused(conn, "42704"), conn.transaction():
        conn.execute("SELECT pgrecall.rename_namespace('nowhere', 'there')")
    call(conn, "pgrecall.set_setting", "namespaces", '{default, "new"}')
    conn.execute("SELECT pgrecall.rename_namespace('new', 'a {b},')")
    assert sorted(listed(conn)) == sorted(listed(conn, namespaces=["default", "a {b},"])) == [number]
    conn.execute("SELECT pgrecall.rename_namespace('a {b},', 'new')")
    share(conn, "new")
    conn.execute("SET LOCAL ROLE pgrecall_writer")
    with pytest.raises(psycopg.errors.InsufficientPrivilege), conn.transaction():
        conn.execute("SELECT pgrecall.rename_namespace('new', 'mine')")
