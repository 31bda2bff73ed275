-- Ranks the memories that answer a request: the scoring behind recall(). Returns the k best, plus the requested ones, with
-- every part of every score.
--
-- sql/README.md, "How a memory gets its score", describes each step: the statement has one CTE per step, of the names used there.
--
-- The statement keeps one generic plan per session: it joins few candidates by primary key. Each leg plans for its own
-- arguments. Steps are MATERIALIZED, so that their expressions are computed once. A step of wide rows that is read once ends
-- in OFFSET 0 instead, which does the same without copying the rows.
--
-- request         the resolved request (resolve_request)
-- reference_time  age is measured from here
-- extra_ids       memories to rank and explain even if they are no candidates; NULL: none
CREATE OR REPLACE FUNCTION _pgrecall.rank_memories(
    request pgrecall.recall_request, filter pgrecall.recall_filter, reference_time timestamptz, extra_ids bigint[] DEFAULT NULL
)
RETURNS SETOF pgrecall.ranked
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 10
SET search_path FROM CURRENT
AS $function$
#variable_conflict use_column
DECLARE
    settings pgrecall.recall_settings := request.settings;
    parsed pgrecall.parsed_query := request.parsed;
    query_vec pgvector.halfvec := request.query_vec;
    legs record;
    floors jsonb := CASE WHEN settings.half_life IS NOT NULL THEN _pgrecall.parse_decay_floors(settings.decay_floors) END;
    factors double precision := NULLIF(settings.factor_relevance + settings.factor_importance + settings.factor_recency, 0);
    max_score double precision;
    background record;
    hollow record;
    firm double precision;
    has_ngrams boolean;
    versions text;
    concept_ids bigint[];
    concept_shares double precision[];
    time_hits bigint[];
    generation CONSTANT integer := COALESCE(settings.generation, pgrecall.active_generation());
