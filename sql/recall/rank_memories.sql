-- rank_memories: the ranking behind recall(), and what every score in it is made of.
--
-- How a memory gets its score, step by step as the statement below has it:
--   found     candidates: the lexical leg's list, the dense leg's, and the memories of the concepts that the query names,
--             each filtered before it was limited
--   scored    each candidate with its exact score on both legs, whichever found it
--   fused     what the two legs contribute together
--   seed      the best of them, where those of the query's own concepts are drawn to the best score; from here come the
--             candidates that neither words, vector nor names found:
--   graph     memories that share concepts with the seeds, each with the scores that it is drawn to
--   lent      memories next to a seed in its session, to which it lends a share of its score
--   pool      all candidates, each with its exact score on both legs
--   part      what each leg contributes
--   lifted    how far concepts draw it up, from its own score towards that of the best memory linked with it
--   near      their sum, raised by what neighbours lend
--   related   and for holding the query word for word
--   judged    times what importance, age and named concepts make of it
--   ordered   thresholds and the wanted order; ties by score, then by similarity (a cosine below 0 adds nothing to a
--             score), then by id
--   chosen    the first k, near-duplicates hidden and diverse if wanted
--
-- Fusion 'cc' is a convex combination of normalised scores (TM2C2: Bruch, Gai, Ingber: An Analysis of Fusion Functions
-- for Hybrid Retrieval, 2023): lexical / the best lexical, if that is good enough a match of the query to count in full
-- (lexical_coverage), at most 1; cosine from 0. The best is that by the query's own words: what expand adds takes nothing
-- from any memory. A memory without an embedding counts as usual a cosine as the candidates have on
-- average: that it was not embedded says nothing about it. A leg that takes no part, for want of words or vector, leaves
-- its share to the other. Fusion 'rrf' sums weight / (k + rank). Either is at most `top`.
--
-- A concept makes a memory as good as what it is linked with, or part of the way (link_share): it never comes before
-- the hit that it explains, so where one memory is the answer, its neighbours do not push it down.
--
-- The statement is plain SQL, planned once a session and kept: its candidates are few and found by their key. Each leg
-- plans for its own arguments.
--
-- question        what is asked, resolved (question)
-- reference_time  what age is counted from
-- also            memories that are to be ranked and explained whether they are candidates or not; NULL: none
CREATE OR REPLACE FUNCTION pgrecall.rank_memories(
    question pgrecall.question, filter pgrecall.recall_filter, reference_time timestamptz, also bigint[] DEFAULT NULL
)
RETURNS SETOF pgrecall.ranked
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 10
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    settings pgrecall.recall_settings := question.settings;
    reading pgrecall.lexical_query := question.reading;
    query_vec pgvector.halfvec := question.query_vec;
    depth record;
    recent pgrecall.recall_filter := filter;
    floors jsonb := CASE WHEN settings.half_life IS NOT NULL THEN pgrecall.evergreen_floors(settings.evergreen) END;
    factors double precision := NULLIF(settings.factor_relevance + settings.factor_importance + settings.factor_recency, 0);
    lexical_weight double precision := 0::double precision;
    dense_weight double precision := 0::double precision;
    total double precision;
    top double precision;
