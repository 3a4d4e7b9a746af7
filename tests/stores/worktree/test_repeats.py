from __future__ import annotations

import json
import os
import stat
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from restante.domain.errors import Conflict, Damaged, NothingThere
from restante.domain.message import Draft, Priority, Scope
from restante.domain.repeat import Repeat
from restante.stores.worktree.automations import Document
from restante.stores.worktree.locate import Worktree
from restante.stores.worktree.repeats import StateBook
from restante.stores.worktree.store import WorktreeMailbox
from restante.testing import FakeClock, SequentialIds
from restante.wiring import open_office

if TYPE_CHECKING:
    from pathlib import Path

_ID = "auto_20260520T153000_01krzx7zy0000000000000000a"
_START = datetime(2026, 5, 20, 15, 30, tzinfo=UTC)
_REPEAT = Repeat(
    id=_ID,
    active=True,
    body="Run the tests – all of them.",
    priority=Priority.HIGH,
    scope=Scope.WORKSPACE,
    interval_ms=300_000,
    created=_START,
    updated=_START,
    next_run=_START + timedelta(minutes=5),
    source_message_id="msg_20260520T153000_01krzx7zy0000000000000000a",
)
_ENTRY: dict[str, Any] = {
    "id": _ID,
    "status": "active",
    "body": "x",
    "priority": "normal",
    "scope": "current_task",
    "intervalMs": 300_000,
    "createdAt": "2026-05-20T15:30:00.000Z",
    "updatedAt": "2026-05-20T15:30:00.000Z",
    "nextRunAt": "2026-05-20T15:35:00.000Z",
    "lastSentAt": None,
    "sentCount": 0,
    "sourceMessageId": None,
    "allowWarnings": False,
}


