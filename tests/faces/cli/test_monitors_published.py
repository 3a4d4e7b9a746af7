"""What the published tests of the scheduled monitor and of the lease hold, at the same clock values, by the commands.

``test_monitors.py`` has the schedule itself; here is what else they tried, and where this differs on purpose.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from .conftest import PLANNER, WORKER

if TYPE_CHECKING:
    from .conftest import Cast

ROLE = "team/alice"
OTHER = "other/alice"


@pytest.fixture
def desk(cast: Cast) -> Cast:
    """The planner holds a role; nothing is armed."""
    assert cast.by(PLANNER, "join", ROLE).code == 0
    return cast


def ask(desk: Cast, *words: str, by: str = PLANNER) -> tuple[int, dict[str, str]]:
    """Return the exit code of a command about monitors, and the keys and values that it printed."""
    answer = desk.by(by, "monitor", *words)
    return answer.code, dict(re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|\S*)', answer.out))


def brief(desk: Cast, *words: str, by: str = PLANNER) -> tuple[int, str, str]:
    """Return the exit code, the status, and whether a message is new."""
    code, told = ask(desk, *words, by=by)
    return code, told.get("status", ""), told.get("new_message", "")


def test_a_scheduled_wake_that_led_to_nothing_is_made_again_after_300_seconds_and_three_times_in_all(
    desk: Cast,
) -> None:
    ask(desk, "arm", ROLE, "--scheduled", "--owner", "task-1", "--now", "1000")
    desk.by(WORKER, "post", ROLE, "Look at the parser.")
    check = ("check", ROLE, "--owner", "task-1", "--now")
    assert brief(desk, *check, "1120") == (0, "wake", "1")
    assert brief(desk, *check, "1240") == (2, "waiting", "0")
    assert brief(desk, *check, "1360") == (2, "waiting", "0")
    assert brief(desk, *check, "1480") == (0, "wake", "0")
    assert brief(desk, *check, "1780") == (0, "wake", "0")
    # The published one went on for ever.
    assert brief(desk, *check, "2080")[1] == "error"
    assert ask(desk, "status", ROLE, "--now", "2080")[1]["mode"] == "turn"
    # A newer message is another matter.
    desk.by(WORKER, "post", ROLE, "Look at the lexer, too.")
    assert brief(desk, *check, "2200") == (0, "wake", "1")


def test_a_message_that_was_delivered_wakes_no_more_and_a_newer_one_does(desk: Cast) -> None:
    ask(desk, "arm", ROLE, "--scheduled", "--owner", "task-1", "--now", "1000")
    check = ("check", ROLE, "--owner", "task-1", "--force", "--now")
    desk.by(WORKER, "post", ROLE, "Look at the parser.")
    assert brief(desk, *check, "1001") == (0, "wake", "1")
    # Neither of another mark, nor by whoever has another token.
    assert ask(desk, "delivered", ROLE, "2", "--owner", "task-1", "--now", "1002")[0] == 64
    assert ask(desk, "delivered", ROLE, "1", "--owner", "task-2", "--now", "1002")[0] == 3
    code, told = ask(desk, "delivered", ROLE, "1", "--owner", "task-1", "--now", "1003")
    assert (code, told["status"], told["max_id"], told["stage"]) == (0, "delivered", "1", "fast")
    assert brief(desk, *check, "1400") == (2, "waiting", "0")
    desk.by(WORKER, "post", ROLE, "Look at the lexer, too.")
    assert brief(desk, *check, "1401") == (0, "wake", "1")
    assert ask(desk, "status", ROLE, "--now", "1402")[1]["last_delivered_id"] == "1"


def test_a_lease_lasts_for_12_hours_after_the_last_heartbeat(desk: Cast) -> None:
    assert ask(desk, "arm", ROLE, "--now", "1000")[1]["expires_at"] == "44200"
    assert ask(desk, "heartbeat", ROLE, "--now", "40000") == (0, {"status": "active"})
    assert brief(desk, "claim", ROLE, "--now", "44201")[:2] == (2, "idle")
    assert brief(desk, "claim", ROLE, "--now", "83199")[:2] == (2, "idle")
    assert brief(desk, "claim", ROLE, "--now", "83201")[:2] == (3, "expired")
    assert ask(desk, "heartbeat", ROLE, "--now", "83202")[0] == 3
    assert ask(desk, "status", ROLE, "--now", "83203")[1]["status"] == "expired"
    assert brief(desk, "arm", ROLE, "--now", "83204")[:2] == (0, "active")
    assert brief(desk, "claim", ROLE, "--now", "83205")[:2] == (2, "idle")


def test_a_lease_wakes_once_for_a_message_and_again_after_90_seconds_until_it_is_delivered(desk: Cast) -> None:
    ask(desk, "arm", ROLE, "--now", "1000")
    desk.by(WORKER, "post", ROLE, "Look at the parser.")
    assert brief(desk, "claim", ROLE, "--now", "1000") == (0, "wake", "1")
    code, told = ask(desk, "claim", ROLE, "--now", "1089")
    assert (code, told["status"], told["retry_in"]) == (2, "waiting", "1")
    assert brief(desk, "claim", ROLE, "--now", "1090") == (0, "wake", "0")
    # The published one took any mark.
    assert ask(desk, "delivered", ROLE, "7", "--now", "1091")[0] == 64
    assert ask(desk, "delivered", ROLE, "1", "--now", "1091") == (0, {"status": "delivered", "max_id": "1"})
    assert brief(desk, "claim", ROLE, "--now", "1300")[:2] == (2, "waiting")
    desk.by(PLANNER, "inbox", ROLE)
    assert brief(desk, "claim", ROLE, "--now", "1301")[:2] == (2, "idle")


def test_leases_of_the_same_name_in_two_teams_know_nothing_of_each_other(desk: Cast) -> None:
    desk.by(WORKER, "join", OTHER)
    ask(desk, "arm", ROLE, "--now", "1000")
    ask(desk, "arm", OTHER, "--now", "1000", by=WORKER)
    desk.by(WORKER, "post", ROLE, "Look at the parser.")
    assert brief(desk, "claim", OTHER, "--now", "1001", by=WORKER)[:2] == (2, "idle")
    assert brief(desk, "claim", ROLE, "--now", "1001")[:2] == (0, "wake")
    assert ask(desk, "stop", ROLE)[0] == 0
    assert brief(desk, "claim", OTHER, "--now", "1002", by=WORKER)[:2] == (2, "idle")
    assert desk.by("", "monitor", "status").out.splitlines()[-1] == "status=active count=1"


def test_after_the_session_ended_a_claim_says_so_and_its_tasks_are_told_once(desk: Cast) -> None:
    ask(desk, "arm", ROLE, "--now", "1000")
    ask(desk, "automation", ROLE, "hb-1", "wd-1")
    desk.by(WORKER, "post", ROLE, "Look at the parser.")
    assert desk.by(PLANNER, "session", "end").code == 0
    code, told = ask(desk, "claim", ROLE, "--now", "1001", by="")
    assert (code, told["status"]) == (3, "inactive")
    assert ask(desk, "stop", ROLE, by="")[1]["automation_ids"] == "hb-1,wd-1"
    assert "automation_ids" not in ask(desk, "stop", ROLE, by="")[1]
