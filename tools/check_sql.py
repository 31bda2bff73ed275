"""Check every file of sql/ against sql/STANDARDS.md, and released revisions against migrations/frozen.json.

python tools/check_sql.py            exit 1 with file:line of every violation
python tools/check_sql.py --freeze   record the revisions as released; from then on they must not change
"""

from __future__ import annotations

import argparse
import ast
import functools
import hashlib
import json
import re
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pglast import parse_plpgsql, parse_sql
from pglast.enums import ObjectType
from pglast.parser import ParseError
from pglast.visitors import Visitor

from pgrecall.admin.bundle import header, made_object, with_comment
from pgrecall.query.legs import LEGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS = {"_pgrecall", "pgrecall", "public"}
# Several objects a file: what they say only makes sense side by side.
MANY_OBJECTS = {"revoke.sql", "grants.sql", "core/tenancy/policies.sql"}
# Nobody runs it: the revisions make what it shows.
GENERATED = "schema.sql"
# Functions that only read, with all that they call. They must not change the session either: they run on a
# standby, and the caller's settings count.
READERS = (
    *("recall", "recall_explain", "recall_plan", "recall_briefing", "recall_facts", "recall_status"),
    *("recall_eval", "memory_validity", "is_shown", "graph_ppr"),
)
# EXPLAIN is not allowed in a function that is STABLE.
MAY_BE_VOLATILE = {
    *("core/explain/recall_plan.sql", "core/explain/explain_search.sql"),
    *(f"core/legs/{leg}/{leg}_plan.sql" for leg in LEGS),
    # It asks for the time of day, which passes within a statement.
    "core/jobs/is_ahead.sql",
}
# It explains under the settings of the function that searches.
MAY_SET = {"core/explain/explain_search.sql"}
# The two entries to the ranking, under which every statement keeps one generic plan.
PINNED = {"core/api/recall.sql", "core/ranking/rank_granted.sql"}

# Installed only with plpython3u, each instead of the file of the same name elsewhere.
PLPYTHON = "plpython/"

MOST_CHARACTERS = 140
"""The longest line of a file that people write."""

# What is pgvector's and named without its schema, which is on no search_path.
_BARE_PGVECTOR = re.compile(
    r"(?<![\w.'])(?:halfvec|vector_dims|l2_norm|halfvec_cosine_ops)\b(?! \()|(?<!pgvector\.)<[=#+-]>"
)

_NAMED = re.compile(r"\b(?:_?pgrecall|public)\.\w+")
# Literals and comments, whichever begins first: each may hold what begins the other.
_NO_CODE = re.compile(r"'(?:[^']|'')*'|--[^\n]*")
# Literals in which a backslash means itself under the standard's rule alone; E'' means the same under both.
_PLAIN_LITERAL = re.compile(r"--[^\n]*|E'(?:[^'\\]|\\.|'')*'|('(?:[^']|'')*')", re.IGNORECASE | re.DOTALL)
_STATEMENT = re.compile(
    r"'.*\b(?:SELECT|CALL|INSERT|UPDATE|DELETE|MERGE|PERFORM)\b", re.IGNORECASE | re.DOTALL
)
_COMMENTED = {ObjectType.OBJECT_FUNCTION, ObjectType.OBJECT_PROCEDURE, ObjectType.OBJECT_VIEW}

Found = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Violation:
    """One line of one file that is not as it must be."""

    file: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.message}"


@dataclass(frozen=True, slots=True)
class Statement:
    """A parsed statement, its text, and the line it starts on."""

    node: Any
    text: str
    line: int

    @property
    def kind(self) -> str:
        """The class of the parse tree's root, such as CreateFunctionStmt."""
        return type(self.node).__name__


