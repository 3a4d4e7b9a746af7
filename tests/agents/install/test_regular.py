"""Settings files that are no files hold nobody up."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from restante.agents.claude import switched_off_by
from restante.agents.original import original_hook_files
from restante.agents.regular import read_regular, read_tail

if TYPE_CHECKING:
    from pathlib import Path


def test_a_regular_file_is_read_up_to_a_bound(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    assert read_regular(str(tmp_path / "file"), 4) == b"0123"


def test_a_fifo_in_a_files_place_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(OSError, match="regular"):
        read_regular(str(tmp_path / "fifo"))


def test_of_a_regular_file_the_end_is_read_and_of_a_fifo_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"0123456789")
    assert read_tail(str(tmp_path / "file"), 4) == b"6789"
    assert read_tail(str(tmp_path / "file"), 400) == b"0123456789"
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(OSError, match="regular"):
        read_tail(str(tmp_path / "fifo"), 4)


def test_checkpoints_and_doctor_pass_over_fifos_where_settings_should_be(tmp_path: Path) -> None:
    home = tmp_path / "home"
    worktree = tmp_path / "w"
    for place in (worktree / ".git", worktree / ".claude", worktree / ".codex", home / ".claude", home / ".codex"):
        place.mkdir(parents=True)
    for name in (".claude/settings.json", ".claude/settings.local.json", ".codex/hooks.json"):
        os.mkfifo(worktree / name)
    os.mkfifo(home / ".codex" / "hooks.json")
    os.mkfifo(home / ".claude" / "settings.json")
    env = {"HOME": str(home)}
    for agent in ("codex", "claude"):
        assert original_hook_files(str(worktree), env, agent) == []
    assert switched_off_by(str(worktree), env, str(tmp_path / "etc")) == ""
