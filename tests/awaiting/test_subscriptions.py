"""Being woken once, by the first message that says what became of an action; the numbers are statements I1 to I5."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
import pytest
from tests.why.conftest import READER, WRITER

from restante import Draft
from restante.domain.awaiting import matches
from restante.domain.monitor import Signal, Subscription, Wake
from restante.domain.registry import Arrival, Identity
from restante.faces.cli.schemas import SCHEMAS
from restante.roster import Roster
from restante.system.bells import is_ringing
from restante.wiring.monitors import MonitorParts, open_host
from restante.wiring.sessions import open_exchange
from restante.wiring.subscribing import open_subscriptions

from .conftest import Recorder, hosting

if TYPE_CHECKING:
    from tests.why.conftest import Scene

ROLE = "parser/reviewer"
ABOUT = ("--action", "ci/run", "--correlation", "commit:4f2a")


@pytest.fixture
def waiting(pair: Scene) -> Scene:
    """A reader that holds a role, and is idle."""
    pair.do("join", ROLE, by=READER)
    pair.end_turn()
    return pair


def subscribe(scene: Scene, *options: str, by: str = READER) -> str:
    """Subscribe to two states of a run, and return the subscription's id."""
    words = ("subscribe", "--to", ROLE, *ABOUT, "--until", "passed,failed", "--expires", "2h", *options, "--json")
    return str(scene.do(*words, by=by).json["subscription"]["id"])


def say(scene: Scene, state: str, *about: str) -> str:
    """Post what became of the action, and return the message's id."""
    return scene.post(ROLE, "Look.", *(about or ABOUT), "--state", state)


def listed(scene: Scene) -> list[str]:
    """Return the ids of the subscriptions that are there."""
    return [one["id"] for one in scene.do("subscriptions", "--json").json["subscriptions"]]


def bells(scene: Scene) -> list[str]:
    """Return what anybody could listen for."""
    place = scene.data / "bells"
    return sorted(os.listdir(place)) if place.is_dir() else []


def test_i1_the_first_matching_message_makes_one_wake_and_the_subscription_is_gone(waiting: Scene) -> None:
    recorder = Recorder()
    with hosting(recorder):
        mine = subscribe(waiting)
        assert listed(waiting) == [mine]
        say(waiting, "passed")
        assert listed(waiting) == []
        session, text = recorder.until(1)[0]
        assert session == READER
        assert ROLE in text
        assert "Look." not in text
        # What comes after it wakes nobody: neither more of the same nor anything else.
        say(waiting, "failed")
        waiting.post(ROLE)
        assert len(recorder.until(2, seconds=3)) == 1


def test_i1_a_wake_that_nothing_confirms_is_not_made_again(waiting: Scene) -> None:
    recorder = Recorder(Wake.UNCONFIRMED)
    subscribe(waiting)
    say(waiting, "passed")
    with hosting(recorder):
        recorder.until(1)
    waiting.later(minutes=10)
    with hosting(recorder):
        assert len(recorder.until(2, seconds=3)) == 1
    waiting.later(minutes=20)
    host = open_host(os.environ).hosting("")
    host.check(ROLE)
    assert host.standing() == []
    assert bells(waiting) == []


@pytest.mark.parametrize("count", [8, pytest.param(50, marks=pytest.mark.slow)])
def test_i1_of_50_who_post_at_once_one_wakes(waiting: Scene, count: int) -> None:
    subscribe(waiting)
    environment = {**os.environ, "CODEX_THREAD_ID": WRITER}
    context = multiprocessing.get_context("fork")
    start = context.Event()

    def post(number: int) -> None:
        start.wait(60)
        roster = open_subscriptions(environment, str(waiting.root))
        signal = Signal("ci/run", "commit:4f2a", "passed")
        roster.post(ROLE, Draft("Look.", client_id=f"n{number}"), signal=signal)

    posters = [context.Process(target=post, args=(number,)) for number in range(count)]
    for one in posters:
        one.start()
    recorder = Recorder()
    with hosting(recorder):
        start.set()
        for one in posters:
            one.join(120)
        assert [one.exitcode for one in posters] == [0] * count
        assert len(recorder.until(2, seconds=3)) == 1
    assert listed(waiting) == []


def test_i1_read_before_anybody_was_woken_is_no_wake_at_all(waiting: Scene) -> None:
    subscribe(waiting)
    say(waiting, "passed")
    waiting.do("inbox", by=READER)
    recorder = Recorder()
    with hosting(recorder):
        assert recorder.until(1, seconds=2) == []
    assert bells(waiting) == []


def test_i1_a_person_subscribes_for_whoever_holds_the_role_then(pair: Scene) -> None:
    pair.do("join", ROLE)
    subscribe(pair, by="")
    pair.do("act-as", ROLE, by=READER)
    pair.end_turn()
    say(pair, "failed")
    recorder = Recorder()
    with hosting(recorder):
        assert [session for session, _ in recorder.until(1)] == [READER]


