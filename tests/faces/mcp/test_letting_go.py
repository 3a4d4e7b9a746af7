"""A server that is asked all day leaves nothing open behind an answer."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests.faces.http.api import eventually

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.faces.mcp.program import Ground, Program

ALICE = "aaaaaaaa-1"


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="nothing tells what a process has open")
def test_call_after_call_opens_no_database_again_and_again(program: Callable[..., Program], ground: Ground) -> None:
    ground.register(ALICE, "alice")
    server = program()

    def opened() -> int:
        return len(os.listdir(f"/proc/{server.process.pid}/fd"))

    def use() -> None:
        assert "no mail waits" in server.use("inbox", ALICE)
        assert "alice" in server.use("who", ALICE)
        server.use("wait", ALICE, seconds=0.1)
        server.ask("resources/read", {"uri": "restante://mailbox", "_meta": {"threadId": ALICE}})

    use()
    before = opened()
    for _ in range(10):
        use()
    # The thread that waited lets go after it answered.
    eventually(lambda: opened() < before + 6, "what the answers opened is closed")
