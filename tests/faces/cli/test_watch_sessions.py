"""``watch`` of sessions: nothing that happens between two calls is lost, and each has its reason."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from tests.system.fake_server import fake

from .conftest import PLANNER, WORKER
from .served import served

if TYPE_CHECKING:
    from collections.abc import Callable

    from .conftest import Answer, Cast


def _cursor(answer: Answer) -> str:
    """Return the cursor of the last line, in text or in JSON."""
    if answer.out.startswith("{"):
        return str(json.loads(answer.out.splitlines()[-1])["cursor"])
    return answer.err.splitlines()[-1].rpartition(" --since ")[2]


def test_without_a_cursor_it_tells_how_all_stand_and_what_to_go_on_with(cast: Cast) -> None:
    answer = cast.by("", "watch", "--sessions")
    assert answer.code == 0
    assert [line.split()[0] for line in answer.out.splitlines()] == ["planner", "worker"]
    assert answer.err.splitlines()[-1].startswith("go on with: restante watch --sessions --since w1.")
    again = cast.restante("watch", "--sessions", "--since", _cursor(answer), "--timeout", "0.1")
    assert (again.code, again.out) == (5, "")


def test_an_answer_is_short_for_a_model_shows_first_what_deserves_a_look_and_counts_the_rest(cast: Cast) -> None:
    for number in range(60):
        cast.enter(f"0199{number:04x}-0000-7000-8000-000000000000", f"crowd-{number}")
    cast.by(WORKER, "session", "turn", "ended")
    for answer in (cast.by("", "watch", "--sessions"), cast.by("", "watch", "--sessions", "--since", "start")):
        lines = answer.out.splitlines()
        assert lines[0].startswith("worker")
        assert lines[-1] == "12 more changed: restante ls --limit 62"
        assert len(lines) == 51
    assert len(cast.restante("watch", "--sessions", "--json").json["sessions"]) == 62


@pytest.mark.parametrize("source", ["hook", "heuristic"])
def test_s59_a_turn_that_ended_between_two_calls_is_told_by_the_next(cast: Cast, source: str) -> None:
    cursor = _cursor(cast.by("", "watch", "--sessions"))
    cast.by(WORKER, "session", "turn", "ended", "--source", source)
    answer = cast.by("", "watch", "--sessions", "--since", cursor, "--timeout", "5")
    assert answer.code == 0
    assert "worker (0199bbbb-0000)  done: " in answer.out
    assert f"({source})" in answer.out
    assert "planner" not in answer.out


def test_s60_every_row_has_its_reason(cast: Cast) -> None:
    def reason() -> str:
        rows = cast.by("", "watch", "worker", "--json").json["sessions"]
        return str(rows[0]["reason"])

    assert reason() == "None"
    cast.by(WORKER, "session", "turn", "ended")
    assert reason() == "done"
    cast.by(WORKER, "session", "todo", "1", "2")
    assert reason() == "open-todos"
    message = cast.post(PLANNER, "worker", "text")
    assert reason() == "inbox-unread"
    cast.by(WORKER, "inbox")
    assert reason() == "inbox-unacked"
    cast.by(WORKER, "ack", message)
    assert reason() == "open-todos"
    cast.by(WORKER, "session", "blocked", "question")
    assert reason() == "blocked"
    cast.by(WORKER, "session", "end")
    assert reason() == "exited"


def test_only_the_sessions_that_were_named_are_told_and_who_is_not_there_is_gone(cast: Cast) -> None:
    answer = cast.by("", "watch", "worker", "no-such-session")
    assert answer.code == 0
    assert answer.out.splitlines()[-1] == "no-such-session  gone: there is no such session"
    assert "planner" not in answer.out
    assert "restante watch worker no-such-session --since" in answer.err
    cursor = _cursor(answer)
    cast.by("", "session", "delete", "worker")
    assert cast.restante("watch", WORKER, "--since", cursor, "--timeout", "1", "--json").json["gone"] == [WORKER]


def test_bl55_an_answer_that_timed_out_carries_a_cursor_and_nothing_after_it_is_lost(cast: Cast) -> None:
    cursor = _cursor(cast.by("", "watch", "--sessions", "--json"))
    quiet = cast.restante("watch", "--sessions", "--since", cursor, "--timeout", "0.1", "--json")
    assert (quiet.code, quiet.json["timedOut"]) == (5, True)
    in_words = cast.restante("watch", "--sessions", "--since", cursor, "--timeout", "0.1")
    assert in_words.code == 5
    cast.post(PLANNER, "worker", "m1")
    for reached in (_cursor(quiet), _cursor(in_words)):
        rows = cast.by("", "watch", "--sessions", "--since", reached, "--timeout", "5", "--json").json["sessions"]
        assert [row["name"] for row in rows] == ["worker"]


@pytest.mark.slow
def test_bl55_posts_at_any_instant_are_told_duplicates_allowed_gaps_not(cast: Cast) -> None:
    dice = random.Random(55)
    cursor = _cursor(cast.by("", "watch", "--sessions", "--json"))
    posted, told = 0, 0
    for _ in range(60):
        if is_posting := dice.random() < 0.5:
            cast.post(PLANNER, "worker", "text", "--client-id", f"c{posted}")
            posted += 1
        answer = cast.by("", "watch", "--sessions", "--since", cursor, "--timeout", "0.05", "--json")
        cursor = _cursor(answer)
        assert answer.code == (0 if is_posting else 5)
        if is_posting:
            told = answer.json["sessions"][0]["inboxPending"]
            assert told == posted
    assert told == posted > 10


def test_a_cursor_that_is_none_is_refused_with_the_way_out(cast: Cast) -> None:
    answer = cast.by("", "watch", "--sessions", "--since", "42")
    assert answer.code == 2
    assert "--since start" in answer.err
    assert cast.restante("watch", "--sessions", "--since", "start").code == 0


def test_following_a_mailbox_needs_no_option_for_it(cast: Cast) -> None:
    assert cast.by("", "watch", "--follow").code == 2


@pytest.mark.parametrize("way", ["direct", "served"])
def test_s61_who_waits_is_told_of_the_end_of_a_turn_as_it_happens(cast: Cast, way: str) -> None:
    def play() -> None:
        cursor = _cursor(cast.by("", "watch", "--sessions"))
        program = [sys.executable, "-I", "-m", "restante", "watch", "--sessions", "--since", cursor, "--follow"]
        environment = {name: value for name, value in os.environ.items() if name != "CODEX_THREAD_ID"}
        with subprocess.Popen(
            [*program, "--json"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as watching:
            stuck = threading.Timer(30, watching.kill)
            stuck.start()
            try:
                assert watching.stdout
                for number in (1, 2):
                    assert cast.by(WORKER, "session", "turn", "ended").code == 0
                    turns: list[Any] = []
                    while not turns or turns[-1] < number:
                        rows = json.loads(watching.stdout.readline())["sessions"]
                        turns += [row["turn"] for row in rows if row["name"] == "worker"]
                watching.send_signal(signal.SIGINT)
                watching.communicate(timeout=20)
            finally:
                stuck.cancel()
                watching.kill()
        assert watching.returncode == 0

    if way == "direct":
        play()
    else:
        with served():
            play()


def test_s39_a_server_that_is_too_old_to_tell_is_shown_with_question_marks(
    restante: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    state = {
        "id": WORKER,
        "name": "worker",
        "mode": "claude",
        "createdAt": 0,
        "lastActivityAt": 0,
        "turnEndedAt": 5,
        "turnEndSource": "hook",
        "turn": 1,
        "presence": "alive",
    }

    def answer(_: Any, __: str, path: str, ___: Any) -> Any:
        who = {"owner": "", "session": None, "verified": False, "claimed": None}
        return who if path == "/whoami" else {"sessions": [state]}

    with fake(answer) as server:
        monkeypatch.setenv("RESTANTE_SERVER_URL", server.url)
        answered = restante("ls")
        rows = restante("ls", "--json").json["sessions"]
    assert answered.code == 0, answered.err
    line = next(one for one in answered.out.splitlines() if one.startswith("worker"))
    assert line.split()[-4:] == ["?"] * 4
    assert "older version" in answered.out
    assert "idle with unread" not in answered.out
    assert (rows[0]["inboxPending"], rows[0]["inboxUnseen"]) == (None, None)
