-- Returns the relationships that answer a query, valid now or at as_of, each with the memories that are its evidence, best
-- first. They come from concepts that the query names and from memories that recall() finds. Facts do not age. Read-only.
--
-- Candidates are the newest 200 relationships each way of up to 20 concepts that the query names, and those whose
-- evidence is among the best 50 memories that recall() would find: a concept with a hundred thousand relationships
-- costs no more than one with two hundred. The score, from 0 to 1, is the noisy-or of its grounds:
--   0.6 times the relevance of its best memory (rank_memories), as a share of the highest there can be;
--   each of its two concepts that the query names: 0.3;
--   the words of its label that the query has: 0.2 for all of them.
-- Neither facts nor memories are ranked by age. Ties break by origin, then by weight, then the newest first. A fact needs evidence that
-- recall() could return; sensitive memories are never evidence. Facts stated with different names of a concept are
-- merged into one.
--
-- query, query_vec, k, namespace, namespaces  as for recall()
-- as_of               facts recorded and valid at that time, as known then; NULL: valid now
-- labels              any of these labels, as stated or canonical
-- concepts            of any of these concepts, by any of their names
-- include_superseded  include facts that are not valid at that time, and evidence from superseded memories
--
-- id           of the relationship; the first, where several names of a concept have one each
-- statement    the sentence from the best memory that has one; else subject, label and object
-- weight       combined confidence of all evidence
-- valid_to     by what was known at as_of
-- recorded_at  when its first evidence was recorded
-- evidence     the memories, the most relevant first, then the newest; at most 200
-- origin       that of the most trusted memory that states it: each states the whole fact
--
-- Errors  those of recall()
--
-- Writes nothing and sets nothing. The statement is planned once a session and kept: everything is found by its key.
-- Each ORDER BY before a LIMIT is that of an index, which keeps the planner from reading the table of a hub instead.
CREATE OR REPLACE FUNCTION public.recall_facts(
    query text,
    query_vec pgvector.halfvec DEFAULT NULL,
    k integer DEFAULT NULL,
    namespace text DEFAULT NULL,
    as_of timestamptz DEFAULT NULL,
    labels text[] DEFAULT NULL,
    concepts text[] DEFAULT NULL,
    include_superseded boolean DEFAULT false,
    namespaces text[] DEFAULT NULL
)
RETURNS TABLE (
    id bigint, subject text, label text, object text, statement text, score double precision, weight real,
    valid_from timestamptz, valid_to timestamptz, recorded_at timestamptz, evidence bigint[],
    origin pgrecall.memory_origin, namespace_name text
)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SECURITY DEFINER ROWS 10
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    names CONSTANT text[] := _pgrecall.asked_namespaces(recall_facts.namespace, recall_facts.namespaces);
    home CONSTANT text := pgrecall.namespace_name(recall_facts.namespace);
    depth CONSTANT integer := 200;
    question CONSTANT text := pgrecall.question_part(recall_facts.query);
    wanted CONSTANT integer := (_pgrecall.effective_settings(jsonb_build_object('k', recall_facts.k))).k;
    request pgrecall.recall_request := CASE WHEN names IS NULL THEN _pgrecall.resolve_granted(
        recall_facts.query, recall_facts.query_vec, home,
        jsonb_build_object('k', greatest(wanted, 50), 'sort_by', 'relevance', 'mmr_lambda', 1, 'collapse_duplicates', 'off'),
        recall_facts.as_of IS NOT NULL OR COALESCE(recall_facts.include_superseded, false)
    ) END;
    languages regconfig[] := _pgrecall.query_languages(pgrecall.namespace_id(home));
    moment timestamptz := COALESCE(recall_facts.as_of, now());
    past boolean := COALESCE(recall_facts.include_superseded, false);
    filter pgrecall.recall_filter;
    asked_labels text[];
    asked_concepts bigint[];
    named bigint[];
    words text[];
