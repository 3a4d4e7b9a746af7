"""Posting, acknowledging, archiving, gating and finalizing: killed before every one of their steps, and at random."""

from __future__ import annotations

import hashlib
import os
import random
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.autonomy.fixtures import message, with_profile
from tests.killed import at_random, before_each_step
from tests.oacp import AT, names_in, send
from tests.stores.oacp.test_audit import ACCEPTING, PAUSING, Desk
from tests.stores.oacp.test_audit import AT as THEN

from restante.autonomy.findings import Unread
from restante.autonomy.measuring import Wish
from restante.domain.inquiry import Ruling
from restante.domain.mailbox import Acknowledgement
from restante.domain.message import Sender
from restante.domain.receipt import Action, Decision
from restante.ports.receiving import PolicyText
from restante.services.approving import conclude, decide
from restante.stores.oacp.archive import archive
from restante.stores.oacp.index import list_inbox
from restante.stores.oacp.store import OacpMailbox
from restante.testing import FakeClock, SequentialIds, make_draft

if TYPE_CHECKING:
    from pathlib import Path

    from restante.domain.message import Draft
    from restante.stores.oacp.layout import Tree

WHOLE = pytest.mark.parametrize("stride", [7, pytest.param(1, marks=pytest.mark.slow)])


def first(stride: int) -> int:
    return random.Random().randrange(1, stride + 1)


def mailbox(tree: Tree, number: int = 0) -> OacpMailbox:
    ids = SequentialIds()
    for _ in range(number):
        ids.new("receipt", AT)
    return OacpMailbox(tree, "demo", "bob", clock=FakeClock(AT), ids=ids)


def draft(number: int) -> Draft:
    return make_draft(f"Number {number}.", sender=Sender("alice"), client_id=f"client-{number}")


@WHOLE
def test_a_post_is_everywhere_or_nowhere_and_posted_again_it_is_there_once(tree: Tree, stride: int) -> None:
    posted = [0]
    for _ in before_each_step(lambda: mailbox(tree).post(draft(posted[0])), first=first(stride), stride=stride):
        known = {entry.message.body for entry in mailbox(tree).entries()}
        assert not mailbox(tree).faults()
        again = mailbox(tree).post(draft(posted[0]))
        assert again.duplicate == (again.message.body in known)
        assert names_in(tree, "bob") == names_in(tree, "alice", "outbox")
        posted[0] += 1
        bodies = sorted(entry.message.body for entry in mailbox(tree).entries())
        assert bodies == sorted(draft(number).body for number in range(posted[0]))
    assert posted[0] > 1


@WHOLE
def test_an_acknowledgement_is_given_whole_or_not_at_all(tree: Tree, stride: int) -> None:
    said = ("it is done", Decision.ACCEPTED, Action.APPLIED)

    def acknowledge() -> None:
        (entry,) = mailbox(tree).entries(pending_only=True)
        word = Acknowledgement(entry.message.id, said[1], said[2], said[0])
        mailbox(tree, sum(1 for _ in mailbox(tree).ids())).acknowledge([word], "bob")

    send(tree, "bob")
    for _ in before_each_step(acknowledge, first=first(stride), stride=stride):
        looked = mailbox(tree)
        (newest,) = [one for one in looked.ids() if one not in done_ids(tree)] or [""]
        both = names_in(tree, "bob") | names_in(tree, "bob", "inbox/archive")
        assert both == names_in(tree, "alice", "outbox")
        if newest:
            assert looked.entry(newest).standing.is_pending
            assert looked.receipts(newest) == []
        else:
            # The next change of the mailbox ends what was begun: the file has one name again, in the archive.
            looked.archive()
            assert names_in(tree, "bob") == set()
            send(tree, "bob")


def done_ids(tree: Tree) -> set[str]:
    looked = mailbox(tree)
    return {one for one in looked.ids() if looked.receipts(one)}


@WHOLE
def test_an_archived_message_has_its_bytes_in_one_place(tree: Tree, stride: int) -> None:
    sent = [send(tree, "bob").inboxes[0]]
    for _ in before_each_step(lambda: put_away(sent[0]), first=first(stride), stride=stride):
        listed = {one.name for one in list_inbox(tree, "demo", "bob")}
        shelved = names_in(tree, "bob", "inbox/archive")
        assert len(listed | shelved) == 1
        assert listed.isdisjoint(shelved)
        put_away(sent[0])
        (name,) = names_in(tree, "bob", "inbox/archive")
        assert not names_in(tree, "bob")
        with open(tree.path("projects/demo/agents/alice/outbox", name), "rb") as copy:
            raw = copy.read()
        with open(tree.path("projects/demo/agents/bob/inbox/archive", name), "rb") as shelf:
            assert shelf.read() == raw
        os.unlink(tree.path("projects/demo/agents/bob/inbox/archive", name))
        os.unlink(tree.path("projects/demo/agents/alice/outbox", name))
        sent[0] = send(tree, "bob").inboxes[0]