def test_i1_a_mailbox_that_is_monitored_anyway_stays_so(waiting: Scene) -> None:
    waiting.do("monitor", "arm", ROLE, by=READER)
    subscribe(waiting)
    recorder = Recorder()
    with hosting(recorder):
        say(waiting, "passed")
        recorder.until(1)
        waiting.do("inbox", by=READER)
        waiting.end_turn()
        waiting.post(ROLE)
        assert len(recorder.until(2)) == 2


def test_i2_another_run_another_action_and_a_state_that_ends_nothing_wake_nobody(waiting: Scene) -> None:
    mine = subscribe(waiting)
    recorder = Recorder()
    with hosting(recorder):
        say(waiting, "running")
        say(waiting, "passed", "--action", "ci/run", "--correlation", "commit:0000")
        say(waiting, "passed", "--action", "deploy", "--correlation", "commit:4f2a")
        waiting.post(ROLE)
        waiting.do("join", "parser/writer", by=WRITER)
        waiting.post("parser/writer", "Look.", *ABOUT, "--state", "passed", by=READER)
        assert recorder.until(1, seconds=2) == []
    assert listed(waiting) == [mine]
    assert bells(waiting) == []


@pytest.mark.parametrize("is_asked_for", [True, False])
def test_i3_what_is_over_is_gone_and_told_once_if_that_was_asked_for(waiting: Scene, is_asked_for: bool) -> None:
    subscribe(waiting, *(["--report-expiry"] if is_asked_for else []))
    waiting.later(hours=3)
    # Whoever comes by notices: here the session itself, at its inbox.
    for _ in range(3):
        told = waiting.do("inbox", "--peek", "--json", by=READER).json["messages"]
        notes = [one for one in told if one["from"] == "restante"]
        assert len(notes) == is_asked_for
    assert listed(waiting) == []
    if is_asked_for:
        assert notes[0]["type"] == "note"
        assert "ci/run (commit:4f2a)" in notes[0]["body"]
    recorder = Recorder()
    with hosting(recorder):
        say(waiting, "passed")
        assert recorder.until(1, seconds=2) == []


def _kept(waiting: Scene) -> int:
    """Return how many subscriptions are kept, without coming by."""
    with closing(sqlite3.connect(Path(os.environ["RESTANTE_DATA"]) / "teams.db")) as teams:
        return int(teams.execute("SELECT COUNT(*) FROM subscriptions").fetchone()[0])


def test_i3_a_host_notices_although_nothing_is_armed(waiting: Scene) -> None:
    subscribe(waiting, "--report-expiry")
    shutil.rmtree(Path(os.environ["RESTANTE_DATA"]) / "bells", ignore_errors=True)
    waiting.later(hours=3)
    assert _kept(waiting) == 1
    recorder = Recorder()
    with hosting(recorder):
        recorder.until_true(lambda: _kept(waiting) == 0, 30.0)
    assert _kept(waiting) == 0


def test_i3_so_does_a_session_that_holds_no_role_when_it_looks_at_its_inbox(waiting: Scene) -> None:
    subscribe(waiting, "--report-expiry")
    waiting.later(hours=3)
    waiting.do("inbox", by=WRITER)
    assert _kept(waiting) == 0


def test_i3_so_does_whoever_posts_to_a_role_or_acknowledges_what_came_to_one_also_without_a_word_of_an_action(
    waiting: Scene,
) -> None:
    waiting.do("join", "other/role")
    message = waiting.post(ROLE, "Nothing about an action.")
    for hours in (3, 6):
        subscribe(waiting, "--report-expiry")
        waiting.later(hours=hours)
        if hours == 3:
            waiting.post("other/role")
        else:
            waiting.do("ack", message, by=READER)
        assert _kept(waiting) == 0
    told = waiting.do("inbox", "--peek", "--json", by=READER).json["messages"]
    assert [one["from"] for one in told].count("restante") == 2


def test_i3_what_is_over_is_rung_for_whoever_owns_it(waiting: Scene, tmp_path: Path) -> None:
    exchange = open_exchange(os.environ)
    place = tmp_path / "ada"
    (place / ".codex-mailbox").mkdir(parents=True)
    person = Identity("ada", verified=True)
    session = exchange.window(person).register(Arrival("ada-1", vendor="codex", worktree=str(place)))
    parts = MonitorParts(os.environ)
    Roster(parts, lambda: Identity("ada", session.id, True)).join(ROLE)
    over = parts.clock.now() + timedelta(seconds=1)
    mine = Roster(parts, lambda: person)
    mine.subscribe(ROLE, "ci/run", "commit:4f2a", ["passed"], expires=over, reports_expiry=True)
    assert not is_ringing(str(place))
    waiting.later(hours=1)
    Roster(MonitorParts(os.environ), lambda: Identity("", verified=True)).notice_expiries()
    assert is_ringing(str(place))
    assert mine.seat(ROLE).counts.unseen == 1


