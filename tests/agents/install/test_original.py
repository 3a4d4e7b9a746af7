"""The original mailbox program's hook beside ours: it is left alone, and one of the two holds ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.agents.install.conftest import git

from restante.agents.codex import digest_of
from restante.agents.holding import original_hook_present

if TYPE_CHECKING:
    from restante.agents.installer import FileInstaller

BOTH = ["codex", "claude"]
ORIGINAL = {"type": "command", "command": 'python3 "x/codexpigeon_mailbox_hook.py"', "timeout": 10}
BY_STATUS = {"type": "command", "command": "y", "statusMessage": "Final CodexPigeon check"}
AS_INSTALLED = {
    "type": "command",
    "command": 'python3 "$(git rev-parse --show-toplevel || pwd)/.codex/hooks/codexpigeon_mailbox_hook.py"',
}


def put(path: Path, *entries: dict[str, Any], event: str = "Stop") -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"hooks": {event: [{"hooks": list(entries)}]}}))
    return path


def trust(env: dict[str, str], path: Path | str, entry: dict[str, Any], *, place: str = "stop:0:0") -> Path:
    """Do what Codex does when a person says that they trust a hook."""
    config = Path(env["HOME"]) / ".codex" / "config.toml"
    config.parent.mkdir(exist_ok=True)
    with config.open("a") as file:
        file.write(f'[hooks.state."{path}:{place}"]\ntrusted_hash = "{digest_of("Stop", entry, {})}"\n')
    return config


def install(installer: FileInstaller) -> None:
    installer.apply(installer.plan_install(BOTH))


def doctor(installer: FileInstaller) -> str:
    return "\n".join(line.detail for line in installer.checks() if line.name == "original program")


@pytest.mark.parametrize("entry", [ORIGINAL, BY_STATUS])
@pytest.mark.parametrize("place", ["worktree", "person"])
def test_the_original_programs_hook_is_found_told_and_left_alone(
    installer: FileInstaller, repo: Path, env: dict[str, str], entry: dict[str, object], place: str
) -> None:
    path = put((repo if place == "worktree" else Path(env["HOME"])) / ".codex" / "hooks.json", entry)
    assert any(str(path) in note and "original" in note for note in installer.plan_install(BOTH).notes)
    assert str(path) in doctor(installer)
    before = path.read_bytes()
    install(installer)
    hooks = json.loads((repo / ".codex" / "hooks.json").read_bytes())["hooks"]
    assert json.dumps(hooks).count("codexpigeon") == (place == "worktree" and entry is ORIGINAL)
    installer.apply(installer.plan_uninstall())
    assert path.read_bytes() == before


@pytest.mark.parametrize("entry", [ORIGINAL, BY_STATUS])
@pytest.mark.parametrize("place", ["worktree", "person"])
def test_in_codex_the_original_holds_ends_only_once_its_hook_is_trusted(
    installer: FileInstaller, repo: Path, env: dict[str, str], entry: dict[str, Any], place: str
) -> None:
    path = put((repo if place == "worktree" else Path(env["HOME"])) / ".codex" / "hooks.json", entry)
    assert not original_hook_present(str(repo), env, "codex")
    assert "so ours holds up the end" in doctor(installer)
    trust(env, path, entry)
    assert original_hook_present(str(repo), env, "codex")
    assert "it holds up the end of a turn, ours does not" in doctor(installer)
    assert any("ours does not" in note for note in installer.plan_install(BOTH).notes)


@pytest.mark.parametrize("change", ["edited", "switched off", "moved"])
def test_a_trust_that_codex_no_longer_honours_is_none(repo: Path, env: dict[str, str], change: str) -> None:
    path = put(repo / ".codex" / "hooks.json", ORIGINAL)
    config = trust(env, path, ORIGINAL)
    if change == "edited":
        put(path, {**ORIGINAL, "timeout": 11})
    elif change == "moved":
        put(path, {"type": "command", "command": "make"}, ORIGINAL)
    else:
        config.write_text(config.read_text() + "enabled = false\n")
    assert not original_hook_present(str(repo), env, "codex")


def test_a_hook_that_never_runs_at_an_end_holds_none(repo: Path, env: dict[str, str]) -> None:
    path = put(repo / ".codex" / "hooks.json", ORIGINAL, event="SessionStart")
    trust(env, path, ORIGINAL, place="session_start:0:0")
    assert not original_hook_present(str(repo), env, "codex")


def test_a_worktree_that_codex_knows_by_another_name_is_recognised(
    repo: Path, env: dict[str, str], tmp_path: Path
) -> None:
    put(repo / ".codex" / "hooks.json", ORIGINAL)
    (tmp_path / "link").symlink_to(repo)
    trust(env, tmp_path / "link" / ".codex" / "hooks.json", ORIGINAL)
    assert original_hook_present(str(repo), env, "codex")


def test_where_our_untrusted_hook_runs_the_original_runs_untrusted_too(
    installer: FileInstaller, repo: Path, env: dict[str, str]
) -> None:
    put(repo / ".codex" / "hooks.json", ORIGINAL)
    install(installer)
    assert original_hook_present(str(repo), env, "codex", from_hook=True)
    assert not original_hook_present(str(repo), env, "codex")
    installer.apply(installer.plan_trust())
    assert not original_hook_present(str(repo), env, "codex", from_hook=True)


def test_a_hook_whose_script_is_not_in_this_worktree_holds_nothing(
    repo: Path, env: dict[str, str], tmp_path: Path
) -> None:
    path = put(repo / ".codex" / "hooks.json", AS_INSTALLED)
    trust(env, path, AS_INSTALLED)
    assert not original_hook_present(str(repo), env, "codex")
    script = repo / ".codex" / "hooks" / "codexpigeon_mailbox_hook.py"
    script.parent.mkdir()
    script.touch()
    assert original_hook_present(str(repo), env, "codex")
    # A linked worktree has the main one's hooks, but its own top level.
    git(repo, "worktree", "add", "-q", str(tmp_path / "linked"))
    assert not original_hook_present(str(tmp_path / "linked"), env, "codex")


@pytest.mark.parametrize("name", ["settings.local.json", "settings.json"])
def test_claude_runs_what_its_settings_say_and_doctor_looks_there_too(
    installer: FileInstaller, repo: Path, env: dict[str, str], name: str
) -> None:
    path = put(repo / ".claude" / name, ORIGINAL)
    assert original_hook_present(str(repo), env, "claude")
    assert not original_hook_present(str(repo), env, "codex")
    assert f"its hook for claude is in {path}; it holds up the end" in doctor(installer)
    put(path, ORIGINAL, event="PostToolUse")
    assert not original_hook_present(str(repo), env, "claude")
    assert "it does not run when a turn ends, so ours holds" in doctor(installer)


@pytest.mark.parametrize("data", [b"", b"[", b"\xff\xfe", b"[" * 100_000, b'{"a": "CodexPigeon"}'])
@pytest.mark.parametrize("agent", BOTH)
def test_looking_for_the_original_never_raises(repo: Path, data: bytes, agent: str) -> None:
    for name in (".codex/hooks.json", ".claude/settings.json"):
        (repo / name).parent.mkdir()
        (repo / name).write_bytes(b'"CodexPigeon' + data)
    assert original_hook_present(str(repo), {}, agent, from_hook=True) is False


@pytest.mark.parametrize(
    "document",
    [
        {"hooks": {"Stop": {"hooks": [ORIGINAL]}}},
        {"hooks": [ORIGINAL]},
        {"hooks": {"Stop": [{"hooks": [{**BY_STATUS, "command": "\ud800"}]}]}},
        {"hooks": {"Stop": [{"hooks": [{**BY_STATUS, "command": 7}]}]}},
        {"hooks": {"Stop": [{"hooks": ORIGINAL}, 3, None]}},
    ],
)
def test_hooks_of_a_shape_that_nobody_wrote_hold_nothing(repo: Path, env: dict[str, str], document: object) -> None:
    (repo / ".codex").mkdir()
    (repo / ".codex" / "hooks.json").write_text(json.dumps(document))
    for config in ("", "broken", "[hooks]\nstate = 3\n", "hooks = 3\n", '[hooks.state]\n"x:stop:0:0" = 3\n'):
        (Path(env["HOME"]) / ".codex").mkdir(exist_ok=True)
        (Path(env["HOME"]) / ".codex" / "config.toml").write_text(config)
        assert original_hook_present(str(repo), env, "codex", from_hook=True) is False


def test_ours_does_not_look_like_the_originals(installer: FileInstaller, repo: Path, env: dict[str, str]) -> None:
    install(installer)
    installer.apply(installer.plan_trust())
    for agent in BOTH:
        assert not original_hook_present(str(repo), env, agent, from_hook=True)


@pytest.mark.parametrize("is_there", [False, True])
def test_looking_for_the_original_imports_more_only_where_it_is(repo: Path, is_there: bool) -> None:
    if is_there:
        put(repo / ".codex" / "hooks.json", ORIGINAL)
    code = (
        "import sys, os, json; before = set(sys.modules); import restante.agents.holding as o; "
        "o.original_hook_present(sys.argv[1], {}, 'codex', from_hook=True); "
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code, str(repo)], capture_output=True, text=True, check=True)
    loaded = set(json.loads(done.stdout))
    assert "restante.agents.original" in loaded
    assert ("restante.agents.codex" in loaded) is is_there
    assert ("restante.agents.json_edit" in loaded) is is_there
