"""The line that an agent program runs at every checkpoint, run as the programs run it."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.agents.install.conftest import git

from restante.agents.hookline import TIMEOUTS, command_line
from restante.system.turns import TurnFiles

FOUND = [
    [path, *rest]
    for name, *rest in (["sh"], ["dash"], ["bash"], ["zsh"], ["ksh"], ["mksh"], ["busybox", "sh"])
    if (path := shutil.which(name))
]
# Dash is the same under either name; others go by the name they are called by.
SHELLS = [one for one in FOUND if not one[0].endswith("/dash") or not os.path.samefile(one[0], FOUND[0][0])]
PAYLOAD = b'{"session_id": "s", "hook_event_name": "Stop"}'


@pytest.fixture(params=SHELLS, ids=lambda words: "-".join([Path(words[0]).name, *words[1:]]))
def shell(request: pytest.FixtureRequest) -> list[str]:
    words: list[str] = request.param
    return words


class Runner:
    def __init__(self, bin_dir: Path, shell: list[str]) -> None:
        self.bin_dir, self.shell = bin_dir, shell

    def __call__(
        self,
        cwd: Path,
        *,
        agent: str = "codex",
        event: str = "Stop",
        before: list[str] | None = None,
        data: bytes = PAYLOAD,
        more: dict[str, str] | None = None,
        **env: str,
    ) -> subprocess.CompletedProcess[bytes]:
        line = command_line(str(self.bin_dir), agent, event)
        (self.bin_dir / "words").unlink(missing_ok=True)
        return subprocess.run(
            [*(before or []), *self.shell, "-c", line],
            cwd=cwd,
            env={"PATH": "/usr/bin:/bin", **env, **(more or {})},
            input=data,
            capture_output=True,
            timeout=60,
        )

    @property
    def words(self) -> list[str] | None:
        """What the interpreter was called with; ``None`` when it was not."""
        path = self.bin_dir / "words"
        return path.read_text().split("\0")[:-1] if path.exists() else None

    @property
    def worktree(self) -> str:
        return os.fsdecode((self.bin_dir / "worktree").read_bytes()).removesuffix("\0")


@pytest.fixture
def run(bin_dir: Path, shell: list[str]) -> Runner:
    return Runner(bin_dir, shell)


def is_silent(done: subprocess.CompletedProcess[bytes]) -> bool:
    return (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def put_mail(root: Path) -> Path:
    box = root / ".codex-mailbox"
    (box / ".restante").mkdir(parents=True)
    (box / "INBOX.md").write_text("# Codex Mailbox - Inbox\n")
    return box


def hush(box: Path, difference_ns: int = 0) -> None:
    quiet, at = box / ".restante" / "quiet", 1_700_000_000_000_000_000
    quiet.touch()
    os.utime(box / "INBOX.md", ns=(at, at))
    os.utime(quiet, ns=(at + difference_ns, at + difference_ns))


@pytest.mark.parametrize("event", TIMEOUTS)
def test_without_a_mailbox_nothing_is_said_and_no_interpreter_starts(run: Runner, repo: Path, event: str) -> None:
    assert is_silent(run(repo, event=event))
    assert run.words is None


@pytest.mark.parametrize("event", TIMEOUTS)
def test_with_a_hushed_bell_no_interpreter_starts(run: Runner, repo: Path, event: str) -> None:
    hush(put_mail(repo))
    assert is_silent(run(repo, event=event))
    assert run.words is None


@pytest.mark.parametrize("event", TIMEOUTS)
def test_a_rung_bell_starts_the_interpreter_with_program_event_worktree_and_the_payload(
    run: Runner, repo: Path, event: str
) -> None:
    put_mail(repo)
    done = run(repo, event=event)
    assert (done.returncode, done.stdout) == (0, b"answer")
    assert run.words == ["-I", "-c", "from restante.faces.hook import main; main()", "codex", event]
    assert run.worktree == str(repo)
    assert (run.bin_dir / "stdin").read_bytes() == PAYLOAD


@pytest.mark.parametrize("seconds", [-5, 5])
def test_a_bell_of_another_time_than_the_inbox_rings(run: Runner, repo: Path, seconds: int) -> None:
    hush(put_mail(repo), seconds * 1_000_000_000)
    run(repo)
    assert run.words is not None


def test_a_session_that_was_shown_mail_is_told_of_its_end_though_the_bell_is_hushed(run: Runner, repo: Path) -> None:
    box = put_mail(repo)
    hush(box)
    (box / ".restante" / "sessions").mkdir()
    (box / ".restante" / "sessions" / "s.json").write_text("{}")
    run(repo, event="Stop")
    assert run.words is None
    run(repo, event="SessionEnd")
    assert run.words is not None


def test_a_subdirectory_belongs_to_its_worktree(run: Runner, repo: Path) -> None:
    put_mail(repo)
    below = repo / "a" / "b"
    below.mkdir(parents=True)
    run(below)
    assert run.worktree == str(repo)


def test_a_linked_worktree_has_its_own_mailbox(run: Runner, repo: Path) -> None:
    put_mail(repo)
    linked = repo.parent / "linked"
    git(repo, "worktree", "add", "-q", str(linked))
    assert is_silent(run(linked))
    assert run.words is None
    put_mail(linked)
    run(linked)
    assert run.worktree == str(linked)


def test_a_submodule_has_its_own_mailbox(run: Runner, repo: Path) -> None:
    put_mail(repo)
    other = repo.parent / "other"
    other.mkdir()
    git(other, "init", "-q")
    git(other, "commit", "-q", "--allow-empty", "-m", "x")
    git(repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(other), "sub")
    assert is_silent(run(repo / "sub"))
    put_mail(repo / "sub")
    run(repo / "sub")
    assert run.worktree == str(repo / "sub")


def test_outside_any_repository_the_nearest_mailbox_counts(run: Runner, tmp_path: Path) -> None:
    outer = tmp_path / "plain"
    (outer / "in" / "deep").mkdir(parents=True)
    put_mail(outer)
    run(outer / "in" / "deep")
    assert run.worktree == str(outer)
    put_mail(outer / "in")
    run(outer / "in" / "deep")
    assert run.worktree == str(outer / "in")


@pytest.mark.parametrize(
    "name", ["a b", "it's", 'quo"te', "new\nline", "trailing ", "glob*?[x]", "$(touch PWNED)", "-n", "back\\slash", "é"]
)
def test_any_directory_name_is_taken_as_it_is(run: Runner, tmp_path: Path, name: str) -> None:
    root = tmp_path / name
    (root / ".git").mkdir(parents=True)
    (root / "sub dir").mkdir()
    put_mail(root)
    done = run(root / "sub dir")
    assert (done.returncode, done.stderr) == (0, b"")
    assert run.worktree == str(root)
    assert not list(tmp_path.rglob("PWNED"))


@pytest.mark.parametrize("name", ["it's here", 'quo"te $HOME `x`', "new\nline", "back\\slash"])
def test_an_installation_may_stand_in_any_directory(shell: list[str], bin_dir: Path, repo: Path, name: str) -> None:
    elsewhere = bin_dir.parent / name
    shutil.copytree(bin_dir, elsewhere)
    put_mail(repo)
    for wrapped in (False, True):
        line = command_line(str(elsewhere), "codex", "Stop", wrapped=wrapped)
        done = subprocess.run([*shell, "-c", line], cwd=repo, input=PAYLOAD, capture_output=True, timeout=60)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"answer", b"")


def test_a_symlink_into_the_worktree_leads_to_the_worktree(run: Runner, repo: Path, tmp_path: Path) -> None:
    put_mail(repo)
    (repo / "sub").mkdir()
    (tmp_path / "link").symlink_to(repo / "sub")
    run(tmp_path / "link", PWD=str(tmp_path / "link"))
    assert run.worktree == str(repo)


@pytest.mark.parametrize("event", TIMEOUTS)
def test_a_deleted_directory_is_a_silent_success_and_is_not_made_again(
    run: Runner, repo: Path, bin_dir: Path, event: str
) -> None:
    # The directory above is a repository with mail: that mail is not for a session whose worktree is gone.
    put_mail(repo)
    gone = repo / "inner"
    (gone / ".git").mkdir(parents=True)
    put_mail(gone)
    line = command_line(str(bin_dir), "codex", event)
    done = subprocess.run(
        ["/bin/sh", "-c", 'cd "$1" && rm -rf "$1" && shift && exec "$@"', "sh", str(gone), *run.shell, "-c", line],
        cwd=repo,
        input=PAYLOAD,
        capture_output=True,
        timeout=60,
    )
    # On stderr a shell may complain of its directory before it reads our line at all.
    assert (done.returncode, done.stdout) == (0, b"")
    assert run.words is None
    assert not gone.exists()


def test_a_missing_installation_is_a_silent_success(run: Runner, repo: Path, bin_dir: Path) -> None:
    put_mail(repo)
    shutil.rmtree(bin_dir)
    assert is_silent(run(repo))


def test_a_missing_interpreter_is_a_silent_success(run: Runner, repo: Path, bin_dir: Path) -> None:
    put_mail(repo)
    (bin_dir / "python").unlink()
    assert is_silent(run(repo))


@pytest.mark.parametrize("body", ["exit 3", "echo trouble >&2; exit 1", "kill -9 $$", "exec /nonexistent"])
def test_an_interpreter_that_fails_never_fails_the_turn(run: Runner, repo: Path, bin_dir: Path, body: str) -> None:
    put_mail(repo)
    (bin_dir / "python").write_text(f"#!/bin/sh\n{body}\n")
    done = run(repo)
    assert (done.returncode, done.stdout) == (0, b"")
    # A shell may itself report that a child was killed; what the interpreter says is for nobody.
    assert b"trouble" not in done.stderr


@pytest.mark.parametrize("debug", [None, "", "1"])
def test_what_the_interpreter_complains_of_is_heard_only_by_whoever_looks_for_it(
    run: Runner, repo: Path, bin_dir: Path, debug: str | None
) -> None:
    put_mail(repo)
    (bin_dir / "python").write_text("#!/bin/sh\necho trouble >&2\nprintf answer\nexit 1\n")
    done = run(repo) if debug is None else run(repo, RESTANTE_DEBUG=debug)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"answer", b"trouble\n" if debug else b"")


def test_only_claude_is_asked_where_its_project_is(run: Runner, repo: Path, tmp_path: Path) -> None:
    put_mail(repo)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    run(elsewhere, agent="claude", CLAUDE_PROJECT_DIR=str(repo))
    assert run.worktree == str(repo)
    run(elsewhere, agent="codex", CLAUDE_PROJECT_DIR=str(repo))
    assert run.words is None


@pytest.mark.parametrize("directory", ["/nonexistent", "", "-", "W"])
def test_a_project_directory_that_leads_nowhere_leaves_the_working_directory(
    run: Runner, repo: Path, directory: str
) -> None:
    put_mail(repo)
    done = run(repo, agent="claude", CLAUDE_PROJECT_DIR=directory, CDPATH=str(repo.parent), OLDPWD="/")
    assert done.stdout == b"answer"
    assert run.worktree == str(repo)


@pytest.mark.parametrize("wrapped", [False, True])
def test_the_line_works_in_an_empty_environment(shell: list[str], bin_dir: Path, repo: Path, wrapped: bool) -> None:
    put_mail(repo)
    line = command_line(str(bin_dir), "codex", "Stop", wrapped=wrapped)
    env_program = shutil.which("env") or "/usr/bin/env"
    done = subprocess.run(
        [env_program, "-i", *shell, "-c", line], cwd=repo, input=PAYLOAD, capture_output=True, timeout=60, env={}
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert (bin_dir / "words").exists()


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not there to count with")
@pytest.mark.parametrize("state", ["no mailbox", "hushed", "subdirectory"])
def test_the_empty_case_starts_no_process_at_all(run: Runner, repo: Path, tmp_path: Path, state: str) -> None:
    if state != "no mailbox":
        hush(put_mail(repo))
    (repo / "sub").mkdir()
    log = tmp_path / "calls"
    strace = ["strace", "-f", "-qq", "-e", "trace=execve,fork,vfork,clone,clone3", "-o", str(log)]
    done = run(repo / "sub" if state == "subdirectory" else repo, before=strace)
    assert is_silent(done)
    calls = [line for line in log.read_text().splitlines() if "(" in line]
    assert len(calls) == 1, calls
    assert "execve" in calls[0]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory in which sessions are used, with one session."""
    directory = tmp_path / "data"
    (directory / "turns").mkdir(parents=True)
    (directory / "turns" / "S-1").touch()
    return directory


