"""Receipts are merged by time: the newest that was given counts, a bare one takes nothing back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from restante.domain.receipt import Action, Decision, MergedReceipts, Receipt, merge_receipts

START = datetime(2026, 5, 20, 15, 30, tzinfo=UTC)


def at(minute: int) -> datetime:
    return START + timedelta(minutes=minute)


def receipt(
    minute: int | None, decision: Decision | None = None, action: Action | None = None, summary: str = ""
) -> Receipt:
    return Receipt("receipt", "msg", None if minute is None else at(minute), decision, action, summary)


receipts = st.builds(
    receipt,
    st.integers(0, 8),
    st.sampled_from([None, *Decision]),
    st.sampled_from([None, *Action]),
    st.sampled_from(["", "a", "b"]),
)


def newest(given_: list[Receipt], attribute: str) -> object:
    """The last one given, by time and then by order."""
    found = None
    for _, _, one in sorted((one.seen_at, place, one) for place, one in enumerate(given_) if one.seen_at):
        found = getattr(one, attribute) or found
    return found


@given(st.lists(receipts, max_size=8))
def test_the_newest_of_each_counts(given_: list[Receipt]) -> None:
    merged = merge_receipts(given_)
    assert merged.decision == newest(given_, "decision")
    assert merged.action == newest(given_, "action")
    assert merged.summary == (newest(given_, "summary") or "")
    times = [one.seen_at for one in given_ if one.seen_at]
    assert merged.first_seen_at == min(times, default=None)
    said = [one.seen_at for one in given_ if one.seen_at and not one.is_bare]
    assert merged.acknowledged_at == max(said, default=None)
    assert merged.total == len(given_)
    assert merged.is_acknowledged == bool(said)


@given(given_=st.lists(receipts, max_size=8, unique_by=lambda one: one.seen_at), data=st.data())
def test_the_order_of_the_file_is_nothing_where_times_differ(given_: list[Receipt], data: st.DataObject) -> None:
    assert merge_receipts(data.draw(st.permutations(given_))) == merge_receipts(given_)


@given(given_=st.lists(receipts, max_size=8), minute=st.integers(0, 9))
def test_a_bare_receipt_changes_no_word_whenever_it_was_given(given_: list[Receipt], minute: int) -> None:
    before, after = merge_receipts(given_), merge_receipts([*given_, receipt(minute)])
    assert (after.decision, after.action, after.summary) == (before.decision, before.action, before.summary)
    assert after.acknowledged_at == before.acknowledged_at


def test_no_receipts_say_nothing() -> None:
    assert merge_receipts([]) == MergedReceipts()
    assert not MergedReceipts().is_acknowledged


def test_a_receipt_without_a_time_counts_right_after_the_one_before_it() -> None:
    accepted, rejected = Decision.ACCEPTED, Decision.REJECTED
    assert merge_receipts([receipt(1, accepted), receipt(None, rejected)]).decision is rejected
    assert merge_receipts([receipt(5, accepted), receipt(None, rejected), receipt(9, accepted)]).decision is accepted
    assert merge_receipts([receipt(1, accepted), receipt(None, rejected), receipt(1, accepted)]).decision is accepted
    assert merge_receipts([receipt(None, rejected), receipt(1, accepted)]).decision is accepted
    late_in_file = [receipt(9, accepted), receipt(1, None, Action.APPLIED), receipt(None, rejected)]
    assert merge_receipts(late_in_file).decision is accepted


def test_receipts_without_any_time_go_by_their_order() -> None:
    merged = merge_receipts([receipt(None, Decision.ACCEPTED), receipt(None, None, Action.APPLIED)])
    assert (merged.decision, merged.action) == (Decision.ACCEPTED, Action.APPLIED)
    assert (merged.first_seen_at, merged.acknowledged_at) == (None, None)
    assert merged.is_acknowledged


def test_a_bare_receipt_only_says_seen() -> None:
    merged = merge_receipts([receipt(3)])
    assert receipt(3).is_bare
    assert (merged.is_acknowledged, merged.first_seen_at, merged.total) == (False, at(3), 1)
    assert not receipt(3, None, Action.PENDING).is_bare
