"""The server of tools in each program's own file: put in where asked, kept current, taken out to the byte."""

from __future__ import annotations

import json
import os
import tomllib
from typing import TYPE_CHECKING, Any

import pytest

from restante.agents.codex import digest_of
from restante.agents.mcp_hooks import EVENTS, handler
from restante.agents.mcp_json import entry_in, put_entry, take_out_entry
from restante.agents.mcp_servers import PLACES, is_ours
from restante.domain.errors import RestanteError, Unreadable, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from restante.agents.installer import FileInstaller

ALL = ("codex", "claude", "opencode", "gemini")
COMMAND: dict[str, Callable[[Any], list[str]]] = {
    "codex": lambda entry: [entry["command"], *entry["args"]],
    "claude": lambda entry: [entry["command"], *entry["args"]],
    "opencode": lambda entry: entry["command"],
    "gemini": lambda entry: [entry["command"], *entry["args"]],
}


def entry_of(repo: Path, agent: str) -> Any:
    place = PLACES[agent]
    text = (repo / place.file).read_text()
    whole = tomllib.loads(text) if place.file.endswith(".toml") else json.loads(text)
    return whole[place.section]["restante"]


def files_of(repo: Path) -> dict[str, bytes]:
    found = (path for path in repo.rglob("*") if path.is_file())
    return {str(path.relative_to(repo)): path.read_bytes() for path in found}


@pytest.mark.parametrize("agent", ALL)
def test_a_program_is_told_how_to_start_the_server(installer: FileInstaller, repo: Path, agent: str) -> None:
    installer.apply(installer.plan_install([agent], tools="tools"))
    entry = entry_of(repo, agent)
    command, word = COMMAND[agent](entry)
    assert (os.path.basename(command), word) == ("restante", "mcp")
    assert is_ours(entry)
    assert entry.get("alwaysLoad", False) is (agent == "claude")
    assert entry.get("required", False) is (agent == "codex")
    assert ("RESTANTE_DATA" in entry.get("env_vars", ())) is (agent == "codex")


def test_nothing_is_registered_unless_asked(installer: FileInstaller, repo: Path) -> None:
    installer.apply(installer.plan_install(["codex", "claude"]))
    assert not [agent for agent in ALL if (repo / PLACES[agent].file).exists()]


def test_installing_again_changes_nothing_and_without_the_word_keeps_it_current(
    installer: FileInstaller, repo: Path
) -> None:
    installer.apply(installer.plan_install(ALL, tools="hooks"))
    assert installer.plan_install(ALL, tools="hooks").changes == ()
    assert installer.plan_install(["codex", "claude"]).changes == ()
    path = repo / ".mcp.json"
    path.write_text(path.read_text().replace('"alwaysLoad": true', '"alwaysLoad": false'))
    assert [change.path for change in installer.plan_install(["claude"]).changes] == [str(path)]


def test_uninstalling_leaves_every_byte_as_it_was(installer: FileInstaller, repo: Path) -> None:
    (repo / ".codex").mkdir()
    (repo / ".codex" / "config.toml").write_text('model = "m"\r\n\r\n[mcp_servers.other]\r\ncommand = "x"')
    (repo / ".mcp.json").write_text('{"mcpServers":{"other":{"command":"x"}}}')
    (repo / "opencode.json").write_text('{\n\t"model": "m"\n}\n')
    before = files_of(repo)
    installer.apply(installer.plan_install(ALL, tools="hooks"))
    assert entry_of(repo, "codex")["args"] == ["mcp"]
    assert tomllib.loads((repo / ".codex" / "config.toml").read_text())["mcp_servers"]["other"] == {"command": "x"}
    assert json.loads((repo / ".mcp.json").read_text())["mcpServers"]["other"] == {"command": "x"}
    installer.apply(installer.plan_uninstall())
    assert files_of(repo) == before


def test_a_server_of_our_name_that_is_not_ours_stays(installer: FileInstaller, repo: Path) -> None:
    text = '{"mcpServers": {"restante": {"command": "node", "args": ["mine.js"]}}}\n'
    (repo / ".mcp.json").write_text(text)
    plan = installer.plan_install(["claude"], tools="tools")
    assert any("not ours" in note for note in plan.notes)
    installer.apply(plan)
    installer.apply(installer.plan_uninstall())
    assert (repo / ".mcp.json").read_text() == text


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (".mcp.json", '{"mcpServers": []}', "'mcpServers' is not an object"),
        (".mcp.json", "// a comment\n{}", "a comment"),
        ("opencode.json", "[]", "something else than a JSON object"),
        (".codex/config.toml", "mcp_servers = 3\n", "no table"),
        (".codex/config.toml", "[mcp_servers]\nrestante = {command='restante', args=['mcp']}\n", "elsewhere"),
        (".codex/config.toml", "mcp_servers = {other = {command = 'x'}}\n", "no place"),
        (".codex/config.toml", "what is this", "not TOML"),
    ],
)
def test_a_file_that_is_not_what_it_should_be_is_named_and_nothing_changes(
    installer: FileInstaller, repo: Path, name: str, text: str, said: str
) -> None:
    (repo / name).parent.mkdir(exist_ok=True)
    (repo / name).write_text(text)
    before = files_of(repo)
    with pytest.raises(Unreadable, match=said) as caught:
        installer.plan_install(ALL, tools="tools")
    assert str(repo / name) in caught.value.message
    assert files_of(repo) == before


