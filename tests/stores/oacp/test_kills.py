"""Real processes at once, and killed at any instant: no message is lost, halved, doubled or on one side only."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from tests.oacp import names_in, send
from tests.stores.oacp import driver

from restante.stores.oacp.delivering import mend
from restante.stores.oacp.index import list_inbox

if TYPE_CHECKING:
    from restante.stores.oacp.layout import Tree

HANGS = 120


def _start(tree: Tree, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-I", driver.__file__, tree.home, *arguments]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _reports(output: str) -> dict[str, str]:
    """Return digests by name; a line that a kill has cut is none."""
    lines = [line.split() for line in output.splitlines(keepends=True) if line.endswith("\n")]
    return {words[1]: words[2] for words in lines if len(words) == 3}


def _digests(tree: Tree, agent: str, place: str) -> dict[str, str]:
    found = {}
    for name in names_in(tree, agent, place):
        with open(tree.path("projects", "demo", "agents", agent, place, name), "rb") as file:
            found[name] = hashlib.sha256(file.read()).hexdigest()
    return found


def _run_and_kill(tree: Tree, action: str, dice: random.Random) -> dict[str, str]:
    process = _start(tree, action)
    assert process.stdout
    first = [process.stdout.readline() for _ in range(dice.randrange(1, 6))]
    # Not a wait for anything: the instant of the kill is what is drawn by lot.
    time.sleep(dice.random() * 0.01)
    process.send_signal(signal.SIGKILL)
    rest, errors = process.communicate(timeout=HANGS)
    assert errors == ""
    return _reports("".join(first) + rest)


@pytest.mark.parametrize("count", [25, pytest.param(250, marks=pytest.mark.slow)])
def test_11_1_1_eight_processes_that_send_in_one_second_lose_nothing(tree: Tree, count: int) -> None:
    crowd = [_start(tree, "send", str(count)) for _ in range(8)]
    for one in crowd:
        assert one.stdout
        assert one.stdout.readline() == "ready\n"
    for one in crowd:
        assert one.stdin
        one.stdin.write("go\n")
        one.stdin.flush()
    ends = [one.communicate(timeout=HANGS) for one in crowd]
    assert [errors for _, errors in ends] == [""] * 8
    sent = {name: digest for output, _ in ends for name, digest in _reports(output).items()}
    assert len(sent) == 8 * count
    assert _digests(tree, "bob", "inbox") == _digests(tree, "alice", "outbox") == sent
    assert len({one.id for one in list_inbox(tree, "demo", "bob")}) == 8 * count


@pytest.mark.parametrize("rounds", [6, pytest.param(40, marks=pytest.mark.slow)])
def test_a_sender_killed_at_any_instant_leaves_all_copies_or_none(tree: Tree, rounds: int) -> None:
    dice = random.Random()  # the instants differ from run to run: the more runs, the more of them
    told: dict[str, str] = {}
    for _ in range(rounds):
        told |= _run_and_kill(tree, "flood", dice)
        mend(tree, "demo")
        copies = [_digests(tree, *place) for place in (("bob", "inbox"), ("carol", "inbox"), ("alice", "outbox"))]
        assert copies[0] == copies[1] == copies[2]
        assert told.items() <= copies[0].items()
    # Each kill leaves at most one that nobody heard of.
    assert len(copies[0]) <= len(told) + rounds
    sending = tree.path("projects", "demo", "state", "restante", ".sending")
    assert [name for name in os.listdir(sending) if not name.startswith(".")] == []
    # What was killed before it had a name is cleared away when nobody can be at it any more.
    for name in os.listdir(sending):
        os.utime(os.path.join(sending, name), (1, 1))
    mend(tree, "demo")
    assert os.listdir(sending) == []


@pytest.mark.parametrize("rounds", [6, pytest.param(40, marks=pytest.mark.slow)])
def test_an_archiver_killed_at_any_instant_loses_and_changes_nothing(tree: Tree, rounds: int) -> None:
    dice = random.Random()  # the instants differ from run to run: the more runs, the more of them
    for _ in range(rounds):
        for _ in range(12):
            send(tree, "bob")
        told = _run_and_kill(tree, "drain", dice)
        wanted = _digests(tree, "alice", "outbox")
        pending, archived = (_digests(tree, "bob", place) for place in ("inbox", "inbox/archive"))
        assert {**pending, **archived} == wanted
        assert told.items() <= archived.items()
        listed = {one.name for one in list_inbox(tree, "demo", "bob")}
        assert listed == wanted.keys() - archived.keys()
