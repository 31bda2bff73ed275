"""Values for arguments, as expressions of SQL: hostile ones by their type, and such as a caller means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from fuzz.catalog import Argument, Catalog

INT2, INT4, INT8 = 2**15, 2**31, 2**63

TEXTS = (
    "''", "' '", "'plan'", "'own plan of the book'", "'a & | ! <-> :* ((('", "'%s %I %L %1$s %%'",
    "'''; DROP TABLE pgrecall.memories; --'", "'$$ $x$ E''\\'''", "'{a,b}[1:2]={'", "'[1,2,3]'", "'null'", "'NaN'", "'-1'", "'[\"x\"]'",
    "'(((((a+)+)+)+$[[.*?+|'", "U&'\\202Etxet\\202C \\200B\\FEFF'", "U&'\\FFFF\\FDD0'", "U&'\\+01F468\\200D\\+01F469'",
    "repeat(U&'\\0301', 500)", "E'\\x01\\x1f\\x7f'", "E'\\n\\t\\r'", "repeat('x', 100000)", "repeat('ab ', 30000)",
    "repeat('ä', 40000)", "repeat('(', 5000)", "repeat('\"', 3000)", "'../../etc/passwd'", "'last week'", "'in 99999999999 years'",
    "'between 31 February and yesterday'", "'every 0th of may'", "'2024-02-30'", "'infinity'", "'Europe/Nowhere'", "'UTC'", "'default'",
    "'error'", "'english'", "'simple'", "'klingon'", "'evil'", "'acme'", "'library'", "'nowhere'", "'pgrecall'",
    "'known-key'", "'shared session'", "'own-1'", "'book-1'", "'llm_base_url'", "'http://127.0.0.1:9/'", "'recall'", "'id'", "'10 OR 1=1'",
    "md5(random()::text)", "repeat('字', 2000)", "'0x7fffffff'", "'1e999'", "'text'", "'llm'", "'read'", "'write'", "'manual'",
)  # fmt: skip
JSONS = (
    "'{}'", "'[]'", "'null'", "'1'", "'\"x\"'", "'[[[[1]]]]'", "'{\"content\": \"own plan\"}'", "'[{\"content\": \"own plan\"}]'",
    "'[{\"content\": null}]'", "'[1, null, \"x\", {}]'", "'{\"a\": 1e400}'", "'{\"content\": {\"a\": [1]}, \"id\": \"x\"}'",
    "'{\"k\": 99999999999999999999}'", "'{\"k\": -1, \"leg_depth\": \"x\"}'", "'{\"fusion\": \"rrf\"}'", "'{\"importance\": \"NaN\"}'",
    "'{\"memory_id\": 1, \"ticket\": 1, \"mentions\": 5, \"times\": {}, \"facts\": \"x\"}'",
    "'[{\"memory_id\": 9223372036854775807, \"ticket\": 0, \"mentions\": [{}]}]'", "'{\"id\": 9223372036854775808}'",
    "'{\"content\": \"x\", \"external_id\": \"known-key\", \"namespace\": \"acme\"}'",
    "'{\"content\": \"x\", \"tags\": [[\"a\"], 1, null], \"metadata\": [], \"created_at\": \"infinity\"}'",
    "'{\"content\": \"x\", \"occurred_at\": \"294277-01-01\", \"position\": 1e30}'",
    "(repeat('[', 2000) || repeat(']', 2000))", "(repeat('{\"a\":', 5000) || '1' || repeat('}', 5000))",
    "(repeat('[', 100000) || repeat(']', 100000))", "('{\"' || repeat('k', 100000) || '\": 1}')",
    "('[' || repeat('{},', 20000) || '{}]')", "('{\"content\": \"' || repeat('long ', 50000) || '\"}')",
    "'{\"a\": \"\\u202e\", \"%s\": \"%I\"}'", "'{\"include_sensitive\": true, \"namespace\": \"acme\", \"ids\": [1,2,3]}'",
)  # fmt: skip
TIMES = (
    "'infinity'", "'-infinity'", "'4713-01-01 BC'", "'294276-12-31 23:59:59'", "'1970-01-01'", "now()", "'2024-02-29'", "'2025-01-01'",
    "'0001-01-01 BC'", "'9999-12-31'",
)  # fmt: skip
RANGES = (
    "'empty'", "'(,)'", "'[2020-01-01,2030-01-01)'", "'[infinity,infinity]'", "'[-infinity,infinity]'", "'(,2020-01-01)'",
    "'[294276-01-01,)'", "'[4713-01-01 BC,4713-01-02 BC]'", "'[2020-01-01,2020-01-01]'",
)  # fmt: skip
INTERVALS = (
    "'0'", "'1 day'", "'-1 day'", "'178000000 years'", "'-178000000 years'", "'1 microsecond'", "'1 month -30 days'", "'100 years'",
)  # fmt: skip
FLOATS = (
    "0",
    "1",
    "-1",
    "0.5",
    "1e-300",
    "1e300",
    "-1e300",
    "'NaN'",
    "'Infinity'",
    "'-Infinity'",
    "0.9999999",
)
VECTOR = "array_fill({}::real, ARRAY[{}])"
SIMPLE: dict[str, Sequence[str]] = {
    "boolean": ("true", "false"),
    "double precision": FLOATS,
    "real": (*FLOATS[:4], "'NaN'", "'Infinity'", "'-Infinity'", "3e38", "1e-38"),
    "numeric": (*FLOATS, "'1e10000'", "1e-1000"),
    "timestamp with time zone": TIMES,
    "timestamp without time zone": TIMES,
    "date": ("'infinity'", "'-infinity'", "'4713-01-01 BC'", "'5874897-12-31'", "'2024-02-29'", "'2025-01-01'"),
    "interval": INTERVALS,
    "tstzrange": RANGES,
    "jsonb": JSONS,
    "json": JSONS,
    "uuid": ("gen_random_uuid()", "'00000000-0000-0000-0000-000000000000'", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"),
    "bytea": ("''", "'\\x00'", "sha256('x')", "decode(repeat('ff', 100000), 'hex')", "sha256('own plan')"),
    "regconfig": ("'english'", "'simple'", "'german'", "'english'", "0::oid", "4294967295::oid"),
    "regrole": ("current_user", "'pgrecall_admin'", "'pgrecall_reader'", "0::oid", "4294967295::oid"),
    "regclass": ("'pgrecall.memories'", "'pg_catalog.pg_authid'", "0::oid", "4294967295::oid"),
    "regproc": ("'pgrecall.is_valid_setting'", "'pg_catalog.pg_read_file'", "0::oid"),
    "regprocedure": ("'pg_catalog.pg_sleep(double precision)'", "0::oid"),
    "regtype": ("'text'", "0::oid"),
    "oid": ("0", "1", "10", "4294967295", "1259"),
    "tsquery": (
        "''", "'plan'", "'!plan'", "'plan & !plan'", "'plan <-> book'", "'plan:*'", "'p:*ABCD'", "'!!!(a|!b)'", "'\"<16384> b\"'",
        "array_to_string(array_fill('a'::text, ARRAY[3000]), ' & ')",
    ),
    "tsvector": (
        "''", "'plan:1A book:2B'", "'a:16383'", "to_tsvector('simple', repeat('x ', 20000))", "array_to_tsvector(ARRAY['x'])",
    ),
}  # fmt: skip
# What a caller means, by type and then by name: enough to come as far as rows.
PLAIN: dict[str, Sequence[str]] = {
    "text": ("'own plan of the book'", "'plan'", "'Anna met Bert in May'"),
    "integer": ("5", "1", "10"),
    "bigint": ("5", "1"),
    "smallint": ("1",),
    "boolean": ("true", "false"),
    "double precision": ("0.5", "1", "0.1"),
    "real": ("0.5",),
    "numeric": ("0.5",),
    "jsonb": ("'{}'", '\'{"content": "own plan"}\''),
    "timestamp with time zone": ("now()", "'2025-01-01'"),
    "timestamp without time zone": ("'2025-01-01'",),
    "date": ("'2025-01-01'",),
    "interval": ("'1 day'",),
    "tstzrange": ("'[2020-01-01,2030-01-01)'",),
    "regconfig": ("'english'", "'simple'"),
    "regclass": ("'pgrecall.memories'",),
    "regrole": ("current_user",),
    "regproc": ("'pgrecall.is_valid_setting'",),
    "tsquery": ("'plan'",),
    "tsvector": ("'plan:1A book:2B'",),
    "oid": ("10",),
    "uuid": ("'00000000-0000-0000-0000-000000000001'",),
    "bytea": ("sha256('own plan')",),
}
NAMED: dict[str, Sequence[str]] = {
    "namespace": ("'evil'", "'library'"), "language": ("'english'", "'simple'"), "zone": ("'UTC'",),
    "on_conflict": ("'error'", "'ignore'", "'update'"), "stage": ("'fill'",), "generation": ("1",), "generation_id": ("1",),
    "external_id": ("'own-1'",), "access": ("'read'", "'write'"), "enricher": ("'text'",), "strategy": ("'fast'", "NULL"),
    "profile": ("NULL",), "lexical_mode": ("'bm25'", "'ts_rank'"),
}  # fmt: skip
NAMESPACE_IDS = {"namespace_id", "namespace_ids", "home"}


@dataclass(frozen=True, slots=True)
class Ids:
    """Numbers that mean something: the caller's own and others'."""

    own: tuple[int, ...]
    foreign: tuple[int, ...]
    own_namespace: int
    foreign_namespace: int


class Arguments:
    """Draws values; equal seeds draw equal ones."""

    def __init__(self, chance: random.Random, catalog: Catalog, ids: Ids) -> None:
        self.chance = chance
        self.catalog = catalog
        self.ids = ids

    def hostile(self, argument: Argument) -> str:
        """Return an expression for an argument: mostly hostile, sometimes sensible so that a body goes on."""
        drawn = self.chance.random()
        if drawn < 0.08:
            return f"NULL::{argument.kind}"
        if drawn < 0.45:
            return self.plain(argument)
        return self._hostile(argument.kind, argument.name, 0)

    def plain(self, argument: Argument) -> str:
        """Return an expression that a caller could mean."""
        name, kind = argument.name, argument.kind
        if kind.endswith("[]"):
            parts = [self._plain(kind[:-2], name) for _ in range(self.chance.randint(1, 3))]
            return f"ARRAY[{', '.join(parts)}]::{kind}"
        return self._plain(kind, name)

    def _plain(self, kind: str, name: str) -> str:
        base = kind.split("(", 1)[0]
        if name in NAMESPACE_IDS:
            return f"{self.ids.own_namespace}::{kind}"
        if base == "bigint" and self.chance.random() < 0.8:
            return f"{self.chance.choice(self.ids.own)}::bigint"
        if name in NAMED and base in ("text", "integer", "regconfig"):
            return f"({self.chance.choice(NAMED[name])})::{kind}"
        if base.endswith("halfvec") or (base.endswith("vector") and base != "tsvector"):
            return f"{VECTOR.format('0.5', 384)}::{kind}"
        if base in PLAIN:
            return f"({self.chance.choice(PLAIN[base])})::{kind}"
        if kind == "pgrecall.recall_request":
            return "(SELECT q FROM _pgrecall.resolve_granted('own plan', NULL, 'evil', '{}') q)"
        if kind in self.catalog.composites:
            parts = self.catalog.composites[kind]
            filled = [
                f"NULL::{part}" if self.chance.random() < 0.5 else self._plain_part(part) for part in parts
            ]
            return f"ROW({', '.join(filled)})::{kind}"
        if kind in self.catalog.enums:
            return f"'{self.chance.choice(self.catalog.enums[kind])}'::{kind}"
        return f"NULL::{kind}"

    def _plain_part(self, kind: str) -> str:
        return (
            f"ARRAY[{self._plain(kind[:-2], '')}]::{kind}" if kind.endswith("[]") else self._plain(kind, "")
        )

    def _hostile(self, kind: str, name: str, depth: int) -> str:
        if kind.endswith("[]"):
            return self._array(kind, name, depth)
        base = kind.split("(", 1)[0]
        if base in ("bigint", "integer", "smallint"):
            return f"({self._number(base, name)})::{kind}"
        if base == "text" or base.startswith("character") or base in ("name", '"char"'):
            return f"({self.chance.choice(TEXTS)})::{kind}"
        if base in SIMPLE:
            return f"({self.chance.choice(SIMPLE[base])})::{kind}"
        if base.endswith(("vector", "halfvec")):
            filling = self.chance.choice(("0", "0.5", "65504", "-65504", "1e-7"))
            return f"{VECTOR.format(filling, self.chance.choice((1, 3, 384, 384, 384, 385, 4000)))}::{kind}"
        if kind in self.catalog.enums:
            return f"'{self.chance.choice(self.catalog.enums[kind])}'::{kind}"
        if kind in self.catalog.composites and depth < 2:
            parts = self.catalog.composites[kind]
            filled = [
                self._hostile(part, "", depth + 1) if self.chance.random() < 0.5 else f"NULL::{part}"
                for part in parts
            ]
            return f"ROW({', '.join(filled)})::{kind}"
        return f"NULL::{kind}"

    def _number(self, base: str, name: str) -> int:
        extreme = {"bigint": INT8, "integer": INT4, "smallint": INT2}[base]
        if name in NAMESPACE_IDS:
            known = (
                self.ids.foreign_namespace,
                self.ids.foreign_namespace,
                self.ids.own_namespace,
                0,
                99999,
                -1,
            )
            return self.chance.choice(known)
        choices = [0, 1, -1, 2, 100, 32767, extreme - 1, -extreme, -extreme + 1, extreme // 2]
        if base == "bigint":
            choices += [*self.ids.foreign] * 3 + [*self.ids.own]
        return self.chance.choice(choices)

    def _array(self, kind: str, name: str, depth: int) -> str:
        element = kind[:-2]
        drawn = self.chance.random()
        if drawn < 0.1:
            return f"'{{}}'::{kind}"
        if drawn < 0.2:
            return f"ARRAY[NULL]::{kind}"
        if drawn < 0.3:
            one, other = self._hostile(element, name, depth + 1), self._hostile(element, name, depth + 1)
            return f"ARRAY[ARRAY[{one}], ARRAY[{other}]]::{kind}"
        if drawn < 0.4:
            many = self.chance.choice(
                (3, 20 if element in ("text", "jsonb", "bytea", "tsvector", "tsquery") else 5000)
            )
            return f"array_fill({self._hostile(element, name, depth + 1)}, ARRAY[{many}])::{kind}"
        if drawn < 0.5:
            return f"array_fill({self._hostile(element, name, depth + 1)}, ARRAY[2], ARRAY[-7])::{kind}"
        parts = [self._hostile(element, name, depth + 1) for _ in range(self.chance.randint(1, 4))]
        return f"ARRAY[{', '.join(parts)}]::{kind}"
