"""An inbox to work off."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.inboxes import Inboxes

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def inboxes(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Inboxes:
    """Project ``demo``, which nothing in the current directory marks."""
    home, elsewhere = tmp_path / "oacp", tmp_path / "elsewhere"
    home.mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    monkeypatch.setenv("OACP_HOME", str(home))
    for name in ("OACP_AGENT", "AGENT_NAME", "OACP_RUNTIME", "RESTANTE_NOW", "CODEX_THREAD_ID", "CLAUDECODE"):
        monkeypatch.delenv(name, raising=False)
    return Inboxes(home, capsys, monkeypatch)