@dataclass(frozen=True, slots=True)
class Function:
    """What CREATE FUNCTION says beside the arguments."""

    schema: str | None
    name: str
    language: str
    volatility: str | None
    parallel: str | None
    pins_search_path: bool
    pins_strings: bool
    prints_no_plan: bool
    has_set: bool
    security_definer: bool
    is_trigger: bool
    is_procedure: bool
    body: str | None
    last_option: str

    @classmethod
    def of(cls, node: Any) -> Function:
        """Read the options of a CreateFunctionStmt."""
        options = {option.defname: option.arg for option in node.options or ()}
        names = [part.sval for part in node.funcname]
        settled = [option.arg for option in node.options or () if option.defname == "set"]
        body = options.get("as")
        returned = [part.sval for part in node.returnType.names] if node.returnType is not None else []
        return cls(
            schema=names[0] if len(names) > 1 else None,
            name=names[-1],
            language=options["language"].sval if "language" in options else "sql",
            volatility=options["volatility"].sval if "volatility" in options else None,
            parallel=options["parallel"].sval if "parallel" in options else None,
            pins_search_path=any(setting.name == "search_path" for setting in settled),
            pins_strings=any(setting.name == "standard_conforming_strings" for setting in settled),
            prints_no_plan=any(setting.name == "debug_print_plan" for setting in settled),
            has_set=bool(settled),
            security_definer=bool(options["security"].boolval) if "security" in options else False,
            is_trigger=returned[-1:] == ["trigger"],
            is_procedure=bool(node.is_procedure),
            body=body[0].sval if body is not None else None,
            last_option=node.options[-1].defname if node.options else "",
        )


def statements(text: str) -> list[Statement]:
    """Parse a file.

    Raises:
        ParseError: It is not SQL.
    """
    found = []
    for parsed in parse_sql(text):
        start = parsed.stmt_location or 0
        end = start + parsed.stmt_len if parsed.stmt_len else len(text)
        # A statement's place includes the comments before it.
        code = re.sub(r"\A(\s+|--[^\n]*\n)*", "", text[start:end])
        found.append(Statement(parsed.stmt, code, text[: end - len(code)].count("\n") + 1))
    return found


@functools.cache
def check_file(name: str, text: str, *, only_reads: bool = False) -> tuple[Violation, ...]:
    """Return what is wrong with one file of sql/.

    The same text is parsed once: tests check the whole folder again and again.

    Args:
        name: Its path inside the folder.
        text: Its SQL.
        only_reads: Whether what it makes must only read (`reading`).
    """
    try:
        parsed = statements(text)
    except ParseError as error:
        offset = error.args[1] if len(error.args) > 1 and isinstance(error.args[1], int) else 0
        return (Violation(name, text[:offset].count("\n") + 1, f"not SQL: {error.args[0]}"),)
    found = [*_header(text), *_lines(text), *_schemas(parsed)]
    if name not in MANY_OBJECTS:
        found += [*_one_object(name, parsed), *_owner(parsed), *_comments(text, parsed)]
    for statement in parsed:
        if statement.kind == "CreateFunctionStmt":
            found += [
                (statement.line, problem) for problem in _function(name, statement, only_reads=only_reads)
            ]
        elif statement.kind in {
            "CreateTableAsStmt",
            "CreateStmt",
            "IndexStmt",
            "CreateEnumStmt",
            "CompositeTypeStmt",
        }:
            found.append((statement.line, "state belongs into a revision of migrations/"))
    return tuple(Violation(name, line, message) for line, message in sorted(found))


def _header(text: str) -> Iterator[Found]:
    first, _ = header(text)
    if not re.match(r"-- \S", text):
        yield 1, "a file starts with a comment that says what the object is for"
    elif first[-1] not in ".?" or "  " in first:
        yield 1, "the first paragraph of the header is whole sentences: it is the object's comment"


def _lines(text: str) -> Iterator[Found]:
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > MOST_CHARACTERS:
            yield number, f"a line has at most {MOST_CHARACTERS} characters, not {len(line)}"