def put_away(path: str) -> None:
    if os.path.exists(path):
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        archive(path, digest)


def of(desk: Desk) -> dict[str, dict[str, Any]]:
    """Return all records, every one of which can be read and is as a sweep wants it."""
    records = desk.book.all()
    assert not [one for one in records.values() if isinstance(one, Unread)]
    desk.check()
    return records  # type: ignore[return-value]


@WHOLE
def test_an_evaluation_is_on_record_whole_or_not_at_all(tmp_path: Path, stride: int) -> None:
    desk = Desk(tmp_path)
    auth: dict[str, object] = {"status": "verified"}
    turn = [0]

    def gate() -> None:
        at = THEN + timedelta(seconds=turn[0])
        rules = (PAUSING, ACCEPTING)[turn[0] % 2] if turn[0] < 2 else PAUSING
        desk.gate(message(id=f"msg-20260512120000-iris-{turn[0] // 3}"), rules, at=at, digest="d" * 64, auth=auth)

    for _ in before_each_step(gate, first=first(stride), stride=stride):
        for record in of(desk).values():
            # What the signature proved is there as soon as the record is.
            assert record["result"]["message_auth"] == auth
        turn[0] += 1
    assert turn[0] > 1


@WHOLE
def test_a_decision_and_an_end_are_on_record_whole_or_not_at_all(tmp_path: Path, stride: int) -> None:
    desk = Desk(tmp_path)
    text = with_profile("Update one paragraph.")

    def finalize() -> None:
        names = [name for name, one in desk.book.all().items() if one["result"]["final_state"] == "paused"]  # type: ignore[index,call-overload]
        now = THEN + timedelta(minutes=1)
        for name in names:
            if desk.book.read(name)["result"]["human_outcome"]["recorded"] is not True:  # type: ignore[index]
                decide(desk.book, name, Ruling("approved", "somebody"), lambda _: "e" * 64, now=now)
            started = "2026-10-01T12:01:00Z"
            wish = Wish("done", actual_minutes=1, actual_files_touched=1, started_at=started, completed_at=started)
            conclude(desk.book, name, wish, PolicyText(), now=now + timedelta(minutes=1))

    number = [0]

    def another() -> None:
        number[0] += 1
        desk.gate(message(id=f"msg-20260512120000-iris-{number[0]}", body=text), PAUSING, at=THEN, digest="d" * 64)

    another()
    for _ in before_each_step(finalize, first=first(stride), stride=stride):
        states = [
            (one["result"]["final_state"], one["result"]["human_outcome"]["recorded"]) for one in of(desk).values()
        ]
        assert states.count(("paused", False)) + states.count(("paused", True)) <= 1
        assert set(states) <= {("paused", False), ("paused", True), ("done", True)}
        if all(state == "done" for state, _ in states):
            another()
    finalize()
    assert {one["result"]["final_state"] for one in of(desk).values()} == {"done"}


@pytest.mark.slow
def test_acknowledging_and_finalizing_killed_at_random_instants(tree: Tree, tmp_path: Path) -> None:
    dice = random.Random()  # the instants differ from run to run
    desk = Desk(tmp_path)

    def work() -> None:
        for entry in mailbox(tree).entries(pending_only=True):
            word = Acknowledgement(entry.message.id, Decision.ACCEPTED, Action.APPLIED, "it is done")
            OacpMailbox(tree, "demo", "bob", clock=FakeClock(AT), ids=SequentialIds()).acknowledge([word], "bob")
            name = desk.gate(message(id=entry.message.id), ACCEPTING, at=THEN, digest="d" * 64).name
            if name:
                started = "2026-10-01T12:01:00Z"
                wish = Wish("done", actual_minutes=0, actual_files_touched=1, started_at=started, completed_at=started)
                conclude(desk.book, name, wish, PolicyText(), now=THEN + timedelta(minutes=2))

    for _ in range(25):
        for _ in range(3):
            send(tree, "bob")
        at_random(work, 0.08, dice)
        of(desk)
        assert names_in(tree, "bob") | names_in(tree, "bob", "inbox/archive") == names_in(tree, "alice", "outbox")
        looked = mailbox(tree)
        for entry in looked.entries():
            assert entry.standing.is_pending == (not looked.receipts(entry.message.id))
