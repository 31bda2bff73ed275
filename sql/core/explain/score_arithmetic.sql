-- Writes out how the score of a ranked memory is computed: 'lexical 0.4 * 0.71 + dense 0.6 * 0.5 = 0.584'.
--
-- Terms of 0 and factors of 1 are omitted. A leg's term is weight / total weight * normalised score with fusion cc, and
-- weight / (rrf_k + rank) with rrf. The graph's term is share * (level - the sum of the legs' terms).
CREATE OR REPLACE FUNCTION _pgrecall.score_arithmetic(
    memory pgrecall.ranked, importance real, settings pgrecall.recall_settings, namespace_weight double precision DEFAULT 1
)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    total_weight double precision;
    fused double precision;
    terms text;
BEGIN
    SELECT sum(l.weight), sum(l.part) INTO total_weight, fused FROM _pgrecall.ranked_legs(memory) l;
    SELECT COALESCE(string_agg(
        t.name || ' ' || CASE
            WHEN t.name = 'graph' THEN format(
                '%s * (%s - %s)', _pgrecall.format_score(memory.graph_share), _pgrecall.format_score(memory.graph_level),
                _pgrecall.format_score(fused)
            )
            WHEN t.weight IS NULL THEN _pgrecall.format_score(t.part)
            WHEN settings.fusion = 'rrf' THEN format(
                '%s / (%s + %s)', _pgrecall.format_score(t.weight), _pgrecall.format_score(settings.rrf_k), t.rank
            )
            ELSE concat_ws(
                ' * ',
                CASE WHEN t.weight = total_weight THEN NULL
                     WHEN total_weight = 1 THEN _pgrecall.format_score(t.weight)
                     ELSE _pgrecall.format_score(t.weight) || ' / ' || _pgrecall.format_score(total_weight)
                END,
                _pgrecall.format_score(t.part * total_weight / t.weight)
            )
        END,
        ' + ' ORDER BY t.weight IS NULL, t.place
    ), '0')
    INTO terms
    FROM (
        SELECT l.place, l.name, l.part, l.weight, l.rank FROM _pgrecall.ranked_legs(memory) l
        UNION ALL
        VALUES
            (1, 'graph', memory.graph_part, NULL::double precision, NULL::integer),
            (2, 'neighbours', memory.session_part, NULL, NULL),
            (3, 'phrase', memory.phrase_part, NULL, NULL),
            (4, 'time', memory.time_part, NULL, NULL)
    ) t (place, name, part, weight, rank)
    WHERE round(t.part::numeric, 8) <> 0;

    IF settings.factor_importance > 0 OR settings.factor_recency > 0 THEN
        terms := format(
            '(%s * (%s) + %s * (%s * importance %s + %s * recency %s)) / %s',
            _pgrecall.format_score(settings.factor_relevance), terms,
            _pgrecall.format_score(_pgrecall.max_score(settings.fusion, total_weight, settings.rrf_k)),
            _pgrecall.format_score(settings.factor_importance), importance::text,
            _pgrecall.format_score(settings.factor_recency), _pgrecall.format_score(memory.recency),
            _pgrecall.format_score(settings.factor_relevance + settings.factor_importance + settings.factor_recency)
        );
    ELSIF memory.importance_factor <> 1 OR memory.decay_factor <> 1 OR memory.entity_factor <> 1
          OR memory.speaker_factor <> 1 OR memory.newer_factor <> 1 OR memory.trust_factor <> 1 OR namespace_weight <> 1 THEN
        terms := '(' || terms || ')';
    END IF;
    RETURN concat_ws(
        ' * ', terms,
        'importance ' || _pgrecall.format_score(NULLIF(memory.importance_factor, 1)),
        'age ' || _pgrecall.format_score(NULLIF(memory.decay_factor, 1)),
        'named concept ' || _pgrecall.format_score(NULLIF(memory.entity_factor, 1)),
        'other speaker ' || _pgrecall.format_score(NULLIF(memory.speaker_factor, 1)),
        'newer ' || _pgrecall.format_score(NULLIF(memory.newer_factor, 1)),
        'trusted ' || _pgrecall.format_score(NULLIF(memory.trust_factor, 1)),
        'namespace ' || _pgrecall.format_score(NULLIF(namespace_weight, 1))
    ) || ' = ' || _pgrecall.format_score(memory.score * namespace_weight);
END
$function$;
