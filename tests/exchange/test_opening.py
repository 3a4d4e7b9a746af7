"""How a caller of this machine gets its window: by what its environment says, here or through a server."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, cast

import pytest

from restante.domain.errors import BadConfig, Forbidden, Refused, RestanteError, Unreachable, Unsafe, UsageError
from restante.domain.message import Draft
from restante.domain.registry import Identity, Presence
from restante.exchange import Exchange
from restante.system.processes import process_of
from restante.system.remote import RemoteWindow
from restante.wiring.accounts import open_accounts
from restante.wiring.serving import announced, live_server, serving
from restante.wiring.sessions import SessionParts, open_exchange, open_roster, open_window

if TYPE_CHECKING:
    from pathlib import Path

    from restante.stores.sql.listening import PostgresWatcher

THREAD = "7a3e0000-0000-4000-8000-00000000000a"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    # Whoever runs the tests by an agent is no person to us.
    monkeypatch.setattr("restante.wiring.sessions.program_above", lambda _: None)
    return {"HOME": str(tmp_path), "RESTANTE_DATA": str(tmp_path / "data")}


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    place = tmp_path / "repo"
    (place / ".git").mkdir(parents=True)
    (place / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return place


def test_an_agents_session_is_registered_by_its_first_use_and_proven_from_then_on(
    home: dict[str, str], repo: Path
) -> None:
    environment = {**home, "CODEX_THREAD_ID": THREAD}
    window = open_window(environment, str(repo))
    assert window.identity == Identity("", THREAD, verified=True)
    (row,) = window.sessions()
    assert (row.session.vendor, row.session.worktree) == ("codex", str(repo))
    events = [one.sessions()[0].session.event for one in (window, open_window(environment, str(repo)))]
    assert events[0] == events[1]
    for directory, mode in ((repo.parent / "data", 0o700), (repo.parent / "data" / "sessions" / THREAD, 0o600)):
        assert stat.S_IMODE(directory.stat().st_mode) == mode


def test_a_detached_session_that_asks_again_is_attached_again(home: dict[str, str], repo: Path) -> None:
    environment = {**home, "CODEX_THREAD_ID": THREAD}
    open_window(environment, str(repo)).detach()
    (row,) = open_window(environment, str(repo)).sessions()
    assert row.session.detached is None
    assert row.presence in (Presence.ALIVE, Presence.UNKNOWN)


def test_a_person_is_proven_by_the_token_and_decides_about_persistence(home: dict[str, str], repo: Path) -> None:
    window = open_window(home, str(repo))
    assert window.identity == Identity("", verified=True)
    assert window.set_persistence(True).is_on
    token = (repo.parent / "data" / "person").read_text().strip()
    for path in (repo.parent / "data").glob("restante.db*"):
        assert token.encode() not in path.read_bytes()


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")
def test_an_agents_command_that_drops_its_session_does_not_become_the_person(
    home: dict[str, str], repo: Path, tmp_path: Path
) -> None:
    person = open_window(home, str(repo))
    person.set_persistence(True)
    open_window({**home, "CODEX_THREAD_ID": THREAD}, str(repo))
    shell = tmp_path / "codex"
    shell.symlink_to("/bin/sh")
    for command, code in (
        (f"post {THREAD} 'The parser may go.'", 0),
        ("persist off", 4),
        (f"session delete {THREAD}", 4),
    ):
        line = f"{sys.executable} -I -m restante {command}; exit $?"
        done = subprocess.run([shell, "-c", line], cwd=repo, env=home, capture_output=True, text=True, timeout=60)
        assert done.returncode == code, done.stderr
    (entry,) = person.read(THREAD).entries
    assert entry.message.sender.label == "user (unverified)"
    assert entry.message.type == "note"


def test_a_nested_run_is_no_session_reads_are_peeks_and_acks_forbidden(home: dict[str, str], repo: Path) -> None:
    """Told apart by the environment where no agent program can be seen above: it names two sessions."""
    outer = {**home, "CODEX_THREAD_ID": THREAD}
    open_window(home, str(repo)).set_persistence(True)
    own = open_window(outer, str(repo))
    message = open_window(home, str(repo)).post(THREAD, Draft("For the outer one.")).posted.message
    nested = open_window({**outer, "CLAUDE_CODE_SESSION_ID": "another-session"}, str(repo))
    assert not nested.identity.session
    assert nested.identity.sender.label == "user (unverified)"
    reading = nested.read(THREAD)
    assert reading.is_peek
    nested.confirm([message.id], THREAD)
    with pytest.raises(Forbidden):
        nested.acknowledge([message.id], THREAD)
    assert own.read().counts.unseen == 1
    assert [row.session.id for row in own.sessions()] == [THREAD]


def test_who_cannot_have_a_secret_is_unverified_and_no_less(home: dict[str, str], repo: Path) -> None:
    data = repo.parent / "data"
    (data / "person").mkdir(parents=True)
    (data / "sessions").write_text("a file where the directory of secrets should be")
    assert open_window(home, str(repo)).identity == Identity()
    agent = open_window({**home, "CODEX_THREAD_ID": THREAD}, str(repo))
    assert agent.identity == Identity("", THREAD, verified=False)


def test_outside_of_worktrees_a_window_opens_too(home: dict[str, str], tmp_path: Path) -> None:
    window = open_window({**home, "CODEX_THREAD_ID": THREAD}, str(tmp_path))
    assert window.sessions()[0].session.worktree == ""


def test_a_configured_server_is_asked(home: dict[str, str], repo: Path) -> None:
    window = open_window({**home, "RESTANTE_SERVER_URL": "http://127.0.0.1:9"}, str(repo))
    for ask in (window.sessions, window.receipts):
        with pytest.raises(Unreachable, match=r"http://127\.0\.0\.1:9"):
            ask()


@pytest.mark.parametrize(("url", "is_told"), [("http://mail.example:8377", False), ("http://127.0.0.1:{port}", True)])
def test_a_secret_is_sent_only_where_nobody_can_read_it_on_the_way(
    home: dict[str, str], repo: Path, monkeypatch: pytest.MonkeyPatch, url: str, is_told: bool
) -> None:
    heard: list[str] = []

    class Ear(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.headers.get("Authorization", ""))
            self.send_error(500)

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Ear) as ear:
        port = ear.server_port
        threading.Thread(target=ear.serve_forever, daemon=True).start()
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{port}")
        window = open_window({**home, "RESTANTE_SERVER_URL": url.format(port=port)}, str(repo))
        with pytest.raises(RestanteError):
            window.sessions()
        ear.shutdown()
    assert heard
    assert all(bool(one) is is_told for one in heard)


def test_a_server_of_this_machine_is_found_while_its_process_lives(home: dict[str, str], repo: Path) -> None:
    assert live_server(home) == ""
    with announced(home, "http://127.0.0.1:9"):
        assert live_server(home) == "http://127.0.0.1:9"
        assert isinstance(open_window(home, str(repo)), RemoteWindow)
        assert stat.S_IMODE((repo.parent / "data" / "server.json").stat().st_mode) == 0o600
    assert live_server(home) == ""
    assert not isinstance(open_window(home, str(repo)), RemoteWindow)


def test_a_server_of_this_machine_is_asked_about_accounts_also_where_there_are_teams(
    home: dict[str, str], repo: Path
) -> None:
    open_roster(home, str(repo)).join("team/role")
    with announced(home, "http://127.0.0.1:9"):
        assert isinstance(open_accounts(home), RemoteWindow)
        with pytest.raises(Unreachable):
            open_window(home, str(repo)).sessions()
    assert not isinstance(open_accounts(home), RemoteWindow)


@pytest.mark.parametrize("lie", ["dead", "reused", "elsewhere", "rubbish", "half"])
def test_a_server_that_is_not_proven_to_live_is_not_asked(home: dict[str, str], tmp_path: Path, lie: str) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    process = process_of(child.pid)
    child.communicate(b"\n")
    told: dict[str, object] = {"url": "http://127.0.0.1:9", **process._asdict()}
    if lie == "reused":
        told["pid"] = os.getpid()
    elif lie == "elsewhere":
        told |= {**process_of(os.getpid())._asdict(), "host": "another-machine"}
    elif lie == "half":
        del told["started"]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "server.json").write_text("{" if lie == "rubbish" else json.dumps(told))
    assert live_server(home) == ""


@pytest.mark.skipif(os.geteuid() != 0, reason="only the administrator can run another user's process")
def test_a_server_of_another_user_is_refused_by_name(home: dict[str, str], repo: Path) -> None:
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, user=4711) as child:
        told = {"url": "http://127.0.0.1:9", **process_of(child.pid)._asdict()}
        (repo.parent / "data").mkdir()
        (repo.parent / "data" / "server.json").write_text(json.dumps(told))
        with pytest.raises(Unsafe, match=rf"server\.json.*process {child.pid} of uid 4711"):
            open_window(home, str(repo))
        child.communicate()


def test_there_is_one_server_for_a_data_directory(home: dict[str, str]) -> None:
    with serving(home), pytest.raises(Refused, match="another server"), serving(home):
        pass
    with serving(home):
        pass


def test_a_place_for_data_is_needed_and_a_faulty_configuration_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        open_exchange({})
    with pytest.raises(BadConfig):
        open_exchange({"HOME": str(tmp_path), "RESTANTE_SESSIONS_TTL": "soon"})


def test_opening_an_exchange_and_looking_creates_nothing(home: dict[str, str], tmp_path: Path) -> None:
    exchange = open_exchange(home)
    window = exchange.window(Identity())
    assert window.sessions() == []
    assert window.watch().rows == ()
    assert not window.persistence().is_on
    assert not (tmp_path / "data").exists()
    exchange.close()


def test_a_database_by_url_is_durable_by_nature(home: dict[str, str]) -> None:
    pytest.importorskip("psycopg")
    parts = SessionParts({**home, "RESTANTE_DATABASE_URL": "postgresql://nobody@127.0.0.1:9/none"}, holds_mail=True)
    found = parts.keeping.persistence()
    assert (found.is_on, found.is_fixed, found.has_server) == (True, True, True)
    with pytest.raises(Refused):
        parts.keeping.switch(False)
    parts.keeping.switch(True)
    assert parts.keeping.mend() == ()


def test_closing_an_exchange_ends_whoever_listens_to_its_database(home: dict[str, str]) -> None:
    class Listener:
        is_closed = False

        def close(self) -> None:
            self.is_closed = True

    parts = SessionParts(home)
    listener = Listener()
    parts._listener = cast("PostgresWatcher", listener)
    Exchange(parts).close()
    assert listener.is_closed
