"""The turn latch and the watch: statements 58 to 60, and a property: no change is left out."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.exchange.conftest import ALICE, BOB
from tests.exchange.world import World, send, take

from restante.domain.errors import NoSuchSession, UsageError
from restante.domain.overview import Reason
from restante.domain.registry import Latch, TurnSource
from restante.stores.sql.sessions import SqlSessions
from restante.testing import FakeClock

if TYPE_CHECKING:
    from restante.domain.overview import Watched
    from restante.domain.registry import Session


def ids(watched: Watched) -> list[str]:
    return sorted(row.session.id for row in watched.rows)


def test_s58_a_turn_end_between_two_calls_is_not_lost(world: World) -> None:
    window, bob = world.person, world.window(BOB)
    cursor = window.watch().cursor
    bob.turn(has_ended=True)
    bob.turn(has_ended=False)
    watched = window.watch(cursor)
    assert ids(watched) == [BOB]
    assert watched.rows[0].session.latch == Latch(1, None, None)
    bob.turn(has_ended=True)
    assert [row.session.latch.turn for row in window.watch(watched.cursor).rows] == [2]


def test_s59_every_turn_end_since_a_cursor_is_told_and_a_quiet_time_tells_nothing(world: World) -> None:
    window = world.person
    first = window.watch()
    assert ids(first) == sorted([ALICE, BOB])
    quiet = window.watch(first.cursor)
    assert (quiet.rows, quiet.gone, quiet.timed_out) == ((), (), False)
    for session in (ALICE, BOB):
        world.window(session).turn(has_ended=True)
    assert ids(window.watch(quiet.cursor)) == sorted([ALICE, BOB])
    assert ids(window.watch(first.cursor)) == sorted([ALICE, BOB])


def test_a_latch_knows_source_and_a_number_that_only_grows(world: World) -> None:
    bob = world.window(BOB)
    for turn, source in enumerate(("hook", "heuristic", "exit"), 1):
        latch = bob.turn(has_ended=True, source=source).latch
        assert (latch.turn, latch.source) == (turn, TurnSource(source))
    with pytest.raises(UsageError):
        bob.turn(has_ended=True, source="rumour")


def test_signs_of_hooks_are_taken_in_when_sessions_are_listed(world: World) -> None:
    signs = world.parts.turns
    cursor = world.person.watch().cursor
    signs.sign(BOB, has_ended=False)
    signs.sign(BOB, has_ended=True)
    watched = world.person.watch(cursor)
    assert [(row.session.id, row.is_idle, row.session.latch.turn) for row in watched.rows] == [(BOB, True, 1)]
    signs.sign(BOB, has_ended=False)
    assert not world.row(BOB).is_idle
    assert [row.session.latch.turn for row in world.person.watch(watched.cursor).rows] == [1]


def test_signs_whose_count_began_anew_are_new_ends_all_the_same(world: World) -> None:
    signs, bob = world.parts.turns, world.window(BOB)
    for _ in range(3):
        bob.turn(has_ended=True)
    signs.forget(BOB)
    signs.expect(BOB)
    signs.sign(BOB, has_ended=False)
    assert not world.row(BOB).is_idle
    cursor = world.person.watch().cursor
    signs.sign(BOB, has_ended=True)
    assert [row.session.latch.turn for row in world.person.watch(cursor).rows] == [4]


def test_a_dead_process_ends_the_turn_that_ran_once(world: World) -> None:
    bob = world.window(BOB)
    bob.turn(has_ended=True)
    bob.turn(has_ended=False)
    cursor = world.person.watch().cursor
    world.kill(BOB)
    watched = world.person.watch(cursor)
    (row,) = watched.rows
    assert (row.session.latch.turn, row.session.latch.source, row.reason) == (2, TurnSource.EXIT, Reason.EXITED)
    assert world.person.watch(watched.cursor).rows == ()
    assert world.row(BOB).session.latch == row.session.latch


def test_a_session_that_rested_when_it_died_is_told_without_a_turn_more(world: World) -> None:
    world.window(BOB).turn(has_ended=True)
    cursor = world.person.watch().cursor
    world.kill(BOB)
    (row,) = world.person.watch(cursor).rows
    assert (row.session.latch.turn, row.session.latch.source, row.reason) == (1, TurnSource.HOOK, Reason.EXITED)


def test_whoever_found_a_process_dead_does_not_detach_the_one_in_its_place(world: World) -> None:
    from restante.services import enrolling

    old = world.parts.sessions.session(BOB, "")
    assert old
    world.kill(BOB)
    world.session(BOB)
    enrolling.detach(old, world.parts.sessions, world.parts.turns, world.clock.now())
    again = world.parts.sessions.session(BOB, "")
    assert again
    assert again.detached is None


def test_ready_is_no_turn_end(world: World) -> None:
    assert not world.row(BOB).is_idle
    assert world.row(BOB).reason is None


def test_mail_that_came_went_or_expired_is_a_change(world: World) -> None:
    window, alice, bob = world.person, world.window(ALICE), world.window(BOB)
    cursor = window.watch().cursor
    message = send(alice, BOB)
    for act in (
        lambda: None,
        lambda: take(bob),
        lambda: bob.acknowledge([message.id]),
        lambda: send(alice, BOB),
        lambda: world.clock.advance(12 * 3600 + 1),
    ):
        act()
        watched = window.watch(cursor)
        assert BOB in ids(watched)
        cursor = watched.cursor


def test_gone_are_the_unknown_and_the_deleted_and_only_those_asked_for(world: World) -> None:
    window = world.person
    cursor = window.watch().cursor
    window.delete(BOB)
    assert window.watch(cursor).gone == (BOB,)
    assert window.watch(cursor, [ALICE]).gone == ()
    assert window.watch("", [BOB, ALICE, "never"]).gone == (BOB, "never")
    assert ids(window.watch("", [BOB, ALICE])) == [ALICE]


def test_a_wait_for_who_is_gone_tells_it_once_for_a_cursor_and_then_waits(world: World) -> None:
    window = world.person
    cursor = window.watch().cursor
    window.delete(BOB)
    told = window.watch(cursor, [BOB], wait=60.0)
    assert (told.gone, told.timed_out) == ((BOB,), False)
    again = window.watch(told.cursor, [BOB, "never"], wait=0.05)
    assert (again.gone, again.timed_out) == ((BOB, "never"), True)
    world.window(ALICE).turn(has_ended=True)
    assert ids(window.watch(again.cursor, [BOB, ALICE], wait=60.0)) == [ALICE]
    assert window.watch("", [BOB], wait=60.0).gone == (BOB,)


def test_no_cursor_is_a_usage_error(world: World) -> None:
    for cursor in ("x", "w1.a.b.c.d", "w1.a.1.b", "w2.a.1.b.1", "w1.a.1.b.1.", "w1.a.-1.b.1", f"w1.a.{'9' * 19}.b.1"):
        with pytest.raises(UsageError):
            world.person.watch(cursor)
        with pytest.raises(UsageError):
            world.person.watch(cursor, wait=60.0)


def test_bl55_a_watch_that_times_out_carries_its_cursor_on(world: World) -> None:
    cursor = world.person.watch().cursor
    watched = world.person.watch(cursor, wait=0.02)
    assert watched.timed_out
    send(world.window(ALICE), BOB)
    assert ids(world.person.watch(watched.cursor, wait=60.0)) == [BOB]


def test_a_watch_is_released_by_a_sign_of_a_hook(world: World) -> None:
    cursor, answers = world.person.watch().cursor, []
    window = world.person
    thread = threading.Thread(target=lambda: answers.append(window.watch(cursor, wait=60.0)))
    thread.start()
    world.parts.turns.sign(BOB, has_ended=True)
    thread.join(20)
    assert [ids(one) for one in answers] == [[BOB]]
    assert not answers[0].timed_out


def test_bl55_ones_own_post_is_no_unseen_mail(world: World) -> None:
    alice, bob = world.window(ALICE), world.window(BOB)
    send(alice, BOB)
    send(bob, ALICE)
    assert bob.read().counts.unseen == 1
    assert not bob.read(wait=60.0).timed_out


def test_memory_that_was_lost_tells_every_session_again(world: World) -> None:
    send(world.window(ALICE), BOB)
    cursor = world.person.watch().cursor
    assert world.person.watch(cursor).rows == ()
    world.restart()
    assert ids(world.person.watch(cursor)) == sorted([ALICE, BOB])


def test_a_register_that_was_put_back_leaves_nothing_out(world: World) -> None:
    world.exchange.close()
    backup = {path: path.read_bytes() for path in world.data.glob("restante.db*")}
    world.window(BOB).turn(has_ended=True)
    world.window(BOB).turn(has_ended=True)
    cursor = world.person.watch().cursor
    world.exchange.close()
    for path in world.data.glob("restante.db*"):
        path.unlink()
    for path, data in backup.items():
        path.write_bytes(data)
    world.open()
    assert ids(world.person.watch(cursor)) == sorted([ALICE, BOB])


STEPS = st.lists(
    st.sampled_from(
        [
            "post",
            "take",
            "ack",
            "end",
            "start",
            "sign",
            "describe",
            "detach",
            "kill",
            "delete",
            "new",
            "restart",
            "watch",
        ]
    ),
    max_size=25,
)


@given(steps=STEPS, keeps=st.booleans())
def test_no_change_is_ever_left_out(tmp_path_factory: pytest.TempPathFactory, steps: list[str], keeps: bool) -> None:
    world = World(tmp_path_factory.mktemp("world"), FakeClock())
    world.session(ALICE)
    if keeps:
        world.person.set_persistence(True)
    alive: list[str] = []
    watched = world.person.watch()
    told = {row.session.id: state(world, row.session.id) for row in watched.rows}
    for number, step in enumerate([*steps, "watch"]):
        if step == "watch":
            watched = world.person.watch(watched.cursor)
            for gone in watched.gone:
                told.pop(gone, None)
            told.update((row.session.id, state(world, row.session.id)) for row in watched.rows)
            assert told == {row.session.id: state(world, row.session.id) for row in world.person.sessions()}
        elif step == "restart":
            world.restart()
        elif step == "new" or not alive:
            alive.append(f"session-{number:08}")
            world.session(alive[-1])
        else:
            act(world, step, alive)
        world.clock.advance(1)
    world.exchange.close()


def act(world: World, step: str, alive: list[str]) -> None:
    target = alive[len(alive) // 2]
    window = world.window(target)
    if step == "post":
        send(world.window(ALICE), target)
    elif step == "take":
        take(window)
    elif step == "ack":
        if ids_there := [entry.message.id for entry in window.read().entries]:
            window.acknowledge(ids_there[:1])
    elif step in {"end", "start"}:
        window.turn(has_ended=step == "end")
    elif step == "sign":
        world.parts.turns.sign(target, has_ended=True)
    elif step == "describe":
        window.describe(open_todos=len(alive))
    elif step == "detach":
        window.detach()
    elif step == "kill":
        world.kill(target)
    elif step == "delete":
        window.delete(target)
        alive.remove(target)


def state(world: World, session_id: str) -> tuple[object, ...]:
    """Return what a watcher would know of a session: not how it was told, but what is so."""
    try:
        row = world.row(session_id)
    except (NoSuchSession, StopIteration):
        return ()
    return row.counts, row.session.latch, row.session.open_todos, row.reason


def test_a_watch_reads_only_the_sessions_that_changed(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    cursor = world.person.watch().cursor
    calls: list[str] = []
    everyone = SqlSessions.all

    def counting(sessions: SqlSessions, owner: str) -> list[Session]:
        calls.append(owner)
        return everyone(sessions, owner)

    monkeypatch.setattr(SqlSessions, "all", counting)
    # Once to take in what hooks left, and not again for the answer.
    assert world.person.watch(cursor).rows == ()
    assert calls == [""]
    send(world.window(ALICE), BOB)
    assert [row.session.id for row in world.person.watch(cursor).rows] == [BOB]
    assert calls == ["", ""]
