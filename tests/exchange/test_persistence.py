"""Where mail is kept: statements 42 to 53, and races with the switch."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest
from tests.exchange.conftest import ALICE, BOB
from tests.exchange.world import TOKEN, World, bodies, send, take

from restante.domain.errors import Busy, Damaged, Forbidden, PersistenceOff, RestanteError, StorageFailed
from restante.domain.lifecycle import Status
from restante.domain.message import Draft
from restante.domain.overview import Fate, Persistence
from restante.domain.registry import Claim

if TYPE_CHECKING:
    from pathlib import Path

    from restante.testing import FakeClock

CANARY = "canary-0815"


def mail_files(world: World) -> list[str]:
    return sorted(path.name for path in world.data.iterdir() if path.name.startswith("mail.db"))


def test_s42_persistence_is_off_until_a_person_turns_it_on(world: World) -> None:
    assert world.person.persistence() == Persistence(is_on=False, has_server=True)
    for window in (world.window(ALICE), world.claiming(ALICE), world.nobody):
        with pytest.raises(Forbidden):
            window.set_persistence(True)
    assert world.person.set_persistence(True).is_on
    assert world.window(ALICE).persistence().is_on


def test_s43_while_it_is_off_no_text_is_written_anywhere(world: World) -> None:
    alice, bob = world.window(ALICE), world.window(BOB)
    message = send(alice, BOB, CANARY, subject=CANARY, client_id=CANARY)
    take(bob)
    send(bob, ALICE, CANARY)
    bob.acknowledge([message.id], summary=CANARY)
    world.exchange.upkeep()
    assert world.holds(CANARY) == []
    assert mail_files(world) == []
    world.exchange.close()
    assert world.holds(CANARY) == []


def test_s44_switching_off_deletes_the_file_and_keeps_mail_in_memory(world: World) -> None:
    alice, bob = world.window(ALICE), world.window(BOB)
    world.person.set_persistence(True)
    first, second = send(alice, BOB, CANARY), send(alice, BOB, CANARY)
    bob.confirm([first.id])
    assert world.holds(CANARY) != []
    assert not world.person.set_persistence(False).is_on
    assert world.holds(CANARY) == []
    assert mail_files(world) == []
    assert {entry.message.id: entry.standing.status for entry in bob.read().entries} == {
        first.id: Status.SEEN,
        second.id: Status.UNSEEN,
    }
    assert bob.acknowledge([first.id]).removed == 1
    send(alice, BOB, CANARY)
    assert world.holds(CANARY) == []


@pytest.mark.parametrize("by", ["upkeep", "a server", "a command"])
def test_s44_a_left_over_file_is_deleted_by_whoever_looks_next(world: World, by: str) -> None:
    world.person.set_persistence(True)
    world.person.set_persistence(False)
    for name in ("mail.db", "mail.db-wal", "mail.db-shm"):
        (world.data / name).write_text(CANARY)
    server = world.exchange
    world.open(holds_mail=by == "a server")
    if by == "upkeep":
        assert world.exchange.upkeep().problem == ""
    else:
        world.person.sessions()
    assert world.holds(CANARY) == []
    server.close()


def test_s44_no_late_writer_makes_the_file_again(durable: World) -> None:
    """A process that opened everything before the switch, and posts after it."""
    late = durable.another()
    window = late.window(durable.window(ALICE).identity)
    window.post(BOB, Draft(CANARY))
    durable.person.set_persistence(False)
    with pytest.raises(PersistenceOff):
        window.post(BOB, Draft(CANARY))
    with pytest.raises(PersistenceOff):
        window.read(BOB)
    late.close()
    assert durable.holds(CANARY) == []
    assert mail_files(durable) == []


def test_s44_a_switch_waits_for_whoever_writes_and_nothing_told_as_kept_is_lost(world: World) -> None:
    """Posts from several threads while a person switches to and fro: what was told as stored is there in the end."""
    world.parts.settings = world.parts.settings._replace(
        session_messages=10_000, session_bytes=10**9, session_share=1.0
    )
    world.restart()
    stored: list[str] = []
    faults: list[BaseException] = []
    alice = world.window(ALICE)
    is_over = threading.Event()

    def post() -> None:
        try:
            while not is_over.is_set():
                stored.append(alice.post(BOB, Draft(CANARY)).posted.message.id)
        except RestanteError as error:
            if type(error).__name__ != "MailboxFull":
                faults.append(error)

    threads = [threading.Thread(target=post) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(6):
        world.person.set_persistence(number % 2 == 0)
        if number % 2:
            assert mail_files(world) == []
    is_over.set()
    for thread in threads:
        thread.join(30)
    assert faults == []
    traces = {trace.message_id: trace.fate for trace in alice.receipts(limit=100_000)}
    assert {traces.get(one) for one in stored} == {Fate.UNSEEN}
    assert len(bodies(world.window(BOB))) == len(stored)
    assert world.holds(CANARY) == []


def test_s45_switching_on_writes_what_there_is_before_it_answers(world: World) -> None:
    message = send(world.window(ALICE), BOB, CANARY)
    take(world.window(BOB))
    world.person.set_persistence(True)
    other = world.another()
    (entry,) = other.window(other.identify(Claim(session=BOB))).read().entries
    other.close()
    assert (entry.message, entry.standing.status) == (message, Status.SEEN)


def test_s46_mail_has_a_file_of_its_own_that_nobody_else_may_read(durable: World) -> None:
    send(durable.window(ALICE), BOB, CANARY)
    assert {name for name in durable.holds(CANARY) if not name.startswith("mail.db")} == set()
    for path in durable.data.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_s47_the_register_never_holds_text(durable: World) -> None:
    message = send(durable.window(ALICE), BOB, CANARY)
    durable.window(BOB).acknowledge([message.id], summary=CANARY)
    durable.exchange.close()
    assert b"canary" not in b"".join(path.read_bytes() for path in durable.data.glob("restante.db*"))


def test_s48_mail_of_a_deleted_session_is_pruned_once_the_register_was_read(durable: World) -> None:
    alice = durable.window(ALICE)
    send(alice, BOB, "left over")
    durable.parts.sessions.delete(BOB, "", durable.clock.now())
    durable.restart(holds_mail=False)
    assert durable.exchange.upkeep().pruned == (BOB,)
    assert durable.exchange.upkeep().pruned == ()
    assert [trace.fate for trace in durable.window(ALICE).receipts()] == [Fate.DELETED]


@pytest.mark.parametrize("how", ["damaged", "lost", "unreadable"])
def test_s49_a_failed_restore_prunes_nothing(durable: World, how: str) -> None:
    message = send(durable.window(ALICE), BOB, "precious")
    durable.exchange.close()
    mail = (durable.data / "mail.db").read_bytes()
    register = durable.data / "restante.db"
    saved = {path: path.read_bytes() for path in durable.data.glob("restante.db*")}
    if how != "unreadable":
        for path in saved:
            path.unlink()
    if how == "damaged":
        register.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
    elif how == "unreadable":
        real = durable.parts.sessions

        class Failing:
            def __getattr__(self, name: str) -> object:
                if name == "all":
                    raise StorageFailed("the disk does not answer")
                return getattr(real, name)

        durable.parts.__dict__["sessions"] = Failing()
    done = durable.exchange.upkeep()
    durable.exchange.close()
    assert (done.pruned, done.forgotten) == ((), ())
    assert bool(done.problem) == (how != "lost")
    assert (durable.data / "mail.db").read_bytes() == mail
    if how == "lost":
        # Sessions come again by themselves, and find their mail.
        durable.session(BOB)
    else:
        for path in durable.data.glob("restante.db*"):
            path.unlink()
        for path, data in saved.items():
            path.write_bytes(data)
    durable.restart(holds_mail=False)
    assert [entry.message for entry in durable.window(BOB).read().entries] == [message]


def test_s50_a_restart_does_not_renew_the_time_to_live(durable: World) -> None:
    send(durable.window(ALICE), BOB)
    durable.clock.advance(12 * 3600 - 60)
    durable.restart(holds_mail=True)
    assert len(bodies(durable.window(BOB))) == 1
    durable.clock.advance(60)
    assert bodies(durable.window(BOB)) == []


def test_s51_seen_mail_is_seen_after_a_restart(durable: World) -> None:
    send(durable.window(ALICE), BOB)
    take(durable.window(BOB))
    durable.restart(holds_mail=True)
    reading = durable.window(BOB).read(wait=0.01)
    assert (reading.counts.unseen, reading.counts.pending, reading.timed_out) == (0, 1, True)


def test_41_of_44_restarts_bring_back_pending_mail(durable: World) -> None:
    alice = durable.window(ALICE)
    sent = [send(alice, BOB, str(number)) for number in range(5)]
    for number in range(4):
        durable.restart(holds_mail=bool(number % 2))
        assert [entry.message for entry in durable.window(BOB).read().entries] == sent


@pytest.mark.parametrize("what", ["damaged", "newer", "foreign"])
@pytest.mark.parametrize("by", ["upkeep", "persist on"])
def test_s52_a_file_that_cannot_be_read_is_set_aside_and_told_and_the_start_goes_on(
    durable: World, what: str, by: str
) -> None:
    import sqlite3

    send(durable.window(ALICE), BOB, "old")
    durable.exchange.close()
    path = durable.data / "mail.db"
    for log in durable.data.glob("mail.db-*"):
        log.unlink()
    if what == "damaged":
        path.write_bytes(b"no database at all " * 500)
    else:
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA user_version = 99" if what == "newer" else "PRAGMA application_id = 7")
        connection.close()
    data = path.read_bytes()
    durable.open(holds_mail=by == "upkeep")
    with pytest.raises(RestanteError):
        send(durable.window(ALICE), BOB)
    if by == "upkeep":
        (aside,) = durable.exchange.upkeep().set_aside
        assert aside.startswith(str(path))
        with open(aside, "rb") as file:
            assert file.read() == data
    else:
        durable.person.set_persistence(True)
        assert data in [one.read_bytes() for one in durable.data.iterdir() if one.is_file()]
    send(durable.window(ALICE), BOB, "new")
    assert bodies(durable.window(BOB)) == ["new"]


def test_s52_a_bad_entry_is_skipped_alone(durable: World) -> None:
    import sqlite3

    alice = durable.window(ALICE)
    for text in ("one", "two", "three"):
        send(alice, BOB, text)
    durable.exchange.close()
    with sqlite3.connect(durable.data / "mail.db") as connection:
        connection.execute("UPDATE messages SET priority = 'odd' WHERE body = CAST('two' AS BLOB)")
    connection.close()
    durable.restart(holds_mail=True)
    assert bodies(durable.window(BOB)) == ["one", "three"]


def test_s53_a_restart_is_no_change_for_who_watches(durable: World) -> None:
    send(durable.window(ALICE), BOB)
    cursor = durable.person.watch().cursor
    durable.restart(holds_mail=True)
    assert durable.person.watch(cursor).rows == ()


def test_a_failed_switch_on_leaves_it_off_with_no_text_on_disk(world: World) -> None:
    real = world.parts.sessions
    send(world.window(ALICE), BOB, CANARY)
    person = world.person

    class Full:
        def __getattr__(self, name: str) -> object:
            if name == "set_setting":
                raise StorageFailed("disk full")
            return getattr(real, name)

    world.parts.keeping.__dict__["_sessions"] = Full()
    with pytest.raises(StorageFailed):
        person.set_persistence(True)
    world.parts.keeping.__dict__["_sessions"] = real
    assert not person.persistence().is_on
    assert world.holds(CANARY) == []
    assert bodies(world.window(BOB)) == [CANARY]


def test_a_server_follows_a_switch_that_another_process_made(world: World) -> None:
    send(world.window(ALICE), BOB, CANARY)
    server = world.exchange
    other = world.another()
    other.window(other.identify(Claim(TOKEN))).persistence()
    world.person  # noqa: B018 - makes the token known
    person = other.window(other.identify(Claim(TOKEN)))
    person.set_persistence(True)
    bob = server.window(server.identify(Claim(session=BOB)))
    assert bodies(bob) == [CANARY]
    assert [entry.message.body for entry in other.window(bob.identity).read().entries] == [CANARY]
    person.set_persistence(False)
    assert world.holds(CANARY) == []
    send(server.window(server.identify(Claim(session=ALICE))), BOB, CANARY + " again")
    assert bodies(bob) == [CANARY + " again"]
    other.close()


def test_persistence_is_not_switched_within_a_common_commit(world: World) -> None:
    person = world.person
    with world.exchange.together(), pytest.raises(Busy):
        person.set_persistence(True)
    assert not person.persistence().is_on


def test_a_common_commit_makes_everything_durable_at_once(durable: World) -> None:
    alice = durable.window(ALICE)
    with durable.exchange.together():
        for number in range(5):
            send(alice, BOB, str(number))
        with pytest.raises(RestanteError):
            send(alice, "nobody")
    durable.restart(holds_mail=False)
    assert bodies(durable.window(BOB)) == [str(number) for number in range(5)]


KILLED = """
import os, sys
from restante.domain.message import Draft
from restante.domain.registry import Claim
from restante.wiring.sessions import open_exchange

