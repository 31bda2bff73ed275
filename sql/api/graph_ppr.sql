-- graph_ppr: personalised PageRank from some memories over all mentions of a namespace, the best memories first.
--
-- Random walks from the seeds along the concepts that at least two memories mention. An edge weighs 1 where the memory is
-- about the concept and 0.4 where it mentions it, divided by the root of how many memories do. The score is how often the
-- walks come to a memory; those that begin there do not count. Memories that nobody may see, or that are forgotten, are left
-- out. recall() does not need it: its graph leg walks one capped hop, which finds more (docs/adr/0009).
--
-- It is in Python, with scipy: `pgrecall migrate --with-plpython`. Each session keeps the matrices of the graphs it has
-- used last, until the graph changes.
--
-- seeds      ids of memories; those that the graph does not have are passed over
-- k          how many memories, 1 to 1000
-- namespace  NULL: the setting pgrecall.namespace, then 'default'
-- weights    of the seeds, one each; NULL: all alike
-- concepts   ids of concepts to start from as well, such as those the question names; each weighs 1 / root of its memories
-- restart    how often a walk begins again, more than 0 and at most 1
--
-- Errors  0A000 not installed, or a Python module is missing;  22023 an argument out of range;  42704 no such namespace
CREATE OR REPLACE FUNCTION public.graph_ppr(
    seeds bigint[], k integer DEFAULT 50, namespace text DEFAULT NULL, weights double precision[] DEFAULT NULL,
    concepts bigint[] DEFAULT NULL, restart double precision DEFAULT 0.15
)
RETURNS TABLE (id bigint, score double precision)
-- Unsafe, as what it calls is where that is in Python.
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

COMMENT ON FUNCTION public.graph_ppr IS
    'Personalised PageRank from some memories over all mentions of a namespace; needs pgrecall migrate --with-plpython.';

ALTER FUNCTION public.graph_ppr OWNER TO pgrecall_gate;

REVOKE ALL ON FUNCTION public.graph_ppr FROM PUBLIC, pgrecall_reader, pgrecall_writer, pgrecall_embedder;
GRANT EXECUTE ON FUNCTION public.graph_ppr TO pgrecall_reader;