def test_i3_many_who_come_by_at_once_report_it_once(waiting: Scene) -> None:
    subscribe(waiting, "--report-expiry")
    environment = {**os.environ, "RESTANTE_NOW": (datetime.now(UTC) + timedelta(hours=3)).isoformat()}
    context = multiprocessing.get_context("fork")

    def come_by() -> None:
        open_subscriptions(environment, str(waiting.root)).notice_expiries()

    crowd = [context.Process(target=come_by) for _ in range(8)]
    for one in crowd:
        one.start()
    for one in crowd:
        one.join(60)
    told = waiting.do("inbox", "--peek", "--json", by=READER).json["messages"]
    assert [one["from"] for one in told] == ["restante"]


def test_i4_report_only_marks_and_answers_nothing_and_says_so_to_whom_it_wakes(waiting: Scene) -> None:
    subscribe(waiting, "--report-only")
    message = say(waiting, "failed")
    recorder = Recorder()
    with hosting(recorder):
        _, text = recorder.until(1)[0]
    assert "Only report it; answer nothing" in text
    assert text.endswith(f"inbox {ROLE} --peek")
    look = waiting.do("inbox", ROLE, "--peek", "--json", by=READER).json["messages"]
    found = next(one for one in look if one["id"] == message)
    assert [found[name] for name in ("status", "noticed_at", "seen_at", "acknowledged_at")] == [
        "unseen",
        None,
        None,
        None,
    ]
    assert waiting.do("receipts", message, "--json", by=WRITER).json["receipts"][0]["state"] == "unseen"


def test_i5_nothing_is_watched_asked_for_or_begun_while_it_waits(waiting: Scene) -> None:
    before = sorted(str(one) for one in waiting.data.rglob("*") if "teams.db" not in one.name)
    subscribe(waiting, "--report-expiry")
    assert sorted(str(one) for one in waiting.data.rglob("*") if "teams.db" not in one.name) == before
    assert open_host(os.environ).hosting("").standing() == []
    recorder = Recorder()
    with hosting(recorder):
        assert recorder.until(1, seconds=1) == []
    assert waiting.by("", "monitor", "status", "--json").json["monitors"] == []
    assert bells(waiting) == []


def test_unsubscribing_ends_it_and_doing_so_again_changes_nothing(waiting: Scene) -> None:
    mine = subscribe(waiting)
    other = waiting.by(WRITER, "unsubscribe", mine)
    assert (other.code, listed(waiting)) == (4, [mine])
    assert waiting.do("unsubscribe", mine[-8:], "--json", by=READER).json == {"removed": mine}
    assert waiting.do("unsubscribe", mine, "--json", by=READER).json == {"removed": None}
    recorder = Recorder()
    with hosting(recorder):
        say(waiting, "passed")
        assert recorder.until(1, seconds=2) == []


def test_every_answer_is_as_its_schema_says(waiting: Scene) -> None:
    words = ("--to", ROLE, *ABOUT, "--until", "passed", "--expires", "2h")
    made = waiting.do("subscribe", *words, "--json", by=READER)
    jsonschema.validate(made.json, SCHEMAS["subscribe"])
    jsonschema.validate(waiting.do("subscriptions", "--json").json, SCHEMAS["subscriptions"])
    mine = made.json["subscription"]["id"]
    assert mine in waiting.do("subscriptions").out
    jsonschema.validate(waiting.do("unsubscribe", mine, "--json", by=READER).json, SCHEMAS["unsubscribe"])


def test_what_cannot_be_is_refused_and_nothing_is_kept(waiting: Scene) -> None:
    words = ("subscribe", "--to", ROLE, *ABOUT, "--until", "passed", "--expires", "2h")
    assert waiting.by(WRITER, *words).code == 4
    assert waiting.by(READER, *words[:3]).code == 2
    assert waiting.by(READER, *words, "--until", "a b").code == 2
    assert waiting.by(READER, *words, "--expires", "2020-01-01T00:00:00Z").code == 2
    assert waiting.by(READER, *words, "--to", "parser/nobody").code == 3
    assert waiting.by(READER, *words, "--action", "x;y\n").code == 2
    assert listed(waiting) == []
    assert waiting.by(WRITER, "post", ROLE, "Look.", "--state", "passed").code == 2


def test_the_rule_of_matching_is_the_one_of_the_database() -> None:
    now = datetime(2026, 5, 20, tzinfo=UTC)
    one = Subscription(
        "s", ROLE, "", "a", "c", ("x", "y"), "", False, now, now + timedelta(hours=1), reports_expiry=False
    )
    assert matches(one, Signal("a", "c", "y"), now)
    for signal in (Signal("b", "c", "x"), Signal("a", "d", "x"), Signal("a", "c", "z")):
        assert not matches(one, signal, now)
    assert not matches(one, Signal("a", "c", "x"), one.expires)
