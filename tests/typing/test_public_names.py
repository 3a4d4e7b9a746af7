"""The public names: each is there, and is to a type checker what it is when it runs (mypy reads this file)."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_type

import pytest

import restante
from restante import (
    Acknowledgement,
    Action,
    Case,
    Change,
    Changes,
    Counts,
    Decision,
    Draft,
    Entry,
    Mailbox,
    Message,
    Office,
    Posted,
    Priority,
    Receipt,
    Reply,
    RestanteError,
    Scope,
    Sender,
    Sent,
    Snapshot,
    Standing,
    Status,
    open_mailbox,
    open_office,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def office(tmp_path: Path) -> Office:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return open_office(str(tmp_path), environment={})


@pytest.mark.parametrize("name", restante.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(restante, name) is not None
    assert name in dir(restante)


def test_the_names_and_where_they_come_from_are_one_list() -> None:
    assert {*restante._PLACES, "__version__"} == set(restante.__all__)
    assert len(set(restante.__all__)) == len(restante.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nope"):
        restante.nope  # type: ignore[attr-defined]  # noqa: B018


def test_the_senders_calls_have_the_types_they_say(office: Office) -> None:
    draft = Draft("text", sender=Sender(), priority=Priority.HIGH, scope=Scope.QUESTION, client_id="mine")
    sent = assert_type(office.send(draft), Sent)
    message = assert_type(assert_type(sent.posted, Posted).message, Message)
    case = assert_type(office.case(message.id), Case)
    entry = assert_type(case.entry, Entry)
    standing = assert_type(entry.standing, Standing)
    assert assert_type(standing.status, Status) is Status.UNSEEN
    assert assert_type(office.counts(), Counts).pending == 1
    assert assert_type(office.snapshot(), Snapshot).cases == (case,)
    changes = assert_type(next(office.follow("")), Changes)
    assert_type(changes.changes, tuple[Change, ...])
    assert assert_type(office.withdraw(message.id), Entry).standing.status is Status.WITHDRAWN


def test_the_addressees_calls_have_the_types_they_say(office: Office) -> None:
    message = office.send(Draft("text")).posted.message
    assert [entry.message for entry in assert_type(office.inbox(), list[Entry])] == [message]
    assert assert_type(office.reply(message.id, "why?"), Reply).to == message.id
    receipts = assert_type(office.acknowledge([message.id], decision=Decision.ACCEPTED), list[Receipt])
    assert receipts[0].decision is Decision.ACCEPTED


def test_a_mailbox_is_the_contract(office: Office) -> None:
    message = office.send(Draft("text")).posted.message
    mailbox = assert_type(open_mailbox(office.address, environment={}), Mailbox)
    assert_type(mailbox.acknowledge([Acknowledgement(message.id, action=Action.APPLIED)], "me"), list[Receipt])
    assert office.case(message.id).entry.standing.status is Status.APPLIED
    with pytest.raises(RestanteError):
        mailbox.withdraw(message.id)
