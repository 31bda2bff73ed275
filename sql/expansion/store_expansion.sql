-- Stores the expansion of a query for the session's role, and forgets what is too old or too much.
--
-- With its owner's rights: the server says who asked and when. Of the query its hash is kept, not its text. What a language
-- model says is not to be trusted: what is no plain term is refused here as well, whoever calls.
--
-- language  in which the query is read (expansion_language);  terms, entities, intent  see keep_expansion
--
-- Errors  22023 a query that is not expanded, a term that is none;  54000 too many, too long;  25006 on a standby
CREATE OR REPLACE FUNCTION pgrecall.store_expansion(
    query text, language text, terms text[], entities text[], intent text
)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT
AS $function$
DECLARE
    said text[] := COALESCE(store_expansion.terms, '{}') || COALESCE(store_expansion.entities, '{}') || store_expansion.intent;
BEGIN
    IF NOT pgrecall.is_expandable(store_expansion.query) THEN
        RAISE EXCEPTION 'the query is not one that is expanded'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Quotations, identifiers, versions, paths and documents are not: see pgrecall.is_expandable().';
    ELSIF greatest(cardinality(store_expansion.terms), cardinality(store_expansion.entities)) > 5
          OR EXISTS (SELECT FROM unnest(said) s (word) WHERE length(s.word) > 64) THEN
        RAISE EXCEPTION 'an expansion has at most 5 terms and 5 entities of 64 characters each'
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Leave out the less important ones.';
    ELSIF EXISTS (
        SELECT FROM unnest(said) WITH ORDINALITY s (word, place)
        -- The last is the intent, which there need not be.
        WHERE COALESCE(s.word ~ '[[:cntrl:]\u2028\u2029]' OR s.word !~ '[[:alnum:]]', s.place < cardinality(said))
    ) THEN
        RAISE EXCEPTION 'a term of an expansion is empty, or holds control characters'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'A term needs a letter or a digit, on one line.';
    END IF;
    INSERT INTO pgrecall.query_expansions AS e (role, query_hash, language, terms, entities, intent)
    VALUES (
        pgrecall.session_role(), pgrecall.expansion_key(store_expansion.query), store_expansion.language,
        COALESCE(store_expansion.terms, '{}'), COALESCE(store_expansion.entities, '{}'), store_expansion.intent
    )
    ON CONFLICT ON CONSTRAINT query_expansions_pkey DO UPDATE
        SET terms = excluded.terms, entities = excluded.entities, intent = excluded.intent, made_at = excluded.made_at;
    PERFORM pgrecall.trim_expansions();
END
$function$;

COMMENT ON FUNCTION pgrecall.store_expansion IS 'Stores the expansion of a query for the session''s role; keep_expansion() calls it.';
