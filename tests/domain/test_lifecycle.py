"""The table is the whole truth about what can become of a message."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from restante.domain import lifecycle
from restante.domain.errors import IllegalStep
from restante.domain.lifecycle import ACKNOWLEDGED, PENDING, STEPS, Event, Marks, Status, standing_of, step, word_of
from restante.domain.receipt import Action, Decision, MergedReceipts, Receipt, merge_receipts
from restante.testing import make_message

NOW = datetime(2026, 5, 20, 15, 30, tzinfo=UTC)
HOUR = timedelta(hours=1)

merged_receipts = st.builds(
    MergedReceipts,
    decision=st.sampled_from([None, *Decision]),
    action=st.sampled_from([None, *Action]),
    first_seen_at=st.sampled_from([None, NOW - HOUR]),
    acknowledged_at=st.just(NOW),
    total=st.integers(0, 3),
)


def documented() -> dict[tuple[str, str], str]:
    """The table as the module's docstring shows it to a reader."""
    assert lifecycle.__doc__
    rows = lifecycle.__doc__.split("next state\n")[1].split("\n\n")[0].splitlines()
    found = {}
    groups = {"unseen, seen": PENDING, "the receipt's word": ACKNOWLEDGED}
    for row in rows:
        states, events, after = (row[begin:end].strip() for begin, end in ((4, 26), (26, 41), (41, None)))
        if not events:
            states, _, events = row[4:41].strip().rpartition(" ")
        for state in groups.get(states, {states}):
            for event in events.split(", "):
                found[str(state), event] = after
    return found


def test_the_table_in_the_docstring_is_the_table() -> None:
    shown = documented()
    assert set(shown) == {(state.value, event.value) for state, event in STEPS}
    for (state, event), after in STEPS.items():
        said = shown[state.value, event.value]
        assert said in {state.value if after is None else after.value, *_readings(said, state, after)}


def _readings(said: str, state: Status, after: Status | None) -> set[str]:
    """Texts of the docstring that stand for this outcome."""
    if after is None:
        return {said} if "receipt" in said else set()
    return {said} if said.startswith("unchanged") and after is state else set()


def test_every_state_is_pending_or_acknowledged_or_over() -> None:
    assert {*PENDING, *ACKNOWLEDGED, Status.EXPIRED, Status.WITHDRAWN} == set(Status)
    assert not {*PENDING} & {*ACKNOWLEDGED}


@pytest.mark.parametrize(("state", "event"), [pair for pair in product(Status, Event) if pair not in STEPS])
def test_a_step_that_is_not_in_the_table_is_refused(state: Status, event: Event) -> None:
    with pytest.raises(IllegalStep, match=state.value) as caught:
        step(state, event, MergedReceipts(Decision.ACCEPTED))
    assert caught.value.remedy


@pytest.mark.parametrize(("state", "event"), [pair for pair in STEPS if pair[1] is not Event.ACKNOWLEDGE])
def test_nothing_but_an_acknowledgement_acknowledges(state: Status, event: Event) -> None:
    after = step(state, event, MergedReceipts(Decision.ACCEPTED))
    assert after not in ACKNOWLEDGED or after is state


def test_reading_never_ends_a_message() -> None:
    for state in Status:
        after = step(state, Event.READ)
        assert (after in PENDING) == (state in PENDING)


@given(merged=merged_receipts, state=st.sampled_from([state for state, event in STEPS if event is Event.ACKNOWLEDGE]))
def test_an_acknowledgement_gives_the_receipts_word(merged: MergedReceipts, state: Status) -> None:
    after = step(state, Event.ACKNOWLEDGE, merged)
    assert after == (word_of(merged) or state)
    assert (after in ACKNOWLEDGED) == (merged.is_acknowledged or state in ACKNOWLEDGED)


@pytest.mark.parametrize(
    ("decision", "action", "word"),
    [
        (None, None, None),
        (Decision.ACCEPTED, None, Status.ACCEPTED),
        (Decision.ACCEPTED, Action.PENDING, Status.ACCEPTED),
        (Decision.ACCEPTED, Action.APPLIED, Status.APPLIED),
        (Decision.REJECTED, Action.NOT_APPLICABLE, Status.NOT_APPLICABLE),
        (Decision.DEFERRED, Action.BLOCKED, Status.BLOCKED),
        (Decision.NEEDS_CONFIRMATION, Action.PENDING, Status.NEEDS_CONFIRMATION),
        (None, Action.PENDING, Status.PENDING),
        (None, Action.APPLIED, Status.APPLIED),
    ],
)
def test_what_became_of_the_work_says_more_than_the_decision(
    decision: Decision | None, action: Action | None, word: Status | None
) -> None:
    assert word_of(MergedReceipts(decision, action)) is word


