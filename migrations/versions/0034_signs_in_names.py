"""Names keep the signs that make another word of the same letters, as normalize_name() does from now on."""

from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

# As in word_signs(): Thai, Lao, Burmese, Khmer and the like, and the virama and nukta of India's scripts.
SIGNS = (
    r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u109a-\u109d\u1780-\u17d3"
    r"\u17d7\u17dc\u17dd\u1950-\u19c9\u1a20-\u1a7f\u1aa7\u1b00-\u1b4c\u1b6b-\u1b73\u1bc0-\u1bf3\ua980-\ua9c0\ua9cf"
    r"\ua9e0-\ua9ef\ua9fa-\uaa4d\uaa60-\uaa76\uaa7a-\uaadd"
    r"\u093c\u094d\u09bc\u09cd\u0a3c\u0a4d\u0abc\u0acd\u0b3c\u0b4d\u0bcd\u0c4d\u0cbc\u0ccd\u0d4d\u0dca"
)
# Names that differ in such a sign alone were one concept, and stay one; the next mention of the other name
# makes a concept of its own.
RENAME = """
SET LOCAL standard_conforming_strings = on;
UPDATE pgrecall.{table} t SET {column} = n.renewed{also}
FROM (
    SELECT o.namespace_id, o.{column} AS former, btrim(regexp_replace(
        regexp_replace(lower(normalize(o.name, NFKC)), '{separators}', ' ', 'g'), ' +', ' ', 'g'
    )) AS renewed
    FROM pgrecall.{table} o
    WHERE o.name ~ '[{signs}]'
) n
WHERE t.namespace_id = n.namespace_id AND t.{column} = n.former AND n.renewed NOT IN ('', n.former)
  AND n.former = btrim(regexp_replace(regexp_replace(n.renewed, '{dropped}', ' ', 'g'), ' +', ' ', 'g'))
  AND NOT EXISTS (
      SELECT FROM pgrecall.{table} x WHERE x.namespace_id = n.namespace_id AND x.{column} = n.renewed
  )
"""


def rename(table: str, column: str, also: str = "") -> None:
    run_sql(
        op.get_bind(),
        RENAME.format(
            table=table,
            column=column,
            also=also,
            separators=rf"[^[:alnum:]+#.{SIGNS}]+|\.+(?![[:alnum:]])|(?<![[:alnum:]+#{SIGNS}])[+#]+",
            dropped=r"[^[:alnum:]+#.]+",
            signs=SIGNS,
        ),
    )


def upgrade() -> None:
    rename("concept_aliases", "alias")
    rename("concepts", "key", ", resolved_at = NULL")


def downgrade() -> None:
    """Leave the names. The former function finds all of them but those that have such signs."""
