"""Several machines with one database: a post on one wakes the session that is armed on another."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from tests.receiving.world import Recorder, World, until

if TYPE_CHECKING:
    from pathlib import Path


def test_a_post_on_another_machine_wakes_the_session_that_is_armed_here(postgres_url: str, tmp_path: Path) -> None:
    here, there = (World(tmp_path / name, RESTANTE_DATABASE_URL=postgres_url) for name in ("here", "there"))
    alice = here.session("alice-1")
    here.arm(alice)
    recorder = Recorder()
    with here.hosting(recorder):
        assert until(lambda: here.said)
        time.sleep(1.0)
        there.post(alice)
        assert until(lambda: recorder.woken, 10.0)
        time.sleep(0.5)
    assert recorder.marks == [(alice, 1)]
    assert not (tmp_path / "there" / "bells").exists()
    here.close()
    there.close()
