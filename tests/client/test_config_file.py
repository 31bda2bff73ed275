"""Settings from the environment and the settings file: what beats what, what is sent, what is refused."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import make_conninfo

from pgrecall import AsyncClient, Client, InvalidInput
from pgrecall.cli.connection_settings import connection_settings
from pgrecall.config import file as settings_file
from pgrecall.config import session_settings
from pgrecall.config import settings as config
from pgrecall.server import EmbeddedServer, effective_dsn
from support.reembed import OLD

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg

    from pgrecall import SettingInForce
    from support.reembed import ModelServer

ROOT = Path(__file__).resolve().parents[2]
SECRET = "wholly-secret"


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("PGRECALL_") and "TEST" not in name]:
        monkeypatch.delenv(name)


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str | bytes], Path]:
    """Write the settings file and name it by PGRECALL_CONFIG."""
    path = tmp_path / "my config.toml"
    monkeypatch.setenv("PGRECALL_CONFIG", str(path))

    def write(content: str | bytes) -> Path:
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def sources(client: Client) -> dict[str, tuple[str | None, str]]:
    return {setting.name: (setting.value, setting.source) for setting in client.admin.settings_in_force()}


# -- what the client itself needs


def test_a_file_with_a_bom_is_read(write: Callable[[str | bytes], Path]) -> None:
    """An editor of Windows begins one with it."""
    write("namespace = 'Zoë'\n".encode("utf-8-sig"))
    assert config.load().namespace == "Zoë"


def test_the_environment_beats_the_file(
    write: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    write("dsn = 'host=file'\nnamespace = 'from file'\nmodel = ''\n")
    loaded = config.load()
    assert (loaded.dsn, loaded.namespace, loaded.model) == ("host=file", "from file", None)
    assert effective_dsn() == "host=file"
    monkeypatch.setenv("PGRECALL_DSN", "host=environment")
    monkeypatch.setenv("PGRECALL_NAMESPACE", "")
    loaded = config.load()
    assert (loaded.dsn, loaded.namespace) == ("host=environment", "from file")
    assert config.Settings(dsn="host=argument").dsn == "host=argument"


@pytest.mark.parametrize(
    ("file", "variable", "threshold"),
    [
        ("", None, None),
        ("prepare = true", None, 5),
        ("prepare = 'on'", None, 5),
        ("prepare = true", "off", None),
        ("prepare = false", "1", 5),
    ],
)
def test_statements_are_prepared_if_wanted(
    dsn: str,
    write: Callable[[str], Path],
    monkeypatch: pytest.MonkeyPatch,
    file: str,
    variable: str | None,
    threshold: int | None,
) -> None:
    write(file)
    if variable is not None:
        monkeypatch.setenv("PGRECALL_PREPARE", variable)
    with Client(dsn, pool_max=1) as client:
        for _ in range(8):
            client.admin.last_memory_id()
        with client._database.connection() as connection:
            assert connection.prepare_threshold == threshold
            [row] = connection.execute("SELECT count(*) > 0 AS some FROM pg_prepared_statements").fetchall()
            assert row["some"] == (threshold is not None)
    shown = {setting.name: setting.value for setting in connection_settings()}
    assert shown["prepare"] == ("off" if threshold is None else "on")


def test_a_switch_is_on_or_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGRECALL_PREPARE", SECRET)
    with pytest.raises(InvalidInput, match="prepare") as caught:
        config.load()
    assert caught.value.hint == "Write on or off."
    assert SECRET not in str(caught.value)


def test_folders_count_from_the_file(
    write: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    write("data_dir = 'here'\npg_bindir = '/usr/lib/postgresql'\n")
    loaded = config.load()
    assert (loaded.data_dir, loaded.pg_bindir) == (tmp_path / "here", Path("/usr/lib/postgresql"))
    assert EmbeddedServer().data_dir == (tmp_path / "here").resolve()
    write("data_dir = '~/there'\n")
    assert config.load().data_dir == Path("~/there").expanduser()
    monkeypatch.setenv("PGRECALL_DATA_DIR", "elsewhere")
    assert config.load().data_dir == Path("elsewhere")


def test_the_file_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    assert config.load().namespace is None
    path = tmp_path / "xdg" / "pgrecall" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text("namespace = 'mine'\n")
    assert config.load().namespace == "mine"
    assert settings_file.read().path == path
    monkeypatch.setenv("PGRECALL_CONFIG", os.devnull)
    assert config.load().namespace is None


def test_no_file_of_the_current_folder_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "xdg"))
    monkeypatch.chdir(tmp_path)
    for name in ("pgrecall.toml", "config.toml", ".pgrecall.toml", ".env"):
        (tmp_path / name).write_text("dsn = 'host=strangers'\nPGRECALL_DSN='host=strangers'\n")
    assert config.load().dsn is None


def test_the_client_and_the_daemon_use_it(
    dsn: str, conn: psycopg.Connection[Any], models: ModelServer, write: Callable[[str], Path]
) -> None:
    conn.execute("SELECT pgrecall.activate_model(%s, 384, provider => 'openai')", [OLD])
    write(f"namespace = 'mine'\ndsn = '''{dsn}'''\n")
    with Client() as client:
        client.remember("tea", create_namespace=True)
        assert client.open().namespace == "mine"
        assert client.admin.status().pending == 1
        assert repr(client.open()).count(dsn) == 0
    done = subprocess.run(
        [sys.executable, "-m", "pgrecall_embedder", "--drain"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    with Client(dsn, namespace="other") as client:
        assert client.open().namespace == "other"
        assert client.admin.status().pending == 0


def test_a_bad_file_stops_the_daemon_without_a_traceback(write: Callable[[str], Path]) -> None:
    path = write("dsn = \n")
    done = subprocess.run(
        [sys.executable, "-m", "pgrecall_embedder", "--drain"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert f"{path}, line 1" in done.stderr
    assert "Traceback" not in done.stderr


# -- what is refused


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        ('\ndsn = "password=wholly-secret\n', 2, "not TOML"),
        ("namespace = 'a'\nnamespace = 'b'\n", 2, "not TOML"),
        ("\n\n[settings\n", 3, "not TOML"),
        ("namespace = 'a'\nname_space = 'b'\n", 2, "there is no setting 'name_space'"),
        ("rrf_k = 60\n", 1, "there is no setting 'rrf_k'"),
        ("[server]\ndsn = 'host=wholly-secret'\n", 1, "there is no setting 'server'"),
        ("\ndsn = ['password=wholly-secret']\n", 2, "dsn must be text"),
        ("namespace = 5\n", 1, "namespace must be text"),
        ("\nsettings = 'rrf_k'\n", 2, "settings must be a table"),
        ("[[settings]]\nrrf_k = 1\n", 1, "settings must be a table"),
        ("namespace = 'a'\n[settings]\n\nrrf_k = [60]\n", 4, "rrf_k must be"),
        ("[settings]\npgrecall.rrf_k = 60\n", 2, "pgrecall must be"),
        ("[settings.rrf_k]\nvalue = 60\n", 1, "rrf_k must be"),
        ("[settings]\nsince = 2026-01-01\n", 2, "since must be"),
        (b"namespace = 'a'\nmodel = '\xff'\n", 2, "not UTF-8"),
    ],
)
def test_a_bad_file_is_named_with_the_line(
    write: Callable[[str | bytes], Path], content: str | bytes, line: int, said: str
) -> None:
    path = write(content)
    for read in (config.load, settings_file.read, connection_settings, Client("host=x").open):
        with pytest.raises(InvalidInput) as caught:
            read()
        assert caught.value.message.startswith(f"{path}, line {line}: {said}")
        assert caught.value.hint
        assert SECRET not in f"{caught.value} {caught.value.hint}"


def test_a_file_that_ends_too_early_is_named(write: Callable[[str], Path]) -> None:
    path = write("dsn = '''password=wholly-secret\n")
    with pytest.raises(InvalidInput, match="not TOML") as caught:
        config.load()
    assert str(path) in caught.value.message
    assert SECRET not in caught.value.message


def test_near_names_are_offered(write: Callable[[str], Path]) -> None:
    write("name_space = 'a'\n")
    with pytest.raises(InvalidInput) as caught:
        config.load()
    assert caught.value.hint == "Did you mean namespace?"


def test_a_file_that_is_named_and_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in (tmp_path / "nowhere.toml", tmp_path):
        monkeypatch.setenv("PGRECALL_CONFIG", str(path))
        with pytest.raises(InvalidInput) as caught:
            config.load()
        assert str(path) in caught.value.message
        assert "PGRECALL_CONFIG" in str(caught.value.hint)


def test_a_folder_in_the_place_of_the_users_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "pgrecall" / "config.toml").mkdir(parents=True)
    with pytest.raises(InvalidInput, match="cannot be read"):
        config.load()


# -- settings of the database


def test_what_is_given_is_sent_with_every_call(
    dsn: str, write: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(
        "[settings]\nfusion = 'rrf'\nrrf_k = 60\nleg_depth = '7'\ngraph_decay = 0.00001\nphrase_bonus = ''\n"
    )
    monkeypatch.setenv("PGRECALL_LEG_DEPTH", "9")
    monkeypatch.setenv("PGRECALL_GRAPH_HOPS", "")
    with Client(dsn, pool_max=1) as client:
        found = sources(client)
        assert found["rrf_k"] == ("60", str(path))
        assert found["leg_depth"] == ("9", "environment PGRECALL_LEG_DEPTH")
        assert found["graph_decay"] == ("0.00001", str(path))
        assert found["phrase_bonus"][1] == found["graph_hops"][1] == "default"
        client.remember("tea")
        assert client.recall("tea", embed=False)[0].score == pytest.approx(1 / 61)
        tuned = client.recall("tea", embed=False, settings={"rrf_k": 30})
        assert tuned[0].score == pytest.approx(1 / 31)
        assert client.recall("tea", embed=False)[0].score == pytest.approx(1 / 61)
        with client._database.connection() as connection:
            row = connection.execute("SELECT current_setting('pgrecall.rrf_k', true) AS k").fetchone()
            assert row is not None
            assert not row["k"]


def test_the_asynchronous_client_sends_it_too(dsn: str, write: Callable[[str], Path]) -> None:
    path = write("[settings]\nrrf_k = 60\n")

    async def ask() -> list[SettingInForce]:
        async with AsyncClient(dsn) as client:
            return await client.admin.settings_in_force()

    (found,) = [setting for setting in asyncio.run(ask()) if setting.name == "rrf_k"]
    assert (found.value, found.source) == ("60", str(path))


def test_the_order_of_sources(
    dsn: str, conn: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Client(dsn) as client:
        assert sources(client)["rrf_k"][1] == "default"
        client.admin.set_setting("rrf_k", 20)
        client.admin.set_setting("fusion", "rrf")
        assert sources(client)["rrf_k"] == ("20", "stored")
    name = conn.info.dbname
    conn.execute(f"ALTER DATABASE {name} SET pgrecall.rrf_k = 30")
    with Client(dsn) as client:
        assert sources(client)["rrf_k"] == ("30", "parameter (SET)")
    monkeypatch.setenv("PGRECALL_RRF_K", "40")
    with Client(dsn) as client:
        assert sources(client)["rrf_k"] == ("40", "environment PGRECALL_RRF_K")
        client.remember("tea")
        assert client.recall("tea", embed=False)[0].score == pytest.approx(1 / 41)


def test_what_is_stored(shared: Client) -> None:
    with pytest.raises(InvalidInput) as caught:
        shared.admin.set_setting("rrk_f", 3)
    assert caught.value.sqlstate == "22023"
    assert "rrf_k" in str(caught.value.hint)
    with pytest.raises(InvalidInput) as caught:
        shared.admin.set_setting("rrf_k", "many")
    assert caught.value.sqlstate == "22023"
    shared.admin.set_setting("rrf_k", 33)
    assert sources(shared)["rrf_k"] == ("33", "stored")
    shared.admin.set_setting("rrf_k", None)
    assert sources(shared)["rrf_k"][1] == "default"


@pytest.mark.parametrize(
    ("content", "line", "sqlstate", "hint"),
    [
        ("namespace = 'a'\n[settings]\nrrk_f = 60\n", 3, "22023", "rrf_k"),
        ("[settings]\nRRF_K = 60\n", 2, "22023", "rrf_k"),
        ("settings.rrfk = 60\n", 1, "22023", "rrf_k"),
        ("settings = { leg_depth = 3, rrfk = 60 }\n", 1, "22023", "rrf_k"),
        ("[settings]\n'pgrecall.rrf_k' = 60\n", 2, "22023", "rrf_k"),
        ("[settings]\nzzzzzzz = 60\n", 2, "22023", "pgrecall config"),
        ("[settings]\nbm25_b = 0.5\n", 2, "22023", "pgrecall config set bm25_b"),
        ("[settings]\nembedding_model = 'x'\n", 2, "22023", "migrate"),
        ("[settings]\nquery_model = 'x'\n", 2, "22023", "above"),
        ("namespace = 'a'\n[settings]\nnamespace = 'x'\n", 3, "22023", "above"),
    ],
)
def test_names_the_file_cannot_give(
    shared: Client, write: Callable[[str], Path], content: str, line: int, sqlstate: str, hint: str
) -> None:
    path = write(content)
    with Client(shared.open().dsn) as client, pytest.raises(InvalidInput) as caught:
        client.admin.status()
    assert caught.value.message.startswith(f"{path}, line {line}: ")
    assert caught.value.sqlstate == sqlstate
    assert hint in str(caught.value.hint)


def test_other_variables_are_left_alone(shared: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DSN", "TEST_DSN", "EMBEDDER_KEY", "RERANK_API_KEY", "BENCH_LANGCHAIN", "NO_SUCH"):
        monkeypatch.setenv(f"PGRECALL_{name}", SECRET)
    with Client(shared.open().dsn) as client:
        client.admin.status()
        assert SECRET not in repr(client.open())
        assert {source for _, source in sources(client).values()} == {"default"}
        assert [one.name for one in client.open().requested] == ["no_such"]  # only that may be asked after
        assert client._database.settings == {}


def test_what_the_code_reads_from_the_environment_is_never_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some are secrets, and the database says which settings it has."""
    files = [file for folder in ("pyclient", "embedder") for file in (ROOT / folder).rglob("*.py")]
    named = {
        name for file in files for name in re.findall(r"\bPGRECALL_[A-Z_]*[A-Z]\b", file.read_text("utf-8"))
    }
    settings = named - {"PGRECALL_NAME"}  # the pattern, in a docstring
    assert {"PGRECALL_LLM_API_KEY", "PGRECALL_DSN", "PGRECALL_MCP_TOKEN"} <= settings
    for name in settings:
        monkeypatch.setenv(name, "a secret")
    requested = session_settings.requested_settings(settings_file.SettingsFile(Path("none")))
    assert settings & {session_settings.environment_variable(one.name) for one in requested} == set()