BEGIN
    SELECT * INTO legs FROM _pgrecall.leg_inputs(request, filter, reference_time);
    max_score := _pgrecall.max_score(settings.fusion, legs.total_weight, settings.rrf_k);
    SELECT * INTO background FROM _pgrecall.dense_background(request.namespace_id, generation, query_vec, settings);

    SELECT * INTO hollow FROM _pgrecall.pronouns_of(parsed);
    firm := _pgrecall.firm_bm25(parsed, hollow.weight, request.query_name, settings.bm25_max_terms);
    has_ngrams := firm > COALESCE(parsed.max_bm25, 0) - COALESCE(hollow.weight, 0) + 1e-6;
    IF request.query_name ~ '[0-9]' THEN
        versions := _pgrecall.version_pattern(request.query_name);
    END IF;

    -- Statements of their own: most questions name neither a concept nor a time, and a part of a statement costs time even if it does
    -- not run.
    IF legs.graph_depth > 0 AND settings.graph_hops > 0 AND cardinality(request.concepts || request.implied) > 0 THEN
        SELECT array_agg(n.id), array_agg(n.share) INTO concept_ids, concept_shares
        FROM _pgrecall.concept_candidates(
            request.namespace_id, request.concepts, filter, legs.graph_depth, settings.graph_decay, settings.hub_max_mentions,
            settings.graph_weight, settings.graph_mention, request.implied, settings.expansion_weight
        ) n;
    END IF;
    IF request.period IS NOT NULL THEN
        time_hits := ARRAY(
            SELECT p.id FROM _pgrecall.period_memories(request.namespace_id, request.period, filter, 2 * settings.k) p
        );
    END IF;

    RETURN QUERY
    WITH lexical AS MATERIALIZED (
        SELECT l.id, l.rank, l.score
        FROM _pgrecall.lexical_leg(request.namespace_id, parsed, legs.lexical_filter, legs.lexical_depth) l
        WHERE legs.lexical_depth > 0
          -- The age in the filter counts as a time that is asked about, at which a memory that is over now was valid.
          AND (settings.lexical_lookback IS NULL OR EXISTS (
              SELECT FROM pgrecall.memories m WHERE m.id = l.id AND _pgrecall.matches_filter(m, filter)
          ))
    ), dense AS MATERIALIZED (
        SELECT d.id, d.rank
        FROM _pgrecall.dense_leg(
            request.namespace_id, query_vec, filter, legs.dense_depth, settings.dense_exact_rows, settings.generation, legs.has_passages
        ) d
        WHERE legs.dense_depth > 0
    ), concept_hits AS (
        SELECT h.id, h.share FROM unnest(concept_ids, concept_shares) h (id, share)
    ), candidates AS MATERIALIZED (
        -- USING makes id a COALESCE, with which no index is searched under row-level security. This CTE makes it a column.
        SELECT id, lexical.rank AS lexical_rank, dense.rank AS dense_rank, lexical.score AS lexical_score, concept_hits.share
        FROM lexical
        FULL OUTER JOIN dense USING (id)
        FULL OUTER JOIN concept_hits USING (id)
    ), scored AS MATERIALIZED (
        SELECT c.id, c.lexical_rank, c.dense_rank, c.share, COALESCE(c.lexical_score, m.lexical_score) AS lexical_score,
               m.similarity, m.dense_score, m.passage, m.holds_phrase, m.importance, m.category, m.happened_at, m.speaker,
               m.expansion_score, m.sparse_score, m.neighbour_weight, m.origin
        FROM candidates c
        JOIN _pgrecall.scored_memories(
            parsed, query_vec, settings.generation, background.mean, background.centred_query, background.scale,
            COALESCE(background.penalty, 0), legs.has_passages
        ) m ON m.id = c.id
    ), score_norms AS MATERIALIZED (
        SELECT n.*, w.lexical AS lexical_weight, w.sparse AS sparse_weight,
               -- If no memory holds a word of the query, the terms' weight comes on top.
               legs.total_weight + greatest(w.sparse - legs.lexical_weight, 0) AS total_weight
        FROM (
            SELECT NULLIF(greatest(max(s.lexical_score - COALESCE(s.expansion_score, 0)), settings.lexical_coverage * parsed.max_bm25), 0)
                       AS lexical,
                   COALESCE(avg(s.dense_score), 0) AS dense,
                   greatest(max(s.sparse_score), _pgrecall.sparse_coverage() * parsed.max_bm25) AS sparse,
                   max(s.sparse_score) AS best_sparse
            FROM scored s
        ) n
        CROSS JOIN LATERAL _pgrecall.sparse_weights(legs.lexical_weight, legs.sparse_weight, n.best_sparse) w
    ), fused AS MATERIALIZED (
        SELECT s.id, s.share, f.fused, settings.graph_decay * COALESCE(NULLIF(max(f.fused) OVER (), 0), max_score) AS concept_level
        FROM scored s
        CROSS JOIN score_norms x
        CROSS JOIN LATERAL _pgrecall.leg_parts(
            settings.fusion, settings.rrf_k, x.total_weight, x.lexical_weight, legs.dense_weight, x.sparse_weight,
            s.lexical_rank, s.dense_rank, s.lexical_score, s.dense_score, s.sparse_score, x.lexical, x.dense, x.sparse
        ) f
    ), seeds AS MATERIALIZED (
        SELECT l.id, l.level, row_number() OVER (ORDER BY l.level DESC, l.id) AS place
        FROM (SELECT f.id, f.fused + _pgrecall.graph_part(f.fused, f.share, f.concept_level) AS level FROM fused f) l
        ORDER BY place
        LIMIT greatest(settings.graph_seeds, settings.session_seeds)
    ), graph AS MATERIALIZED (
        SELECT f.id, f.share, f.concept_level AS level FROM fused f WHERE f.share IS NOT NULL
        UNION ALL
        SELECT g.id, g.share, g.level
        FROM (SELECT array_agg(s.id ORDER BY s.place) AS ids, array_agg(s.level ORDER BY s.place) AS levels FROM seeds s) s
        CROSS JOIN LATERAL _pgrecall.graph_leg(
            request.namespace_id, s.ids, s.levels, filter, (SELECT array_agg(x.id) FROM scored x), legs.graph_depth, settings
        ) g
        WHERE legs.graph_depth > 0
    ), session_boosts AS MATERIALIZED (
        SELECT n.id, u.level
        FROM (
            SELECT array_agg(s.id) AS ids, array_agg(s.level) AS levels FROM seeds s WHERE s.place <= settings.session_seeds
        ) s
        CROSS JOIN LATERAL unnest(s.ids, s.levels) u (id, level)  -- of which the planner expects enough rows to hash them below
        CROSS JOIN LATERAL _pgrecall.session_neighbours(u.id, filter) n
        WHERE settings.session_share > 0
    ), late_candidates AS (
        SELECT n.id, bool_or(n.is_candidate) AS is_candidate
        FROM (
            SELECT g.id, true FROM graph g
            UNION ALL
            SELECT b.id, true FROM session_boosts b
            UNION ALL
            SELECT t.id, true FROM unnest(time_hits) t (id)
            UNION ALL
            SELECT m.id, false FROM pgrecall.memories m WHERE m.id = ANY (extra_ids) AND m.namespace_id + 0 = request.namespace_id
        ) n (id, is_candidate)
        WHERE NOT EXISTS (SELECT FROM scored s WHERE s.id = n.id)
        GROUP BY n.id
    ), all_candidates AS (
        SELECT s.*, true AS is_candidate FROM scored s
        UNION ALL
        SELECT n.id, NULL, NULL, NULL, m.lexical_score, m.similarity, m.dense_score, m.passage, m.holds_phrase, m.importance, m.category,
               m.happened_at, m.speaker, m.expansion_score, m.sparse_score,
               m.neighbour_weight, m.origin, n.is_candidate
        FROM late_candidates n
        JOIN _pgrecall.scored_memories(
            parsed, query_vec, settings.generation, background.mean, background.centred_query, background.scale,
            COALESCE(background.penalty, 0), legs.has_passages
        ) m ON m.id = n.id
        OFFSET 0
    ), contributions AS MATERIALIZED (
        SELECT c.*, b.level AS session_level, p.*
        FROM all_candidates c
        CROSS JOIN score_norms x
        CROSS JOIN LATERAL _pgrecall.leg_parts(
            settings.fusion, settings.rrf_k, x.total_weight, x.lexical_weight, legs.dense_weight, x.sparse_weight,
            c.lexical_rank, c.dense_rank, c.lexical_score, c.dense_score, c.sparse_score, x.lexical, x.dense, x.sparse
        ) p
        LEFT JOIN (SELECT n.id, max(n.level) AS level FROM session_boosts n GROUP BY n.id) b ON b.id = c.id
    ), named_speakers AS MATERIALIZED (
        SELECT s.speaker
        FROM (SELECT DISTINCT c.speaker FROM contributions c WHERE settings.other_speaker_factor <> 1 OFFSET 0) s
        WHERE _pgrecall.names_speaker(request.query_name, s.speaker)
    ), graph_boosted AS MATERIALIZED (
        -- Keep the link that raises it highest; rank by the highest score.
        SELECT DISTINCT ON (p.id)
               p.id, g.share, g.level, _pgrecall.graph_part(p.fused, g.share, g.level) AS graph_part,
               max(_pgrecall.graph_score(g.share, g.level)) OVER (PARTITION BY p.id) AS score
        FROM contributions p
        JOIN graph g ON g.id = p.id
        ORDER BY p.id, graph_part DESC, g.level DESC
    ), with_session AS (
        SELECT p.*, b.share AS graph_share, b.level AS graph_level, b.score / max_score AS graph_score,
               CASE WHEN b.id IS NOT NULL THEN row_number() OVER (ORDER BY b.score DESC NULLS LAST, p.id) END AS graph_rank,
               COALESCE(b.graph_part, 0) AS graph_part,
               _pgrecall.raise_toward(
                   p.fused + COALESCE(b.graph_part, 0), settings.session_share * p.neighbour_weight, p.session_level
               ) AS with_session
        FROM contributions p
        LEFT JOIN graph_boosted b ON b.id = p.id
        OFFSET 0
    ), with_phrase AS (
        SELECT n.*, n.with_session - (n.fused + n.graph_part) AS session_part,
               _pgrecall.raise_toward(n.with_session,
                   CASE WHEN n.holds_phrase THEN settings.phrase_bonus ELSE 0 END, max_score) AS with_phrase
        FROM with_session n
        OFFSET 0
    ), with_time AS (
        SELECT p.*, _pgrecall.raise_toward(
                   p.with_phrase,
                   CASE WHEN request.period IS NULL THEN NULL
                        WHEN p.happened_at <@ request.period THEN settings.question_time
                        ELSE settings.question_time * (SELECT s.share FROM _pgrecall.mentioned_share(p.id, request.period) s)
                   END,
                   max_score) AS relevance
        FROM with_phrase p
        OFFSET 0
    ), weighted AS MATERIALIZED (
        SELECT r.*, f.*, c.combined,
               c.combined * f.importance_factor * f.decay_factor * f.entity_factor * f.speaker_factor AS score
        FROM with_time r
        CROSS JOIN (
            SELECT EXISTS (SELECT FROM scored s WHERE s.speaker IN (SELECT n.speaker FROM named_speakers n)) AS names_speaker
        ) x
        CROSS JOIN LATERAL (
            SELECT 1 - settings.importance_weight + settings.importance_weight * r.importance AS importance_factor,
                   _pgrecall.decay(
                       _pgrecall.age_at(reference_time, r.happened_at), settings.half_life,
                       COALESCE((floors ->> r.category)::double precision, settings.decay_floor)
                   ) AS decay_factor,
                   CASE WHEN settings.entity_boost <> 1 AND EXISTS (
                       SELECT FROM pgrecall.mentions x WHERE x.memory_id = r.id AND x.concept_id = ANY (request.concepts)
                   ) THEN settings.entity_boost ELSE 1 END AS entity_factor,
                   CASE WHEN x.names_speaker AND r.speaker NOT IN (SELECT n.speaker FROM named_speakers n)
                        THEN settings.other_speaker_factor ELSE 1 END AS speaker_factor,
                   _pgrecall.decay(_pgrecall.age_at(reference_time, r.happened_at), settings.recency_half_life, 0) AS recency
        ) f
        CROSS JOIN LATERAL (
            SELECT (settings.factor_relevance * r.relevance
                    + max_score * (settings.factor_importance * r.importance + settings.factor_recency * f.recency))
                   / factors AS combined
        ) c
    ), rivals AS MATERIALIZED (
        SELECT COALESCE(sum(b.relevance) FILTER (WHERE b.place > 1), 0) / (9 * max_score) AS relevance, max(b.shown) AS shown
        FROM (
            SELECT w.with_phrase - w.lexical_part * (1 - COALESCE(n.shown, 1)) AS relevance, n.shown,
                   row_number() OVER (ORDER BY w.with_phrase DESC) AS place
            FROM weighted w
            CROSS JOIN (
                -- The best memory's part is high even if it has one n-gram of many: max_bm25 counts none.
                SELECT CASE WHEN has_ngrams THEN least(x.lexical / NULLIF(settings.lexical_coverage * firm, 0), 1) END AS shown
                FROM score_norms x
            ) n
            WHERE w.is_candidate
            ORDER BY w.with_phrase DESC
            LIMIT 10
        ) b
    ), ordered AS (
        SELECT w.id, w.score, w.happened_at, w.origin,
               row_number() OVER (
                   ORDER BY CASE settings.sort_by
                                WHEN 'importance' THEN w.importance
                                WHEN 'recency' THEN EXTRACT(epoch FROM w.happened_at)
                            END DESC,
                            w.score DESC, w.similarity DESC NULLS LAST, w.id
               ) AS place
        FROM weighted w
        WHERE w.is_candidate AND w.score >= settings.min_score
          AND (settings.min_similarity <= -1 OR query_vec IS NULL OR w.similarity >= settings.min_similarity)
    ), newer AS MATERIALIZED (
        SELECT n.id, n.place, n.score
        FROM (
            SELECT array_agg(o.id ORDER BY o.place) AS ids, array_agg(o.score ORDER BY o.place) AS scores
            FROM ordered o
            WHERE o.place <= 20
        ) o
        CROSS JOIN LATERAL _pgrecall.newer_statements(o.ids, o.scores, parsed.words) n
        WHERE settings.newer_first AND settings.sort_by = 'relevance'
    ), newest_first AS MATERIALIZED (
        SELECT o.id, COALESCE(n.score, o.score) AS score, COALESCE(n.score / o.score, 1) AS newer_factor, o.origin,
               row_number() OVER (ORDER BY COALESCE(n.place, o.place), n.place IS NULL, o.happened_at DESC, o.id DESC) AS place
        FROM ordered o
        LEFT JOIN newer n ON n.id = o.id
    ), trusted AS MATERIALIZED (
        SELECT t.id, t.place, t.score
        FROM (
            SELECT array_agg(n.id ORDER BY n.place) AS ids, array_agg(n.score ORDER BY n.place) AS scores
            FROM newest_first n
            WHERE settings.sort_by = 'relevance'
            HAVING min(n.origin) <= 'tool' AND max(n.origin) > 'tool'
        ) n
        CROSS JOIN LATERAL _pgrecall.trusted_statements(n.ids, n.scores, parsed.words, parsed.idfs) t
    ), trusted_first AS MATERIALIZED (
        SELECT n.id, COALESCE(t.score, n.score) AS score, n.newer_factor, COALESCE(t.score / n.score, 1) AS trust_factor,
               row_number() OVER (ORDER BY COALESCE(t.place, n.place), t.place IS NULL, n.place) AS place
        FROM newest_first n
        LEFT JOIN trusted t ON t.id = n.id
    ), chosen AS (
        SELECT c.id, c.place, c.mmr_penalty, c.duplicates
        FROM (
            SELECT array_agg(o.id ORDER BY o.place) AS ids, array_agg(o.score ORDER BY o.place) AS scores FROM trusted_first o
        ) o
        CROSS JOIN LATERAL _pgrecall.mmr(o.ids, o.scores, settings.k, settings) c
    ), judged AS (
        SELECT w.*, CASE WHEN settings.fusion = 'cc' THEN _pgrecall.confidence(
                   w.lexical_score - COALESCE(e.hollow, 0), firm,
                   (w.with_phrase - w.lexical_part * (1 - least(greatest(COALESCE(
                       (1 - COALESCE(e.hollow / NULLIF(w.lexical_score, 0), 0)) * COALESCE(v.shown, parsed.max_bm25 / firm), 0), 0), 1)))
                   / max_score - v.relevance,
                   query_vec IS NOT NULL, COALESCE(e.is_contradicted, false)
               ) END AS confidence
        FROM weighted w
        CROSS JOIN rivals v
        LEFT JOIN LATERAL (
            SELECT CASE WHEN hollow.words IS NOT NULL THEN _pgrecall.bm25_score(
                       m.search_vector, m.word_count, hollow.words, hollow.idfs, parsed.impacts
                   ) END AS hollow,
                   CASE WHEN versions IS NOT NULL OR request.stated IS NOT NULL
                       THEN _pgrecall.is_contradicted(m, request.stated, versions) END AS is_contradicted
            FROM pgrecall.memories m
            WHERE (hollow.words IS NOT NULL OR versions IS NOT NULL OR request.stated IS NOT NULL) AND m.id = w.id
        ) e ON true
        WHERE w.id IN (SELECT c.id FROM chosen c) OR w.id = ANY (extra_ids)
        OFFSET 0
    )
    SELECT w.id, c.place, COALESCE(o.score, w.score),
           w.lexical_rank, w.dense_rank, w.graph_rank::integer, NULLIF(w.lexical_score, 0), w.similarity, w.graph_score,
           w.lexical_part, w.dense_part, w.graph_part, w.session_part, w.with_phrase - w.with_session, w.relevance,
           w.recency, w.combined, w.importance_factor, w.decay_factor, w.entity_factor, w.speaker_factor, w.passage,
           w.is_candidate,
           c.mmr_penalty, c.duplicates, o.place::integer, x.lexical_weight, legs.dense_weight,
           CASE WHEN legs.graph_depth > 0 THEN settings.graph_weight ELSE 0 END, w.graph_share, w.graph_level,
           w.confidence, w.relevance - w.with_phrase, COALESCE(o.newer_factor, 1), w.sparse_part,
           x.sparse_weight, COALESCE(o.trust_factor, 1)
    FROM judged w
    CROSS JOIN score_norms x
    LEFT JOIN trusted_first o ON o.id = w.id
    LEFT JOIN chosen c ON c.id = w.id AND (settings.min_confidence = 0 OR COALESCE(w.confidence, 1) >= settings.min_confidence)
    WHERE c.id IS NOT NULL OR w.id = ANY (extra_ids)
    ORDER BY c.place, w.id;
END
$function$;