def payload(event: str, session: str = "S-1", **more: object) -> bytes:
    words = {"session_id": session, "transcript_path": "/t/S", "cwd": "/w", "hook_event_name": event, **more}
    return json.dumps(words, separators=(",", ":"), ensure_ascii=False).encode()


def test_s59_a_turn_that_starts_or_ends_leaves_a_line_and_starts_no_interpreter(
    run: Runner, repo: Path, data: Path
) -> None:
    for event in ("UserPromptSubmit", "PostToolUse", "Stop", "UserPromptSubmit", "Stop"):
        assert is_silent(run(repo, event=event, data=payload(event), RESTANTE_DATA=str(data)))
    assert (data / "turns" / "S-1").read_text() == "s\ne\ns\ne\n"
    assert run.words is None
    assert os.listdir(data / "turns") == ["S-1"]


@pytest.mark.parametrize("text", ["short", "é" * 100_000, 'say "agent_id":"x" and \\ "session_id":"other"', "a\nb\tc"])
def test_what_the_model_or_the_person_said_is_not_taken_for_a_key(
    run: Runner, repo: Path, data: Path, text: str
) -> None:
    for event, key in (("UserPromptSubmit", "prompt"), ("Stop", "last_assistant_message")):
        assert is_silent(run(repo, event=event, data=payload(event, **{key: text}), RESTANTE_DATA=str(data)))
    assert (data / "turns" / "S-1").read_text() == "s\ne\n"