def _one_object(name: str, parsed: list[Statement]) -> Iterator[Found]:
    functions = [s for s in parsed if s.kind == "CreateFunctionStmt"]
    views = [s for s in parsed if s.kind == "ViewStmt"]
    objects = sorted(functions + views, key=lambda s: s.line)
    for statement in objects[1:]:
        yield statement.line, "one object a file"
    if not objects:
        yield 1, "there is no function and no view in this file"
    for statement in parsed:
        allowed = {"CreateFunctionStmt", "ViewStmt", "CreateTrigStmt", "CommentStmt", "AlterOwnerStmt"}
        # The file of a public function says who may call it.
        if _object_name(objects[0])[0] != "_pgrecall":
            allowed.add("GrantStmt")
        # There is no CREATE OR REPLACE CONSTRAINT TRIGGER.
        if any(s.kind == "CreateTrigStmt" and s.node.isconstraint for s in parsed):
            allowed.add("DropStmt")
        # A loop makes its triggers on tables that declare them.
        if any(s.kind == "CreateFunctionStmt" and Function.of(s.node).is_trigger for s in parsed):
            allowed.add("DoStmt")
        # Nor one that says when it fires: ALTER TABLE … ENABLE ALWAYS TRIGGER.
        if statement.kind not in allowed and not re.search(
            r"ENABLE ALWAYS TRIGGER \w+$", statement.text.rstrip("; \n")
        ):
            yield statement.line, f"{statement.kind} does not belong in a file with a function or a view"
        if statement.kind == "CreateTrigStmt":
            owner = Function.of(functions[0].node).name if functions else None
            if statement.node.funcname[-1].sval != owner:
                yield statement.line, "a trigger belongs in the file of its function"
    for statement in objects[:1]:
        own = _object_name(statement)[1]
        if Path(name).stem != own:
            yield statement.line, f"{own} belongs into a file {own}.sql"
        if not getattr(statement.node, "replace", False):
            yield statement.line, "CREATE OR REPLACE, since a bundle is installed over another"


@functools.cache
def engine_functions() -> set[str]:
    """Return the functions that see every row, as docs/tenants.md lists them; others run as pgrecall_gate."""
    page = (ROOT / "docs" / "tenants.md").read_text(encoding="utf-8")
    [table] = re.findall(
        r"^\| runs as `pgrecall_engine` \|.*\n\|---\|---\|\n((?:\|.*\n)+)", page, re.MULTILINE
    )
    return set(re.findall(r"`(_?pgrecall\.\w+)`", table))


def _owner(parsed: list[Statement]) -> Iterator[Found]:
    """Compare who owns a function with whether it runs with its owner's rights."""
    owners = [s for s in parsed if s.kind == "AlterOwnerStmt"]
    for statement in parsed:
        if statement.kind != "CreateFunctionStmt":
            continue
        function = Function.of(statement.node)
        wanted = None
        if function.security_definer:
            is_engine = f"{function.schema}.{function.name}" in engine_functions()
            wanted = "pgrecall_engine" if is_engine else "pgrecall_gate"
            # A plan holds the values of variables, and a session may have plans sent to itself.
            if is_engine and not function.prints_no_plan:
                yield statement.line, f"{function.name} sees every row: SET debug_print_plan = off"
        found = owners[0].node.newowner.rolename if owners else None
        if found != wanted:
            yield statement.line, f"{function.name} belongs to {wanted or 'the installer'}, not to {found}"


def _object_name(statement: Statement) -> tuple[str | None, str]:
    if statement.kind == "ViewStmt":
        return statement.node.view.schemaname, statement.node.view.relname
    function = Function.of(statement.node)
    return function.schema, function.name


def _comments(text: str, parsed: list[Statement]) -> Iterator[Found]:
    """Compare the comment that the header becomes with the object of the file."""
    for statement in parsed:
        if statement.kind == "CommentStmt" and statement.node.objtype in _COMMENTED:
            yield statement.line, "no COMMENT ON: the first paragraph of the header is the object's comment"
    objects = [s for s in parsed if s.kind in {"CreateFunctionStmt", "ViewStmt"}]
    if objects and with_comment(text) != text:
        made: Any = statements(with_comment(text))[-1].node.object
        name = tuple(part.sval for part in getattr(made, "objname", made))
        if name != _object_name(objects[0]):
            yield objects[0].line, f"the comment would be that of {'.'.join(name)}"
    elif objects:
        yield (
            objects[0].line,
            f"{_object_name(objects[0])[1]} gets no comment: no line begins with CREATE OR REPLACE",
        )


