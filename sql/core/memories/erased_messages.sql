-- Finds the messages of a list that were erased. Returns their places in the list.
--
-- A message with a time is known by it. Of those without, the list must be the whole conversation, from its first message on; then the
-- places of the erased and of the stored messages with this text tell which of several is meant.
--
-- hashes, dated  as for find_messages()
CREATE OR REPLACE FUNCTION _pgrecall.erased_messages(namespace_id integer, session text, hashes text[], dated text[])
RETURNS bigint[]
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
BEGIN
    IF NOT EXISTS (SELECT FROM pgrecall.erased_messages e WHERE e.namespace_id = erased_messages.namespace_id) THEN
        RETURN '{}'::bigint[];
    END IF;
    RETURN ARRAY(
        WITH given AS MATERIALIZED (
            SELECT g.hash, g.place, g.dated IS NOT NULL AS is_dated, sha256(convert_to(COALESCE(g.dated, g.hash), 'UTF8')) AS key,
                   row_number() OVER (PARTITION BY g.hash, g.dated IS NULL ORDER BY g.place) AS nth
            FROM unnest(erased_messages.hashes, erased_messages.dated) WITH ORDINALITY g (hash, dated, place)
        ), gone AS MATERIALIZED (
            SELECT DISTINCT g.hash, g.is_dated, g.key, e."position"
            FROM given g
            JOIN pgrecall.erased_messages e ON e.namespace_id = erased_messages.namespace_id AND e.key = g.key
        ), first AS (
            SELECT m.external_id FROM pgrecall.memories m
            WHERE m.namespace_id = erased_messages.namespace_id AND m.session = erased_messages.session
              AND m."position" IS NOT NULL AND starts_with(m.external_id, 'message:')
            ORDER BY m."position", m.id
            LIMIT 1
        ), placed AS (
            SELECT p.hash, p.is_gone, row_number() OVER (PARTITION BY p.hash ORDER BY p."position") AS nth
            FROM (
                SELECT o.hash, o."position", true AS is_gone FROM gone o WHERE NOT o.is_dated
                UNION ALL
                SELECT h.hash, m."position", false
                FROM (SELECT DISTINCT o.hash FROM gone o WHERE NOT o.is_dated) h
                JOIN pgrecall.memories m ON m.namespace_id = erased_messages.namespace_id
                    AND m.external_id COLLATE "C" >= h.hash || ':' AND m.external_id COLLATE "C" < h.hash || ';'
            ) p
            WHERE EXISTS (SELECT FROM first f WHERE starts_with(f.external_id, erased_messages.hashes[1]))
               OR EXISTS (SELECT FROM gone o WHERE o.hash = erased_messages.hashes[1] AND o."position" = 1)
        )
        SELECT g.place FROM given g JOIN gone o ON o.key = g.key WHERE g.is_dated
        UNION ALL
        SELECT g.place FROM given g JOIN placed p ON p.hash = g.hash AND p.nth = g.nth WHERE p.is_gone AND NOT g.is_dated
    );
END
$function$;
