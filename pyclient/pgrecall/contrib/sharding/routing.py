"""The functions of the router: what a shard's catalog says, written as calls of that shard.

Each function is two. The outer one has the shard's signature: it finds the shard, tries again where a
namespace has just moved, and passes the shard's errors on as they are. The inner one, in pgrecall_router and
named `run_…`, is PL/Proxy's: it runs the shard's function there, with the settings of the router's session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .catalog import Signature, granted_signatures
from .routes import DECLARED, EVERYWHERE, NOT_ROUTED, Route

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

    from .routes import Kind

__all__ = ["Signature", "route_of", "routed_functions", "signatures"]

# By name and type: `id` is a memory's; that of anything else says whose it is (concept_id), or is declared.
_TELLING: tuple[tuple[Kind, str, str], ...] = (
    ("namespace", "namespace", "text"),
    ("memory", "id", "bigint"),
    ("memory", "memory_id", "bigint"),
    ("memories", "ids", "bigint[]"),
)
_ON_ALL = {"pgrecall.set_setting", "pgrecall_shard.recall_all"}  # of those in router.sql
# The numbers of a status that are no counts.
_HIGHEST = {"dimension", "generation", "other_generation"}

_PINNED = "SET search_path = pg_catalog, pg_temp"


def route_of(signature: Signature) -> Route | None:
    """Tell where a function runs: as declared, else by its namespace or its memories."""
    if signature.full_name in DECLARED:
        return DECLARED[signature.full_name]
    if signature.full_name in NOT_ROUTED:
        return None
    arguments = dict(zip(signature.names, signature.types, strict=True))
    for kind, argument, type_ in _TELLING:
        if arguments.get(argument) == type_ and (kind != "memories" or _is_gathered(signature)):
            return Route(kind, argument)
    return None


def _is_gathered(signature: Signature) -> bool:
    """Whether the answers of several shards make one: rows, counts, or none."""
    return signature.is_set or signature.result in {"void", "integer", "bigint"}


def signatures(shard: Connection[Any]) -> list[Signature]:
    """Read the signatures of the functions that are routed, with `pgvector.` for the schema of its types."""
    return [signature for signature in granted_signatures(shard) if route_of(signature) is not None]


def routed_functions(found: list[Signature]) -> Iterator[str]:
    """Yield the statements that make the functions of the router, and grant them to whom the shard's are.

    Args:
        found: What `signatures` returned.
    """
    # On a shard, they are the types of views.
    composites = {one.result.removeprefix("SETOF "): one for one in found if one.is_composite}
    for name, one in composites.items():
        pairs = zip(one.columns, one.column_types, strict=True)
        columns = ", ".join(f"{_quoted(column)} {type_}" for column, type_ in pairs)
        yield f"CREATE TYPE {name} AS ({columns})"
    for signature in found:
        route = route_of(signature)
        if route is None:
            continue
        yield _inner(signature, on_all=route.kind in {"union", "sum", "max", "each", "status"})
        if route.kind != "written":
            yield from _outer(signature, route)
            if signature.comment is not None:
                comment = signature.comment.replace("'", "''")
                yield f"COMMENT ON FUNCTION {signature.full_name} IS '{comment}'"
        outer = signature.full_name.replace("pgrecall_shard.", "public.")
        names = f"{outer}, pgrecall_router.run_{signature.name}"
        if route.kind != "written" and signature.has_twins:
            names += f", pgrecall_router.run_on_{signature.name}"
        yield f"REVOKE ALL ON FUNCTION {names} FROM PUBLIC"
        if signature.roles:
            yield f"GRANT EXECUTE ON FUNCTION {names} TO {', '.join(signature.roles)}"


def _inner(signature: Signature, *, on_all: bool) -> str:
    on_all = on_all or signature.full_name in _ON_ALL
    taken = ["given jsonb", *(f"a{place} {type_}" for place, type_ in enumerate(signature.types, 1))]
    if not on_all:
        taken.insert(0, "at_shard integer")
    first = len(taken) - len(signature.types) + 1
    # Without casts: the signature says their types, wherever the shard has pgvector.
    sent = ", ".join(f"${place}" for place in range(first, first + len(signature.types)))
    call = f"{signature.full_name}({sent})"
    # The settings come first: LIMIT's argument is known before any row of what it limits.
    source = f"(SELECT pgrecall_shard.use_settings(${first - 1}::jsonb) AS done) s CROSS JOIN LATERAL"
    limit = "OFFSET CASE WHEN s.done THEN 0 END"
    if signature.columns:
        result = signature.result
        query = f"SELECT {', '.join(f'r.{_quoted(name)}' for name in signature.columns)} FROM {source} "
        query += f"(SELECT * FROM {call} {limit}) r"
    else:
        is_void = signature.result == "void"
        result = "text" if is_void else signature.result.removeprefix("SETOF ")
        result = f"SETOF {result}" if on_all or signature.is_set else result
        value = f"{call}::text" if is_void else call
        query = f"SELECT r.value FROM {source} (SELECT {value} AS value {limit}) r"
    return (
        f"CREATE OR REPLACE FUNCTION pgrecall_router.run_{signature.name}({', '.join(taken)})\n"
        f"RETURNS {result}\nLANGUAGE plproxy AS $function$\n"
        f"    CLUSTER 'pgrecall';\n    RUN ON {'ALL' if on_all else 'at_shard'};\n    {query};\n$function$"
    )


def _outer(signature: Signature, route: Route) -> Iterator[str]:
    body = {
        "namespace": _by_namespace,
        "memory": _by_id,
        "memories": _by_ids,
        "question": _by_id,
        "found": _found,
        "any": _any,
    }.get(route.kind, _all)(signature, route)
    volatility = "STABLE" if signature.is_stable else "VOLATILE"
    rows = f" ROWS {signature.rows}" if signature.is_set else ""
    name, arguments = signature.full_name, signature.arguments
    if signature.has_twins:
        # An argument and a column of one name are possible in SQL alone: it passes the arguments on by place.
        name, arguments = f"pgrecall_router.run_on_{signature.name}", ", ".join(signature.types)
    yield (
        f"CREATE OR REPLACE FUNCTION {name}({arguments})\n"
        f"RETURNS {signature.result}\nLANGUAGE plpgsql {volatility}{rows}\n{_PINNED}\nAS $function$\n"
        "#variable_conflict use_column\n"
        "DECLARE\n    at_shard integer;\n    of_namespace text;\n    several text[];\n"
        f"    error_state text;\n    error_message text;\n    error_hint text;\n{body}$function$"
    )
    if signature.has_twins:
        yield (
            f"CREATE OR REPLACE FUNCTION {signature.full_name}({signature.arguments})\n"
            f"RETURNS {signature.result}\nLANGUAGE sql {volatility}{rows}\n{_PINNED}\n"
            f"AS $function$ SELECT * FROM {name}({', '.join(signature.values)}) $function$"
        )


def _run(signature: Signature, values: list[str]) -> str:
    return f"pgrecall_router.run_{signature.name}({', '.join(values)})"


def _returned(signature: Signature, values: list[str]) -> str:
    call = _run(signature, ["at_shard", "pgrecall_router.given()", *values])
    if signature.is_set:
        return f"RETURN QUERY SELECT * FROM {call};\nRETURN;"
    if signature.result == "void":
        return f"PERFORM {call};\nRETURN;"
    return f"RETURN {call};"


_CAUGHT = """EXCEPTION WHEN OTHERS THEN
    GET STACKED DIAGNOSTICS error_state = RETURNED_SQLSTATE, error_message = MESSAGE_TEXT,
        error_hint = PG_EXCEPTION_HINT;