def test_a_link_in_the_place_of_a_file_is_refused(installer: FileInstaller, repo: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere.json").write_text("{}")
    (repo / ".mcp.json").symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(RestanteError):
        installer.plan_install(["claude"], tools="tools")
    assert (tmp_path / "elsewhere.json").read_text() == "{}"


def test_git_is_not_told_of_files_that_hold_nothing_but_ours(installer: FileInstaller, repo: Path) -> None:
    (repo / "opencode.json").write_text('{"model": "m"}')
    installer.apply(installer.plan_install(ALL, tools="tools"))
    rules = (repo / ".git" / "info" / "exclude").read_text().splitlines()
    assert {"/.mcp.json", "/.codex/config.toml", "/.gemini/settings.json"} <= set(rules)
    assert "/opencode.json" not in rules


def test_checkpoints_call_the_server_only_where_that_is_asked_and_go_back(installer: FileInstaller, repo: Path) -> None:
    def kinds(agent: str, file: str) -> dict[str, str]:
        hooks = json.loads((repo / file).read_text())["hooks"]
        return {event: groups[0]["hooks"][0]["type"] for event, groups in hooks.items()}

    installer.apply(installer.plan_install(["codex", "claude"], tools="tools"))
    for agent, file in (("codex", ".codex/hooks.json"), ("claude", ".claude/settings.local.json")):
        assert set(kinds(agent, file).values()) == {"command"}
    installer.apply(installer.plan_install(["codex", "claude"], tools="hooks"))
    for agent, file in (("codex", ".codex/hooks.json"), ("claude", ".claude/settings.local.json")):
        found = kinds(agent, file)
        assert {event for event, kind in found.items() if kind == "mcp_tool"} == set(EVENTS)
        assert (found["SessionStart"], found["SessionEnd"]) == ("command", "command")
    installer.apply(installer.plan_install(["codex", "claude"], tools="tools"))
    assert set(kinds("codex", ".codex/hooks.json").values()) == {"command"}


def test_codex_knows_a_hook_that_calls_a_tool_by_its_published_hash() -> None:
    """The hash that ``hooks/list`` of Codex 0.171.0 gave for this very entry."""
    assert (
        digest_of("UserPromptSubmit", handler("codex", "UserPromptSubmit"), {})
        == "sha256:bb36eac6eec84748694d37be72fd6578408a0e73fc5060c212faf84d9907b88b"
    )


def test_a_program_that_nobody_knows_is_not_told_of_the_server_either(installer: FileInstaller) -> None:
    with pytest.raises(UsageError, match="emacs"):
        installer.plan_install(["emacs"], tools="tools")


def test_the_doctor_looks_where_it_is_registered(installer: FileInstaller, repo: Path) -> None:
    def lines() -> dict[str, bool | None]:
        return {check.name: check.ok for check in installer.checks() if check.name.endswith("tools")}

    installer.apply(installer.plan_install(["codex", "claude"]))
    assert lines() == {}
    installer.apply(installer.plan_install(["codex", "claude"], tools="hooks"))
    assert (lines()["codex: tools"], lines()["claude: tools"]) == (True, True)
    (repo / ".mcp.json").unlink()
    assert lines()["claude: tools"] is False


@pytest.mark.parametrize("text", ["{}", "{ }", '{"a":1}', '{\n  "s": {}\n}\n', '{"s": {"x": 1}, "b": 2}', "\ufeff{}"])
def test_an_entry_is_taken_out_of_any_layout_to_the_byte(text: str) -> None:
    data = text.encode()
    put = put_entry(data, "s", "restante", {"command": "restante", "args": ["mcp"]}, "f")
    assert entry_in(put, "s", "restante", "f") == {"command": "restante", "args": ["mcp"]}
    changed = put_entry(put, "s", "restante", {"command": "other"}, "f")
    assert take_out_entry(changed, "s", "restante", "f") == data
    assert take_out_entry(data, "s", "restante", "f") == data
