-- Returns the lexemes of expansion terms that the query does not have, each with its share of its term.
--
-- Each lexeme of a term with n words gets 1/n. So a term counts the same whether it has one word or four: "new york
-- city" does not make "city" a term of full weight.
--
-- known  the query's own lexemes (query_terms)
CREATE OR REPLACE FUNCTION _pgrecall.expansion_terms(languages regconfig[], terms text[], known text[])
RETURNS TABLE (lexeme text, share double precision)
LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 8
BEGIN ATOMIC
    SELECT w.lexeme, max(w.share)
    FROM (
        SELECT unnest(l.list) AS lexeme, 1 / cardinality(l.list)::double precision AS share
        FROM unnest(terms) t (term)
        CROSS JOIN LATERAL (SELECT _pgrecall.query_terms(languages, t.term) AS list OFFSET 0) l
        WHERE l.list <> '{}'
    ) w
    WHERE w.lexeme <> ALL (known)
    GROUP BY w.lexeme;
END;
