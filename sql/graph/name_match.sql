-- How two normalised names mean the same: name (but for accents, titles, legal forms), trigram, embedding; NULL if not.
--
-- Names whose numbers or single letters differ never do. By trigrams, one may be but a misspelling of the other.
--
-- is_person    one of the two is a person: there one letter makes another one, so only their names count
-- by_trigram   from which similarity on (resolve_trigram)
-- by_cosine    from which cosine on (resolve_embedding)
-- cosine       of their embeddings, NULL if not known
CREATE OR REPLACE FUNCTION _pgrecall.name_match(
    one text, other text, is_person boolean, by_trigram real, by_cosine real, cosine double precision DEFAULT NULL
)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    method text;
BEGIN
    -- The cheapest first: most neighbours are nothing of it.
    IF _pgrecall.canonical_name(one) = _pgrecall.canonical_name(other) THEN
        method := 'name';
    ELSIF is_person THEN
        RETURN NULL;
    ELSIF _pgrecall.is_misspelling(one, other) AND _pgrecall.trigram_similarity(one, other) >= by_trigram THEN
        method := 'trigram';
    ELSIF COALESCE(cosine, -1) >= by_cosine AND _pgrecall.trigram_similarity(one, other) >= 0.3 THEN
        method := 'embedding';
    END IF;
    RETURN CASE WHEN method IS NOT NULL AND _pgrecall.discriminating_tokens(one) = _pgrecall.discriminating_tokens(other) THEN method END;
END
$function$;

COMMENT ON FUNCTION _pgrecall.name_match IS 'How two normalised names mean the same: name, trigram or embedding; NULL if they do not.';
