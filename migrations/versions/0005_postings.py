# ruff: noqa: E501 (lines of SQL)
"""Postings, the list of what is not in them yet, and the lexicon: BM25 of the lexical leg."""

from alembic import op

from pgrecall.install import run_sql

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

TABLES = """
-- Writers that are under way would end after their memories were looked for below.
LOCK TABLE pgrecall.memories IN SHARE ROW EXCLUSIVE MODE;

CREATE TABLE pgrecall.postings (
    namespace_id integer NOT NULL,
    term         text COLLATE "C" NOT NULL,
    top_impact   real NOT NULL,
    block        bigint GENERATED ALWAYS AS IDENTITY,
    memory_ids   bigint[] NOT NULL,
    impacts      real[] NOT NULL,
    CONSTRAINT postings_block_size CHECK (cardinality(memory_ids) BETWEEN 1 AND 128),
    CONSTRAINT postings_block_pairs CHECK (cardinality(impacts) = cardinality(memory_ids))
);
-- A block fits its row: nothing to fetch from elsewhere, and nothing to unpack.
ALTER TABLE pgrecall.postings ALTER COLUMN memory_ids SET STORAGE PLAIN, ALTER COLUMN impacts SET STORAGE PLAIN;
COMMENT ON TABLE pgrecall.postings IS
    'Which memories hold a term, and what it contributes to their BM25 score, in blocks of up to 128. '
    'Written by _pgrecall.index_postings() and _pgrecall.remove_postings() under _pgrecall.try_lock_postings() only.';
COMMENT ON COLUMN pgrecall.postings.top_impact IS 'The highest impact of the block: the best blocks of a term are read first.';
COMMENT ON COLUMN pgrecall.postings.impacts IS 'The impact of the term on each of memory_ids, highest first.';
CREATE UNIQUE INDEX postings_term_key ON pgrecall.postings (namespace_id, term, top_impact DESC, block);
ALTER TABLE pgrecall.postings REPLICA IDENTITY USING INDEX postings_term_key;

CREATE TABLE pgrecall.term_stats (
    namespace_id integer NOT NULL,
    term         text COLLATE "C" NOT NULL,
    documents    integer NOT NULL,
    small_blocks integer NOT NULL,
    PRIMARY KEY (namespace_id, term)
) WITH (fillfactor = 80);
COMMENT ON TABLE pgrecall.term_stats IS
    'How many memories hold each term, as pgrecall.postings has it; the term '''' stands for any: how many memories are posted.';
COMMENT ON COLUMN pgrecall.term_stats.small_blocks IS 'Blocks of the term less than half full; when there are too many they become fewer.';

CREATE TABLE pgrecall.pending_postings (
    memory_id     bigint NOT NULL,
    namespace_id  integer NOT NULL,
    indexed_vector tsvector,
    PRIMARY KEY (memory_id, namespace_id)
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
COMMENT ON TABLE pgrecall.pending_postings IS
    'Memories that changed since they were posted, or were never posted; recall scores them from their search_vector. '
    'Folded into pgrecall.postings as soon as a namespace has enough of them.';
COMMENT ON COLUMN pgrecall.pending_postings.indexed_vector IS 'The search_vector that pgrecall.postings holds for the memory; NULL: none.';
CREATE INDEX pending_postings_namespace_idx ON pgrecall.pending_postings (namespace_id);

-- Memories that are there already are found at once, and posted in the background.
INSERT INTO pgrecall.pending_postings (memory_id, namespace_id)
SELECT m.id, m.namespace_id FROM pgrecall.memories m WHERE m.deleted_at IS NULL;

-- Until sql/ is installed nobody else notes what comes in; installing it drops this.
CREATE FUNCTION pgrecall.note_until_installed()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $function$
BEGIN
    INSERT INTO pgrecall.pending_postings (memory_id, namespace_id)
    SELECT NEW.id, NEW.namespace_id WHERE NEW.deleted_at IS NULL
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$function$;
CREATE TRIGGER memories_note_until_installed
    AFTER INSERT OR UPDATE OF id, namespace_id, deleted_at ON pgrecall.memories
    FOR EACH ROW EXECUTE FUNCTION pgrecall.note_until_installed();

CREATE TYPE pgrecall.bm25_parameters AS (
    bm25_k1 double precision, bm25_b double precision, bm25_length_pivot double precision,
    field_weight_a double precision, field_weight_b double precision,
    field_weight_c double precision, field_weight_d double precision
);
COMMENT ON TYPE pgrecall.bm25_parameters IS 'The settings that impacts are made with; described in pgrecall.setting_definitions.';

ALTER TYPE pgrecall.recall_settings ADD ATTRIBUTE lexical_mode text;
ALTER TYPE pgrecall.recall_settings ADD ATTRIBUTE bm25_max_postings integer;
ALTER TYPE pgrecall.recall_settings ADD ATTRIBUTE bm25_max_terms integer;
ALTER TYPE pgrecall.recall_settings ADD ATTRIBUTE phrase_bonus double precision;

-- The time filters' own index: they go by occurred_at, and by created_at where it is NULL.
CREATE INDEX memories_namespace_time_idx ON pgrecall.memories (namespace_id, COALESCE(occurred_at, created_at));
DROP INDEX pgrecall.memories_namespace_occurred_idx;
"""

# The legs' signatures changed.
OLD_CODE = """
DROP FUNCTION IF EXISTS _pgrecall.lexical_leg(integer, text, regconfig, pgrecall.recall_filter, integer, double precision);
"""


def upgrade() -> None:
    run_sql(op.get_bind(), OLD_CODE)
    run_sql(op.get_bind(), TABLES)


def downgrade() -> None:
    run_sql(
        op.get_bind(),
        """
        CREATE INDEX memories_namespace_occurred_idx ON pgrecall.memories (namespace_id, occurred_at);
        DROP INDEX pgrecall.memories_namespace_time_idx;
        ALTER TYPE pgrecall.recall_settings DROP ATTRIBUTE lexical_mode, DROP ATTRIBUTE bm25_max_postings,
            DROP ATTRIBUTE bm25_max_terms, DROP ATTRIBUTE phrase_bonus;
        DROP TABLE pgrecall.postings, pgrecall.term_stats, pgrecall.pending_postings;
        DROP TYPE pgrecall.bm25_parameters;
        """,
    )