exchange = open_exchange({"RESTANTE_DATA": sys.argv[1], "HOME": sys.argv[1]}, holds_mail=True)
window = exchange.window(exchange.identify(Claim(session=sys.argv[2])))
for number in range(5):
    print(window.post(sys.argv[3], Draft(str(number))).posted.message.id, flush=True)
os.kill(os.getpid(), 9)
"""


def test_every_post_that_was_told_as_stored_survives_a_kill(tmp_path: Path, clock: FakeClock) -> None:
    from restante.system.clock import SystemClock

    clock.set(SystemClock().now())
    world = World(tmp_path, clock, holds_mail=False)
    for session in (ALICE, BOB):
        world.session(session, host="elsewhere")
    world.person.set_persistence(True)
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(world.data), ALICE, BOB],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == -9, done.stderr
    assert [entry.message.id for entry in world.window(BOB).read().entries] == done.stdout.split()
    assert all(not name.endswith(".tmp") for name in os.listdir(world.data))


def test_a_damaged_file_without_a_server_is_an_error_and_not_an_empty_box(durable: World) -> None:
    send(durable.window(ALICE), BOB)
    durable.exchange.close()
    for log in durable.data.glob("mail.db-*"):
        log.unlink()
    (durable.data / "mail.db").write_bytes(b"rubbish " * 1000)
    durable.open(holds_mail=False)
    with pytest.raises(Damaged):
        durable.window(BOB).read()


SWITCHER = """
import sys
from restante.domain.message import Draft
from restante.domain.registry import Claim
from restante.wiring.sessions import open_exchange

