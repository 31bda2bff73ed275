-- Returns a normalised name with its last word in the English singular, as far as rules tell: "user stories" becomes "user story".
--
-- Short words stay, and words whose s belongs to the stem: "bus", "glass", "analysis".
CREATE OR REPLACE FUNCTION _pgrecall.singular_name(alias text)
RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE STRICT
RETURN CASE
    WHEN alias ~ '[a-z]{2}[^aeiou ]ies$' THEN left(alias, -3) || 'y'
    WHEN alias ~ '[a-z](ss|sh|ch|x|zz)es$' THEN left(alias, -2)
    WHEN alias ~ '(l|ea|oa)ves$' THEN left(alias, -3) || 'f'
    WHEN alias ~ '(tomat|potat|her|ech)oes$' THEN left(alias, -2)
    WHEN alias ~ '[a-z]women$|[a-z]{3}smen$' THEN left(alias, -2) || 'an'
    WHEN alias ~ '[a-z]{3}s$' AND alias !~ '(ss|us|is|ics|news|series|species)$' THEN left(alias, -1)
    ELSE alias
END;
