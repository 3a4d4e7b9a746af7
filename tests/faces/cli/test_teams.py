"""``join``, ``leave``, ``team``, ``act-as``, ``drop``, ``history``, and what other commands do with a role."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import jsonschema
import pytest

from restante.domain.ids import is_well_formed
from restante.faces.cli.schemas import SCHEMAS
from restante.system.processes import process_of
from restante.wiring.sessions import SessionParts

from .conftest import PLANNER, WORKER
from .served import served

if TYPE_CHECKING:
    from collections.abc import Callable

    from .conftest import Answer, Cast

ROLE = "parser/reviewer"
RESTANTE = [sys.executable, "-I", "-m", "restante"]


@pytest.fixture
def team(cast: Cast) -> Cast:
    """Two roles: the planner holds the writer's, the worker the reviewer's."""
    for session, role in ((PLANNER, "parser/writer"), (WORKER, ROLE)):
        answer = cast.by(session, "join", role)
        assert answer.code == 0, answer.err
    cast.act()
    return cast


def _ids(answer: Answer) -> list[str]:
    assert answer.code == 0, answer.err
    return [copy["message"]["id"] for copy in answer.json["copies"]]


def test_a_list_of_sessions_and_a_watch_tell_the_mail_of_the_roles_that_each_holds(team: Cast) -> None:
    cursor = team.by("", "watch", "--sessions", "--timeout", "0", "--json").json["cursor"]
    _ids(team.by("", "post", ROLE, "token-7f3a", "--json"))
    assert team.by(WORKER, "session", "turn", "ended").code == 0
    listed = team.by("", "ls")
    assert "idle with unread mail: worker (0199bbbb-0000) (1 unseen for parser/reviewer, oldest " in listed.out
    lines = listed.out.splitlines()
    assert lines[0].endswith("UNSEEN FOR ROLES")
    assert {one.split()[0]: one.split()[-1] for one in lines[1:3]} == {"planner": "0", "worker": "1"}
    assert "1 pending, 1 unseen for parser/reviewer" in team.by("", "session", "show", "worker").out
    watched = team.by("", "watch", "--sessions", "--since", cursor, "--timeout", "5", "--json").json
    found = {row["id"]: [(one["role"], one["unseen"]) for one in row["roles"]] for row in watched["sessions"]}
    assert found[WORKER] == [(ROLE, 1)]
    assert "token-7f3a" not in repr((listed, watched))


def test_who_holds_what_is_listed_with_what_waits(team: Cast) -> None:
    team.by("", "join", "parser/tester")
    team.by("", "post", ROLE, "text")
    listed = team.by(WORKER, "team", "parser").out.splitlines()
    assert listed[0].split() == ["ROLE", "HELD", "BY", "SINCE", "HEARD", "OF", "PENDING", "UNSEEN"]
    assert listed[1].startswith(f"* {ROLE}  worker (0199bbbb-0000)")
    assert listed[1].split()[-2:] == ["1", "1"]
    assert listed[2].startswith("parser/tester      nobody ")
    assert listed[3].startswith("parser/writer      planner (0199aaaa-0000)")
    roles = team.by("", "team", "--json").json["roles"]
    assert [(one["role"], one["session"], one["held"], one["generation"]) for one in roles] == [
        (ROLE, WORKER, True, 1),
        ("parser/tester", None, False, 0),
        ("parser/writer", PLANNER, True, 1),
    ]


def test_without_teams_it_says_how_one_begins(cast: Cast) -> None:
    answer = cast.by("", "team")
    assert (answer.code, answer.out) == (0, "no teams\n")
    assert "restante join TEAM/ROLE" in answer.err
    assert cast.by("", "team", "nobody").code == 3
    assert not (Path(os.environ["RESTANTE_DATA"]) / "teams.db").exists()


def test_a_post_to_a_role_says_who_holds_it_and_as_whom_it_was_sent(team: Cast) -> None:
    answer = team.by(PLANNER, "post", ROLE, "Look", "at", "the", "lexer.")
    assert answer.code == 0
    assert f"to {ROLE}, held by worker (0199bbbb-0000)" in answer.out
    assert f"sent as: session:{PLANNER} (verified)" in answer.out
    assert "next: restante receipts " in answer.err
    team.by(WORKER, "drop", ROLE)
    assert f"to {ROLE}, held by nobody: it waits" in team.by("", "send", "--to", ROLE, "text").out


def test_an_unknown_role_is_refused_with_near_names(team: Cast) -> None:
    for words in (("post", "parser/Reviewr", "text"), ("send", "--to", "parser/Reviewr", "text")):
        answer = team.by("", *words)
        assert answer.code == 3
        assert f"no role parser/Reviewr; there is {ROLE}" in answer.err
    assert team.by("", "post", "a b/c", "text").code == 2


def test_a_session_that_is_named_like_a_role_is_still_written_to(team: Cast) -> None:
    team.by(WORKER, "session", "rename", "feature/login")
    answer = team.by(PLANNER, "post", "feature/login", "text")
    assert answer.code == 0
    assert "to feature/login (0199bbbb-0000)" in answer.out


def test_plain_inbox_ack_and_reply_include_the_mail_of_held_roles(team: Cast, sent: Callable[..., str]) -> None:
    here = sent("for the worktree")
    own = team.post(PLANNER, "worker", "for the session")
    (of_role,) = _ids(team.by(PLANNER, "post", ROLE, "for the role", "--json"))
    shown = team.by(WORKER, "inbox").out
    for message, where in ((here, "this worktree"), (own, "this session"), (of_role, ROLE)):
        assert f"{message} to {where}, from " in shown
    assert "replied msg_" in team.by(WORKER, "reply", of_role, "which one?").out
    assert [one["body"] for one in team.by(PLANNER, "inbox", "--json").json["messages"]][-1] == "which one?"
    answer = team.by(WORKER, "ack", of_role, own, here, "--decision", "accepted", "--action", "applied")
    assert answer.code == 0
    assert "no mail waits" in answer.out
    states = {one["messageId"]: one["state"] for one in team.by(PLANNER, "receipts", "--json").json["receipts"]}
    assert states == {of_role: "acknowledged", own: "acknowledged"}


def test_the_mail_of_one_role_is_read_by_its_holder_looked_at_by_a_person_and_refused_to_others(team: Cast) -> None:
    (message,) = _ids(team.by("", "post", ROLE, "text", "--json"))
    look = team.by("", "inbox", ROLE)
    assert (look.code, "text" in look.out, "restante ack" in look.out) == (0, True, False)
    assert f"to {ROLE}, a look: nothing was marked" in look.err
    refused = team.by(PLANNER, "inbox", ROLE)
    assert (refused.code, refused.out) == (4, "")
    assert f"{ROLE} is held by session worker ({WORKER})" in refused.err
    assert team.by("", "status", ROLE).out == f"{ROLE}: 1 queued, 0 noticed, 0 seen, 0 acknowledged\n"
    assert "restante ack" in team.by(WORKER, "inbox", ROLE).out
    assert team.by("", "status", ROLE).out == f"{ROLE}: 0 queued, 0 noticed, 1 seen, 0 acknowledged\n"
    assert team.by(WORKER, "ack", message[-8:]).code == 0
    assert team.by("", "status", ROLE, "--json").json == {
        "role": ROLE,
        "tally": {"queued": 0, "noticed": 0, "seen": 0, "acknowledged": 1},
    }
    assert f"{ROLE}: 0 queued, 0 noticed, 0 seen, 1 acknowledged\n" in team.by(WORKER, "status").out
    assert team.by(WORKER, "inbox", ROLE, "--session", "planner").code == 2


def test_after_a_takeover_every_act_of_the_old_holder_is_refused_with_who_holds_it(team: Cast) -> None:
    (message,) = _ids(team.by("", "post", ROLE, "text", "--json"))
    assert "text" in team.by(WORKER, "inbox").out
    assert f"took {ROLE} from {WORKER}" in team.by("", "drop", ROLE).out
    team.by(PLANNER, "act-as", ROLE)
    for words in (
        ("ack", message),
        ("ack", message[-8:]),
        ("ack", "--through", message),
        ("reply", message, "text"),
        ("inbox", ROLE),
        ("act-as", ROLE),
        ("drop", ROLE),
        ("leave", ROLE),
        ("watch", ROLE, "--timeout", "0.1"),
    ):
        refused = team.by(WORKER, *words)
        assert refused.code == 4, words
        assert f"held by session planner ({PLANNER})" in refused.err
    assert team.by(WORKER, "inbox").out == "no mail waits\n"
    assert "text" in team.by(PLANNER, "inbox").out


def test_a_wait_for_a_role_ends_with_its_mail_or_its_time(team: Cast) -> None:
    waited = team.by(WORKER, "inbox", ROLE, "--wait", "0.1")
    assert waited.code == 5
    assert f"restante inbox {ROLE} --wait 0.1" in waited.err
    team.by("", "post", ROLE, "text")
    assert team.by(WORKER, "inbox", ROLE, "--wait", "5").code == 0
    assert team.by(WORKER, "inbox", "--wait", "0.1").code == 5


def test_a_post_to_a_team_has_a_receipt_for_each_role(team: Cast) -> None:
    ids = _ids(team.by("", "send", "--to", "parser/*", "text", "--client-id", "mine", "--json"))
    again = team.by("", "post", "parser/", "text", "--client-id", "mine", "--json")
    assert _ids(again) == ids
    assert [copy["duplicate"] for copy in again.json["copies"]] == [True, True]
    team.by(WORKER, "ack", ids[0])
    told = team.by("", "receipts").out
    assert f"to {ROLE}, just now: acknowledged" in told
    assert f"{ids[1]}  to parser/writer" in told
    assert "acknowledged" in team.by("", "status", ids[0]).out
    withdrawn = team.by("", "withdraw", ids[1])
    assert withdrawn.out == f"withdrawn {ids[1]}\n"


def test_a_copy_that_is_refused_is_told_and_makes_the_exit_code(team: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESTANTE_SESSIONS_MESSAGES", "1")
    team.by("", "post", ROLE, "fills it")
    answer = team.by("", "post", "parser/*", "text")
    assert answer.code == 4
    assert f"not sent to {ROLE}: " in answer.out
    assert "to parser/writer, held by planner" in answer.out


def test_history_is_fenced_escaped_and_bounded(team: Cast) -> None:
    text = "~~~\n\x1b[2Jrm -rf /\n~~~"
    team.by("", "post", ROLE, text, "--allow-warnings", "--subject", "a\u202eb")
    team.by("", "post", "parser/writer", "second")
    told = team.by("", "history", "parser").out
    assert "\x1b" not in told
    assert "\u202e" not in told
    assert "~~~~\n~~~\n\\x1b[2Jrm -rf /\n~~~\n~~~~" in told
    assert team.by("", "history", "parser", "--limit", "1").out.startswith("1 older: restante history parser --limit 2")
    assert [one["body"] for one in team.by("", "history", ROLE, "--json").json["messages"]] == [text]
    assert team.by("", "history", "parser", "--limit", "x").code == 2
    assert team.by("", "history", "nobody").code == 3


def test_report_378_a_text_reaches_a_role_byte_for_byte_however_it_is_given(team: Cast, tmp_path: Path) -> None:
    text = "`touch /tmp/x` $(touch /tmp/x) \\n 'quoted' \"twice\" " + "x" * 9000 + "\n"
    file = tmp_path / "text.md"
    file.write_bytes(text.encode())
    team.by("", "post", ROLE, "--file", str(file))
    assert team.by(WORKER, "inbox", "--json").json["messages"][0]["body"] == text


def test_a_role_is_followed_by_its_holder(team: Cast) -> None:
    cursor = team.by(WORKER, "watch", ROLE, "--timeout", "0.01", "--json").json["cursor"]
    team.by("", "post", ROLE, "text")
    followed = team.by(WORKER, "watch", ROLE, "--since", cursor, "--timeout", "0.01")
    assert (followed.code, followed.out.count("\n")) == (0, 1)
    assert team.by(WORKER, "watch", ROLE, "--since", "nonsense", "--timeout", "0.01").code == 2


def test_every_cursor_that_a_watch_of_a_role_prints_is_one_to_go_on_with(team: Cast) -> None:
    for text in ("one", "two"):
        assert team.by(PLANNER, "post", ROLE, text).code == 0
    told = team.by(WORKER, "watch", ROLE, "--since", "start", "--timeout", "0.01", "--json")
    cursors = [json.loads(line)["cursor"] for line in told.out.splitlines()]
    assert len(cursors) >= 3
    for cursor in cursors:
        assert team.by(WORKER, "watch", ROLE, "--since", cursor, "--timeout", "0.01").code in (0, 5)


def test_a_plain_watch_of_a_session_tells_of_its_roles_too(team: Cast, sent: Callable[..., str]) -> None:
    ended = team.by(WORKER, "watch", "--timeout", "0.01", "--json")
    cursor = ended.json["cursor"]
    assert f",{ROLE}=" in cursor
    team.act()
    here = sent("here")
    (of_role,) = _ids(team.by("", "post", ROLE, "of the role", "--json"))
    told = team.by(WORKER, "watch", "--since", cursor, "--timeout", "0.01")
    assert told.code == 0
    lines = told.out.splitlines()
    assert [line.startswith(f"{ROLE}: ") for line in lines] == [False, True]
    assert here[-8:] in lines[0]
    assert of_role[-8:] in lines[1]
    again = team.by(WORKER, "watch", "--since", told.err.split("--since ")[1].strip(), "--timeout", "0.01")
    assert (again.code, again.out) == (5, "")
    assert team.by("", "watch", "--since", cursor, "--timeout", "0.01").out.count("\n") == 1
    assert team.by(WORKER, "watch", "--since", "nonsense,x", "--timeout", "0.01").code == 2
    everything = team.by(WORKER, "watch", "--since", "start", "--timeout", "0.01", "--json")
    assert everything.out.count('"posted"') == 2


def test_report_92_a_role_joined_in_a_directory_below_works_in_the_worktree(team: Cast, worktree: Path) -> None:
    (worktree / "src").mkdir()
    assert team.by(WORKER, "join", "parser/below", "-C", str(worktree / "src"), "--json").json["role"][
        "worktree"
    ] == str(worktree)


def test_outside_of_worktrees_roles_are_used_too(team: Cast, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert team.by("", "send", "--to", ROLE, "text").code == 0
    assert "text" in team.by(WORKER, "inbox").out
    assert team.by(WORKER, "join", "other/role").code == 0


def test_every_answer_is_as_its_schema_says(team: Cast) -> None:
    for session, *words in (
        ("", "join", "parser/tester"),
        (WORKER, "act-as", ROLE),
        ("", "team"),
        ("", "post", "parser/*", "text"),
        ("", "send", "--to", ROLE, "text"),
        ("", "status", ROLE),
        ("", "history", "parser"),
        (WORKER, "inbox", ROLE),
        (WORKER, "inbox"),
        (WORKER, "drop", ROLE),
        (WORKER, "drop", ROLE),
        ("", "leave", "parser/tester"),
    ):
        answer = team.by(session, *words, "--json")
        assert answer.code == 0, answer.err
        jsonschema.Draft202012Validator(SCHEMAS[words[0]]).validate(answer.json)
    refused = team.by(PLANNER, "inbox", ROLE, "--json")
    assert '"code": "role_held"' in refused.err


def test_a_server_of_this_machine_changes_nothing_about_roles(team: Cast) -> None:
    with served():
        (message,) = _ids(team.by(PLANNER, "post", ROLE, "text", "--json"))
        assert team.by(PLANNER, "inbox", ROLE).code == 4
        assert "text" in team.by(WORKER, "inbox").out
        assert team.by(WORKER, "ack", message).code == 0
    assert team.by(PLANNER, "receipts", "--json").json["receipts"][0]["state"] == "acknowledged"


def _run(words: list[str], session: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*RESTANTE, *words],
        env={**os.environ, "CODEX_THREAD_ID": session, **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def _race(count: int) -> list[int]:
    """Let so many processes take the role at once; return their exit codes."""
    sessions = [f"session-{number:08}" for number in range(count)]
    with ThreadPoolExecutor(count) as pool:
        done = list(pool.map(lambda session: _run(["act-as", ROLE], session), sessions))
    assert all(one.returncode == 0 or "is held by session session-" in one.stderr for one in done), done
    return [one.returncode for one in done]


@pytest.mark.parametrize("count", [6, pytest.param(50, marks=pytest.mark.slow)])
def test_c2_of_many_processes_that_take_a_role_at_once_one_wins(cast: Cast, count: int) -> None:
    cast.by("", "join", ROLE)
    for session in range(count):
        assert cast.by(f"session-{session:08}", "session", "start").code == 0
    cast.act()
    assert sorted(_race(count)) == [0] + [4] * (count - 1)
    assert cast.by("", "drop", ROLE).code == 0
    assert sorted(_race(count)) == [0] + [4] * (count - 1)
    assert cast.by("", "team", "--json").json["roles"][0]["generation"] == 2


def test_report_114_of_many_posts_at_once_none_is_lost_and_none_doubled(team: Cast) -> None:
    with ThreadPoolExecutor(8) as pool:
        done = list(
            pool.map(
                lambda number: _run(["post", ROLE, f"text {number}", "--client-id", f"{number // 2}"], ""), [0, 2, 4, 6]
            )
        )
        again = list(
            pool.map(
                lambda number: _run(["post", ROLE, f"text {number}", "--client-id", f"{number // 2}"], ""), [0, 2, 4, 6]
            )
        )
    assert {one.returncode for one in (*done, *again)} == {0}, [one.stderr for one in (*done, *again)]
    assert sorted(one["body"] for one in team.by(WORKER, "inbox", "--json").json["messages"]) == [
        "text 0",
        "text 2",
        "text 4",
        "text 6",
    ]


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")
@pytest.mark.parametrize("end", ["killed", "recycled"])
def test_c3_a_crashed_holder_is_followed_by_another_and_cannot_act_any_more(cast: Cast, end: str) -> None:
    """Its process is gone; or its number is another process's, which began at another time."""
    with subprocess.Popen(["sleep", "300"]) as program:
        parts = SessionParts(dict(os.environ))
        process = process_of(program.pid)
        if end == "recycled":
            process = process._replace(started=f"{process.started.rpartition('.')[0]}.1")
        from restante.domain.registry import Arrival, Claim
        from restante.exchange import Exchange
        from restante.system.secrets import digest, session_secret

        secret = session_secret(os.environ["RESTANTE_DATA"], "crashed-session")
        exchange = Exchange(parts)
        arrival = Arrival("crashed-session", "codex", "", "", "", process, digest(secret))
        exchange.window(exchange.identify(Claim())).register(arrival)
        exchange.close()
        try:
            joined = _run(["join", ROLE], "crashed-session")
            assert joined.returncode == 0, joined.stderr
            if end == "killed":
                assert _run(["act-as", ROLE], WORKER).returncode == 4
                program.send_signal(signal.SIGKILL)
                program.wait()
        finally:
            program.kill()
    (message,) = _ids(cast.by("", "post", ROLE, "text", "--json"))
    assert cast.by(WORKER, "act-as", ROLE, "--json").json["role"]["generation"] == 2
    for words in (["inbox", ROLE], ["ack", message], ["act-as", ROLE]):
        refused = _run(words, "crashed-session")
        assert refused.returncode == 4, (words, refused.stdout, refused.stderr)
    assert is_well_formed(message, "msg")
    assert "text" in cast.by(WORKER, "inbox").out


