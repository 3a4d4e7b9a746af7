"""Watching: told once, remembered after it was told, with cursors that the original reads."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.oacp import AT, send

from restante.domain.errors import Damaged, NothingThere, UsageError
from restante.stores.oacp.archive import archive
from restante.stores.oacp.watching import Watch, parse_since, watch_all

if TYPE_CHECKING:
    from collections.abc import Iterator

    from restante.stores.oacp.layout import Tree

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
JSON = dict[str, Any]


def _look(watch: Watch, since: datetime = EPOCH) -> list[JSON]:
    told: list[JSON] = []
    watch.once(told.append, since=since)
    return told


def _archive(path: str) -> None:
    with open(path, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    archive(path, digest)


def test_mail_is_told_once_in_order_of_name(tree: Tree) -> None:
    later = send(tree, "bob", at=AT + timedelta(seconds=1), subject="later")
    first = send(tree, "bob", subject="first", priority="P0")
    watch = Watch(tree, "demo", "bob")
    events = _look(watch)
    assert [one["subject"] for one in events] == ["first", "later"]
    assert events[0] == {
        "agent": "bob",
        "event": "new_message",
        "file": os.path.basename(first.outbox),
        "from": "alice",
        "priority": "P0",
        "project": "demo",
        "subject": "first",
        "type": "question",
    }
    assert _look(watch) == []
    _archive(later.inboxes[0])
    assert _look(watch) == []


def test_what_left_the_inbox_is_told_to_whom_it_concerns(tree: Tree) -> None:
    sent = send(tree, "bob")
    watch = Watch(tree, "demo", "bob", state_id="s-1", show_archived=True)
    assert [one["event"] for one in _look(watch)] == ["new_message"]
    _archive(sent.inboxes[0])
    (event,) = _look(watch)
    assert (event["event"], event["subject"]) == ("message_archived", "About it")
    assert _look(watch) == []


def test_a_new_subscriber_begins_where_it_says(tree: Tree) -> None:
    sent = send(tree, "bob")
    os.utime(sent.inboxes[0], (1000, 1000))
    at = datetime.fromtimestamp(1000, UTC)
    for name, since, told in (("a", at, 0), ("b", at - timedelta(seconds=1), 1), ("c", EPOCH, 1)):
        watch = Watch(tree, "demo", "bob", state_id=name)
        assert len(_look(watch, since)) == told
        assert _look(watch, EPOCH) == []


def test_since_reads_what_the_format_says() -> None:
    assert parse_since("now", AT) == AT
    assert parse_since("epoch", AT) == EPOCH
    assert [AT - parse_since(text, AT) for text in ("5s", "5m", "5h", "5d")] == [
        timedelta(**{unit: 5}) for unit in ("seconds", "minutes", "hours", "days")
    ]
    assert parse_since("2026-05-20T15:30:00", EPOCH) == AT
    assert parse_since("2026-05-20T17:30:00+02:00", EPOCH) == AT
    assert parse_since("9" * 300 + "d", AT) == parse_since("99999999999d", AT) == EPOCH
    for text in ("", "yesterday", "5w", "-5m", "1.5h", "\u0665m"):
        with pytest.raises(UsageError):
            parse_since(text, AT)


def test_a_consumer_that_dies_is_told_again_what_it_did_not_take(tree: Tree) -> None:
    for place in range(3):
        send(tree, "bob", at=AT + timedelta(seconds=place), subject=str(place))
    watch = Watch(tree, "demo", "bob")
    taken: list[str] = []

    def take_one(event: JSON) -> None:
        if taken:
            raise BrokenPipeError
        taken.append(event["subject"])

    with pytest.raises(BrokenPipeError):
        watch.once(take_one, since=EPOCH)
    assert [one["subject"] for one in _look(watch)] == ["1", "2"]


def test_watchers_that_share_a_cursor_share_the_mail(tree: Tree) -> None:
    for place in range(30):
        send(tree, "bob", at=AT + timedelta(seconds=place), subject=str(place))
    told: list[list[JSON]] = [[] for _ in range(4)]
    threads = [
        threading.Thread(target=lambda one=one: Watch(tree, "demo", "bob").once(one.append, since=EPOCH))
        for one in told
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(int(one["subject"]) for share in told for one in share) == list(range(30))


def test_malformed_mail_is_told_once_for_each_state_of_its_file(tree: Tree) -> None:
    path = tree.path("projects", "demo", "agents", "bob", "inbox", "20260101000000_x_y.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write("{x: [")
    send(tree, "bob")
    watch = Watch(tree, "demo", "bob")
    told: list[JSON] = []
    assert not watch.once(told.append, since=EPOCH)
    assert [one["event"] for one in told] == ["error", "new_message"]
    assert (told[0]["path"], told[0]["file"]) == (path, "20260101000000_x_y.yaml")
    assert _look(watch) == []
    with open(path, "a", encoding="utf-8") as file:
        file.write("\n")
    assert [one["event"] for one in _look(watch)] == ["error"]
    os.unlink(path)
    assert watch.once(told.append, since=EPOCH)


def test_a_cursor_has_the_form_of_the_original(tree: Tree) -> None:
    sent = send(tree, "bob")
    watch = Watch(tree, "demo", "bob", state_id="codex-1")
    _look(watch)
    assert watch.cursor == tree.path("projects", "demo", "state", "watch", "bob.codex-1.json")
    name = os.path.basename(sent.outbox)
    with open(watch.cursor, encoding="utf-8") as file:
        text = file.read()
    content = json.loads(text)
    assert content == {
        "version": 1,
        "project": "demo",
        "agent": "bob",
        "state_id": "codex-1",
        "messages": {
            name: {"file": name, "from": "alice", "priority": "P2", "subject": "About it", "type": "question"}
        },
    }
    assert text == json.dumps(content, indent=2, sort_keys=True) + "\n"


def test_a_round_that_finds_nothing_new_writes_nothing(tree: Tree) -> None:
    send(tree, "bob")
    watch = Watch(tree, "demo", "bob")
    _look(watch)
    before = os.stat(watch.cursor)
    _look(watch)
    assert os.stat(watch.cursor).st_ino == before.st_ino


def test_a_cursor_that_cannot_be_read_is_an_error_and_stays(tree: Tree) -> None:
    watch = Watch(tree, "demo", "bob")
    os.makedirs(os.path.dirname(watch.cursor))
    with open(watch.cursor, "w", encoding="utf-8") as file:
        file.write("[]")
    told: list[JSON] = []
    with pytest.raises(Damaged):
        watch.once(told.append, since=EPOCH)
    assert not watch_all([watch, Watch(tree, "other", "alice")], told.append, since=EPOCH)
    assert [(one["event"], one["agent"]) for one in told] == [("error", "bob")]


def test_an_unknown_inbox_and_a_name_that_leads_away_are_refused(tree: Tree) -> None:
    with pytest.raises(NothingThere):
        Watch(tree, "demo", "bobb")
    for state_id in ("../x", "a/b", "x" * 65):
        with pytest.raises(UsageError):
            Watch(tree, "demo", "bob", state_id=state_id)
    with pytest.raises(UsageError):
        Watch(tree, "demo", "../agents/bob")


def test_blocking_looks_at_every_tick(tree: Tree) -> None:
    class Ticks:
        def ticks(self, timeout: float | None = None) -> Iterator[None]:
            assert timeout == 5
            yield
            send(tree, "bob", subject="while it waited")
            yield

    told: list[JSON] = []
    watch = Watch(tree, "demo", "bob")
    assert list(watch.follow(told.append, since=EPOCH, watcher=Ticks(), timeout=5)) == [True, True]
    assert [one["subject"] for one in told] == ["while it waited"]
