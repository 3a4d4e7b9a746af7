from __future__ import annotations

import fcntl
import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

FAKE = Path(__file__).with_name("fake_app_server.py")


class FakeCodex:
    """A program that plays ``codex app-server`` after a script, and what reached it."""

    def __init__(self, place: Path, script: dict[str, Any]) -> None:
        self.program = str(place / "codex")
        self._log = place / "log"
        (place / "script.json").write_text(json.dumps({"log": str(self._log)} | script))
        Path(self.program).write_text(
            f"#!/bin/sh\nexec '{sys.executable}' -I -S '{FAKE}' '{place / 'script.json'}' \"$@\"\n"
        )
        os.chmod(self.program, 0o755)

    @property
    def starts(self) -> int:
        return self._lines().count("start")

    @property
    def requests(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._lines() if line != "start"]

    @property
    def methods(self) -> list[str]:
        return [request["method"] for request in self.requests]

    @property
    def is_running(self) -> bool:
        """Whether a process of it lives, however many launchers lie between."""
        with open(self._log, "rb") as log:
            try:
                fcntl.flock(log, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    def wait_for_end(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while self.is_running:
            assert time.monotonic() < deadline, "it still runs"
            time.sleep(0.01)

    def _lines(self) -> list[str]:
        return self._log.read_text().splitlines() if self._log.exists() else []


@pytest.fixture
def fake_codex(tmp_path: Path) -> Callable[..., FakeCodex]:
    def make(**script: Any) -> FakeCodex:
        place = tmp_path / "fake"
        place.mkdir()
        return FakeCodex(place, script)

    return make


@pytest.fixture
def codex_program() -> str:
    """The real Codex program, fetched if it is not here."""
    from tests.e2e import programs

    try:
        return programs.present("codex") or shutil.which("codex") or programs.get("codex")
    except programs.Unavailable as error:
        if os.environ.get("RESTANTE_TEST_REQUIRE_PROGRAMS"):
            raise
        pytest.skip(f"NO CODEX, so nothing is shown about the real one: {error}")


@pytest.fixture
def codex_home(tmp_path: Path) -> Path:
    """A home for Codex that knows no account and no address beyond this machine."""
    home = tmp_path / "codex-home"
    home.mkdir()
    (home / "config.toml").write_text(
        'model = "none"\nmodel_provider = "none"\ncheck_for_update_on_startup = false\n'
        "[analytics]\nenabled = false\n[features]\nplugins = false\n"
        '[model_providers.none]\nname = "none"\nbase_url = "http://127.0.0.1:9/v1"\nwire_api = "responses"\n'
    )
    return home


@pytest.fixture
def codex_environ(codex_home: Path) -> dict[str, str]:
    nowhere = {f"{name}_proxy": "http://127.0.0.1:9" for name in ("http", "https", "all")}
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(codex_home),
        "CODEX_HOME": str(codex_home),
        "GIT_ALLOW_PROTOCOL": "file",
        **nowhere,
        **{name.upper(): value for name, value in nowhere.items()},
    }
