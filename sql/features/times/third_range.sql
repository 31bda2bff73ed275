-- Returns the first, second or last third of a period: "early", "mid" or "late". NULL if it is shorter than a week.
--
-- In whole days, months or years: a month is divided at its 11th and 21st, a year in May and September, a quarter or season by
-- its months, a week after Tuesday and Friday, a decade at its fourth and eighth year.
--
-- place  1 to 3
CREATE OR REPLACE FUNCTION _pgrecall.third_range(place integer, period tstzrange, zone text)
RETURNS tstzrange
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE WHEN p.days >= 6 THEN _pgrecall.local_range(
        CASE WHEN place = 1 THEN p.begins ELSE p.begins + s.step * round(s.steps * (place - 1) / 3.0)::integer END,
        CASE WHEN place = 3 THEN p.ends ELSE p.begins + s.step * round(s.steps * place / 3.0)::integer END,
        zone
    ) END
    FROM (
        SELECT l.begins, l.ends, l.ends::date - l.begins::date AS days
        FROM (SELECT lower(period) AT TIME ZONE zone AS begins, upper(period) AT TIME ZONE zone AS ends) l
    ) p
    CROSS JOIN LATERAL (
        SELECT CASE WHEN p.days > 3000 THEN interval '1 year' WHEN p.days > 31 THEN interval '1 month' ELSE interval '1 day' END,
               CASE WHEN p.days > 3000 THEN p.days / 365 WHEN p.days > 31 THEN round(p.days / 30.5) WHEN p.days > 27 THEN 30 ELSE p.days END
    ) s (step, steps);
END;
