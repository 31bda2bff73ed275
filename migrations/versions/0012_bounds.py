"""Bounds of times, numbers and depth that every reader can read."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

FIRST, LAST = "'0001-01-02 00:00:00+00'::timestamptz", "'9999-12-31 00:00:00+00'::timestamptz"
# What a column may hold besides: a sentinel that no reader gets, or a time that a text mentions.
BESIDE = {
    # Never again.
    ("extractions", "next_attempt_at"): "{0} = 'infinity'",
    # While refresh_relationships() runs.
    ("relationships", "valid_to"): "{0} = 'infinity'",
    ("temporal_refs", "from_at"): "isfinite({0})",
    ("temporal_refs", "to_at"): "isfinite({0})",
}
# Where infinity means that there is no end.
ENDLESS = {("memories", "valid_to"), ("memories", "expires_at")}
TIMES = """
SELECT c.relname, array_agg(a.attname::text ORDER BY a.attnum)
FROM pg_catalog.pg_attribute a
JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind = 'r' AND a.attnum > 0 AND NOT a.attisdropped
  AND a.atttypid = 'timestamptz'::regtype
GROUP BY c.relname
ORDER BY c.relname
"""
PLAIN = (
    "NOT jsonb_path_exists(metadata, '$.**{65}') AND NOT jsonb_path_exists(metadata, "
    """'strict $.** ? (@.type() == "number" && """
    "(@ > 1.8e308 || @ < -1.8e308 || (@ != 0 && @ > -4e-324 && @ < 4e-324)))')"
)
LONGEST = "interval '1000 years'"


def upgrade() -> None:
    connection = op.get_bind()
    tables = connection.exec_driver_sql(TIMES).fetchall()
    # Each table is scanned without a lock that keeps readers and writers out.
    with op.get_context().autocommit_block():
        connection = op.get_bind()
        for table, columns in tables:
            bounds = " AND ".join(f"({bound(table, column)})" for column in columns)
            repaired = ", ".join(f"{column} = {repair(table, column)}" for column in columns)
            constrain(connection, table, "times", bounds, repaired)
        # As text a value that no reader can read is kept, and no search reads it.
        constrain(
            connection,
            "memories",
            "metadata_plain",
            PLAIN,
            "metadata = jsonb_build_object('unreadable', left(metadata::text, 100000))",
        )
        constrain(connection, "retention", "keep_length", f"keep <= {LONGEST}", f"keep = {LONGEST}")


def constrain(connection: object, table: str, name: str, condition: str, repaired: str) -> None:
    """Add a constraint after rows that do not meet it have been repaired."""
    constraint = f"{table}_{name}"
    run_sql(connection, f"ALTER TABLE pgrecall.{table} DROP CONSTRAINT IF EXISTS {constraint}")
    added = f"ADD CONSTRAINT {constraint} CHECK ({condition}) NOT VALID"
    run_sql(connection, f"ALTER TABLE pgrecall.{table} {added}")
    run_sql(connection, f"UPDATE pgrecall.{table} SET {repaired} WHERE NOT ({condition})")
    run_sql(connection, f"ALTER TABLE pgrecall.{table} VALIDATE CONSTRAINT {constraint}")


def bound(table: str, column: str) -> str:
    beside = BESIDE.get((table, column))
    plain = f"{column} BETWEEN {FIRST} AND {LAST}"
    return plain if beside is None else f"{plain} OR {beside.format(column)}"


def repair(table: str, column: str) -> str:
    clamped = f"least(greatest({column}, {FIRST}), {LAST})"
    ends = f"WHEN {column} = 'infinity' THEN NULL " if (table, column) in ENDLESS else ""
    return f"CASE {ends}WHEN NOT ({bound(table, column)}) THEN {clamped} ELSE {column} END"


def downgrade() -> None:
    connection = op.get_bind()
    for table, _ in connection.exec_driver_sql(TIMES).fetchall():
        run_sql(connection, f"ALTER TABLE pgrecall.{table} DROP CONSTRAINT {table}_times")
    run_sql(connection, "ALTER TABLE pgrecall.memories DROP CONSTRAINT memories_metadata_plain")
    run_sql(connection, "ALTER TABLE pgrecall.retention DROP CONSTRAINT retention_keep_length")