def test_a_server_elsewhere_keeps_the_roles_and_their_mail(
    cast: Cast, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with served() as url:
        token = Path(os.environ["RESTANTE_DATA"], "person").read_bytes()
        here = tmp_path / "another machine"
        here.mkdir(mode=0o700)
        (here / "person").write_bytes(token)
        (here / "person").chmod(0o600)
        theirs = os.environ["RESTANTE_DATA"]
        monkeypatch.setenv("RESTANTE_DATA", str(here))
        monkeypatch.setenv("RESTANTE_SERVER_URL", url)
        planner, worker = "0199cccc-0000-7000-8000-00000000000c", "0199dddd-0000-7000-8000-00000000000d"
        cast.enter(planner, "far planner")
        cast.enter(worker, "far worker")
        assert cast.by(worker, "join", ROLE).code == 0
        assert cast.by("", "join", "parser/tester").code == 0
        (message,) = _ids(cast.by(planner, "post", ROLE, "Look.", "--json"))
        own = cast.post(planner, "far worker", "own")
        assert len(_ids(cast.by("", "send", "--to", "parser/*", "all", "--json"))) == 2
        refused = cast.by(planner, "inbox", ROLE)
        assert (refused.code, "held by session far worker" in refused.err) == (4, True)
        assert cast.by(planner, "ack", message).code == 4
        shown = cast.by(worker, "inbox")
        assert f"{message} to {ROLE}, from far planner (session:0199cccc…, verified)" in shown.out
        assert f"{own} to this session" in shown.out
        assert cast.by("", "status", ROLE).out == f"{ROLE}: 0 queued, 0 noticed, 2 seen, 0 acknowledged\n"
        assert cast.by(worker, "ack", message, own).code == 0
        states = [one["state"] for one in cast.by(planner, "receipts", message, own, "--json").json["receipts"]]
        assert states == ["acknowledged", "acknowledged"]
        assert cast.by(worker, "inbox", ROLE, "--wait", "0.1").code == 5
        assert cast.by(worker, "watch", ROLE, "--timeout", "0.1").code == 4
        assert "all" in cast.by("", "history", "parser").out
        assert cast.by(worker, "drop", ROLE).code == 0
        assert cast.by(planner, "act-as", ROLE).code == 0
        for words in (("ack", message), ("reply", message, "text"), ("inbox", ROLE)):
            assert cast.by(worker, *words).code == 4, words
        assert cast.by("", "leave", "parser/tester").code == 0
        roles = cast.by("", "team", "--json").json["roles"]
        assert [(one["role"], one["session"], one["generation"]) for one in roles] == [(ROLE, planner, 2)]
        assert not (here / "teams.db").exists()
        assert Path(theirs, "teams.db").exists()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_report_13_what_could_not_be_shown_is_not_seen(team: Cast) -> None:
    team.by("", "post", ROLE, "text")
    for words in (["inbox"], ["inbox", ROLE]):
        with Path("/dev/full").open("wb") as full:
            done = subprocess.run(
                [*RESTANTE, *words],
                env={**os.environ, "CODEX_THREAD_ID": WORKER},
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                timeout=60,
                check=False,
            )
        assert done.returncode == 1, done.stderr
        assert team.by("", "status", ROLE).out == f"{ROLE}: 1 queued, 0 noticed, 0 seen, 0 acknowledged\n"


def test_report_366_a_session_inside_another_one_is_shown_and_takes_nothing(
    team: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An agent program that a tool of the holder started in the same worktree has the holder's environment, too."""
    team.by("", "post", ROLE, "text")
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "inner-session")
    team.act(WORKER)
    for words, code in ((("inbox", ROLE), 4), (("act-as", ROLE), 4), (("drop", ROLE), 4), (("history", ROLE), 4)):
        assert team.restante(*words).code == code, words
    monkeypatch.delenv("CLAUDE_CODE_SESSION_ID")
    assert team.by("", "status", ROLE).out == f"{ROLE}: 1 queued, 0 noticed, 0 seen, 0 acknowledged\n"


def _of_program(program: Path, line: str) -> subprocess.Popen[str]:
    """Run a line of the shell below a process that has an agent program's name."""
    command = f"{line}; code=$?; echo ended $code; read -r _; exit $code"
    return subprocess.Popen(
        [str(program), "-c", command],
        env={**os.environ, "CODEX_THREAD_ID": "one-session"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _until_ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    said = ""
    assert process.stdout
    for line in process.stdout:
        if line.startswith("ended "):
            return int(line.split()[1]), said
        said += line
    raise AssertionError(said)


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")
def test_report_93_a_session_that_is_continued_in_a_second_terminal_acts_as_its_roles_in_the_first_only(
    cast: Cast, tmp_path: Path
) -> None:
    program = tmp_path / "codex"
    program.symlink_to(shutil.which("sh") or "/bin/sh")
    restante = f"'{sys.executable}' -I -m restante"
    cast.act()
    with _of_program(program, f"{restante} join {ROLE}") as first:
        try:
            assert _until_ended(first)[0] == 0
            cast.by("", "post", ROLE, "text")
            with _of_program(program, f"{restante} inbox {ROLE}") as second:
                code, said = _until_ended(second)
                second.communicate("\n", timeout=20)
            assert code == 4, said
            assert "another process of it asks" in said
        finally:
            first.communicate("\n", timeout=20)
    # The first terminal is closed: the session goes on in the next one, as what it was.
    with _of_program(program, f"{restante} inbox {ROLE}") as third:
        code, said = _until_ended(third)
        third.communicate("\n", timeout=20)
    assert code == 0, said
    assert "text" in said
    assert cast.by("", "team", "--json").json["roles"][0]["generation"] == 1