class _Names(Visitor):
    """Collects relations and functions that are named without a schema."""

    def __init__(self, ours: set[str]) -> None:
        super().__init__()
        self.ours = ours
        self.bare: set[str] = set()
        self.ctes: set[str] = set()

    def visit_CommonTableExpr(self, _ancestors: Any, node: Any) -> None:  # noqa: N802
        self.ctes.add(node.ctename)

    def visit_RangeVar(self, _ancestors: Any, node: Any) -> None:  # noqa: N802
        if node.schemaname is None and node.relname in self.ours:
            self.bare.add(node.relname)

    def visit_FuncCall(self, _ancestors: Any, node: Any) -> None:  # noqa: N802
        if len(node.funcname) == 1 and node.funcname[0].sval in self.ours:
            self.bare.add(node.funcname[0].sval)

    def visit_TypeName(self, _ancestors: Any, node: Any) -> None:  # noqa: N802
        if node.names and len(node.names) == 1 and node.names[0].sval in self.ours:
            self.bare.add(node.names[0].sval)


def _schemas(parsed: list[Statement]) -> Iterator[Found]:
    for statement in parsed:
        if statement.kind in {"CreateFunctionStmt", "ViewStmt"} and _object_name(statement)[0] not in SCHEMAS:
            yield statement.line, f"{_object_name(statement)[1]} needs its schema: pgrecall. or public."
        for query, line in _queries(statement):
            names = _Names(our_names())
            names(query)
            for bare in sorted(names.bare - names.ctes):
                yield line, f"{bare} needs its schema"


def _queries(statement: Statement) -> Iterator[tuple[Any, int]]:
    """Yield the statement and the queries in its body, each with the line to report."""
    yield statement.node, statement.line
    if statement.kind != "CreateFunctionStmt":
        return
    body = Function.of(statement.node).body
    if body is None:
        return
    start = statement.line + statement.text[: statement.text.find(body)].count("\n")
    for text, offset in _embedded(statement.text, body):
        line = start + offset
        for candidate in (text, f"SELECT {text}"):
            try:
                yield parse_sql(candidate), line
            except ParseError:
                continue
            break


def _embedded(source: str, body: str) -> Iterator[tuple[str, int]]:
    """Yield the SQL of a plpgsql body: its own statements and the constant ones that EXECUTE runs."""
    try:
        tree = _plpgsql(source)
    except ParseError:
        return
    pending: list[tuple[Any, int]] = [(tree, 0)]
    while pending:
        node, line = pending.pop()
        if isinstance(node, list):
            pending += [(item, line) for item in node]
        elif isinstance(node, dict):
            line = node.get("lineno", line)
            query = node.get("query")
            if isinstance(query, str):
                # `target := expression`, as the parser hands it over.
                yield re.sub(r"\A[\w.\"]+\s*:=\s*", "", query), max(line - 1, 0)
            pending += [(value, line) for value in node.values()]
    for dynamic in re.finditer(r"\$statement\$(.*?)\$statement\$", body, re.DOTALL):
        yield dynamic[1], body[: dynamic.start()].count("\n")


_NAMES: set[str] = set()


def our_names() -> set[str]:
    """Return the names of our tables, types, views and functions, except names that SQL itself uses."""
    if not _NAMES:
        texts = [path.read_text(encoding="utf-8") for path in (ROOT / "sql").rglob("*.sql")]
        texts += [
            path.read_text(encoding="utf-8") for path in (ROOT / "migrations" / "versions").glob("*.sql")
        ]
        made = re.compile(
            r"CREATE (?:OR REPLACE )?(?:UNLOGGED )?(?:TABLE|TYPE|VIEW|FUNCTION) (?:_?pgrecall|public)\.(\w+)",
            re.IGNORECASE,
        )
        _NAMES.update(name for text in texts for name in made.findall(text))
    return _NAMES


