"""Real PostgreSQL servers for tests: each in a directory of its own, on 127.0.0.1 and a free port.

Run as ``python -m tests.postgres`` it sees to it that there are binaries to start. What the environment may say:

* ``RESTANTE_TEST_POSTGRES``: the directory of ``initdb`` and ``postgres``;
* ``RESTANTE_TEST_REQUIRE_PROGRAMS``: binaries that cannot be had are a failure, not a reason to skip.
"""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import psycopg

if TYPE_CHECKING:
    from collections.abc import Iterator

_PLACES = (
    "/usr/lib/postgresql/*/bin",
    "/usr/pgsql-*/bin",
    "/opt/homebrew/opt/postgresql*/bin",
    "/usr/local/opt/p*/bin",
)
_NEEDED = ("initdb", "postgres", "pg_basebackup")
_START_SECONDS = 60
_ROOM_BYTES = 4 << 30
_STOP = {"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT, "kill": signal.SIGKILL}

# What tests do not look at: power loss. A killed process loses nothing without fsync.
QUICK = {"fsync": "off", "full_page_writes": "off", "max_wal_size": "256MB", "autovacuum_naptime": "10s"}


@cache
def binaries() -> str:
    """Return the directory of PostgreSQL's programs, the newest there is; empty when there is none."""
    named = os.environ.get("RESTANTE_TEST_POSTGRES")
    if named:
        return named
    on_path = shutil.which("postgres")
    found = [os.path.dirname(os.path.realpath(on_path))] if on_path else []
    found += sorted((one for place in _PLACES for one in glob.glob(place)), key=_version_of, reverse=True)
    return next((one for one in found if all(os.access(f"{one}/{name}", os.X_OK) for name in _NEEDED)), "")


def _version_of(directory: str) -> int:
    return int("".join(letter for letter in directory if letter.isdigit())[:2] or 0)


def _servant() -> dict[str, Any]:
    """Return how to start a process of the server, which refuses to run as root."""
    if os.geteuid():
        return {}
    for name in ("postgres", "nobody"):
        try:
            found = pwd.getpwnam(name)
        except KeyError:
            continue
        return {"user": found.pw_uid, "group": found.pw_gid, "extra_groups": []}
    raise RuntimeError("there is no user to run PostgreSQL as")


class Server:
    """One PostgreSQL server.

    Args:
        directory: An existing directory that may be used up.
        settings: Settings beside those that every server here has.
    """

    def __init__(self, directory: str, settings: dict[str, str] | None = None) -> None:
        self.directory = directory
        self.data = os.path.join(directory, "data")
        self.settings = settings or {}
        self.port = _free_port()
        self.process: subprocess.Popen[bytes] | None = None
        self._log = os.path.join(directory, "log")
        self._servant = _servant()
        if self._servant:
            os.chown(directory, self._servant["user"], self._servant["group"])

    def create(self) -> None:
        """Make an empty cluster."""
        self._run("initdb", "-D", self.data, "-U", "restante", "-A", "trust", "-E", "UTF8", "--no-locale", "--no-sync")

    def copy_of(self, primary: Server, name: str) -> None:
        """Become a standby of a running server, under a name that its settings can ask for."""
        source = f"host=127.0.0.1 port={primary.port} user=restante application_name={name}"
        self._run("pg_basebackup", "-D", self.data, "-d", source, "-R", "-X", "stream", "-c", "fast", "--no-sync")

    def start(self) -> None:
        """Start it, and wait until it answers."""
        given = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": self.directory,
            "max_connections": "60",
            "shared_buffers": "32MB",
            "log_min_messages": "warning",
            **self.settings,
        }
        command = [f"{binaries()}/postgres", "-D", self.data]
        command += [part for name, value in given.items() for part in ("-c", f"{name}={value}")]
        with open(self._log, "ab") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.directory, **self._servant
            )
        self.wait()

    def wait(self) -> None:
        """Wait until it answers.

        Raises:
            RuntimeError: It ended, or takes too long.
        """
        end = time.monotonic() + _START_SECONDS
        while True:
            try:
                psycopg.connect(self.url(), connect_timeout=5).close()
            except psycopg.OperationalError:
                if time.monotonic() > end or not self.process or self.process.poll() is not None:
                    raise RuntimeError(f"the server does not start:\n{self.log()}") from None
                time.sleep(0.02)
            else:
                return

    def stop(self, how: str = "immediate") -> None:
        """Stop it and wait for its end; stopping twice changes nothing.

        Args:
            how: ``smart``, ``fast``, ``immediate`` or ``kill``.
        """
        process, self.process = self.process, None
        if not process:
            return
        if how == "kill":
            # Its children end when they find it gone; until then the data directory is not free for the next start.
            children = _children_of(process.pid)
            process.kill()
            for child in children:
                _kill(child)
        else:
            process.send_signal(_STOP[how])
        process.wait(_START_SECONDS)

    def restart(self, how: str = "fast") -> None:
        """Stop it and start it again, on the same port."""
        self.stop(how)
        self.start()

    def promote(self) -> None:
        """Make a standby the primary, and wait until it is."""
        self.run("SELECT pg_promote(wait => true, wait_seconds => 60)")

    def run(self, sql: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Run a statement by itself, and return its rows, if it has any."""
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            cursor = connection.execute(sql)
            return cursor.fetchall() if cursor.description else []

    def url(self, database: str = "postgres", *others: Server) -> str:
        """Return the URL of a database here; with other servers, one that names them all."""
        hosts = ",".join(f"127.0.0.1:{server.port}" for server in (self, *others))
        return f"postgresql://restante@{hosts}/{database}"

    def log(self) -> str:
        """Return what it logged."""
        with open(self._log, encoding="utf-8", errors="replace") as log:
            return log.read()

    def _run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            [f"{binaries()}/{program}", *arguments],
            cwd=self.directory,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_START_SECONDS * 2,
            **self._servant,
        )
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stderr}")


def reason_to_skip() -> str:
    """Return why tests cannot have a server; empty when they can, or must."""
    if binaries() or os.environ.get("RESTANTE_TEST_REQUIRE_PROGRAMS"):
        return ""
    return "NOT TESTED: there is no PostgreSQL here; RESTANTE_TEST_POSTGRES names its bin directory"


@contextmanager
def running(*, on_disk: bool = False, **settings: str) -> Iterator[Server]:
    """Run a server of its own for a while, with all its files in a directory that is removed afterwards.

    Args:
        on_disk: Whether its files must be on a disk, so that what it costs to write there shows.
        **settings: Settings beside ``QUICK``.
    """
    with directory(on_disk=on_disk) as place:
        server = Server(place, QUICK | settings)
        server.create()
        server.start()
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def directory(*, on_disk: bool = False) -> Iterator[str]:
    """Make a directory for a server: with a short path, since that of a socket may have no more than 103 bytes."""
    place = tempfile.mkdtemp(prefix="restante-pg-", dir="/tmp" if on_disk else _quick_place())
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _quick_place() -> str:
    """Return where files cost nothing, if there is room: what is tested here is no disk."""
    memory = "/dev/shm"
    try:
        found = os.statvfs(memory)
    except OSError:
        return "/tmp"
    has_room = found.f_bavail * found.f_frsize > _ROOM_BYTES
    return memory if has_room and os.access(memory, os.W_OK | os.X_OK) else "/tmp"


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def _children_of(pid: int) -> list[int]:
    done = subprocess.run(["ps", "-A", "-o", "ppid=", "-o", "pid="], capture_output=True, text=True)
    pairs = (line.split() for line in done.stdout.splitlines())
    return [int(child) for parent, child in pairs if parent == str(pid)]


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def main() -> int:
    """Install Debian's package where there are no binaries and that can be done; say what was found."""
    can_install = not binaries() and not os.geteuid() and shutil.which("apt-get")
    if can_install:
        for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "postgresql"]):
            environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
            done = subprocess.run(command, env=environment, capture_output=True, text=True)
            if done.returncode:
                print(f"{' '.join(command)}: {done.stderr.strip()}", file=sys.stderr)
                break
        binaries.cache_clear()
    if binaries():
        print(f"PostgreSQL: {binaries()}")
        return 0
    print(
        "PostgreSQL: not found; its tests will be skipped. RESTANTE_TEST_POSTGRES names its bin directory.",
        file=sys.stderr,
    )
    return 1 if os.environ.get("RESTANTE_TEST_REQUIRE_PROGRAMS") else 0


if __name__ == "__main__":
    sys.exit(main())
