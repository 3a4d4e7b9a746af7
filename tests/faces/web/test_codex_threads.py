"""The Codex threads of a worktree on its page: those that work there, and nothing of what is beside it."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from tests.agents.conftest import FakeCodex
from tests.agents.test_codex_threads import page, saved
from tests.faces.http.api import running
from tests.faces.web.conftest import Ground
from tests.faces.web.test_entering import ask, cookie_of

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


def test_the_page_of_a_worktree_has_the_threads_that_work_in_it(tmp_path: Path) -> None:
    data, tree, home, place = (tmp_path / name for name in ("data", "tree", "home", "codex"))
    for one in (data, tree, home, place):
        one.mkdir()
    subprocess.run(["git", "init", "-q", str(tree)], check=True)
    threads = [
        saved(1, cwd=str(tree), name="<i>Fix the parser</i>"),
        saved(2, cwd=f"{tree}/src", name="Below it"),
        saved(3, cwd=f"{tree}-of-others", name="Beside it"),
    ]
    fake = FakeCodex(place, {"answers": {"thread/list": [page(*threads)]}})
    with running(data, HOME=str(home), RESTANTE_CODEX=fake.program) as server:
        ground = Ground(server, server.api(), tree, home)
        ground.api.actor("worker", workingDir=str(tree))
        shown = ask(ground, "GET", f"/ui/worktrees?path={quote(str(tree))}", cookie=cookie_of(ground)).body.decode()
    assert "&lt;i&gt;Fix the parser&lt;/i&gt;" in shown
    assert "Below it" in shown
    assert "Beside it" not in shown
    # It is only asked, never told anything.
    assert {one for one in fake.methods if "/" in one} <= {"thread/list", "thread/loaded/list", "thread/read"}
