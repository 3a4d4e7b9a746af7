"""The mailbox beside other programs: what they put, take, remove or change is found; nothing of theirs is bent."""

from __future__ import annotations

import os
import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.oacp import AT, names_in, send

from restante.domain.errors import IllegalStep, MailboxDeleted, NoSuchMessage, NothingThere, Refused
from restante.domain.lifecycle import Status
from restante.domain.limits import Limits
from restante.domain.mailbox import Acknowledgement, ChangeKind, Mark
from restante.domain.message import Priority, Sender
from restante.domain.receipt import Action, Decision
from restante.stores.oacp.index import Examine
from restante.stores.oacp.reading import read_fields
from restante.stores.oacp.store import OacpMailbox
from restante.testing import FakeClock, SequentialIds, make_draft

if TYPE_CHECKING:
    from restante.stores.oacp.layout import Tree


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(AT)


@pytest.fixture
def mailbox(tree: Tree, clock: FakeClock) -> OacpMailbox:
    return OacpMailbox(tree, "demo", "bob", clock=clock, ids=SequentialIds())


def _another(tree: Tree, clock: FakeClock) -> OacpMailbox:
    return OacpMailbox(tree, "demo", "bob", clock=clock, ids=SequentialIds())


def _shelf(tree: Tree) -> str:
    return tree.path("projects", "demo", "agents", "bob", "inbox", "archive")


def test_what_is_posted_is_a_message_of_the_format(tree: Tree, mailbox: OacpMailbox) -> None:
    posted = mailbox.post(make_draft("Look here.\nNow.", sender=Sender("alice"), priority=Priority.HIGH)).message
    (name,) = names_in(tree, "bob")
    with open(tree.path("projects", "demo", "agents", "bob", "inbox", name), "rb") as file:
        fields = read_fields(file.read())
    wanted = {
        "id": posted.id,
        "from": "alice",
        "to": "bob",
        "type": "notification",
        "priority": "P1",
        "subject": "Look here. Now.",
        "body": "Look here.\nNow.",
        "created_at_utc": "2026-05-20T15:30:00Z",
    }
    assert wanted.items() <= fields.items()
    assert names_in(tree, "alice", "outbox") == {name}
    assert (posted.type, posted.subject, posted.conversation) == ("guidance", "", fields["conversation_id"])


def test_mail_of_other_programs_has_numbers_that_stay(tree: Tree, mailbox: OacpMailbox, clock: FakeClock) -> None:
    sent = [send(tree, "bob", subject=str(place), priority=f"P{place}") for place in range(4)]
    for place, one in enumerate(sent):
        os.utime(one.inboxes[0], (1000 + place, 1000 + place))
    looked = mailbox.entries()
    assert [(one.message.number, one.message.subject) for one in looked] == [(n + 1, str(n)) for n in range(4)]
    assert [one.message.priority.value for one in looked] == ["high", "high", "normal", "low"]
    assert not os.path.exists(tree.path("projects", "demo", "state", "restante", "bob", "book"))
    mailbox.mark([looked[2].message.id], Mark.SEEN, "bob")
    os.utime(sent[3].inboxes[0], (1, 1))
    again = _another(tree, clock)
    assert [one.message for one in again.entries()] == [one.message for one in looked]
    assert mailbox.counts().pending == again.counts().pending == 4


def test_following_tells_mail_of_other_programs_once(tree: Tree, mailbox: OacpMailbox) -> None:
    tip = mailbox.tip()
    first = send(tree, "bob")
    answer = mailbox.changes_since(tip)
    assert [one.kind for one in answer.changes] == [ChangeKind.POSTED]
    assert mailbox.changes_since(answer.cursor).changes == ()
    mailbox.post(make_draft("ours"))
    second = mailbox.changes_since(answer.cursor)
    assert [one.message.body for one in second.changes if one.message] == ["ours"]
    assert mailbox.changes_since(second.cursor).changes == ()
    assert first.inboxes


def test_following_much_news_keeps_the_cursor_short(tree: Tree, mailbox: OacpMailbox) -> None:
    for place in range(120):
        send(tree, "bob", at=AT + timedelta(seconds=place))
    cursor, told = "", 0
    while (answer := mailbox.changes_since(cursor, 50)).changes:
        told += len(answer.changes)
        cursor = answer.cursor
    assert (told, len(cursor) < 60) == (120, True)


def test_an_answer_moves_the_file_to_the_archive(tree: Tree, mailbox: OacpMailbox) -> None:
    names = {}
    for decision, action in ((Decision.ACCEPTED, None), (Decision.REJECTED, None), (None, Action.APPLIED)):
        message = mailbox.post(make_draft(str((decision, action)))).message
        mailbox.acknowledge([Acknowledgement(message.id, decision, action)], "bob")
        names[message.id] = names_in(tree, "bob")
    assert set().union(*names.values()) == set()
    assert len(names_in(tree, "bob", "inbox/archive")) == 3
    assert len(mailbox.entries()) == 3