marks = st.builds(
    Marks,
    noticed_at=st.sampled_from([None, NOW - HOUR]),
    seen_at=st.sampled_from([None, NOW - HOUR / 2]),
    withdrawn_at=st.just(None),
    is_withdrawn=st.booleans(),
    is_expired=st.booleans(),
)


@given(marks=marks, merged=merged_receipts, lives=st.none() | st.integers(-60, 60))
def test_a_standing_is_one_of_the_five_ends_in_their_order(
    marks: Marks, merged: MergedReceipts, lives: int | None
) -> None:
    expires = None if lives is None else NOW + timedelta(minutes=lives)
    standing = standing_of(make_message(expires=expires), marks, merged, NOW)
    expected = Status.SEEN if marks.seen_at or merged.total else Status.UNSEEN
    if marks.is_withdrawn:
        expected = Status.WITHDRAWN
    elif merged.is_acknowledged:
        word = word_of(merged)
        assert word
        expected = word
    elif marks.is_expired or (expires and expires <= NOW):
        expected = Status.EXPIRED
    assert standing.status is expected
    assert standing.is_pending == (expected in PENDING)
    assert standing.expired_at == (expires if expected is Status.EXPIRED else None)
    assert (standing.noticed_at, standing.decision, standing.action) == (
        marks.noticed_at,
        merged.decision,
        merged.action,
    )


@given(marks=marks, merged=merged_receipts, lives=st.integers(-60, 60), later=st.integers(0, 10_000))
def test_time_alone_never_brings_a_message_back(marks: Marks, merged: MergedReceipts, lives: int, later: int) -> None:
    message = make_message(expires=NOW + timedelta(minutes=lives))
    now = standing_of(message, marks, merged, NOW)
    then = standing_of(message, marks, merged, NOW + timedelta(minutes=later))
    assert now.is_pending or then == now


def test_a_message_expires_exactly_at_its_time() -> None:
    message = make_message(expires=NOW)
    just_before = NOW - timedelta(microseconds=1)
    assert standing_of(message, Marks(), MergedReceipts(), just_before).status is Status.UNSEEN
    assert standing_of(message, Marks(), MergedReceipts(), NOW).status is Status.EXPIRED


def test_what_expired_stays_expired_when_the_clock_is_set_back() -> None:
    message = make_message(expires=NOW)
    standing = standing_of(message, Marks(is_expired=True), MergedReceipts(), NOW - HOUR)
    assert (standing.status, standing.expired_at) == (Status.EXPIRED, NOW)


def test_a_notice_is_not_a_reading() -> None:
    standing = standing_of(make_message(), Marks(noticed_at=NOW), MergedReceipts(), NOW)
    assert (standing.status, standing.noticed_at, standing.seen_at) == (Status.UNSEEN, NOW, None)


def test_seen_is_the_earliest_sign_of_it() -> None:
    receipts = [Receipt("receipt", "msg", NOW - HOUR), Receipt("receipt", "msg", NOW)]
    for marked, earliest in ((NOW - 2 * HOUR, NOW - 2 * HOUR), (NOW, NOW - HOUR), (None, NOW - HOUR)):
        standing = standing_of(make_message(), Marks(seen_at=marked), merge_receipts(receipts), NOW)
        assert (standing.status, standing.seen_at) == (Status.SEEN, earliest)


def test_a_withdrawn_message_stays_withdrawn_whatever_is_written_by_hand() -> None:
    merged = MergedReceipts(Decision.ACCEPTED, total=1)
    assert standing_of(make_message(), Marks(is_withdrawn=True), merged, NOW).status is Status.WITHDRAWN


@pytest.mark.parametrize(
    ("state", "event", "text", "remedy"),
    [
        (Status.WITHDRAWN, Event.ACKNOWLEDGE, "msg_x is withdrawn", "its sender took it back; nothing to do"),
        (Status.APPLIED, Event.WITHDRAW, "msg_x was acknowledged: applied", "send a new message instead"),
        (Status.EXPIRED, Event.WITHDRAW, "msg_x is expired", "no agent is shown it any more; nothing to do"),
    ],
)
def test_an_illegal_step_names_the_message_and_a_remedy_that_fits(
    state: Status, event: Event, text: str, remedy: str
) -> None:
    with pytest.raises(IllegalStep, match=text) as caught:
        step(state, event, message_id="msg_x")
    assert caught.value.remedy == remedy
