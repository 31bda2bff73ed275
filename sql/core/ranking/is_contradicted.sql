-- Tells whether a memory states another value than the question: none of its versions, but other figures, or another value of
-- a kind (contradicts). Who asks for a day may mean that on which it happened. A long text states many values and is not looked
-- through for more than versions.
--
-- asked     stated_values() of the question;  versions  version_pattern() of the question; NULL: it has none
CREATE OR REPLACE FUNCTION _pgrecall.is_contradicted(memory pgrecall.memories, asked text[], versions text)
RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
RETURN memory.content ~ '[0-9]' AND (
    -- "2.5 kg" is written like a version.
    SELECT COALESCE(memory.content !~* versions, false)
           AND NOT EXISTS (SELECT FROM unnest(asked) a (stated) WHERE a.stated = ANY (h.held) AND starts_with(a.stated, 'q '))
        OR _pgrecall.contradicts(
            array_remove(asked, to_char(COALESCE(memory.occurred_at, memory.created_at), '"day "MM-DD')), h.held
        )
    FROM (
        SELECT CASE WHEN length(memory.content) <= 4000 THEN _pgrecall.stated_values(
            concat_ws(E'\n', memory.title, memory.content),
            ARRAY(SELECT v.lexeme FROM unnest(memory.search_vector) v WHERE v.lexeme LIKE '=%')
        ) END AS held
    ) h
);
