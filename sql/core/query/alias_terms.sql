-- Returns other names of the concepts that a query names: at most five, one per concept before a second of any.
--
-- Manual aliases come first, then short ones. Names that the query already contains are skipped.
--
-- concepts  the concepts that the query names, rarest first (named_concepts)
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
