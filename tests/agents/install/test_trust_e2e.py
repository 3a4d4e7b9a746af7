"""Doctor's lines about trust against what the real Codex says of its hooks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import pytest
from tests.agents.install.conftest import git

from restante.agents.app_server import AppServer
from restante.agents.installer import FileInstaller

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.e2e

EVENTS = {"sessionStart": "SessionStart", "userPromptSubmit": "UserPromptSubmit", "postToolUse": "PostToolUse"}
EVENTS |= {"stop": "Stop", "sessionEnd": "SessionEnd"}
ALL_TRUSTED = dict.fromkeys(EVENTS.values(), "trusted")
ALL_UNTRUSTED = dict.fromkeys(EVENTS.values(), "untrusted")


def ask(program: str, environ: dict[str, str], root: Path) -> list[dict[str, Any]]:
    with AppServer(program, environ=environ, timeout=60.0) as server:
        answer = server.ask("hooks/list", {"cwds": [str(root)]})
    assert answer.result is not None, answer
    return cast("list[dict[str, Any]]", answer.result["data"])


class Worktree:
    """A worktree with our hooks, a person's configuration, and the two who can be asked about them."""

    def __init__(self, root: Path, bin_dir: Path, program: str, environ: dict[str, str]) -> None:
        self.root, self.program, self.environ = root, program, environ
        self.installer = FileInstaller(str(root), str(bin_dir), {**environ, "SHELL": "/bin/sh"})

    def install(self) -> None:
        self.installer.apply(self.installer.plan_install(["codex"]))

    def trust(self) -> None:
        self.installer.apply(self.installer.plan_trust())

    def codex_says(self) -> dict[str, str]:
        """What Codex says of each of our hooks; nothing of those that it does not even list."""
        said = {}
        for place in ask(self.program, self.environ, self.root):
            assert place["errors"] == []
            assert place["warnings"] == []
            for hook in place["hooks"]:
                if "restante-hook" in hook["command"]:
                    said[EVENTS[hook["eventName"]]] = hook["trustStatus"] if hook["enabled"] else "switched"
        return said

    def doctor_says(self) -> dict[str, str]:
        """The same, in Codex's way: hooks that it would not run for another reason are not listed."""
        lines = self.installer.checks()
        if any(
            line.ok is not True for line in lines if line.name in ("codex: project", "codex: switch", "codex: hooks")
        ):
            return {}
        return {
            line.name.removeprefix("codex: trust "): line.detail.partition(" ")[0].rstrip(":")
            for line in lines
            if line.name.startswith("codex: trust ")
        }

    def both_say(self) -> dict[str, str]:
        said = self.codex_says()
        assert self.doctor_says() == said
        return said


@pytest.fixture
def worktree(repo: Path, bin_dir: Path, codex_program: str, codex_environ: dict[str, str]) -> Worktree:
    return Worktree(repo, bin_dir, codex_program, codex_environ)


def test_hooks_are_untrusted_until_trusted_and_trusted_after_that(worktree: Worktree, codex_home: Path) -> None:
    worktree.install()
    assert worktree.both_say() == {}
    config = codex_home / "config.toml"
    config.write_text(config.read_text() + f'[projects."{worktree.root}"]\ntrust_level = "trusted"\n')
    assert worktree.both_say() == ALL_UNTRUSTED
    worktree.trust()
    assert worktree.both_say() == ALL_TRUSTED


def test_reinstalling_keeps_the_trust(worktree: Worktree) -> None:
    worktree.install()
    worktree.trust()
    worktree.installer.apply(worktree.installer.plan_uninstall())
    assert worktree.codex_says() == {}
    worktree.install()
    assert worktree.both_say() == ALL_TRUSTED


def test_a_hook_put_before_ours_costs_it_its_trust_until_it_is_given_again(worktree: Worktree) -> None:
    worktree.install()
    worktree.trust()
    path = worktree.root / ".codex" / "hooks.json"
    document = json.loads(path.read_text())
    document["hooks"]["Stop"].insert(0, {"hooks": [{"type": "command", "command": "make"}]})
    path.write_text(json.dumps(document))
    assert worktree.both_say() == ALL_TRUSTED | {"Stop": "untrusted"}
    worktree.trust()
    assert worktree.both_say() == ALL_TRUSTED