@pytest.mark.parametrize(
    ("decision", "action"),
    [
        (Decision.DEFERRED, None),
        (Decision.NEEDS_CONFIRMATION, None),
        (Decision.ACCEPTED, Action.PENDING),
        (Decision.ACCEPTED, Action.BLOCKED),
        (None, None),
    ],
)
def test_a_word_that_ends_nothing_leaves_the_file_in_the_inbox(
    tree: Tree, mailbox: OacpMailbox, decision: Decision | None, action: Action | None
) -> None:
    message = mailbox.post(make_draft()).message
    mailbox.acknowledge([Acknowledgement(message.id, decision, action)], "bob")
    assert len(names_in(tree, "bob")) == 1
    mailbox.acknowledge([Acknowledgement(message.id, Decision.ACCEPTED, Action.APPLIED)], "bob")
    assert names_in(tree, "bob") == set()


def test_an_answer_that_could_not_move_the_file_says_so_and_tries_again(
    tree: Tree, mailbox: OacpMailbox, clock: FakeClock
) -> None:
    message = mailbox.post(make_draft()).message
    os.rename(_shelf(tree), _shelf(tree) + ".away")
    mailbox.acknowledge([Acknowledgement(message.id, Decision.ACCEPTED)], "bob")
    assert mailbox.entry(message.id).standing.status is Status.ACCEPTED
    assert "archive" in mailbox.faults()[0].reason
    os.rename(_shelf(tree) + ".away", _shelf(tree))
    _another(tree, clock).post(make_draft("next"))
    assert mailbox.faults() == []
    assert len(names_in(tree, "bob")) == 1


def test_what_another_program_archived_counts_as_taken(tree: Tree, mailbox: OacpMailbox, clock: FakeClock) -> None:
    message = mailbox.post(make_draft()).message
    (name,) = names_in(tree, "bob")
    cursor = mailbox.tip()
    os.rename(tree.path("projects", "demo", "agents", "bob", "inbox", name), os.path.join(_shelf(tree), name))
    standing = mailbox.entry(message.id).standing
    assert (standing.status, standing.summary) == (Status.ACCEPTED, "archived by another program")
    assert mailbox.counts().pending == 0
    told = mailbox.changes_since(cursor)
    assert [one.kind for one in told.changes] == [ChangeKind.RECEIPT]
    with pytest.raises(IllegalStep):
        mailbox.withdraw(message.id)
    assert mailbox.changes_since(told.cursor).changes == ()
    assert mailbox.receipts(message.id) == _another(tree, clock).receipts(message.id)


def test_what_another_program_removed_is_gone_and_its_client_id_holds(tree: Tree, mailbox: OacpMailbox) -> None:
    draft = make_draft("text", client_id="c1")
    message = mailbox.post(draft).message
    (name,) = names_in(tree, "bob")
    os.unlink(tree.path("projects", "demo", "agents", "bob", "inbox", name))
    assert mailbox.entries() == []
    assert mailbox.counts().pending == 0
    with pytest.raises(MailboxDeleted):
        mailbox.entry(message.id)
    answer = mailbox.post(draft)
    assert (answer.duplicate, answer.message.id) == (True, message.id)
    with pytest.raises(NoSuchMessage):
        mailbox.acknowledge([Acknowledgement(message.id, Decision.ACCEPTED)], "bob")
    assert mailbox.post(make_draft("next")).message.number == 2


def test_what_was_withdrawn_leaves_the_inbox_and_no_history_of_the_receiver(tree: Tree, mailbox: OacpMailbox) -> None:
    message = mailbox.post(make_draft()).message
    mailbox.withdraw(message.id)
    assert names_in(tree, "bob") == names_in(tree, "bob", "inbox/archive") == set()
    assert mailbox.entry(message.id).message == message


def test_bytes_that_changed_are_a_fault_and_not_delivered(tree: Tree, mailbox: OacpMailbox) -> None:
    mailbox.post(make_draft("right"))
    (name,) = names_in(tree, "bob")
    path = tree.path("projects", "demo", "agents", "bob", "inbox", name)
    with open(path, "rb") as file:
        raw = file.read()
    with open(path, "wb") as file:
        file.write(raw.replace(b"right", b"wrong"))
    assert mailbox.entries() == []
    assert [(one.source, "changed" in one.reason) for one in mailbox.faults()] == [(name, True)]


def test_what_is_no_message_is_a_fault_once(tree: Tree, mailbox: OacpMailbox) -> None:
    sent = send(tree, "bob")
    with open(sent.inboxes[0], "rb") as file:
        raw = file.read()
    inbox = os.path.dirname(sent.inboxes[0])
    for name, content in (("1_a_b.yaml", b"{x: ["), ("2_a_b.yaml", b"id: x\n"), ("99999999999999_a_b.yaml", raw)):
        with open(os.path.join(inbox, name), "wb") as file:
            file.write(content)
    os.utime(sent.inboxes[0], (1, 1))
    reasons = {one.source: one.reason for one in mailbox.faults()}
    assert re.search("parse error", reasons["1_a_b.yaml"])
    assert reasons["2_a_b.yaml"] == "missing required field: from"
    assert "already" in reasons["99999999999999_a_b.yaml"]
    assert len(mailbox.entries()) == 1


