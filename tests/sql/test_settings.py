"""set_setting() and settings_in_force: what is stored, what beats it, what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.memories import contents, embed, refused, remember, rows, scalar, stored

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback


def setting(conn: Connection[Any], name: str) -> tuple[str, str]:
    query = "SELECT value, source FROM pgrecall.settings_in_force WHERE name = %s"
    value, source = conn.execute(query, (name,)).fetchone() or ("", "")
    return value, source


def store(conn: Connection[Any], name: str | None, value: str | None) -> None:
    conn.execute("SELECT pgrecall.set_setting(%s, %s)", (name, value))


def test_parameter_then_stored_then_default(conn: Connection[Any]) -> None:
    assert setting(conn, "rrf_k") == ("10", "default")
    store(conn, "rrf_k", "30")
    assert setting(conn, "rrf_k") == ("30", "stored")
    conn.execute("SET pgrecall.rrf_k = 20")
    assert setting(conn, "rrf_k") == ("20", "parameter")
    conn.execute("SET pgrecall.rrf_k = ''")
    assert setting(conn, "rrf_k") == ("30", "stored")
    for nothing in (None, ""):
        store(conn, "rrf_k", "30")
        store(conn, "rrf_k", nothing)
        assert setting(conn, "rrf_k") == ("10", "default")


def test_no_function_asks_the_session_alone(conn: Connection[Any]) -> None:
    """A value may be stored or a profile's too: effective_settings() knows. These three are read before it is called."""
    folder = Path(__file__).parents[2] / "sql"
    source = "".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.sql"))
    read = set(re.findall(r"current_setting\('pgrecall\.(\w+)'", source))
    query = "SELECT name FROM pgrecall.setting_definitions"
    assert read & {name for (name,) in conn.execute(query)} == {"namespace", "namespaces", "profile"}


def test_every_setting_reaches_recall_numbers_at_their_limits(conn: Connection[Any]) -> None:
    query = """
        SELECT name, minimum, maximum, choices, default_value, pattern FROM pgrecall.settings_in_force
        WHERE name NOT IN ('namespace', 'namespaces', 'profile')
          AND (NOT is_stored_only OR name ~ '^(bm25_(k1|b|length_pivot)|field_weight_.)$')
    """
    settings = conn.execute(query).fetchall()
    fields = """
        SELECT attname FROM pg_attribute
        WHERE attrelid = 'pgrecall.recall_settings'::regclass AND NOT attisdropped
          AND attname <> 'generation'
    """
    assert {row[0] for row in settings} == {name for (name,) in conn.execute(fields)}
    for place in (1, 2):
        given: dict[str, object] = {}
        for row in settings:
            name, _, _, choices, default, pattern = row
            if choices is not None:
                given[name] = choices[place % 2]
            elif pattern is not None:
                given[name] = "person=0.25" if "=" in default else "02:00:00"
            elif row[1] is None:
                given[name] = "any text"
            else:
                given[name] = row[place]
            store(conn, name, "2 hours" if given[name] == "02:00:00" else f"{given[name]}".removesuffix(".0"))
        switches = [row[0] for row in settings if row[3] == ["on", "off", "true", "false"]]
        given |= {name: given[name] == "on" for name in switches}
        (found,) = conn.execute("SELECT to_jsonb(_pgrecall.effective_settings())").fetchone() or ({},)
        assert found == given | {"generation": None}


def test_bad_values_are_refused(conn: Connection[Any]) -> None:
    refusals = [
        ("rrf_k", "0"), ("rrf_k", "10001"), ("rrf_k", "many"), ("rrf_k", " 60"), ("rrf_k", "NaN"), ("rrf_k", "Infinity"),
        ("rrf_k", "1e2"), ("rrf_k", "-5"), ("rrf_k", "9" * 400), ("leg_depth", "50.5"), ("leg_depth", "50.0"),
        ("leg_depth", "50."), ("leg_depth", "1001"), ("graph_mention", "1.01"), ("embed_keywords", "yes"),
    ]  # fmt: skip
    for name, value in refusals:
        with refused(conn, "22023"):
            store(conn, name, value)
    for unknown in ("nothing", "pgrecall.rrf_k", "embedding_model", "", None):
        with refused(conn, "22023"):
            store(conn, unknown, "1")


