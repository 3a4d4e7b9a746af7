"""What is refused before a message is left."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from restante.domain.errors import BadText, Refused, RestanteError, Screened, TooLarge, UsageError
from restante.domain.finding import Finding
from restante.domain.limits import Limits
from restante.domain.message import Draft, Sender
from restante.services.posting import check_draft, check_expiry, check_repeatable, post

if TYPE_CHECKING:
    from restante.testing import MemoryMailbox

NOW = datetime(2026, 5, 20, 15, 30, tzinfo=UTC)
LIMITS = Limits(message_bytes=10)


def _nothing(text: str) -> list[Finding]:
    return []


def _something(text: str) -> list[Finding]:
    return [Finding("secret", "a token", 1, "gh…"), Finding("secret", "a key", 2, "AK…")]


@pytest.mark.parametrize(
    ("body", "error"),
    [("", UsageError), (" \n\t", UsageError), ("x" * 11, TooLarge), ("ä" * 6, TooLarge), ("\ud800", BadText)],
)
@pytest.mark.parametrize("allow_warnings", [False, True])
def test_what_cannot_be_left_is_refused_whatever_is_allowed(
    body: str, error: type[RestanteError], allow_warnings: bool
) -> None:
    with pytest.raises(error):
        check_draft(Draft(body), LIMITS, _nothing, allow_warnings=allow_warnings)


def test_findings_are_refused_with_where_they_are_and_the_way_out() -> None:
    with pytest.raises(Screened, match="2 findings") as caught:
        check_draft(Draft("text"), LIMITS, _something, allow_warnings=False)
    assert [(one["title"], one["line"]) for one in caught.value.details] == [("a token", 1), ("a key", 2)]
    assert "--allow-warnings" in caught.value.remedy


def test_whoever_allows_warnings_is_not_screened() -> None:
    asked: list[str] = []

    def scan(text: str) -> list[Finding]:
        asked.append(text)
        return _something(text)

    check_draft(Draft("text"), LIMITS, scan, allow_warnings=True)
    assert asked == []


@pytest.mark.parametrize("before", [timedelta(0), timedelta(milliseconds=1), timedelta(days=1)])
def test_a_time_that_has_come_is_refused(before: timedelta) -> None:
    with pytest.raises(UsageError, match="past"):
        check_expiry(NOW - before, NOW)


def test_a_time_to_come_and_none_are_allowed() -> None:
    check_expiry(NOW + timedelta(milliseconds=1), NOW)
    check_expiry(None, NOW)


def test_what_a_repeat_cannot_keep_is_named() -> None:
    check_repeatable(Draft("text"))
    with pytest.raises(UsageError, match="--subject and --expires was given"):
        check_repeatable(Draft("text", subject="it", expires=NOW))


def test_a_session_cannot_have_its_words_repeated_as_a_persons() -> None:
    with pytest.raises(Refused, match="session"):
        check_repeatable(Draft("text", sender=Sender("codex:1")))


def test_a_checked_draft_is_posted(memory_mailbox: MemoryMailbox) -> None:
    posted = post(memory_mailbox, Draft("text", client_id="mine"))
    assert post(memory_mailbox, Draft("text", client_id="mine")) == posted._replace(duplicate=True)
    assert [entry.message for entry in memory_mailbox.entries()] == [posted.message]
