"""Everything that can happen between sessions, at random, against a model that fits on a page.

pending = posted - acknowledged - expired - deleted; unseen <= pending; a peek changes nothing; never over a cap; no
text outside the owner. Restarts and the switch of persistence are part of it.
"""

from __future__ import annotations

import shutil
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from tests.exchange.world import World

from restante.domain.errors import Forbidden, MailboxFull, NoSuchSession
from restante.domain.message import Draft
from restante.domain.overview import Fate
from restante.domain.registry import Identity
from restante.testing import FakeClock

if TYPE_CHECKING:
    from datetime import datetime

    from restante.exchange.window import LocalWindow

MOST, MOST_BYTES = 4, 60
SESSIONS = {"session-a1": "", "session-a2": "", "session-a3": "", "session-b1": "ann"}
ANY = st.sampled_from(sorted(SESSIONS))


class Kept:
    """What the model knows of a message."""

    def __init__(self, sender: str, owner: str, to: str, body: str, expires: datetime) -> None:
        self.sender = sender
        self.owner = owner
        self.to = to
        self.body = body
        self.expires = expires
        self.fate = Fate.UNSEEN

    @property
    def is_pending(self) -> bool:
        return self.fate in (Fate.UNSEEN, Fate.SEEN)


class Sessions(RuleBasedStateMachine):
    """Sessions of two owners, one server that is started anew now and then."""

    def __init__(self) -> None:
        super().__init__()
        self.place = Path(tempfile.mkdtemp())
        self.clock = FakeClock()
        self.world = World(
            self.place,
            self.clock,
            RESTANTE_SESSIONS_MESSAGES=str(MOST),
            RESTANTE_SESSIONS_BYTES=str(MOST_BYTES),
            RESTANTE_SESSIONS_SHARE="1",
        )
        self.kept: dict[str, Kept] = {}
        self.is_on = False
        self.names = 0

    @initialize()
    def arrive(self) -> None:
        for session, owner in SESSIONS.items():
            self.world.session(session, owner=owner)

    def teardown(self) -> None:
        self.world.exchange.close()
        shutil.rmtree(self.place)

    def window(self, session: str) -> LocalWindow:
        return self.world.window(session, SESSIONS[session])

    def pending(self, session: str) -> list[tuple[str, Kept]]:
        return [(key, one) for key, one in self.kept.items() if one.to == session and one.is_pending]

    @rule(
        sender=ANY, to=ANY, letters=st.integers(1, 12), minutes=st.none() | st.integers(1, 600), repeats=st.booleans()
    )
    def post(self, sender: str, to: str, letters: int, minutes: int | None, repeats: bool) -> None:
        if sender == to:
            return
        self.names += 1
        body = f"€{self.names}:{SESSIONS[to] or 'us'}-" + "€" * letters
        now = self.clock.now()
        expires = None if minutes is None else now + timedelta(minutes=minutes)
        draft = Draft(body, expires=expires, client_id=f"c{self.names}")
        waiting = [one for _, one in self.pending(to)]
        fits = len(waiting) < MOST and sum(len(one.body.encode()) for one in waiting) + len(body.encode()) <= MOST_BYTES
        if SESSIONS[sender] != SESSIONS[to]:
            with pytest.raises(NoSuchSession):
                self.window(sender).post(to, draft)
        elif not fits:
            with pytest.raises(MailboxFull):
                self.window(sender).post(to, draft)
        else:
            message = self.window(sender).post(to, draft).posted.message
            assert message.body == body
            if repeats:
                again = self.window(sender).post(to, draft).posted
                assert (again.duplicate, again.message) == (True, message)
            assert message.expires
            self.kept[message.id] = Kept(sender, SESSIONS[sender], to, body, message.expires)

    @rule(session=ANY, count=st.integers(1, 4))
    def read_whole(self, session: str, count: int) -> None:
        reading = self.window(session).read(limit=count)
        assert not reading.is_peek
        ids = [entry.message.id for entry in reading.entries]
        assert ids == [key for key, _ in self.pending(session)][:count]
        self.window(session).confirm(ids)
        for key in ids:
            self.kept[key].fate = Fate.SEEN

    @rule(session=ANY, other=ANY)
    def peek(self, session: str, other: str) -> None:
        if SESSIONS[session] != SESSIONS[other]:
            with pytest.raises(NoSuchSession):
                self.window(session).read(other)
        elif session != other:
            ids = [entry.message.id for entry in self.window(session).read(other).entries]
            self.window(session).confirm(ids, other)
            with pytest.raises(Forbidden):
                self.window(session).acknowledge(ids or ["x"], other)

    @rule(session=ANY, data=st.data(), through=st.booleans())
    def acknowledge(self, session: str, data: st.DataObject, through: bool) -> None:
        own = [key for key, one in self.kept.items() if one.to == session]
        if not own:
            return
        key = data.draw(st.sampled_from(own))
        due = [key]
        if through and self.kept[key].fate is not Fate.DELETED:
            due = [one for one in own[: own.index(key) + 1] if self.kept[one].is_pending or one == key]
        removed = self.window(session).acknowledge([key], through=through).removed
        assert removed == sum(self.kept[one].is_pending for one in due)
        for one in due:
            if self.kept[one].fate is not Fate.DELETED:
                self.kept[one].fate = Fate.ACKNOWLEDGED

    @rule(minutes=st.sampled_from([1, 30, 300, 719]))
    def let_time_pass(self, minutes: int) -> None:
        self.clock.advance(minutes * 60)
        for one in self.kept.values():
            if one.is_pending and one.expires <= self.clock.now():
                one.fate = Fate.EXPIRED

    @rule(is_on=st.booleans())
    def switch(self, is_on: bool) -> None:
        self.is_on = self.world.person.set_persistence(is_on).is_on
        assert self.is_on == is_on

    @rule()
    def restart(self) -> None:
        self.world.restart()
        if not self.is_on:
            self.kept.clear()

    @rule(session=ANY)
    def delete_and_come_again(self, session: str) -> None:
        self.window(session).delete(session)
        for one in self.kept.values():
            if one.to == session and one.is_pending:
                one.fate = Fate.DELETED
        gone = [key for key, one in self.kept.items() if one.to == session and one.fate is not Fate.DELETED]
        for key in gone:
            del self.kept[key]
        self.world.session(session, owner=SESSIONS[session])

    @rule(session=ANY)
    def detach_and_come_again(self, session: str) -> None:
        self.window(session).detach()
        self.world.session(session, owner=SESSIONS[session])

    @rule()
    def look_after(self) -> None:
        done = self.world.exchange.upkeep()
        assert (done.pruned, done.forgotten, done.set_aside, done.problem) == ((), (), (), "")

    @invariant()
    def numbers_agree(self) -> None:
        for owner in ("", "ann"):
            rows = self.world.exchange.window(Identity(owner)).sessions()
            assert {row.session.id for row in rows} <= {one for one, whose in SESSIONS.items() if whose == owner}
            for row in rows:
                waiting = [one for _, one in self.pending(row.session.id)]
                unseen = [one for one in waiting if one.fate is Fate.UNSEEN]
                assert (row.counts.pending, row.counts.unseen) == (len(waiting), len(unseen))
                assert row.counts.unseen <= row.counts.pending <= MOST
                assert (row.counts.oldest_unseen is None) == (not unseen)

    @invariant()
    def senders_know(self) -> None:
        for session, owner in SESSIONS.items():
            if self.world.parts.sessions.session(session, owner) is None:
                continue
            told = {one.message_id: one.fate for one in self.window(session).receipts(limit=1000)}
            mine = {key: one.fate for key, one in self.kept.items() if one.sender == session}
            assert {key: told.get(key) for key in mine} == mine

    @invariant()
    def text_stays_with_its_owner(self) -> None:
        for session, owner in SESSIONS.items():
            if self.world.parts.sessions.session(session, owner) is None:
                continue
            texts = [entry.message.body for entry in self.window(session).read().entries]
            assert texts == [one.body for _, one in self.pending(session)]
            assert all(f":{owner or 'us'}-" in text for text in texts)

    @invariant()
    def text_is_on_disk_only_while_that_is_wanted(self) -> None:
        if self.world.data.is_dir() and not self.is_on:
            assert self.world.holds("€") == []


TestSessions = Sessions.TestCase
