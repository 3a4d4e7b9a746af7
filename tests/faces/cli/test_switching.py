"""What a person decides for the whole machine: nothing is lost, made or left open by it unsaid."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest

from .conftest import PLANNER, WORKER, Cast
from .served import served

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .conftest import Answer


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def types(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let a person type an answer at a terminal."""

    def make(answer: str) -> None:
        monkeypatch.setattr(sys, "stdin", Terminal(answer))
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)

    return make


@pytest.mark.parametrize("words", [("persist", "off"), ("install", "--persist", "off")])
def test_mail_that_waits_is_deleted_only_by_who_says_so(cast: Cast, words: tuple[str, ...]) -> None:
    cast.post(PLANNER, "worker", "one")
    cast.post(PLANNER, "worker", "two")
    cast.act()
    refused = cast.restante(*words)
    assert refused.code == 4
    assert "2 messages that wait would be deleted" in refused.err
    assert "persist off --yes" in refused.err
    assert cast.row("worker")["inboxPending"] == 2
    assert cast.by("", *words, "--yes").code == 0
    assert cast.restante("persist", "--json").json["on"] is False
    assert cast.restante("persist", "on").code == 0
    assert cast.row("worker")["inboxPending"] == 0


def test_where_nothing_waits_nobody_is_asked(cast: Cast) -> None:
    cast.by(WORKER, "ack", cast.post(PLANNER, "worker", "one"))
    assert cast.by("", "persist", "off").code == 0


def test_a_person_at_a_terminal_is_asked(cast: Cast, types: Callable[[str], None]) -> None:
    cast.post(PLANNER, "worker", "one")
    cast.act()
    types("n\n")
    answer = cast.restante("persist", "off")
    assert (answer.code, "1 message that waits would be deleted. Switch" in answer.err) == (4, True)
    types("y\n")
    assert cast.restante("persist", "off").code == 0


def test_through_a_server_mail_moves_to_its_memory_and_nobody_is_asked(cast: Cast) -> None:
    cast.post(PLANNER, "worker", "one")
    with served():
        answer = cast.by("", "persist", "off")
        assert (answer.code, "moved into the server's memory" in answer.err) == (0, True)
        assert cast.row("worker")["inboxPending"] == 1


@pytest.mark.parametrize("words", [("ls",), ("persist",), ("persist", "status", "--json"), ("watch", "--sessions")])
def test_a_persons_first_look_makes_nothing(
    restante: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, words: tuple[str, ...]
) -> None:
    monkeypatch.setenv("RESTANTE_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("RESTANTE_INBOX_WAIT", "1")
    assert restante(*words).code in (0, 5)
    assert not (tmp_path / "data").exists()
    assert restante("persist", "on").code == 0
    assert (tmp_path / "data" / "person").exists()


def test_a_server_that_was_configured_and_is_gone_is_named_as_that(
    restante: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RESTANTE_SERVER_URL", "http://127.0.0.1:9")
    answer = restante("ls")
    assert (answer.code, "restante serve; or unset server.url" in answer.err) == (1, True)


def test_the_sessions_of_an_account_that_is_removed_are_told_and_can_be_ended(
    restante: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("RESTANTE_DATA", str(tmp_path / "data"))
    assert restante("persist", "on").code == 0
    with served() as url:
        for name in ("ada", "ben"):
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a long password\n")))
            assert restante("account", "add", name).code == 0
        monkeypatch.setenv("RESTANTE_SERVER_URL", url.replace("//", "//ben:a%20long%20password@"))
        cast = Cast(restante, monkeypatch)
        cast.enter(PLANNER, "planner")
        cast.enter(WORKER, "worker")
        cast.post(PLANNER, "worker", "canary-of-ben")
        cast.act()
        monkeypatch.delenv("RESTANTE_SERVER_URL")
        removed = restante("account", "remove", "ben")
        assert (removed.code, "2 of its sessions stay" in removed.err) == (0, True)
        assert "account remove ben --sessions" in removed.err
        assert restante("account", "remove", "ben").code == 3
        assert restante("account", "remove", "ben", "--sessions", "--json").json == {
            "name": "ben",
            "sessionsEnded": 2,
            "sessionsLeft": 0,
        }
        assert restante("account", "remove", "ben", "--sessions").code == 3
        # Their secrets prove nothing any more.
        monkeypatch.setenv("RESTANTE_SERVER_URL", url)
        assert cast.by(WORKER, "ls").code == 4
    monkeypatch.delenv("RESTANTE_SERVER_URL")
    cast.act()
    assert "sessions ended, with their mail: 0" in restante("account", "remove", "ada", "--sessions").out
