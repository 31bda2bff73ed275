-- Tells whether a memory states another value than the question: of some kind it states values, and none of those asked for.
--
-- A phone number is written in many groups, so beside one no other number counts.
--
-- asked, held  from stated_values(): of the question, of the memory
CREATE OR REPLACE FUNCTION _pgrecall.contradicts(asked text[], held text[])
RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN EXISTS (
    SELECT FROM (
        SELECT regexp_replace(a.stated, ' [^ ]*$', '') AS kind, bool_or(a.stated = ANY (held)) AS is_held FROM unnest(asked) a (stated)
        GROUP BY 1
    ) k
    WHERE NOT k.is_held
      AND EXISTS (SELECT FROM unnest(held) h (stated) WHERE starts_with(h.stated, k.kind || ' ')
                                                        AND strpos(substr(h.stated, length(k.kind) + 2), ' ') = 0)
      AND NOT (k.kind ~ '^[ni] ' AND EXISTS (SELECT FROM unnest(asked) a (stated) WHERE starts_with(a.stated, 'p ')))
);
