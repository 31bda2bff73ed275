-- Ranks memories by personalised PageRank from seed memories, over all mentions of a namespace; needs pgrecall migrate
-- --with-plpython.
--
-- Random walks start at the seeds and follow concepts that at least two memories mention. An edge weighs 1 if the
-- memory is about the concept and 0.4 if it mentions it, divided by the square root of the number of mentions. The
-- score is the visit frequency, without the start visits. Forgotten and invisible memories are left out. recall() does
-- not need this function: its capped graph leg finds more (docs/adr/0009).
--
-- It runs in Python with scipy: `pgrecall migrate --with-plpython`. Each session caches the matrices of recently used
-- graphs until the graph changes.
--
-- seeds      ids of memories; unknown ids are ignored
-- k          number of memories, 1 to 1000
-- namespace  NULL: the setting pgrecall.namespace, then 'default'
-- weights    one weight per seed; NULL: equal weights
-- concepts   ids of additional start concepts, such as those named in the question; each weighs 1 / root of its memories
-- restart    restart probability, greater than 0 and at most 1
--
-- Errors  0A000 not installed, or a Python module is missing;  22023 an argument out of range;  42704 no such namespace
CREATE OR REPLACE FUNCTION public.graph_ppr(
    seeds bigint[], k integer DEFAULT 50, namespace text DEFAULT NULL, weights double precision[] DEFAULT NULL,
    concepts bigint[] DEFAULT NULL, restart double precision DEFAULT 0.15
)
RETURNS TABLE (id bigint, score double precision)
-- Unsafe, because the Python version of pagerank is.
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SECURITY DEFINER ROWS 50
SET search_path FROM CURRENT
AS $function$
BEGIN
    RETURN QUERY
        SELECT r.id, r.score
        FROM _pgrecall.pagerank(
            graph_ppr.seeds, graph_ppr.k, graph_ppr.namespace, graph_ppr.weights, graph_ppr.concepts, graph_ppr.restart
        ) r;
END
$function$;

ALTER FUNCTION public.graph_ppr OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION public.graph_ppr FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.graph_ppr TO pgrecall_reader;
