"""What pgrecall installed: its schemas, its functions for clients, and the roles that own functions."""

from __future__ import annotations

import re

from .bundle import installed_files, sql_files

__all__ = ["OURS_IN_PUBLIC", "OWNERS", "OWN_SCHEMAS", "SCHEMAS", "SIGNATURE", "function_names"]

# The first has the tables and the functions for clients, the second the internal functions.
SCHEMAS = ("pgrecall", "_pgrecall")
OWN_SCHEMAS = ", ".join(f"'{schema}'::regnamespace" for schema in SCHEMAS)

# The roles that own the SECURITY DEFINER functions.
OWNERS = ("pgrecall_gate", "pgrecall_engine")

# Unlike regprocedure, this text does not depend on search_path and the schema of pgvector.
SIGNATURE = """(p.proname || '(' || array_to_string(ARRAY(
    SELECT t.typname FROM unnest(p.proargtypes) WITH ORDINALITY a (type, place)
    JOIN pg_catalog.pg_type t ON t.oid = a.type ORDER BY a.place), ',') || ')')"""


def function_names(schema: str, *, plpython: bool | None = None) -> list[str]:
    """Return the names of the functions in the files of one installation, or in all files."""
    files = sql_files() if plpython is None else installed_files(plpython=plpython)
    pattern = re.compile(rf"CREATE OR REPLACE (?:FUNCTION|PROCEDURE) {re.escape(schema)}\.(\w+)\s*\(")
    return sorted({name for file in files for name in pattern.findall(file.text)})


# A condition on pg_proc p, for `schemas.qualify`: the functions may be in another schema than public. The
# stored list alone proves nothing: what we made belongs to a role of ours, in which nobody logs in, or to the
# owner of the schema.
OURS_IN_PUBLIC = f"""(p.pronamespace = to_regnamespace('public')
    AND {SIGNATURE} IN (SELECT unnest(i.public_functions) FROM pgrecall.installation i)
    AND (p.proowner IN (SELECT r.oid FROM pg_catalog.pg_roles r
                         WHERE r.rolname ^@ 'pgrecall_' AND NOT r.rolcanlogin)
         OR p.proowner = (SELECT n.nspowner FROM pg_catalog.pg_namespace n WHERE n.nspname = 'pgrecall')))"""
