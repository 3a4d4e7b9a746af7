"""Words that go by a number, in the texts that faces share."""

from __future__ import annotations

import re

import pytest

from restante.domain.limits import Limits, check_room
from restante.domain.saying import SHARED_ENGLISH, said
from restante.domain.text import counted
from restante.faces.tui.texts import ENGLISH as SCREEN
from restante.faces.web.texts import ENGLISH as PAGES


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 messages, 0 unseen"), (1, "1 message, 1 unseen"), (2, "2 messages, 2 unseen")]
)
def test_a_text_says_one_message_and_two_messages(number: int, words: str) -> None:
    assert said(SHARED_ENGLISH, "mailbox.counts", {"total": number, "unseen": number, "pending": 0}).startswith(words)


def test_the_other_forms_of_a_number_stay_what_they_are() -> None:
    assert said({"a": "{n} {n:,} {n:>3} {on}"}, "a", {"n": 1, "on": True}) == "1 1   1 True"


def test_a_number_and_its_word() -> None:
    assert [counted(n, "message") for n in (0, 1, 2)] == ["0 messages", "1 message", "2 messages"]
    assert counted(1200, "mailbox", "mailboxes") == "1,200 mailboxes"


@pytest.mark.parametrize("table", [PAGES, SCREEN], ids=["pages", "screen"])
def test_no_text_puts_a_bare_number_before_a_word_that_goes_by_it(table: dict[str, str]) -> None:
    words = "sessions?|messages?|files?|times|pairs?|accounts?|minutes|hours|entries|wait\\b|bytes|days"
    bare = {name: text for name, text in table.items() if re.search(rf"{{(?!one|other)\w+}} (more )?({words})\b", text)}
    assert bare == {}


def test_a_mailbox_that_one_message_fills_says_so() -> None:
    from restante.domain.errors import MailboxFull

    with pytest.raises(MailboxFull, match=r"holds 1 pending message \("):
        check_room(Limits(pending_messages=1), 5, address="session:x", held=(1, 5), sender="human", of_sender=(1, 5))
