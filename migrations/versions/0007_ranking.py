# ruff: noqa: E501 (lines of SQL)
"""Ranking: the settings of fusion, priors and diversity, the length of a memory, neighbours in a session."""

from alembic import op

from pgrecall.install import run_sql

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

NEW_SETTINGS = {
    "k": "integer",
    "strategy": "text",
    "fusion": "text",
    "sort_by": "text",
    "cc_alpha": "double precision",
    "lexical_coverage": "double precision",
    "session_share": "double precision",
    "session_seeds": "integer",
    "lexical_pool": "double precision",
    "dense_pool": "double precision",
    "graph_pool": "double precision",
    "prefilter_depth": "integer",
    "lexical_lookback": "interval",
    "ts_rank_importance": "double precision",
    "factor_relevance": "double precision",
    "factor_importance": "double precision",
    "factor_recency": "double precision",
    "recency_half_life": "interval",
    "importance_weight": "double precision",
    "half_life": "interval",
    "decay_floor": "double precision",
    "decay_floors": "text",
    "entity_boost": "double precision",
    "min_similarity": "double precision",
    "min_score": "double precision",
    "mmr_lambda": "double precision",
    "mmr_pool": "integer",
    "mmr_similarity": "text",
    "collapse_duplicates": "boolean",
    "duplicate_similarity": "double precision",
    "bm25_k1": "double precision",
    "bm25_b": "double precision",
    "bm25_length_pivot": "double precision",
    "field_weight_a": "double precision",
    "field_weight_b": "double precision",
    "field_weight_c": "double precision",
    "field_weight_d": "double precision",
}

STATE = """
-- What is there keeps NULL until it changes, and is counted when it is scored: to fill it in would rewrite every row and
-- its entry in the HNSW index.
ALTER TABLE pgrecall.memories ADD COLUMN word_count integer;
COMMENT ON COLUMN pgrecall.memories.word_count IS
    'How many words search_vector has, each occurrence counted: the length of BM25; filled by a trigger. NULL: not counted.';

CREATE INDEX memories_session_idx ON pgrecall.memories (namespace_id, session, "position", id)
    WHERE session IS NOT NULL AND "position" IS NOT NULL;
COMMENT ON INDEX pgrecall.memories_session_idx IS 'Which memories are next to each other in a session.';

CREATE TYPE pgrecall.parsed_query AS (
    mode text, words text[], idfs double precision[], any_word tsquery, common tsquery[], required tsquery,
    narrow tsquery, broad tsquery, phrase tsquery, mass double precision, budget integer, min_rank double precision,
    importance_share double precision, impacts pgrecall.bm25_parameters
);
COMMENT ON TYPE pgrecall.parsed_query IS
    'A query as the lexical leg reads it: words and their weights for BM25, tsquery forms for the other modes.';

CREATE TYPE pgrecall.ranked AS (
    id bigint, place integer, score double precision,
    lexical_rank integer, dense_rank integer, graph_rank integer,
    lexical_score double precision, similarity double precision, graph_score double precision,
    lexical_part double precision, dense_part double precision, graph_part double precision,
    session_part double precision, phrase_part double precision, relevance double precision,
    recency double precision, combined double precision,
    importance_factor double precision, decay_factor double precision, entity_factor double precision,
    is_candidate boolean, penalty double precision, duplicates bigint[],
    standing integer, lexical_weight double precision, dense_weight double precision, graph_weight double precision
);
COMMENT ON TYPE pgrecall.ranked IS
    'A memory as recall ranks it: its score on every leg, and all that its final score is made of.';
COMMENT ON COLUMN pgrecall.ranked.standing IS 'Its place in the order before near-duplicates, diversity and k count.';
"""


QUESTION = """
CREATE TYPE pgrecall.recall_request AS (
    namespace_id integer, parsed pgrecall.parsed_query, query_vec pgvector.halfvec, concepts bigint[], df_max integer,
    settings pgrecall.recall_settings
);
COMMENT ON TYPE pgrecall.recall_request IS 'What a recall asks, resolved and checked: see _pgrecall.resolve_request().';
"""


# Signatures that changed.
OLD_CODE = """
DROP FUNCTION IF EXISTS _pgrecall.lexical_leg(integer, text, regconfig[], pgrecall.recall_filter, integer, pgrecall.recall_settings);
DROP FUNCTION IF EXISTS _pgrecall.bm25_leg(integer, text[], tsquery, pgrecall.recall_filter, integer, integer, integer);
DROP FUNCTION IF EXISTS _pgrecall.ts_rank_leg(integer, tsquery, tsquery, pgrecall.recall_filter, integer, double precision);
DROP FUNCTION IF EXISTS _pgrecall.graph_leg(
    integer, text, bigint[], double precision[], pgrecall.recall_filter, integer, integer, integer, integer, double precision, integer, integer
);
DROP FUNCTION IF EXISTS _pgrecall.check_query(text, pgvector.halfvec, integer), _pgrecall.effective_settings();
DROP FUNCTION IF EXISTS public.recall(
    text, pgvector.halfvec, integer, text, text[], text[], text[], jsonb, timestamptz, timestamptz, boolean, boolean, tstzrange, timestamptz
);
"""


def upgrade() -> None:
    connection = op.get_bind()
    run_sql(connection, OLD_CODE)
    run_sql(connection, STATE)
    for name, type_ in NEW_SETTINGS.items():
        run_sql(connection, f"ALTER TYPE pgrecall.recall_settings ADD ATTRIBUTE {name} {type_}")
    run_sql(connection, QUESTION)


def downgrade() -> None:
    connection = op.get_bind()
    run_sql(connection, "DROP TYPE pgrecall.recall_request")
    dropped = ", ".join(f"DROP ATTRIBUTE {name}" for name in NEW_SETTINGS)
    run_sql(connection, f"ALTER TYPE pgrecall.recall_settings {dropped}")
    run_sql(
        connection,
        """
        DROP TYPE pgrecall.ranked, pgrecall.parsed_query;
        DROP INDEX pgrecall.memories_session_idx;
        ALTER TABLE pgrecall.memories DROP COLUMN word_count;
        """,
    )
