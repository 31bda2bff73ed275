-- A filter as the legs take it: its conditions, and what memory_filter() and with_keys() derive from them for the planner.
-- A NULL field does not filter. Returns no rows.
--
-- The view returns no rows; its row is the type of a filter. What is derived comes first: a new condition is then a column at
-- the end, which replaces the view in place.
--
-- category_hashes, speaker_hashes, source_hashes  hashes of categories, speakers, sources, which have an index
-- metadata_path  the predicate of metadata_where
-- referring      memories whose text mentions a time in the timeframe
-- all_keys, tag_keys, value_keys  see with_keys()
CREATE OR REPLACE VIEW pgrecall.recall_filter WITH (security_invoker = true) AS
SELECT NULL::integer[] AS category_hashes,
       NULL::integer[] AS speaker_hashes,
       NULL::integer[] AS source_hashes,
       NULL::jsonpath AS metadata_path,
       NULL::bigint[] AS referring,
       NULL::bytea[] AS all_keys,
       NULL::bytea[] AS tag_keys,
       NULL::bytea[] AS value_keys,
       c.*
FROM pgrecall.recall_conditions c;
