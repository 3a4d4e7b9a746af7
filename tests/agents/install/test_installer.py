"""Installing into a worktree, again and again, and taking all of it out again."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from typing import TYPE_CHECKING

import pytest
from tests.agents.install.conftest import git

from restante.agents.hookline import command_line, quote, timeouts_of
from restante.agents.installer import FileInstaller
from restante.agents.managed_block import GUIDANCE
from restante.agents.skill import PLACES as SKILLS
from restante.agents.skill import skill_text
from restante.domain.errors import RestanteError, Unreadable, Unsafe, UsageError

if TYPE_CHECKING:
    from pathlib import Path

BOTH = ("codex", "claude")
SETTINGS = b'{\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}\n}\n'


def snapshot(root: Path) -> dict[str, str]:
    """Every file and directory below, with the digest of what it holds."""
    found = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if path.is_symlink():
            found[name] = f"link to {os.readlink(path)}"
        elif path.is_file():
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
        else:
            found[name] = "directory"
    return found


def install(installer: FileInstaller, *agents: str) -> None:
    installer.apply(installer.plan_install(agents or BOTH))


def uninstall(installer: FileInstaller) -> tuple[str, ...]:
    plan = installer.plan_uninstall()
    installer.apply(plan)
    return plan.notes


def holds_block(path: Path) -> bool:
    return path.exists() and GUIDANCE.start in path.read_bytes()


def test_everything_an_agent_needs_is_there_afterwards(installer: FileInstaller, repo: Path, bin_dir: Path) -> None:
    install(installer)
    assert holds_block(repo / "AGENTS.md")
    assert not (repo / "CLAUDE.md").exists()
    for agent, name in (("codex", ".codex/hooks.json"), ("claude", ".claude/settings.local.json")):
        hooks = json.loads((repo / name).read_bytes())["hooks"]
        timeouts = timeouts_of(agent)
        assert list(hooks) == list(timeouts)
        assert ("Notification" in hooks) is (agent == "claude")
        for event, groups in hooks.items():
            line = command_line(str(bin_dir), agent, event)
            assert groups == [{"hooks": [{"type": "command", "command": line, "timeout": timeouts[event]}]}]
        assert "matcher" not in json.dumps(hooks)
        assert b"CodexPigeon" not in (repo / name).read_bytes()
        assert b"codexpigeon" not in (repo / name).read_bytes()
    assert (repo / ".codex-mailbox" / "README.md").read_text().startswith("# The mailbox of this worktree\n")
    assert (repo / ".codex-mailbox" / ".gitignore").read_bytes() == b"*\n"
    assert (repo / ".codex-mailbox" / ".restante" / ".gitignore").read_bytes() == b"*\n"
    assert git(repo, "status", "--porcelain").split() == ["??", "AGENTS.md"]


def test_each_program_gets_the_skill_where_it_looks_for_one(
    installer: FileInstaller, repo: Path, bin_dir: Path
) -> None:
    install(installer, "codex")
    assert [str(path.relative_to(repo)) for path in repo.rglob("SKILL.md")] == [".agents/skills/restante/SKILL.md"]
    install(installer)
    texts = {(repo / place).read_text() for place in SKILLS.values()}
    assert texts == {skill_text(quote(f"{bin_dir}/restante"))}
    assert git(repo, "status", "--porcelain").split() == ["??", "AGENTS.md"]
    assert {one.ok for one in installer.checks() if one.name.startswith("skill")} == {True}
    (repo / SKILLS["codex"]).write_text(skill_text("restante").replace("## Trust", "## Belief"))
    assert {one.name: one.ok for one in installer.checks() if one.name.startswith("skill")} == {
        "skill: codex": False,
        "skill: claude": True,
    }
    install(installer)
    assert (repo / SKILLS["codex"]).read_text() in texts
    uninstall(installer)
    assert not (repo / ".agents").exists()
    assert not (repo / ".claude").exists()


def test_a_skill_of_the_same_name_that_is_not_ours_stays_and_is_told(installer: FileInstaller, repo: Path) -> None:
    path = repo / SKILLS["claude"]
    path.parent.mkdir(parents=True)
    path.write_text("---\nname: restante\n---\nOurs.\n")
    plan = installer.plan_install(BOTH)
    assert str(path) not in [change.path for change in plan.changes]
    assert any(str(path) in note for note in plan.notes)
    installer.apply(plan)
    uninstall(installer)
    assert path.read_text() == "---\nname: restante\n---\nOurs.\n"
    assert " M" not in git(repo, "status", "--porcelain")


def test_what_is_ours_is_private_and_what_others_read_is_not(installer: FileInstaller, repo: Path) -> None:
    old = os.umask(0)
    try:
        install(installer)
    finally:
        os.umask(old)
    modes = {
        str(path.relative_to(repo)): oct(path.stat().st_mode & 0o777)
        for path in [repo / "AGENTS.md", *(repo / ".codex").rglob("*"), *(repo / ".codex-mailbox").rglob("*")]
    }
    assert modes.pop("AGENTS.md") == "0o644"
    assert modes.pop(".codex-mailbox/.restante") == "0o700"
    assert set(modes.values()) == {"0o600"}


def test_installing_again_changes_no_byte(installer: FileInstaller, repo: Path) -> None:
    install(installer)
    once = snapshot(repo)
    for _ in range(2):
        plan = installer.plan_install(BOTH)
        assert plan.changes == ()
        installer.apply(plan)
    assert snapshot(repo) == once


def test_planning_creates_nothing(installer: FileInstaller, repo: Path) -> None:
    before = snapshot(repo)
    installer.plan_install(BOTH)
    installer.plan_uninstall()
    installer.checks()
    assert snapshot(repo) == before


def test_uninstalling_leaves_nothing_and_may_be_said_twice(installer: FileInstaller, repo: Path) -> None:
    before = snapshot(repo)
    install(installer)
    assert uninstall(installer) == ()
    assert snapshot(repo) == before
    assert installer.plan_uninstall().changes == ()


FILES = {
    "AGENTS.md": b"# Rules\r\n\r\nCaf\xe9, no final line feed",
    "CLAUDE.md": b"\xef\xbb\xbf# Claude\n",
    ".codex/hooks.json": SETTINGS,
    ".claude/settings.local.json": b'\xef\xbb\xbf{"a": 1e3,\r\n "permissions": {}}\r\n',
    ".claude/settings.json": b"{}",
    ".codex/config.toml": b"# mine\n",
    ".git/info/exclude": b"*.log",
}


def test_uninstalling_restores_every_byte_of_what_was_there(installer: FileInstaller, repo: Path) -> None:
    for name, data in FILES.items():
        (repo / name).parent.mkdir(exist_ok=True)
        (repo / name).write_bytes(data)
        (repo / name).chmod(0o640)
    before = snapshot(repo)
    for _ in range(3):
        install(installer)
    assert holds_block(repo / "AGENTS.md")
    assert holds_block(repo / "CLAUDE.md")
    uninstall(installer)
    assert snapshot(repo) == before
    assert {oct((repo / name).stat().st_mode & 0o777) for name in FILES} == {"0o640"}


def test_mail_stays_and_stays_ignored(installer: FileInstaller, repo: Path) -> None:
    install(installer)
    (repo / ".codex-mailbox" / "INBOX.md").write_text("mail\n")
    notes = uninstall(installer)
    assert any("mail stays" in note for note in notes)
    assert (repo / ".codex-mailbox" / "INBOX.md").read_text() == "mail\n"
    assert git(repo, "status", "--porcelain") == ""
    assert installer.plan_uninstall().changes == ()
    install(installer)
    assert (repo / ".codex-mailbox" / "README.md").exists()


def test_what_the_original_program_wrote_into_the_mailbox_stays_its_own(installer: FileInstaller, repo: Path) -> None:
    box = repo / ".codex-mailbox"
    box.mkdir()
    (box / "README.md").write_text("theirs\n")
    (box / ".gitignore").write_text("INBOX.md\n")
    before = snapshot(repo)
    install(installer)
    assert (box / "README.md").read_text() == "theirs\n"
    assert (box / ".gitignore").read_text() == "INBOX.md\n"
    uninstall(installer)
    assert snapshot(repo).items() >= before.items()


def test_mail_survives_stashing_everything_twice(installer: FileInstaller, repo: Path) -> None:
    install(installer)
    (repo / ".codex-mailbox" / "INBOX.md").write_text("mail\n")
    for _ in range(2):
        git(repo, "stash", "push", "-q", "-u")
    assert (repo / ".codex-mailbox" / "INBOX.md").read_text() == "mail\n"
    assert (repo / ".codex" / "hooks.json").exists()
    assert git(repo, "status", "--porcelain") == ""


def test_a_hook_file_that_holds_more_than_ours_is_not_hidden_from_git(installer: FileInstaller, repo: Path) -> None:
    (repo / ".codex").mkdir()
    (repo / ".codex" / "hooks.json").write_bytes(SETTINGS)
    install(installer)
    install(installer)
    assert "?? .codex/" in git(repo, "status", "--porcelain")


def test_outside_a_repository_nothing_is_ignored_and_all_else_works(
    bin_dir: Path, env: dict[str, str], tmp_path: Path
) -> None:
    place = tmp_path / "plain"
    place.mkdir()
    installer = FileInstaller(str(place), str(bin_dir), env)
    install(installer)
    assert (place / ".codex" / "hooks.json").exists()
    uninstall(installer)
    assert snapshot(place) == {}


def test_a_worktree_that_is_gone_has_nothing_to_uninstall(installer: FileInstaller, repo: Path) -> None:
    install(installer)
    shutil.rmtree(repo)
    assert uninstall(installer) == ()
    assert uninstall(installer) == ()
    assert not repo.exists()


# --- which file teaches whom ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("there", "agents", "taught"),
    [
        ({}, BOTH, {"AGENTS.md"}),
        ({}, ("claude",), {"AGENTS.md"}),
        ({"AGENTS.md": "x\n"}, BOTH, {"AGENTS.md"}),
        ({"CLAUDE.md": "x\n"}, ("claude",), {"CLAUDE.md"}),
        ({"CLAUDE.md": "x\n"}, ("codex",), {"AGENTS.md"}),
        ({"CLAUDE.md": "x\n"}, BOTH, {"AGENTS.md", "CLAUDE.md"}),
        ({"AGENTS.md": "x\n", "CLAUDE.md": "y\n"}, BOTH, {"AGENTS.md", "CLAUDE.md"}),
        ({"AGENTS.md": "x\n", "CLAUDE.md": "y\n"}, ("claude",), {"CLAUDE.md"}),
        ({"AGENTS.md": "x\n", "CLAUDE.md": "@AGENTS.md\n"}, BOTH, {"AGENTS.md"}),
        ({"AGENTS.md": "x\n", "CLAUDE.md": "# Ours\r\n@./AGENTS.md\r\n"}, ("claude",), {"AGENTS.md"}),
    ],
)
def test_each_program_is_taught_in_the_file_it_reads_and_only_once(
    installer: FileInstaller, repo: Path, there: dict[str, str], agents: tuple[str, ...], taught: set[str]
) -> None:
    for name, text in there.items():
        (repo / name).write_bytes(text.encode())
    before = snapshot(repo)
    install(installer, *agents)
    assert {name for name in ("AGENTS.md", "CLAUDE.md") if holds_block(repo / name)} == taught
    assert installer.plan_install(agents).changes == ()
    uninstall(installer)
    assert snapshot(repo) == before


@pytest.mark.parametrize(("link", "real"), [("CLAUDE.md", "AGENTS.md"), ("AGENTS.md", "CLAUDE.md")])
def test_one_file_under_two_names_is_written_once_and_stays_one(
    installer: FileInstaller, repo: Path, link: str, real: str
) -> None:
    (repo / real).write_text("x\n")
    (repo / link).symlink_to(real)
    before = snapshot(repo)
    install(installer)
    assert (repo / link).is_symlink()
    assert (repo / real).read_bytes().count(GUIDANCE.start) == 1
    uninstall(installer)
    assert snapshot(repo) == before


def test_the_command_is_named_as_it_can_be_called(
    repo: Path, bin_dir: Path, env: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "local").mkdir()
    (tmp_path / "local" / "restante").symlink_to(bin_dir / "restante")
    other = tmp_path / "other"
    other.mkdir()
    (other / "restante").write_text("#!/bin/sh\n")
    (other / "restante").chmod(0o755)
    for path, named in (
        (tmp_path / "local", "restante"),
        (other, f"'{bin_dir}/restante'"),
        (tmp_path, f"'{bin_dir}/restante'"),
    ):
        installer = FileInstaller(str(repo), str(bin_dir), {**env, "PATH": f"{path}:/usr/bin:/bin"})
        install(installer)
        assert f"`{named} inbox`" in (repo / "AGENTS.md").read_text()
        assert all(line.ok for line in installer.checks() if line.name.startswith("guidance"))


# --- shells ---------------------------------------------------------------------------------------


def test_a_shell_that_is_not_posix_gets_a_line_that_calls_one(repo: Path, bin_dir: Path, env: dict[str, str]) -> None:
    install(FileInstaller(str(repo), str(bin_dir), {**env, "SHELL": "/usr/bin/fish"}))
    line = json.loads((repo / ".codex" / "hooks.json").read_bytes())["hooks"]["Stop"][0]["hooks"][0]["command"]
    assert line.startswith("sh -c '")
    assert line == command_line(str(bin_dir), "codex", "Stop", wrapped=True)
    # It works in any shell: another shell is no reason to lose a person's trust in it.
    assert FileInstaller(str(repo), str(bin_dir), env).plan_install(BOTH).changes == ()


def test_a_plain_line_is_replaced_where_the_shell_cannot_read_it(
    repo: Path, bin_dir: Path, env: dict[str, str]
) -> None:
    install(FileInstaller(str(repo), str(bin_dir), env))
    assert FileInstaller(str(repo), str(bin_dir), {**env, "SHELL": "/bin/csh"}).plan_install(BOTH).changes


def test_another_installation_takes_over_in_place(installer: FileInstaller, repo: Path, env: dict[str, str]) -> None:
    before = snapshot(repo)
    install(installer)
    other = FileInstaller(str(repo), "/opt/other/bin", env)
    install(other)
    text = (repo / ".codex" / "hooks.json").read_text()
    assert "/opt/other/bin" in text
    assert "inst all" not in text
    uninstall(installer)
    assert snapshot(repo) == before


# --- linked worktrees -----------------------------------------------------------------------------


@pytest.fixture
def linked(repo: Path) -> Path:
    path = repo.parent / "linked"
    git(repo, "worktree", "add", "-q", str(path))
    return path


def test_codex_reads_a_linked_worktrees_hooks_from_the_main_one(
    repo: Path, linked: Path, bin_dir: Path, env: dict[str, str]
) -> None:
    before = snapshot(repo.parent)
    installer = FileInstaller(str(linked), str(bin_dir), env)
    assert any(str(repo / ".codex/hooks.json") in note for note in installer.plan_install(BOTH).notes)
    install(installer)
    assert (repo / ".codex" / "hooks.json").exists()
    assert (linked / ".codex").is_dir()
    assert not (repo / "AGENTS.md").exists()
    assert (repo / ".git" / "info" / "exclude").read_text().count("/.codex-mailbox/") == 1
    assert git(linked, "status", "--porcelain").split() == ["??", "AGENTS.md"]
    uninstall(installer)
    assert snapshot(repo.parent) == before


@pytest.mark.parametrize("first", ["main", "linked"])
def test_what_worktrees_share_stays_until_the_last_one_is_uninstalled(
    repo: Path, linked: Path, bin_dir: Path, env: dict[str, str], first: str
) -> None:
    before = snapshot(repo.parent)
    main_one, linked_one = (FileInstaller(str(path), str(bin_dir), env) for path in (repo, linked))
    install(main_one)
    install(linked_one)
    order = [main_one, linked_one] if first == "main" else [linked_one, main_one]
    notes = uninstall(order[0])
    assert any("stays as it is" in note for note in notes)
    assert "restante-hook" in (repo / ".codex" / "hooks.json").read_text()
    assert "/.codex-mailbox/" in (repo / ".git" / "info" / "exclude").read_text()
    uninstall(order[1])
    assert snapshot(repo.parent) == before


# --- refusals: nothing is touched -----------------------------------------------------------------

BAD = {
    "broken json": (".claude/settings.local.json", b'{\n "a": \n', Unreadable),
    "comment": (".codex/hooks.json", b"{\n// x\n}", Unreadable),
    "double key": (".claude/settings.local.json", b'{"a":1,"a":2}', Unreadable),
    "root list": (".claude/settings.local.json", b"[]", Unreadable),
    "utf-16": (".claude/settings.local.json", "{}".encode("utf-16"), Unreadable),
    "schema key for codex": (".codex/hooks.json", b'{"$schema": "x"}', Unreadable),
    "bom for codex": (".codex/hooks.json", b"\xef\xbb\xbf{}", Unreadable),
    "lone start": ("AGENTS.md", GUIDANCE.start + b"\n", Unreadable),
    "utf-16 guidance": ("AGENTS.md", "x".encode("utf-16"), Unreadable),
    "open fence": ("CLAUDE.md", b"```\n", Unreadable),
    "lone start of ignore rules": (".git/info/exclude", b"# restante: the mailbox's files\n", Unreadable),
}


@pytest.mark.parametrize(("name", "data", "error"), BAD.values(), ids=BAD.keys())
def test_an_odd_file_is_refused_by_name_before_anything_is_touched(
    installer: FileInstaller, repo: Path, name: str, data: bytes, error: type[RestanteError]
) -> None:
    (repo / name).parent.mkdir(exist_ok=True)
    (repo / name).write_bytes(data)
    before = snapshot(repo)
    with pytest.raises(error, match=name.replace(".", r"\.") + r":[1-9]") as raised:
        install(installer)
    assert raised.value.remedy
    assert snapshot(repo) == before
    assert any(line.ok is False and line.remedy for line in installer.checks())


PLACES = [
    "AGENTS.md",
    "CLAUDE.md",
    ".codex",
    ".codex/hooks.json",
    ".claude",
    ".claude/settings.local.json",
    ".codex-mailbox",
    ".codex-mailbox/README.md",
    ".codex-mailbox/.restante",
    ".git/info/exclude",
    ".agents",
    ".agents/skills",
]


@pytest.mark.parametrize("dangling", [False, True])
@pytest.mark.parametrize("name", PLACES)
def test_a_symbolic_link_is_refused_before_anything_is_touched(
    installer: FileInstaller, repo: Path, tmp_path: Path, name: str, dangling: bool
) -> None:
    target = tmp_path / "elsewhere"
    if not dangling:
        if name.endswith((".md", ".json", "exclude")):
            target.write_text("{}")
        else:
            target.mkdir()
    place = repo / name
    place.parent.mkdir(exist_ok=True)
    place.unlink(missing_ok=True)
    place.symlink_to(target)
    before = snapshot(tmp_path)
    with pytest.raises(Unsafe, match=name.replace(".", r"\.")):
        install(installer)
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("name", ["AGENTS.md", ".codex/hooks.json", ".git/info/exclude"])
def test_what_is_no_regular_file_is_refused_without_opening_it(installer: FileInstaller, repo: Path, name: str) -> None:
    (repo / name).parent.mkdir(exist_ok=True)
    (repo / name).unlink(missing_ok=True)
    os.mkfifo(repo / name)
    with pytest.raises(Unreadable, match="not a regular file"):
        install(installer)
    (repo / name).unlink()
    (repo / name).mkdir()
    with pytest.raises(Unreadable, match="not a regular file"):
        install(installer)


def test_a_file_where_a_directory_should_be_is_refused(installer: FileInstaller, repo: Path) -> None:
    (repo / ".codex").write_text("x")
    with pytest.raises(Unreadable, match="not a directory"):
        install(installer)


@pytest.mark.parametrize("name", ["AGENTS.md", ".codex/hooks.json"])
def test_an_unreadable_file_is_refused_and_not_taken_for_an_empty_one(
    installer: FileInstaller, repo: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (repo / name).parent.mkdir(exist_ok=True)
    (repo / name).write_text("{}")
    real = os.open

    def forbidding(path: str, *rest: int) -> int:
        # What a mode of 0 does to anyone but root, who may be running the tests.
        if path == str(repo / name):
            raise PermissionError(13, "Permission denied")
        return real(path, *rest)

    before = snapshot(repo)
    monkeypatch.setattr(os, "open", forbidding)
    with pytest.raises(Unreadable, match=name.replace(".", r"\.") + ": Permission denied"):
        install(installer)
    monkeypatch.undo()
    assert snapshot(repo) == before


def test_unknown_programs_are_refused_by_name(installer: FileInstaller) -> None:
    with pytest.raises(UsageError, match="'emacs'") as raised:
        installer.plan_install(["codex", "emacs"])
    assert "codex, claude" in raised.value.remedy
    with pytest.raises(UsageError):
        installer.plan_install([])


def test_an_installation_whose_name_is_not_text_is_refused(repo: Path, env: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="not UTF-8"):
        FileInstaller(str(repo), os.fsdecode(b"/opt/\xff/bin"), env).plan_install(BOTH)


def test_no_home_is_needed_to_install(repo: Path, bin_dir: Path) -> None:
    installer = FileInstaller(str(repo), str(bin_dir), {})
    install(installer)
    uninstall(installer)
