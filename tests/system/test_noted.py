"""A program that does not name the session to its tools: what a hook noted of its process says who calls."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from restante.system.noted import forget_session, note_session, session_noted

pytestmark = pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")

_NOTE = (
    "import os, sys; from restante.system.identity import program_above; "
    "from restante.system.noted import note_session; "
    "note_session(*program_above(os.environ), sys.argv[1], os.environ)"
)
_ASK = "import os; from restante.system.identity import caller_of; print(*caller_of(os.environ)[:2])"


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"RESTANTE_DATA": str(tmp_path / "data"), "GEMINI_CLI": "1", "PATH": os.environ["PATH"]}


def in_gemini(place: Path, env: dict[str, str], script: str, *more: str) -> str:
    """Run a shell script in a process that looks like Gemini CLI: an interpreter whose script has that name."""
    node, gemini = place / "node", place / "gemini"
    if not node.exists():
        node.symlink_to("/bin/sh")
    gemini.write_text(script + "\ntrue\n")
    done = subprocess.run([str(node), str(gemini), *more], env=env, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_a_tool_of_the_process_that_a_hook_noted_is_of_its_session(tmp_path: Path, env: dict[str, str]) -> None:
    said = in_gemini(tmp_path, env, f"{sys.executable} -c '{_NOTE}' session-1; {sys.executable} -c '{_ASK}'")
    assert said == "gemini session-1"


def test_a_tool_of_another_process_is_of_no_session(tmp_path: Path, env: dict[str, str]) -> None:
    in_gemini(tmp_path, env, f"{sys.executable} -c '{_NOTE}' session-1")
    assert in_gemini(tmp_path, env, f"{sys.executable} -c '{_ASK}'") == ""


def test_whoever_only_claims_to_be_of_the_program_is_of_no_session(tmp_path: Path, env: dict[str, str]) -> None:
    note_session("gemini", os.getpid(), "session-1", env)
    done = subprocess.run([sys.executable, "-c", _ASK], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_a_note_is_of_one_program_and_one_process_and_is_forgotten(env: dict[str, str]) -> None:
    note_session("gemini", os.getpid(), "session-1", env)
    note_session("gemini", os.getpid(), "session-2", env)
    assert session_noted("gemini", os.getpid(), env) == "session-2"
    assert session_noted("codex", os.getpid(), env) == ""
    forget_session(os.getpid(), env)
    forget_session(os.getpid(), env)
    assert session_noted("gemini", os.getpid(), env) == ""


def test_a_number_that_was_given_again_proves_nothing(env: dict[str, str]) -> None:
    note_session("gemini", os.getpid(), "session-1", env)
    path = Path(env["RESTANTE_DATA"], "programs", str(os.getpid()))
    path.write_text("gemini 1 session-1\n")
    assert session_noted("gemini", os.getpid(), env) == ""


def test_notes_of_processes_that_ended_are_tidied_away(tmp_path: Path, env: dict[str, str]) -> None:
    in_gemini(tmp_path, env, f"{sys.executable} -c '{_NOTE}' session-1")
    note_session("gemini", os.getpid(), "session-2", env)
    assert os.listdir(Path(env["RESTANTE_DATA"], "programs")) == [str(os.getpid())]


def test_an_id_that_cannot_be_a_word_is_not_noted(env: dict[str, str]) -> None:
    note_session("gemini", os.getpid(), "a session", env)
    assert session_noted("gemini", os.getpid(), env) == ""
