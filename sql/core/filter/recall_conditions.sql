-- The conditions that a caller may set, by name and type. A row holds them as they are given; NULL is no condition. Returns
-- no rows.
--
-- The view returns no rows. Its columns are the names and types of the conditions: what the argument filter of recall() and
-- the others may hold, what recall_explain() tries one after the other, in this order, and what has to be set before anything is deleted.
-- A new condition goes to the end, and into matches_filter().
--
-- The first three say in which state a memory may be; they are not enough to delete by.
CREATE OR REPLACE VIEW pgrecall.recall_conditions WITH (security_invoker = true) AS
SELECT NULL::timestamptz AS as_of,
       NULL::boolean AS include_superseded,
       NULL::boolean AS include_sensitive,
       NULL::text[] AS categories,
       NULL::text[] AS tags_any,
       NULL::text[] AS tags_all,
       NULL::jsonb AS metadata_contains,
       NULL::jsonb AS metadata_where,
       NULL::text[] AS sessions,
       NULL::text[] AS speakers,
       NULL::text[] AS sources,
       NULL::text AS external_id_prefix,
       NULL::timestamptz AS since,
       NULL::timestamptz AS until,
       NULL::tstzrange AS timeframe,
       NULL::pgrecall.memory_origin AS min_trust
WHERE false;
