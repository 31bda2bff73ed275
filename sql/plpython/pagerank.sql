-- Computes personalised PageRank from some memories over all mentions of a namespace with scipy, best memories first: power
-- iteration over the matrix of the namespace, which the session caches.
--
-- features/earlier_systems/graph_ppr.sql calls it as pgrecall_gate. A session caches at most four graphs, by role and namespace, about 60
-- bytes per mention. A cached graph serves only snapshots that see the same rows of pgrecall.graph_changes; while those
-- triggers are off nothing is cached. Row-level security filters the result in every call.
CREATE OR REPLACE FUNCTION _pgrecall.pagerank(
    seeds bigint[], k integer, namespace text, weights double precision[], concepts bigint[], restart double precision
)
RETURNS TABLE (id bigint, score double precision)
LANGUAGE plpython3u STABLE PARALLEL UNSAFE ROWS 50
SET search_path FROM CURRENT
AS $function$
import math
import sys

KEY = "pgrecall graphs"
MOST_GRAPHS = 4
MENTIONED = 0.4
TOLERANCE = 1e-9
MODULE = "scipy.sparse"
VERSION = """
SELECT n.id AS namespace_id, left(pgrecall.namespace_name($1), 200) AS name, pgrecall.session_role()::text AS role,
       count(c.id) AS changes,
       COALESCE(sum(hashint8extended(c.id, 0)::numeric), 0)::text AS fingerprint,
       (SELECT array_agg(t.oid::bigint ORDER BY t.oid) FROM pg_catalog.pg_trigger t
        WHERE t.tgrelid = 'pgrecall.mentions'::regclass AND t.tgname ^@ 'mentions_change_'
          AND t.tgenabled IN ('O', 'A')) AS triggers
FROM (SELECT pgrecall.namespace_id($1) AS id) n
LEFT JOIN pgrecall.graph_changes c ON c.namespace_id = n.id
GROUP BY n.id
"""
EDGES = """
SELECT string_agg(int8send(e.memory_id), '') AS memories, string_agg(int8send(e.concept_id), '') AS concepts,
       string_agg(int2send(e.is_about::integer::smallint), '') AS about
FROM (
    SELECT m.memory_id, m.concept_id, bool_or(m.is_about) AS is_about
    FROM pgrecall.concepts c
    JOIN pgrecall.mentions m ON m.concept_id = c.id
    WHERE c.namespace_id = $1
    GROUP BY m.concept_id, m.memory_id
) e
"""
VISIBLE = """
SELECT m.id FROM pgrecall.memories m WHERE m.id = ANY ($1) AND m.namespace_id = $2 AND m.deleted_at IS NULL
"""


class Graph:
    """Memories first, then concepts that two memories have; a walk leaves a node by the weights of its edges."""

    def __init__(self, memories, concepts, about):
        own, places = np.unique(concepts, return_inverse=True)
        counts = np.bincount(places)
        linking = counts[places] > 1
        self.memories, rows = np.unique(memories[linking], return_inverse=True)
        self.concepts, columns = np.unique(own[places[linking]], return_inverse=True)
        self.counts = np.bincount(columns)
        size = len(self.memories)
        strength = np.where(about[linking] > 0, 1.0, MENTIONED) / np.sqrt(self.counts[columns])
        incidence = sparse.coo_matrix((strength, (rows, columns)), shape=(size, len(self.concepts))).tocsr()
        leaving = [np.asarray(incidence.sum(axis=axis)).ravel() for axis in (1, 0)]
        self.to_memories = (incidence @ sparse.diags(1 / leaving[1])).tocsr()
        self.to_concepts = (incidence.T @ sparse.diags(1 / leaving[0])).tocsr()

    def arriving(self, seeds, weights, concepts, restart):
        """How often a walk comes to each memory; None where no seed is in the graph."""
        begin = [np.zeros(len(self.memories)), np.zeros(len(self.concepts))]
        places, there = found(self.memories, seeds)
        np.maximum.at(begin[0], places[there], weights[there])
        places, there = found(self.concepts, concepts)
        begin[1][places[there]] = self.counts[places[there]] ** -0.5
        total = begin[0].sum() + begin[1].sum()
        if total <= 0:
            return None
        begin = [one / total for one in begin]
        at, damping, change = begin, 1 - restart, 1.0
        while change > TOLERANCE:
            after = [
                damping * (self.to_memories @ at[1]) + restart * begin[0],
                damping * (self.to_concepts @ at[0]) + restart * begin[1],
            ]
            change = max(np.abs(one - other).max() for one, other in zip(after, at))
            at = after
        return at[0] - restart * begin[0]


