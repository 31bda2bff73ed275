-- Adds expansion terms to a parsed query. They count less than the query's own terms.
--
-- The weight of an added lexeme is its idf, times its share of its term, times expansion_weight. The added lexemes
-- together weigh at most expansion_weight times the query's own: a memory that holds every own term once ranks above
-- one of the same length that holds every added lexeme once and no own term. The conditions required and phrase do not
-- change, and neither does max_bm25, the score that counts in full.
--
-- parsed     from parse_query(), in mode bm25
-- weight     the setting expansion_weight, above 0
-- max_terms  the setting bm25_max_terms: of the added lexemes, too, the rarest count
CREATE OR REPLACE FUNCTION _pgrecall.expand_parsed_query(
    namespace_id integer, languages regconfig[], query text, parsed pgrecall.parsed_query, terms text[],
    weight double precision, max_terms integer
)
RETURNS pgrecall.parsed_query
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    wider pgrecall.parsed_query := parsed;
    own_terms text[] := _pgrecall.query_terms(languages, query);
    -- If the namespace has none of the query's terms, use the weight that they would have.
    own_idf_sum double precision := COALESCE((SELECT sum(i.idf) FROM unnest(parsed.idfs) i (idf)), parsed.max_bm25);
    lexemes text[];
    shares double precision[];
BEGIN
    IF own_terms = '{}' THEN
        RETURN parsed;
    END IF;
    SELECT array_agg(a.lexeme), array_agg(a.share) INTO lexemes, shares
    FROM _pgrecall.expansion_terms(languages, terms, own_terms) a;
    SELECT array_agg(w.term ORDER BY w.is_common, w.is_added, w.place),
           array_agg(w.idf ORDER BY w.is_common, w.is_added, w.place),
           array_agg(_pgrecall.term_query(w.term) ORDER BY w.is_added, w.place) FILTER (WHERE w.is_common),
           array_agg(w.term ORDER BY w.place) FILTER (WHERE w.is_added),
           array_agg(w.idf ORDER BY w.place) FILTER (WHERE w.is_added)
    INTO wider.words, wider.idfs, wider.common, wider.added, wider.added_idfs
    FROM (
        SELECT r.term, r.idf, r.place, false AS is_added,
               r.place > cardinality(parsed.words) - COALESCE(cardinality(parsed.common), 0) AS is_common
        FROM unnest(parsed.words, parsed.idfs) WITH ORDINALITY r (term, idf, place)
        UNION ALL
        SELECT q.term, weight * q.idf * least(1, own_idf_sum / sum(q.idf) OVER ()), q.place, true, q.documents > parsed.budget
        FROM (
            SELECT k.term, k.documents, k.idf * shares[array_position(lexemes, k.term)] AS idf,
                   row_number() OVER (ORDER BY k.documents, k.term) AS place
            FROM (SELECT namespace_id AS ns, lexemes AS term_list, expand_parsed_query.max_terms OFFSET 0) a
            CROSS JOIN LATERAL _pgrecall.query_term_weights(a.ns, a.term_list, a.max_terms) k
        ) q
    ) w;
    IF wider.added IS NULL THEN
        RETURN parsed;
    END IF;
    wider.any_word := _pgrecall.match_any_term(wider.words);
    RETURN wider;
END
$function$;
