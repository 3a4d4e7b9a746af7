"""What is started to wake a session is told what it needs, and is nobody."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from restante.domain.monitor import Target, Wake
from restante.wiring.monitors import MonitorParts
from restante.wiring.wakers import Wakers

if TYPE_CHECKING:
    from pathlib import Path


def test_a_command_speaks_as_no_session_that_began_its_host_and_gets_no_password(tmp_path: Path) -> None:
    program = tmp_path / "mine"
    program.write_text(f"#!/bin/sh\nenv >{tmp_path}/env\n")
    program.chmod(0o700)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "RESTANTE_DATA": str(tmp_path / "data"),
        "RESTANTE_WAKE_COMMAND": json.dumps([str(program)]),
        "CODEX_THREAD_ID": "thread",
        "CLAUDE_CODE_SESSION_ID": "session",
        "OPENCODE_SERVER_PASSWORD": "password",
    }
    parts = MonitorParts(environment)
    try:
        waker = Wakers(environment, parts)("command")
        assert waker
        woken = waker.wake(Target("S", "codex", "", "team/alice", 1, 1, "nonce"), "Mail waits.")
    finally:
        parts.close()
    assert woken.wake is Wake.CONFIRMED
    told = dict(line.partition("=")[::2] for line in (tmp_path / "env").read_text().splitlines())
    assert not {"CODEX_THREAD_ID", "CLAUDE_CODE_SESSION_ID", "OPENCODE_SERVER_PASSWORD"} & told.keys()
    assert (told["RESTANTE_SESSION"], told["HOME"]) == ("S", str(tmp_path))
