"""Which messages have the words that somebody looks for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from restante.domain.lifecycle import Standing, Status
from restante.domain.mailbox import Entry
from restante.domain.message import Message, Reply
from restante.domain.seeking import MOST_LETTERS, sought

NOW = datetime(2026, 5, 20, tzinfo=UTC)


def fits(typed: str, body: str, *, subject: str = "", summary: str = "", reply: str = "") -> bool:
    message = Message("msg_1", 1, "session:x", NOW, body, subject=subject)
    entry = Entry(message, Standing(Status.SEEN, summary=summary))
    return sought(typed).fits(entry, [Reply("rep_1", "msg_1", NOW, reply)] if reply else [])


@pytest.mark.parametrize(
    ("typed", "body", "is_there"),
    [
        ("parser", "Mind the PARSER.", True),
        ("parser lists", "lists, for the parser", True),
        ("parser lists", "only the parser", False),
        ('"nested lists"', "parse nested lists", True),
        ('"nested lists"', "lists that are nested", False),
        ("straße", "STRASSE", True),
        ("caf\u00e9", "cafe\u0301", True),
        ("msg_1", "anything", True),
        ("a.c", "abc", False),
        ('"', 'a " in it', True),
    ],
)
def test_a_message_fits_when_it_has_every_word(typed: str, body: str, is_there: bool) -> None:
    assert fits(typed, body) is is_there


def test_subject_summary_and_replies_are_looked_at_too() -> None:
    assert fits("green", "x", subject="all green")
    assert fits("green", "x", summary="all green")
    assert fits("green", "x", reply="all green")
    assert not fits("green", "x", reply="all red")


def test_no_more_is_looked_for_than_a_person_types() -> None:
    assert len(" ".join(sought("ab " * 10_000).words)) <= MOST_LETTERS
