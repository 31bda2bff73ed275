-- Validates what a page is to be.
--
-- Errors  22023 a name, question, budget, unit or section that no page has;  54000 a question of more than 16,384 characters
CREATE OR REPLACE FUNCTION _pgrecall.check_page(name text, question text, budget integer, unit text, sections text[])
RETURNS void
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    known CONSTANT text[] := ARRAY(SELECT s.section FROM _pgrecall.page_sections() s);
BEGIN
    IF name IS NULL OR name !~ '^[a-z0-9][a-z0-9_-]{0,99}$' THEN
        RAISE EXCEPTION 'a page needs a name of 1 to 100 small letters, digits, - and _'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'For example about-user.';
    ELSIF budget IS NULL OR budget NOT BETWEEN 50 AND 100000 THEN
        RAISE EXCEPTION 'budget must be between 50 and 100000, not %', COALESCE(budget::text, 'NULL')
            USING ERRCODE = 'invalid_parameter_value', HINT = 'It is the length of the whole page; the default is 2000.';
    ELSIF unit IS NULL OR unit NOT IN ('characters', 'tokens') THEN
        RAISE EXCEPTION 'unit must be characters or tokens'
            USING ERRCODE = 'invalid_parameter_value', HINT = 'A token is taken to be three bytes.';
    ELSIF array_ndims(sections) IS DISTINCT FROM 1 OR array_position(sections, NULL) IS NOT NULL OR NOT sections <@ known
        OR cardinality(sections) <> (SELECT count(DISTINCT s.name) FROM unnest(sections) s (name)) THEN
        RAISE EXCEPTION 'sections must be some of %, each once', array_to_string(known, ', ')
            USING ERRCODE = 'invalid_parameter_value', HINT = 'An earlier one takes its part of the budget first.';
    ELSIF question IS NOT NULL THEN
        PERFORM _pgrecall.check_query(question, NULL);
    END IF;
END
$function$;
