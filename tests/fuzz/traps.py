"""Traps: operators and functions that match better than the built-in ones our code means, planted by a database owner.

Each is made where PostgreSQL's own needs a cast, or is polymorphic: with just the types of an operand it is the better match,
if the schema it stands in is looked at. A role that runs one says so by a warning, in a table and by a sequence, which a rollback
leaves as it is.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psycopg import sql

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

FOLDER = Path(__file__).resolve().parents[2]
WARNING = "trap fired: "
# By the grammar: IN, BETWEEN, LIKE, CASE x WHEN, NULLIF, DISTINCT.
GRAMMAR = {"=", "<>", "<", ">", "<=", ">=", "~~", "!~~", "~~*", "!~~*", "||"}

_SETTING = """
    CREATE SCHEMA trapped;
    CREATE SEQUENCE trapped.count;
    CREATE TABLE trapped.fired (trap text, by text, during text);
    CREATE FUNCTION trapped.fire(trap text) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog AS $$
    BEGIN
        RAISE WARNING 'trap fired: % as %', trap, current_user;
        PERFORM nextval('trapped.count');
        INSERT INTO trapped.fired VALUES (trap, current_user, current_setting('application_name'));
    EXCEPTION WHEN read_only_sql_transaction THEN NULL;
    END $$;
    GRANT USAGE ON SCHEMA trapped TO PUBLIC;
    GRANT USAGE ON SEQUENCE trapped.count TO PUBLIC;
    GRANT INSERT ON trapped.fired TO PUBLIC;
