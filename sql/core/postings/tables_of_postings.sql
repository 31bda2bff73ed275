-- Declares the tables of postings; _pgrecall.table_declarations() says what the keys mean.
CREATE OR REPLACE FUNCTION _pgrecall.tables_of_postings()
RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN jsonb '{
    "postings": {
        "truncated": true, "erased": "namespace_id = $1 AND term = ANY ($4) AND memory_ids && $2",
        "not_exported": "computed as memories are stored"
    },
    "term_stats": {
        "truncated": true, "erased": "namespace_id = $1 AND term = ANY ($4)",
        "not_exported": "computed as memories are stored"
    },
    "pending_postings": {
        "truncated": true, "sensitive": "words of every memory; embedders read none",
        "not_exported": "computed as memories are stored"
    },
    "posting_states": {"not_exported": "computed as memories are stored"}
}';
