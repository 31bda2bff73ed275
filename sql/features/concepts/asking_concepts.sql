-- Returns the concepts of who asks, if a query speaks of "I" or "my": the speakers that the filter names, else the user.
--
-- remember_messages() names the speaker of a conversation by the role, so what a user says of himself is about "user".
--
-- speakers  those of the filter; NULL: none
CREATE OR REPLACE FUNCTION _pgrecall.asking_concepts(namespace_id integer, query text, speakers text[])
RETURNS TABLE (concept_id bigint)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
    WITH asking AS MATERIALIZED (
        SELECT pgrecall.normalize_name(s.name) AS alias
        FROM unnest(COALESCE(asking_concepts.speakers, '{user,human}')) s (name)
        -- English, German, Dutch, Spanish, Portuguese, French, Italian, Russian, Chinese, Japanese, Korean.
        -- Abbreviations (EU, IO) are none of these words.
        WHERE CASE WHEN asking_concepts.query ~ '[[:lower:]]' THEN regexp_replace(asking_concepts.query, '\m(EU|IO|MI|MA|ME)\M', '', 'g')
                   ELSE asking_concepts.query END ~*
            '\m(i|me|my|mine|myself|ich|mich|mir|mein(e[mnrs]?)?|ik|mijn|yo|m[ií]|mis|m[ií][oa]s?|eu|meus?|minhas?'
            '|je|moi|mon|ma|mes|io|miei|mie|я|меня|мне|мной|мо[йяеёию]|моих|моего)\M|\m[jm]''[^ ]|我|私|僕|俺|나는|내가|제가|\m(내|제|나의|저의)\M'
    )
    SELECT DISTINCT c.concept_id
    FROM asking a
    CROSS JOIN LATERAL (
        SELECT x.concept_id FROM pgrecall.concept_aliases x
        WHERE x.namespace_id = asking_concepts.namespace_id AND x.alias = a.alias
        LIMIT 1
    ) c;
END;
