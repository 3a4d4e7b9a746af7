"""Who asks why is told of no file of the machine that is not theirs to see."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest
from tests.faces.http.api import Running, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    """A server with an account, bob."""
    data = tmp_path / "data"
    data.mkdir()
    with running(data) as one:
        body = {"name": "bob", "password": "a long password"}
        assert one.api().ask("POST", "/accounts", body, one.person()).status == 200
        yield one


@pytest.mark.parametrize("mode", ["claude", "codex", "opencode", "gemini"])
def test_an_account_is_told_nothing_of_a_directory_that_it_says_its_session_works_in(
    server: Running, tmp_path: Path, mode: str
) -> None:
    other = tmp_path / "other"
    for name in (".claude", ".codex", ".gemini"):
        (other / name).mkdir(parents=True)
    (other / ".claude" / "settings.local.json").write_text("MYSECRET")
    (other / ".codex" / "hooks.json").write_text("MYSECRET")
    proof = {"Authorization": "Basic " + base64.b64encode(b"bob:a long password").decode()}
    told = []
    for number, place in enumerate((other, tmp_path / "nothing")):
        session = {"id": f"session-{number}", "mode": mode, "workingDir": str(place)}
        assert server.api().ask("POST", "/sessions", session, proof).status == 200
        posted = server.api().ask("POST", f"/sessions/{session['id']}/inbox", {"text": "x"}, proof).data
        answer = server.api().ask("GET", f"/messages/{posted['message']['id']}/why", None, proof)
        assert answer.status == 200
        assert str(tmp_path) not in answer.body.decode()
        told.append(answer.data["cause"])
    assert told[0] == told[1]