def test_spaces_and_a_final_line_feed_in_the_json_do_not_matter(run: Runner, repo: Path, data: Path) -> None:
    for words in (PAYLOAD.replace(b'"s"', b'"S-1"'), payload("Stop") + b"\n", payload("Stop", agent_id=None)):
        run(repo, data=words, RESTANTE_DATA=str(data))
    assert (data / "turns" / "S-1").read_text() == "e\n" * 3


@pytest.mark.parametrize("session", ["other", "", "../turns/S-1", "S-1/", "S*", "S-?", "é", ".", "x" * 300])
def test_only_the_file_of_a_session_that_is_expected_is_written(
    run: Runner, repo: Path, data: Path, session: str
) -> None:
    assert is_silent(run(repo, data=payload("Stop", session), RESTANTE_DATA=str(data)))
    assert os.listdir(data / "turns") == ["S-1"]
    assert (data / "turns" / "S-1").read_text() == ""


@pytest.mark.parametrize("words", [b"", b"{}", b"nonsense", b"{\n", b'{"session_id":7}', b"\0\0", b'{"session_id":"'])
def test_input_without_a_session_leaves_nothing_and_fails_nothing(
    run: Runner, repo: Path, data: Path, words: bytes
) -> None:
    for event in ("UserPromptSubmit", "Stop", "PostToolUse"):
        assert is_silent(run(repo, event=event, data=words, RESTANTE_DATA=str(data)))
    assert (data / "turns" / "S-1").read_text() == ""


