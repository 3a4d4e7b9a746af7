"""The sign for a worktree's hooks that a session of it has mail."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from restante.domain.registry import Process, Session
from restante.system.bells import WorktreeSessionBell, is_ringing
from restante.system.outgoing import Outgoing

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 5, 20, tzinfo=UTC)


def _session(worktree: object, host: str | None = "here") -> Session:
    process = None if host is None else Process(host, 7, "x")
    return Session("a", "", "codex", "", str(worktree or ""), "", process, NOW, NOW)


@pytest.fixture
def worktree(tmp_path: Path) -> Path:
    place = tmp_path / "repo"
    (place / ".codex-mailbox" / ".restante").mkdir(parents=True)
    return place


def test_it_rings_once_for_a_session_of_this_machine_and_is_hushed(worktree: Path) -> None:
    bell = WorktreeSessionBell("here")
    assert not is_ringing(str(worktree))
    bell.ring(_session(worktree))
    bell.ring(_session(worktree))
    assert is_ringing(str(worktree))
    bell.hush(str(worktree), lambda: False)
    bell.hush(str(worktree), lambda: False)
    assert not is_ringing(str(worktree))


def test_a_session_of_another_machine_rings_nothing_here_and_one_of_none_known_does(worktree: Path) -> None:
    bell = WorktreeSessionBell("here")
    bell.ring(_session(worktree, "there"))
    bell.ring(_session(""))
    assert not is_ringing(str(worktree))
    bell.ring(_session(worktree, None))
    assert is_ringing(str(worktree))


def test_mail_that_waits_or_comes_meanwhile_keeps_it_ringing(worktree: Path) -> None:
    bell = WorktreeSessionBell("here")
    bell.ring(_session(worktree))
    bell.hush(str(worktree), lambda: True)
    assert is_ringing(str(worktree))

    def post_after_the_look() -> bool:
        bell.ring(_session(worktree))
        return False

    bell.hush(str(worktree), post_after_the_look)
    assert is_ringing(str(worktree))


@pytest.mark.parametrize(("hours", "is_rung"), [(0, True), (11, True), (13, False), (-13, False)])
def test_what_a_sandboxed_session_left_keeps_it_ringing_as_long_as_mail_lasts(
    worktree: Path, hours: int, is_rung: bool
) -> None:
    name = Outgoing(str(worktree), "s", "ab" * 32).leave("post", {})
    path = worktree / ".codex-mailbox" / ".restante" / "outgoing" / name
    then = path.stat().st_mtime - hours * 3600
    os.utime(path, (then, then))
    WorktreeSessionBell("here").hush(str(worktree), lambda: False)
    assert is_ringing(str(worktree)) == is_rung


def test_a_look_that_fails_keeps_it_ringing(worktree: Path) -> None:
    bell = WorktreeSessionBell("here")
    bell.ring(_session(worktree))
    with pytest.raises(ZeroDivisionError):
        bell.hush(str(worktree), lambda: 1 // 0 > 0)
    assert is_ringing(str(worktree))


def test_nothing_is_made_where_no_mailbox_is_installed(tmp_path: Path) -> None:
    bell = WorktreeSessionBell("here")
    for place in (tmp_path, tmp_path / "gone"):
        bell.ring(_session(place))
        bell.hush(str(place), lambda: True)
    assert list(tmp_path.iterdir()) == []


def test_the_private_directory_is_made_with_its_ignore_rule(tmp_path: Path) -> None:
    (tmp_path / ".codex-mailbox").mkdir()
    WorktreeSessionBell("here").ring(_session(tmp_path))
    private = tmp_path / ".codex-mailbox" / ".restante"
    assert (private / ".gitignore").read_text() == "*\n"
    assert private.stat().st_mode & 0o777 == 0o700


def test_nothing_is_written_through_a_link_that_leads_out(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / ".codex-mailbox").symlink_to(tmp_path / "out")
    WorktreeSessionBell("here").ring(_session(tmp_path / "repo"))
    assert list((tmp_path / "out").iterdir()) == []
