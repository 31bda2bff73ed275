-- The dense leg as recall calls it, under a filter by tags if there are any.
SELECT d.id
FROM _pgrecall.dense_leg(
    %(namespace_id)s, %(vector)s,
    CASE WHEN cardinality(%(tags)s::text[]) > 0
         THEN jsonb_populate_record(NULL::pgrecall.recall_filter, jsonb_build_object('tags_all', %(tags)s::text[])) END,
    %(depth)s, %(exact_rows)s
) d
