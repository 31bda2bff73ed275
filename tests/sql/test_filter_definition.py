"""A filter has one definition, pgrecall.recall_conditions: whatever the catalog lists there works everywhere."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from support.memories import call, refused, remember_many, rows, scalar

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

OF_STATE = {"as_of", "include_superseded", "include_sensitive"}
"""Conditions on the state of a memory: they say not which memories, so nothing is deleted by them alone."""

MEMORY = {
    "content": "tea", "title": "Tea", "category": "note", "tags": ["x"], "metadata": {"u": "a"}, "session": "s", "speaker": "Priya",
    "source": "mail", "external_id": "doc/1", "occurred_at": "2024-03-05T12:00:00Z", "created_at": "2024-03-06T00:00:00Z",
    "is_sensitive": True,
}  # fmt: skip
EXCLUDING = {
    "as_of": "2024-03-05T00:00:00Z", "include_sensitive": False, "metadata_contains": {"u": "b"}, "metadata_where": {"u": "b"},
    "since": "2025-01-01", "until": "2024-03-05", "timeframe": "[2025-01-01,2025-02-01)",
    "min_trust": "user",
}  # fmt: skip
PASSING = {
    "as_of": "2024-03-07T00:00:00Z", "include_sensitive": True, "include_superseded": False, "categories": ["note"],
    "tags_any": ["x", "y"], "tags_all": ["x"], "metadata_contains": {"u": "a"}, "metadata_where": {"u": {"$in": ["a"]}},
    "sessions": ["s"], "speakers": ["Priya"], "sources": ["mail"], "external_id_prefix": "doc/", "since": "2024-03-05",
    "until": "2024-03-06", "timeframe": "[2024-03-05,2024-03-06)",
    "min_trust": "agent",
}  # fmt: skip
OF_TYPE = {"text[]": ["no such text"], "text": "no such text"}
"""What excludes the memory, if a condition of this type has no value above."""

WRONG = {
    "text[]": ["x", 1, {"a": 1}, [1], [None], [["x"]]],
    "text": [["x"], 1, {}],
    "pgrecall.memory_origin": ["quartz", 1, ["user"], {}],
    "boolean": ["true", 1, []],
    "timestamp with time zone": ["quartz", 1, "2024", [], "2024-03-05 quartz", "infinity quartz"],
    "tstzrange": ["quartz", 1, "[quartz,)", "2024-03-05", ["2024-03-05", "2024-03-06"], "[2024-03-05,2024-03-06) quartz"],
    "jsonb": ["quartz", 1, []],
}  # fmt: skip


def conditions(conn: Connection[Any]) -> dict[str, str]:
    """The conditions, each with its type, from the catalog."""
    return dict(
        conn.execute("""
            SELECT a.attname, format_type(a.atttypid, NULL) FROM pg_attribute a
            WHERE a.attrelid = 'pgrecall.recall_conditions'::regclass ORDER BY a.attnum
        """).fetchall()
    )


def filtering(conn: Connection[Any]) -> dict[str, set[str]]:
    """The public functions that filter, each with the names of its arguments."""
    found = conn.execute("""
        SELECT proname, proargnames[:pronargs] FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace AND proargnames[:pronargs] && '{tags_any,filter}'
    """).fetchall()
    return {name: set(arguments) for name, arguments in found}


def ids(conn: Connection[Any], function: str, condition: dict[str, Any]) -> Any:
    """Call a function with its argument filter: the ids that it returns, or their number, or its text."""
    own = {"recall": {"query": "tea"}, "recall_briefing": {"query": "tea"}, "recall_timeline": {"topic": "tea"},
           "recall_explain": {"query": "tea"}, "forget_many": {"dry_run": "true"}, "erase_many": {"dry_run": "true"}}  # fmt: skip
    named = {**own.get(function, {}), "filter": json.dumps(condition)}
    given = sql.SQL(", ").join(
        sql.SQL("{} => {}").format(sql.Identifier(n), sql.Literal(v)) for n, v in named.items()
    )
    rows = conn.execute(sql.SQL("SELECT * FROM {}({}) r").format(sql.Identifier(function), given)).fetchall()
    if function in ("count_memories", "forget_many", "recall_briefing"):
        return rows[0][0]
    return [row[2] if function == "erase_many" else row[0] for row in rows]


@pytest.fixture
def number(conn: Connection[Any]) -> int:
    [number] = remember_many(conn, [MEMORY])
    return number


def excluding(conn: Connection[Any]) -> dict[str, Any]:
    """A value of each condition that excludes the memory; only superseded memories meet include_superseded."""
    values = {name: EXCLUDING.get(name, OF_TYPE.get(kind)) for name, kind in conditions(conn).items()}
    del values["include_superseded"]
    missing = [name for name, value in values.items() if value is None]
    assert not missing, f"give {missing} a value that excludes the memory, in EXCLUDING"
    return values


def test_every_filtering_function_takes_every_condition(conn: Connection[Any], number: int) -> None:
    functions = filtering(conn)
    assert len(functions) >= 8
    for function, arguments in functions.items():
        assert "filter" in arguments, function
        for name, value in excluding(conn).items():
            if (function == "erase_many" and name == "include_sensitive") or (
                function in ("erase_many", "forget_many") and name in OF_STATE
            ):
                continue
            assert ids(conn, function, {name: value}) in ([], 0, ""), (function, name)


def test_a_condition_that_is_met_excludes_nothing(conn: Connection[Any], number: int) -> None:
    for name in conditions(conn):
        assert name in PASSING, f"give {name} a value that the memory meets, in PASSING"
        assert ids(conn, "list_memories", {name: PASSING[name]}) == [number], name
        assert ids(conn, "recall", {name: PASSING[name]}) == [number], name


def test_an_argument_and_its_condition_are_the_same(conn: Connection[Any], number: int) -> None:
    named = filtering(conn)["list_memories"]
    for name, kind in conditions(conn).items():
        for value in (PASSING.get(name), excluding(conn).get(name)):
            if name not in named or value is None:
                continue
            text = json.dumps(value) if kind == "jsonb" else value
            by_argument = conn.execute(
                sql.SQL("SELECT id FROM list_memories({} => {}::{})").format(
                    sql.Identifier(name), sql.Literal(text), sql.SQL(kind)
                )
            ).fetchall()
            assert [row[0] for row in by_argument] == ids(conn, "list_memories", {name: value}), name


def test_explain_names_every_condition_that_excludes_a_memory(conn: Connection[Any], number: int) -> None:
    for name, value in excluding(conn).items():
        [(reason,)] = conn.execute(
            "SELECT reason FROM recall_explain('tea', ids => %s, filter => %s)",
            ([number], json.dumps({name: value})),
        ).fetchall()
        assert str(reason).startswith(f"filtered by {name}"), (name, reason)
    for first, second in zip(list(excluding(conn))[1:], list(excluding(conn))[2:], strict=False):
        both = {first: excluding(conn)[first], second: excluding(conn)[second]}
        [(reason,)] = conn.execute(
            "SELECT reason FROM recall_explain('tea', ids => %s, filter => %s)", ([number], json.dumps(both))
        ).fetchall()
        assert reason == f"filtered by {first}"


def test_a_filter_with_any_condition_is_not_unfiltered(conn: Connection[Any], number: int) -> None:
    query = "SELECT _pgrecall.is_unfiltered(_pgrecall.memory_filter(filter => %s::jsonb))"
    for name, value in (*excluding(conn).items(), ("include_superseded", True)):
        assert scalar(conn, query, json.dumps({name: value})) is False, name
        assert scalar(conn, query, json.dumps({name: None})) is True, name
    assert scalar(conn, query, "{}") is True
    assert scalar(conn, query, '{"include_superseded": false, "include_sensitive": true}') is True


def test_an_index_serves_exactly_the_conditions_that_are_said_to_have_one(conn: Connection[Any]) -> None:
    """What has_indexed_condition() lists, compared with the plans of one condition each."""
    remember_many(
        conn,
        [
            {"content": f"note {n}", "title": f"title {n}", "category": f"c{n}", "session": f"s{n}", "speaker": f"p{n}",
             "source": f"f{n}", "external_id": f"doc/{n}", "tags": [f"t{n}"], "metadata": {"u": f"a{n}"},
             "occurred_at": f"2024-03-05T00:00:00.{n:06}Z"}
            for n in range(3000)
        ],
    )  # fmt: skip
    conn.execute("ANALYZE pgrecall.memories")
    conn.execute("SET LOCAL enable_seqscan = off")
    for name, value in excluding(conn).items():
        for keyed in ("f", "_pgrecall.with_keys(1, f, 2000)"):
            text = scalar(
                conn, f"SELECT ({keyed})::text FROM _pgrecall.memory_filter(filter => %s::jsonb) f",
                json.dumps({name: value}),
            )  # fmt: skip
            said = scalar(conn, "SELECT _pgrecall.has_indexed_condition(%s::pgrecall.recall_filter)", text)
            plan = conn.execute(
                sql.SQL(
                    "EXPLAIN SELECT m.id FROM pgrecall.memories m "
                    "WHERE m.namespace_id = 1 AND _pgrecall.matches_filter(m, {}::pgrecall.recall_filter)"
                ).format(sql.Literal(text))
            ).fetchall()
            # An index of one namespace's memories that says more than the namespace.
            served = any(
                "filter_keys" in line or ("namespace_id = 1) AND" in line)
                for (line,) in plan
                if "Index Cond" in line
            )
            assert served is said, (name, keyed, plan)


@pytest.mark.parametrize("function", ["forget_many", "erase_many"])
def test_what_deletes_needs_a_condition_that_says_which(
    conn: Connection[Any], number: int, function: str
) -> None:
    empty: dict[str, list[Any]] = {"text[]": [[]], "text": [""], "jsonb": [{}], "tstzrange": ["(,)"], "timestamp with time zone": ["-infinity", "infinity"]}  # fmt: skip
    for name, kind in conditions(conn).items():
        for value in empty.get(kind, [True, False]):
            try:
                with conn.transaction():
                    assert ids(conn, function, {name: value}) in (0, []), (name, value)
            except psycopg.errors.InvalidParameterValue:
                continue
    for name in OF_STATE:
        with pytest.raises(psycopg.errors.InvalidParameterValue), conn.transaction():
            ids(conn, function, {name: PASSING[name]})


@pytest.mark.parametrize(
    "state", [{"include_sensitive": False}, {"include_superseded": False}, {"as_of": "2024-01-01"}]
)
def test_erase_many_erases_in_every_state_or_says_so(
    conn: Connection[Any], number: int, state: dict[str, Any]
) -> None:
    """A memory that stays would be taken for erased."""
    chosen = {"speakers": PASSING["speakers"]}
    with refused(conn, "22023"):
        rows(conn, "erase_many", filter=Jsonb(chosen | state))
    every = {"include_sensitive": True, "include_superseded": True, "as_of": None}
    assert [row[2] for row in rows(conn, "erase_many", filter=Jsonb(chosen | every))] == [number]


def test_a_value_of_another_type_is_refused_without_being_quoted(conn: Connection[Any]) -> None:
    assert set(WRONG) >= set(conditions(conn).values())
    for name, kind in conditions(conn).items():
        for value in WRONG[kind]:
            with pytest.raises(psycopg.Error) as caught, conn.transaction():
                ids(conn, "list_memories", {name: value})
            assert caught.value.sqlstate == "22023", (name, value, caught.value)
            assert name in str(caught.value)
            assert "quartz" not in str(caught.value)
            assert caught.value.diag.message_hint
        assert ids(conn, "list_memories", {name: None}) == []
    for bad in (
        '{"category": ["x"]}',
        '{"category_hashes": [1]}',
        '{"referring": [1]}',
        '{"": 1}',
        "[]",
        '"x"',
        "null",
    ):
        with pytest.raises(psycopg.errors.InvalidParameterValue), conn.transaction():
            conn.execute("SELECT count_memories(filter => %s)", (bad,))


@pytest.mark.parametrize("value", ["[]", '""', "1"])
def test_metadata_that_is_no_object_is_contained_in_nothing(
    conn: Connection[Any], number: int, value: str
) -> None:
    assert conn.execute("SELECT count_memories(metadata_contains => %s)", (value,)).fetchall() == [(0,)]
    assert conn.execute("SELECT forget_many(metadata_contains => %s)", (value,)).fetchall() == [(0,)]
    with pytest.raises(psycopg.errors.InvalidParameterValue), conn.transaction():
        conn.execute("SELECT count_memories(metadata_where => %s)", (value,))


def test_a_null_of_json_is_no_condition_of_its_own(conn: Connection[Any], number: int) -> None:
    for function in ("count_memories", "forget_many"):
        for name in ("metadata_contains", "metadata_where"):
            with pytest.raises(psycopg.errors.InvalidParameterValue), conn.transaction():
                conn.execute(f"SELECT {function}(sessions => '{{s}}', {name} => 'null')".encode())
    assert conn.execute("""SELECT count_memories(filter => '{"metadata_contains": null}')""").fetchall() == [
        (1,)
    ]


def test_a_condition_is_given_once(conn: Connection[Any], number: int) -> None:
    with (
        pytest.raises(psycopg.errors.InvalidParameterValue, match="tags_any is given twice"),
        conn.transaction(),
    ):
        conn.execute("""SELECT list_memories(tags_any => '{x}', filter => '{"tags_any": ["y"]}')""")
    # A boolean argument always has a value, so what filter says goes before it.
    assert conn.execute("""SELECT count_memories(filter => '{"include_sensitive": false}')""").fetchall() == [
        (0,)
    ]
    assert "Priya" in call(conn, "recall_briefing", "tea", filter='{"include_sensitive": true}')
    assert call(conn, "recall_briefing", "tea", filter='{"include_sensitive": null}') == ""


def test_a_timeframe_is_understood_in_every_style_of_dates(conn: Connection[Any], number: int) -> None:
    for style in ("ISO, MDY", "German", "SQL, DMY", "Postgres, MDY"):
        conn.execute("SET LOCAL timezone = 'Asia/Kolkata'")
        conn.execute(sql.SQL("SET LOCAL datestyle = {}").format(sql.Literal(style)))
        for timeframe, reason in (
            ("[2024-03-05 12:00Z,2024-03-05 13:00Z)", None),
            ("[2024-03-05 13:00Z,)", "timeframe"),
        ):
            explained = conn.execute(
                "SELECT reason FROM recall_explain('tea', ids => %s, timeframe => %s)", ([number], timeframe)
            ).fetchall()
            assert explained == [(reason and f"filtered by {reason}",)], (style, timeframe)
