"""A page that is looked at all day leaves nothing open behind it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests.faces.web.test_entering import ask, cookie_of

if TYPE_CHECKING:
    from tests.faces.web.conftest import Ground


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="nothing tells what a process has open")
def test_looking_again_and_again_opens_no_database_again_and_again(ground: Ground) -> None:
    joined = ground.restante("join", "parser/lead")
    assert joined.returncode == 0, joined.stderr
    cookie = cookie_of(ground)
    for path in ("/part/around", "/monitors", "/mailbox?at=parser/lead", "/compose"):
        looks = [ask(ground, "GET", f"/ui{path}", cookie=cookie).status for _ in range(2)]
        before = len(os.listdir(f"/proc/{ground.server.process.pid}/fd"))
        looks += [ask(ground, "GET", f"/ui{path}", cookie=cookie).status for _ in range(15)]
        assert set(looks) == {200}, path
        # What waits for a connection to end may still be there; fifteen databases are more.
        assert len(os.listdir(f"/proc/{ground.server.process.pid}/fd")) < before + 10, path