def test_bad_parameters_are_refused_where_they_are_used(conn: Connection[Any]) -> None:
    remember(conn, "a yellow submarine")
    for name, value in [
        ("leg_depth", "50.0"),
        ("leg_depth", "deep"),
        ("rrf_k", "0"),
        ("graph_weight", "NaN"),
    ]:
        conn.execute("SELECT set_config('pgrecall.' || %s, %s, false)", (name, value))
        with refused(conn, "22023"):
            rows(conn, "recall", "submarine")
        conn.execute("SELECT set_config('pgrecall.' || %s, '', false)", (name,))
    assert len(rows(conn, "recall", "submarine")) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [("leg_depth", "+50"), ("rrf_k", "60."), ("rrf_k", "0060.5"), ("rrf_k", "1.30000000000000004")],
)
def test_ways_to_write_a_number(conn: Connection[Any], name: str, value: str) -> None:
    store(conn, name, value)
    assert scalar(conn, f"SELECT (_pgrecall.effective_settings()).{name}") == float(value)


def test_embedded_keywords_are_a_matter_of_the_database(conn: Connection[Any]) -> None:
    number = remember(conn, "content", expanded_keywords=["a"])
    embed(conn, number)
    before = stored(conn, number)
    conn.execute("SET pgrecall.embed_keywords = 'on'")
    store(conn, "embed_keywords", "off")
    assert stored(conn, number) == before
    store(conn, "embed_keywords", "on")
    assert stored(conn, number)["embedding"] is None
    ((_, _, text, *_),) = rows(conn, "pgrecall.claim", "11111111-1111-4111-8111-111111111111")
    assert text == "content\na"


@pytest.mark.usefixtures("dsn")
def test_settings_are_read_only_in_a_read_only_transaction(conn: Connection[Any]) -> None:
    before = contents(conn)
    conn.execute("SET default_transaction_read_only = on")
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        store(conn, "rrf_k", "30")
    assert setting(conn, "rrf_k") == ("10", "default")
    assert contents(conn) == before


@pytest.mark.parametrize("value", ["none", "names", "names,times", "times, names", "patterns, patterns"])
def test_what_is_extracted_is_a_list(conn: Connection[Any], value: str) -> None:
    store(conn, "extract", value)
    assert setting(conn, "extract") == (value, "stored")
    [(setup,)] = conn.execute("SELECT settings FROM pgrecall.extraction_setup()").fetchall()
    assert setup["extract"] == value


@pytest.mark.parametrize(
    "value", ["on", "names,", ",names", "names;times", "none, names", "name", "Names", "names,  times"]
)
def test_a_list_of_other_words_is_refused(conn: Connection[Any], value: str) -> None:
    with refused(conn, "22023"):
        store(conn, "extract", value)


@pytest.mark.parametrize(
    "word", ["patterns", "keywords", "names", "spacy", "titles", "speakers", "times", "facts"]
)
def test_the_switch_of_each_word_names_the_list(conn: Connection[Any], word: str) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue) as error, conn.transaction():
        store(conn, f"extract_{word}", "off")
    assert error.value.diag.message_hint is not None
    assert error.value.diag.message_hint.startswith(
        "It is a word of the list extract, by default 'patterns, "
    )


def test_other_unknown_names_get_the_nearest(conn: Connection[Any]) -> None:
    for name in ("extract_", "extract_none", "extract_lm", "names"):
        with pytest.raises(psycopg.errors.InvalidParameterValue) as error, conn.transaction():
            store(conn, name, "off")
        assert "settings_reference" in (error.value.diag.message_hint or "")
