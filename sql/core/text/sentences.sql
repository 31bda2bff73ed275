-- Splits a text into its sentences.
--
-- A full stop ends one after a word that is no abbreviation, before a capital: not "Dr. Weiss", "16. Dezember" or "3.5". A line
-- ends one, too.
CREATE OR REPLACE FUNCTION _pgrecall.sentences(value text)
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN regexp_split_to_array(
    value,
    '(?<=([!?؟՞፧…]|[Ͱ-Ͽἀ-῿];)["''”’»)\]*_]*)\s+|\n+|(?<=[。！？][」』”]?)|'
    '(?<=\m([[:lower:]]{2,}|[[:upper:]][[:lower:]]{4,})\.["''”’»)\]*_]*)\s+(?=["''“‘«(\[*_¿¡]*[[:upper:]])'
);
