"""An export holds everything that a namespace owns, or says what not; the history comes as it was."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pgrecall import Client
from pgrecall.jsonl.load import ImportReport, import_jsonl
from support.backup import prepared
from support.memories import share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

HISTORY = """
    SELECT m.external_id, c.action, c.changed_at, regexp_replace(c.role, '^imported:', '') AS role,
           c.before - 'superseded_by', c.after - 'superseded_by',
           (SELECT s.external_id FROM pgrecall.memories s WHERE s.id = (c.after ->> 'superseded_by')::bigint)
    FROM pgrecall.memory_changes c JOIN pgrecall.memories m ON m.id = c.memory_id ORDER BY c.id
"""


def _fill(conn: psycopg.Connection[Any]) -> None:
    """Rows in every table that an export holds, each change by a call of its own."""
    conn.execute(
        """
        SELECT pgrecall.create_namespace('home'), pgrecall.create_namespace('empty', 'german');
        SELECT remember_many(jsonb_agg(jsonb_build_object('content', 'fact ' || n, 'external_id', n::text)), 'home')
        FROM generate_series(1, 12) n;
        """
    )
    id = "(SELECT id FROM pgrecall.memories WHERE external_id = '{}')"
    for statement in (
        "SELECT update_memory({0}, title => 'T')",
        "SELECT update_memory({0}, 'fact one', tags => '{{a}}')",
        "SELECT forget({1})",
        "SELECT restore({1})",
        "SELECT forget({2})",
        "SELECT supersede({3}, successor => {4})",
        "SELECT supersede({4}, successor => {5})",
        "SELECT update_memory({6}, is_sensitive => true)",
        "SELECT update_memory({7}, importance => 0.9)",
        "SELECT recall_feedback('what is one?', {0}, true, namespace => 'home')",
        "SELECT recall_feedback('what is one?', {7}, false, namespace => 'home')",
        "SELECT pgrecall.judge('q1', 'the facts', NULL, ARRAY[{0}, {1}], exclude => ARRAY[{7}], namespace => 'home')",
        "INSERT INTO pgrecall.note_evidence (memory_id, note_id, is_stated) VALUES ({8}, {9}, true), ({8}, {10}, false)",
    ):
        conn.execute(statement.format(*(id.format(number) for number in range(1, 13))).encode())
    conn.execute(
        """
        SELECT pgrecall.set_secrets('home', 'redact', 'refuse'), pgrecall.set_secrets('empty', in_messages => 'allow'),
               pgrecall.set_retention('home', interval '20 years'), pgrecall.set_retention('home', '30 years', 'chat', 'erase'),
               pgrecall.set_retention('empty', interval '1 year 2 mons'),
               pgrecall.set_page('about-user', namespace => 'home'), pgrecall.set_page('asked', 'the facts', 90, 'tokens', '{open}', 'home');
        INSERT INTO pgrecall.learned_settings (
            namespace_id, settings, queries, ndcg_before, ndcg_after, gain_low, gain_high, learned_at, ended_at, end_reason
        )
        SELECT n.id, s.settings::jsonb, 40, 0.1, 0.3, 0.05, 0.25, s.learned_at, s.ended_at, s.end_reason
        FROM pgrecall.namespaces n, (VALUES
            ('{"cc_alpha": "0.3"}', timestamptz '2026-01-01', timestamptz '2026-02-01', 'replaced'),
            ('{"cc_alpha": "0.7"}', '2026-02-01', NULL, NULL)
        ) s (settings, learned_at, ended_at, end_reason)
        WHERE n.name = 'home';
        """
    )


@pytest.fixture
def source(dsn: str, conn: psycopg.Connection[Any]) -> Iterator[Client]:
    _fill(conn)
    with Client(dsn) as client:
        yield client


@pytest.fixture(scope="module")
def empty(new_database: Callable[..., str]) -> str:
    """Name of an empty database that nobody connects to."""
    return str(conninfo_to_dict(prepared(new_database()))["dbname"])


@pytest.fixture
def target(new_database: Callable[..., str], empty: str) -> Iterator[Client]:
    with Client(new_database(empty)) as client:
        yield client


def _export(client: Client, **options: Any) -> list[str]:
    chosen = {"include_sensitive": True, "include_forgotten": True} | options
    return [line for line, _ in client.transfer.export(**chosen)]


def _import(client: Client, lines: Sequence[str]) -> ImportReport:
    return import_jsonl(client, [f"{line}\n".encode() for line in lines], keep_origins=True)


def _rows(client: Client, query: str) -> list[Any]:
    with psycopg.connect(client.open().dsn, autocommit=True) as conn:
        return conn.execute(query.encode()).fetchall()


def _without_ids(lines: Sequence[str]) -> list[Any]:
    """The lines with each id as the place of its memory."""
    records = [json.loads(line) for line in lines]
    places = {record["id"]: place for place, record in enumerate(records) if "id" in record}

    def mapped(record: dict[str, Any]) -> dict[str, Any]:
        for key, value in record.items():
            if key in {"id", "memory", "note", "superseded_by"} and value is not None:
                record[key] = places[value]
            elif key in {"useful", "useless", "exclude"}:
                record[key] = sorted(places[id] for id in value)
            elif key in {"before", "after"}:
                record[key] = mapped(value)
        return record

    return [mapped(record) for record in records]


def test_an_export_of_an_import_is_the_same_file(source: Client, target: Client) -> None:
    lines = _export(source)
    report = _import(target, lines)
    assert report.rejected == ()
    found = [json.loads(line).get("kind") for line in lines]
    # The namespaces "home" and "empty" have policies for secrets, "default" has none.
    assert report.records == sum(kind not in {None, "header", "namespace"} for kind in found) + 2 > 14
    again = _export(target)
    assert _without_ids(again) == _without_ids(lines)
    assert set(found) == {
        "header", *(kind for kind, in _rows(source, "SELECT exported FROM _pgrecall.table_declarations() WHERE is_exported")),
    }  # fmt: skip


def test_history_comes_as_it_was(source: Client, target: Client) -> None:
    before = _rows(source, HISTORY)
    assert len(before) > 8
    _import(target, _export(source))
    assert _rows(target, HISTORY) == before
    assert _rows(target, "SELECT count(*) FROM pgrecall.memory_changes WHERE role NOT LIKE 'imported:%'") == [
        (0,)
    ]
    (id,) = (row[0] for row in _rows(target, "SELECT id FROM pgrecall.memories WHERE external_id = '1'"))
    changes = [(change.action, change.role) for change in target.history(id)]
    assert [action for action, _ in changes] == ["remember", "update", "update"]
    assert all(role.startswith("imported:") for _, role in changes if role)


def test_importing_twice_changes_nothing(source: Client, target: Client) -> None:
    lines = _export(source)
    _import(target, lines)
    once = _export(target)
    report = _import(target, lines)
    assert (report.stored, report.records, report.rejected) == (0, 0, ())
    assert _export(target) == once
    own = _export(source)
    assert _import(source, own).records == 0
    assert _export(source) == own


def test_what_is_not_exported_is_said_and_nothing_else_is_left_out(source: Client) -> None:
    header = next(json.loads(line) for line in _export(source) if '"header"' in line)
    owned = _rows(
        source,
        "SELECT DISTINCT table_name FROM information_schema.columns c JOIN pg_class r ON r.relname = c.table_name "
        "WHERE c.table_schema = 'pgrecall' AND r.relkind = 'r' AND r.relnamespace = 'pgrecall'::regnamespace "
        "AND c.column_name IN ('namespace_id', 'memory_id', 'home', 'note_id')",
    )
    exported = {
        name for (name,) in _rows(source, "SELECT name FROM _pgrecall.table_declarations() WHERE is_exported")
    }
    assert {name for (name,) in owned} == set(header["not_exported"]) | exported - {"namespaces"}


def test_the_page_says_of_each_table_that_is_not_exported_how_it_comes_back(source: Client) -> None:
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs" / "backup.md").read_text()
    section = page[page.index("**Not exported**") :]
    lines = re.findall(r"^\| (`.*`) \| (.*) \|$", section, re.MULTILINE)
    said = {name: how for names, how in lines for name in re.findall(r"`([a-z_]+)`", names)}
    declared = _rows(
        source, "SELECT name, not_exported FROM _pgrecall.table_declarations() WHERE not_exported IS NOT NULL"
    )
    assert {name: said.get(name) for name, _ in declared} == dict(declared)


def test_nothing_sensitive_or_forgotten_leaves_unasked(source: Client) -> None:
    conn_rows = _rows(source, "SELECT id FROM pgrecall.memories WHERE external_id IN ('7', '3')")
    hidden = {id for (id,) in conn_rows}
    lines = _export(source, include_sensitive=None, include_forgotten=None)
    for line in lines:
        record = json.loads(line)
        assert not {record.get("id"), record.get("memory"), record.get("note")} & hidden
        assert not set(record.get("useful", [])) & hidden
        assert "fact 7" not in line
    # What a memory was while it was sensitive.
    with psycopg.connect(source.open().dsn, autocommit=True) as conn:
        conn.execute(
            """
            SELECT update_memory(id, 'was secret', is_sensitive => true) FROM pgrecall.memories WHERE external_id = '12';
            """
        )
        conn.execute(
            """
            SELECT update_memory(id, 'public', is_sensitive => false) FROM pgrecall.memories WHERE external_id = '12';
            """
        )
    assert not any("was secret" in line for line in _export(source, include_sensitive=None))


NOT_EXPORTED = {
    "namespaces": {"created_at", "languages"},
    "retention": set(),
    "pages": {"made_at", "refreshed_at"},
    "learned_settings": set(),
    "memory_changes": {"bytes"},
    "note_evidence": set(),
    "judged_queries": {"owner"},
}
"""Columns that an import makes anew."""
RENAMED = {"note_id": "note", "memory_id": "memory", "namespace_id": "namespace"}


@pytest.mark.parametrize("table", NOT_EXPORTED)
def test_every_column_is_exported(source: Client, table: str) -> None:
    [(kind,)] = _rows(source, f"SELECT exported FROM _pgrecall.table_declarations() WHERE name = '{table}'")
    keys = next(set(record) for line in _export(source) if (record := json.loads(line)).get("kind") == kind)
    columns = _rows(
        source,
        f"SELECT column_name FROM information_schema.columns WHERE table_schema = 'pgrecall' AND table_name = '{table}'",
    )
    missing = {
        name
        for (name,) in columns
        if not {name, RENAMED.get(name, name)} & keys and name not in {"id", "name"}
    }
    assert missing == NOT_EXPORTED[table]


def test_a_policy_for_secrets_that_is_there_is_kept(source: Client, target: Client) -> None:
    with psycopg.connect(target.open().dsn, autocommit=True) as conn:
        conn.execute("SELECT pgrecall.create_namespace('home'), pgrecall.set_secrets('home', 'allow')")
    report = _import(target, _export(source))
    assert [one.reason for one in report.rejected] == ["another one stands in its place, and is kept"]
    policies = "SELECT name, secrets, secrets_in_messages FROM pgrecall.namespaces ORDER BY name"
    assert _rows(target, policies) == [
        ("default", None, None),
        ("empty", None, "allow"),
        ("home", "allow", None),
    ]


SECRET = "my password is tiger" + "4321"


def _said(client: Client) -> dict[str, tuple[str, bool]]:
    """Text and sensitivity of each memory by its session."""
    return {
        str(one.session): (one.content, one.is_sensitive) for one in client.list(k=1000, namespace="home")
    }


def test_an_import_stores_by_the_policy_for_secrets_that_it_brings(source: Client, target: Client) -> None:
    source.admin.set_secrets("home", "allow", in_messages="allow")
    source.remember(SECRET, session="noted", namespace="home")
    source.remember_messages([{"role": "user", "content": SECRET}], "said", namespace="home")
    report = _import(target, _export(source))
    assert report.rejected == ()
    assert {name: _said(target)[name] for name in ("noted", "said")} == {
        "noted": (SECRET, False), "said": (SECRET, False),
    }  # fmt: skip


def test_a_policy_for_secrets_that_comes_too_late_is_reported(source: Client, target: Client) -> None:
    source.admin.set_secrets("home", "allow", in_messages="allow")
    source.remember(SECRET, session="noted", namespace="home")
    source.remember_many([{"content": f"number {number}", "namespace": "home"} for number in range(500)])
    policies = [line for line in _export(source) if json.loads(line).get("kind") == "namespace"]
    others = [line for line in _export(source) if line not in policies]
    report = _import(target, [*others, *policies])
    [late] = report.rejected
    assert late.line == len(others) + 1 + next(n for n, line in enumerate(policies) if '"home"' in line)
    assert "came before it" in late.reason
    assert _said(target)["noted"] == (SECRET, True)
    assert _import(target, [*others, *policies]).rejected == ()


def test_an_interrupted_import_of_memories_with_secrets_is_completed(source: Client, target: Client) -> None:
    source.admin.set_secrets("home", "allow", in_messages="allow")
    old = source.remember(SECRET, session="old", external_id="old", namespace="home")
    source.supersede(old, "it is in the vault")
    # The target makes it sensitive, as its own policy says.
    lines = [line for line in _export(source) if json.loads(line).get("kind") != "namespace"]
    batch = [line for line in lines if json.loads(line).get("external_id") == "old"]
    assert [row["outcome"] for row in target.transfer.import_memories(batch)] == ["stored"]
    report = _import(target, lines)
    assert (report.differing, report.rejected) == (0, ())
    unlinked = "SELECT count(*) FROM pgrecall.memories WHERE deleted_at = _pgrecall.awaits_successor()"
    assert _rows(target, unlinked) == [(0,)]
    [(id,)] = _rows(target, "SELECT id FROM pgrecall.memories WHERE external_id = 'old'")
    assert [change.action for change in target.history(id)] == [
        change.action for change in source.history(old)
    ]


def test_what_is_told_of_a_memory_is_not_told_of_another_with_its_key(source: Client, target: Client) -> None:
    lines = _export(source)
    with psycopg.connect(target.open().dsn, autocommit=True) as conn:
        conn.execute(
            "SELECT remember('another', external_id => '1', namespace => 'home', create_namespace => true)"
        )
    report = _import(target, lines)
    assert report.differing == 1
    other = "(SELECT id FROM pgrecall.memories WHERE content = 'another')"
    for table, column in (
        ("memory_changes", "memory_id"), ("judgements", "memory_id"), ("note_evidence", "memory_id"),
    ):  # fmt: skip
        assert _rows(target, f"SELECT count(*) FROM pgrecall.{table} WHERE {column} = {other}") == [(0,)]
    assert {one.reason for one in report.rejected} == {
        "its memory was not imported, or its id is that of several"
    }


def _drinks(client: Client, who: str) -> list[str]:
    """An export of three memories with a history, one superseded by another; two databases give the same ids."""
    tea = client.remember(f"{who} drinks tea")
    client.update(tea, importance=0.9)
    client.supersede(tea, f"{who} drinks water")
    client.remember(f"{who} sleeps")
    return _export(client)


HEADS = """
    SELECT m.content, s.content, array_agg(c.action ORDER BY c.id) FILTER (WHERE c.id IS NOT NULL)
    FROM pgrecall.memories m LEFT JOIN pgrecall.memories s ON s.id = m.superseded_by
    LEFT JOIN pgrecall.memory_changes c ON c.memory_id = m.id GROUP BY m.id, s.content ORDER BY 1