"""

# Types that an operand or argument of our code may have: those of columns, arguments, results and parts, and of the catalog.
_TYPES = """
    CREATE TEMP TABLE trap_types AS
    WITH used (type) AS (
        SELECT a.atttypid FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.relnamespace = to_regnamespace('pgrecall') AND a.attnum > 0 AND NOT a.attisdropped
        UNION SELECT unnest(p.proargtypes::oid[] || p.prorettype || COALESCE(p.proallargtypes, '{}')) FROM pg_proc p
        WHERE p.pronamespace IN (to_regnamespace('pgrecall'), to_regnamespace('_pgrecall'))
        UNION SELECT unnest('{bool,int2,int4,int8,float4,float8,numeric,text,varchar,name,"char",bytea,oid,regconfig,regclass,regrole,
            regproc,regprocedure,regtype,regnamespace,uuid,json,jsonb,timestamptz,timestamp,date,interval,tstzrange,tsvector,
            tsquery,xid,_text,_name,_int4,_int8,_float8,_oid,_regrole,_regconfig,_bool,_jsonb,_varchar,"_char"}'::regtype[])
        UNION SELECT unnest(ARRAY[to_regtype(v.schema || '.halfvec'), to_regtype(v.schema || '.vector')]::oid[])
        FROM (SELECT quote_ident(n.nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace
              WHERE e.extname = 'vector') v (schema)
    )
    SELECT DISTINCT t.oid AS type, t.typelem AS element, t.typcategory = 'A' AS is_array
    FROM used u JOIN pg_type t ON t.oid = u.type OR t.typelem = u.type AND t.typcategory = 'A'
    WHERE t.typtype <> 'p' AND t.oid <> 'int2vector'::regtype AND t.oid <> 'oidvector'::regtype;
    CREATE TEMP TABLE trap_sources AS
    -- What may stand where a type is wanted: itself, and what is cast to it without a word.
    SELECT t.type AS wanted, t.type AS given FROM trap_types t
    UNION SELECT c.casttarget, c.castsource FROM pg_cast c JOIN trap_types t ON t.type = c.castsource WHERE c.castcontext = 'i'
    UNION SELECT a.oid, b.oid FROM pg_cast c JOIN pg_type a ON a.typelem = c.casttarget AND a.typcategory = 'A'
    JOIN pg_type b ON b.typelem = c.castsource AND b.typcategory = 'A' JOIN trap_types t ON t.type = b.oid
    WHERE c.castcontext = 'i';
"""
_POLYMORPHIC = """
    CREATE FUNCTION pg_temp.fits(wanted oid, element oid) RETURNS oid LANGUAGE sql AS $$
        SELECT CASE
            WHEN wanted = ANY ('{anyelement,anycompatible,anynonarray,anycompatiblenonarray,2276}'::regtype[]) THEN element
            WHEN wanted = ANY ('{anyarray,anycompatiblearray}'::regtype[])
                THEN (SELECT NULLIF(t.typarray, 0) FROM pg_type t WHERE t.oid = element)
            WHEN wanted = ANY ('{anyrange,anycompatiblerange}'::regtype[])
                THEN (SELECT min(r.rngtypid) FROM pg_range r WHERE r.rngsubtype = element)
            ELSE wanted
        END
    $$;
    CREATE FUNCTION pg_temp.is_open(type oid) RETURNS boolean LANGUAGE sql AS $$
        SELECT type = ANY ('{anyelement,anycompatible,anynonarray,anycompatiblenonarray,2276,anyarray,anycompatiblearray,
                             anyrange,anycompatiblerange}'::regtype[])
    $$;
"""
_OPERATORS = """
    CREATE TEMP TABLE trap_operators AS
    WITH known AS (
        SELECT o.* FROM pg_operator o
        WHERE o.oprname = ANY (%(names)s) AND o.oprresult <> 0
          AND (o.oprnamespace = 'pg_catalog'::regnamespace
               OR EXISTS (SELECT FROM pg_depend d WHERE d.objid = o.oid AND d.deptype = 'e'))
    ), made AS (
        SELECT k.oprname, COALESCE(l.given, 0) AS l, r.given AS r, k.oprresult AS result
        FROM known k LEFT JOIN trap_sources l ON l.wanted = k.oprleft JOIN trap_sources r ON r.wanted = k.oprright
        WHERE NOT pg_temp.is_open(k.oprleft) AND NOT pg_temp.is_open(k.oprright) AND (k.oprleft = 0 OR l.given IS NOT NULL)
        UNION
        SELECT k.oprname, pg_temp.fits(k.oprleft, t.type), pg_temp.fits(k.oprright, t.type), pg_temp.fits(k.oprresult, t.type)
        FROM known k CROSS JOIN trap_types t WHERE pg_temp.is_open(k.oprleft) OR pg_temp.is_open(k.oprright)
        UNION
        -- A quoted constant is taken for what stands on the other side.
        SELECT m.oprname, m.given, m.given, m.oprresult FROM (
            SELECT k.oprname, s.given, k.oprresult FROM known k JOIN trap_sources s ON s.wanted IN (k.oprleft, k.oprright)) m
        WHERE NOT pg_temp.is_open(m.oprresult)
    )
    SELECT DISTINCT ON (m.oprname, m.l, m.r) m.oprname AS name, m.l, m.r, m.result
    FROM made m
    WHERE m.r IS NOT NULL AND m.l IS NOT NULL AND m.result IS NOT NULL
      AND (m.l = 0 OR EXISTS (SELECT FROM pg_type t WHERE t.oid = m.l)) AND NOT pg_temp.is_open(m.result)
      AND NOT pg_temp.is_open(m.l) AND NOT pg_temp.is_open(m.r)
      AND NOT EXISTS (SELECT FROM pg_operator o WHERE o.oprname = m.oprname AND o.oprleft = m.l AND o.oprright = m.r
                      AND o.oprnamespace = 'pg_catalog'::regnamespace)
    ORDER BY m.oprname, m.l, m.r, m.result
"""
_FUNCTIONS = """
    CREATE TEMP TABLE trap_functions AS
    WITH RECURSIVE known AS (
        SELECT p.oid, p.proname, p.proargtypes::oid[] AS wanted, p.prorettype, p.proretset, cardinality(p.proargtypes::oid[]) AS count,
               EXISTS (SELECT FROM unnest(p.proargtypes::oid[]) a WHERE pg_temp.is_open(a)) AS is_open
        FROM pg_proc p
        WHERE p.proname = ANY (%(names)s) AND p.prokind IN ('f', 'a', 'w') AND p.provariadic = 0 AND p.pronargs BETWEEN 1 AND 6
          AND p.prorettype <> 'internal'::regtype AND p.pronamespace = 'pg_catalog'::regnamespace
    ), walked AS (
        -- At most two arguments of another type: all of a call's are seldom that.
        SELECT k.oid, '{}'::oid[] AS given, 0 AS changed FROM known k WHERE NOT k.is_open
        UNION ALL
        SELECT w.oid, w.given || s.given, w.changed + (s.given <> s.wanted)::integer
        FROM walked w JOIN known k ON k.oid = w.oid AND cardinality(w.given) < k.count
        JOIN trap_sources s ON s.wanted = k.wanted[cardinality(w.given)]
        WHERE w.changed + (s.given <> s.wanted)::integer <= 2
    ), made AS (
        SELECT k.proname, w.given, k.prorettype AS result, k.proretset
        FROM walked w JOIN known k ON k.oid = w.oid AND k.count = cardinality(w.given) WHERE w.changed > 0
        UNION
        SELECT k.proname, ARRAY(SELECT pg_temp.fits(a.type, t.type) FROM unnest(k.wanted) WITH ORDINALITY a (type, place)
                                ORDER BY a.place), pg_temp.fits(k.prorettype, t.type), k.proretset
        FROM known k CROSS JOIN trap_types t WHERE k.is_open
        UNION
        -- What takes any number of arguments of any type.
        SELECT v.name, g.given, CASE v.name WHEN 'concat' THEN 'text' WHEN 'format' THEN 'text' WHEN 'concat_ws' THEN 'text'
                                            ELSE 'jsonb' END::regtype, false
        FROM unnest(ARRAY['concat', 'concat_ws', 'format', 'jsonb_build_object', 'jsonb_build_array']) v (name)
        CROSS JOIN LATERAL (
            SELECT ARRAY[a.type] FROM trap_types a
            UNION SELECT ARRAY['text'::regtype, a.type] FROM trap_types a
            UNION SELECT ARRAY['text'::regtype, a.type, b.type] FROM trap_types a, trap_types b
            WHERE b.type = ANY ('{text,int4,int8,float8,jsonb,timestamptz}'::regtype[])
              AND a.type = ANY ('{text,int4,int8,float8,jsonb,timestamptz,name,_text,bool}'::regtype[])
        ) g (given)
        WHERE v.name = ANY (%(names)s)
    )
    SELECT DISTINCT ON (m.proname, m.given) m.proname AS name, m.given, m.result, m.proretset AS many
    FROM made m
    WHERE m.result IS NOT NULL AND NOT pg_temp.is_open(m.result) AND array_position(m.given, NULL) IS NULL
      AND NOT EXISTS (SELECT FROM unnest(m.given) a WHERE pg_temp.is_open(a))
      AND (m.result IN ('record'::regtype, 'void'::regtype) OR EXISTS (SELECT FROM pg_type t WHERE t.oid = m.result AND t.typtype <> 'p'))
      AND NOT EXISTS (SELECT FROM pg_proc p WHERE p.proname = m.proname AND p.proargtypes::oid[] = m.given
                      AND p.pronamespace = 'pg_catalog'::regnamespace)
    ORDER BY m.proname, m.given, m.result
"""
# In each schema; what cannot be made there is counted by its SQLSTATE.
_PLANT = """
DO $do$
DECLARE
    found record;
    number integer := 0;
BEGIN
    FOR found IN SELECT s.schema, o.* FROM trap_operators o CROSS JOIN trap_schemas s LOOP
        number := number + 1;
        BEGIN
            EXECUTE format(
                'CREATE FUNCTION trapped.%%I(%%s%%s) RETURNS %%s LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog AS %%L',
                'o' || number || found.schema, CASE WHEN found.l = 0 THEN '' ELSE found.l::regtype || ', ' END, found.r::regtype,
                found.result::regtype,
                format('BEGIN PERFORM trapped.fire(%%L); RETURN NULL; END',
                       format('%%I.%%s (%%s, %%s)', found.schema, found.name,
                              CASE WHEN found.l = 0 THEN 'NONE' ELSE found.l::regtype::text END, found.r::regtype)));
            EXECUTE format('CREATE OPERATOR %%I.%%s (%%s RIGHTARG = %%s, FUNCTION = trapped.%%I)', found.schema, found.name,
                           CASE WHEN found.l = 0 THEN '' ELSE format('LEFTARG = %%s,', found.l::regtype) END, found.r::regtype,
                           'o' || number || found.schema);
            INSERT INTO trap_results VALUES ('operator', found.schema, NULL);
        EXCEPTION WHEN OTHERS THEN
            INSERT INTO trap_results VALUES ('operator', found.schema, SQLSTATE || ' ' || SQLERRM);
        END;
    END LOOP;
    FOR found IN SELECT s.schema, f.* FROM trap_functions f CROSS JOIN trap_schemas s LOOP
        BEGIN
            EXECUTE format(
                'CREATE FUNCTION %%I.%%I(%%s) RETURNS %%s %%s LANGUAGE plpgsql IMMUTABLE SET search_path = pg_catalog AS %%L',
                found.schema, found.name, array_to_string(found.given::regtype[], ', '), CASE WHEN found.many THEN 'SETOF' END,
                CASE WHEN found.result = 'record'::regtype THEN 'text' ELSE found.result::regtype::text END,
                format('BEGIN PERFORM trapped.fire(%%L); RETURN%%s; END',
                       format('%%I.%%I(%%s)', found.schema, found.name, array_to_string(found.given::regtype[], ', ')),
                       CASE WHEN found.many OR found.result = 'void'::regtype THEN '' ELSE ' NULL' END));
            INSERT INTO trap_results VALUES ('function', found.schema, NULL);
        EXCEPTION WHEN OTHERS THEN
            INSERT INTO trap_results VALUES ('function', found.schema, SQLSTATE || ' ' || SQLERRM);
        END;
    END LOOP;
END $do$
"""


@dataclass(frozen=True, slots=True)
class Planted:
    """What was planted: how many of each kind in a schema, and what was refused."""

    made: dict[tuple[str, str], int]
    refused: dict[str, int]


def code() -> str:
    """All SQL of ours, without comments: what is installed, and what revisions write."""
    files = [
        *sorted((FOLDER / "sql").rglob("*.sql")),
        *sorted((FOLDER / "migrations" / "versions").glob("*.py")),
    ]
    return "\n".join(re.sub(r"--[^\n]*", "", file.read_text(encoding="utf-8")) for file in files)


def operators_in_use(owner: Connection[Any]) -> list[str]:
    """Names of operators that occur in our SQL, and of those that its grammar means."""
    written = set(re.findall(r"[-+*/<>=~!@#%^&|`?]+", code())) | GRAMMAR
    return sorted(written & {name for (name,) in owner.execute("SELECT DISTINCT oprname FROM pg_operator")})


def functions_in_use(owner: Connection[Any]) -> list[str]:
    """Names of PostgreSQL's functions that are called in our SQL."""
    written = set(re.findall(r"\b([a-z_][a-z_0-9]*)\s*\(", code()))
    query = "SELECT DISTINCT proname FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace"
    return sorted(written & {name for (name,) in owner.execute(query)})


def plant(owner: Connection[Any], planter: str, schemas: list[str]) -> Planted:
    """Plant every trap in each of these schemas, as a role that is not a superuser but owns the database."""
    database = sql.Identifier(owner.info.dbname)
    owner.execute(sql.SQL("ALTER DATABASE {} OWNER TO {}").format(database, sql.Identifier(planter)))
    owner.execute("SET search_path = pg_catalog")
    owner.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(planter)))
    owner.execute("SET check_function_bodies = off")
    owner.execute(_SETTING.encode())
    owner.execute((_TYPES + _POLYMORPHIC).encode())
    owner.execute(_OPERATORS.encode(), {"names": operators_in_use(owner)})
    owner.execute(_FUNCTIONS.encode(), {"names": functions_in_use(owner)})
    owner.execute(
        "CREATE TEMP TABLE trap_schemas (schema text); CREATE TEMP TABLE trap_results (kind text, schema text, refused text)"
    )
    for schema in schemas:
        owner.execute(sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(sql.Identifier(schema)))
        owner.execute(sql.SQL("GRANT USAGE ON SCHEMA {} TO PUBLIC").format(sql.Identifier(schema)))
        owner.execute("INSERT INTO trap_schemas VALUES (%s)", (schema,))
    owner.execute(_PLANT.replace("%%", "%").encode())
    query = "SELECT kind, schema, count(*) FROM trap_results WHERE refused IS NULL GROUP BY 1, 2"
    made = {(kind, schema): int(count) for kind, schema, count in owner.execute(query)}
    query = "SELECT refused, count(*) FROM trap_results WHERE refused IS NOT NULL GROUP BY 1"
    refused = {why: int(count) for why, count in owner.execute(query)}
    owner.execute("RESET ALL")
    owner.execute("RESET ROLE")
    return Planted(made, refused)


