from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from restante.domain.errors import Conflict, RestanteError, Screened, StorageFailed, UsageError
from restante.domain.limits import Limits
from restante.domain.message import Draft, Priority, Scope
from restante.services.repeats import add_repeat, check_interval, run_due
from restante.services.screening import RuleScanner
from restante.stores.worktree.locate import Worktree
from restante.stores.worktree.repeats import StateBook
from restante.testing import FakeClock, MemoryMailbox, SequentialIds, make_message

if TYPE_CHECKING:
    from pathlib import Path

    from restante.domain.finding import Finding
    from restante.domain.mailbox import Posted


def _clean(text: str) -> list[Finding]:
    return []


class _Failing(MemoryMailbox):
    """Fails on texts that say so."""

    def post(self, draft: Draft) -> Posted:
        if "fails" in draft.body:
            raise StorageFailed("disk full")
        return super().post(draft)


@pytest.fixture
def book(tmp_path: Path, clock: FakeClock) -> StateBook:
    return StateBook(Worktree(str(tmp_path)), clock)


@pytest.fixture
def mailbox(clock: FakeClock, ids: SequentialIds) -> _Failing:
    return _Failing("worktree:/x", clock, ids)


def _add(book: StateBook, clock: FakeClock, ids: SequentialIds, body: str, *, allow_warnings: bool = False) -> str:
    message = make_message(body, priority=Priority.HIGH, scope=Scope.QUESTION)._replace(id=ids.new("msg", clock.now()))
    return add_repeat(book, ids, clock, message, interval_ms=60_000, allow_warnings=allow_warnings).id


def test_a_message_is_repeated_as_it_was_after_each_interval(
    book: StateBook, mailbox: MemoryMailbox, clock: FakeClock, ids: SequentialIds
) -> None:
    repeat_id = _add(book, clock, ids, "Run the tests.")
    assert run_due(book, mailbox, _clean, clock).sent == ()
    for count in (1, 2):
        clock.advance(60)
        (run,) = run_due(book, mailbox, _clean, clock).sent
        message = run.posted.message
        assert (message.body, message.priority, message.scope) == ("Run the tests.", Priority.HIGH, Scope.QUESTION)
        assert message.client_id.startswith(repeat_id + ".")
        assert book.all()[0].sent_count == count
        assert run_due(book, mailbox, _clean, clock).sent == ()


def test_repeating_the_same_message_again_sets_up_nothing_new(
    book: StateBook, clock: FakeClock, ids: SequentialIds
) -> None:
    message = make_message()
    first = add_repeat(book, ids, clock, message, interval_ms=60_000)
    assert add_repeat(book, ids, clock, message, interval_ms=60_000) == first
    assert len(book.all()) == 1


@pytest.mark.parametrize("interval", [4999, 0, -1, 3650 * 86_400_000 + 1])
def test_an_interval_out_of_bounds_is_refused_and_nothing_is_kept(
    book: StateBook, clock: FakeClock, ids: SequentialIds, interval: int
) -> None:
    with pytest.raises(UsageError, match=str(interval)):
        add_repeat(book, ids, clock, make_message(), interval_ms=interval)
    assert book.all() == []


def test_five_seconds_are_enough() -> None:
    check_interval(5000)


def test_five_missed_periods_are_one_message(
    book: StateBook, mailbox: MemoryMailbox, clock: FakeClock, ids: SequentialIds
) -> None:
    _add(book, clock, ids, "x")
    clock.advance(5 * 60 + 10)
    assert len(run_due(book, mailbox, _clean, clock).sent) == 1
    assert run_due(book, mailbox, _clean, clock).sent == ()
    assert book.all()[0].next_run == clock.now() + timedelta(seconds=60)


def test_a_repeat_that_fails_keeps_no_other_from_being_posted(
    book: StateBook, mailbox: MemoryMailbox, clock: FakeClock, ids: SequentialIds
) -> None:
    bodies = ["this fails", "one", "rm -rf /", "two", "x" * 200]
    for body in bodies:
        _add(book, clock, ids, body)
    tight = _Failing("worktree:/x", clock, ids, Limits(message_bytes=100))
    clock.advance(60)
    result = run_due(book, tight, RuleScanner().scan, clock)
    assert [run.posted.message.body for run in result.sent] == ["one", "two"]
    assert [(one.repeat.body, one.error.code) for one in result.failed] == [
        ("this fails", "storage_failed"),
        ("rm -rf /", "screened"),
        ("x" * 200, "too_large"),
    ]


