"""`pgrecall config`: what it prints, what it stores, and how it fails."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall.cli import main
from pgrecall.config.file import CONNECTION
from pgrecall.server import default_data_dir

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import psycopg

SECRET = "wholly-secret"


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    """Run a command in this process; nothing is configured but what a test configures."""
    for name in [name for name in os.environ if name.startswith("PGRECALL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PGRECALL_CONFIG", os.devnull)
    monkeypatch.setenv("COLUMNS", "250")

    def run(*arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as caught:
            main(list(arguments))
        captured = capsys.readouterr()
        code = caught.value.code
        return (0 if code is None else int(code), captured.out, captured.err)

    return run


@pytest.fixture
def listed(cli: Callable[..., tuple[int, str, str]]) -> Callable[..., dict[str, dict[str, Any]]]:
    """Give the rows of `pgrecall config --json` by name."""

    def rows(*arguments: str) -> dict[str, dict[str, Any]]:
        code, out, err = cli("config", "--json", *arguments)
        assert (code, err) == (0, "")
        return {row["name"]: row for row in json.loads(out)}

    return rows


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_every_setting_with_its_source(
    dsn: str,
    listed: Callable[..., dict[str, dict[str, Any]]],
    conn: psycopg.Connection[Any],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    rows = listed("--dsn", dsn)
    names = {name for (name,) in conn.execute("SELECT name FROM pgrecall.setting_definitions")}
    own = ["config", *CONNECTION]
    assert set(rows) == names | set(own)
    assert list(rows)[: len(own)] == own
    assert rows["dsn"]["source"] == "argument"
    assert rows["data_dir"]["value"] == str(default_data_dir())
    assert rows["namespace"]["value"] == "default"
    assert rows["rrf_k"]["source"] == "default"
    assert rows["rrf_k"]["unit"] == "ranks"
    assert "fusion" in rows["rrf_k"]["description"]
    assert (rows["dsn"]["group"], rows["k"]["group"]) == ("connection", "everyday")
    assert set(listed("--dsn", dsn, "--changed")) == {"config", "dsn"}

    path = _write(tmp_path / "c.toml", f"dsn = '''{dsn}'''\n[settings]\nrrf_k = 60\nleg_depth = 7\n")
    monkeypatch.setenv("PGRECALL_CONFIG", str(path))
    monkeypatch.setenv("PGRECALL_NAMESPACE", "mine")
    monkeypatch.setenv("PGRECALL_LEG_DEPTH", "9")
    conn.execute("SELECT pgrecall.set_setting('graph_hops', '1')")
    conn.execute(f"ALTER DATABASE {conn.info.dbname} SET pgrecall.graph_decay = 0.25")
    changed = {name: (row["value"], row["source"]) for name, row in listed("--changed").items()}
    assert changed.pop("dsn")[1] == str(path)
    assert changed == {
        "config": (str(path), "environment PGRECALL_CONFIG"),
        "namespace": ("mine", "environment PGRECALL_NAMESPACE"),
        "rrf_k": ("60", str(path)),
        "leg_depth": ("9", "environment PGRECALL_LEG_DEPTH"),
        "graph_hops": ("1", "stored"),
        "graph_decay": ("0.25", "parameter (SET)"),
    }


def test_the_table(dsn: str, cli: Callable[..., tuple[int, str, str]]) -> None:
    code, out, err = cli("config", "--dsn", dsn)
    assert (code, err) == (0, "")
    (line,) = [line for line in out.splitlines() if line.lstrip().startswith("rrf_k ")]
    assert line.split()[1:4] == ["10", "default", "ranks"]
    groups = [line.strip() for line in out.splitlines() if line.strip().isalpha()]
    assert groups[:2] == ["connection", "everyday"]
    assert groups[-1] == "earlier"
    assert len(groups) == len(set(groups))
    code, out, _ = cli("config", "--changed", "--dsn", dsn)
    assert code == 0
    assert "rrf_k" not in out
    assert "dsn" in out


def test_set_and_unset(
    dsn: str,
    cli: Callable[..., tuple[int, str, str]],
    conn: psycopg.Connection[Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert cli("config", "set", "rrf_k", "20", "--dsn", dsn) == (0, "rrf_k = 20 (stored)\n", "")
    stored = conn.execute("SELECT value FROM pgrecall.settings WHERE name = 'rrf_k'").fetchone()
    assert stored == ("20",)
    monkeypatch.setenv("PGRECALL_RRF_K", "30")
    code, out, err = cli("config", "set", "rrf_k", "25", "--dsn", dsn)
    assert (code, out) == (0, "rrf_k = 30 (environment PGRECALL_RRF_K)\n")
    assert "has no effect here" in err
    monkeypatch.delenv("PGRECALL_RRF_K")
    assert cli("config", "unset", "rrf_k", "--dsn", dsn) == (0, "rrf_k = 10 (default)\n", "")
    assert conn.execute("SELECT 1 FROM pgrecall.settings WHERE name = 'rrf_k'").fetchone() is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["set", "rrk_f", "20"], "rrf_k"),
        (["unset", "rrk_f"], "rrf_k"),
        (["set", "rrf_k", "many"], "10000"),
        (["set", "embedding_model", "x"], "`pgrecall config` lists all settings"),
    ],
)
def test_what_cannot_be_stored(
    dsn: str, cli: Callable[..., tuple[int, str, str]], arguments: list[str], said: str
) -> None:
    code, out, err = cli("config", *arguments, "--dsn", dsn)
    assert (code, out) == (1, "")
    first, second = err.splitlines()
    assert first.startswith("error: ")
    assert second.startswith("hint: ")
    assert said in second


def test_an_unknown_setting_is_refused(dsn: str, cli: Callable[..., tuple[int, str, str]]) -> None:
    for name in ("rrk_f", "rrf-k", "pgrecall.rrf_k"):
        code, out, err = cli("config", "set", name, "20", "--dsn", dsn)
        assert (code, out) == (1, "")
        message, hint = err.splitlines()
        assert message == f'error: there is no setting "{name}"'
        assert hint.startswith("hint: The nearest names: ")
        assert "rrf_k" in hint


def test_a_value_may_look_like_an_option(dsn: str, cli: Callable[..., tuple[int, str, str]]) -> None:
    code, _, err = cli("config", "set", "--dsn", dsn, "--", "rrf_k", "-5")
    assert code == 1
    assert "10000" in err


@pytest.mark.parametrize("arguments", [["set", "rrf_k"], ["unset"], ["set", "a", "b", "c"]])
def test_usage(cli: Callable[..., tuple[int, str, str]], arguments: list[str]) -> None:
    code, out, err = cli("config", *arguments)
    assert (code, out) == (2, "")
    assert "Traceback" not in err


@pytest.mark.parametrize(
    "command", [["config"], ["status"], ["recall", "x"], ["up"], ["doctor"], ["embedder", "--drain"]]
)
def test_a_bad_file_ends_every_command_in_one_line(
    cli: Callable[..., tuple[int, str, str]],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    command: list[str],
) -> None:
    path = _write(tmp_path / "c.toml", f"\ndsn = ['password={SECRET}']\n")
    monkeypatch.setenv("PGRECALL_CONFIG", str(path))
    code, out, err = cli(*command)
    assert (code, out) == (1, "")
    first, second = err.splitlines()
    assert first == f"error: {path}, line 2: dsn must be text"
    assert second.startswith("hint: ")


def test_an_unknown_name_in_the_file(
    dsn: str, cli: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = _write(tmp_path / "c.toml", "[settings]\nrrk_f = 1\n")
    monkeypatch.setenv("PGRECALL_CONFIG", str(path))
    code, out, err = cli("config", "--json", "--dsn", dsn)
    assert (code, out) == (1, "")
    assert err.splitlines() == [
        f"error: {path}, line 2: there is no setting 'rrk_f'",
        "hint: Did you mean rrf_k?",
    ]


def test_no_password_is_printed(
    cli: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    given = f"postgresql://me:{SECRET}@127.0.0.1:1/app?connect_timeout=2"
    monkeypatch.setenv("COLUMNS", "400")  # no path is cut
    path = _write(tmp_path / "c.toml", f"dsn = '{given}'\n")
    for by_file in (True, False):
        monkeypatch.setenv("PGRECALL_CONFIG", str(path) if by_file else os.devnull)
        if not by_file:
            monkeypatch.setenv("PGRECALL_DSN", given)
        code, out, err = cli("config")
        assert code == 1
        assert err.startswith("error: ")
        # Who was asked, and by whose word, is said though nobody answered.
        assert "host=127.0.0.1" in out
        assert (str(path) if by_file else "environment PGRECALL_DSN") in out
        assert "password=***" in out
        assert SECRET not in out + err
        code, out, err = cli("config", "--json")
        assert (code, out) == (1, "")
        assert SECRET not in err


def test_a_data_folder_beats_a_configured_server(
    cli: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PGRECALL_DSN", "host=configured")
    (tmp_path / "letters.txt").write_text("mine")
    code, out, _ = cli("config", "--data-dir", str(tmp_path))
    assert code == 1  # the folder is not one of a server
    assert "host=configured" not in out
    (line,) = [line for line in out.splitlines() if line.lstrip().startswith("data_dir ")]
    assert line.split()[1:3] == [str(tmp_path), "argument"]
