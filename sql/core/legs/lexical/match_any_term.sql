-- Builds the tsquery that matches any of some lexemes; NULL if there are none.
CREATE OR REPLACE FUNCTION _pgrecall.match_any_term(terms text[])
RETURNS tsquery
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (SELECT string_agg(_pgrecall.term_query(t.term)::text, ' | ')::tsquery FROM unnest(terms) t (term));
