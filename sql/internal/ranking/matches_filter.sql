-- Whether a memory may be recalled under a filter. Every leg asks it, so that filters come before limits.
--
-- One expression without a SET clause or a subquery: the planner writes it into the query, drops the tests of NULL
-- fields, and uses the indexes of what is left. What the texts of memories speak of comes as a list of ids for that
-- reason (recall_filter.referring): an index serves either half of the timeframe.
--
-- as_of looks at when something was recorded, not at when it was true: what was superseded later is back.
CREATE OR REPLACE FUNCTION _pgrecall.matches_filter(memory pgrecall.memories, filter pgrecall.recall_filter)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN memory.deleted_at IS NULL
   AND (memory.superseded_by IS NULL OR COALESCE((filter).include_superseded, false)
        OR memory.superseded_at > (filter).as_of)
   AND ((filter).as_of IS NULL OR memory.created_at <= (filter).as_of)
   AND (COALESCE((filter).include_sensitive, true) OR NOT memory.is_sensitive)
   AND ((filter).categories IS NULL OR memory.category = ANY ((filter).categories))
   AND ((filter).tags_any IS NULL OR memory.tags && (filter).tags_any)
   AND ((filter).tags_all IS NULL OR memory.tags @> (filter).tags_all)
   AND ((filter).metadata_contains IS NULL OR memory.metadata @> (filter).metadata_contains)
   AND ((filter).since IS NULL OR COALESCE(memory.occurred_at, memory.created_at) >= (filter).since)
   AND ((filter).until IS NULL OR COALESCE(memory.occurred_at, memory.created_at) < (filter).until)
   AND ((filter).timeframe IS NULL
        OR (NOT isempty((filter).timeframe)
            AND COALESCE(memory.occurred_at, memory.created_at) >= COALESCE(lower((filter).timeframe), '-infinity')
            AND COALESCE(memory.occurred_at, memory.created_at) < COALESCE(upper((filter).timeframe), 'infinity'))
        OR memory.id = ANY ((filter).referring));

COMMENT ON FUNCTION _pgrecall.matches_filter IS
    'Whether a memory may be recalled under a filter: alive, not superseded unless asked for, and what the filter says.';
