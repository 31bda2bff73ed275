"""tools/system_server.sh: where pgvector's source is taken from, what it refuses, and the cluster for a test run."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import psycopg
import pytest

from pgrecall.server.settings import QUIET_LOG

ROOT = Path(__file__).resolve().parents[2]
TOOL = ROOT / "tools" / "system_server.sh"

DEB822 = """\
# what this machine gets its packages from
Types: deb deb-src
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Architectures: amd64
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 -----END PGP PUBLIC KEY BLOCK-----

Types: deb
URIs: http://security.example/debian-security
Suites: bookworm-security
Components: main

Enabled: no
Types: deb
URIs: http://disabled.example/debian
Suites: bookworm
Components: main
"""
NEXT_DEB822 = """\
URIs: http://mirror.example/debian
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 -----END PGP PUBLIC KEY BLOCK-----
Types: {kind}
Suites: trixie
Components: main

"""
ONE_LINE = """\
# deb http://comment.example/debian bookworm main
deb [arch=amd64 signed-by=/usr/share/keyrings/mirror.gpg] http://mirror.example/debian bookworm main contrib
deb http://plain.example/debian/ bookworm contrib main
deb http://mirror.example/debian bookworm-updates main
deb http://free.example/apt bookworm free
deb-src http://source.example/debian bookworm main
"""
NEXT_ONE_LINE = [
    "{kind} [arch=amd64 signed-by=/usr/share/keyrings/mirror.gpg] http://mirror.example/debian trixie main",
    "{kind} http://plain.example/debian/ trixie main",
]


def call(function: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a function of the tool, which is read for it."""
    command = ["bash", "-c", f'source "$1" && shift && {function} "$@"', "bash", TOOL, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def apt(tmp_path: Path) -> Path:
    """A folder like /etc/apt, without a source."""
    (tmp_path / "apt" / "sources.list.d").mkdir(parents=True)
    (tmp_path / "next").mkdir()
    return tmp_path / "apt"


@pytest.mark.parametrize("kind", ["deb", "deb-src"])
def test_sources_in_deb822_form_lead_to_the_next_release(apt: Path, kind: str) -> None:
    (apt / "sources.list.d" / "debian.sources").write_text(DEB822)
    done = call("next_sources", apt, apt.parent / "next", kind)
    assert (done.returncode, done.stderr) == (0, "")
    assert (apt.parent / "next" / "next.sources").read_text() == NEXT_DEB822.format(kind=kind)
    assert not (apt.parent / "next" / "next.list").exists()


@pytest.mark.parametrize("kind", ["deb", "deb-src"])
@pytest.mark.parametrize("name", ["sources.list", "sources.list.d/debian.list"])
def test_sources_a_line_each_lead_to_the_next_release(apt: Path, name: str, kind: str) -> None:
    (apt / name).write_text(ONE_LINE)
    done = call("next_sources", apt, apt.parent / "next", kind)
    assert (done.returncode, done.stderr) == (0, "")
    lines = (apt.parent / "next" / "next.list").read_text().splitlines()
    assert [" ".join(line.split()) for line in lines] == [line.format(kind=kind) for line in NEXT_ONE_LINE]


def test_without_a_source_of_debian_there_is_none(apt: Path) -> None:
    (apt / "sources.list.d" / "other.sources").write_text(DEB822.replace("bookworm", "nodistro"))
    (apt / "sources.list").write_text("")
    assert call("next_sources", apt, apt.parent / "next", "deb").returncode == 0
    assert [path.read_text() for path in (apt.parent / "next").iterdir()] == ["", ""]


def test_an_unknown_command_is_refused() -> None:
    done = subprocess.run([TOOL, "remove"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "unknown command 'remove'" in done.stderr
    assert "hint: One of: packages" in done.stderr


def test_settings_fit_the_memory() -> None:
    done = call("settings")
    settings = dict(line.split("=") for line in done.stdout.splitlines())
    megabytes = {
        name: int(value.removesuffix("MB")) for name, value in settings.items() if value.endswith("MB")
    }
    physical = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20
    assert (
        0
        < megabytes["maintenance_work_mem"]
        < megabytes["shared_buffers"]
        < megabytes["effective_cache_size"]
    )
    assert megabytes["effective_cache_size"] <= physical / 2
    assert settings["jit"] == "off"
    assert QUIET_LOG.items() <= settings.items()


@pytest.mark.pg15
@pytest.mark.skipif(
    not os.environ.get("PGRECALL_REQUIRE_SERVER_EXTRAS"), reason="not on a cluster of `make test-server`"
)
def test_the_cluster_of_a_test_run_is_reached_by_its_socket_only(server_dsn: str) -> None:
    with psycopg.connect(server_dsn) as connection:
        shown = [
            connection.execute(f"SHOW {name}".encode()).fetchone() for name in ("listen_addresses", "fsync")
        ]
        assert shown == [("",), ("off",)]
        folder = Path(connection.info.host)
    assert (folder.stat().st_mode & 0o777, folder.owner()) == (0o700, "postgres")


def test_the_images_are_made_of_what_there_is() -> None:
    dockerfile = (ROOT / "Dockerfile").read_text()
    stages = re.findall(r"(?m)^FROM \S+ AS (\w+)$", dockerfile)
    for options, names in re.findall(r"(?m)^COPY (--from=\S+ )?(.+) \S+$", dockerfile):
        if options:
            assert options.strip().removeprefix("--from=") in stages
        else:
            assert all((ROOT / name).exists() for name in names.split())
    compose = (ROOT / "compose.yaml").read_text()
    assert set(re.findall(r"target: (\w+)", compose)) == {"server", "daemon"} <= set(stages)
