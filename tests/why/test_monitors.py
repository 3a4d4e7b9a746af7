"""Causes that lie with roles and monitors: who holds the role, whether a wake was made, and what became of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from restante.system.processes import process_of
from restante.wiring.monitors import open_host

from .conftest import READER, WRITER

if TYPE_CHECKING:
    from restante.vigil import Vigil

    from .conftest import Scene

ROLE = "parser/reviewer"
MAILBOX = f"session:{READER}"


def host() -> Vigil:
    """Return the vigil of a program that hosts receivers."""
    return open_host(os.environ).hosting("")


@pytest.fixture
def idle(pair: Scene) -> Scene:
    """A reader that is idle since long."""
    pair.end_turn()
    return pair


def arm(scene: Scene, *options: str) -> None:
    """Watch the reader's mailbox."""
    scene.do("monitor", "arm", MAILBOX, *options, by=READER)


def test_a_role_that_nobody_holds_and_one_that_left(pair: Scene) -> None:
    pair.do("join", ROLE)
    told = pair.why(pair.post(ROLE), by=WRITER)
    assert (told["cause"], told["mailbox"]) == ("role-free", ROLE)
    assert told["command"] == f"restante act-as {ROLE}"
    pair.do("leave", ROLE)
    assert pair.cause(told["message_id"], by=WRITER) == "role-left"


def test_a_role_whose_holder_was_killed_and_one_whose_lease_ran_out(pair: Scene) -> None:
    third = "0199cccc-0000-7000-8000-00000000000c"
    pid = pair.register(third, "third")
    pair.do("join", ROLE, by=third)
    pair.do("join", "parser/writer", by=READER)
    dead, over = pair.post(ROLE), pair.post("parser/writer")
    pair.kill(pid)
    told = pair.why(dead, by=WRITER)
    assert told["cause"] == "role-holder-dead"
    assert "third (0199cccc-0000)" in told["sentence"]
    pair.later(hours=11)
    assert pair.cause(over, by=WRITER) == "not-monitored"
    pair.later(hours=12, minutes=5)
    message = pair.post("parser/writer")
    assert pair.cause(message, by=WRITER) == "role-lease-over"


def test_the_mail_of_a_role_waits_for_what_its_holder_does(idle: Scene) -> None:
    idle.do("join", ROLE, by=READER)
    message = idle.post(ROLE)
    assert idle.cause(message, by=WRITER) == "not-monitored"
    idle.sign(READER, has_ended=False, seconds_ago=14 * 60)
    assert idle.cause(message, by=WRITER) == "busy"
    idle.do("ack", message, "--decision", "accepted", by=READER)
    assert idle.cause(message, by=WRITER) == "answered"


def test_a_monitor_that_was_stopped_and_one_that_expired(idle: Scene) -> None:
    arm(idle, "--ttl", "10m")
    message = idle.post("reader")
    idle.later(minutes=11)
    assert idle.cause(message, by=WRITER) == "monitor-expired"
    arm(idle)
    idle.do("monitor", "stop", MAILBOX, by=READER)
    assert idle.cause(message, by=WRITER) in ("not-monitored", "monitor-inactive")


def test_a_monitor_that_its_session_left_inactive(idle: Scene) -> None:
    arm(idle)
    message = idle.post("reader")
    idle.do("monitor", "automation", MAILBOX, "task-1", by=READER)
    idle.do("session", "end", by=READER)
    idle.register(READER, "reader")
    idle.end_turn()
    assert idle.cause(message, by=WRITER) == "monitor-inactive"


def test_a_monitor_that_gave_up(idle: Scene) -> None:
    arm(idle)
    message = idle.post("reader")
    answer = host().check(MAILBOX)
    for _ in range(3):
        host().failed(MAILBOX, answer.mark, "the program did not answer")
    told = idle.why(message, by=WRITER)
    assert told["cause"] == "monitor-error"
    assert "the program did not answer" in told["sentence"]


def test_a_session_that_there_is_no_visible_way_to(idle: Scene) -> None:
    arm(idle)
    message = idle.post("reader")
    host().check(MAILBOX)
    host().hindered(MAILBOX, "no program has the thread open")
    told = idle.why(message, by=WRITER)
    assert told["cause"] == "wake-impossible"
    assert "no program has the thread open" in told["sentence"]


def test_a_wake_that_was_sent_and_not_confirmed_and_one_that_was(idle: Scene) -> None:
    arm(idle)
    message = idle.post("reader")
    answer = host().check(MAILBOX)
    assert answer.monitor
    assert idle.cause(message, by=WRITER) == "wake-unconfirmed"
    host().confirmed(MAILBOX, answer.mark, token=answer.monitor.token)
    assert idle.cause(message, by=WRITER) == "woken"
    # Said to be collected, and never read: nothing wakes for it again.
    idle.do("monitor", "delivered", MAILBOX, str(answer.mark), by=READER)
    assert idle.cause(message, by=WRITER) == "said-collected"


def test_a_scheduled_task_looks_at_its_next_run(idle: Scene) -> None:
    arm(idle, "--scheduled")
    assert idle.cause(idle.post("reader"), by=WRITER) == "scheduled"


def test_a_receiver_that_does_not_run_that_was_killed_that_is_deaf_and_one_that_is_well(idle: Scene) -> None:
    arm(idle)
    message = idle.post("reader")
    assert idle.cause(message, by=WRITER) == "receiver-dead"
    child = idle.process()
    host().beat(MAILBOX, process_of(child.pid))
    assert idle.cause(message, by=WRITER) == "wake-due"
    idle.later(minutes=3)
    told = idle.why(message, by=WRITER)
    assert (told["cause"], told["command"]) == ("receiver-deaf", "restante monitor run")
    assert "for 3 min" in told["sentence"] or "for 2 min" in told["sentence"]
    host().beat(MAILBOX, process_of(child.pid))
    idle.kill(child.pid)
    assert idle.cause(message, by=WRITER) == "receiver-dead"
