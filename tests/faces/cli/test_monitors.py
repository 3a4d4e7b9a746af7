"""``restante monitor``: the words, keys and exit codes that scheduled tasks and watchdogs know."""

from __future__ import annotations

import json
import re
import sqlite3
from typing import TYPE_CHECKING

import jsonschema
import pytest

from restante.faces.cli.monitor_schemas import MONITOR_SCHEMAS

from .conftest import PLANNER, WORKER

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Answer, Cast

ROLE = "team/alice"
OTHER = "team/bob"


@pytest.fixture
def desk(cast: Cast) -> Cast:
    """The planner holds a role; nothing is armed."""
    assert cast.by(PLANNER, "join", ROLE).code == 0
    return cast


def _pairs(line: str) -> dict[str, str]:
    """Return the keys and values of a line; a key that comes twice has its last value."""
    return dict(re.findall(r'(\w+)=("(?:[^"\\]|\\.)*"|\S*)', line))


def _monitor(cast: Cast, *words: str, by: str = PLANNER) -> Answer:
    return cast.by(by, "monitor", *words)


def test_g1_a_mailbox_that_nobody_armed_is_inactive_and_no_file_is_made(cast: Cast, tmp_path: Path) -> None:
    before = sorted((tmp_path / "data").rglob("*"))
    for words in (("check", ROLE), ("claim", ROLE), ("heartbeat", ROLE), ("delivered", ROLE, "1"), ("status", ROLE)):
        answer = _monitor(cast, *words)
        assert (answer.code, answer.out.split()[0]) == (3, "status=inactive"), answer
    assert _monitor(cast, "status").out == "status=inactive count=0\n"
    assert _monitor(cast, "stop", ROLE).code == 0
    assert sorted((tmp_path / "data").rglob("*")) == before


