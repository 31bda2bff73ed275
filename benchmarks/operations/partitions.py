"""A prototype: pgrecall with its memories partitioned by hash of the namespace, its functions as they are.

No product code: tables of a database that is dropped afterwards. What a partitioned table cannot have is left
out: the primary key is (namespace_id, id), and the foreign keys to memories (id) are gone.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from benchmarks.speed.storage import MODEL, connect
from pgrecall._code import install_code, remove_code, set_database_defaults
from pgrecall.bundle import sql_files
from pgrecall.install import migrate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

__all__ = ["asking_in", "keeping_plans", "make", "naming_the_namespace", "partitions"]

_WITHOUT = "LIKE pgrecall.whole INCLUDING ALL EXCLUDING INDEXES"
_ASKED = "current_setting('bench.namespace_id')::integer"
_PLAIN = ("m.namespace_id + 0 =", "m.namespace_id =")
# What keeps a large namespace from being read whole would keep partitions from being left out.
_NAMING = {
    "recall/bm25_postings.sql": (
        (
            "ON m.id = c.memory_id\n        CROSS JOIN",
            "ON m.id = c.memory_id AND m.namespace_id = bm25_postings.namespace_id\n        CROSS JOIN",
        ),
        _PLAIN,
    ),
    "recall/graph_walk.sql": (_PLAIN,),
    "recall/named_memories.sql": (_PLAIN,),
    "recall/rank_memories.sql": (_PLAIN,),
    "recall/recall.sql": (
        ("ON m.id = r.id\n", "ON m.id = r.id AND m.namespace_id = question.namespace_id\n"),
    ),
    "recall/scored_memories.sql": (
        ("FROM pgrecall.memories m;", f"FROM pgrecall.memories m WHERE m.namespace_id = {_ASKED};"),
    ),
    "recall/session_neighbours.sql": (
        (
            "WHERE m.id = session_neighbours.memory_id",
            f"WHERE m.namespace_id = {_ASKED} AND m.id = session_neighbours.memory_id",
        ),
    ),
}
"""The statements of recall that look memories up by id alone, and what makes them look into one partition."""
_ROW_FUNCTIONS = """
SELECT pg_get_functiondef(p.oid) FROM pg_proc p
WHERE p.pronamespace = 'pgrecall'::regnamespace AND p.proname = 'embedding_of'
"""


def make(dsn: str, dimension: int, count: int) -> dict[str, Any]:
    """Install pgrecall in an empty database, its memories in so many partitions.

    Args:
        dsn: The database, of a superuser.
        dimension: Of the embeddings.
        count: How many partitions; 0 leaves the table whole.

    Returns:
        The definition of each index of memories by its name, and how many foreign keys had to go.
    """
    migrate(dsn, dim=dimension, model=MODEL)
    with connect(dsn) as connection:
        indexes = dict(
            connection.execute(
                "SELECT indexname, indexdef FROM pg_indexes "
                "WHERE schemaname = 'pgrecall' AND tablename = 'memories'"
            ).fetchall()
        )
        (keys,) = connection.execute(
            "SELECT count(*) FROM pg_constraint "
            "WHERE contype = 'f' AND confrelid = 'pgrecall.memories'::regclass"
        ).fetchone() or (0,)
        if count:
            _split(connection, count, indexes)
            set_database_defaults(connection)
    return {"indexes": indexes, "foreign_keys_lost": keys if count else 0}


def partitions(connection: Connection[Any]) -> list[str]:
    """Return the tables that hold the memories, with their schema: the one table, or its partitions."""
    rows = connection.execute(
        "SELECT t.relid::text FROM pg_partition_tree('pgrecall.memories') t WHERE t.isleaf ORDER BY 1"
    ).fetchall()
    return [name for (name,) in rows] or ["pgrecall.memories"]


@contextmanager
def naming_the_namespace(connection: Connection[Any]) -> Iterator[None]:
    """Have every statement of a recall name the namespace: where it has none at hand, that of `asking_in`."""
    texts = {file.name: file.text for file in sql_files()}
    _use_search_path(connection)
    try:
        for name, changes in _NAMING.items():
            text = texts[name]
            for usual, naming in changes:
                if text.count(usual) != 1:
                    raise ValueError(f"{name} is not what it was: it cannot be made to name the namespace")
                text = text.replace(usual, naming)
            connection.execute(text.encode())
        yield
    finally:
        for name in _NAMING:
            connection.execute(texts[name].encode())


def asking_in(dsn: str, namespace_id: int) -> str:
    """Return a connection string for sessions that ask in one namespace only."""
    return _with_option(dsn, f"bench.namespace_id={namespace_id}")


def keeping_plans(dsn: str) -> str:
    """Return a connection string for sessions that plan a statement once, whatever its arguments."""
    return _with_option(dsn, "plan_cache_mode=force_generic_plan")


def _with_option(dsn: str, option: str) -> str:
    before = conninfo_to_dict(dsn).get("options") or ""
    return make_conninfo(dsn, options=f"{before} -c {option}".strip())


def _split(connection: Connection[Any], count: int, indexes: dict[str, str]) -> None:
    """Put an empty partitioned table in the place of memories."""
    remove_code(connection)
    functions = [text for (text,) in connection.execute(_ROW_FUNCTIONS).fetchall()]
    _use_search_path(connection)
    connection.execute("ALTER TABLE pgrecall.memories RENAME TO whole")
    # Its name is free for the new table's, which remember_many asks for ids.
    connection.execute("ALTER SEQUENCE pgrecall.memories_id_seq RENAME TO whole_id_seq")
    connection.execute(
        f"CREATE TABLE pgrecall.memories ({_WITHOUT}) PARTITION BY HASH (namespace_id)".encode()
    )
    for number in range(count):
        connection.execute(
            sql.SQL(
                "CREATE TABLE {} PARTITION OF pgrecall.memories "
                "FOR VALUES WITH (MODULUS {}, REMAINDER {}) WITH (toast_tuple_target = {})"
            ).format(
                sql.Identifier("pgrecall", f"memories_{number}"),
                sql.Literal(count),
                sql.Literal(number),
                sql.Literal(_toast_tuple_target(connection)),
            )
        )
    connection.execute("DROP TABLE pgrecall.whole CASCADE")
    for name, definition in indexes.items():
        wanted = definition.replace("(id)", "(namespace_id, id)") if name == "memories_pkey" else definition
        connection.execute(wanted.encode())
    for text in functions:
        connection.execute(text.encode())
    install_code(connection, plpython=False)


def _use_search_path(connection: Connection[Any]) -> None:
    """Use the installer's search_path, which functions keep."""
    connection.execute(
        "SELECT set_config('search_path', "
        "concat_ws(', ', 'pgrecall', extnamespace::regnamespace, 'pg_temp'), false) "
        "FROM pg_extension WHERE extname = 'vector'"
    )


def _toast_tuple_target(connection: Connection[Any]) -> int:
    (value,) = connection.execute(
        "SELECT option_value FROM pg_class, pg_options_to_table(reloptions) "
        "WHERE oid = 'pgrecall.whole'::regclass AND option_name = 'toast_tuple_target'"
    ).fetchone() or (2032,)
    return int(value)
