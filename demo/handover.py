"""The second act: two agent sessions hand work over, through the same commands that their tools would run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from demo.telling import check, show, step, tell
from tests.person import is_below_an_agent

if TYPE_CHECKING:
    from pathlib import Path

    from demo.desk import Desk

TASK = """\
Add a test for "1e3" to tests/test_lexer.py.
Acknowledge when it passes; ask if 1E3 counts too."""

# As Codex and Claude Code name their sessions to the commands that their tools run.
_PLANNER = {"CODEX_THREAD_ID": "0199a1b2-7c11-7000-8000-00000000c0de"}
_WORKER = {"CLAUDE_CODE_SESSION_ID": "5d1f0c3e-4b52-4000-8000-0000000c1a0d"}
_REFUSED = 4


def hand_over(person: Desk, data: Path) -> None:
    """Let a planner hand work to a worker, while a person looks on.

    Args:
        person: The person's shell.
        data: The data directory.
    """
    planner, worker = person.within(_PLANNER), person.within(_WORKER)
    _begin(person, planner, worker)
    message = _post(planner)
    _look_on(person)
    _read(worker, planner, message)
    _answer(worker, planner, message)
    _switch_off(person, data)


def _begin(person: Desk, planner: Desk, worker: Desk) -> None:
    step("Second act: two sessions, one of Codex and one of Claude Code; a person lets their mail be kept on disk")
    if is_below_an_agent():
        tell("(An agent program runs this demo. No command below one is a person's, so they are started elsewhere.)")
    show(person.run("persist", "on"))
    show(planner.run("session", "rename", "planner"))
    show(worker.run("session", "rename", "worker"))
    listed = planner.run("ls")
    show(listed)
    check("each was registered by its first command", "planner" in listed and "worker" in listed)


def _post(planner: Desk) -> str:
    step("The planner hands work over, and goes on with its own")
    posted = planner.run("post", "worker", "--subject", "lexer", "-", text=TASK)
    show(posted)
    found = re.search(r"^sent (msg_\w+) to worker", posted, re.MULTILINE)
    check("it was stored under an id of its own", found is not None)
    check("as whom was proven by the session's secret", f"{_PLANNER['CODEX_THREAD_ID']} (verified)" in posted)
    return found[1] if found else ""


def _look_on(person: Desk) -> None:
    step("The person looks on, which changes nothing")
    look = person.run("inbox", "--session", "worker")
    show(look)
    check("the text is there to be seen", TASK in look)
    news = person.run("watch", "worker", "--since", "start")
    show(news)
    check("it still counts as unseen", "1 pending, 1 unseen" in news)


def _read(worker: Desk, planner: Desk, message: str) -> None:
    step("The worker reads; reading is not acknowledging")
    inbox = worker.run("inbox")
    show(inbox)
    check("it came once, whole, between fences", inbox.count(f"~\n{TASK}\n~") == 1)
    receipts = planner.run("receipts", message)
    show(receipts)
    check("the planner sees that it was read and not done", ": seen" in receipts and "acknowledged" not in receipts)
    refused = planner.run("ack", message, code=_REFUSED)
    show(refused)
    check("nobody but the worker can acknowledge it", "only its addressee acknowledges it" in refused)


def _answer(worker: Desk, planner: Desk, message: str) -> None:
    step("The worker asks, then says what it did")
    show(worker.run("reply", message, "1E3 counts as well, I take it."))
    show(worker.run("ack", message, "--decision", "accepted", "--action", "applied"))
    receipts = planner.run("receipts", message)
    show(receipts)
    check("the planner sees the worker's word", "acknowledged (accepted, applied)" in receipts)
    answer = planner.run("inbox")
    show(answer)
    check("the question came back", "1E3 counts as well" in answer)
    check("nothing waits for the worker any more", "no mail waits" in worker.run("inbox"))


def _switch_off(person: Desk, data: Path) -> None:
    step("The person changes their mind: no text of such mail stays on the disk")
    check("until now it was in one file", (data / "mail.db").exists())
    show(person.run("persist", "off", "--yes"))
    left = [path for path in data.rglob("*") if path.is_file() and b"1E3 counts" in path.read_bytes()]
    check("the file is gone, and no other holds a word of it", not left and not (data / "mail.db").exists())
    tell("(A server, restante serve, would now hold it in memory.)")