@pytest.mark.parametrize(
    ("name", "hint"),
    [("BM25_K1", "config set"), ("EMBEDDING_MODEL", "reembed --model"), ("QUERY_MODEL", "`model`")],
)
def test_a_variable_for_what_no_client_can_have(
    shared: Client, monkeypatch: pytest.MonkeyPatch, name: str, hint: str
) -> None:
    monkeypatch.setenv(f"PGRECALL_{name}", "2")
    with (
        Client(shared.open().dsn) as client,
        pytest.raises(InvalidInput, match=f"environment PGRECALL_{name}") as caught,
    ):
        client.admin.status()
    assert hint in str(caught.value.hint)


def test_a_bad_value_is_refused_where_it_is_used(shared: Client, write: Callable[[str], Path]) -> None:
    write("[settings]\nrrf_k = 'many'\n")
    with Client(shared.open().dsn) as client:
        assert sources(client)["rrf_k"][0] == "many"
        with pytest.raises(InvalidInput, match="rrf_k"):
            client.recall("tea", embed=False)


def test_a_reader_may_list_the_settings(dsn: str, conn: psycopg.Connection[Any]) -> None:
    reader = make_conninfo(dsn, options="-c role=pgrecall_reader")
    with Client(reader) as client:
        listed = client.admin.settings_in_force()
    names = [name for (name,) in conn.execute("SELECT name FROM pgrecall.setting_definitions ORDER BY name")]
    assert [setting.name for setting in listed] == names
    assert all(setting.description for setting in listed)
    assert listed[0].as_dict()["name"] == names[0]


def test_secrets_are_not_shown(write: Callable[[str], Path]) -> None:
    write(f"dsn = 'postgresql://me:{SECRET}@db.example/app?sslpassword={SECRET}'\n")
    assert SECRET not in repr(config.load())
    assert SECRET not in repr(settings_file.read())
    rows = connection_settings()
    assert SECRET not in repr(rows)
    (row,) = [row for row in rows if row.name == "dsn"]
    assert "host=db.example" in str(row.value)
    assert "password=***" in str(row.value)
