-- Rebuilds the validity of a subject's relationships with one label from all statements, in any order of arrival.
--
-- A statement is one row of evidence. It begins at its valid_from, else at its stated end, else at the time it was
-- made. The statements are sorted by begin. Statements of the same object form one relationship, with two exceptions:
--   * A statement that begins after the latest stated end starts another relationship.
--   * An exclusive statement of another object ends the relationship (valid_to, superseded_by). This is known from the
--     time that both were recorded (superseded_at).
-- With equal begins, the memory recorded later comes later. Statements of one memory with the same begin do not
-- contradict each other.
--
-- A less trusted statement changes nothing that a more trusted one says. It ends no statement of another object that is more
-- trusted, and does not hold where that holds: an exclusive statement is overruled if another object's holds when it begins, and is
-- more trusted. It is then closed by that one at once, and closes nothing itself. Begin and end of a relationship are those of its most
-- trusted statements. Each memory says the whole fact, so a relationship has the origin of the most trusted memory that states it:
-- a web page that repeats what the user said takes nothing from it.
--
-- A relationship holds from the latest valid_from that no undated statement precedes, to the earliest valid_to. Its
-- weight is the noisy-or of its memories' confidences; recorded_at is the time the first of them was recorded. The
-- result does not depend on the order in which the memories were read.
--
-- Each merged alias of a concept keeps its own relationships, so that a merge can be undone.
--
-- target_ids  limits the rebuild to these objects, if none is exclusive; NULL: all
CREATE OR REPLACE FUNCTION _pgrecall.rebuild_validity(source_id bigint, label text, target_ids bigint[])
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path FROM CURRENT
AS $function$
DECLARE
    statements pgrecall.fact_statement[];
    this_statement pgrecall.fact_statement;
    tied record;
    run_row record;
    place integer;
    kept_id bigint;
    -- Per statement: the next exclusive one of another object, its run, its relationship.
    closers integer[];
    runs integer[];
    holders bigint[];
    -- How trusted each statement is, from 1; whether a more trusted one overrules it.
    trust integer[];
    most_trusted CONSTANT integer := cardinality(enum_range(NULL::pgrecall.memory_origin));
    is_overruled boolean[];
    -- Per level of trust, of the statements that are at least as trusted: the one that holds, with its stated end.
    held integer[] := array_fill(NULL::integer, ARRAY[most_trusted]);
    held_until timestamptz[] := array_fill(NULL::timestamptz, ARRAY[most_trusted]);
    -- Likewise, the nearest later exclusive statement, and the nearest with yet another object.
    near integer[] := array_fill(NULL::integer, ARRAY[most_trusted]);
    far integer[] := array_fill(NULL::integer, ARRAY[most_trusted]);
    -- Per run.
    run integer := 0;
    objects bigint[] := '{}'::bigint[];
    starts timestamptz[] := '{}'::timestamptz[];
    ends timestamptz[] := '{}'::timestamptz[];
    recorded timestamptz[] := '{}'::timestamptz[];
    run_closers integer[] := '{}'::integer[];
    run_trust integer[] := '{}'::integer[];
    has_undated boolean;
