-- Tells whether a memory states another value than the question: none of its versions, but other figures; or, of a kind that both
-- state (stated_values), none of those asked for.
--
-- Who asks for a day may mean that on which it happened. A phone number is written in many groups, so beside one no other number
-- counts. A long text states many values and is not looked through for more than versions.
--
-- asked     stated_values() of the question;  versions  version_pattern() of the question; NULL: it has none
CREATE OR REPLACE FUNCTION _pgrecall.is_contradicted(memory pgrecall.memories, asked text[], versions text)
RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    content CONSTANT text := _pgrecall.fold_digits(memory.content);
    lacks_version CONSTANT boolean := COALESCE(content !~* versions, false);
    held text[];
BEGIN
    IF content !~ '[0-9]' THEN
        RETURN false;
    ELSIF asked IS NULL OR length(content) > 4000 THEN
        RETURN lacks_version;
    END IF;
    held := _pgrecall.stated_values(
        concat_ws(E'\n', _pgrecall.fold_digits(memory.title), content),
        ARRAY(SELECT v.lexeme FROM unnest(memory.search_vector) v WHERE v.lexeme LIKE '=%')
    );
    RETURN EXISTS (
            SELECT FROM unnest(asked) a (stated)
            WHERE a.stated <> to_char(COALESCE(memory.occurred_at, memory.created_at), '"day="MM-DD')
            GROUP BY split_part(a.stated, '=', 1)
            HAVING NOT COALESCE(bool_or(a.stated = ANY (held)), false)
               AND split_part(min(a.stated), '=', 1) IN (SELECT split_part(h.stated, '=', 1) FROM unnest(held) h (stated))
               AND NOT (left(min(a.stated), 2) IN ('n ', 'i ') AND EXISTS (SELECT FROM unnest(asked) p (stated) WHERE p.stated LIKE 'p=%'))
        )
        -- "2.5 kg" is written like a version.
        OR lacks_version AND NOT EXISTS (SELECT FROM unnest(asked) q (stated) WHERE q.stated LIKE 'q %' AND q.stated = ANY (held));
END
$function$;