exchange = open_exchange({"RESTANTE_DATA": sys.argv[1], "HOME": sys.argv[1]}, holds_mail=True)
exchange.trust_person("token")
person = exchange.window(exchange.identify(Claim("token")))
for number in range(20):
    person.post(sys.argv[2], Draft(f"canary-0815 {number}"))
print("ready", flush=True)
while True:
    person.set_persistence(True)
    person.set_persistence(False)
"""


@pytest.mark.slow
@pytest.mark.parametrize("milliseconds", range(0, 40, 2))
def test_a_kill_in_the_middle_of_a_switch_leaves_all_mail_or_no_text(
    tmp_path: Path, clock: FakeClock, milliseconds: int
) -> None:
    from restante.system.clock import SystemClock

    clock.set(SystemClock().now())
    world = World(tmp_path, clock, holds_mail=False)
    world.session(BOB, host="elsewhere")
    with subprocess.Popen(
        [sys.executable, "-c", SWITCHER, str(world.data), BOB], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        threading.Event().wait(milliseconds / 1000)
        process.kill()
    world.restart()
    assert world.exchange.upkeep().problem == ""
    if world.person.persistence().is_on:
        assert len(bodies(world.window(BOB))) == 20
    else:
        assert world.holds(CANARY) == []
        assert bodies(world.window(BOB)) == []
    world.exchange.close()