def _function(name: str, statement: Statement, *, only_reads: bool) -> Iterator[str]:
    function = Function.of(statement.node)
    if function.is_trigger:
        if function.volatility is not None:
            yield "a trigger function states no volatility: it has none but VOLATILE"
    elif function.volatility is None and not function.is_procedure:
        yield "say IMMUTABLE, STABLE or VOLATILE"
    if function.volatility in {"immutable", "stable"} and function.parallel is None:
        yield "say PARALLEL SAFE (or RESTRICTED, UNSAFE)"
    # A procedure with a SET clause could not commit.
    if (
        (function.language in {"plpgsql", "plpython3u"} or function.security_definer)
        and not function.pins_search_path
        and not function.is_procedure
    ):
        what = "SECURITY DEFINER" if function.security_definer else function.language
        yield f"{what} needs SET search_path FROM CURRENT"
    if function.language == "sql":
        if function.body is not None:
            yield "LANGUAGE sql takes RETURN or BEGIN ATOMIC, which are parsed when they are created"
        if function.has_set and not function.security_definer:
            yield "a SET clause keeps a LANGUAGE sql function from being inlined"
    if function.body is not None and function.last_option != "as":
        yield "attributes come before AS: the contract is read first"
    if function.language == "plpgsql":
        try:
            _plpgsql(statement.text)
        except ParseError as error:
            yield f"the body is not plpgsql: {error.args[0]}"
        code = re.sub(r"--[^\n]*", "", function.body or "")
        if function.parallel in {"safe", "restricted"} and re.search(
            r"(?m)^\s*EXCEPTION(?:\s+WHEN\b|\s*$)", code
        ):
            yield "an EXCEPTION block begins a subtransaction, which no parallel plan may: PARALLEL UNSAFE"
        # A body is read at the first call of a session, by the session's rule for backslashes.
        literals = (found[1] or "" for found in _PLAIN_LITERAL.finditer(function.body or ""))
        if not function.pins_strings and any("\\" in literal for literal in literals):
            yield "a literal with a backslash needs E'' or SET standard_conforming_strings = on"
    if function.language == "plpython3u":
        if not name.startswith(PLPYTHON):
            yield f"plpython3u is for the folder {PLPYTHON} alone"
        if function.security_definer:
            yield "plpython3u has the caller's rights, never its owner's"
        try:
            ast.parse("def body():\n" + textwrap.indent(function.body or "", " "))
        except SyntaxError as error:
            yield f"the body is not Python: {error.msg}"
    code = re.sub(r"--[^\n]*", "", statement.text)
    if bare := _BARE_PGVECTOR.search(code):
        yield f"{bare[0]} needs pgvector's schema: pgvector.name, OPERATOR(pgvector.<=>)"
    if only_reads:
        if re.search(r"\bCREATE\s+(?:LOCAL\s+|GLOBAL\s+)?TEMP", code, re.IGNORECASE):
            yield "what reads makes no temporary table"
        settled = code.replace("SET search_path FROM CURRENT", "")
        settled = settled.replace("SET standard_conforming_strings = on", "")
        settled = settled.replace("SET debug_print_plan = off", "")
        if name in PINNED:
            settled = settled.replace("SET plan_cache_mode = force_generic_plan", "")
        if name not in MAY_SET and re.search(
            r"\bset_config\s*\(|\bSET\s+(?:LOCAL\s+|SESSION\s+)?[\w.]+\s*(?:=|\bTO\b)", settled, re.IGNORECASE
        ):
            yield "what reads changes no setting of the session"
        if function.volatility == "volatile" and name not in MAY_BE_VOLATILE:
            yield "what reads is STABLE or IMMUTABLE"


def _plpgsql(source: str) -> Any:
    """Parse CREATE FUNCTION with its body.

    Raises:
        ParseError: The body is not plpgsql.
    """
    # This parser looks types up and knows no schemas but two.
    # It takes an array of one of our own types for one of pseudo-types.
    known = re.sub(r"\b_?pgrecall\.\w+\[\]", "text[]", source)
    return parse_plpgsql(re.sub(r"\b(?:_?pgrecall|pgvector)\.(?=[a-z<])", "public.", known))


