"""The six tools, and checkpoints that call them, with the real agent programs."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from tests.e2e.conftest import agent_in, worktree_of
from tests.e2e.model_server import Request, Step, run, say, use
from tests.e2e.scenes import messages_in, model_of, running, work
from tests.e2e.worktree import Gate
from tests.faces.http.api import running as server_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.agents import Claude, Codex
    from tests.e2e.worktree import Worktree

pytestmark = pytest.mark.e2e

TOOLS = {"inbox", "ack", "reply", "send", "who", "wait"}
TASK = "Take the parser;\nthe lexer is done: token-51c8."
GUIDANCE = "Keep the parser as it is: token-7f3a."


def told_of(request: Request) -> set[str]:
    """Return the tools of ours that a request tells the model of."""
    found: set[str] = set()
    for tool in request.body["tools"]:
        if tool.get("name") == "mcp__restante":
            found |= {one["name"] for one in tool["tools"]}
        elif str(tool.get("name")).startswith("mcp__restante__"):
            found.add(tool["name"].removeprefix("mcp__restante__"))
    return found


def register(agent: Codex | Claude, place: Path, word: str = "tools") -> Worktree:
    made = worktree_of(agent, place)
    made.restante("install", "--agent", agent.name, "--mcp", word)
    return made


def acknowledge(request: Request) -> Step:
    ids = messages_in(request)
    assert ids, "no message was shown to the model"
    return use("ack", ids=ids, decision="accepted", action="applied", summary="Done as asked")


def test_the_tools_are_there_at_the_first_request_and_a_message_is_read_and_answered_with_them(
    agent: Codex | Claude, tmp_path: Path
) -> None:
    worktree = register(agent, tmp_path / "repo")
    message = worktree.send(GUIDANCE)
    with model_of(agent, use("inbox"), acknowledge, use("who"), say("Finished.")) as server:
        finished = work(agent, server, worktree.root)
    first, read, acked, _ = server.requests
    assert told_of(first) == TOOLS
    assert read.prompt.count("token-7f3a") == 2  # at the session's start, and by the tool
    assert "ack(ids=[" in read.prompt
    assert f"acknowledged {message}: accepted and applied" in acked.prompt
    standing = worktree.status(message)
    assert (standing["status"], standing["receipts"][-1]["by"]) == ("applied", f"{agent.name}:{finished.session}")


@pytest.fixture
def gates(tmp_path: Path) -> Iterator[tuple[Gate, Gate]]:
    made = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        made.append(Gate(tmp_path / name))
    yield made[0], made[1]
    for gate in made:
        gate.close()


@pytest.mark.parametrize("names", [("codex", "claude"), ("claude", "codex")])
def test_one_session_waits_for_what_another_sends_and_each_is_proven(
    names: tuple[str, str], gates: tuple[Gate, Gate], tmp_path: Path
) -> None:
    receiver, sender = (agent_in(name, tmp_path / "home") for name in names)
    here, there = register(receiver, tmp_path / "receiver"), register(sender, tmp_path / "sender")
    here.restante("persist", "on")
    waits, sends = gates

    def send(_: Request) -> Step:
        rows: list[dict[str, Any]] = json.loads(here.restante("ls", "--json"))["sessions"]
        session = next(row["id"] for row in rows if row["mode"] == receiver.name)
        return use("send", to=session, text=TASK)

    with (
        model_of(receiver, run(waits.command), use("wait", seconds=60), acknowledge, say("Finished.")) as reading,
        model_of(sender, send, run(sends.command), say("Finished.")) as writing,
        running(receiver, reading, here.root) as receiving,
    ):
        waits.wait()
        with running(sender, writing, there.root) as sending:
            sends.wait()
            waits.release()
            assert receiving.result().code == 0, receiving.result().err
            sends.release()
        assert sending.result().code == 0
    assert f"sent as: session:{sending.result().session} (verified)" in writing.requests[1].prompt
    shown = reading.requests[2].prompt
    (message,) = messages_in(reading.requests[2])
    assert f"from session:{sending.result().session}, priority" in shown
    assert re.search(rf"^(~{{3,}})\n{re.escape(TASK)}\n\1$", shown, re.MULTILINE)
    assert f"acknowledged {message}: accepted and applied" in reading.requests[3].prompt


def test_checkpoints_that_call_the_server_bring_mail_and_hold_the_end_as_commands_do(
    agent: Codex | Claude, gates: tuple[Gate, Gate], tmp_path: Path
) -> None:
    worktree = register(agent, tmp_path / "repo", "hooks")
    hooks = json.loads((worktree.root / agent.hooks_file).read_text())["hooks"]
    assert hooks["PostToolUse"][0]["hooks"][0]["type"] == "mcp_tool"
    gate = gates[0]
    sent: list[str] = []

    def finish_as_mail_arrives(_: Request) -> Step:
        sent.append(worktree.send("One more thing: token-99aa."))
        return say("Finished, as far as I know.")

    with (
        model_of(
            agent, run(gate.command), acknowledge, finish_as_mail_arrives, acknowledge, say("Now finished.")
        ) as server,
        running(agent, server, worktree.root) as beside,
    ):
        gate.wait()
        sent.append(worktree.send(GUIDANCE))
        gate.release()
        assert beside.result().code == 0, beside.result().err
    first, second, third, fourth, last = server.requests
    assert "token-7f3a" not in first.prompt
    assert [one.prompt.count("token-7f3a") for one in (second, third)] == [1, 1]
    assert "token-99aa" not in third.prompt
    assert "token-99aa" in fourth.prompt
    assert "acknowledged" in last.prompt
    assert [worktree.status(one)["status"] for one in sent] == ["applied", "applied"]
    assert not re.search("hook (success|failed|error)", last.prompt)


def test_without_mail_checkpoints_that_call_the_server_add_no_byte(agent: Codex | Claude, tmp_path: Path) -> None:
    prompts = []
    for word in ("tools", "hooks"):
        # Names of one length: some prompts hold them in forms of their own.
        worktree = register(agent, tmp_path / word, word)
        with model_of(agent, run("echo one"), say("Finished.")) as server:
            work(agent, server, worktree.root)
        prompts.append([len(request.prompt.replace(str(worktree.root), "")) for request in server.requests])
    assert len(prompts[0]) == len(prompts[1]) == 2
    assert prompts[0] == prompts[1]


def test_codex_runs_checkpoints_that_call_the_server_only_where_the_person_trusts_them(
    codex: Codex, tmp_path: Path
) -> None:
    codex.bypass_trust = False
    worktree = register(codex, tmp_path / "repo", "hooks")
    message = worktree.send(GUIDANCE)
    with model_of(codex, say("Finished."), say("Finished.")) as server:
        work(codex, server, worktree.root)
    assert "token-7f3a" not in server.requests[-1].prompt
    worktree.restante("install", "--agent", "codex", "--trust", "--yes")
    with model_of(codex, run("echo one"), acknowledge, say("Finished.")) as server:
        work(codex, server, worktree.root)
    assert worktree.status(message)["status"] == "applied"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A running server, and the home of the person whose it is."""
    home = tmp_path / "home"
    with server_of(home / ".local" / "share" / "restante", HOME=str(home)) as one:
        yield one.api().url, home