def test_repeats_that_fail_do_not_use_up_the_limit(
    book: StateBook, mailbox: MemoryMailbox, clock: FakeClock, ids: SequentialIds
) -> None:
    for body in (*(f"fails {number}" for number in range(12)), "one", "two", "three"):
        _add(book, clock, ids, body)
    clock.advance(60)
    result = run_due(book, mailbox, _clean, clock, limit=2)
    assert [run.posted.message.body for run in result.sent] == ["one", "two"]
    assert [run.posted.message.body for run in run_due(book, mailbox, _clean, clock).sent] == ["three"]


def test_what_failed_is_tried_again_and_posted_once(
    book: StateBook, mailbox: MemoryMailbox, clock: FakeClock, ids: SequentialIds
) -> None:
    _add(book, clock, ids, "this fails")
    clock.advance(60)
    assert len(run_due(book, mailbox, _clean, clock).failed) == 1
    mended = MemoryMailbox("worktree:/x", clock, ids)
    clock.advance(61)
    assert len(run_due(book, mended, _clean, clock).sent) == 1
    assert run_due(book, mended, _clean, clock).sent == ()


def test_a_text_is_screened_again_unless_its_sender_overrode_that(
    book: StateBook, mailbox: MemoryMailbox, clock: FakeClock, ids: SequentialIds
) -> None:
    _add(book, clock, ids, "rm -rf build\npassword: hunter2!x")
    _add(book, clock, ids, "rm -rf build", allow_warnings=True)
    clock.advance(60)
    result = run_due(book, mailbox, RuleScanner().scan, clock)
    assert [run.repeat.allow_warnings for run in result.sent] == [True]
    (failure,) = result.failed
    assert isinstance(failure.error, Screened)
    assert "line 1, and 1 more" in failure.error.message
    assert [one["line"] for one in failure.error.details] == [1, 2]
    assert "hunter2" not in str(failure.error.details) + failure.error.message


def test_a_text_that_was_edited_after_its_post_is_not_tried_for_ever(
    book: StateBook, mailbox: MemoryMailbox, clock: FakeClock, ids: SequentialIds
) -> None:
    repeat_id = _add(book, clock, ids, "new text")
    due = book.all()[0].next_run
    clock.advance(60)
    mailbox.post(Draft("old text", client_id=f"{repeat_id}.{due:%Y-%m-%dT%H:%M:%S}.000Z"))
    (failure,) = run_due(book, mailbox, _clean, clock).failed
    assert isinstance(failure.error, Conflict)
    clock.advance(60)
    assert [run.posted.message.body for run in run_due(book, mailbox, _clean, clock).sent] == ["new text"]


def test_a_book_that_cannot_be_settled_is_told_and_settled_later_without_a_second_message(
    book: StateBook, mailbox: MemoryMailbox, clock: FakeClock, ids: SequentialIds, monkeypatch: pytest.MonkeyPatch
) -> None:
    _add(book, clock, ids, "x")
    clock.advance(60)

    class Stuck(StateBook):
        def settle(self, *_: object) -> None:
            raise StorageFailed("disk full")

    stuck = Stuck(Worktree(book._layout.worktree.root), clock)
    result = run_due(stuck, mailbox, _clean, clock)
    assert (len(result.sent), [type(one.error) for one in result.failed]) == (1, [StorageFailed])
    clock.advance(61)
    (again,) = run_due(book, mailbox, _clean, clock).sent
    assert again.posted.duplicate
    assert len(mailbox.entries()) == 1
    assert book.all()[0].sent_count == 1


def test_every_failure_is_one_of_our_errors(
    book: StateBook, mailbox: MemoryMailbox, clock: FakeClock, ids: SequentialIds
) -> None:
    _add(book, clock, ids, "lone \ud800 surrogate")
    clock.advance(60)
    (failure,) = run_due(book, mailbox, _clean, clock).failed
    assert isinstance(failure.error, RestanteError)