def test_bl03_a_subagents_turn_is_not_its_parents(run: Runner, repo: Path, data: Path) -> None:
    for event in ("UserPromptSubmit", "Stop"):
        assert is_silent(run(repo, event=event, data=payload(event, agent_id="a1"), RESTANTE_DATA=str(data)))
    assert (data / "turns" / "S-1").read_text() == ""


def test_claude_names_the_session_in_the_environment_and_nothing_is_read(run: Runner, repo: Path, data: Path) -> None:
    more = {"RESTANTE_DATA": str(data), "CLAUDE_CODE_SESSION_ID": "S-1"}
    assert is_silent(run(repo, agent="claude", data=b"", more=more))
    assert is_silent(run(repo, agent="codex", data=payload("Stop", "other"), more=more))
    assert (data / "turns" / "S-1").read_text() == "e\n"


@pytest.mark.parametrize(("kind", "word"), [("permission_prompt", "permission"), ("elicitation_dialog", "question")])
@pytest.mark.parametrize("answered_by", ["PostToolUse", "UserPromptSubmit", "Stop"])
def test_s60_a_dialog_is_noted_until_the_next_thing_happens(
    run: Runner, repo: Path, data: Path, kind: str, word: str, answered_by: str
) -> None:
    more = {"RESTANTE_DATA": str(data), "CLAUDE_CODE_SESSION_ID": "S-1"}
    words = payload("Notification", message='may I "permission_prompt"?', notification_type=kind)
    assert is_silent(run(repo, agent="claude", event="Notification", data=words, more=more))
    assert TurnFiles(str(data)).blocked(["S-1"]) == {"S-1": word}
    assert stat.S_IMODE((data / "turns" / "S-1.blocked").stat().st_mode) == 0o600
    assert is_silent(run(repo, agent="claude", event=answered_by, data=payload(answered_by), more=more))
    assert TurnFiles(str(data)).blocked(["S-1"]) == {"S-1": ""}
    assert run.words is None