def reading(texts: Mapping[str, str], readers: Iterable[str] = READERS) -> set[str]:
    """Return the files of what is reachable from functions that only read, by the calls in the sources.

    A call is a name with its schema. In a literal it counts only if the literal is a statement: a hint names
    functions, too.

    Args:
        texts: The files of sql/ by name.
        readers: The functions to start from.
    """
    made: dict[str, tuple[str, str]] = {}
    for name, text in texts.items():
        found = made_object(text)
        if found is not None and not name.startswith(PLPYTHON):
            made[found[1]] = (
                name,
                _NO_CODE.sub(lambda said: said[0] if _STATEMENT.match(said[0]) else "''", text),
            )
    reached: set[str] = set()
    pending = [f"{schema}.{reader}" for reader in readers for schema in ("public", "pgrecall", "_pgrecall")]
    while pending:
        name = pending.pop()
        if name in made and name not in reached:
            reached.add(name)
            pending += _NAMED.findall(made[name][1])
    return {made[name][0] for name in reached}


def check_manifest(folder: Path) -> list[Violation]:
    """Compare sql/manifest.txt with the files that are there."""
    manifest = folder / "manifest.txt"
    found = []
    named: dict[str, int] = {}
    for number, line in enumerate(manifest.read_text(encoding="utf-8").splitlines(), 1):
        name = line.split("#")[0].strip()
        if not name:
            continue
        if name in named:
            found.append(Violation("manifest.txt", number, f"{name} is named twice"))
        elif not (folder / name).is_file():
            found.append(Violation("manifest.txt", number, f"there is no file {name}"))
        named[name] = number
    for path in sorted(folder.rglob("*.sql")):
        name = path.relative_to(folder).as_posix()
        if name not in named and name != GENERATED:
            found.append(Violation(name, 1, "not in manifest.txt"))
    if list(named)[-1:] != ["grants.sql"]:
        found.append(Violation("manifest.txt", max(named.values(), default=1), "grants.sql comes last"))
    return found


def check_frozen(folder: Path) -> list[Violation]:
    """Compare the revisions that frozen.json lists as released with their files."""
    found = []
    for name, recorded in json.loads((folder / "frozen.json").read_text(encoding="utf-8")).items():
        path = folder / "versions" / name
        if not path.is_file():
            found.append(Violation(f"migrations/versions/{name}", 1, "was released and is gone"))
        elif _digest(path) != recorded:
            found.append(Violation(f"migrations/versions/{name}", 1, "was released and must not change"))
    return found


def freeze(folder: Path) -> None:
    """Record every revision of `folder` as released."""
    digests = {path.name: _digest(path) for path in sorted((folder / "versions").glob("*.*"))}
    (folder / "frozen.json").write_text(json.dumps(digests, indent=2) + "\n", encoding="utf-8")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_text(encoding="utf-8").encode()).hexdigest()


def check(root: Path) -> list[Violation]:
    """Return everything that is wrong with sql/ and migrations/ below `root`."""
    folder = root / "sql"
    found = [*check_manifest(folder), *check_frozen(root / "migrations")]
    texts = {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*.sql"))
        if path.name != GENERATED
    }
    only_read = reading(texts)
    for name, text in texts.items():
        found += check_file(name, text, only_reads=name in only_read)
    return found


def main() -> int:
    """Check, or freeze the revisions."""
    parser = argparse.ArgumentParser(description="Check sql/ and the released revisions.")
    parser.add_argument("--freeze", action="store_true", help="record the revisions as released")
    if parser.parse_args().freeze:
        freeze(ROOT / "migrations")
        return 0
    found = check(ROOT)
    for violation in found:
        prefix = "" if violation.file.startswith("migrations/") else "sql/"
        sys.stderr.write(f"{prefix}{violation}\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
