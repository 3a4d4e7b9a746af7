"""What doctor says of sessions, their mail and the server."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from restante import __version__
from restante.domain.registry import Arrival, Identity
from restante.system.processes import process_of
from restante.wiring.sessions import open_exchange

from .conftest import PLANNER, Cast
from .served import served

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .conftest import Answer


def said(cast: Cast, name: str) -> list[Any]:
    """Return what doctor says under a name: whether it is right, what was found, what to do."""
    cast.act()
    checks = cast.restante("doctor", "--json").json["checks"]
    return [(one["ok"], one["detail"], one["remedy"]) for one in checks if one["name"] == name]


@pytest.fixture
def data(cast: Cast, tmp_path: Path) -> Path:
    """The data directory."""
    return tmp_path / "data"


def test_a_look_at_a_machine_without_sessions_makes_nothing(
    restante: Callable[..., Answer], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RESTANTE_DATA", str(tmp_path / "data"))
    cast = Cast(restante, monkeypatch)
    assert said(cast, "sessions") == [(None, "nobody decided whether they are used", "restante install")]
    assert "none yet" in said(cast, "database")[0][1]
    assert "none runs here" in said(cast, "server")[0][1]
    assert not (tmp_path / "data").exists()


def test_where_all_is_right_it_says_what_stands(cast: Cast, data: Path) -> None:
    assert said(cast, "sessions") == [(True, "on (restante install --sessions off)", "")]
    assert said(cast, "persistence")[0][:2] == (True, "on: mail between sessions is kept on disk")
    assert said(cast, "data directory") == [(True, f"{data}: for nobody else", "")]
    cast.post(PLANNER, "worker", "text")
    assert [one[:2] for one in said(cast, "database")] == [
        (True, "restante.db: in order"),
        (True, "mail.db: in order"),
    ]
    cast.restante("persist", "off", "--yes")
    assert "restante persist on" in said(cast, "persistence")[0][2]
    cast.restante("install", "--sessions", "off")
    assert said(cast, "sessions")[0][:2] == (True, "off (restante install --sessions on)")


def test_a_damaged_database_and_open_doors_fail(cast: Cast, data: Path) -> None:
    cast.post(PLANNER, "worker", "text")
    size = (data / "mail.db").stat().st_size
    (data / "mail.db").write_bytes(b"no database at all".ljust(size, b"x"))
    (data / "person").chmod(0o644)
    faults = [one for one in said(cast, "database") if one[0] is False]
    assert len(faults) == 1
    assert faults[0][1].startswith("mail.db: ")
    ((ok, detail, remedy),) = said(cast, "data directory")
    assert (ok, str(data / "person") in detail, "chmod" in remedy) == (False, True, True)
    assert cast.restante("doctor").code == 1


def test_a_server_is_found_with_its_version_and_what_one_left_behind_is_told(cast: Cast, data: Path) -> None:
    with served() as url:
        assert said(cast, "server") == [(True, f"{url} answers, version {__version__}", "")]
        left = (data / "server.json").read_text()
        cast.restante("persist", "off")
        assert "the server holds" in said(cast, "persistence")[0][1]
    (data / "server.json").write_text(json.dumps({**json.loads(left), "started": "long ago"}))
    (data / "server.json").chmod(0o600)
    assert "left behind" in said(cast, "server")[0][1]


def test_a_configured_server_that_does_not_answer_fails(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESTANTE_SERVER_URL", "http://127.0.0.1:9")
    ((ok, detail, remedy),) = said(cast, "server")
    assert (ok, "127.0.0.1:9" in detail, "unset server.url" in remedy) == (False, True, True)


def test_live_sessions_that_reported_no_turn_are_counted(cast: Cast) -> None:
    assert said(cast, "session hooks") == [(True, "no session lives here", "")]
    exchange = open_exchange(os.environ)
    exchange.window(Identity()).register(Arrival("a-session-that-lives", process=process_of(os.getpid())))
    exchange.close()
    ((ok, detail, remedy),) = said(cast, "session hooks")
    assert (ok, detail) == (None, "1 of 1 live sessions reported no turn yet")
    assert "restante install" in remedy
    cast.by("", "session", "turn", "ended", "--session", "a-session-that-lives")
    assert said(cast, "session hooks") == [(True, "all 1 live sessions reported turns", "")]