def test_both_programs_use_the_tools_of_one_running_server(served: tuple[str, Path], tmp_path: Path) -> None:
    url, home = served
    codex, claude = agent_in("codex", home), agent_in("claude", home)
    here, there = worktree_of(codex, tmp_path / "codex"), worktree_of(claude, tmp_path / "claude")
    (here.root / ".codex" / "config.toml").write_text(f'[mcp_servers.restante]\nurl = "{url}/mcp"\nrequired = true\n')
    server = {"type": "http", "url": f"{url}/mcp", "alwaysLoad": True}
    (there.root / ".mcp.json").write_text(json.dumps({"mcpServers": {"restante": server}}))
    here.restante("session", "start", "--id", "coordinator-1", "--name", "coordinator")
    for agent, worktree in ((codex, here), (claude, there)):
        with model_of(agent, use("send", to="coordinator", text=TASK), use("inbox"), say("Finished.")) as model:
            finished = work(agent, model, worktree.root)
        assert told_of(model.requests[-1]) == TOOLS
        sender = f"session:{finished.session}" if agent is codex else "user"
        # What a program says with a call is a claim where it comes over a wire; Claude Code says nothing.
        assert f"sent as: {sender} (unverified)" in model.requests[1].prompt
        said = "no mail waits" if agent is codex else "no mailbox is yours"
        assert said in model.requests[2].prompt
    told = here.restante("inbox", "--session", "coordinator", "--peek")
    assert told.count("token-51c8") == 2