def test_a_hook_that_took_the_place_of_ours_is_modified(worktree: Worktree) -> None:
    worktree.install()
    worktree.trust()
    path = worktree.root / ".codex" / "hooks.json"
    document = json.loads(path.read_text())
    document["hooks"]["Stop"][0]["matcher"] = "x"
    path.write_text(json.dumps(document))
    # The matcher of a Stop hook means nothing to Codex, so it may leave it out of account; doctor wants it gone.
    assert worktree.codex_says()["Stop"] in ("modified", "trusted")
    document["hooks"]["Stop"][0] = {"hooks": [{**document["hooks"]["Stop"][0]["hooks"][0], "timeout": 9}]}
    path.write_text(json.dumps(document))
    assert worktree.codex_says() == ALL_TRUSTED | {"Stop": "modified"}
    worktree.install()
    assert worktree.both_say() == ALL_TRUSTED


def test_a_hook_switched_off_by_hand_stays_off(worktree: Worktree, codex_home: Path) -> None:
    worktree.install()
    worktree.trust()
    config = codex_home / "config.toml"
    key = f'[hooks.state."{worktree.root}/.codex/hooks.json:stop:0:0"]\n'
    config.write_text(config.read_text().replace(key, key + "enabled = false\n"))
    worktree.trust()
    assert worktree.both_say() == ALL_TRUSTED | {"Stop": "switched"}


def test_another_repository_is_not_trusted_along(
    worktree: Worktree, bin_dir: Path, codex_program: str, codex_environ: dict[str, str], tmp_path: Path
) -> None:
    worktree.install()
    worktree.trust()
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", str(worktree.root), str(clone))
    other = Worktree(clone, bin_dir, codex_program, codex_environ)
    other.install()
    assert other.both_say() == {}
    assert worktree.both_say() == ALL_TRUSTED


def test_a_linked_worktree_shares_the_main_ones_hooks_and_trust(
    worktree: Worktree, bin_dir: Path, codex_program: str, codex_environ: dict[str, str], tmp_path: Path
) -> None:
    linked = tmp_path / "linked"
    git(worktree.root, "worktree", "add", "-q", str(linked))
    other = Worktree(linked, bin_dir, codex_program, codex_environ)
    other.install()
    assert other.both_say() == {}
    other.trust()
    assert other.both_say() == ALL_TRUSTED
    other.installer.apply(other.installer.plan_uninstall())
    assert not (worktree.root / ".codex").exists()
    worktree.install()
    other.install()
    assert other.both_say() == ALL_TRUSTED


def test_a_worktree_opened_through_a_link_is_another_place_to_codex(
    worktree: Worktree, bin_dir: Path, codex_program: str, codex_environ: dict[str, str], tmp_path: Path
) -> None:
    worktree.install()
    worktree.trust()
    (tmp_path / "link").symlink_to(worktree.root)
    through_link = Worktree(tmp_path / "link", bin_dir, codex_program, codex_environ)
    assert through_link.both_say() == ALL_UNTRUSTED
    through_link.trust()
    assert through_link.both_say() == ALL_TRUSTED
    assert worktree.both_say() == ALL_TRUSTED


def test_trusting_through_a_link_trusts_the_real_place_too(
    worktree: Worktree, bin_dir: Path, codex_program: str, codex_environ: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(worktree.root)
    through_link = Worktree(tmp_path / "link", bin_dir, codex_program, codex_environ)
    through_link.install()
    through_link.trust()
    assert through_link.both_say() == ALL_TRUSTED
    assert worktree.both_say() == ALL_TRUSTED


def test_switching_hooks_off_altogether_is_seen(worktree: Worktree, codex_home: Path) -> None:
    worktree.install()
    worktree.trust()
    config = codex_home / "config.toml"
    config.write_text(config.read_text().replace("[features]\n", "[features]\nhooks = false\n"))
    assert worktree.both_say() == {}


def test_what_we_refuse_codex_refuses_too(worktree: Worktree) -> None:
    worktree.install()
    worktree.trust()
    path = worktree.root / ".codex" / "hooks.json"
    good = path.read_bytes()
    for bad in (b"\xef\xbb\xbf" + good, b'{"$schema": "x",' + good[1:]):
        path.write_bytes(bad)
        (place,) = ask(worktree.program, worktree.environ, worktree.root)
        assert place["hooks"] == []
        assert "failed to parse" in place["warnings"][0]