BEGIN
    SELECT array_agg(ROW (s.place, s.id, s.relationship_id, s.memory_id, s.target_id, s.source_alias_id, s.target_alias_id,
                          s.begins, s.valid_from, s.valid_to, s.recorded_at, s.is_exclusive, s.confidence, s.origin
                     )::pgrecall.fact_statement
                     ORDER BY s.place)
    INTO statements
    FROM (
        SELECT row_number() OVER (ORDER BY b.begins, m.created_at, m.id, e.id)::integer AS place,
               e.id, e.relationship_id, e.memory_id, r.target_id, r.source_alias_id, r.target_alias_id, b.begins,
               e.valid_from, e.valid_to, m.created_at AS recorded_at,
               -- A statement with only an end says nothing about earlier ones.
               e.is_exclusive AND (e.valid_from IS NOT NULL OR e.valid_to IS NULL) AS is_exclusive,
               e.confidence, m.origin
        FROM pgrecall.relationships r
        JOIN pgrecall.relationship_evidence e ON e.relationship_id = r.id
        JOIN pgrecall.memories m ON m.id = e.memory_id
        CROSS JOIN LATERAL (
            SELECT COALESCE(e.valid_from, least(e.valid_to, COALESCE(m.occurred_at, m.created_at))) AS begins
        ) b
        WHERE r.source_id = rebuild_validity.source_id AND r.label = rebuild_validity.label
          AND (rebuild_validity.target_ids IS NULL OR r.target_id = ANY (rebuild_validity.target_ids))
    ) s;
    IF statements IS NULL THEN
        RETURN;
    END IF;
    closers := array_fill(NULL::integer, ARRAY[cardinality(statements)]);
    runs := array_fill(NULL::integer, ARRAY[cardinality(statements)]);
    holders := array_fill(NULL::bigint, ARRAY[cardinality(statements)]);
    is_overruled := array_fill(false, ARRAY[cardinality(statements)]);
    trust := ARRAY(
        SELECT array_position(enum_range(NULL::pgrecall.memory_origin), s.origin) FROM unnest(statements) s ORDER BY s.place
    );

    FOR this_statement IN SELECT s.* FROM unnest(statements) s ORDER BY s.place LOOP
        FOR level IN trust[this_statement.place] + 1 .. most_trusted LOOP
            CONTINUE WHEN NOT this_statement.is_exclusive OR statements[held[level]].target_id = this_statement.target_id
                OR held[level] IS NULL OR this_statement.begins >= held_until[level];
            is_overruled[this_statement.place] := true;
            closers[this_statement.place] := held[level];
            EXIT;
        END LOOP;
        FOR level IN 1 .. trust[this_statement.place] LOOP
            IF statements[held[level]].target_id = this_statement.target_id AND trust[held[level]] <= trust[this_statement.place] THEN
                held_until[level] := least(held_until[level], this_statement.valid_to);
            END IF;
            IF this_statement.is_exclusive AND NOT is_overruled[this_statement.place] THEN
                held_until[level] := CASE
                    WHEN statements[held[level]].target_id = this_statement.target_id AND this_statement.begins < held_until[level]
                    THEN held_until[level] ELSE this_statement.valid_to END;
                held[level] := this_statement.place;
            END IF;
        END LOOP;
    END LOOP;

    -- Backwards; all statements of one memory and begin are compared before any of them is recorded.
    FOR tied IN
        SELECT array_agg(s.place ORDER BY s.place DESC) AS places
        FROM unnest(statements) s
        GROUP BY s.begins, s.recorded_at, s.memory_id
        ORDER BY max(s.place) DESC
    LOOP
        FOREACH place IN ARRAY tied.places LOOP
            CONTINUE WHEN is_overruled[place];
            closers[place] := CASE WHEN statements[place].target_id = statements[near[trust[place]]].target_id
                                   THEN far[trust[place]] ELSE near[trust[place]] END;
        END LOOP;
        FOREACH place IN ARRAY tied.places LOOP
            CONTINUE WHEN NOT statements[place].is_exclusive OR is_overruled[place];
            FOR level IN 1 .. trust[place] LOOP
                IF statements[place].target_id IS DISTINCT FROM statements[near[level]].target_id THEN
                    far[level] := near[level];
                END IF;
                near[level] := place;
            END LOOP;
        END LOOP;
    END LOOP;

    FOR this_statement IN SELECT s.* FROM unnest(statements) s ORDER BY s.target_id, s.place LOOP
        IF run = 0 OR objects[run] <> this_statement.target_id OR this_statement.begins >= ends[run] OR (
            run_closers[run] < this_statement.place AND run_closers[run] IS DISTINCT FROM closers[this_statement.place]
            AND (statements[run_closers[run]].begins, statements[run_closers[run]].memory_id)
                <> (this_statement.begins, this_statement.memory_id)
        ) THEN
            run := run + 1;
            objects[run] := this_statement.target_id;
            has_undated := false;
            run_trust[run] := trust[this_statement.place];
        ELSIF trust[this_statement.place] > run_trust[run] THEN
            -- Nothing of what less trusted statements said about its time remains.
            has_undated := false;
            starts[run] := NULL;
            ends[run] := NULL;
            run_trust[run] := trust[this_statement.place];
        END IF;
        IF trust[this_statement.place] = run_trust[run] THEN
            has_undated := has_undated OR this_statement.valid_from IS NULL;
            starts[run] := CASE WHEN has_undated THEN starts[run] ELSE this_statement.valid_from END;
            ends[run] := least(ends[run], this_statement.valid_to);
            run_closers[run] := closers[this_statement.place];
        END IF;
        recorded[run] := least(recorded[run], this_statement.recorded_at);
        runs[this_statement.place] := run;
    END LOOP;

    -- A relationship stays with the first run that has some of its evidence.
    FOR run_row IN
        SELECT k.*, row_number() OVER (PARTITION BY k.oldest ORDER BY k.run) = 1 AS remains
        FROM (
            SELECT runs[s.place] AS run, min(s.relationship_id) AS oldest, max(s.relationship_id) AS newest,
                   array_agg(s.place) AS places, array_agg(s.id) AS ids
            FROM unnest(statements) s
            GROUP BY runs[s.place], s.source_alias_id, s.target_alias_id
        ) k
    LOOP
        kept_id := run_row.oldest;
        IF NOT run_row.remains THEN
            -- At most one may be open-ended, so this one gets a provisional end until all are known.
            INSERT INTO pgrecall.relationships AS r (namespace_id, source_id, source_alias_id, target_id, target_alias_id, label, valid_to)
            SELECT o.namespace_id, o.source_id, o.source_alias_id, o.target_id, o.target_alias_id, o.label, 'infinity'
            FROM pgrecall.relationships o
            WHERE o.id = run_row.oldest
            RETURNING r.id INTO kept_id;
        END IF;
        IF kept_id <> run_row.oldest OR run_row.oldest <> run_row.newest THEN
            UPDATE pgrecall.relationship_evidence e SET relationship_id = kept_id
            WHERE e.id = ANY (run_row.ids) AND e.relationship_id <> kept_id;
        END IF;
        FOREACH place IN ARRAY run_row.places LOOP
            holders[place] := kept_id;
        END LOOP;
    END LOOP;
    DELETE FROM pgrecall.relationships r
    WHERE r.id IN (SELECT s.relationship_id FROM unnest(statements) s) AND NOT r.id = ANY (holders);

    -- Open-ended ones last, again because at most one may be open-ended.
    FOR run_row IN
        SELECT n.*
        FROM (
            SELECT h.id, h.weight::real AS weight, h.is_exclusive, starts[h.run] AS valid_from, recorded[h.run] AS recorded_at,
                   CASE WHEN c.is_closed THEN greatest(x.begins, starts[h.run]) ELSE ends[h.run] END AS valid_to,
                   CASE WHEN c.is_closed THEN greatest(recorded[h.run], x.recorded_at) END AS superseded_at,
                   CASE WHEN c.is_closed THEN holders[x.place] END AS superseded_by,
                   (enum_range(NULL::pgrecall.memory_origin))[run_trust[h.run]] AS origin
            FROM (
                SELECT m.run, m.id, bool_or(m.is_exclusive) AS is_exclusive,
                       1 - exp(sum(ln(greatest(1 - m.confidence::double precision, 1e-9)) ORDER BY m.confidence)) AS weight
                FROM (
                    SELECT runs[s.place] AS run, holders[s.place] AS id, bool_or(s.is_exclusive) AS is_exclusive,
                           max(s.confidence) AS confidence
                    FROM unnest(statements) s
                    GROUP BY runs[s.place], holders[s.place], s.memory_id
                ) m
                GROUP BY m.run, m.id
            ) h
            LEFT JOIN unnest(statements) x ON x.place = run_closers[h.run]
            CROSS JOIN LATERAL (
                SELECT x.place IS NOT NULL AND (ends[h.run] IS NULL OR x.begins < ends[h.run]) AS is_closed
            ) c
        ) n
        CROSS JOIN LATERAL (SELECT o.* FROM pgrecall.relationships o WHERE o.id = n.id LIMIT 1) o
        WHERE (o.weight, o.is_exclusive, o.valid_from, o.valid_to, o.recorded_at, o.superseded_at, o.superseded_by, o.origin)
              IS DISTINCT FROM
              (n.weight, n.is_exclusive, n.valid_from, n.valid_to, n.recorded_at, n.superseded_at, n.superseded_by, n.origin)
        ORDER BY n.valid_to NULLS LAST, n.id
    LOOP
        UPDATE pgrecall.relationships r
        SET weight = run_row.weight, is_exclusive = run_row.is_exclusive, valid_from = run_row.valid_from, valid_to = run_row.valid_to,
            recorded_at = run_row.recorded_at, superseded_at = run_row.superseded_at, superseded_by = run_row.superseded_by,
            origin = run_row.origin
        WHERE r.id = run_row.id;
    END LOOP;
END
$function$;