def test_an_examination_decides_who_is_verified_and_what_is_held(tree: Tree, clock: FakeClock) -> None:
    good, bad = send(tree, "bob", subject="good"), send(tree, "bob", subject="bad")
    examine = Examine("", lambda raw: ("invalid", False) if b"subject: bad" in raw else ("verified", True))
    mailbox = OacpMailbox(tree, "demo", "bob", clock=clock, ids=SequentialIds(), examine=examine)
    (entry,) = mailbox.entries()
    assert (entry.message.subject, entry.message.sender) == ("good", Sender("alice", verified=True))
    assert [(one.source, one.reason) for one in mailbox.faults()] == [(os.path.basename(bad.outbox), "held: invalid")]
    assert good.inboxes


@pytest.mark.parametrize(
    "words",
    [
        {"body": ""},
        {"body": " \n\t"},
        {"body": "x" * 20_001},
        {"subject": "s" * 201},
        {"type": "gossip"},
        {"conversation": "mine"},
        {"parent": "p" * 201},
    ],
)
def test_a_draft_that_the_format_cannot_hold_is_refused(tree: Tree, clock: FakeClock, words: dict[str, Any]) -> None:
    limits = Limits(message_bytes=1_000_000)
    mailbox = OacpMailbox(tree, "demo", "bob", clock=clock, ids=SequentialIds(), limits=limits)
    with pytest.raises(Refused):
        mailbox.post(make_draft()._replace(**words))
    assert names_in(tree, "bob") == set()
    assert (mailbox.entries(), mailbox.faults()) == ([], [])


def test_a_sender_that_is_no_agent_is_an_error_with_the_near_names(tree: Tree, mailbox: OacpMailbox) -> None:
    with pytest.raises(NothingThere) as error:
        mailbox.post(make_draft(sender=Sender("alise")))
    assert "alice" in error.value.remedy


def test_an_answer_by_its_parent_alone_stays_in_the_thread(mailbox: OacpMailbox) -> None:
    parent = mailbox.post(make_draft("first")).message
    mailbox.acknowledge([Acknowledgement(parent.id, Decision.ACCEPTED)], "bob")
    mailbox.archive()
    assert mailbox.post(make_draft("second", parent=parent.id)).message.conversation == parent.conversation
    assert mailbox.post(make_draft("third")).message.conversation != parent.conversation


def test_a_post_that_was_killed_before_delivery_is_finished_by_the_next_writer(
    tree: Tree, mailbox: OacpMailbox, clock: FakeClock
) -> None:
    draft = make_draft("text", client_id="c1")
    message = mailbox.post(draft).message
    (name,) = names_in(tree, "bob")
    sending = tree.path("projects", "demo", "state", "restante", "bob", ".sending", name)
    os.rename(tree.path("projects", "demo", "agents", "bob", "inbox", name), sending)
    other = _another(tree, clock)
    assert [one.message for one in other.entries(pending_only=True)] == [message]
    assert names_in(tree, "bob") == set()
    answer = other.post(draft)
    assert (answer.duplicate, answer.message) == (True, message)
    assert name in names_in(tree, "bob")
    assert [one.message for one in other.entries(pending_only=True)] == [message]


def test_a_torn_line_and_a_foreign_one_lose_nothing_else(tree: Tree, mailbox: OacpMailbox, clock: FakeClock) -> None:
    first = mailbox.post(make_draft("first")).message
    book = tree.path("projects", "demo", "state", "restante", "bob", "book")
    with open(book, "ab") as file:
        file.write(b'{"n":"x"}\n[]\n{"n":99,"kind":"seen"')
    other = _another(tree, clock)
    second = other.post(make_draft("second")).message
    assert [one.message for one in other.entries()] == [first, second]
    assert len(_another(tree, clock).faults()) == 2


def test_a_kill_while_archiving_counts_nothing_twice(tree: Tree, mailbox: OacpMailbox, clock: FakeClock) -> None:
    messages = [mailbox.post(make_draft(str(place))).message for place in range(3)]
    mailbox.acknowledge([Acknowledgement(one.id, Decision.ACCEPTED) for one in messages[:2]], "bob")
    book = tree.path("projects", "demo", "state", "restante", "bob", "book")
    with open(book, "rb") as file:
        before = file.read()
    wanted = [mailbox.receipts(one.id) for one in messages]
    mailbox.archive()
    with open(book, "wb") as file:
        file.write(before)
    again = _another(tree, clock)
    assert [again.receipts(one.id) for one in messages] == wanted
    assert (again.archive().moved, again.counts().archived, again.counts().total) == (2, 2, 1)
    assert [again.receipts(one.id) for one in messages] == wanted
