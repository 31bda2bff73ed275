"""pgrecall.settings_reference, and that each kind of setting refuses what it cannot be wherever it comes from."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support.memories import call, refused, remember, rows, scalar
from support.ranking import recalled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psycopg import Connection

pytestmark = pytest.mark.rollback

BAD = {
    "rrf_k": ["0", "10001", "many", "NaN", "1e2", " 5", "5 ", "٥"],
    "k": ["0", "1001", "5.0", "5.5", "-1", "ten"],
    "cc_alpha": ["1.01", "-0.1", "half", "0,5"],
    "fusion": ["sum", "CC", "cc "],
    "strategy": ["exact", "Hybrid"],
    "half_life": ["30", "days", "30 dayz", "30 days ago", "-30 days", "P30D", "1 day 2 hours"],
    "lexical_lookback": ["168", "168h"],
    "recency_half_life": ["soon"],
    "decay_floors": ["person", "person=2", "person=-0.1", "=0.3", "person=0.3,", "person=0.3;place=1"],
    "collapse_duplicates": ["maybe", "1", "yes", "ON"],
    "mmr_similarity": ["vector"],
    "profile": ["nobody's", "VOICE"],
}
GOOD = {
    "rrf_k": ["1", "60.5", "+7"],
    "k": ["1", "1000"],
    "cc_alpha": ["0", "1", "0.25"],
    "fusion": ["rrf", "cc"],
    "strategy": ["auto", "prefilter", "fulltext"],
    "half_life": ["30 days", "1 hour", "0.5 weeks", "2 months"],
    "lexical_lookback": ["168 hours"],
    "recency_half_life": ["1 day"],
    "decay_floors": ["person=0.3", "person=0.3, place=1", "to do=0"],
    "collapse_duplicates": ["on", "off", "true", "false"],
    "mmr_similarity": ["words"],
    "profile": ["voice", "default"],
}
CASES = [(name, value) for name, values in BAD.items() for value in values]
NAMES_ONLY = {
    "query", "query_vec", "namespace", "namespaces", "namespace_weights", "settings", "reference_time"
}  # fmt: skip
FILTERS = {
    "categories", "tags_any", "tags_all", "metadata_contains", "metadata_where", "sessions", "speakers", "sources",
    "external_id_prefix", "since", "until", "include_superseded",
    "include_sensitive", "timeframe", "as_of", "filter",
}  # fmt: skip


def reference(conn: Connection[Any]) -> dict[str, dict[str, str]]:
    cursor = conn.execute("SELECT * FROM pgrecall.settings_reference")
    names = [column.name for column in cursor.description or ()]
    return {row[0]: dict(zip(names, row, strict=True)) for row in cursor.fetchall()}


@pytest.fixture(scope="module")
def shared_conn(new_database: Callable[..., str], template: str) -> Iterator[Connection[Any]]:
    """A connection to one database for all tests of what is refused: nothing is stored there."""
    with psycopg.connect(new_database(template), autocommit=True) as opened:
        yield opened
        assert opened.execute("SELECT name FROM pgrecall.settings").fetchall() == []


# --- the view --------------------------------------------------------------------------------------------------------


def test_it_lists_every_setting_with_range_and_effect(conn: Connection[Any]) -> None:
    listed = reference(conn)
    fields = """
        SELECT attname FROM pg_attribute
        WHERE attrelid = 'pgrecall.recall_settings'::regclass AND NOT attisdropped AND attname <> 'generation'
    """
    assert {name for (name,) in conn.execute(fields)} < set(listed)
    assert set(listed) == {row[0] for row in rows(conn, "pgrecall.settings_list")}
    for name, row in listed.items():
        assert (row["source"], row["value"]) == ("default", row["default"]), name
        assert row["unit"], name
        assert len(row["effect"]) > 20, name
        assert row["accepts"], name
        assert row["set_by"].endswith("pgrecall.set_setting()"), name
        assert row["group"], name
        # The default is one of the values that it says it takes.
        assert row["default"] == "" or scalar(
            conn, "SELECT pgrecall.is_valid_setting(%s, %s)", name, row["default"]
        ), name
    assert listed["k"]["accepts"] == "a whole number between 1 and 1000"
    assert listed["cc_alpha"]["accepts"] == "a number between 0 and 1"
    assert listed["fusion"]["accepts"] == "one of cc, rrf"
    assert "30 days" in listed["half_life"]["accepts"]
    assert "person=0.3" in listed["decay_floors"]["accepts"]
    assert "pgrecall.profiles" in listed["profile"]["accepts"]
    assert listed["bm25_k1"]["set_by"] == "pgrecall.set_setting()"
    assert listed["rrf_k"]["set_by"].startswith("SET pgrecall.rrf_k, ")


def test_a_dozen_settings_at_most_are_everyday(conn: Connection[Any]) -> None:
    groups = {name: row["group"] for name, row in reference(conn).items()}
    everyday = {name for name, group in groups.items() if group == "everyday"}
    assert {"namespace", "k"} < everyday
    assert len(everyday) <= 12
    for view in ("setting_definitions", "settings_in_force", "settings_list()"):
        assert dict(conn.execute(f'SELECT name, "group" FROM pgrecall.{view}').fetchall()) == groups


def test_the_page_of_settings_lists_each_under_its_group_the_everyday_ones_first(
    conn: Connection[Any],
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "settings.md").read_text(encoding="utf-8")
    _, *sections = page.split("\n### ")
    listed = [set(re.findall(r"(?m)^\| `(\w+)` \|", section)) for section in sections]
    groups: dict[str, set[str]] = {}
    for name, row in reference(conn).items():
        groups.setdefault(row["group"], set()).add(name)
    assert listed[0] == groups["everyday"]
    assert listed[-1] == groups["earlier"]
    assert sorted(map(sorted, listed)) == sorted(map(sorted, groups.values()))


def test_its_limits_are_the_limits(conn: Connection[Any]) -> None:
    """One step outside is refused, the limits themselves are not."""
    query = "SELECT name, minimum, maximum, is_integer FROM pgrecall.setting_definitions WHERE minimum IS NOT NULL"
    for name, least, most, is_integer in conn.execute(query).fetchall():
        step = 1 if is_integer else 0.001
        for value, fits in ((least, True), (most, True), (least - step, False), (most + step, False)):
            text = f"{value:.0f}" if is_integer else f"{value:.3f}"
            assert scalar(conn, "SELECT pgrecall.is_valid_setting(%s, %s)", name, text) is fits, (name, text)
    choices = "SELECT name, choices FROM pgrecall.setting_definitions WHERE choices IS NOT NULL"
    for name, allowed in conn.execute(choices).fetchall():
        for value in (*allowed, "other", allowed[0].upper()):
            fits = value in allowed
            assert scalar(conn, "SELECT pgrecall.is_valid_setting(%s, %s)", name, value) is fits, (
                name,
                value,
            )


@pytest.mark.usefixtures("dsn")
def test_every_argument_of_recall_that_is_a_setting_agrees_with_it(conn: Connection[Any]) -> None:
    arguments = scalar(
        conn, "SELECT proargnames[:pronargs] FROM pg_proc WHERE oid = 'public.recall'::regproc"
    )
    of_settings = set(arguments) - NAMES_ONLY - FILTERS
    assert of_settings == {
        "k", "strategy", "fusion", "sort_by", "profile", "min_similarity", "min_score", "mmr_lambda", "collapse_duplicates"
    }  # fmt: skip
    assert of_settings < set(reference(conn))
    remember(conn, "crane")
    bad: dict[str, Any] = {
        "k": 0, "strategy": "x", "fusion": "x", "sort_by": "x", "profile": "x", "min_similarity": 2, "min_score": -1, "mmr_lambda": 1.5
    }  # fmt: skip
    assert set(bad) == of_settings - {"collapse_duplicates"}  # a boolean cannot be wrong
    for name, value in bad.items():
        with pytest.raises(psycopg.Error, match=f'^{name} cannot be "{value}"'):
            recalled(conn, "crane", **{name: value})
        with pytest.raises(psycopg.Error, match=f'^{name} cannot be "{value}"'):
            recalled(conn, "crane", settings={name: value})
        assert len(recalled(conn, "crane", **{name: None})) == 1
        # NULL takes the setting, and so its error.
        conn.execute("SELECT set_config('pgrecall.' || %s, %s, false)", (name, str(value)))
        with refused(conn, "22023"):
            recalled(conn, "crane", **{name: None})
        conn.execute("SELECT set_config('pgrecall.' || %s, '', false)", (name,))


def test_arguments_have_their_effect(conn: Connection[Any]) -> None:
    for place in range(12):
        remember(conn, f"crane {place}")
    assert len(recalled(conn, "crane", k=None)) == 10
    conn.execute("SET pgrecall.k = 11")
    assert len(recalled(conn, "crane", k=None)) == 11
    assert len(recalled(conn, "crane", k=2)) == 2
    assert recalled(conn, "crane", min_score=2.0) == []
    query = "SELECT min(value) FROM pgrecall.resolved_settings(%s) WHERE source = 'argument' AND name = %s"
    for name, value in (("mmr_lambda", 0.5), ("fusion", "rrf"), ("collapse_duplicates", True)):
        assert scalar(conn, query, Jsonb({name: value}), name) == str(value).lower()


# --- what each kind refuses ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "value"), CASES)
def test_bad_values(shared_conn: Connection[Any], name: str, value: str) -> None:
    """Refused as an argument, as SET and as stored, with setting, value and what it takes."""
    conn = shared_conn
    attempts: list[tuple[str, tuple[object, ...]]] = [
        ("SELECT FROM recall('crane', settings => %s)", (Jsonb({name: value}),)),
        ("SELECT pgrecall.set_setting(%s, %s)", (name, value)),
        ("SELECT FROM recall('crane')", ()),
    ]
    for place, (statement, values) in enumerate(attempts):
        if place == 2:
            conn.execute("SELECT set_config('pgrecall.' || %s, %s, false)", (name, value))
        with pytest.raises(psycopg.Error) as caught:
            conn.execute(statement.encode(), values)
        diagnosis = caught.value.diag
        assert caught.value.sqlstate == "22023"
        # A caller who gave an argument may not know that it is a setting as well.
        said = name if place == 0 else f"pgrecall.{name}"
        assert diagnosis.message_primary == f'{said} cannot be "{value}"'
        accepted = scalar(conn, "SELECT pgrecall.describe_accepted(%s)", name)
        assert f"It accepts {accepted}." in (diagnosis.message_hint or "")
    conn.execute("SELECT set_config('pgrecall.' || %s, '', false)", (name,))


@pytest.mark.parametrize("name", sorted(GOOD))
def test_good_values_and_the_empty_string(shared_conn: Connection[Any], name: str) -> None:
    conn = shared_conn
    assert set(GOOD) == set(BAD)
    query = "SELECT value, source FROM pgrecall.settings_reference WHERE name = %s"
    unset = conn.execute(query, (name,)).fetchone()
    for value in GOOD[name]:
        conn.execute("SELECT set_config('pgrecall.' || %s, %s, false)", (name, value))
        assert conn.execute(query, (name,)).fetchone() == (value, "parameter")
        rows(conn, "recall", "crane")
        rows(conn, "recall", "crane", settings={name: value})
        # As SET LOCAL leaves it behind.
        conn.execute("SELECT set_config('pgrecall.' || %s, '', false)", (name,))
        assert conn.execute(query, (name,)).fetchone() == unset
        rows(conn, "recall", "crane")


def test_every_setting_takes_the_empty_string_for_unset(conn: Connection[Any]) -> None:
    remember(conn, "crane")
    plain = scalar(conn, "SELECT to_jsonb(_pgrecall.effective_settings())")
    for name, row in reference(conn).items():
        conn.execute("SELECT set_config('pgrecall.' || %s, '', false)", (name,))
        call(conn, "pgrecall.set_setting", name, "")
        assert reference(conn)[name] == row
    assert scalar(conn, "SELECT to_jsonb(_pgrecall.effective_settings())") == plain
    assert len(recalled(conn, "crane")) == 1


@pytest.mark.usefixtures("dsn")
def test_what_there_is_not(conn: Connection[Any]) -> None:
    for name in ("nothing", "pgrecall.k", "K", ""):
        with refused(conn, "22023"):
            recalled(conn, "crane", settings={name: 5})
    for value in ("[]", "[1]", "5", '"k"'):
        with refused(conn, "22023"):
            conn.execute("SELECT recall('crane', settings => %s::jsonb)", (value,))
    assert recalled(conn, "crane", settings={"k": None}) == []


@pytest.mark.parametrize("name", ["rrf_kk", "rrk_f", "rrf-k", "RRF_K", "pgrecall.rrf_k"])
def test_the_hint_lists_the_nearest_names(conn: Connection[Any], name: str) -> None:
    for query, arguments in (
        ("SELECT recall('crane', settings => jsonb_build_object(%s::text, 5))", (name,)),
        ("SELECT recall_explain('crane', settings => jsonb_build_object(%s::text, 5))", (name,)),
        ("SELECT pgrecall.set_setting(%s, '5')", (name,)),
        ("SELECT pgrecall.set_profile('mine', jsonb_build_object(%s::text, 5))", (name,)),
    ):
        with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
            conn.execute(query, arguments)
        assert caught.value.diag.message_primary == f'there is no setting "{name}"'
        nearest, rest = str(caught.value.diag.message_hint).split(". ", 1)
        assert "rrf_k" in nearest.removeprefix("The nearest names: ").split(", ")
        assert "settings_reference" in rest


def test_a_name_like_no_other_has_no_nearest_names(conn: Connection[Any]) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
        conn.execute("SELECT pgrecall.set_setting('zzzzzzz', '5')")
    assert str(caught.value.diag.message_hint).startswith("SELECT name, effect")


@pytest.mark.usefixtures("dsn")
def test_what_is_stored_only_is_refused_per_call(conn: Connection[Any]) -> None:
    query = "SELECT name, default_value FROM pgrecall.setting_definitions WHERE is_stored_only"
    stored_only = conn.execute(query).fetchall()
    assert len(stored_only) == 32
    for name, value in [*stored_only, ("namespace", "default")]:
        with refused(conn, "22023"):
            recalled(conn, "crane", settings={name: value})
        conn.execute("SELECT set_config('pgrecall.' || %s, 'rubbish', false)", (name,))
        if name != "namespace":
            assert reference(conn)[name]["value"] != "rubbish"
            recalled(conn, "crane")


@pytest.mark.usefixtures("dsn")
def test_an_argument_of_jsonb_is_read_as_its_text(conn: Connection[Any]) -> None:
    read = "SELECT to_jsonb(_pgrecall.effective_settings(%s))"
    given = {
        "k": 3,
        "cc_alpha": 0.25,
        "collapse_duplicates": True,
        "half_life": "1 day",
        "decay_floors": "a=1",
    }
    found = scalar(conn, read, Jsonb(given))
    assert {name: found[name] for name in given} == given | {"half_life": "1 day"}
    texts = {name: str(value).lower() for name, value in given.items()}
    assert scalar(conn, read, Jsonb(texts)) == found
    for value in ([1], {"a": 1}):
        with refused(conn, "22023"):
            recalled(conn, "crane", settings={"k": value})