def fired(owner: Connection[Any]) -> tuple[int, list[tuple[str, str, str]]]:
    """How often traps fired, in transactions that were taken back too; which, as whom, during what, if that is still known."""
    row = owner.execute("SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM trapped.count").fetchone()
    known = owner.execute("SELECT DISTINCT trap, by, during FROM trapped.fired ORDER BY 1, 2, 3").fetchall()
    return int(row[0]) if row else 0, known


@contextmanager
def listening(connection: Connection[Any], found: set[str], during: list[str]) -> Iterator[None]:
    """Collect the warnings of traps on a connection, with what was done at the time."""

    def note(diagnostic: Any) -> None:
        message = diagnostic.message_primary or ""
        if message.startswith(WARNING):
            found.add(f"{message.removeprefix(WARNING)} during {during[-1]}")

    connection.add_notice_handler(note)
    try:
        yield
    finally:
        connection.remove_notice_handler(note)


BOUND = """
    SELECT pg_describe_object(d.classid, d.objid, d.objsubid), pg_describe_object(d.refclassid, d.refobjid, d.refobjsubid)
    FROM pg_depend d
    CROSS JOIN LATERAL pg_identify_object(d.classid, d.objid, d.objsubid) o
    CROSS JOIN LATERAL pg_identify_object(d.refclassid, d.refobjid, 0) r
    WHERE d.refclassid IN ('pg_operator'::regclass, 'pg_proc'::regclass, 'pg_type'::regclass, 'pg_cast'::regclass,
                           'pg_opclass'::regclass, 'pg_class'::regclass, 'pg_collation'::regclass)
      AND (o.schema IN ('pgrecall', '_pgrecall') OR o.identity ~ ' on (table )?pgrecall[.]' OR EXISTS (
               SELECT FROM pgrecall.installation i, unnest(i.public_functions) f
               WHERE d.classid = 'pg_proc'::regclass AND o.schema = 'public' AND split_part(f, '(', 1) = o.name
                 AND (SELECT p.proowner FROM pg_proc p WHERE p.oid = d.objid) IN (
                     (SELECT c.relowner FROM pg_class c WHERE c.oid = 'pgrecall.installation'::regclass),
                     'pgrecall_gate'::regrole, 'pgrecall_engine'::regrole)))
      AND r.schema NOT IN ('pg_catalog', 'pgrecall', '_pgrecall', 'information_schema')
      AND NOT EXISTS (SELECT FROM pg_depend e WHERE e.classid = d.refclassid AND e.objid = d.refobjid AND e.deptype = 'e')
      AND NOT (d.refclassid = 'pg_type'::regclass AND EXISTS (
               SELECT FROM pg_type t JOIN pg_depend e ON e.classid = 'pg_type'::regclass AND e.objid = t.typelem AND e.deptype = 'e'
               WHERE t.oid = d.refobjid))
      AND NOT (d.refclassid = 'pg_proc'::regclass AND EXISTS (
               SELECT FROM pg_proc p, pgrecall.installation i CROSS JOIN unnest(i.public_functions) f
               WHERE p.oid = d.refobjid AND split_part(f, '(', 1) = p.proname
                 AND p.proowner IN (
                     (SELECT c.relowner FROM pg_class c WHERE c.oid = 'pgrecall.installation'::regclass),
                     'pgrecall_gate'::regrole, 'pgrecall_engine'::regrole)))
    ORDER BY 1, 2
"""
"""What of ours depends on something that is neither PostgreSQL's, nor ours, nor pgvector's."""
