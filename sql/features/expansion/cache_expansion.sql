-- Caches the expansion of a query for recalls of the calling role with expand = llm, and evicts expired and excess ones.
-- Stores only a hash of the query. Stores nothing while another transaction changes or erases what was kept for it.
--
-- The server sets role and time.
--
-- terms     additional words or short phrases to search for: at most five, of at most 64 characters
-- entities  names that the query refers to, within the same limits: their concepts start the graph leg
-- intent    one word for the purpose of the query; recall does not use it
--
-- Errors  22023 a query that is not expandable, an invalid term;  54000 too many, too long;  25006 on a standby
CREATE OR REPLACE FUNCTION pgrecall.cache_expansion(
    query text, terms text[], entities text[] DEFAULT '{}', intent text DEFAULT NULL, namespace text DEFAULT NULL
)
RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER
SET search_path FROM CURRENT SET standard_conforming_strings = on
AS $function$
DECLARE
    -- A caller's array may have any dimensions, which the table cannot concatenate: kept in one.
    words CONSTANT text[] := ARRAY(SELECT unnest(cache_expansion.terms));
    names CONSTANT text[] := ARRAY(SELECT unnest(cache_expansion.entities));
    said CONSTANT text[] := words || names || cache_expansion.intent;
    hash bytea;
    kept_language text;
BEGIN
    IF NOT pgrecall.is_expandable(cache_expansion.query) THEN
        RAISE EXCEPTION 'the query is not expandable'
            USING ERRCODE = 'invalid_parameter_value',
                  HINT = 'Quotations, identifiers, versions, paths and documents are not expandable: see pgrecall.is_expandable().';
    ELSIF greatest(cardinality(words), cardinality(names)) > 5
          OR EXISTS (SELECT FROM unnest(said) s (word) WHERE length(s.word) > 64) THEN
        RAISE EXCEPTION 'an expansion has at most 5 terms and 5 entities of 64 characters each'
            USING ERRCODE = 'program_limit_exceeded', HINT = 'Leave out the less important ones.';
    ELSIF EXISTS (
        SELECT FROM unnest(said) WITH ORDINALITY s (word, place)
        -- The last is the intent, which may be NULL.
        WHERE COALESCE(s.word ~ '[[:cntrl:]\u2028\u2029]' OR s.word !~ '[[:alnum:]]', s.place < cardinality(said))
    ) THEN
        RAISE EXCEPTION 'a term of an expansion is empty, or holds control characters'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'A term needs a letter or a digit, on one line.';
    END IF;
    hash := _pgrecall.expansion_key(cache_expansion.query);
    kept_language := _pgrecall.expansion_language(
        _pgrecall.query_languages(pgrecall.namespace_id(cache_expansion.namespace)), cache_expansion.query
    );
    PERFORM FROM pgrecall.query_expansions e
    WHERE e.role = pgrecall.session_role() AND e.query_hash = hash AND e.language = kept_language
    FOR UPDATE SKIP LOCKED;
    IF NOT FOUND AND EXISTS (
        SELECT FROM pgrecall.query_expansions e
        WHERE e.role = pgrecall.session_role() AND e.query_hash = hash AND e.language = kept_language
    ) THEN
        RETURN;
    END IF;
    INSERT INTO pgrecall.query_expansions AS e (role, query_hash, language, terms, entities, intent)
    VALUES (pgrecall.session_role(), hash, kept_language, words, names, cache_expansion.intent)
    ON CONFLICT ON CONSTRAINT query_expansions_pkey DO UPDATE
        SET terms = excluded.terms, entities = excluded.entities, intent = excluded.intent, made_at = excluded.made_at;
    PERFORM _pgrecall.purge_expansions();
END
$function$;

ALTER FUNCTION pgrecall.cache_expansion OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.cache_expansion TO pgrecall_reader;