def test_where_another_machines_server_keeps_the_mail_all_is_refused_with_what_helps_and_nothing_is_made(
    desk: Cast, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def kept() -> set[str]:
        # What commands before opened may still be closing.
        return {path.name for path in (tmp_path / "data").rglob("*") if not path.name.endswith(("-wal", "-shm"))}

    before = kept()
    # Nobody answers there, and nobody is asked.
    monkeypatch.setenv("RESTANTE_SERVER_URL", "http://127.0.0.1:9")
    subscribe = ("subscribe", "--to", ROLE, "--action", "ci/run", "--correlation", "c", "--until", "passed")
    monitor = (("arm", ROLE), ("check", ROLE), ("status",), ("stop", ROLE), ("mode", "monitor", ROLE), ("run",))
    for words in [*(("monitor", *one) for one in monitor), (*subscribe, "--expires", "2h"), ("subscriptions",)]:
        answer = desk.by(PLANNER, *words)
        assert (answer.code, "server.url names a server" in answer.err) == (4, True), words
        assert "on the server's machine" in answer.err
    assert kept() == before


def test_h_the_commands_answer_at_the_published_clock_values(desk: Cast) -> None:
    def ask(*words: str) -> tuple[int, dict[str, str]]:
        answer = _monitor(desk, *words)
        assert "\n" not in answer.out.rstrip("\n")
        return answer.code, _pairs(answer.out)

    code, armed = ask("arm", ROLE, "--scheduled", "--owner", "task-1", "--now", "1000")
    assert (code, armed["status"], armed["stage"], armed["expires_at"]) == (0, "active", "fast", "87400")
    owner = ("--owner", "task-1")
    assert ask("check", ROLE, *owner, "--now", "1001") == (
        2,
        {
            "status": "not_due",
            "stage": "fast",
            "elapsed": "1",
            "next_interval": "120",
            "next_rrule": "FREQ=MINUTELY;INTERVAL=2",
            "schedule_change": "0",
            "next_due_at": "1120",
            "expires_at": "87400",
        },
    )
    code, idle = ask("check", ROLE, *owner, "--now", "2800")
    assert (code, idle["status"], idle["stage"], idle["next_interval"], idle["schedule_change"]) == (
        *(2, "idle", "medium"),
        *("900", "1"),
    )
    assert ask("scheduled", ROLE, "900", *owner) == (
        0,
        {"status": "scheduled", "interval": "900", "rrule": "FREQ=MINUTELY;INTERVAL=15"},
    )
    code, slow = ask("check", ROLE, *owner, "--now", "15400")
    assert (code, slow["stage"], slow["next_interval"], slow["next_rrule"]) == (
        *(2, "slow"),
        *("3600", "FREQ=HOURLY;INTERVAL=1"),
    )
    desk.by(WORKER, "post", ROLE, "Look at the parser.")
    code, wake = ask("check", ROLE, *owner, "--now", "20000")
    assert (code, wake["status"], wake["count"], wake["max_id"], wake["new_message"]) == (0, "wake", "1", "1", "1")
    assert (wake["stage"], wake["next_interval"], wake["schedule_change"]) == ("fast", "120", "1")
    code, status = ask("status", ROLE, "--now", "20120")
    assert (code, status["elapsed"], status["pending_id"], status["last_seen_id"]) == (0, "120", "1", "1")
    code, waiting = ask("check", ROLE, *owner, "--now", "20120")
    assert (code, waiting["status"], waiting["new_message"]) == (2, "waiting", "0")
    code, told = ask("delivered", ROLE, "1", *owner, "--now", "20130")
    assert (code, told["status"], told["max_id"]) == (0, "delivered", "1")
    assert _monitor(desk, "delivered", ROLE, "2", *owner).code == 64
    code, waiting = ask("check", ROLE, *owner, "--force", "--now", "20600")
    assert (code, waiting["status"]) == (2, "waiting"), "delivered, whether or not it was read"


def test_h_the_last_check_is_at_exactly_the_limit(desk: Cast) -> None:
    _monitor(desk, "arm", ROLE, "--scheduled", "--owner", "task-1", "--now", "1000")
    for now in ("87400", "87401"):
        answer = _monitor(desk, "check", ROLE, "--owner", "task-1", "--now", now)
        assert answer.code == 3
        assert answer.out.startswith("status=expired schedule_action=pause ")


def test_preparing_arms_once_and_prints_what_the_task_has_to_do(desk: Cast) -> None:
    first = _monitor(desk, "prepare", ROLE, "--now", "1000")
    again = _monitor(desk, "prepare", ROLE, "--now", "1060")
    token = _pairs(first.out.splitlines()[0])["owner"]
    assert re.fullmatch(r"task-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", token)
    assert first.out.startswith(f"status=prepared owner={token} status=active stage=fast ")
    assert again.out.startswith(f"status=already_prepared owner={token} status=active stage=fast elapsed=60 ")
    head, _, prompt = first.out.partition("--- scheduled-task-prompt ---\n")
    assert head.count("\n") == 1
    assert prompt == again.out.partition("--- scheduled-task-prompt ---\n")[2] == _monitor(desk, "prompt", ROLE).out


def test_the_prompt_says_what_to_do_in_what_sequence_and_what_never(desk: Cast) -> None:
    text = _monitor(desk, "prepare", ROLE).out
    token = _pairs(text)["owner"]
    check, inbox = f"monitor check {ROLE} --owner {token}", f"inbox {ROLE}"
    delivered, scheduled = f"monitor delivered {ROLE} MAX_ID --owner {token}", f"monitor scheduled {ROLE} NEXT_INTERVAL"
    places = [text.index(words) for words in (check, "idle, waiting, not_due", inbox, delivered, scheduled)]
    assert places == sorted(places)
    for word in ("second", "files", "relay", "launchd", "cron", "background", "exec resume", "restart the app"):
        assert word in text[text.index("Whatever happens:") :]


def test_c1_a_second_session_is_refused_with_the_holder_and_exit_code_4(desk: Cast) -> None:
    assert _monitor(desk, "arm", ROLE).code == 0
    before = _monitor(desk, "status", ROLE, "--json").json
    answer = _monitor(desk, "arm", ROLE, by=WORKER)
    assert (answer.code, answer.out) == (4, f"status=held owner={PLANNER}\n")
    assert "is held by session planner" in answer.err
    assert _monitor(desk, "status", ROLE, "--json").json == before


def test_an_event_monitor_answers_in_the_words_of_the_lease(desk: Cast) -> None:
    armed = _pairs(_monitor(desk, "arm", ROLE, "--ttl", "3600", "--now", "1000").out)
    assert (armed["status"], armed["team"], armed["name"], armed["thread"]) == ("active", "team", "alice", PLANNER)
    assert (armed["heartbeat_automation_id"], armed["watchdog_automation_id"]) == ("none", "none")
    assert (armed["adapter"], armed["expires_at"]) == ("codex-queue", "4600")
    idle = _monitor(desk, "claim", ROLE, "--now", "1001")
    assert (idle.code, idle.out) == (2, "status=idle\n")
    desk.by(WORKER, "post", ROLE, "Look at the parser.")
    assert _monitor(desk, "heartbeat", ROLE, "--now", "1010").out == "status=active\n"
    healthy = _monitor(desk, "claim", ROLE, "--fallback-after", "60", "--now", "1069")
    assert (healthy.code, healthy.out) == (2, "status=healthy\n")
    wake = _monitor(desk, "claim", ROLE, "--fallback-after", "60", "--now", "1070")
    assert (wake.code, wake.out) == (
        0,
        f"status=wake count=1 max_id=1 new_message=1 team=team name=alice mailbox={ROLE} thread={PLANNER}\n",
    )
    waiting = _monitor(desk, "claim", ROLE, "--retry-after", "90", "--now", "1100")
    assert (waiting.code, waiting.out) == (2, "status=waiting count=1 max_id=1 new_message=0 retry_in=60\n")
    assert _monitor(desk, "claim", ROLE, "--retry-after", "90", "--now", "1160").out.startswith("status=wake ")
    over = _monitor(desk, "claim", ROLE, "--now", "4611")
    assert (over.code, over.out) == (3, "status=expired\n")
    assert _monitor(desk, "heartbeat", ROLE, "--now", "4612").code == 3


def test_f6_three_failures_are_an_error_until_a_heartbeat(desk: Cast) -> None:
    _monitor(desk, "arm", ROLE, "--now", "1000")
    desk.by(WORKER, "post", ROLE, "Look at the parser.")
    for count, now in enumerate((1000, 1090, 1180), 1):
        assert _monitor(desk, "claim", ROLE, "--now", str(now)).code == 0
        failed = _monitor(desk, "failed", ROLE, "1", "--reason", "no such thread", "--now", str(now))
        assert _pairs(failed.out)["failures"] == str(count)
    assert failed.out == "status=error failures=3 max_id=1\n"
    stuck = _monitor(desk, "claim", ROLE, "--now", "2000")
    assert (stuck.code, _pairs(stuck.out)["status"], _pairs(stuck.out)["detail"]) == (3, "error", '"no such thread"')
    status = _pairs(_monitor(desk, "status", ROLE, "--now", "2000").out)
    assert (status["failures"], status["last_error"], status["mode"]) == ("3", '"no such thread"', "turn")
    assert _monitor(desk, "heartbeat", ROLE, "--now", "2001").out == "status=active\n"
    assert _monitor(desk, "claim", ROLE, "--now", "2002").code == 0


def test_status_tells_queued_noticed_seen_and_acknowledged_apart(desk: Cast) -> None:
    _monitor(desk, "arm", ROLE)
    for number in range(4):
        desk.by(WORKER, "post", ROLE, f"message {number}")
    before = _pairs(_monitor(desk, "status", ROLE).out)
    numbers = ("queued", "noticed", "seen", "acknowledged", "max_id")
    assert [before[one] for one in numbers] == ["4", "0", "0", "0", "4"]
    shown = desk.by(PLANNER, "inbox", ROLE, "--json").json["messages"]
    desk.by(PLANNER, "ack", shown[0]["id"])
    after = _pairs(_monitor(desk, "status", ROLE).out)
    assert [after[one] for one in numbers] == ["0", "0", "3", "1", "0"]


def test_status_says_why_nobody_is_woken(desk: Cast) -> None:
    _monitor(desk, "arm", ROLE)
    status = _monitor(desk, "status", ROLE).out
    assert 'mode=turn reason="no receiver listens; one is: restante monitor run" receiver=none' in status


def test_status_of_all_names_each_and_counts_the_active_ones(desk: Cast) -> None:
    desk.by(WORKER, "join", OTHER)
    _monitor(desk, "arm", ROLE)
    _monitor(desk, "arm", OTHER, by=WORKER)
    lines = _monitor(desk, "status", by="").out.splitlines()
    assert [_pairs(line).get("identity") for line in lines] == [ROLE, OTHER, None]
    assert lines[-1] == "status=active count=2"


def test_e1_stopping_again_is_a_success_and_the_modes_off_and_turn_stop(desk: Cast) -> None:
    for words in (("stop", ROLE), ("mode", "off", ROLE), ("mode", "turn", ROLE)):
        assert _monitor(desk, "mode", "monitor", ROLE).code == 0
        assert _monitor(desk, *words).code == 0
        again = _monitor(desk, *words)
        assert again.code == 0
        assert again.out.startswith("status=inactive")
        assert _monitor(desk, "claim", ROLE).code == 3


def test_e4_ids_of_tasks_are_printed_once(desk: Cast) -> None:
    _monitor(desk, "arm", ROLE)
    assert _monitor(desk, "automation", ROLE, "hb-1", "wd-1").out == "status=active automation_ids=hb-1,wd-1\n"
    armed = _pairs(_monitor(desk, "arm", ROLE).out)
    assert (armed["heartbeat_automation_id"], armed["watchdog_automation_id"]) == ("hb-1", "wd-1")
    assert _monitor(desk, "stop", ROLE).out == "status=inactive schedule_action=pause automation_ids=hb-1,wd-1\n"
    assert _monitor(desk, "stop", ROLE).out == "status=inactive schedule_action=pause\n"


def test_e4_so_are_they_by_drop(desk: Cast) -> None:
    _monitor(desk, "arm", ROLE)
    _monitor(desk, "automation", ROLE, "hb-1")
    assert "hb-1" in desk.by(PLANNER, "drop", ROLE).err
    assert "hb-1" not in desk.by(PLANNER, "drop", ROLE).err
    assert _monitor(desk, "status").out == "status=inactive count=0\n"


def test_a_worktree_is_reset_at_once(desk: Cast, worktree: Path) -> None:
    _monitor(desk, "arm", ROLE)
    _monitor(desk, "arm", "worktree:.")
    assert f"mailbox=worktree:{worktree}" in _monitor(desk, "status", "worktree:.").out
    answer = _monitor(desk, "stop", "--worktree", by="")
    assert (answer.code, answer.out) == (0, "status=inactive\n" * 2)
    again = _monitor(desk, "stop", "--worktree", by="")
    assert (again.code, again.out) == (0, "status=inactive stopped=0 schedule_action=pause\n")


@pytest.mark.parametrize(
    "words",
    [
        ("arm", "not an address"),
        ("arm", ROLE, "--adapter", "telepathy"),
        ("arm", ROLE, "--ttl", "soon"),
        ("check", ROLE, "--now", "yesterday"),
        ("check", ROLE, "--now", "2026-05-20T15:30:00"),
        ("delivered", ROLE, "many"),
        ("scheduled", ROLE, "77"),
        ("stop",),
        ("stop", ROLE, "--worktree"),
        ("mode", "loud", ROLE),
    ],
)
def test_what_is_malformed_ends_with_64(desk: Cast, words: tuple[str, ...]) -> None:
    _monitor(desk, "arm", ROLE)
    answer = _monitor(desk, *words)
    assert (answer.code, answer.out) == (64, "")
    assert answer.err.startswith("error: ")


def test_a_time_may_be_given_in_either_form(desk: Cast) -> None:
    _monitor(desk, "arm", ROLE, "--scheduled", "--now", "1000")
    for now in ("2800", "1970-01-01T00:46:40Z", "1970-01-01T01:46:40+01:00"):
        assert _pairs(_monitor(desk, "status", ROLE, "--now", now).out)["elapsed"] == "1800"


@pytest.mark.slow
def test_a_database_that_is_in_use_is_busy_and_75(desk: Cast, tmp_path: Path) -> None:
    _monitor(desk, "arm", ROLE)
    other = sqlite3.connect(tmp_path / "data" / "teams.db", isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        answer = _monitor(desk, "claim", ROLE)
        assert (answer.code, answer.out) == (75, "status=busy\n")
        assert json.loads(_monitor(desk, "claim", ROLE, "--json").out) == {"status": "busy"}
    finally:
        other.close()


@pytest.mark.parametrize(
    "words",
    [
        ("check", ROLE, "--no-such-option"),
        ("check",),
        ("check", ROLE, "--owner"),
        ("delivered", ROLE),
        ("delivered", ROLE, "many"),
        ("chek", ROLE),
        ("check", ROLE, "--now", "soon"),
    ],
    ids=" ".join,
)
def test_what_is_malformed_is_never_taken_for_nothing_to_do_now(desk: Cast, words: tuple[str, ...]) -> None:
    answer = _monitor(desk, *words)
    assert (answer.code, answer.out) == (64, "")
    assert "error: " in answer.err
    told = _monitor(desk, *words, "--json")
    assert (told.code, json.loads(told.err)["error"]["code"]) == (64, "usage")


def test_every_answer_is_as_its_schema_says(desk: Cast) -> None:
    def ask(name: str, *words: str) -> object:
        answer = _monitor(desk, name, *words, "--json")
        document = json.loads(answer.out)
        jsonschema.Draft202012Validator(MONITOR_SCHEMAS[f"monitor {name}"]).validate(document)
        asked.add(f"monitor {name}")
        return document

    asked: set[str] = set()
    ask("check", ROLE)
    ask("status", ROLE)
    ask("prepare", ROLE)
    ask("prompt", ROLE)
    ask("scheduled", ROLE, "900")
    ask("stop", ROLE)
    ask("mode", "monitor", ROLE)
    desk.by(WORKER, "post", ROLE, "Look at the parser.")
    ask("arm", ROLE)
    ask("claim", ROLE)
    ask("failed", ROLE, "1")
    ask("heartbeat", ROLE)
    ask("delivered", ROLE, "1")
    ask("automation", ROLE, "one")
    ask("status")
    ask("mode", "off", ROLE)
    ask("status")
    assert set(MONITOR_SCHEMAS) - asked <= {"monitor run"}


def _files(worktree: Path) -> dict[str, bytes]:
    """Return every file of the worktree but the marks that looking leaves."""
    return {
        str(path.relative_to(worktree)): path.read_bytes()
        for path in sorted(worktree.rglob("*"))
        if path.is_file() and ".restante" not in path.parts
    }


def test_g2_arming_and_the_modes_change_no_byte_of_hooks_and_of_what_a_session_is_told(
    desk: Cast, worktree: Path
) -> None:
    assert desk.by("", "install", "--agent", "codex,claude").code == 0
    desk.by(WORKER, "post", ROLE, "Look at the parser.")
    files = _files(worktree)

    def shown() -> str:
        # But for how long ago it was posted.
        return re.sub(r"\d+ (s|min) ago|just now", "", desk.by(PLANNER, "inbox", "--peek").out)

    told = shown()
    assert "Look at the parser." in told
    for mode in ("monitor", "turn", "monitor", "off"):
        assert _monitor(desk, "mode", mode, ROLE).code == 0
        assert _files(worktree) == files
        assert shown() == told
