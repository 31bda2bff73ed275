-- Returns how two names match: name, plural or spelling; doubtful if only somebody else can tell; NULL if they do not.
--
-- The method name ignores what _pgrecall.folded_name folds. The method plural is for things: "adam" and "adams" may be
-- two people, "window" and "windows" two things, so both must be written small, or have the same words before.
-- Names with different numbers or single letters never match.
--
-- written, other_written  the names as first written, for capitals
-- is_person               one of the two is a person: one letter makes another person, so only the method name applies
-- is_proper               one of the two is a person, place or organisation: no plural
CREATE OR REPLACE FUNCTION _pgrecall.name_match(
    one text, other text, written text, other_written text, is_person boolean, is_proper boolean
)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    capitals CONSTANT integer := (written <> lower(written))::integer + (other_written <> lower(other_written))::integer;
    alike CONSTANT text[] := ARRAY[_pgrecall.folded_name(one), _pgrecall.folded_name(one, true)];
    likes CONSTANT text[] := ARRAY[_pgrecall.folded_name(other), _pgrecall.folded_name(other, true)];
    is_spaced CONSTANT boolean := strpos(one, ' ') > 0 AND strpos(other, ' ') > 0;
    single text;
    like_single text;
BEGIN
    IF alike && likes AND (is_spaced OR NOT is_person OR strpos(one || other, ' ') = 0) THEN
        RETURN 'name';
    ELSIF is_person OR _pgrecall.discriminating_tokens(one) <> _pgrecall.discriminating_tokens(other) THEN
        RETURN NULL;
    END IF;
    single := _pgrecall.folded_name(_pgrecall.singular_name(one));
    like_single := _pgrecall.folded_name(_pgrecall.singular_name(other));
    IF single = like_single AND NOT is_proper AND (capitals = 0 OR is_spaced OR written || ' ' || other_written ~ '[a-z][A-Z]') THEN
        RETURN 'plural';
    ELSIF _pgrecall.is_misspelling(one, other, capitals = 2) THEN
        RETURN 'spelling';
    END IF;
    -- One edit that may make another word.
    RETURN CASE WHEN least(length(one), length(other)) >= 5 AND abs(length(single) - length(like_single)) <= 1
                     AND _pgrecall.trigram_similarity(one, other) >= 0.4 THEN 'doubtful' END;
END
$function$;
