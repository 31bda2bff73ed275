-- Returns what may be on a page: a line for each memory, with its section, in order.
--
-- With a question: the memories that a recall of it finds, and facts about the concepts that it names. Without one: the newest 200
-- memories of the namespace, what a recall of the words of each section finds (page_sections), the newest of their categories, and
-- facts about the user (asking_concepts). Nothing that page_filter() leaves out. Memories that only ask are left out, except where
-- their category says what they are.
--
-- A memory has one line, in the first section of the page that takes it. Memories with the same line have one, the newest's.
--
-- place  within all: by section, then the best for the question, then the newest
CREATE OR REPLACE FUNCTION _pgrecall.page_candidates(page pgrecall.pages)
RETURNS TABLE (place bigint, section text, memory_id bigint, text text, said_at timestamptz, valid_until timestamptz)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED ROWS 100
SET search_path FROM CURRENT
-- A generic plan made while the tables were empty would scan them from then on.
SET enable_seqscan = 'off'
AS $function$
#variable_conflict use_column
DECLARE
    home CONSTANT integer := page.namespace_id;
    visible CONSTANT pgrecall.recall_filter := _pgrecall.page_filter();
    hits bigint[];
    pool bigint[];
    about bigint[];
    part record;
    more bigint[];
BEGIN
    IF page.question IS NOT NULL THEN
        hits := _pgrecall.page_hits(home, page.question, visible);
        pool := hits;
        about := ARRAY(
            SELECT q.concept_id FROM _pgrecall.query_concepts(home, page.question) q
            UNION
            SELECT a.concept_id FROM _pgrecall.asking_concepts(home, page.question, NULL) a
            ORDER BY 1 LIMIT 20
        );
    ELSE
        -- EXECUTE: planned with its arguments, it reads the index by time from its end.
        EXECUTE $statement$
            SELECT ARRAY(
                SELECT m.id FROM pgrecall.memories m
                WHERE m.namespace_id = $1 AND _pgrecall.matches_filter(m, $2)
                ORDER BY COALESCE(m.occurred_at, m.created_at) DESC, m.id DESC
                LIMIT 200
            )
        $statement$ INTO pool USING home, visible;
        FOR part IN SELECT s.* FROM _pgrecall.page_sections() s WHERE s.section = ANY (page.sections) LOOP
            SELECT array_agg(c.id) INTO more
            FROM unnest(part.categories) k (category)
            CROSS JOIN LATERAL (
                SELECT m.id FROM pgrecall.memories m
                WHERE m.namespace_id = home AND hashtext(m.category) = hashtext(k.category) AND m.category = k.category
                  AND _pgrecall.matches_filter(m, visible)
                ORDER BY m.id DESC
                LIMIT 50
            ) c;
            pool := pool || more;
            IF part.query IS NOT NULL THEN
                pool := pool || _pgrecall.page_hits(home, part.query, visible);
            END IF;
        END LOOP;
        about := ARRAY(SELECT a.concept_id FROM _pgrecall.asking_concepts(home, 'my', NULL) a);
    END IF;

    RETURN QUERY
    WITH fact AS MATERIALIZED (
        SELECT f.* FROM _pgrecall.page_facts(home, about, pool, visible) f WHERE 'facts' = ANY (page.sections)
    ), candidate AS MATERIALIZED (
        SELECT p.id FROM unnest(pool) p (id) UNION SELECT f.memory_id FROM fact f
    ), sorted AS MATERIALIZED (
        SELECT c.id, f.ends_at, COALESCE(m.occurred_at, m.created_at) AS said_at, least(m.valid_to, m.expires_at) AS over_at,
               _pgrecall.page_text(m.speaker, m.title, m.content, f.statement) AS text,
               (
                   SELECT a.name
                   FROM unnest(page.sections) WITH ORDINALITY a (name, number)
                   JOIN _pgrecall.page_sections() s ON s.section = a.name
                   WHERE CASE
                       WHEN m.category = ANY (s.categories) OR a.name = 'facts' AND f.memory_id IS NOT NULL THEN true
                       WHEN _pgrecall.is_question(m.content) THEN false
                       WHEN a.name = 'open' AND m.occurred_at > now() THEN true
                       WHEN a.name = 'recent' THEN COALESCE(m.occurred_at, m.created_at) <= now()
                       ELSE lower(left(m.content, 2000)) ~ s.pattern
                   END
                   ORDER BY a.name = 'recent', a.number
                   LIMIT 1
               ) AS section
        FROM candidate c
        LEFT JOIN fact f ON f.memory_id = c.id
        CROSS JOIN LATERAL (
            SELECT x.* FROM pgrecall.memories x
            WHERE x.id = c.id AND x.namespace_id + 0 = home AND _pgrecall.matches_filter(x, visible)
            LIMIT 1
        ) m
    ), told AS (
        SELECT DISTINCT ON (lower(s.text)) s.*
        FROM sorted s
        WHERE s.section IS NOT NULL AND s.text IS NOT NULL
        ORDER BY lower(s.text), s.said_at DESC, s.id DESC
    )
    SELECT row_number() OVER (
               ORDER BY array_position(page.sections, t.section),
                        CASE WHEN t.section <> 'recent' THEN array_position(hits, t.id) END, t.said_at DESC, t.id DESC
           ),
           t.section, t.id, t.text, t.said_at, CASE WHEN t.section = 'facts' THEN least(t.ends_at, t.over_at) ELSE t.over_at END
    FROM told t
    ORDER BY 1;
END
$function$;
