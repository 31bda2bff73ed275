-- Tells whether a memory passes a filter: not forgotten, not expired, not superseded and still valid unless requested, and
-- matching every condition. Every leg applies it before its limit.
--
-- One expression without a SET clause or a subquery: the planner inlines it, drops the tests of NULL fields, and uses
-- indexes for the rest. For the same reason the memories whose text mentions a time in the timeframe are passed as a
-- list of ids (recall_filter.referring): each half of the timeframe test can then use an index.
--
-- Each condition is one line that begins with the test whether it is given: the others can be taken away from a filter and it
-- still holds (explain_filtered).
--
-- Categories, speakers and sources have an index and statistics by their hash, so each is compared twice
-- (memories_category_idx). CASE: the planner takes the second comparison, for which it has no statistics, to pass half; else
-- it would expect 200 speakers.
--
-- Tags and values of metadata have an index by keys that contain the namespace (memories_keys_idx). Only a statement that is to
-- use it passes them (with_keys): they take time to compute. The condition itself is then compared in a CASE, too.
--
-- An expired memory never passes. as_of compares recording times, not validity: a memory superseded after as_of passes.
-- Otherwise a memory whose validity ended passes only if the asked time begins before that end.
CREATE OR REPLACE FUNCTION _pgrecall.matches_filter(memory pgrecall.memories, filter pgrecall.recall_filter)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN memory.deleted_at IS NULL
   AND (memory.expires_at IS NULL OR memory.expires_at > now())
   AND (memory.superseded_by IS NULL OR COALESCE((filter).include_superseded, false)
        OR memory.superseded_at > (filter).as_of)
   AND (memory.valid_to IS NULL OR COALESCE((filter).include_superseded, false) OR (filter).as_of IS NOT NULL
        OR memory.valid_to > COALESCE(
            lower((filter).timeframe), (filter).since,
            CASE WHEN COALESCE((filter).until, upper((filter).timeframe)) IS NOT NULL THEN '-infinity'::timestamptz END, now()
        ))
   AND ((filter).as_of IS NULL OR memory.created_at <= (filter).as_of)
   AND (COALESCE((filter).include_sensitive, true) OR NOT memory.is_sensitive)
   AND ((filter).categories IS NULL OR (hashtext(memory.category) = ANY ((filter).category_hashes)
        AND CASE WHEN memory.category = ANY ((filter).categories) THEN true ELSE false END))
   AND ((filter).all_keys IS NULL
        OR _pgrecall.filter_keys(memory.namespace_id, memory.tags, memory.metadata) @> (filter).all_keys)
   AND ((filter).tag_keys IS NULL
        OR _pgrecall.filter_keys(memory.namespace_id, memory.tags, memory.metadata) && (filter).tag_keys)
   AND ((filter).value_keys IS NULL
        OR _pgrecall.filter_keys(memory.namespace_id, memory.tags, memory.metadata) && (filter).value_keys)
   AND ((filter).tags_any IS NULL OR CASE WHEN memory.tags && (filter).tags_any THEN true ELSE false END)
   AND ((filter).tags_all IS NULL OR CASE WHEN memory.tags @> (filter).tags_all THEN true ELSE false END)
   AND ((filter).metadata_contains IS NULL OR CASE WHEN memory.metadata @> (filter).metadata_contains THEN true ELSE false END)
   AND ((filter).metadata_where IS NULL OR CASE WHEN memory.metadata @@ (filter).metadata_path THEN true ELSE false END)
   AND ((filter).sessions IS NULL OR memory.session = ANY ((filter).sessions))
   AND ((filter).speakers IS NULL OR (hashtext(memory.speaker) = ANY ((filter).speaker_hashes)
        AND CASE WHEN memory.speaker = ANY ((filter).speakers) THEN true ELSE false END))
   AND ((filter).sources IS NULL OR (hashtext(memory.source) = ANY ((filter).source_hashes)
        AND CASE WHEN memory.source = ANY ((filter).sources) THEN true ELSE false END))
   AND ((filter).external_id_prefix IS NULL OR memory.external_id COLLATE "C" ^@ (filter).external_id_prefix)
   AND ((filter).since IS NULL OR COALESCE(memory.occurred_at, memory.created_at) >= (filter).since)
   AND ((filter).until IS NULL OR COALESCE(memory.occurred_at, memory.created_at) < (filter).until)
   AND ((filter).timeframe IS NULL
        OR (NOT isempty((filter).timeframe)
            AND COALESCE(memory.occurred_at, memory.created_at) >= COALESCE(lower((filter).timeframe), '-infinity')
            AND COALESCE(memory.occurred_at, memory.created_at) < COALESCE(upper((filter).timeframe), 'infinity'))
        OR memory.id = ANY ((filter).referring))
   AND ((filter).min_trust IS NULL OR memory.origin >= (filter).min_trust);
