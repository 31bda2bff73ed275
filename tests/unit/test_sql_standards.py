"""sql/ keeps to its standards, and each check of tools/check_sql.py can fail."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]


def load_tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


tool = load_tool("check_sql")

GOOD = """-- Adds one.
CREATE OR REPLACE FUNCTION pgrecall.sample(n integer)
RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN n + 1;
"""
GOOD_PLPGSQL = """-- Counts memories.
CREATE OR REPLACE FUNCTION pgrecall.sample(n integer)
RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
DECLARE
    filter pgrecall.recall_filter;
    counted bigint;
BEGIN
    SELECT count(*) INTO counted FROM pgrecall.memories m;
    RETURN counted;
END
$function$;
"""
GOOD_PLPYTHON = """-- Adds one.
CREATE OR REPLACE FUNCTION pgrecall.sample(n integer)
RETURNS integer
LANGUAGE plpython3u IMMUTABLE PARALLEL SAFE
SET search_path FROM CURRENT
AS $function$
return n + 1
$function$;
"""


def problems(text: str, name: str = "status/sample.sql") -> list[str]:
    only_reads = name.startswith("core/ranking/")
    return [str(violation) for violation in tool.check_file(name, text, only_reads=only_reads)]


def test_sql_keeps_to_its_standards() -> None:
    assert [str(violation) for violation in tool.check(ROOT)] == []


@pytest.mark.parametrize("text", [GOOD, GOOD_PLPGSQL])
def test_the_samples_are_good(text: str) -> None:
    assert problems(text) == []


@pytest.mark.parametrize(
    ("text", "old", "new", "expected"),
    [
        (GOOD, "-- Adds one.\n", "", "1: a file starts with a comment"),
        (GOOD, "-- Adds one.", "-- Adds one", "1: the first paragraph of the header is whole sentences"),
        (GOOD, "-- Adds one.", "-- Adds one.\n-- n  a number.", "1: the first paragraph of the header"),
        (GOOD, "pgrecall.sample(n", "sample(n", "2: sample needs its schema: pgrecall. or public."),
        (GOOD, " IMMUTABLE PARALLEL SAFE", " PARALLEL SAFE", "2: say IMMUTABLE, STABLE or VOLATILE"),
        (GOOD, " PARALLEL SAFE", "", "2: say PARALLEL SAFE"),
        (GOOD, "RETURN n + 1", "SET search_path = pg_temp RETURN n + 1", "2: a SET clause keeps"),
        (
            GOOD_PLPGSQL,
            "    RETURN counted;\n",
            "    RETURN counted;\nEXCEPTION\n    WHEN division_by_zero THEN\n        RETURN 0;\n",
            "2: an EXCEPTION block begins a subtransaction",
        ),
        (GOOD, "RETURN n + 1", "AS 'SELECT n + 1'", "2: LANGUAGE sql takes RETURN or BEGIN ATOMIC"),
        (GOOD, "n + 1;", "n + 1;\nCOMMENT ON FUNCTION pgrecall.sample IS 'x';", "6: no COMMENT ON"),
        (GOOD, "CREATE OR", " CREATE OR", "2: sample gets no comment"),
        (
            GOOD,
            "-- Adds one.\n",
            "-- Adds one.\n/*\nCREATE OR REPLACE VIEW pgrecall.v */",
            "3: the comment would be that",
        ),
        (GOOD, "RETURN n + 1", "RETURN n + + ", "not SQL"),
        (GOOD, "CREATE OR REPLACE", "CREATE", "2: CREATE OR REPLACE, since"),
        (GOOD, "RETURN n + 1", "RETURN n + rrf(1, 1, 1)", "2: rrf needs its schema"),
        (GOOD, "RETURN n + 1", "RETURN (SELECT count(*) FROM memories)", "2: memories needs its schema"),
        (GOOD, "n integer", "n memory_fields", "2: memory_fields needs its schema"),
        (GOOD, "n + 1;", "n + 1;\nCREATE TABLE pgrecall.t (n integer);", "6: state belongs into a revision"),
        (
            GOOD.replace("pgrecall.sample", "_pgrecall.sample"),
            "n + 1;",
            "n + 1;\nGRANT EXECUTE ON FUNCTION _pgrecall.sample TO x;",
            "6: GrantStmt does not belong",
        ),
        (GOOD, "IMMUTABLE", "IMMUTABLE SECURITY DEFINER", "2: SECURITY DEFINER needs SET search_path"),
        (
            GOOD,
            "n + 1;",
            "n + 1;\nCREATE OR REPLACE VIEW pgrecall.other AS SELECT 1 AS n;",
            "6: one object a file",
        ),
        (
            GOOD,
            "n + 1;",
            "n + 1;\nCREATE TRIGGER t AFTER INSERT ON pgrecall.memories EXECUTE FUNCTION pgrecall.other();",
            "6: a trigger belongs in the file of its function",
        ),
        (GOOD_PLPGSQL, "SET search_path FROM CURRENT\n", "", "2: plpgsql needs SET search_path"),
        (GOOD_PLPGSQL, "RETURN counted;", "RETURN counted", "2: the body is not plpgsql"),
        (
            GOOD_PLPGSQL,
            "counted;\nEND",
            "counted + ('a' ~ '\\w')::integer;\nEND",
            "2: a literal with a backslash",
        ),
        (
            GOOD_PLPGSQL,
            "RETURN counted;",
            "RETURN counted; -- it's\n    EXECUTE $statement$SELECT 'a' ~ e'\\'\\\\w', '\\w'$statement$;",
            "2: a literal with a backslash",
        ),
        (GOOD_PLPGSQL, "pgrecall.memories", "memories", "11: memories needs its schema"),
        (
            GOOD_PLPGSQL,
            "RETURN counted;",
            "RETURN namespace_size(1, 1);",
            "12: namespace_size needs its schema",
        ),
        (
            GOOD_PLPGSQL,
            "RETURN counted;",
            "EXECUTE $statement$SELECT 1 FROM concepts$statement$;",
            "12: concepts needs its schema",
        ),
        (
            GOOD_PLPGSQL.replace("SET search_path FROM CURRENT\n", ""),
            "$function$;\n",
            "$function$\nSET search_path FROM CURRENT;\n",
            "2: attributes come before AS",
        ),
    ],
)
def test_each_check_can_fail(text: str, old: str, new: str, expected: str) -> None:
    assert old in text
    found = problems(text.replace(old, new, 1))
    assert any(expected in problem for problem in found), found


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("RETURN counted;", "CREATE TEMP TABLE t (n integer); RETURN 1;", "makes no temporary table"),
        ("RETURN counted;", "PERFORM set_config('a.b', '1', true); RETURN 1;", "changes no setting"),
        ("RETURN counted;", "SET LOCAL hnsw.ef_search = 100; RETURN 1;", "changes no setting"),
        ("STABLE PARALLEL SAFE", "VOLATILE", "what reads is STABLE or IMMUTABLE"),
    ],
)
def test_what_reads_only_reads(old: str, new: str, expected: str) -> None:
    text = GOOD_PLPGSQL.replace(old, new, 1)
    assert problems(text) == []
    assert any(expected in problem for problem in problems(text, "core/ranking/sample.sql"))


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("return n + 1", "return n +", "the body is not Python"),
        ("SET search_path FROM CURRENT\n", "", "plpython3u needs SET search_path"),
        (" PARALLEL SAFE", "", "say PARALLEL SAFE"),
        ("PARALLEL SAFE", "PARALLEL SAFE SECURITY DEFINER", "the caller's rights, never its owner's"),
    ],
)
def test_python_has_a_folder_of_its_own(old: str, new: str, expected: str) -> None:
    assert problems(GOOD_PLPYTHON, "plpython/sample.sql") == []
    assert any("folder plpython/ alone" in problem for problem in problems(GOOD_PLPYTHON))
    found = problems(GOOD_PLPYTHON.replace(old, new, 1), "plpython/sample.sql")
    assert any(expected in problem for problem in found), found


def test_a_line_has_as_many_characters_as_the_standards_say() -> None:
    [most] = re.findall(
        r"Lines up to (\d+) characters", (ROOT / "sql/STANDARDS.md").read_text(encoding="utf-8")
    )
    longest = f"-- {'ä' * (int(most) - 4)}."
    assert tool.check_file("sample.sql", GOOD.replace("-- Adds one.", longest)) == ()
    [found] = tool.check_file("sample.sql", GOOD.replace("-- Adds one.", f"-- Adds one.\n{longest} "))
    assert (found.line, found.message) == (2, f"a line has at most {most} characters, not {int(most) + 1}")


def test_the_file_is_named_after_its_object() -> None:
    assert problems(GOOD, "status/other.sql") == ["status/other.sql:2: sample belongs into a file sample.sql"]
    assert problems("-- Nothing here.\n") == [
        "status/sample.sql:1: there is no function and no view in this file"
    ]


def test_the_manifest_is_complete(tmp_path: Path) -> None:
    (tmp_path / "status").mkdir()
    (tmp_path / "status" / "sample.sql").write_text(GOOD)
    (tmp_path / "grants.sql").write_text("-- Grants.\n")
    (tmp_path / "manifest.txt").write_text("status/sample.sql  # a comment\ngrants.sql\n")
    assert tool.check_manifest(tmp_path) == []
    (tmp_path / "status" / "forgotten.sql").write_text(GOOD)
    (tmp_path / "manifest.txt").write_text("grants.sql\nstatus/gone.sql\ngrants.sql\nstatus/sample.sql\n")
    assert [str(violation) for violation in tool.check_manifest(tmp_path)] == [
        "manifest.txt:2: there is no file status/gone.sql",
        "manifest.txt:3: grants.sql is named twice",
        "status/forgotten.sql:1: not in manifest.txt",
        "manifest.txt:4: grants.sql comes last",
    ]


def test_released_revisions_do_not_change(tmp_path: Path) -> None:
    versions = tmp_path / "versions"
    versions.mkdir()
    (tmp_path / "frozen.json").write_text("{}")
    (versions / "0001_first.py").write_text("first")
    (versions / "0002_second.py").write_text("second")
    assert tool.check_frozen(tmp_path) == []
    tool.freeze(tmp_path)
    assert sorted(json.loads((tmp_path / "frozen.json").read_text())) == ["0001_first.py", "0002_second.py"]
    assert tool.check_frozen(tmp_path) == []
    (versions / "0003_new.py").write_text("not released yet")
    assert tool.check_frozen(tmp_path) == []
    (versions / "0001_first.py").write_text("changed")
    (versions / "0002_second.py").unlink()
    assert [str(violation) for violation in tool.check_frozen(tmp_path)] == [
        "migrations/versions/0001_first.py:1: was released and must not change",
        "migrations/versions/0002_second.py:1: was released and is gone",
    ]


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    for folder in ("sql/status", "migrations/versions"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "sql" / "status" / "sample.sql").write_text(GOOD)
    (tmp_path / "sql" / "grants.sql").write_text("-- Grants.\n")
    (tmp_path / "sql" / "manifest.txt").write_text("status/sample.sql\ngrants.sql\n")
    (tmp_path / "migrations" / "versions" / "0001_first.py").write_text("first")
    (tmp_path / "migrations" / "frozen.json").write_text("{}")
    monkeypatch.setattr(tool, "ROOT", tmp_path)
    monkeypatch.setattr(sys, "argv", ["check_sql.py", "--freeze"])
    assert tool.main() == 0
    monkeypatch.setattr(sys, "argv", ["check_sql.py"])
    assert tool.main() == 0
    (tmp_path / "sql" / "status" / "sample.sql").write_text(GOOD.replace("PARALLEL SAFE", ""))
    assert tool.main() == 1
    assert "sql/status/sample.sql:2: say PARALLEL SAFE" in capsys.readouterr().err


def test_what_the_checks_name_is_there() -> None:
    """A file that moves away would no longer be checked, and nobody would see it."""
    named = [*tool.MANY_OBJECTS, *tool.MAY_BE_VOLATILE, *tool.MAY_SET, *tool.PINNED]
    assert [name for name in named if not (tool.ROOT / "sql" / name).exists()] == []


def sources() -> dict[str, str]:
    folder = tool.ROOT / "sql"
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*.sql")}


def test_what_recall_reaches_only_reads() -> None:
    found = tool.reading(sources())
    assert {
        "core/api/recall.sql",
        "core/filter/matches_filter.sql",
        "core/legs/dense/dense_part.sql",
        "core/ranking/rank_memories.sql",
        "features/passages/passage_statement.sql",
        # Called by a statement in EXECUTE.
        "core/legs/dense/scan_filtered.sql",
        "features/earlier_systems/ts_rank_leg.sql",
        "features/expansion/expand_request.sql",
        # Called after a literal that holds what begins a comment.
        "features/values/date_terms.sql",
    } <= found
    # A hint names it.
    assert "core/settings/set_setting.sql" not in found
    assert not found & {"core/api/remember.sql", "core/api/forget.sql", "core/postings/flush_pending.sql"}
    missing = [
        reader for reader in tool.READERS if not any(name.endswith(f"/{reader}.sql") for name in found)
    ]
    assert missing == []


@pytest.mark.parametrize(
    "call",
    [
        "PERFORM _pgrecall.note();",
        "EXECUTE 'SELECT _pgrecall.note()';",
        "EXECUTE 'call _pgrecall.note()';",
        "EXECUTE '--'; PERFORM _pgrecall.note();",
    ],
)
def test_a_function_that_writes_must_not_be_reachable_from_recall(tmp_path: Path, call: str) -> None:
    """However far away it is called."""
    shutil.copytree(tool.ROOT / "sql", tmp_path / "sql")
    (tmp_path / "migrations").mkdir()
    (tmp_path / "migrations" / "frozen.json").write_text("{}")
    assert tool.check(tmp_path) == []
    folder = tmp_path / "sql"
    reached = folder / "core" / "legs" / "dense" / "dense_search.sql"
    text = reached.read_text()
    reached.write_text(text.replace("BEGIN\n", f"BEGIN\n    {call}\n", 1))
    writer = GOOD_PLPGSQL.replace("pgrecall.sample", "_pgrecall.note").replace(
        "STABLE PARALLEL SAFE", "VOLATILE"
    )
    (folder / "core" / "text" / "note.sql").write_text(writer)
    manifest = folder / "manifest.txt"
    manifest.write_text(manifest.read_text().replace("\ngrants.sql", "\ncore/text/note.sql\ngrants.sql"))
    assert [str(found) for found in tool.check(tmp_path)] == [
        "core/text/note.sql:2: what reads is STABLE or IMMUTABLE"
    ]
    reached.write_text(text)
    assert tool.check(tmp_path) == []