def test_a_notification_of_something_else_is_no_dialog(run: Runner, repo: Path, data: Path) -> None:
    put_mail(repo)
    more = {"RESTANTE_DATA": str(data), "CLAUDE_CODE_SESSION_ID": "S-1"}
    words = payload("Notification", message="still there?", notification_type="idle_prompt")
    assert is_silent(run(repo, agent="claude", event="Notification", data=words, more=more))
    assert TurnFiles(str(data)).blocked(["S-1"]) == {}
    assert run.words is None


@pytest.mark.parametrize("event", ["SessionStart", "SessionEnd"])
def test_the_register_hears_of_starts_and_ends_where_sessions_are_used(
    run: Runner, repo: Path, data: Path, event: str
) -> None:
    run(repo, event=event, data=payload(event))
    assert not (run.bin_dir / "words").exists()
    run(repo, event=event, data=payload(event), RESTANTE_DATA=str(data))
    assert run.words is not None
    assert run.words[-1] == event
    assert (run.bin_dir / "stdin").read_bytes() == payload(event)


@pytest.mark.parametrize("size", [10, 100_000])
def test_bl13_the_first_prompt_of_an_unknown_session_goes_to_the_register_with_all_of_its_input(
    run: Runner, repo: Path, data: Path, size: int
) -> None:
    words = payload("UserPromptSubmit", "new", prompt="é%s\\n" * size)
    done = run(repo, event="UserPromptSubmit", data=words, RESTANTE_DATA=str(data))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"answer", b"")
    assert (run.bin_dir / "stdin").read_bytes() == words
    assert not (data / "turns" / "new").exists()


def test_no_program_of_the_search_path_is_run(run: Runner, repo: Path, data: Path, tmp_path: Path) -> None:
    place, trace = tmp_path / "hostile", tmp_path / "trace"
    place.mkdir()
    for name in ("cat", "printf", "echo", "umask", "env", "sh"):
        (place / name).write_text(f"#!/bin/sh\necho {name} >> '{trace}'\n")
        (place / name).chmod(0o755)
    python = run.bin_dir / "python"
    python.write_text(python.read_text().replace("\n", "\nPATH=/usr/bin:/bin\n", 1))
    words = payload("UserPromptSubmit", "new", prompt="x" * 100_000)
    run(repo, event="UserPromptSubmit", data=words, RESTANTE_DATA=str(data), PATH=f"{place}:/usr/bin:/bin")
    assert not trace.exists()
    assert (run.bin_dir / "stdin").read_bytes() == words


@pytest.mark.parametrize("event", TIMEOUTS)
def test_the_bell_of_sessions_rings_where_nobody_ever_sent_guidance(run: Runner, repo: Path, event: str) -> None:
    (repo / ".codex-mailbox" / ".restante").mkdir(parents=True)
    (repo / ".codex-mailbox" / ".restante" / "session-mail").touch()
    assert run(repo, event=event).stdout == b"answer"
    assert (run.bin_dir / "stdin").read_bytes() == PAYLOAD


@pytest.mark.parametrize(
    ("environment", "place"),
    [
        ({"HOME": "{T}/home"}, "home/.local/share/restante"),
        ({"HOME": "{T}/home", "XDG_DATA_HOME": "{T}/xdg"}, "xdg/restante"),
        ({"HOME": "{T}/home", "XDG_DATA_HOME": "relative"}, "home/.local/share/restante"),
        ({"HOME": "{T}/home"}, "home/Library/Application Support/restante"),
        ({"HOME": "/nonexistent", "RESTANTE_DATA": "{T}/a b"}, "a b"),
        ({"RESTANTE_DATA": "{T}/data"}, "data"),
    ],
)
def test_the_data_directory_is_where_the_platform_keeps_a_programs_data(
    run: Runner, repo: Path, tmp_path: Path, environment: dict[str, str], place: str
) -> None:
    turns = tmp_path / place / "turns"
    turns.mkdir(parents=True)
    (turns / "S-1").touch()
    more = {name: value.replace("{T}", str(tmp_path)) for name, value in environment.items()}
    assert is_silent(run(repo, data=payload("Stop"), more=more))
    assert (turns / "S-1").read_text() == "e\n"


