"""``install``, ``uninstall``, ``doctor``, ``threads``."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .conftest import Answer


class Terminal(io.StringIO):
    """A person who types something."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def types(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Let a person at a terminal type something."""
    return lambda text: monkeypatch.setattr(sys, "stdin", Terminal(text))


@pytest.fixture
def codex_config(worktree: Path, tmp_path: Path) -> Path:
    """Where a person's configuration of Codex would be."""
    return tmp_path / "home" / ".codex" / "config.toml"


@pytest.fixture
def data(worktree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data directory, which is not there yet."""
    monkeypatch.setenv("RESTANTE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def _files(worktree: Path) -> dict[str, bytes]:
    return {str(path.relative_to(worktree)): path.read_bytes() for path in worktree.rglob("*") if path.is_file()}


def test_installing_is_told_by_file_and_done_once(restante: Callable[..., Answer], worktree: Path) -> None:
    assert restante("install", "--check").code == 1
    answer = restante("install")
    assert answer.code == 0, answer.err
    for name in ("AGENTS.md", ".codex/hooks.json", ".claude/settings.local.json"):
        assert f"{worktree / name}: " in answer.out
    assert answer.err.splitlines()[-1].startswith("next: leave guidance with restante send")
    files = _files(worktree)
    assert restante("install", "--check").code == 0
    again = restante("install")
    assert again.out == "nothing to change\n"
    assert "next: " not in again.err
    assert _files(worktree) == files


def test_a_dry_run_shows_the_diff_and_changes_nothing(restante: Callable[..., Answer], worktree: Path) -> None:
    files = _files(worktree)
    answer = restante("install", "--dry-run")
    assert f"+++ {worktree / 'AGENTS.md'}" in answer.out
    assert "(would change)" in answer.out
    assert _files(worktree) == files


def test_one_program_can_be_named_and_an_unknown_one_is_refused(
    restante: Callable[..., Answer], worktree: Path
) -> None:
    assert restante("install", "--agent", "codex, nope").code == 2
    assert not (worktree / ".codex").exists()
    assert restante("install", "--agent", "codex").code == 0
    assert not (worktree / ".claude").exists()


def test_uninstalling_restores_all_but_the_mail(
    restante: Callable[..., Answer], sent: Callable[..., str], worktree: Path
) -> None:
    (worktree / "AGENTS.md").write_text("Ours.\n")
    message = sent("text")
    restante("install")
    before = _files(worktree)
    answer = restante("uninstall", "--dry-run")
    assert f"--- {worktree / 'AGENTS.md'}" in answer.out
    assert _files(worktree) == before
    assert "(restored)" in restante("uninstall").out
    assert (worktree / "AGENTS.md").read_text() == "Ours.\n"
    assert not (worktree / ".codex" / "hooks.json").exists()
    assert restante("status", message).code == 0


def test_uninstalling_where_no_worktree_is_has_nothing_to_do(restante: Callable[..., Answer], tmp_path: Path) -> None:
    answer = restante("uninstall", "-C", str(tmp_path), "--json")
    assert (answer.code, answer.json["changes"]) == (0, [])
    assert "nothing to take out" in answer.json["notes"][0]


@pytest.mark.parametrize("other", ["--dry-run", "--trust", "--yes"])
def test_a_check_goes_with_nothing_that_changes(restante: Callable[..., Answer], worktree: Path, other: str) -> None:
    files = _files(worktree)
    answer = restante("install", "--check", other)
    assert answer.code == 2
    assert "--check" in answer.err
    assert other in answer.err
    assert _files(worktree) == files


def test_trust_without_a_terminal_and_without_yes_is_refused_before_anything_is_installed(
    restante: Callable[..., Answer], worktree: Path, codex_config: Path
) -> None:
    files = _files(worktree)
    answer = restante("install", "--trust")
    assert answer.code == 2
    assert "--yes" in answer.err
    assert _files(worktree) == files
    assert not codex_config.exists()


def test_trust_without_codex_is_refused_with_the_reason(restante: Callable[..., Answer], worktree: Path) -> None:
    answer = restante("install", "--agent", "claude", "--trust", "--yes")
    assert answer.code == 2
    assert "--trust is for Codex" in answer.err
    assert not (worktree / ".claude").exists()


def test_trust_that_cannot_be_written_is_found_before_anything_is_installed(
    restante: Callable[..., Answer], worktree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "")
    monkeypatch.delenv("CODEX_HOME", raising=False)
    files = _files(worktree)
    assert restante("install", "--trust", "--yes").code == 2
    assert _files(worktree) == files


def test_a_no_leaves_the_persons_configuration_as_it_was(
    restante: Callable[..., Answer], types: Callable[[str], None], codex_config: Path
) -> None:
    types("n\n")
    answer = restante("install", "--trust")
    assert answer.code == 0
    assert answer.err.index("note: trusts our hooks in") < answer.err.index("[y/N]")
    assert f"+++ {codex_config}" in answer.err
    assert "left as it was\n" in answer.err
    assert not codex_config.exists()


def test_a_yes_trusts_and_doing_it_again_changes_nothing(
    restante: Callable[..., Answer], types: Callable[[str], None], codex_config: Path
) -> None:
    types("y\n")
    assert "it trusts them now\n" in restante("install", "--trust").err
    written = codex_config.read_bytes()
    assert b"trusted_hash" in written
    types("")
    assert "already" in restante("install", "--trust").err
    assert codex_config.read_bytes() == written


def test_with_yes_nothing_is_asked_and_the_notes_are_told_all_the_same(
    restante: Callable[..., Answer], codex_config: Path
) -> None:
    answer = restante("install", "--trust", "--yes")
    assert "[y/N]" not in answer.err
    assert "note: trusts our hooks in" in answer.err
    assert codex_config.exists()


def test_a_dry_run_of_trust_says_what_it_can_and_writes_nothing(
    restante: Callable[..., Answer], worktree: Path, codex_config: Path
) -> None:
    answer = restante("install", "--dry-run", "--trust")
    assert answer.code == 0, answer.err
    assert "once they are installed" in answer.err
    restante("install")
    assert f"+++ {codex_config}" in restante("install", "--dry-run", "--trust").err
    assert not codex_config.exists()


def test_trust_in_json_is_one_document(
    restante: Callable[..., Answer], types: Callable[[str], None], codex_config: Path
) -> None:
    assert restante("install", "--json").json["trust"] is None
    types("n\n")
    assert restante("install", "--trust", "--json").json["trust"]["outcome"] == "left"
    document = restante("install", "--trust", "--yes", "--json").json
    assert document["changes"] == []
    assert document["trust"]["outcome"] == "trusted"
    assert document["trust"]["changes"][0]["path"] == str(codex_config)
    assert "trusted_hash" in document["trust"]["diff"]
    assert restante("install", "--trust", "--yes", "--json").json["trust"]["outcome"] == "already_trusted"


@pytest.fixture
def _few_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{os.path.dirname(sys.executable)}:/usr/bin:/bin")


@pytest.mark.usefixtures("_few_programs")
def test_doctor_names_the_command_that_mends_each_failing_line(restante: Callable[..., Answer]) -> None:
    answer = restante("doctor")
    assert answer.code == 1
    lines = answer.out.splitlines()
    failing = [place for place, line in enumerate(lines) if line.startswith("FAIL")]
    assert failing
    assert all("mend: " in lines[place + 1] for place in failing)
    assert "restante install" in answer.out
    restante("install", "--trust", "--yes")
    mended = restante("doctor").out
    assert "mend: restante install" not in mended


@pytest.mark.usefixtures("_few_programs")
def test_doctor_sees_a_damaged_book_of_repeats(
    restante: Callable[..., Answer], sent: Callable[..., str], worktree: Path
) -> None:
    def repeats() -> dict[str, object]:
        checks = restante("doctor", "--json").json["checks"]
        return next(dict(one) for one in checks if one["name"] == "repeats")

    sent("text", "--repeat", "5m")
    assert (repeats()["ok"], repeats()["detail"]) == (True, "1 active of 1")
    (worktree / ".codex-mailbox" / "STATE.json").write_text("[")
    assert repeats()["ok"] is False
    assert repeats()["remedy"]


def test_threads_are_listed_with_what_waits_for_each(
    restante: Callable[..., Answer],
    sent: Callable[..., str],
    fake_codex: Callable[..., None],
    worktree: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sent("text")
    empty = tmp_path / "empty"
    (empty / ".git").mkdir(parents=True)
    fake_codex(str(worktree), str(empty), str(tmp_path))
    monkeypatch.setenv("RESTANTE_NOW", "2023-11-14T22:14:20Z")
    lines = restante("threads").out.splitlines()
    assert lines[0] == "thread-0  idle, not loaded, 1 min ago, 1 waiting"
    assert lines[1] == f"    {worktree}  task 0\\x1b[31m"
    assert lines[2].endswith("no mail")
    assert lines[4].endswith("no worktree")
    assert not (empty / ".codex-mailbox").exists()


def test_threads_are_listed_outside_of_worktrees_too(
    restante: Callable[..., Answer], fake_codex: Callable[..., None], tmp_path: Path
) -> None:
    fake_codex(str(tmp_path))
    answer = restante("threads", "-C", str(tmp_path))
    assert answer.code == 0, answer.err
    assert answer.out.startswith("thread-0")


def test_threads_without_the_program_say_how_to_name_it(
    restante: Callable[..., Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RESTANTE_CODEX", "/nowhere/codex")
    answer = restante("threads")
    assert answer.code == 3
    assert "RESTANTE_CODEX" in answer.err


def test_s42_installing_offers_session_inboxes_without_persistence_and_says_what_it_chose(
    restante: Callable[..., Answer], worktree: Path, data: Path
) -> None:
    answer = restante("install")
    assert f"session inboxes: on (for all worktrees; {data}); change: restante install --sessions off\n" in answer.err
    assert "persistence: off (no word of their mail is written to disk); change: restante persist on\n" in answer.err
    assert (data / "turns").stat().st_mode & 0o777 == 0o700
    assert not (data / "mail.db").exists()


def test_what_was_decided_stays_decided_in_the_next_worktree(restante: Callable[..., Answer], data: Path) -> None:
    assert "session inboxes: off" in restante("install", "--sessions", "off").err
    assert not (data / "turns").exists()
    answer = restante("install", "--json")
    assert answer.json["switches"] == {"sessions": "off", "persistence": "off"}
    answer = restante("install", "--sessions", "on", "--persist", "on", "--json")
    assert answer.json["switches"] == {"sessions": "on", "persistence": "on"}
    assert restante("install", "--json").json["switches"] == {"sessions": "on", "persistence": "on"}
    assert "change: restante persist off" in restante("install").err
    assert restante("install", "--persist", "off", "--json").json["switches"]["persistence"] == "off"


@pytest.mark.parametrize("flag", ["--sessions", "--persist"])
def test_a_switch_is_on_or_off_and_a_check_or_dry_run_moves_none(
    restante: Callable[..., Answer], data: Path, flag: str
) -> None:
    assert restante("install", flag, "maybe").code == 2
    assert restante("install", "--check", flag, "on").code == 2
    assert "would be on" in restante("install", "--dry-run", flag, "on").err
    assert restante("install", "--check").code == 1
    assert not (data / "turns").exists()
    assert not (data / "mail.db").exists()


@pytest.mark.parametrize(
    ("said", "sessions", "kept"), [("\n\n", True, False), ("y\ny\n", True, True), ("n\n", False, False)]
)
def test_a_person_at_a_terminal_is_asked_once(
    restante: Callable[..., Answer], data: Path, types: Callable[[str], None], said: str, sessions: bool, kept: bool
) -> None:
    types(said)
    answer = restante("install")
    assert "[Y/n]" in answer.err
    assert ("[y/N]" in answer.err) is sessions
    assert (data / "turns").exists() is sessions
    assert f"persistence: {'on' if kept else 'off'}" in answer.err
    types("n\nn\n")
    assert "[Y/n]" not in restante("install").err
    assert (data / "turns").exists() is sessions


def test_bl51_without_a_place_for_data_the_worktree_is_installed_all_the_same(
    restante: Callable[..., Answer], worktree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RESTANTE_DATA", raising=False)
    monkeypatch.setenv("HOME", "/")
    answer = restante("install")
    assert answer.code == 0
    assert "session inboxes are not available: no home directory" in answer.err
    assert (worktree / ".codex" / "hooks.json").exists()
    assert restante("install", "--sessions", "on").code == 2


def test_an_agent_does_not_decide_whether_mail_is_kept(
    restante: Callable[..., Answer], as_agent: Callable[[], None], data: Path
) -> None:
    as_agent()
    assert restante("install", "--persist", "on").code == 4
    assert not (data / "mail.db").exists()
