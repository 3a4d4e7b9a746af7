"""The checkpoint's entry: the programs' hook contract, and whatever else may stand on standard input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.trying import examples

from restante import Draft, open_office
from restante.agents.codex import digest_of
from restante.faces.hook import answer

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    """An empty repository."""
    place = tmp_path / "repo"
    (place / ".git").mkdir(parents=True)
    (place / "deep" / "er").mkdir(parents=True)
    return place


def _send(worktree: Path, text: str = "Leave auth alone.") -> str:
    return open_office(str(worktree), environment={}).send(Draft(text)).posted.message.id


def _status(worktree: Path, message: str) -> Any:
    return open_office(str(worktree), environment={}).case(message).entry.standing


def _ask(worktree: Path, event: str, *, agent: str = "codex", now: str = "", **payload: object) -> Any:
    payload = {"session_id": "s1", "cwd": str(worktree), "hook_event_name": event, **payload}
    environment = {"RESTANTE_WORKTREE": str(worktree)} | ({"RESTANTE_NOW": now} if now else {})
    output = answer(agent, event, json.dumps(payload).encode(), environment)
    return json.loads(output) if output else None


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "PostToolUse"])
def test_mail_is_added_to_the_context_in_the_form_both_programs_take(worktree: Path, event: str) -> None:
    _send(worktree)
    output = _ask(worktree, event)
    assert list(output) == ["hookSpecificOutput"]
    assert list(output["hookSpecificOutput"]) == ["hookEventName", "additionalContext"]
    assert output["hookSpecificOutput"]["hookEventName"] == event
    assert "~~~\nLeave auth alone.\n~~~" in output["hookSpecificOutput"]["additionalContext"]


def test_an_end_is_held_with_a_reason_and_nothing_else(worktree: Path) -> None:
    _send(worktree)
    output = _ask(worktree, "Stop", stop_hook_active=False)
    assert list(output) == ["decision", "reason"]
    assert output["decision"] == "block"
    assert "Leave auth alone." in output["reason"]
    for _ in range(3):
        assert _ask(worktree, "Stop", stop_hook_active=True) is None


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"])
def test_without_mail_there_is_no_output(worktree: Path, event: str) -> None:
    assert _ask(worktree, event) is None


def test_a_subagents_checkpoint_is_none_and_leaves_the_mail_to_the_main_loop(worktree: Path) -> None:
    message = _send(worktree)
    assert _ask(worktree, "PostToolUse", agent_id="a1", agent_type="x") is None
    assert _ask(worktree, "PostToolUse", agent_id="unknown") is None
    assert _ask(worktree, "SubagentStop", agent_id="a1") is None
    standing = _status(worktree, message)
    assert (standing.status, standing.noticed_at) == ("unseen", None)
    assert _ask(worktree, "PostToolUse") is not None


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact", "fork", "teleport"])
def test_a_session_start_from_whatever_source_shows_what_waits(worktree: Path, source: str) -> None:
    _send(worktree)
    _ask(worktree, "PostToolUse")
    assert _ask(worktree, "SessionStart", source=source) is not None


def test_a_new_session_id_without_a_session_start_is_served(worktree: Path) -> None:
    _send(worktree)
    assert _ask(worktree, "UserPromptSubmit", session_id="s1") is not None
    assert _ask(worktree, "UserPromptSubmit", session_id="s2") is not None
    assert _ask(worktree, "SessionEnd", session_id="s1", reason="clear") is None
    assert _ask(worktree, "UserPromptSubmit", session_id="s2") is None


@pytest.mark.parametrize(
    "events",
    [
        [("SessionEnd", "a"), ("SessionStart", "b"), ("UserPromptSubmit", "b")],
        [("UserPromptSubmit", "b"), ("PostToolUse", "b")],
        [("SessionStart", "b"), ("SessionEnd", "a"), ("UserPromptSubmit", "b"), ("PostToolUse", "b")],
        [("SessionEnd", "b"), ("SessionEnd", "a"), ("PostToolUse", "b"), ("UserPromptSubmit", "b")],
    ],
)
def test_after_clear_the_new_session_is_shown_the_mail_once_whatever_events_come(
    worktree: Path, events: list[tuple[str, str]]
) -> None:
    message = _send(worktree)
    assert _ask(worktree, "PostToolUse", session_id="a") is not None
    outputs = [_ask(worktree, event, session_id=session, source="clear") for event, session in events]
    assert [session for (_, session), output in zip(events, outputs, strict=True) if output] == ["b"]
    assert message in _ask(worktree, "Stop", session_id="b")["reason"]
    assert _ask(worktree, "Stop", session_id="b", stop_hook_active=True) is None


def test_another_sessions_checkpoints_leave_a_sessions_own_state_alone(worktree: Path) -> None:
    _send(worktree)
    _ask(worktree, "PostToolUse", session_id="a")
    pages = worktree / ".codex-mailbox" / ".restante" / "sessions"
    page = (pages / "a.json").read_bytes()
    for event in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"):
        _ask(worktree, event, session_id="b", source="fork")
    assert (pages / "a.json").read_bytes() == page
    assert [path.name for path in pages.glob("*.json")] == ["a.json"]


@pytest.mark.parametrize("variable", ["CODEX_THREAD_ID", "CLAUDE_CODE_SESSION_ID"])
def test_a_run_beside_the_session_or_one_that_opts_in_is_served(worktree: Path, variable: str) -> None:
    _send(worktree)
    for session, more in (
        ("own", {variable: "own"}),
        ("plain", {}),
        ("nested", {variable: "outer", "RESTANTE_NESTED": "1"}),
    ):
        payload = json.dumps({"session_id": session, "hook_event_name": "PostToolUse"}).encode()
        assert answer("claude", "PostToolUse", payload, {"RESTANTE_WORKTREE": str(worktree), **more})


def test_a_run_nested_in_another_session_gets_nothing_and_leaves_nothing(worktree: Path) -> None:
    message = _send(worktree)
    before = sorted(path for path in (worktree / ".codex-mailbox").rglob("*") if path.name != "index.json")
    for event in ("SessionStart", "PostToolUse", "Stop", "SessionEnd"):
        payload = json.dumps({"session_id": "b", "hook_event_name": event}).encode()
        for variable in ("CODEX_THREAD_ID", "CLAUDE_CODE_SESSION_ID"):
            assert answer("claude", event, payload, {"RESTANTE_WORKTREE": str(worktree), variable: "a"}) == b""
    assert sorted(path for path in (worktree / ".codex-mailbox").rglob("*") if path.name != "index.json") == before
    assert _status(worktree, message).noticed_at is None
    assert _ask(worktree, "PostToolUse", session_id="a") is not None


def _start(*words: str, env: dict[str, str], data: bytes = b"", **more: Any) -> subprocess.CompletedProcess[bytes]:
    """Start a checkpoint as the guard does."""
    return subprocess.run(
        [sys.executable, "-I", "-c", "from restante.faces.hook import main; main()", *words],
        env=env,
        input=data,
        timeout=60,
        **({"capture_output": True} | more),
    )


PAYLOAD = b'{"session_id": "s1", "hook_event_name": "PostToolUse"}'


@pytest.mark.parametrize("root", ["", "/nonexistent", "/dev/null", "relative", None])
def test_a_worktree_that_is_missing_or_gone_is_silent_and_told_to_whoever_looks_for_it(root: str | None) -> None:
    env = {} if root is None else {"RESTANTE_WORKTREE": root}
    done = _start("codex", "PostToolUse", env=env, data=PAYLOAD)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    told = _start("codex", "PostToolUse", env=env | {"RESTANTE_DEBUG": "1"}, data=PAYLOAD)
    assert (told.returncode, told.stdout) == (0, b"")
    assert (b"Traceback" in told.stderr) is bool(root)


@pytest.mark.parametrize("words", [(), ("codex",)])
def test_missing_arguments_are_silent(worktree: Path, words: tuple[str, ...]) -> None:
    done = _start(*words, env={"RESTANTE_WORKTREE": str(worktree)}, data=PAYLOAD)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_payload_of_20_megabytes_is_read_to_its_end_and_the_mail_is_shown(worktree: Path) -> None:
    _send(worktree)
    payload = {"session_id": "s1", "hook_event_name": "PostToolUse", "tool_response": "x" * 20_000_000}
    # Writing all of it without an error is part of this: a checkpoint that stops reading breaks the pipe.
    done = _start("codex", "PostToolUse", env={"RESTANTE_WORKTREE": str(worktree)}, data=json.dumps(payload).encode())
    assert (done.returncode, done.stderr) == (0, b"")
    assert "Leave auth alone." in json.loads(done.stdout)["hookSpecificOutput"]["additionalContext"]


@pytest.mark.slow
def test_more_than_a_checkpoint_reads_is_still_taken_from_the_program(worktree: Path) -> None:
    read_end, write_end = os.pipe()
    command = [sys.executable, "-I", "-c", "from restante.faces.hook import main; main()", "codex", "PostToolUse"]
    process = subprocess.Popen(command, env={"RESTANTE_WORKTREE": str(worktree)}, stdin=read_end)
    os.close(read_end)
    with os.fdopen(write_end, "wb", buffering=0) as pipe:
        for _ in range(70):
            pipe.write(b" " * 1024 * 1024)
    assert process.wait(60) == 0


def test_a_program_that_does_not_listen_is_no_failure(worktree: Path) -> None:
    _send(worktree)
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = _start(
        "codex",
        "PostToolUse",
        env={"RESTANTE_WORKTREE": str(worktree)},
        data=PAYLOAD,
        capture_output=False,
        stdout=write_end,
        stderr=subprocess.PIPE,
    )
    os.close(write_end)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_standard_streams_are_no_failure_and_what_cannot_be_shown_is_not_noticed(
    worktree: Path, closed: str
) -> None:
    message = _send(worktree)
    code = "from restante.faces.hook import main; main()"
    done = subprocess.run(
        ["sh", "-c", f'exec "$1" -I -c "{code}" codex PostToolUse {closed}', "sh", sys.executable],
        env={"RESTANTE_WORKTREE": str(worktree)},
        input=PAYLOAD,
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert bool(done.stdout) is (closed == "2>&-")
    assert (_status(worktree, message).noticed_at is not None) is (closed == "2>&-")


_HOSTILE = [
    b"",
    b"null",
    b"[]",
    b"3",
    b'"x"',
    b"{",
    b"\xff\xfe",
    b"[" * 100_000,
    b'{"session_id": null}',
    b'{"session_id": ""}',
    b'{"session_id": 3}',
    b'{"session_id": ["x"]}',
    b'{"session_id": "s", "agent_id": {}, "stop_hook_active": "yes", "cwd": 7}',
    b'{"session_id": "../../../../etc/passwd"}',
    b'{"session_id": "\\u0000\\ud800"}',
    b'{"session_id": "' + b"x" * 100_000 + b'"}',
]


@pytest.mark.parametrize("data", _HOSTILE, ids=range(len(_HOSTILE)))
@pytest.mark.parametrize("event", ["PostToolUse", "Stop", "SessionEnd", "Nonsense"])
def test_hostile_input_never_fails_the_turn(worktree: Path, data: bytes, event: str) -> None:
    _send(worktree)
    result = _start("codex", event, env={"RESTANTE_WORKTREE": str(worktree)}, data=data)
    assert (result.returncode, result.stderr) == (0, b"")
    assert not result.stdout or isinstance(json.loads(result.stdout), dict)
    assert sorted(path.name for path in worktree.parent.iterdir()) == ["repo"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(30))
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda below: st.lists(below) | st.dictionaries(st.text(), below),
    )
)
def test_no_json_makes_it_raise(worktree: Path, value: object) -> None:
    for event in ("PostToolUse", "Stop"):
        answer("codex", event, json.dumps(value).encode(), {"RESTANTE_WORKTREE": str(worktree)})


def test_only_one_of_eight_parallel_checkpoints_shows_the_message(worktree: Path) -> None:
    message = _send(worktree)
    payload = json.dumps({"session_id": "s1", "hook_event_name": "PostToolUse"}).encode()
    environment = {"RESTANTE_WORKTREE": str(worktree)}
    command = [sys.executable, "-I", "-c", "from restante.faces.hook import main; main()", "codex", "PostToolUse"]
    processes = [
        subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(8)
    ]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(payload)
        process.stdin.close()
    outputs = []
    for process in processes:
        assert process.stdout is not None
        outputs.append(process.stdout.read())
        process.stdout.close()
        assert process.wait(30) == 0
    assert sum(1 for output in outputs if output) == 1
    standing = _status(worktree, message)
    assert standing.noticed_at is not None
    assert standing.status == "unseen"


def test_after_a_while_an_unanswered_message_comes_once_more_and_then_the_end_is_held_once(worktree: Path) -> None:
    message = _send(worktree)
    assert _ask(worktree, "PostToolUse", now="2126-01-01T00:00:00Z") is not None
    assert _ask(worktree, "PostToolUse", now="2126-01-01T00:09:59Z") is None
    again = _ask(worktree, "PostToolUse", now="2126-01-01T00:10:01Z")
    assert "shown before, not acknowledged" in again["hookSpecificOutput"]["additionalContext"]
    assert message in _ask(worktree, "Stop", now="2126-01-01T00:10:02Z")["reason"]
    assert _ask(worktree, "Stop", now="2126-01-01T00:10:03Z", stop_hook_active=True) is None


_ORIGINAL = {"type": "command", "command": "python3 /opt/codexpigeon_mailbox_hook.py"}


@pytest.mark.parametrize("home", ["trusts", "does not"])
def test_whether_the_original_program_holds_ends_is_read_where_the_hooks_own_environment_says(
    worktree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    _send(worktree)
    hooks = worktree / ".codex" / "hooks.json"
    hooks.parent.mkdir()
    hooks.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [_ORIGINAL]}]}}))
    digest = digest_of("Stop", _ORIGINAL, {})
    for name in ("trusts", "does not"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.toml").write_text(
            f'[hooks.state."{hooks}:stop:0:0"]\ntrusted_hash = "{digest}"\n' if name == "trusts" else ""
        )
        if name != home:
            monkeypatch.setenv("CODEX_HOME", str(tmp_path / name))
    environment = {"RESTANTE_WORKTREE": str(worktree), "CODEX_HOME": str(tmp_path / home)}
    payload = json.dumps({"session_id": "s1", "hook_event_name": "Stop", "stop_hook_active": False}).encode()
    assert bool(answer("codex", "Stop", payload, environment)) is (home == "does not")


def test_a_rung_bell_loads_what_collecting_needs_and_no_more(worktree: Path) -> None:
    _send(worktree)
    code = (
        "import os, sys; out = os.dup(2); os._exit = lambda code: os.write(out, ' '.join(sys.modules).encode()); "
        "from restante.faces.hook import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, "codex", "PostToolUse"],
        env={"RESTANTE_WORKTREE": str(worktree), "PATH": "/usr/bin:/bin"},
        input=PAYLOAD,
        capture_output=True,
        timeout=60,
    )
    assert b"Leave auth alone." in done.stdout
    loaded = set(done.stderr.decode().split())
    assert "restante.services.collecting" in loaded
    never = {"dataclasses", "inspect", "shutil", "secrets", "subprocess", "tempfile", "threading", "hashlib"}
    assert loaded & never == set()
    assert {one for one in loaded if one.startswith("restante.agents.")} == {
        "restante.agents.calling",
        "restante.agents.hookline",
    }


def test_the_working_directory_of_the_hook_does_not_matter(worktree: Path) -> None:
    _send(worktree)
    assert _ask(worktree, "PostToolUse", cwd=str(worktree / "deep" / "er")) is not None
    assert os.listdir(worktree / "deep" / "er") == []