"""
_REFUSED = "PERFORM pgrecall_router.refuse(at_shard, error_state, error_message, error_hint);\n"


def _routed(signature: Signature, shard: str, values: list[str]) -> str:
    """Write the part that finds the shard and calls it; a writer tries again after a move."""
    if signature.is_stable:
        return f"    at_shard := {shard};\n{_returned(signature, values)}\n{_CAUGHT}    {_REFUSED}END\n"
    return (
        f"FOR attempt IN 1..2 LOOP\n    at_shard := {shard};\n    BEGIN\n{_returned(signature, values)}\n"
        f"    {_CAUGHT}    -- The namespace may have moved meanwhile.\n"
        f"    IF attempt = 2 OR error_state <> '40001' THEN\n        {_REFUSED}    END IF;\n"
        "    END;\nEND LOOP;\nEND\n"
    )


def _by_namespace(signature: Signature, route: Route) -> str:
    place = _place(signature, route.argument)
    values = signature.values
    begin = "BEGIN\n"
    if signature.full_name in EVERYWHERE:
        source = "(SELECT n.shard FROM pgrecall_router.shards_from(0) n (shard))"
        begin += f"    IF {values[place]} IS NULL THEN\n{_gathered(signature, source, values)}\n    END IF;\n"
    shard = "pgrecall_router.shard_of(of_namespace)"
    if "namespaces" in signature.names:
        others = _place(signature, "namespaces")
        begin += f"    several := pgrecall_router.asked_namespaces({values[place]}, {values[others]});\n"
        begin += (
            f"    of_namespace := CASE WHEN several IS NULL THEN pgrecall.namespace_name({values[place]}) "
        )
        begin += f"ELSE {values[place]} END;\n"
        values[others] = "several"
        shard = f"CASE WHEN several IS NULL THEN {shard} ELSE pgrecall_router.shard_of_all(several) END"
    else:
        begin += f"    of_namespace := pgrecall.namespace_name({values[place]});\n"
    if signature.name == "create_namespace":
        begin = f"BEGIN\n    of_namespace := COALESCE({values[place]}, '');\n"
        begin += "    PERFORM pgrecall_router.keep_shards();\n"
    elif "create_namespace" in signature.names:
        begin += f"    IF {values[_place(signature, 'create_namespace')]} THEN\n"
        begin += "        PERFORM pgrecall_router.keep_shards();\n    END IF;\n"
    values[place] = values[place] if signature.name == "create_namespace" else "of_namespace"
    return begin + _routed(signature, shard, values)


def _by_id(signature: Signature, route: Route) -> str:
    id_ = signature.values[_place(signature, route.argument)]
    finder = "shard_of_memory" if route.kind == "memory" else "shard_of_range"
    return "BEGIN\n" + _routed(signature, f"pgrecall_router.{finder}({id_})", signature.values)


def _by_ids(signature: Signature, route: Route) -> str:
    """Give each shard its ids. The rows come in the order of the ids, if they have them."""
    place = _place(signature, route.argument)
    values = signature.values
    ids = values[place]
    source = (
        "(SELECT u.shard, array_agg(u.id ORDER BY u.place) AS ids FROM "
        "(SELECT pgrecall_router.shard_of_memory(i.id) AS shard, i.id, i.place "
        f"FROM unnest({ids}) WITH ORDINALITY i (id, place)) u GROUP BY u.shard)"
    )
    order = f" ORDER BY array_position({ids}, r.id)" if "id" in signature.columns else ""
    gathered = _gathered(signature, source, [*values[:place], "s.ids", *values[place + 1 :]], order)
    # Without ids it may be asked for something else of the namespace.
    other = "pgrecall.namespace_name("
    other += (values[_place(signature, "namespace")] if "namespace" in signature.names else "NULL") + ")"
    none = _returned(signature, values)
    return (
        f"BEGIN\n    IF COALESCE(cardinality({ids}), 0) = 0 THEN\n"
        f"    at_shard := pgrecall_router.shard_of({other});\n{none}\n    END IF;\n"
        f"{gathered}\n{_CAUGHT}    {_REFUSED}END\n"
    )


def _gathered(signature: Signature, source: str, values: list[str], order: str = "") -> str:
    """Return the answers of the shards that a source tells: rows, a sum, or nothing."""
    call = (
        f"{source} s CROSS JOIN LATERAL {_run(signature, ['s.shard', 'pgrecall_router.given()', *values])} r"
    )
    if signature.is_set:
        columns = ", ".join(f"r.{_quoted(column)}" for column in signature.columns) or "r.*"
        return f"RETURN QUERY SELECT {columns} FROM {call}{order};\nRETURN;"
    if signature.result == "void":
        return f"PERFORM r.value FROM {call} (value);\nRETURN;"
    return f"RETURN (SELECT sum(r.value) FROM {call} (value));"


def _any(signature: Signature, route: Route) -> str:
    start = "pgrecall_router.shard_of(pgrecall.namespace_name(NULL))"
    if route.argument is not None:
        value = signature.values[_place(signature, route.argument)]
        start = f"pgrecall_router.hashed_shard(COALESCE({value}, ''))"
    # Any of them can say it: the next one does for one that is down.
    return _first(signature, start, "pgrecall_router.is_unreachable(error_state, error_message)")


def _found(signature: Signature, route: Route) -> str:
    """Begin with the shard whose range the id is from, and go on where it is not known."""
    id_ = signature.values[_place(signature, route.argument)]
    return _first(signature, f"pgrecall_router.shard_of_range({id_})", "error_state = 'P0002'")


def _first(signature: Signature, start: str, goes_on: str) -> str:
    """Return the answer of the first shard whose error, if it raises one, is none to go on after."""
    return (
        f"BEGIN\nFOR at_shard IN SELECT pgrecall_router.shards_from({start}) LOOP\n    BEGIN\n"
        f"{_returned(signature, signature.values)}\n    {_CAUGHT}"
        f"    IF NOT COALESCE({goes_on}, false) THEN\n        {_REFUSED}"
        f"    END IF;\n    END;\nEND LOOP;\n{_REFUSED}END\n"
    )


def _all(signature: Signature, route: Route) -> str:
    call = _run(signature, ["pgrecall_router.given()", *signature.values])
    if route.kind == "union":
        answer = f"RETURN QUERY SELECT * FROM {call};"
    elif route.kind == "each":
        answer = f"PERFORM {call};"
    elif route.kind == "status":
        columns = zip(signature.columns, signature.column_types, strict=True)
        answer = f"RETURN QUERY SELECT {', '.join(_summed(*column) for column in columns)} FROM {call} r;"
    else:
        answer = f"RETURN (SELECT {route.kind}(r.value) FROM {call} r (value));"
    return f"BEGIN\n    {answer}\n{_CAUGHT}    {_REFUSED}END\n"


def _summed(column: str, type_: str) -> str:
    """Write one column of a status of all shards: counts are summed up, of the others the worst is taken."""
    value = f"r.{_quoted(column)}"
    if type_ == "boolean":
        return f"bool_and({value})"
    if column == "jobs":
        counts = (
            "SELECT j.key AS kind, i.key, CASE i.key WHEN 'seconds' THEN max(i.value::numeric) "
            f"ELSE sum(i.value::numeric) END AS value FROM unnest(array_agg({value})) u (counts), "
            "jsonb_each(u.counts) j, jsonb_each_text(j.value) i GROUP BY 1, 2"
        )
        kinds = f"SELECT c.kind, jsonb_object_agg(c.key, c.value) AS counts FROM ({counts}) c GROUP BY 1"
        return f"(SELECT COALESCE(jsonb_object_agg(k.kind, k.counts), '{{}}') FROM ({kinds}) k)"
    if type_ == "jsonb":
        counts = (
            f"SELECT j.key, sum(j.value::numeric) AS value FROM unnest(array_agg({value})) u (counts), "
            "jsonb_each_text(u.counts) j GROUP BY 1"
        )
        return f"(SELECT COALESCE(jsonb_object_agg(c.key, c.value), '{{}}') FROM ({counts}) c)"
    if type_ in {"integer", "bigint", "real", "double precision"} and column not in _HIGHEST:
        return f"sum({value})::{type_}"
    if type_ == "timestamp with time zone":
        return f"min({value})"
    return f"max({value})"


def _place(signature: Signature, name: str | None) -> int:
    return signature.names.index(name or "")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
