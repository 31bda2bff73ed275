-- Lists names for the language model: each with up to five that may mean the same.
--
-- Empty unless a language model may be asked, and after 500 pairs of the last 24 hours.
--
-- batch  maximum number of names
CREATE OR REPLACE FUNCTION pgrecall.doubtful_names(batch integer DEFAULT 10)
RETURNS TABLE (id bigint, name text, candidate_ids bigint[], candidates text[])
LANGUAGE plpgsql VOLATILE SECURITY DEFINER ROWS 10
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    daily CONSTANT integer := 500;
    asked CONSTANT integer := (
        SELECT count(*)::integer FROM (SELECT FROM pgrecall.name_doubts d WHERE d.asked_at > now() - interval '1 day' LIMIT daily) d
    );
BEGIN
    IF NOT _pgrecall.asks_about_names() THEN
        RETURN;
    END IF;
    RETURN QUERY
        SELECT own.concept_id, c.name, array_agg(o.id ORDER BY own.nearness DESC NULLS FIRST, o.id),
               array_agg(o.name ORDER BY own.nearness DESC NULLS FIRST, o.id)
        FROM (
            SELECT d.concept_id, d.other_id, d.nearness
            FROM pgrecall.name_doubts d
            WHERE d.asked_at IS NULL
            ORDER BY d.concept_id
            LIMIT least(greatest(batch, 0) * 5, daily - asked)
        ) own
        JOIN pgrecall.concepts c ON c.id = own.concept_id
        JOIN pgrecall.concepts o ON o.id = own.other_id
        GROUP BY own.concept_id, c.name
        ORDER BY own.concept_id
        LIMIT batch;
END
$function$;

ALTER FUNCTION pgrecall.doubtful_names OWNER TO pgrecall_gate;

GRANT EXECUTE ON FUNCTION pgrecall.doubtful_names TO pgrecall_embedder;