@pytest.mark.parametrize("home", [None, "", "/", "relative"])
def test_bl51_without_a_home_of_its_own_nothing_is_written_or_said(run: Runner, repo: Path, home: str | None) -> None:
    assert is_silent(run(repo, data=payload("Stop"), more={} if home is None else {"HOME": home}))
    assert run.words is None


def test_a_link_in_the_place_of_a_sessions_file_is_not_followed(run: Runner, repo: Path, data: Path) -> None:
    (data / "other").touch()
    (data / "turns" / "linked").symlink_to(data / "other")
    run(repo, data=payload("Stop", "linked"), RESTANTE_DATA=str(data))
    assert (data / "other").read_text() == ""


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not there to count with")
@pytest.mark.parametrize("agent", ["codex", "claude"])
@pytest.mark.parametrize("event", ["UserPromptSubmit", "PostToolUse", "Stop", "Notification"])
def test_s61_no_process_is_started_where_sessions_are_used_and_no_mail_waits(
    run: Runner, repo: Path, tmp_path: Path, data: Path, event: str, agent: str
) -> None:
    hush(put_mail(repo))
    log = tmp_path / "calls"
    strace = ["strace", "-f", "-qq", "-e", "trace=execve,fork,vfork,clone,clone3,read", "-o", str(log)]
    words = payload(event, last_assistant_message="x" * 2_000, notification_type="permission_prompt")
    more = {"CLAUDE_CODE_SESSION_ID": "S-1"} if agent == "claude" else {}
    assert is_silent(run(repo, event=event, agent=agent, before=strace, data=words, RESTANTE_DATA=str(data), more=more))
    calls = [line for line in log.read_text().splitlines() if "(" in line]
    started = [line for line in calls if "read(" not in line]
    assert len(started) == 1, started
    if agent == "claude" and event != "Notification":
        # Nothing of the input is read, however much the model said.
        assert not any("read(0," in line for line in calls)


HOSTILE = ("json", "queue", "types", "restante", "sitecustomize", "usercustomize", "os", "re", "dataclasses")


@pytest.fixture
def real_bin(tmp_path: Path) -> Path:
    """The interpreter of this test run, with a guard beside it."""
    directory = tmp_path / "real"
    directory.mkdir()
    shutil.copy(Path(__file__).parents[3] / "scripts" / "restante-hook", directory)
    python = directory / "python"
    # Stands where the installed interpreter stands, shows that it ran, and goes on as that one.
    python.write_text(f"#!/bin/sh\n: > '{tmp_path}/started'\nexec '{sys.executable}' \"$@\"\n")
    python.chmod(0o755)
    return directory


@pytest.mark.parametrize(
    "extra",
    [
        {},
        {"PYTHONPATH": "{W}", "PYTHONSTARTUP": "{W}/json.py"},
        {"PYTHONHOME": "/nonexistent"},
        {"PYTHONOPTIMIZE": "2", "PYTHONWARNINGS": "error"},
        {"PYTHONUSERBASE": "{W}", "PYTHONSAFEPATH": ""},
    ],
)
def test_nothing_of_the_worktree_is_ever_executed(
    real_bin: Path, repo: Path, tmp_path: Path, extra: dict[str, str]
) -> None:
    put_mail(repo)
    for name in HOSTILE:
        (repo / f"{name}.py").write_text(f"open({str(repo / 'PWNED')!r}, 'w').close()\n")
    (repo / "python").write_text(f"#!/bin/sh\ntouch '{repo}/PWNED'\n")
    (repo / "python").chmod(0o755)
    (repo / "pyvenv.cfg").write_text(f"home = {repo}\n")
    (repo / ".venv").mkdir()
    env = {key: value.replace("{W}", str(repo)) for key, value in extra.items()}
    done = subprocess.run(
        ["sh", "-c", command_line(str(real_bin), "claude", "PostToolUse")],
        cwd=repo,
        env={"PATH": f"{repo}:/usr/bin:/bin", "CLAUDE_PROJECT_DIR": str(repo), **env},
        input=PAYLOAD,
        capture_output=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "started").exists()
    assert not (repo / "PWNED").exists()
