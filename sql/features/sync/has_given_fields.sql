-- Whether a memory has the given fields, as they are given or as the policy for secrets has stored them.
--
-- The policy has put markers in place of secrets, or made the memory sensitive: given again, it is the same memory.
--
-- fields  checked options of remember(); what is not given is not compared
CREATE OR REPLACE FUNCTION _pgrecall.has_given_fields(memory pgrecall.memories, fields jsonb)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    -- '' and 'infinity' are how NULL is written, and NULL is what is not given.
    SELECT bool_and(COALESCE(
        s.given ->> k.field IN ('', 'infinity') AND s.stored -> k.field = 'null' OR s.given -> k.field = s.stored -> k.field
        OR s.clean -> k.field = s.stored -> k.field
        OR k.field = 'is_sensitive' AND s.stored -> k.field = 'true' AND s.has_secrets,
        false
    ))
    FROM (
        SELECT to_jsonb(jsonb_populate_record(NULL::pgrecall.memory_fields, has_given_fields.fields)) AS given,
               _pgrecall.history_fields(has_given_fields.memory) AS stored,
               (has_given_fields.memory).secrets IS NOT NULL AS has_secrets,
               (SELECT f.clean
                FROM jsonb_populate_record(NULL::pgrecall.memory_fields, has_given_fields.fields) g
                CROSS JOIN LATERAL _pgrecall.find_secrets(
                    g.content, g.title, g.category, g.source, g.speaker, g.tags, g.expanded_keywords, g.metadata
                ) f
                WHERE (has_given_fields.memory).secrets IS NOT NULL) AS clean
        OFFSET 0
    ) s
    CROSS JOIN jsonb_object_keys(jsonb_strip_nulls(has_given_fields.fields - 'metadata')
                                 || CASE WHEN has_given_fields.fields -> 'metadata' <> 'null'
                                         THEN '{"metadata": null}' ELSE jsonb '{}' END) k (field);
END;
