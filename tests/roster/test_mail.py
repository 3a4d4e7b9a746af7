"""Mail of roles: posting, reading with one's own, acknowledging, and what the sender learns."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from restante.domain.errors import (
    Conflict,
    Forbidden,
    IllegalStep,
    MailboxFull,
    NoSuchMessage,
    NothingThere,
    PersistenceOff,
    RoleHeld,
    Screened,
    StorageFailed,
    TooLarge,
    UsageError,
)
from restante.domain.message import Draft, Sender
from restante.domain.monitor import Signal
from restante.domain.overview import Fate
from restante.domain.receipt import Action, Decision
from restante.domain.team import Tally
from restante.stores.sql.role_boxes import RoleMailbox, SqlRoleBoxes
from restante.stores.sql.sqlite import SqliteDatabase
from restante.system.bells import is_ringing
from restante.system.doorbells import FileDoorbells

from .conftest import ALICE, BOB, CAROL, ROLE, Town

if TYPE_CHECKING:
    from pathlib import Path

    from restante.testing import FakeClock


@pytest.fixture
def team(town: Town) -> Town:
    """A team of three roles; alice holds two of them and bob the third."""
    town.by(ALICE).join(ROLE)
    town.by(ALICE).join("parser/tester")
    town.by(BOB).join("parser/writer")
    return town


def test_a_post_is_from_whoever_proved_it_whatever_the_draft_says(team: Town) -> None:
    """A spoofed ``from``: agmsg took it as an argument."""
    spoofed = Draft("text", sender=Sender("session:" + CAROL, verified=True), type="guidance")
    senders = []
    for roster in (team.by(), team.by(BOB), team.by(BOB, verified=False), team.by(verified=False)):
        (copy,) = roster.post(ROLE, spoofed)
        assert copy.posted
        senders.append((copy.posted.message.sender.label, copy.posted.message.type))
    assert senders == [
        ("human", "guidance"),
        (f"session:{BOB}", "note"),
        (f"session:{BOB} (unverified)", "note"),
        ("user (unverified)", "note"),
    ]


def test_the_holders_worktree_is_rung_for_and_whoever_monitors_the_role(team: Town, tmp_path: Path) -> None:
    bells = FileDoorbells(str(team.data))
    bells.expect(ROLE)
    assert bells.rung([ROLE]) == [ROLE]
    assert bells.rung([ROLE]) == []
    (copy,) = team.by(BOB).post(ROLE, Draft("text"))
    assert copy.holder
    assert copy.holder.id == ALICE
    assert (is_ringing(str(tmp_path / "alice")), is_ringing(str(tmp_path / "bob"))) == (True, False)
    assert bells.rung([ROLE]) == [ROLE]


def test_without_a_holder_mail_waits_and_nothing_rings(town: Town, tmp_path: Path) -> None:
    town.by().join(ROLE)
    (copy,) = town.by().post(ROLE, Draft("text"))
    assert (copy.holder, copy.counts.unseen) == (None, 1)
    assert not any(is_ringing(str(tmp_path / name)) for name in ("alice", "bob", "carol"))


def test_report_62_each_role_gets_its_own_mail_and_a_session_that_of_all_its_roles(team: Town) -> None:
    """Report 721: the turn hook served only the first of several roles."""
    team.post("one", "parser/reviewer")
    team.post("two", "parser/writer")
    team.post("three", "parser/tester")
    team.window(BOB).post(ALICE, Draft("own"))
    assert [one.message.body for one in team.window_of(ALICE).read().entries] == ["one", "three", "own"]
    assert [one.message.body for one in team.window_of(BOB).read().entries] == ["two"]
    assert team.window_of(CAROL).read().entries == ()
    reading = team.window_of(ALICE).read(limit=2)
    assert (len(reading.entries), reading.left_out, reading.counts.unseen) == (2, 1, 3)


def test_reading_marks_nothing_and_what_was_handed_over_is_seen_each_in_its_mailbox(team: Town) -> None:
    of_role = team.post("one")
    own = team.window(BOB).post(ALICE, Draft("own")).posted.message.id
    window = team.window_of(ALICE)
    window.read()
    assert {trace.fate for trace in (*team.by().receipts(), *team.window_of(BOB).receipts())} == {Fate.UNSEEN}
    window.confirm([of_role, own], only_noticed=True)
    assert team.by().tally(ROLE) == Tally(noticed=1)
    window.confirm([of_role, own])
    assert team.by().tally(ROLE) == Tally(seen=1)
    assert {trace.fate for trace in (*team.by().receipts(), *team.window_of(BOB).receipts())} == {Fate.SEEN}


def test_an_answer_goes_to_the_mailbox_that_each_message_is_in_and_the_sender_learns_of_it(team: Town) -> None:
    of_role = team.post("one", sender=BOB)
    own = team.window(BOB).post(ALICE, Draft("own")).posted.message.id
    cleared = team.window_of(ALICE).acknowledge(
        [of_role, own], decision=Decision.REJECTED, action=Action.NOT_APPLICABLE, summary="no"
    )
    assert (cleared.removed, cleared.counts.pending) == (2, 0)
    traces = {trace.message_id: trace for trace in team.window_of(BOB).receipts()}
    assert [(traces[one].to, traces[one].fate) for one in (of_role, own)] == [
        (ROLE, Fate.ACKNOWLEDGED),
        (ALICE, Fate.ACKNOWLEDGED),
    ]
    assert traces[of_role].decision is Decision.REJECTED
    assert team.window_of(ALICE).acknowledge([of_role, own]).removed == 0
    assert team.by().tally(ROLE) == Tally(acknowledged=1)


def test_through_takes_what_is_older_in_that_role_and_nothing_else(team: Town) -> None:
    team.post("other", "parser/tester")
    ids = [team.post(text) for text in ("one", "two", "three")]
    cleared = team.window_of(ALICE).acknowledge([ids[1]], through=True)
    assert (cleared.removed, cleared.counts.pending) == (2, 2)
    assert sorted(one.message.body for one in team.window_of(ALICE).read().entries) == ["other", "three"]


def test_an_id_that_is_nowhere_is_as_it_was_before_there_were_roles(team: Town) -> None:
    nowhere = "msg_20260520T153000_01ks1w4ar0" + "0" * 16
    assert team.window_of(ALICE).acknowledge([nowhere]).removed == 0
    team.person.set_persistence(False)
    with pytest.raises(NoSuchMessage):
        team.window_of(ALICE).acknowledge([nowhere])


def test_mail_of_roles_is_kept_where_that_of_sessions_is_not(team: Town, clock: FakeClock) -> None:
    team.person.set_persistence(False)
    message = team.post("text")
    with pytest.raises(PersistenceOff):
        team.window(ALICE).read()
    assert [one.message.id for one in team.window_of(ALICE).read().entries] == [message]
    assert team.window_of(CAROL).read().entries == ()
    with pytest.raises(PersistenceOff):
        team.window_of(CAROL).read(ALICE)
    assert team.window_of(ALICE).acknowledge([message]).removed == 1
    clock.advance(400 * 86_400)
    assert [one.standing.status for one in team.entries()] == ["accepted"]


def test_posting_under_one_client_id_posts_once_and_to_each_role_of_a_team_once(team: Town) -> None:
    first = team.by().post("parser/*", Draft("text", client_id="mine"))
    again = team.by().post("parser/", Draft("text", client_id="mine"))
    assert [copy.posted and copy.posted.message.id for copy in first] == [
        copy.posted and copy.posted.message.id for copy in again
    ]
    assert all(copy.posted and copy.posted.duplicate for copy in again)
    with pytest.raises(Conflict):
        team.by().post(ROLE, Draft("another text", client_id="mine"))
    (other,) = team.by(CAROL).post(ROLE, Draft("another text", client_id="mine"))
    assert other.posted
    assert not other.posted.duplicate


def test_a_post_to_a_team_is_a_copy_for_each_role_but_ones_own_in_one_conversation_with_a_receipt_each(
    team: Town,
) -> None:
    copies = team.by(ALICE).post("parser/*", Draft("text"))
    assert [copy.role for copy in copies] == ["parser/writer"]
    copies = team.by().post("parser/*", Draft("text"))
    assert [copy.role for copy in copies] == ["parser/reviewer", "parser/tester", "parser/writer"]
    messages = [copy.posted.message for copy in copies if copy.posted]
    assert len({one.conversation for one in messages}) == 1
    assert messages[0].conversation
    team.window_of(BOB).acknowledge([messages[2].id])
    assert {(trace.to, trace.fate) for trace in team.by().receipts()} == {
        ("parser/reviewer", Fate.UNSEEN),
        ("parser/tester", Fate.UNSEEN),
        ("parser/writer", Fate.ACKNOWLEDGED),
    }


def test_report_637_a_full_mailbox_keeps_no_other_copy_from_being_posted(tmp_path: Path, clock: FakeClock) -> None:
    town = Town(tmp_path, clock, holds_mail=False, RESTANTE_SESSIONS_MESSAGES="1")
    for role in ("parser/a", "parser/b", "parser/c"):
        town.by().join(role)
    town.post("fills it", "parser/b")
    copies = town.by().post("parser/*", Draft("text", client_id="mine"))
    assert [(copy.role, copy.posted is not None) for copy in copies] == [
        ("parser/a", True),
        ("parser/b", False),
        ("parser/c", True),
    ]
    assert isinstance(copies[1].problem, MailboxFull)
    with pytest.raises(MailboxFull):
        town.by().post("parser/b", Draft("text"))
    town.session(BOB, name="bob")
    town.by(BOB).act_as("parser/b")
    (waiting,) = town.by(BOB).read("parser/b").entries
    town.by(BOB).acknowledge("parser/b", [waiting.message.id])
    again = town.by().post("parser/*", Draft("text", client_id="mine"))
    assert [copy.posted is not None and copy.posted.duplicate for copy in again] == [True, False, True]
    town.exchange.close()


def test_a_post_that_should_not_leave_as_it_is_is_refused_before_anything_is_stored(
    team: Town, clock: FakeClock
) -> None:
    token = "ghp_" + "a1B2" * 9
    for draft, error in (
        (Draft("  "), UsageError),
        (Draft("x" * 20_000), TooLarge),
        (Draft(f"the token is {token}"), Screened),
        (Draft("text", expires=clock.now()), UsageError),
        (Draft("text", subject="a\nb"), UsageError),
    ):
        with pytest.raises(error):
            team.by().post("parser/*", draft)
    assert team.by().receipts() == []
    (copy,) = team.by().post(ROLE, Draft(f"the token is {token}"), allow_warnings=True)
    assert copy.posted


def test_a_session_does_not_post_to_itself_and_not_to_a_team_without_others(team: Town) -> None:
    with pytest.raises(UsageError, match="you hold parser/reviewer yourself"):
        team.by(ALICE).post(ROLE, Draft("text"))
    team.by(ALICE).join("alone/one")
    with pytest.raises(NothingThere, match="no roles but yours"):
        team.by(ALICE).post("alone/*", Draft("text"))
    with pytest.raises(NothingThere, match="no team nobody"):
        team.by().post("nobody/*", Draft("text"))


def test_mail_to_a_role_lasts_until_it_is_answered_unless_it_has_an_end(team: Town, clock: FakeClock) -> None:
    stays, goes = team.post("stays"), team.by().post(ROLE, Draft("goes", expires=clock.now() + timedelta(minutes=1)))
    clock.advance(30 * 86_400)
    team.by(ALICE).act_as(ROLE)
    assert [one.message.id for one in team.window_of(ALICE).read().entries] == [stays]
    assert goes[0].posted
    assert [one.fate for one in team.by().receipts([goes[0].posted.message.id])] == [Fate.EXPIRED]


def test_what_a_message_says_of_an_action_is_kept_with_it(team: Town) -> None:
    signal = Signal("build", "42", "done")
    team.by().post(ROLE, Draft("text"), signal=signal)
    assert team.parts.role_boxes.signals(ROLE, "") == [(1, signal)]


def test_a_sender_takes_back_what_was_not_answered_and_nobody_else_does(team: Town) -> None:
    first, second = team.post("one", sender=BOB), team.post("two", sender=BOB)
    team.window_of(ALICE).acknowledge([first])
    with pytest.raises(NoSuchMessage):
        team.window_of(CAROL).withdraw(second)
    with pytest.raises(Forbidden):
        team.by(BOB, verified=False).withdraw(second)
    assert team.window_of(BOB).withdraw(second).fate is Fate.WITHDRAWN
    with pytest.raises(IllegalStep):
        team.window_of(BOB).withdraw(first)
    assert team.window_of(ALICE).read().entries == ()


def test_the_bell_rings_on_while_mail_of_a_role_waits_although_ones_own_is_answered(team: Town, tmp_path: Path) -> None:
    own = team.window(BOB).post(ALICE, Draft("own")).posted.message.id
    of_role = team.post("text")
    alice = str(tmp_path / "alice")
    team.window_of(ALICE).acknowledge([own])
    assert is_ringing(alice)
    team.window_of(ALICE).acknowledge([of_role])
    team.parts.bell.hush(alice, lambda: False)
    assert not is_ringing(alice)


def test_history_is_everything_for_a_person_and_ones_own_for_a_session(team: Town) -> None:
    for text, to, sender in (
        ("one", "parser/reviewer", BOB),
        ("two", "parser/writer", ""),
        ("three", "parser/writer", ALICE),
        ("four", "parser/tester", ""),
    ):
        team.post(text, to, sender)

    def bodies(session: str, what: str, limit: int = 20) -> tuple[list[str], int]:
        entries, older = team.by(session).history(what, limit=limit)
        return [one.message.body for one in entries], older

    assert bodies("", "parser") == (["one", "two", "three", "four"], 0)
    assert bodies("", "parser", 3) == (["two", "three", "four"], 1)
    assert bodies("", "parser/writer") == (["two", "three"], 0)
    assert bodies(ALICE, "parser") == (["one", "three", "four"], 0)
    assert bodies(BOB, "parser") == (["one", "two", "three"], 0)
    assert bodies(CAROL, "parser") == ([], 0)
    with pytest.raises(NothingThere):
        team.by().history("parser/nobody")


def test_history_stays_when_its_messages_are_answered_and_the_role_is_gone(team: Town) -> None:
    message = team.post("text")
    team.window_of(ALICE).acknowledge([message], summary="done")
    team.by(ALICE).leave(ROLE)
    (entry,) = team.entries()
    assert (entry.message.body, entry.standing.status, entry.standing.summary) == ("text", "accepted", "done")


@pytest.mark.parametrize("way", ["window", "roster"])
def test_a_wait_ends_with_mail_of_a_role(team: Town, way: str) -> None:
    def post() -> None:
        team.post("text")

    timer = threading.Timer(0.3, post)
    timer.start()
    try:
        if way == "window":
            reading = team.window_of(ALICE).read(wait=20)
            assert (reading.timed_out, [one.message.body for one in reading.entries]) == (False, ["text"])
        else:
            assert team.by(ALICE).wait(ROLE, 20)
    finally:
        timer.join()


def test_a_wait_for_nothing_ends_with_its_time(team: Town) -> None:
    assert team.window_of(ALICE).read(wait=0.05).timed_out
    assert not team.by(ALICE).wait(ROLE, 0.05)
    with pytest.raises(RoleHeld):
        team.by(BOB).wait(ROLE, 0.05)


def test_a_role_is_followed_from_a_cursor_by_its_holder_or_a_person(team: Town) -> None:
    cursor = team.by().tip(ROLE)
    message = team.post("text")
    team.window_of(ALICE).confirm([message])
    for session in ("", ALICE):
        batches = list(team.by(session).follow(ROLE, cursor, 0.01))
        assert [change.kind.value for batch in batches for change in batch.changes] == ["posted", "seen"]
        assert list(team.by(session).follow(ROLE, batches[-1].cursor, 0.01)) == []
    with pytest.raises(RoleHeld):
        list(team.by(BOB).follow(ROLE, cursor, 0.01))


def test_teams_are_kept_in_postgresql_too(tmp_path: Path, clock: FakeClock, postgres_url: str) -> None:
    town = Town(tmp_path, clock, holds_mail=False, RESTANTE_DATABASE_URL=postgres_url)
    town.session(ALICE, name="alice")
    town.session(BOB, name="bob")
    town.by(ALICE).join(ROLE)
    of_role = town.post("text", sender=BOB)
    own = town.window(BOB).post(ALICE, Draft("own")).posted.message.id
    assert [one.message.id for one in town.window_of(ALICE).read().entries] == [of_role, own]
    assert [trace.message_id for trace in town.window_of(BOB).receipts()] == [own, of_role]
    town.window_of(ALICE).acknowledge([of_role, own])
    assert {trace.fate for trace in town.window_of(BOB).receipts()} == {Fate.ACKNOWLEDGED}
    assert not (town.data / "teams.db").exists()
    town.kill(ALICE)
    assert town.by(BOB).act_as(ROLE).member.generation == 2
    town.exchange.close()


def test_report_1011_that_nothing_could_be_marked_is_told_and_keeps_nothing_else_from_it(team: Town) -> None:
    of_role = team.post("text")
    own = team.window(BOB).post(ALICE, Draft("own")).posted.message.id

    class Full(SqlRoleBoxes):
        def fenced(self, role: str, owner: str, session: str, generation: int | None = None) -> RoleMailbox:
            raise StorageFailed("the disk is full")

    boxes = team.parts.role_boxes
    team.parts.role_boxes = Full(
        SqliteDatabase(str(team.data / "teams.db"), clock=team.clock, ids=team.parts.ids), team.clock, team.parts.ids
    )
    with pytest.raises(StorageFailed):
        team.window_of(ALICE).confirm([of_role, own])
    team.parts.role_boxes = boxes
    states = [trace.fate for trace in team.window_of(BOB).receipts([own])]
    assert (states, team.by().tally(ROLE)) == ([Fate.SEEN], Tally(queued=1))
