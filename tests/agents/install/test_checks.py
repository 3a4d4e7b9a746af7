"""What doctor says of the agent programs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from restante.agents.installer import FileInstaller
    from restante.domain.setup import Check


def line(installer: FileInstaller, name: str) -> Check:
    found = [one for one in installer.checks() if one.name == name]
    assert found, [one.name for one in installer.checks()]
    return next((one for one in found if one.ok is False), found[0])


def add_program(installer: FileInstaller, tmp_path: Path, answer: str = "echo codex-cli 9.9.9") -> Path:
    """Put a Codex on PATH that does nothing but tell its version."""
    program = tmp_path / "bin" / "codex"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{answer}\n")
    program.chmod(0o755)
    installer._ground.env["PATH"] = f"{tmp_path}/bin:/usr/bin:/bin"
    return program


@pytest.fixture
def installed(installer: FileInstaller, bin_dir: Path) -> FileInstaller:
    # Says nothing, like the interpreter when a module is imported.
    (bin_dir / "python").write_text("#!/bin/sh\nexit 0\n")
    installer.apply(installer.plan_install(["codex", "claude"]))
    installer.apply(installer.plan_trust())
    return installer


def test_all_is_well_after_installing_and_trusting(installed: FileInstaller) -> None:
    assert [one for one in installed.checks() if one.ok is False] == []
    assert [one.ok for one in installed.checks() if one.name == "guard"] == [True, True]


def test_every_failing_line_says_what_mends_it(installer: FileInstaller) -> None:
    failing = [one for one in installer.checks() if one.ok is False]
    assert {one.name for one in failing} >= {"codex: hooks", "claude: hooks", "guidance: AGENTS.md", "ignore rules"}
    assert all(one.remedy.startswith("restante install") for one in failing)


def test_a_program_is_found_with_its_version(installed: FileInstaller, tmp_path: Path) -> None:
    assert line(installed, "codex: program").ok is None
    program = add_program(installed, tmp_path)
    ground = installed._ground
    assert line(installed, "codex: program").detail == f"codex-cli 9.9.9 ({program})"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    ground.timeout = 0.2
    assert line(installed, "codex: program").ok is False


def test_without_codex_what_it_would_not_trust_is_a_question_and_with_it_a_failure(
    installer: FileInstaller, tmp_path: Path, env: dict[str, str]
) -> None:
    installer.apply(installer.plan_install(["codex"]))

    def answers() -> set[bool | None]:
        lines = [one for one in installer.checks() if one.name.startswith(("codex: trust", "codex: project"))]
        assert len(lines) == 6
        assert all(one.remedy == "restante install --trust" for one in lines)
        return {one.ok for one in lines}

    assert answers() == {None}
    add_program(installer, tmp_path)
    assert answers() == {False}


def test_a_remedy_is_a_command_of_ours_or_says_that_it_is_none(installed: FileInstaller, tmp_path: Path) -> None:
    ground, config = installed._ground, Path(installed._ground.env["HOME"]) / ".codex" / "config.toml"
    add_program(installed, tmp_path, "exit 1")
    trusted = config.read_text()
    config.write_text(
        trusted.replace('trust_level = "trusted"', 'trust_level = "untrusted"')
        .replace('stop:0:0"]\n', 'stop:0:0"]\nenabled = false\n')
        .replace("sha256:", "sha256:0", 1)
        + "\n[features]\nhooks = false\n"
    )
    Path(ground.bin_dir, "restante-hook").unlink()
    Path(ground.root, "AGENTS.md").unlink()
    Path(ground.root, ".claude", "settings.json").write_text('{"disableAllHooks": true}')
    failing = [one for one in installed.checks() if one.ok is False]
    by_hand = {one.name for one in failing if one.remedy.startswith("by hand: ")}
    switches = {"codex: switch", "claude: switch"}
    assert by_hand == {"guard", "codex: program", "codex: project", "codex: trust Stop", *switches}
    rest = [one for one in failing if one.name not in by_hand]
    assert {one.name for one in rest} == {"guidance: AGENTS.md", "codex: trust SessionStart"}
    assert all(one.remedy.startswith("restante ") for one in rest)


def test_a_program_that_was_not_asked_for_is_no_failure(installer: FileInstaller) -> None:
    installer.apply(installer.plan_install(["claude"]))
    assert line(installer, "codex: hooks").ok is None


@pytest.mark.parametrize("name", [".codex/hooks.json", ".claude/settings.local.json"])
def test_a_hook_that_is_gone_or_changed_is_named(installed: FileInstaller, repo: Path, name: str) -> None:
    path = repo / name
    document = json.loads(path.read_text())
    del document["hooks"]["Stop"]
    document["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"] = 600
    path.write_text(json.dumps(document))
    agent = "codex" if "codex" in name else "claude"
    found = line(installed, f"{agent}: hooks")
    assert found.ok is False
    assert "Stop, SessionEnd" in found.detail
    assert found.remedy == f"restante install --agent {agent}"


def test_a_guard_that_is_gone_or_speaks_up_is_told(installed: FileInstaller, bin_dir: Path) -> None:
    guard = (bin_dir / "restante-hook").read_text()
    (bin_dir / "restante-hook").write_text("echo hello\n" + guard)
    assert line(installed, "guard").ok is False
    (bin_dir / "restante-hook").write_text("exit 3\n")
    assert "ended with 3" in line(installed, "guard").detail
    (bin_dir / "restante-hook").unlink()
    assert "restante-hook is missing" in line(installed, "guard").detail


def test_an_interpreter_that_cannot_start_is_told(installed: FileInstaller, bin_dir: Path) -> None:
    (bin_dir / "python").write_text("#!/bin/sh\nexit 1\n")
    assert "cannot start" in line(installed, "guard").detail


def test_doctor_runs_no_line_but_our_own(installed: FileInstaller, repo: Path, tmp_path: Path) -> None:
    for name in (".codex/hooks.json", ".claude/settings.local.json"):
        text = (repo / name).read_text()
        (repo / name).write_text(text.replace('"RESTANTE_BIN=', f'": > {tmp_path}/PWNED; RESTANTE_BIN='))
    assert line(installed, "codex: hooks").ok is False
    assert not (tmp_path / "PWNED").exists()


def test_the_guard_is_tried_where_there_is_no_mail_whatever_project_is_open(
    installed: FileInstaller, repo: Path, bin_dir: Path
) -> None:
    (repo / ".codex-mailbox" / "INBOX.md").write_text("mail\n")
    (bin_dir / "python").write_text('#!/bin/sh\n[ -n "$RESTANTE_WORKTREE" ] && echo mail\nexit 0\n')
    installed._ground.env["CLAUDE_PROJECT_DIR"] = str(repo)
    assert line(installed, "guard").ok is True


@pytest.mark.parametrize("text", ["{}", '{"disableAllHooks": false}', "broken", "[]"])
def test_settings_that_switch_nothing_off_are_fine(installed: FileInstaller, repo: Path, text: str) -> None:
    (repo / ".claude" / "settings.json").write_text(text)
    assert line(installed, "claude: switch").ok is True


def test_whoever_switches_claudes_hooks_off_is_named(
    installed: FileInstaller, repo: Path, env: dict[str, str], tmp_path: Path
) -> None:
    places = [
        Path(env["HOME"]) / ".claude" / "settings.json",
        repo / ".claude" / "settings.json",
        tmp_path / "etc" / "claude-code" / "managed-settings.json",
    ]
    for path in places:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('{"disableAllHooks": true}')
        found = line(installed, "claude: switch")
        assert found.ok is False
        assert str(path) in found.detail
        assert str(path) in found.remedy
    assert any("keeps Claude Code" in note for note in installed.plan_install(["claude"]).notes)
    # Nearer settings count; what an administrator prescribes stands above all.
    places[1].write_text('{"disableAllHooks": false}')
    assert str(places[2]) in line(installed, "claude: switch").detail
    places[2].write_text('{"allowManagedHooksOnly": true}')
    assert str(places[2]) in line(installed, "claude: switch").detail
    places[2].unlink()
    assert line(installed, "claude: switch").ok is True


@pytest.mark.parametrize("text", ["allow_managed_hooks_only = true\n", "[features]\nhooks = false\n"])
def test_an_administrator_who_switches_codexs_hooks_off_is_named(
    installed: FileInstaller, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "etc" / "codex" / "requirements.toml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    assert line(installed, "codex: switch").ok is False
    assert str(path) in line(installed, "codex: switch").detail


def test_a_person_who_switches_codexs_hooks_off_is_told(installed: FileInstaller, env: dict[str, str]) -> None:
    path = Path(env["HOME"]) / ".codex" / "config.toml"
    path.write_text(path.read_text() + "\n[features]\nhooks = false\n")
    assert str(path) in line(installed, "codex: switch").detail


def test_a_block_that_is_out_of_date_or_gone_is_told(installed: FileInstaller, repo: Path) -> None:
    path = repo / "AGENTS.md"
    path.write_text(path.read_text().replace("Mail for you", "Mail"))
    assert "out of date" in line(installed, "guidance: AGENTS.md").detail
    path.write_text("x\n")
    assert "no block" in line(installed, "guidance: AGENTS.md").detail
    assert line(installed, "guidance: AGENTS.md").remedy == "restante install"


def test_a_block_with_other_line_endings_is_current(installed: FileInstaller, repo: Path) -> None:
    path = repo / "AGENTS.md"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert line(installed, "guidance: AGENTS.md").ok is True


def test_no_line_is_lost_when_a_file_cannot_be_read(installed: FileInstaller, repo: Path) -> None:
    (repo / ".codex" / "hooks.json").write_text("{")
    found = line(installed, "codex: hooks")
    assert found.ok is False
    assert "hooks.json:1: " in found.detail
    assert line(installed, "claude: hooks").ok is True
