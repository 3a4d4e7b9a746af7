"""opencode and Gemini CLI are taught by their own files, and every byte is as before once they are untaught."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from tests.agents.install.conftest import git

from restante.agents.gemini import GeminiHabits
from restante.agents.hookline import command_line
from restante.agents.installer import FileInstaller
from restante.domain.errors import RestanteError
from restante.programs import PROGRAMS

if TYPE_CHECKING:
    from pathlib import Path

PLUGIN = ".opencode/plugin/restante.js"
SETTINGS = ".gemini/settings.json"
BOTH = ("opencode", "gemini")


def install(installer: FileInstaller, *agents: str, tools: str = "") -> None:
    installer.apply(installer.plan_install(agents or BOTH, tools=tools))


def files_of(repo: Path) -> dict[str, bytes]:
    found = (path for path in repo.rglob("*") if path.is_file() and path.parts[len(repo.parts)] != ".git")
    return {str(path.relative_to(repo)): path.read_bytes() for path in found}


def test_gemini_gets_hooks_by_its_own_names_in_milliseconds(
    installer: FileInstaller, repo: Path, bin_dir: Path
) -> None:
    install(installer, "gemini")
    hooks = json.loads((repo / SETTINGS).read_text())["hooks"]
    ours = {"BeforeAgent": "UserPromptSubmit", "AfterTool": "PostToolUse", "AfterAgent": "Stop"}
    assert list(hooks) == ["SessionStart", *ours, "SessionEnd"]
    for event, groups in hooks.items():
        ((entry,),) = [group["hooks"] for group in groups]
        assert f"RESTANTE_AGENT=gemini RESTANTE_EVENT={ours.get(event, event)};" in entry["command"]
        assert entry["command"] == command_line(str(bin_dir), "gemini", event)
        assert entry["timeout"] == (3000 if event == "SessionEnd" else 10_000)


def test_opencode_gets_a_plugin_that_names_the_installation_and_is_javascript(
    installer: FileInstaller, repo: Path, bin_dir: Path
) -> None:
    install(installer, "opencode")
    text = (repo / PLUGIN).read_text()
    assert f"const BIN = {json.dumps(str(bin_dir))}\n" in text
    assert "@BIN@" not in text
    if node := shutil.which("node"):
        checked = subprocess.run([node, "--input-type=module", "--check"], input=text.encode(), capture_output=True)
        assert checked.returncode == 0, checked.stderr


def test_both_are_ignored_by_git_current_again_and_gone_after_uninstalling(
    installer: FileInstaller, repo: Path
) -> None:
    before = files_of(repo)
    install(installer)
    assert git(repo, "status", "--porcelain").split() == ["??", "AGENTS.md", "??", "GEMINI.md"]
    assert installer.plan_install(BOTH).changes == ()
    installer.apply(installer.plan_uninstall())
    assert files_of(repo) == before


def test_settings_of_the_person_stay_with_hooks_and_server_in_one_file(installer: FileInstaller, repo: Path) -> None:
    theirs = '{\n\t"theme": "dark",\n\t"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "x"}]}]}\n}'
    (repo / ".gemini").mkdir()
    (repo / SETTINGS).write_text(theirs)
    install(installer, "gemini", tools="tools")
    settings = json.loads((repo / SETTINGS).read_text())
    assert settings["theme"] == "dark"
    assert settings["mcpServers"]["restante"]["args"] == ["mcp"]
    assert {"BeforeTool", "AfterAgent"} <= set(settings["hooks"])
    assert installer.plan_install(["gemini"]).changes == ()
    installer.apply(installer.plan_uninstall())
    assert (repo / SETTINGS).read_text() == theirs


def test_hooks_and_server_of_ours_alone_make_a_file_that_git_need_not_know(
    installer: FileInstaller, repo: Path
) -> None:
    install(installer, tools="tools")
    assert git(repo, "status", "--porcelain").split() == ["??", "AGENTS.md", "??", "GEMINI.md"]
    installer.apply(installer.plan_uninstall())
    assert not (repo / SETTINGS).exists()


def test_a_plugin_of_that_name_that_is_not_ours_stays_and_is_told(installer: FileInstaller, repo: Path) -> None:
    (repo / PLUGIN).parent.mkdir(parents=True)
    (repo / PLUGIN).write_text("export const Mine = async () => ({})\n")
    plan = installer.plan_install(["opencode"])
    assert any(PLUGIN in note for note in plan.notes)
    installer.apply(plan)
    (line,) = [one for one in installer.checks() if one.name == "opencode: hooks"]
    assert (line.ok, "somebody else's" in line.detail) == (False, True)
    installer.apply(installer.plan_uninstall())
    assert (repo / PLUGIN).read_text() == "export const Mine = async () => ({})\n"


def test_the_doctor_tells_of_them_where_they_were_asked_for(installer: FileInstaller, repo: Path) -> None:
    install(installer, "codex")
    assert not [one for one in installer.checks() if one.name.startswith(BOTH)]
    install(installer)
    assert {one.name: one.ok for one in installer.checks() if one.name in {"opencode: hooks", "gemini: hooks"}} == {
        "opencode: hooks": True,
        "gemini: hooks": True,
    }
    (repo / PLUGIN).write_text((repo / PLUGIN).read_text() + "// older\n")
    lines = {one.name: one for one in installer.checks()}
    assert (lines["opencode: hooks"].ok, lines["opencode: hooks"].remedy) == (
        False,
        "restante install --agent opencode",
    )


@pytest.mark.parametrize(
    ("gemini_md", "agents", "taught"),
    [
        (None, ("gemini",), {"GEMINI.md"}),
        ("x\n", ("gemini", "codex"), {"AGENTS.md", "GEMINI.md"}),
        ("@AGENTS.md\n", ("gemini",), {"AGENTS.md"}),
        (None, ("opencode",), {"AGENTS.md"}),
    ],
)
def test_guidance_stands_where_the_program_reads_it(
    installer: FileInstaller, repo: Path, gemini_md: str | None, agents: tuple[str, ...], taught: set[str]
) -> None:
    if gemini_md is not None:
        (repo / "GEMINI.md").write_text(gemini_md)
    install(installer, *agents)
    found = {name for name in ("AGENTS.md", "CLAUDE.md", "GEMINI.md") if (repo / name).exists()}
    assert {name for name in found if b"RESTANTE_MAILBOX" in (repo / name).read_bytes()} == taught


def test_settings_that_switch_hooks_off_are_found_nearest_first(repo: Path, tmp_path: Path) -> None:
    habits, env = GeminiHabits("gemini"), {"HOME": str(tmp_path)}
    own, project = tmp_path / ".gemini" / "settings.json", repo / SETTINGS
    assert habits.switched_off_by(str(repo), env, str(tmp_path / "etc")) == ""
    own.parent.mkdir()
    own.write_text('{"hooksConfig": {"enabled": false}}')
    assert habits.switched_off_by(str(repo), env, str(tmp_path / "etc")) == str(own)
    project.parent.mkdir()
    project.write_text('{"hooksConfig": {"enabled": true}}')
    assert habits.switched_off_by(str(repo), env, str(tmp_path / "etc")) == ""


def test_an_installation_whose_name_is_not_utf_8_is_refused_for_a_plugin(repo: Path, env: dict[str, str]) -> None:
    with pytest.raises(RestanteError, match="not UTF-8"):
        FileInstaller(str(repo), "/x\udcff", env).plan_install(["opencode"])


def test_every_program_says_where_it_is_taught_and_each_moment_once() -> None:
    for one in PROGRAMS.values():
        assert bool(one.settings) != bool(one.plugin), one.name
        ours = [event.ours for event in one.events.values()]
        assert len(set(ours)) == len(ours)
        assert {"SessionStart", "UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"} <= set(ours)