def found(nodes, ids):
    places = np.searchsorted(nodes, ids).clip(0, len(nodes) - 1)
    return places, nodes[places] == ids


def prepared(text, *types):
    if text not in SD:
        SD[text] = plpy.prepare(text, types)
    return SD[text]


def check(is_good, message, hint):
    if not is_good:
        plpy.error(message, sqlstate="22023", hint=hint)


def graph_of(version):
    """The graph that this snapshot sees: kept, or made of all its mentions. None: no two memories share a concept."""
    kept = GD.setdefault(KEY, {})
    place = (version["role"], version["namespace_id"])
    state = (version["changes"], version["fingerprint"], tuple(version["triggers"] or ()))
    if place in kept and kept[place][0] == state:
        kept[place] = kept.pop(place)
        return kept[place][1]
    kept.pop(place, None)
    row = plpy.execute(prepared(EDGES, "integer"), [version["namespace_id"]])[0]
    graph = None
    if row["memories"]:
        graph = Graph(
            np.frombuffer(row["memories"], ">i8").astype("i8"),
            np.frombuffer(row["concepts"], ">i8").astype("i8"),
            np.frombuffer(row["about"], ">i2"),
        )
        if not len(graph.memories):
            graph = None
    if len(state[2]) == 4:
        kept[place] = (state, graph)
        while len(kept) > MOST_GRAPHS:
            del kept[next(iter(kept))]
    return graph


check(k is not None and 1 <= k <= 1000, "k must be between 1 and 1000", "Leave it out for 50.")
check(
    restart is not None and 0.01 <= restart <= 1, "restart must be between 0.01 and 1", "Leave it out for 0.15."
)
starts = {}
given = [1.0] * len(seeds or []) if weights is None else weights
check(len(given) == len(seeds or []), "seeds and weights are not as many", "Pass one weight for each seed, or none.")
for seed, weight in zip(seeds or [], given):
    is_good = weight is not None and 0 <= weight < math.inf
    check(is_good, "a weight is negative or not a finite number", "Pass scores of at least 0.")
    if seed is not None:
        starts[seed] = max(weight, starts.get(seed, 0.0))
named = sorted({one for one in concepts or [] if one is not None})

version = plpy.execute(prepared(VERSION, "text"), [namespace])[0]
if version["namespace_id"] is None:
    plpy.error('there is no namespace "%s"' % version["name"], sqlstate="42704", hint="pgrecall.list_namespaces() lists them.")
if not starts and not named:
    return []
if MODULE not in sys.modules or "numpy" not in sys.modules:
    loaded = plpy.execute(prepared("SELECT * FROM pgrecall.python_module($1)", "text"), [MODULE])[0]
    if loaded["problem"] is not None:
        plpy.error(loaded["problem"], sqlstate="0A000", hint=loaded["hint"])
np, sparse = sys.modules["numpy"], sys.modules[MODULE]

graph = graph_of(version)
scores = None
if graph is not None:
    seeds_given, their_weights = np.array(list(starts), dtype="i8"), np.array(list(starts.values()), dtype="f8")
    scores = graph.arriving(seeds_given, their_weights, np.array(named, dtype="i8"), restart)
if scores is None:
    return []
best = np.lexsort((graph.memories, -scores))
best = best[scores[best] > TOLERANCE]
ranked = []
for first in range(0, len(best), 2 * k):
    some = best[first:first + 2 * k]
    ids = [int(one) for one in graph.memories[some]]
    rows = plpy.execute(prepared(VISIBLE, "bigint[]", "integer"), [ids, version["namespace_id"]])
    visible = {row["id"] for row in rows}
    ranked += [(one, float(score)) for one, score in zip(ids, scores[some]) if one in visible]
    if len(ranked) >= k:
        break
return ranked[:k]
$function$;
