"""``install --skills``: a short skill that calls one command, for both programs; taken out again, never another's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from restante.agents.check_inbox_skill import NAME, PLACES, is_ours, skill_text
from restante.faces.cli.parsing import find_command, parse

if TYPE_CHECKING:
    from pathlib import Path

    from restante.agents.installer import FileInstaller

BOTH = ["codex", "claude"]


def test_the_skill_is_there_only_when_it_was_asked_for(installer: FileInstaller, repo: Path) -> None:
    installer.apply(installer.plan_install(BOTH))
    assert not any((repo / place).exists() for place in PLACES.values())
    installer.apply(installer.plan_install(BOTH, intake=True))
    assert all(is_ours((repo / place).read_bytes()) for place in PLACES.values())
    assert installer.plan_install(BOTH, intake=True).changes == ()
    # Installing without the flag keeps it current and takes nothing away.
    assert installer.plan_install(BOTH).changes == ()


def test_git_does_not_take_the_skill_for_the_projects(installer: FileInstaller, repo: Path) -> None:
    installer.apply(installer.plan_install(["claude"], intake=True))
    rules = (repo / ".git" / "info" / "exclude").read_text().splitlines()
    assert f"/.claude/skills/{NAME}/" in rules
    assert f"/.agents/skills/{NAME}/" not in rules


def test_uninstalling_takes_it_out(installer: FileInstaller, repo: Path) -> None:
    installer.apply(installer.plan_install(BOTH, intake=True))
    installer.apply(installer.plan_uninstall())
    assert not any((repo / place).exists() for place in PLACES.values())


def test_a_fleets_own_skill_of_that_name_stays(installer: FileInstaller, repo: Path) -> None:
    theirs = repo / PLACES["codex"]
    theirs.parent.mkdir(parents=True)
    theirs.write_text("---\nname: check-inbox\n---\n\n# Check Inbox\n")
    plan = installer.plan_install(["codex"], intake=True)
    assert any("not ours" in note for note in plan.notes)
    installer.apply(plan)
    installer.apply(installer.plan_uninstall())
    assert theirs.read_text().endswith("# Check Inbox\n")


@pytest.mark.parametrize("agent", BOTH)
def test_its_command_lines_are_understood(agent: str) -> None:
    text = skill_text("restante", agent)
    lines = re.findall(r"^restante (check-inbox .*)$", text, re.MULTILINE)
    assert len(lines) == 2
    for line in lines:
        command, rest = find_command(line.split())
        values = parse(command, rest)
        assert values["agent"] == agent
        assert values["as_json"] is True


def test_it_is_short_and_recommends_what_to_use_for_recurring_checks() -> None:
    text = skill_text("restante", "codex")
    assert len(text) < 2500
    assert "heartbeat" in text
    assert "/loop 2m /check-inbox" in text