class Desk:
    """A worktree with a book, and a look at its file."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.clock = FakeClock(_START)
        self.worktree = Worktree(str(root))
        self.book = StateBook(self.worktree, self.clock)
        self.box = root / ".codex-mailbox"
        self.file = self.box / "STATE.json"
        self.claims = self.box / ".restante" / "claims.json"

    def write(self, data: object) -> None:
        self.box.mkdir(exist_ok=True)
        self.file.write_bytes(data if isinstance(data, bytes) else json.dumps(data).encode())

    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = json.loads(self.file.read_bytes())
        return state

    def hold(self, *entries: object, **more: object) -> None:
        self.write({"version": 1, "mode": "mailbox-only", "updatedAt": "", "automations": list(entries), **more})

    def claim(self, **changes: object) -> None:
        claims = json.loads(self.claims.read_text())
        claims["claims"][_ID].update(changes)
        self.claims.write_text(json.dumps(claims))

    def due(self, minutes: float = 5) -> datetime:
        self.clock.set(_START + timedelta(minutes=minutes))
        return self.clock.now()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / ".git").mkdir()
    return Desk(tmp_path)


def test_a_repeat_is_written_as_the_original_program_writes_it(desk: Desk) -> None:
    desk.book.add(_REPEAT)
    assert desk.file.read_text() == (
        '{\n  "version": 1,\n  "mode": "mailbox-only",\n  "updatedAt": "2026-05-20T15:30:00.000Z",\n'
        f'  "automations": [\n    {{\n      "id": "{_ID}",\n      "status": "active",\n'
        '      "body": "Run the tests – all of them.",\n      "priority": "high",\n      "scope": "workspace",\n'
        '      "intervalMs": 300000,\n      "createdAt": "2026-05-20T15:30:00.000Z",\n'
        '      "updatedAt": "2026-05-20T15:30:00.000Z",\n      "nextRunAt": "2026-05-20T15:35:00.000Z",\n'
        '      "lastSentAt": null,\n      "sentCount": 0,\n'
        '      "sourceMessageId": "msg_20260520T153000_01krzx7zy0000000000000000a",\n'
        '      "allowWarnings": false\n    }\n  ]\n}\n'
    )
    assert stat.S_IMODE(desk.file.stat().st_mode) == 0o600
    assert sorted(os.listdir(desk.box)) == [".gitignore", ".restante", "STATE.json"]


def test_what_is_kept_reads_back_the_same(desk: Desk) -> None:
    other = _REPEAT._replace(id=_ID[:-1] + "b", body="a\r\n\x00 \u2028 é", allow_warnings=True, source_message_id="")
    desk.book.add(_REPEAT)
    desk.book.add(other)
    assert desk.book.all() == [_REPEAT, other]
    assert StateBook(desk.worktree, desk.clock).all() == [_REPEAT, other]
    with pytest.raises(Conflict, match=_ID):
        desk.book.add(_REPEAT)


def test_reading_a_book_that_is_not_there_makes_nothing(desk: Desk) -> None:
    assert desk.book.all() == []
    assert desk.book.faults() == []
    assert desk.book.claim_due(desk.clock.now()) == []
    assert os.listdir(desk.root) == [".git"]


@pytest.mark.parametrize("data", [b"", b" \n", b'{"version": 1}', b"{}"])
def test_an_empty_book_holds_no_repeats_and_takes_one(desk: Desk, data: bytes) -> None:
    desk.write(data)
    assert desk.book.all() == []
    desk.book.add(_REPEAT)
    assert desk.book.all() == [_REPEAT]


def test_a_paused_repeat_is_not_due_and_a_resumed_one_is_due_one_interval_later(desk: Desk) -> None:
    desk.book.add(_REPEAT)
    now = desk.due(60)
    paused = desk.book.set_active(_ID, False, now)
    assert not paused.active
    assert desk.book.set_active(_ID, False, now) == paused
    assert desk.book.claim_due(now) == []
    resumed = desk.book.set_active(_ID, True, now)
    assert resumed.next_run == now + timedelta(minutes=5)
    assert desk.book.claim_due(now) == []
    # Resuming what runs already changes nothing of when.
    assert desk.book.set_active(_ID, True, desk.due(62)).next_run == resumed.next_run


def test_a_removed_repeat_is_gone_and_an_unknown_one_is_named(desk: Desk) -> None:
    desk.book.add(_REPEAT)
    desk.book.remove(_ID)
    assert desk.book.all() == []
    for step in (lambda: desk.book.remove(_ID), lambda: desk.book.set_active(_ID, True, _START)):
        with pytest.raises(NothingThere, match=_ID):
            step()


_UNKNOWN = {"x": [1.5, 12345678901234567890123, None, {"é\u2028\U0001f468": "\x00\x1f"}], "y": {"z": []}}


def _everything(desk: Desk) -> None:
    """Do every step that writes."""
    desk.book.add(_REPEAT._replace(id=_ID[:-1] + "b"))
    desk.book.set_active(_ID[:-1] + "b", False, _START)
    desk.book.set_active(_ID[:-1] + "b", True, _START)
    now = desk.due()
    for repeat, client_id in desk.book.claim_due(now):
        desk.book.settle(repeat.id, client_id, now)
    desk.book.remove(_ID[:-1] + "b")


def test_unknown_keys_survive_at_every_level(desk: Desk) -> None:
    desk.hold({"newer": _UNKNOWN, **_ENTRY, "last": 1}, first=_UNKNOWN)
    before = desk.state()
    _everything(desk)
    after = desk.state()
    assert list(after) == list(before)
    assert after["first"] == _UNKNOWN
    (entry,) = after["automations"]
    assert list(entry) == ["newer", *_ENTRY, "last"]
    assert entry["newer"] == _UNKNOWN
    changed = {"nextRunAt", "lastSentAt", "sentCount", "updatedAt"}
    assert {key for key in entry if entry[key] != before["automations"][0][key]} == changed


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), _JSON, max_size=3), st.lists(_JSON, max_size=3))
def test_any_json_that_is_not_ours_is_written_back_as_it_was(more: dict[str, Any], entries: list[Any]) -> None:
    whole = {**more, "version": 1, "automations": entries, "updatedAt": ""}
    again = json.loads(Document(json.dumps(whole).encode()).encoded(_START))
    assert {**again, "updatedAt": ""} == whole
    assert list(again) == list(whole)


def test_a_lone_surrogate_survives(desk: Desk) -> None:
    desk.write(b'{"version":1,"odd":"a\\ud800b","automations":[]}')
    desk.book.add(_REPEAT)
    assert b'"odd": "a\\ud800b"' in desk.file.read_bytes()


_INVALID = [
    ("x", "not an object"),
    (None, "not an object"),
    ({"id": None}, "id is missing"),
    ({"id": "two words"}, "id is missing or not one word"),
    ({"id": "a\nb"}, "id is missing or not one word"),
    ({"body": " "}, "body is missing"),
    ({"body": 3}, "body is missing"),
    ({"status": "stopped"}, "status 'stopped'"),
    ({"priority": "urgent"}, "priority 'urgent'"),
    ({"scope": None}, "scope None"),
    ({"intervalMs": 4999}, "intervalMs 4999"),
    ({"intervalMs": 5000.5}, "intervalMs 5000.5"),
    ({"intervalMs": True}, "intervalMs True"),
    ({"intervalMs": "5000"}, "intervalMs '5000'"),
    ({"sentCount": -1}, "sentCount -1"),
    ({"nextRunAt": "soon"}, "nextRunAt 'soon' is not a time"),
    ({"nextRunAt": None}, "nextRunAt None is not a time"),
    ({"nextRunAt": "2026-05-20T15:35:00"}, "no time zone"),
    ({"nextRunAt": "0001-01-01T00:00:00+14:00"}, "beyond the calendar"),
    ({"nextRunAt": "2026-05-20T15:35:60Z"}, "is not a time"),
    ({"lastSentAt": "yesterday"}, "lastSentAt 'yesterday'"),
    ({"createdAt": 5}, "createdAt 5"),
]


@pytest.mark.parametrize(("change", "reason"), _INVALID)
def test_an_entry_that_is_no_repeat_is_told_and_kept_and_keeps_no_other_from_running(
    desk: Desk, change: Any, reason: str
) -> None:
    bad = {**_ENTRY, "id": "auto_bad", **change} if isinstance(change, dict) else change
    desk.hold(bad, _ENTRY)
    assert [one.id for one in desk.book.all()] == [_ID]
    (fault,) = desk.book.faults()
    assert fault.source == "STATE.json"
    assert "automation 1" in fault.reason
    assert reason in fault.reason
    _everything(desk)
    assert desk.state()["automations"][0] == bad
    assert desk.state()["automations"][1]["sentCount"] == 1


def test_a_number_beyond_all_bounds_is_not_written_back_as_something_else(desk: Desk) -> None:
    desk.write(b'{"version":1,"far":1e400,"automations":[]}')
    with pytest.raises(Damaged, match="cannot be written back"):
        desk.book.add(_REPEAT)
    assert desk.file.read_bytes() == b'{"version":1,"far":1e400,"automations":[]}'


def test_whole_numbers_written_with_a_point_are_whole(desk: Desk) -> None:
    desk.hold({**_ENTRY, "intervalMs": 3e5, "sentCount": 2.0})
    assert (desk.book.all()[0].interval_ms, desk.book.all()[0].sent_count) == (300_000, 2)


def test_an_id_that_stands_twice_is_told_and_runs_once(desk: Desk) -> None:
    desk.hold(_ENTRY, {**_ENTRY, "body": "other"})
    assert [one.body for one in desk.book.all()] == ["x"]
    assert "twice" in desk.book.faults()[0].reason
    assert len(desk.book.claim_due(desk.due())) == 1


def test_a_time_that_is_none_is_mended_by_resuming(desk: Desk) -> None:
    desk.hold({**_ENTRY, "nextRunAt": "soon"})
    assert desk.book.set_active(_ID, True, _START).next_run == _START + timedelta(minutes=5)
    assert desk.book.faults() == []


def test_what_resuming_cannot_mend_is_said_and_left_and_can_be_removed(desk: Desk) -> None:
    desk.hold({**_ENTRY, "priority": "urgent"})
    before = desk.file.read_bytes()
    with pytest.raises(Damaged, match="priority 'urgent'"):
        desk.book.set_active(_ID, True, _START)
    assert desk.file.read_bytes() == before
    desk.book.remove(_ID)
    assert desk.state()["automations"] == []


_CORRUPT = [
    b"{",
    b"[]",
    b"3",
    b'{"automations": {}}',
    b'{"automations": [NaN]}',
    b"\xff\xfe{\x00}\x00",
    b'\xef\xbb\xbf{"version": 1}',
    b"[" * 100_000,
    b'{"automations": ' + b"[" * 100_000,
    b'{"version": 2, "automations": []}',
    b'{"version": 1, "automations": [' + b"9" * 5000 + b"]}",
    b"\x00" * 100,
]


@pytest.mark.parametrize("data", _CORRUPT, ids=lambda data: repr(data[:20]))
def test_a_corrupt_book_says_so_is_left_alone_and_never_breaks_mail(desk: Desk, data: bytes) -> None:
    mailbox = WorktreeMailbox(desk.worktree, desk.clock, SequentialIds())
    desk.write(data)
    posted = mailbox.post(Draft("mail goes on"))
    assert [one.message.id for one in mailbox.entries()] == [posted.message.id]
    assert mailbox.faults() == []
    for step in (
        desk.book.all,
        desk.book.faults,
        lambda: desk.book.add(_REPEAT),
        lambda: desk.book.set_active(_ID, True, _START),
        lambda: desk.book.remove(_ID),
        lambda: desk.book.claim_due(_START),
    ):
        with pytest.raises(Damaged, match=r"STATE\.json"):
            step()
    assert desk.file.read_bytes() == data


@pytest.mark.parametrize("kind", ["link out", "dangling", "directory", "fifo"])
def test_a_book_that_is_no_file_of_the_worktree_is_damaged_and_left(
    desk: Desk, kind: str, tmp_path_factory: Any
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "state.json"
    outside.write_text('{"version": 1, "automations": []}')
    desk.box.mkdir()
    if kind == "directory":
        desk.file.mkdir()
    elif kind == "fifo":
        os.mkfifo(desk.file)
    else:
        desk.file.symlink_to(outside if kind == "link out" else outside.with_name("none"))
    with pytest.raises(Damaged, match=r"STATE\.json cannot be read"):
        desk.book.all()
    assert outside.read_text() == '{"version": 1, "automations": []}'


def test_permissions_that_someone_gave_the_file_are_kept(desk: Desk) -> None:
    desk.hold(_ENTRY)
    desk.file.chmod(0o640)
    desk.book.set_active(_ID, False, _START)
    assert stat.S_IMODE(desk.file.stat().st_mode) == 0o640


def test_nothing_due_takes_no_lock_and_writes_nothing(desk: Desk) -> None:
    desk.hold(_ENTRY)
    lock = desk.box / "STATE.json.lock"
    lock.mkdir()
    before = sorted(os.listdir(desk.box))
    assert desk.book.claim_due(_START) == []
    assert sorted(os.listdir(desk.box)) == before


def test_a_due_repeat_is_claimed_once_under_the_name_of_its_period(desk: Desk) -> None:
    desk.hold(_ENTRY)
    before = desk.file.read_bytes()
    now = desk.due()
    ((repeat, client_id),) = desk.book.claim_due(now)
    assert (repeat.id, client_id) == (_ID, f"{_ID}.2026-05-20T15:35:00.000Z")
    assert desk.book.claim_due(now) == []
    assert StateBook(desk.worktree, desk.clock).claim_due(now) == []
    # A claim is ours alone: the original would strip it from its file.
    assert desk.file.read_bytes() == before


@pytest.mark.parametrize("seconds", [61, -61, 3600, -3600])
def test_a_claim_is_given_out_again_after_a_minute_under_the_same_name(desk: Desk, seconds: int) -> None:
    desk.hold({**_ENTRY, "nextRunAt": "2026-05-20T12:00:00Z"})
    now = desk.due()
    first = desk.book.claim_due(now)
    assert desk.book.claim_due(now + timedelta(seconds=59 * (1 if seconds > 0 else -1))) == []
    assert desk.book.claim_due(now + timedelta(seconds=seconds)) == first


@pytest.mark.parametrize("change", [{"pid": 2**22 + 5}, {"start": "1"}, {"pid": -1}, {"pid": "x"}, {"pid": 10**30}])
def test_the_claim_of_a_runner_that_is_gone_is_given_out_at_once(desk: Desk, change: dict[str, object]) -> None:
    desk.hold(_ENTRY)
    first = desk.book.claim_due(desk.due())
    desk.claim(**change)
    assert desk.book.claim_due(desk.clock.now()) == first


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b'{"claims": 3}', b'{"claims": {"a": 1}}', b'{"claims": {"a": {}}}']
)
def test_claims_that_cannot_be_read_are_none(desk: Desk, data: bytes) -> None:
    desk.hold(_ENTRY)
    first = desk.book.claim_due(desk.due())
    desk.claims.write_bytes(data)
    assert desk.book.claim_due(desk.clock.now()) == first


def test_missed_periods_collapse_into_one(desk: Desk) -> None:
    desk.hold(_ENTRY)
    now = desk.due(5 * 6)
    ((repeat, client_id),) = desk.book.claim_due(now)
    desk.book.settle(repeat.id, client_id, now)
    (after,) = desk.book.all()
    assert (after.sent_count, after.last_sent, after.next_run) == (1, now, now + timedelta(minutes=5))
    assert desk.book.claim_due(now) == []
    assert json.loads(desk.claims.read_text()) == {"claims": {}}


def test_a_clock_that_is_set_back_between_claim_and_settling_moves_no_period_back(desk: Desk) -> None:
    desk.hold(_ENTRY)
    ((_, client_id),) = desk.book.claim_due(desk.due())
    desk.book.settle(_ID, client_id, _START - timedelta(hours=2))
    assert desk.book.all()[0].next_run == _START + timedelta(minutes=10)


def test_settling_again_counts_nothing_twice(desk: Desk) -> None:
    desk.hold(_ENTRY)
    ((_, client_id),) = desk.book.claim_due(desk.due())
    for _ in range(3):
        desk.book.settle(_ID, client_id, desk.clock.now())
    assert desk.book.all()[0].sent_count == 1


def test_a_runner_that_slept_through_its_claim_counts_nothing_twice(desk: Desk) -> None:
    desk.hold(_ENTRY)
    slow = desk.book.claim_due(desk.due())
    quick = StateBook(desk.worktree, desk.clock)
    assert quick.claim_due(desk.due(7)) == slow
    quick.settle(_ID, slow[0][1], desk.clock.now())
    desk.book.settle(_ID, slow[0][1], desk.due(8))
    (after,) = desk.book.all()
    assert (after.sent_count, after.next_run) == (1, _START + timedelta(minutes=12))


def test_a_repeat_that_is_paused_between_claim_and_post_stays_paused_and_is_counted(desk: Desk) -> None:
    desk.hold(_ENTRY)
    ((_, client_id),) = desk.book.claim_due(desk.due())
    desk.book.set_active(_ID, False, desk.clock.now())
    desk.book.settle(_ID, client_id, desk.clock.now())
    (after,) = desk.book.all()
    assert (after.active, after.sent_count) == (False, 1)
    assert after.next_run == desk.clock.now() + timedelta(minutes=5)


def test_a_repeat_that_is_removed_between_claim_and_post_stays_removed(desk: Desk) -> None:
    desk.hold(_ENTRY, {**_ENTRY, "id": "auto_other"})
    ((_, client_id), _) = desk.book.claim_due(desk.due())
    desk.book.remove(_ID)
    desk.book.settle(_ID, client_id, desk.clock.now())
    assert [one["id"] for one in desk.state()["automations"]] == ["auto_other"]
    assert list(json.loads(desk.claims.read_text())["claims"]) == ["auto_other"]


def test_a_period_that_the_original_program_moved_on_meanwhile_is_left_where_it_is(desk: Desk) -> None:
    desk.hold(_ENTRY)
    ((_, client_id),) = desk.book.claim_due(desk.due())
    desk.hold({**_ENTRY, "nextRunAt": "2026-05-20T15:40:01.000Z", "sentCount": 1})
    desk.book.settle(_ID, client_id, desk.clock.now())
    (after,) = desk.book.all()
    assert (after.sent_count, after.next_run) == (2, _START + timedelta(minutes=10, seconds=1))


def test_a_claim_of_a_period_that_is_over_holds_nothing_up(desk: Desk) -> None:
    desk.hold(_ENTRY)
    desk.book.claim_due(desk.due())
    # As after a crash between the two writes of settling.
    desk.hold({**_ENTRY, "nextRunAt": "2026-05-20T15:35:10.000Z", "sentCount": 1})
    ((_, client_id),) = desk.book.claim_due(_START + timedelta(minutes=5, seconds=10))
    assert client_id.endswith("T15:35:10.000Z")


def test_the_limit_bounds_what_is_claimed_in_the_order_of_the_book(desk: Desk) -> None:
    desk.hold(*({**_ENTRY, "id": f"auto_{number}"} for number in range(5)))
    now = desk.due()
    assert [repeat.id for repeat, _ in desk.book.claim_due(now, 2)] == ["auto_0", "auto_1"]
    assert [repeat.id for repeat, _ in desk.book.claim_due(now)] == ["auto_2", "auto_3", "auto_4"]


@given(st.lists(st.integers(min_value=-7200, max_value=7200), min_size=1, max_size=12), st.booleans())
def test_no_period_is_run_twice_however_the_clock_steps(tmp_path_factory: Any, steps: list[int], crashes: bool) -> None:
    root = tmp_path_factory.mktemp("steps")
    (root / ".git").mkdir()
    desk = Desk(root)
    desk.hold(_ENTRY)
    names: list[str] = []
    due = [desk.book.all()[0].next_run]
    for step in steps:
        desk.clock.advance(step)
        for repeat, client_id in desk.book.claim_due(desk.clock.now()):
            if not (crashes and step % 3 == 0):
                names.append(client_id)
                desk.book.settle(repeat.id, client_id, desk.clock.now())
        due.append(desk.book.all()[0].next_run)
    assert len(set(names)) == len(names)
    assert due == sorted(due)
    assert desk.book.all()[0].sent_count == len(names)


def test_a_clock_that_was_set_back_for_long_is_told(desk: Desk) -> None:
    desk.hold({**_ENTRY, "lastSentAt": "2027-05-20T15:30:00Z", "nextRunAt": "2027-05-20T15:35:00Z"})
    assert "in the future" in desk.book.faults()[0].reason
    desk.book.set_active(_ID, False, _START)
    assert desk.book.faults() == []
    assert desk.book.set_active(_ID, True, _START).next_run == _START + timedelta(minutes=5)


def test_the_office_tells_what_is_no_repeat_and_mends_or_removes_it_by_its_id(desk: Desk) -> None:
    office = open_office(str(desk.root), environment={})
    mendable, hopeless = f"{_ID[:-1]}b", f"{_ID[:-1]}c"
    desk.hold({**_ENTRY, "id": mendable, "nextRunAt": "soon"}, {**_ENTRY, "id": hopeless, "priority": "urgent"})
    assert [fault.source for fault in office.snapshot().faults] == ["STATE.json"] * 2
    office.set_repeat_active(mendable, True)
    office.remove_repeat(hopeless)
    assert office.snapshot().faults == ()
    assert [one.id for one in office.repeats()] == [mendable]


def test_the_office_reads_mail_beside_a_book_that_is_damaged(desk: Desk) -> None:
    office = open_office(str(desk.root), environment={})
    posted = office.send(Draft("mail goes on")).posted
    desk.write(b"{")
    snapshot = office.snapshot()
    assert [case.entry.message.id for case in snapshot.cases] == [posted.message.id]
    assert [fault.source for fault in snapshot.faults] == ["STATE.json"]
