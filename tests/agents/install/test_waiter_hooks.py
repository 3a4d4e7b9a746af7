"""The waiter's hooks: there where anything is monitored, nowhere else, and gone with all else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from restante.agents.hookline import WAITING, command_line, is_guard, is_waiter, timeouts_of, waiter
from restante.agents.installer import FileInstaller

if TYPE_CHECKING:
    from pathlib import Path

AGENTS = ("codex", "claude")


def installed(repo: Path, bin_dir: Path, env: dict[str, str], *, waits: bool) -> dict[str, Any]:
    made = FileInstaller(str(repo), str(bin_dir), env, waits=waits)
    made.apply(made.plan_install(AGENTS))
    assert made.plan_install(AGENTS).changes == ()
    found: dict[str, Any] = json.loads((repo / ".claude" / "settings.local.json").read_text())["hooks"]
    return found


def entries(hooks: dict[str, Any]) -> list[tuple[str, Any]]:
    return [(event, entry) for event, groups in hooks.items() for group in groups for entry in group["hooks"]]


def test_g2_without_monitors_the_hooks_are_what_they_were(repo: Path, bin_dir: Path, env: dict[str, str]) -> None:
    hooks = installed(repo, bin_dir, env, waits=False)
    assert {event: [len(group["hooks"]) for group in groups] for event, groups in hooks.items()} == {
        event: [1] for event in timeouts_of("claude")
    }
    assert not [entry for _, entry in entries(hooks) if is_waiter(entry)]
    assert all("asyncRewake" not in entry for _, entry in entries(hooks))


def test_with_monitors_claude_code_gets_a_waiter_and_codex_none(repo: Path, bin_dir: Path, env: dict[str, str]) -> None:
    hooks = installed(repo, bin_dir, env, waits=True)
    waiting = [(event, entry) for event, entry in entries(hooks) if is_waiter(entry)]
    assert [event for event, _ in waiting] == list(WAITING)
    for event, entry in waiting:
        assert entry == waiter(str(bin_dir), "claude", event)
        assert entry["asyncRewake"] is True
        assert not is_guard(entry)
    assert "restante-waiter" not in (repo / ".codex" / "hooks.json").read_text()


@pytest.mark.parametrize("first", [False, True])
def test_133_monitors_come_and_go_by_installing_again_and_uninstalling_leaves_the_file_as_it_was(
    repo: Path, bin_dir: Path, env: dict[str, str], first: bool
) -> None:
    settings = repo / ".claude" / "settings.local.json"
    settings.parent.mkdir()
    mine = {"type": "command", "command": "echo mine"}
    settings.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [mine]}]}}, indent=2) + "\n")
    before = settings.read_bytes()
    for waits in (first, not first, first):
        hooks = installed(repo, bin_dir, env, waits=waits)
        assert sum(is_waiter(entry) for _, entry in entries(hooks)) == (2 if waits else 0)
        assert sum(is_guard(entry) for _, entry in entries(hooks)) == len(timeouts_of("claude"))
        assert ("Stop", mine) in entries(hooks)
    made = FileInstaller(str(repo), str(bin_dir), env)
    made.apply(made.plan_uninstall())
    assert settings.read_bytes() == before


def test_the_doctor_tells_of_a_waiter_that_is_missing(repo: Path, bin_dir: Path, env: dict[str, str]) -> None:
    installed(repo, bin_dir, env, waits=False)
    lines = FileInstaller(str(repo), str(bin_dir), env, waits=True).checks()
    (line,) = [one for one in lines if one.name == "claude: waiter"]
    assert (line.ok, "restante install --agent claude" in line.remedy) == (False, True)
    installed(repo, bin_dir, env, waits=True)
    lines = FileInstaller(str(repo), str(bin_dir), env, waits=True).checks()
    assert not [one for one in lines if one.name == "claude: waiter"]


def test_687_a_waiter_that_somebody_changed_by_hand_is_said_to_be_out_of_date_and_not_off(
    repo: Path, bin_dir: Path, env: dict[str, str]
) -> None:
    installed(repo, bin_dir, env, waits=True)
    settings = repo / ".claude" / "settings.local.json"
    document = json.loads(settings.read_text())
    for _, entry in entries(document["hooks"]):
        if is_waiter(entry):
            entry["command"] = "FOO=1 " + entry["command"]
    settings.write_text(json.dumps(document))
    lines = FileInstaller(str(repo), str(bin_dir), env, waits=True).checks()
    (line,) = [one for one in lines if one.name == "claude: waiter"]
    assert (line.ok, "out of date" in line.detail) == (False, True)
    installed(repo, bin_dir, env, waits=True)
    assert "FOO=1" not in settings.read_text()


def test_the_line_is_wrapped_for_a_shell_that_reads_no_posix_sh() -> None:
    line = command_line("/opt/in stall", "claude", "Stop", wrapped=True, waits=True)
    assert line.startswith("sh -c 'RESTANTE_BIN=$1 RESTANTE_AGENT=claude RESTANTE_EVENT=Stop; ")
    assert "restante-waiter" in line
