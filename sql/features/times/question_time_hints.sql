-- Returns LIKE patterns as a cheap prefilter for question_period(): each query that may name a time matches one of them.
--
-- PostgreSQL builds the automaton of a regular expression again for every call: 45 microseconds for these, a tenth of that for
-- LIKE. The caller puts a space before the query, in lower case. The English ones are here; of the others those that these do not
-- cover. The planner computes it once a session.
CREATE OR REPLACE FUNCTION _pgrecall.question_time_hints()
RETURNS text[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT e.hints || ARRAY(
        SELECT h.hint FROM unnest(_pgrecall.translated_time_hints()) h (hint) WHERE NOT btrim(h.hint, '%') LIKE ANY (e.hints)
    )
    FROM (VALUES ('{
        %19__%, %20__%, %day%, "% ago%", %tonight%, %tomorrow%, %weekend%, %christmas%, %before last%, "% q_ %", "% q_", "% q_?%",
        "% last %", "% past %", "% next %", "% previous %", "% this week%", "% this month%", "% this year%", "% this quarter%",
        "% this s%", "% this autumn%", "% this fall%", "% this winter%", "% this night%", "% this morning%", "% this afternoon%",
        "% this evening%", "% this q%", "% jan%", "% feb%", "% mar%", "% apr%", "% may %", "% may", "% may?%", "% may,%", "% jun%",
        "% jul%", "% aug%", "% sep%", "% oct%", "% nov%", "% dec%", "% mid-%", "% early-%", "% late-%",
        "% _/%", "% __/%", "% on _.%", "% on __.%", "% since %", "% in % weeks%", "% in % months%"
    }'::text[])) e (hints);
END;
