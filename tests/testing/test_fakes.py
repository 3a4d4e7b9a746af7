"""What users' tests are given behaves as its docstrings say."""

from __future__ import annotations

import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

import restante.testing
from restante.domain.ids import is_well_formed
from restante.domain.message import Priority
from restante.testing import FakeClock, MemoryMailbox, SequentialIds, make_draft, make_message

if TYPE_CHECKING:
    from restante.ports import Archive, Clock, Ids, Mailbox


def test_a_fake_clock_stands_still_until_it_is_moved() -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    clock = FakeClock(start)
    assert clock.now() == clock.now() == start
    assert clock.advance(1.5) == clock.now() == start + timedelta(seconds=1.5)
    clock.sleep(3600)
    assert clock.now() == start + timedelta(seconds=3601.5)
    clock.advance(-7200)
    assert clock.now() < start
    clock.set(start)
    assert clock.now() == start


def test_sequential_ids_are_well_formed_and_the_same_in_every_run() -> None:
    at = FakeClock().now()
    runs = [[ids.new(kind, at) for kind in ("msg", "receipt", "msg")] for ids in (SequentialIds(), SequentialIds())]
    assert runs[0] == runs[1]
    assert len(set(runs[0])) == 3
    assert all(is_well_formed(one) for one in runs[0])


def test_factories_fill_in_what_is_not_given() -> None:
    assert make_draft().body
    assert make_draft("text", priority=Priority.HIGH).priority is Priority.HIGH
    first, second = make_message(), make_message("text", number=2, subject="s")
    assert (second.body, second.number, second.subject) == ("text", 2, "s")
    assert first.id != second.id
    assert is_well_formed(first.id, "msg")


def test_the_fakes_fit_the_ports(memory_mailbox: MemoryMailbox, clock: FakeClock, ids: SequentialIds) -> None:
    fits: tuple[Mailbox, Archive, Clock, Ids] = (memory_mailbox, memory_mailbox, clock, ids)
    assert fits[0].address == "worktree:/somewhere"


def test_threads_may_share_a_mailbox_in_memory(memory_mailbox: MemoryMailbox) -> None:
    def post(name: str) -> None:
        for number in range(20):
            memory_mailbox.post(make_draft(f"{name} {number}"))
            memory_mailbox.post(make_draft(f"shared {number}", client_id=str(number)))

    threads = [threading.Thread(target=post, args=(str(number),)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    numbers = [entry.message.number for entry in memory_mailbox.entries()]
    assert numbers == list(range(1, 8 * 20 + 20 + 1))


def test_every_public_name_is_there_and_no_other() -> None:
    for name in restante.testing.__all__:
        assert getattr(restante.testing, name)
    with pytest.raises(AttributeError, match="no_such_name"):
        restante.testing.no_such_name  # noqa: B018 - looking it up is what is tested


def test_users_need_neither_pytest_nor_hypothesis_for_the_mailbox_and_the_clock() -> None:
    code = (
        "import sys; sys.modules['pytest'] = sys.modules['hypothesis'] = None; "
        "from restante.testing import FakeClock, MemoryMailbox, SequentialIds, make_draft, MailboxContract; "
        "print(MemoryMailbox('a/b', FakeClock(), SequentialIds()).post(make_draft()).message.number)"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
