-- Returns how two normalised names match: name, trigram or embedding; NULL if they do not.
--
-- The method name ignores accents, titles and legal forms.
--
-- Names with different numbers or single letters never match. A trigram match must also be a plausible misspelling.
--
-- is_person    one of the two is a person: one letter makes another person, so only the name method applies
-- by_trigram   minimum similarity (resolve_trigram)
-- by_cosine    minimum cosine (resolve_embedding)
-- cosine       of their embeddings; NULL if unknown
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
    -- Cheapest test first: most neighbours do not match.
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

COMMENT ON FUNCTION _pgrecall.name_match IS
    'Returns how two normalised names match: name, trigram or embedding; NULL if they do not.';
