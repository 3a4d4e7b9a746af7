"""Who is calling, and whether a session runs inside another one."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from restante.domain.session import Caller
from restante.system.identity import caller_of, is_nested

if TYPE_CHECKING:
    from pathlib import Path


def test_without_a_session_in_the_environment_it_is_a_person() -> None:
    assert caller_of({}) == Caller()
    assert not caller_of({"CODEX_THREAD_ID": ""}).is_agent


@pytest.mark.parametrize(("variable", "agent"), [("CODEX_THREAD_ID", "codex"), ("CLAUDE_CODE_SESSION_ID", "claude")])
def test_the_session_that_a_program_names_is_the_caller(variable: str, agent: str) -> None:
    caller = caller_of({variable: "s1"})
    assert caller == Caller(agent, "s1")
    assert caller.name == f"{agent}:s1"


@pytest.mark.parametrize("variable", ["CODEX_THREAD_ID", "CLAUDE_CODE_SESSION_ID"])
def test_a_hook_whose_environment_names_another_session_is_nested(variable: str) -> None:
    assert is_nested("b", "/w", {variable: "a"})
    assert not is_nested("a", "/w", {variable: "a"})
    assert not is_nested("b", "/w", {variable: "a", "RESTANTE_NESTED": "1"})


def test_a_hook_without_any_session_around_it_is_not_nested() -> None:
    assert not is_nested("b", "/w", {})


_INNER = "import sys; from restante.system.identity import is_nested; print(is_nested('b', sys.argv[1], {}))"


def _agent_program(tmp_path: Path, name: str) -> str:
    """Return a program with an agent program's name that runs what it is given in a shell and waits for it."""
    path = tmp_path / "bin" / name
    path.parent.mkdir(exist_ok=True)
    if not path.exists():
        path.symlink_to("/bin/sh")
    return str(path)


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="needs /proc")
@pytest.mark.parametrize(("outer_place", "nested"), [("w", "True"), ("w/deep/er", "True"), ("other", "False")])
def test_an_agent_program_run_by_a_tool_of_another_is_nested_only_in_the_same_worktree(
    tmp_path: Path, outer_place: str, nested: str
) -> None:
    for place in ("w/.git", "w/deep/er", "other/.git"):
        (tmp_path / place).mkdir(parents=True)
    hook = f'{sys.executable} -I -c "{_INNER}" {tmp_path / "w"}; true'
    inner = f"cd {tmp_path / 'w'} && '{_agent_program(tmp_path, 'codex')}' -c '{hook}'; true"
    script = tmp_path / "tool.sh"
    script.write_text(inner.replace("'" + hook + "'", '"$HOOK"'))
    outer = [_agent_program(tmp_path, "claude"), "-c", f"/bin/sh {script}; true"]
    result = subprocess.run(
        outer, cwd=tmp_path / outer_place, env={**os.environ, "HOOK": hook}, capture_output=True, text=True, timeout=30
    )
    assert result.stdout.strip() == nested, result.stderr