"""


def test_several_exports_in_one_file_keep_to_themselves(
    new_database: Callable[..., str], empty: str, target: Client
) -> None:
    with Client(new_database(empty)) as one, Client(new_database(empty)) as other:
        first, second = _drinks(one, "Anna"), _drinks(other, "Bert")
        history = _rows(one, HEADS) + _rows(other, HEADS)
    assert _import(target, [*first, *second, *first]).rejected == ()
    assert _rows(target, HEADS) == history


def test_an_id_of_two_memories_is_nobodys(
    new_database: Callable[..., str], empty: str, target: Client
) -> None:
    with Client(new_database(empty)) as one, Client(new_database(empty)) as other:
        lines = [line for client, who in ((one, "Anna"), (other, "Bert")) for line in _drinks(client, who)]
    report = _import(target, [line for line in lines if json.loads(line).get("kind") != "header"])
    assert ["its id is that of several" in one.reason for one in report.rejected] == [True] * 6
    assert {row[1:] for row in _rows(target, HEADS)} == {(None, None)}


@pytest.mark.parametrize("place", [0, 3, -1])
def test_a_header_may_stand_anywhere(
    new_database: Callable[..., str], empty: str, target: Client, place: int
) -> None:
    with Client(new_database(empty)) as one:
        header, *lines = _drinks(one, "Anna")
        history = _rows(one, HEADS)
    lines.insert(place, header)
    assert _import(target, lines).rejected == ()
    assert _rows(target, HEADS) == history


@pytest.mark.parametrize(
    ("kind", "key", "value"),
    [("change", "memory", True), ("judged", "useful", [True]), ("judged", "exclude", ["1"])],
)
def test_what_is_no_id_is_not_taken_for_one(
    source: Client, target: Client, kind: str, key: str, value: Any
) -> None:
    records = [json.loads(line) for line in _export(source)]
    changed = next(record for record in records if record.get("kind") == kind)
    changed[key] = value
    [refused] = _import(target, [json.dumps(record) for record in records]).rejected
    assert refused.reason == f"{key} is not what an export writes"


def test_older_history_takes_nothing_from_newer(source: Client) -> None:
    old = _export(source)
    (id,) = (row[0] for row in _rows(source, "SELECT id FROM pgrecall.memories WHERE external_id = '1'"))
    for number in range(501):
        source.update(id, title=f"T{number}")
    kept = f"SELECT changed_at, action, before, after FROM pgrecall.memory_changes WHERE memory_id = {id} ORDER BY id"
    before = _rows(source, kept)
    assert len(before) == 500
    _import(source, old)
    assert _rows(source, kept) == before
    # Long values that are no longer kept are no other change.
    texts = {"before": {"content": "a" * 700_000}, "after": {"content": "b" * 700_000}}
    (id,) = (row[0] for row in _rows(source, "SELECT id FROM pgrecall.memories WHERE external_id = '4'"))
    lines = [
        json.dumps(FORGED | {"memory": id, "changed_at": f"2020-01-01T00:00:0{number}Z"} | texts)
        for number in range(3)
    ]
    assert [row["outcome"] for row in source.transfer.import_records(lines)] == ["stored"] * 3
    assert [row["outcome"] for row in source.transfer.import_records(lines)] == ["present"] * 3
    assert [change.changed_at for change in source.history(id)] == sorted(
        change.changed_at for change in source.history(id)
    )


# -- what a file may claim

FORGED = {
    "pgrecall": 1, "kind": "change", "namespace": "home", "action": "update", "changed_at": "2020-01-01T00:00:00Z",
    "role": "postgres", "before": {"content": "a"}, "after": {"content": "b"},
}  # fmt: skip


def test_a_tenant_cannot_forge_history_or_set_rules(source: Client, conn: psycopg.Connection[Any]) -> None:
    share(conn, "home")
    conn.execute("SELECT pgrecall.create_namespace('theirs'), remember('not ours', namespace => 'theirs')")
    ours, theirs = (
        conn.execute(query).fetchone()[0]  # type: ignore[index]
        for query in (
            "SELECT id FROM pgrecall.memories WHERE external_id = '1'",
            "SELECT id FROM pgrecall.memories WHERE content = 'not ours'",
        )
    )
    rule = {
        "pgrecall": 1,
        "kind": "retention",
        "namespace": "home",
        "category": "x",
        "keep": "1 second",
        "action": "erase",
    }
    policy = {"pgrecall": 1, "kind": "namespace", "namespace": "home", "language": "english"}
    with Client(make_conninfo(source.open().dsn, options="-c role=pgrecall_writer")) as writer:
        conn.execute("SELECT pgrecall.set_secrets('home', 'default', 'default')")
        [refused] = writer.transfer.import_records([json.dumps(policy | {"secrets": "allow"})])
        assert refused["outcome"] == "refused"
        [present] = writer.transfer.import_records([json.dumps(policy)])
        assert present["outcome"] == "present"
        outcomes = writer.transfer.import_records(
            [
                json.dumps(FORGED | {"memory": ours}),
                json.dumps(FORGED | {"memory": theirs}),
                json.dumps(rule),
                json.dumps(
                    {
                        "pgrecall": 1,
                        "kind": "evidence",
                        "namespace": "home",
                        "memory": ours,
                        "note": theirs,
                        "is_stated": True,
                    }
                ),
            ]
        )
        assert [row["outcome"] for row in outcomes] == ["stored", "missing", "refused", "missing"]
        from pgrecall import PermissionDenied

        with pytest.raises(PermissionDenied):
            writer.transfer.import_records([json.dumps(FORGED | {"memory": theirs, "namespace": "theirs"})])
    assert {change.role for change in source.history(ours)} >= {"imported:postgres"}


@pytest.mark.parametrize(
    "fields",
    [
        {"action": "invented"}, {"changed_at": "yesterday"}, {"changed_at": "infinity"}, {"role": "x" * 300}, {"before": []},
        {"after": {"embedding": 1}}, {"memory": -1}, {"memory": "1"}, {"memory": 1e30}, {"kind": "grants"}, {"kind": 7},
        {"kind": "learned", "settings": {"k": "1"}}, {"kind": "judged"}, {"pgrecall": 2}, {"extra": 1}, {"namespace": None},
        {"kind": "retention", "keep": "-1 day", "action": "erase"}, {"before": {}}, {"after": {}},
        {"before": {"content": "swordfish", "title": "a"}}, {"after": {"title": "b"}}, {"after": {"content": "b", "tags": []}},
    ],
    ids=str,
)  # fmt: skip
def test_a_malformed_record_is_refused_without_its_text(source: Client, fields: dict[str, Any]) -> None:
    from pgrecall import InvalidInput

    (id,) = (row[0] for row in _rows(source, "SELECT id FROM pgrecall.memories WHERE external_id = '1'"))
    secret = {"before": {"content": "swordfish"}}
    with pytest.raises(InvalidInput) as caught:
        source.transfer.import_records([json.dumps(FORGED | {"memory": id} | secret | fields)])
    assert "swordfish" not in str(caught.value)


def test_an_imported_history_keeps_within_the_limits_of_history(source: Client) -> None:
    (id,) = (row[0] for row in _rows(source, "SELECT id FROM pgrecall.memories WHERE external_id = '1'"))
    texts = {"before": {"content": "a" * 100_000}, "after": {"content": "b" * 100_000}}
    lines = [
        FORGED | {"memory": id, "changed_at": f"2020-01-01T00:00:{n:02}Z"} | texts for n in range(60)
    ] + [
        FORGED | {"memory": id, "changed_at": f"2020-01-02T00:{n // 60:02}:{n % 60:02}Z"} for n in range(500)
    ]
    source.transfer.import_records([json.dumps(line) for line in lines[:60]])
    size = "octet_length(before::text) + octet_length(after::text)"
    held = f"SELECT count(*), sum({size}) <= 2200000, bool_and(bytes = {size}) FROM pgrecall.memory_changes"
    held += f" WHERE memory_id = {id} AND role = 'imported:postgres'"
    assert _rows(source, held) == [(60, True, True)]
    source.transfer.import_records([json.dumps(line) for line in lines[60:]])
    assert _rows(source, held) == [(498, True, True)]  # and two that were made here later
