-- Truncates a line to a number of characters, between two words, and adds an ellipsis.
--
-- A word longer than half of the line is cut itself, but never between a letter and its combining marks.
--
-- content    from sanitize_line(): single spaces between words
-- max_chars  including the ellipsis
CREATE OR REPLACE FUNCTION _pgrecall.truncate_words(content text, max_chars integer)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE STRICT
SET search_path FROM CURRENT
AS $function$
DECLARE
    -- One character more than fits beside the ellipsis: it may be the space.
    head text := left(content, max_chars);
    tail integer := position(' ' IN reverse(head));
BEGIN
    IF length(content) <= max_chars THEN
        RETURN content;
    ELSIF tail BETWEEN 1 AND max_chars / 2 + 1 THEN
        RETURN left(head, -tail) || '…';
    ELSIF right(head, 1) ~ ('[' || _pgrecall.combining_marks() || ']') THEN
        RETURN regexp_replace(head, '.[' || _pgrecall.combining_marks() || ']*$', '') || '…';
    END IF;
    RETURN left(head, -1) || '…';
END
$function$;