BEGIN
    IF COALESCE(reading.any_word, reading.narrow) IS NOT NULL THEN
        lexical_weight := settings.lexical_weight * CASE WHEN settings.fusion = 'cc' THEN 1 - settings.cc_alpha ELSE 1 END;
    END IF;
    IF query_vec IS NOT NULL THEN
        dense_weight := settings.dense_weight * CASE WHEN settings.fusion = 'cc' THEN settings.cc_alpha ELSE 1 END;
    END IF;
    total := lexical_weight + dense_weight;
    top := pgrecall.top_score(settings.fusion, total, settings.rrf_k);
    SELECT CASE WHEN settings.strategy = 'prefilter' THEN greatest(settings.k, settings.prefilter_depth)
                ELSE pgrecall.leg_depth(lexical_weight, settings.lexical_pool, settings.leg_depth, settings.k) END AS lexical,
           CASE WHEN settings.strategy = 'prefilter' THEN 0
                ELSE pgrecall.leg_depth(dense_weight, settings.dense_pool, settings.leg_depth, settings.k) END AS dense,
           pgrecall.leg_depth(settings.graph_weight, settings.graph_pool, settings.leg_depth, settings.k) AS graph
    INTO depth;
    IF settings.lexical_lookback IS NOT NULL THEN
        recent.since := greatest(filter.since, reference_time - settings.lexical_lookback);
    END IF;

    RETURN QUERY
    WITH lexical AS MATERIALIZED (
        SELECT l.id, l.rank, l.score
        FROM pgrecall.lexical_leg(question.namespace_id, reading, recent, depth.lexical) l
        WHERE depth.lexical > 0
    ), dense AS MATERIALIZED (
        SELECT d.id, d.rank
        FROM pgrecall.dense_leg(question.namespace_id, query_vec, filter, depth.dense, settings.dense_exact_rows, settings.generation) d
        WHERE depth.dense > 0
    ), named AS MATERIALIZED (
        SELECT n.id, n.share
        FROM pgrecall.named_memories(
            question.namespace_id, question.concepts, filter, depth.graph, settings.graph_decay, settings.graph_df_max,
            settings.graph_weight, settings.graph_mention, question.implied, settings.expansion_weight
        ) n
        WHERE depth.graph > 0 AND settings.graph_hops > 0
    ), found AS MATERIALIZED (
        -- For its plain id: under row-level security memories are not looked up by the COALESCE that USING makes.
        SELECT id, lexical.rank AS lexical_rank, dense.rank AS dense_rank, lexical.score AS lexical_score, named.share
        FROM lexical
        FULL OUTER JOIN dense USING (id)
        FULL OUTER JOIN named USING (id)
    ), scored AS MATERIALIZED (
        SELECT f.id, f.lexical_rank, f.dense_rank, f.share, COALESCE(f.lexical_score, m.lexical_score) AS lexical_score,
               m.similarity, m.holds_phrase, m.importance, m.category, m.happened_at, m.added_score
        FROM found f
        JOIN pgrecall.scored_memories(reading, query_vec, settings.generation) m ON m.id = f.id
    ), usual AS MATERIALIZED (
        SELECT NULLIF(greatest(max(s.lexical_score - COALESCE(s.added_score, 0)), settings.lexical_coverage * reading.mass), 0)
                   AS full_lexical,
               COALESCE(avg(greatest(s.similarity, 0)) FILTER (WHERE s.similarity IS NOT NULL), 0) AS similarity
        FROM scored s
    ), fused AS MATERIALIZED (
        SELECT s.id, s.share, f.fused, settings.graph_decay * COALESCE(NULLIF(max(f.fused) OVER (), 0), top) AS best
        FROM scored s
        CROSS JOIN usual u
        CROSS JOIN LATERAL (
            SELECT pgrecall.leg_part(settings.fusion, lexical_weight, total, s.lexical_rank,
                                     least(s.lexical_score / u.full_lexical, 1), settings.rrf_k)
                   + pgrecall.leg_part(settings.fusion, dense_weight, total, s.dense_rank,
                                       greatest(COALESCE(s.similarity, u.similarity), 0), settings.rrf_k) AS fused
        ) f
    ), seed AS MATERIALIZED (
        SELECT l.id, l.level, row_number() OVER (ORDER BY l.level DESC, l.id) AS place, l.level / top AS share
        FROM (SELECT f.id, pgrecall.drawn(f.fused, f.share, f.best) AS level FROM fused f) l
        ORDER BY place
        LIMIT greatest(settings.graph_seeds, settings.adjacency_seeds)
    ), graph AS MATERIALIZED (
        SELECT f.id, f.share, f.best AS level FROM fused f WHERE f.share IS NOT NULL
        UNION ALL
        SELECT g.id, g.share, g.level
        FROM (SELECT array_agg(s.id ORDER BY s.place) AS ids, array_agg(s.level ORDER BY s.place) AS levels FROM seed s) s
        CROSS JOIN LATERAL pgrecall.graph_leg(
            question.namespace_id, s.ids, s.levels, filter, (SELECT array_agg(x.id) FROM scored x), depth.graph, settings
        ) g
        WHERE depth.graph > 0
    ), lent AS MATERIALIZED (
        SELECT n.id, 1 - exp(sum(ln(1 - settings.adjacency_share * s.share))) AS share
        FROM seed s
        CROSS JOIN LATERAL pgrecall.session_neighbours(s.id, filter) n
        WHERE settings.adjacency_share > 0 AND s.place <= settings.adjacency_seeds
        GROUP BY n.id
    ), more AS (
        SELECT n.id, bool_or(n.is_candidate) AS is_candidate
        FROM (
            SELECT g.id, true FROM graph g
            UNION ALL
            SELECT l.id, true FROM lent l
            UNION ALL
            SELECT m.id, false FROM pgrecall.memories m WHERE m.id = ANY (also) AND m.namespace_id + 0 = question.namespace_id
        ) n (id, is_candidate)
        WHERE NOT EXISTS (SELECT FROM scored s WHERE s.id = n.id)
        GROUP BY n.id
    ), pool AS MATERIALIZED (
        SELECT s.*, true AS is_candidate FROM scored s
        UNION ALL
        SELECT n.id, NULL, NULL, NULL, m.lexical_score, m.similarity, m.holds_phrase, m.importance, m.category, m.happened_at,
               m.added_score, n.is_candidate
        FROM more n
        JOIN pgrecall.scored_memories(reading, query_vec, settings.generation) m ON m.id = n.id
    ), part AS MATERIALIZED (
        SELECT p.*, COALESCE(l.share, 0) AS lent,
               pgrecall.leg_part(settings.fusion, lexical_weight, total, p.lexical_rank,
                                 least(p.lexical_score / u.full_lexical, 1), settings.rrf_k) AS lexical_part,
               pgrecall.leg_part(settings.fusion, dense_weight, total, p.dense_rank,
                                 greatest(COALESCE(p.similarity, u.similarity), 0), settings.rrf_k) AS dense_part
        FROM pool p
        CROSS JOIN usual u
        LEFT JOIN lent l ON l.id = p.id
    ), lifted AS MATERIALIZED (
        -- Of all that it is linked with, what draws it highest; its rank goes by how high it could come from nothing.
        SELECT DISTINCT ON (p.id)
               p.id, g.share, g.level, pgrecall.drawn(p.lexical_part + p.dense_part, g.share, g.level) AS lifted,
               max(g.share * g.level) OVER (PARTITION BY p.id) AS reach
        FROM part p
        JOIN graph g ON g.id = p.id
        ORDER BY p.id, lifted DESC, g.level DESC
    ), near AS MATERIALIZED (
        SELECT p.*, l.share AS graph_share, l.level AS graph_level, l.reach / top AS graph_score,
               CASE WHEN l.id IS NOT NULL THEN row_number() OVER (ORDER BY l.reach DESC NULLS LAST, p.id) END AS graph_rank,
               COALESCE(l.lifted - (p.lexical_part + p.dense_part), 0) AS graph_part,
               pgrecall.noisy_or(COALESCE(l.lifted, p.lexical_part + p.dense_part), p.lent, top) AS with_neighbours
        FROM part p
        LEFT JOIN lifted l ON l.id = p.id
    ), related AS MATERIALIZED (
        SELECT n.*, n.with_neighbours - (n.lexical_part + n.dense_part + n.graph_part) AS adjacency_part,
               pgrecall.noisy_or(n.with_neighbours, CASE WHEN n.holds_phrase THEN settings.phrase_bonus ELSE 0 END, top) AS relevance
        FROM near n
    ), judged AS MATERIALIZED (
        SELECT r.*, f.*, c.combined, c.combined * f.importance_factor * f.decay_factor * f.entity_factor AS score
        FROM related r
        CROSS JOIN LATERAL (
            SELECT 1 - settings.importance_weight + settings.importance_weight * r.importance AS importance_factor,
                   pgrecall.decay(
                       pgrecall.age_at(reference_time, r.happened_at), settings.half_life,
                       COALESCE((floors ->> r.category)::double precision, settings.decay_floor)
                   ) AS decay_factor,
                   CASE WHEN settings.entity_boost <> 1 AND EXISTS (
                       SELECT FROM pgrecall.mentions x WHERE x.memory_id = r.id AND x.concept_id = ANY (question.concepts)
                   ) THEN settings.entity_boost ELSE 1 END AS entity_factor,
                   pgrecall.decay(pgrecall.age_at(reference_time, r.happened_at), settings.recency_half_life, 0) AS recency
        ) f
        CROSS JOIN LATERAL (
            SELECT (settings.factor_relevance * r.relevance
                    + top * (settings.factor_importance * r.importance + settings.factor_recency * f.recency))
                   / factors AS combined
        ) c
    ), ordered AS (
        SELECT j.id, j.score,
               row_number() OVER (
                   ORDER BY CASE settings.sort_by
                                WHEN 'importance' THEN j.importance
                                WHEN 'recency' THEN EXTRACT(epoch FROM j.happened_at)
                            END DESC,
                            j.score DESC, j.similarity DESC NULLS LAST, j.id
               ) AS place
        FROM judged j
        WHERE j.is_candidate AND j.score >= settings.min_score
          AND (settings.min_similarity <= -1 OR query_vec IS NULL OR j.similarity >= settings.min_similarity)
    ), chosen AS (
        SELECT c.id, c.place, c.penalty, c.duplicates
        FROM (SELECT array_agg(o.id ORDER BY o.place) AS ids, array_agg(o.score ORDER BY o.place) AS scores FROM ordered o) o
        CROSS JOIN LATERAL pgrecall.diverse(o.ids, o.scores, settings.k, settings) c
    )
    SELECT j.id, c.place, j.score,
           j.lexical_rank, j.dense_rank, j.graph_rank::integer, NULLIF(j.lexical_score, 0), j.similarity, j.graph_score,
           j.lexical_part, j.dense_part, j.graph_part, j.adjacency_part, j.relevance - j.with_neighbours, j.relevance,
           j.recency, j.combined, j.importance_factor, j.decay_factor, j.entity_factor, j.is_candidate,
           c.penalty, c.duplicates, o.place::integer, lexical_weight, dense_weight,
           CASE WHEN depth.graph > 0 THEN settings.graph_weight ELSE 0 END, j.graph_share, j.graph_level
    FROM judged j
    LEFT JOIN ordered o ON o.id = j.id
    LEFT JOIN chosen c ON c.id = j.id
    WHERE c.id IS NOT NULL OR j.id = ANY (also)
    ORDER BY c.place, j.id;
END
$function$;

COMMENT ON FUNCTION pgrecall.rank_memories IS
    'The ranking behind recall(): the k best memories, and any others asked for, with all that their scores are made of.';