BEGIN
    IF names IS NOT NULL THEN
        RETURN QUERY
            SELECT f.*
            FROM unnest(names, _pgrecall.seen_namespaces(names)) n (name, id)
            CROSS JOIN LATERAL public.recall_facts(
                recall_facts.query, recall_facts.query_vec, wanted, n.name, recall_facts.as_of, recall_facts.labels,
                recall_facts.concepts, recall_facts.include_superseded
            ) f
            WHERE n.id IS NOT NULL
            ORDER BY f.score DESC, f.origin DESC, f.weight DESC, f.recorded_at DESC, f.id DESC
            LIMIT wanted;
        RETURN;
    END IF;
    filter.as_of := recall_facts.as_of;
    filter.include_superseded := past;
    request.settings.half_life := NULL;
    request.settings.factor_relevance := 1;
    request.settings.factor_recency := 0;
    IF recall_facts.labels IS NOT NULL THEN
        asked_labels := ARRAY(
            SELECT DISTINCT pgrecall.canonical_label(request.namespace_id, _pgrecall.normalize_label(l.label))
            FROM unnest(recall_facts.labels) l (label)
            WHERE l.label IS NOT NULL
        );
    END IF;
    IF recall_facts.concepts IS NOT NULL THEN
        asked_concepts := ARRAY(
            WITH asked AS MATERIALIZED (
                SELECT pgrecall.normalize_name(n.name) AS alias FROM unnest(recall_facts.concepts) n (name)
            )
            SELECT DISTINCT a.concept_id
            FROM asked n
            JOIN pgrecall.concept_aliases a ON a.namespace_id = request.namespace_id AND a.alias = n.alias
        );
    END IF;
    named := ARRAY(
        (SELECT c.concept_id FROM _pgrecall.query_concepts(request.namespace_id, question) c ORDER BY c.concept_id LIMIT 20)
        UNION
        SELECT a.concept_id FROM _pgrecall.asking_concepts(request.namespace_id, question, NULL) a
    );
    words := ARRAY(
        SELECT DISTINCT w.word
        FROM unnest(languages) l (name)
        CROSS JOIN LATERAL unnest(tsvector_to_array(_pgrecall.analyze_text(l.name, COALESCE(question, '')))) w (word)
    );

    RETURN QUERY
    WITH hit AS MATERIALIZED (
        SELECT r.id,
               least(r.relevance / NULLIF(_pgrecall.max_score(
                   (request.settings).fusion, (SELECT sum(l.weight) FROM _pgrecall.ranked_legs(r) l), (request.settings).rrf_k
               ), 0), 1) AS share
        FROM _pgrecall.rank_granted(request, filter, now()) r
    ), near AS MATERIALIZED (
        SELECT n.id, max(n.share) AS share
        FROM (
            SELECT e.relationship_id AS id, h.share
            FROM hit h
            CROSS JOIN LATERAL (
                SELECT v.relationship_id FROM pgrecall.relationship_evidence v WHERE v.memory_id = h.id
                ORDER BY v.relationship_id DESC LIMIT depth
            ) e
            UNION ALL
            SELECT r.id, 0
            FROM unnest(COALESCE(asked_concepts, named)) c (id)
            CROSS JOIN LATERAL (
                (SELECT s.id FROM pgrecall.relationships s WHERE s.source_id = c.id ORDER BY s.id DESC LIMIT depth)
                UNION ALL
                (SELECT t.id FROM pgrecall.relationships t WHERE t.target_id = c.id ORDER BY t.id DESC LIMIT depth)
            ) r
            WHERE asked_labels IS NULL
            UNION ALL
            SELECT r.id, 0
            FROM unnest(COALESCE(asked_concepts, named)) c (id)
            CROSS JOIN unnest(asked_labels) l (label)
            CROSS JOIN LATERAL (
                (SELECT s.id FROM pgrecall.relationships s WHERE s.source_id = c.id AND s.label = l.label
                 ORDER BY s.target_id LIMIT depth)
                UNION ALL
                (SELECT t.id FROM pgrecall.relationships t WHERE t.target_id = c.id AND t.label = l.label
                 ORDER BY t.source_id LIMIT depth)
            ) r
        ) n
        GROUP BY n.id
    ), fact AS MATERIALIZED (
        SELECT min(r.id) AS id, array_agg(r.id) AS ids, r.source_id, r.target_id, r.label, r.valid_from, r.valid_to,
               max(n.share) AS share, max(r.weight) AS weight, min(r.recorded_at) AS recorded_at,
               max(r.origin) AS origin
        FROM near n
        CROSS JOIN LATERAL (
            SELECT x.id, x.source_id, x.target_id, x.label, x.valid_from, x.weight, x.recorded_at, x.origin,
                   CASE WHEN recall_facts.as_of IS NULL THEN x.valid_to
                        ELSE _pgrecall.end_known_at(x.id, x.valid_to, x.superseded_at, recall_facts.as_of) END AS valid_to
            FROM pgrecall.relationships x
            -- Weight 0: memories say only that it has ended.
            WHERE x.id = n.id AND x.namespace_id = request.namespace_id AND x.source_id <> x.target_id AND x.weight > 0
            LIMIT 1
        ) r
        WHERE (asked_labels IS NULL OR r.label = ANY (asked_labels))
          AND (asked_concepts IS NULL OR r.source_id = ANY (asked_concepts) OR r.target_id = ANY (asked_concepts))
          AND (past OR _pgrecall.is_valid_at(r.valid_from, r.valid_to, moment))
        GROUP BY r.source_id, r.target_id, r.label, r.valid_from, r.valid_to
    ), worded AS MATERIALIZED (
        SELECT l.label, (
            SELECT count(*) FILTER (WHERE w.word = ANY (words))::double precision / NULLIF(count(*), 0)
            FROM unnest(tsvector_to_array(_pgrecall.analyze_text(languages[1], l.label))) w (word)
        ) AS share
        FROM (SELECT DISTINCT f.label FROM fact f) l
    ), scored_facts AS (
        SELECT f.*, s.name AS subject, t.name AS object, v.statement, v.evidence,
               1 - (1 - 0.6 * f.share) * power(0.7, (f.source_id = ANY (named))::integer + (f.target_id = ANY (named))::integer)
                   * (1 - 0.2 * COALESCE(w.share, 0)) AS score
        FROM fact f
        JOIN worded w ON w.label = f.label
        CROSS JOIN LATERAL (SELECT c.name FROM pgrecall.concepts c WHERE c.id = f.source_id LIMIT 1) s
        CROSS JOIN LATERAL (SELECT c.name FROM pgrecall.concepts c WHERE c.id = f.target_id LIMIT 1) t
        CROSS JOIN LATERAL (
            SELECT array_agg(g.memory_id ORDER BY g.share DESC NULLS LAST, g.memory_id DESC) AS evidence,
                   (array_agg(g.statement ORDER BY g.share DESC NULLS LAST, g.memory_id DESC)
                       FILTER (WHERE g.statement IS NOT NULL))[1] AS statement
            FROM (
                SELECT DISTINCT ON (e.memory_id) e.memory_id, e.statement, h.share
                FROM unnest(f.ids) i (id)
                CROSS JOIN LATERAL (
                    SELECT x.memory_id, x.statement, x.confidence FROM pgrecall.relationship_evidence x
                    WHERE x.relationship_id = i.id
                    ORDER BY x.memory_id DESC
                    LIMIT depth
                ) e
                CROSS JOIN LATERAL (
                    SELECT FROM pgrecall.memories m
                    WHERE m.id = e.memory_id AND m.namespace_id + 0 = request.namespace_id AND _pgrecall.matches_filter(m, filter)
                    LIMIT 1
                ) m
                LEFT JOIN hit h ON h.id = e.memory_id
                ORDER BY e.memory_id, (e.statement IS NULL), e.confidence DESC, e.statement
            ) g
        ) v
        WHERE v.evidence IS NOT NULL
    )
    SELECT t.id, t.subject, t.label, t.object, COALESCE(t.statement, concat_ws(' ', t.subject, t.label, t.object)), t.score, t.weight,
           t.valid_from, t.valid_to, t.recorded_at, t.evidence[:depth], t.origin, home
    FROM scored_facts t
    ORDER BY t.score DESC, t.origin DESC, t.weight DESC, t.recorded_at DESC, t.id DESC
    LIMIT wanted;
END
$function$;

ALTER FUNCTION public.recall_facts OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION public.recall_facts FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.recall_facts TO pgrecall_reader;
