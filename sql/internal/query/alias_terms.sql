-- The other names of concepts that a query names: five at the most, one of each concept before a second of any.
--
-- Names given by hand come first, then short ones. What the query says already is no other name.
--
-- concepts  what the query names, the rarest first (named_concepts)
CREATE OR REPLACE FUNCTION _pgrecall.alias_terms(concepts bigint[], query text)
RETURNS text[]
LANGUAGE sql STABLE PARALLEL SAFE
RETURN ARRAY(
    SELECT n.alias
    FROM (
        SELECT a.alias, c.place,
               row_number() OVER (PARTITION BY c.place ORDER BY a.is_manual DESC, length(a.alias), a.alias) AS turn
        FROM unnest(concepts) WITH ORDINALITY c (id, place)
        JOIN pgrecall.concept_aliases a ON a.concept_id = c.id
        WHERE length(a.alias) <= 64
          AND position(' ' || a.alias || ' ' IN ' ' || pgrecall.normalize_name(query) || ' ') = 0
    ) n
    ORDER BY n.turn, n.place
    LIMIT 5
);

COMMENT ON FUNCTION _pgrecall.alias_terms IS 'The other names of concepts that a query names, five at the most.';
