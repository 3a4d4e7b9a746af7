"""opencode and Gemini CLI: mail during a tool, at the end of a turn and while idle, with the real programs."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.request import Request as Asked
from urllib.request import urlopen

import pytest
from tests.e2e.agents import Opencode
from tests.e2e.conftest import more_agent_in, worktree_of
from tests.e2e.idle import monitor_run, until
from tests.e2e.model_server import Request, Step, run, say
from tests.e2e.scenes import acknowledge, messages_in, model_of, running, work
from tests.e2e.test_guidance import watch_python

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.agents import Gemini
    from tests.e2e.model_server import ModelServer
    from tests.e2e.worktree import Gate, Worktree

pytestmark = pytest.mark.e2e

GUIDANCE = "Prefer tabs here: token-7f3a."


@pytest.fixture(params=["opencode", "gemini"])
def agent(request: pytest.FixtureRequest, tmp_path: Path) -> Opencode | Gemini:
    return more_agent_in(request.param, tmp_path / "home")


@pytest.fixture
def worktree(agent: Opencode | Gemini, tmp_path: Path) -> Worktree:
    return worktree_of(agent, tmp_path / "repo")


def row(worktree: Worktree) -> dict[str, Any]:
    """What ls tells of the one session."""
    rows: list[dict[str, Any]] = json.loads(worktree.restante("ls", "--json"))["sessions"]
    (found,) = rows
    return found


def test_mail_that_comes_while_a_tool_runs_is_shown_once_and_acknowledged_by_the_session(
    agent: Opencode | Gemini, worktree: Worktree, gate: Gate
) -> None:
    script = (run(gate.command), run("echo another"), acknowledge, say("Finished."))
    with model_of(agent, *script) as server:
        with running(agent, server, worktree.root) as beside:
            gate.wait()
            message = worktree.send(GUIDANCE)
            gate.release()
        finished = beside.result()
    assert finished.code == 0, finished.out + finished.err
    assert len(server.requests) == 4
    before, shown, again, _ = (request.prompt for request in server.requests)
    assert "token-7f3a" not in before
    assert shown.count("token-7f3a") == again.count("token-7f3a") == 1
    assert messages_in(server.requests[1]) == [message]
    standing = worktree.status(message)
    assert standing["status"] == "applied"
    (receipt,) = standing["receipts"]
    assert receipt["by"] == f"{agent.name}:{finished.session}"


def test_a_message_that_comes_just_before_the_end_holds_it_once(agent: Opencode | Gemini, worktree: Worktree) -> None:
    sent: list[str] = []

    def finish_as_mail_arrives(_: Request) -> Step:
        sent.append(worktree.send(GUIDANCE))
        return say("Finished, as far as I know.")

    with model_of(agent, run("echo working"), finish_as_mail_arrives, say("I ignore that.")) as server:
        work(agent, server, worktree.root)
    assert len(server.requests) == 3
    assert "token-7f3a" not in server.requests[1].prompt
    assert GUIDANCE in server.requests[2].prompt
    assert worktree.status(sent[0])["status"] == "unseen"


def test_a_session_registers_itself_and_is_shown_busy_and_its_end_is_noted(
    agent: Opencode | Gemini, worktree: Worktree
) -> None:
    worktree.restante("persist", "on")
    seen: list[dict[str, Any]] = []

    def look(_: Request) -> Step:
        seen.append(row(worktree))
        return run("restante ls --json")

    with model_of(agent, look, say("Finished.")) as server:
        finished = work(agent, server, worktree.root)
    assert [(one["id"], one["mode"], one["status"]) for one in seen] == [(finished.session, agent.name, "busy")]
    latch = agent.home / ".local" / "share" / "restante" / "turns" / finished.session
    assert latch.read_text() == "s\ne\n"


def test_mail_that_waits_is_shown_with_the_first_prompt(agent: Opencode | Gemini, worktree: Worktree) -> None:
    worktree.send(GUIDANCE)
    with model_of(agent, acknowledge, say("Finished.")) as server:
        work(agent, server, worktree.root)
    assert server.requests[0].prompt.count("token-7f3a") == 1


def test_without_mail_no_python_starts(agent: Opencode | Gemini, worktree: Worktree, tmp_path: Path) -> None:
    starts = watch_python(worktree.root / agent.hooks_file, tmp_path)
    # Where sessions are used, their start is told to the register.
    shutil.rmtree(agent.home / ".local")
    with model_of(agent, run("echo one"), run("echo two"), say("Finished.")) as server:
        work(agent, server, worktree.root)
    assert len(server.requests) == 3
    assert not starts.exists()


@contextmanager
def opencode_server(agent: Opencode, server: ModelServer, cwd: Path) -> Iterator[str]:
    """Run ``opencode serve``; yields its address."""
    process = subprocess.Popen(
        [agent.program, "serve", "--port", "0"],
        cwd=cwd,
        env=agent.environment() | agent.settings(server),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield next(found[0] for line in process.stdout if (found := re.search(r"http://[0-9.]+:[0-9]+", line)))
    finally:
        process.terminate()
        process.communicate(timeout=60)


def ask(url: str, **body: Any) -> Any:
    """Post JSON as the person's own client does."""
    headers = {"Content-Type": "application/json"}
    with urlopen(Asked(url, json.dumps(body).encode(), headers), timeout=120) as answer:
        return json.loads(answer.read() or b"null")


def test_an_idle_opencode_session_is_woken_through_its_server_collects_and_acknowledges(tmp_path: Path) -> None:
    opencode = more_agent_in("opencode", tmp_path / "home")
    assert isinstance(opencode, Opencode)
    worktree = worktree_of(opencode, tmp_path / "repo")
    worktree.restante("persist", "on")
    script = (say("Ready."), run("restante inbox"), acknowledge, say("Done as asked."))
    with model_of(opencode, *script) as server, opencode_server(opencode, server, worktree.root) as url:
        session = ask(f"{url}/session")["id"]
        ask(f"{url}/session/{session}/message", parts=[{"type": "text", "text": "Work on the task."}])
        assert until(lambda: row(worktree)["state"] == "idle")
        assert row(worktree)["id"] == session
        with monitor_run(worktree, RESTANTE_WAKE_OPENCODE=url):
            worktree.environment["RESTANTE_WAKE_OPENCODE"] = url
            worktree.restante("monitor", "arm", f"session:{session}", "--session", session)
            worktree.restante("post", session, GUIDANCE)
            assert until(lambda: len(server.requests) == 4, 180)
            assert until(lambda: row(worktree)["inboxPending"] == 0)
            assert until(lambda: row(worktree)["state"] == "idle")
    woken = server.requests[1].prompt
    assert f"Mail waits for session:{session}. Run: restante inbox" in woken
    assert "token-7f3a" in server.requests[2].prompt


def test_a_gemini_session_that_nothing_can_wake_gets_the_way_that_says_so_and_its_mail_with_its_turn(
    tmp_path: Path,
) -> None:
    gemini = more_agent_in("gemini", tmp_path / "home")
    worktree = worktree_of(gemini, tmp_path / "repo")
    worktree.restante("persist", "on")

    def arm(_: Request) -> Step:
        session = row(worktree)["id"]
        answer = worktree.restante("monitor", "arm", f"session:{session}", "--session", session, "--json")
        assert json.loads(answer)["monitor"]["adapter"] == "gemini"
        worktree.restante("post", session, GUIDANCE)
        return say("Finished.")

    with model_of(gemini, arm) as server:
        work(gemini, server, worktree.root)
    assert "token-7f3a" in server.requests[1].prompt
