"""Where a face for people looks: into what is its person's own, and into nothing that would hold it up."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from restante.agents.files import read_plain
from restante.agents.gitplaces import git_places, other_worktrees
from restante.domain.errors import Unreadable
from restante.stores.oacp.layout import named_project
from restante.wiring.grounds import worktrees_around

_NOBODY = 65_534


def test_a_fifo_where_git_names_a_worktree_holds_nobody_up(tmp_path: Path) -> None:
    (tmp_path / ".git" / "worktrees" / "other").mkdir(parents=True)
    os.mkfifo(tmp_path / ".git" / "worktrees" / "other" / "gitdir")
    assert worktrees_around([str(tmp_path)]) == [str(tmp_path)]


@pytest.mark.parametrize("name", ["commondir", "config", "config.worktree", "worktrees/w/gitdir"])
def test_a_nul_where_git_keeps_a_path_is_no_path(tmp_path: Path, name: str) -> None:
    (tmp_path / ".git" / "worktrees" / "w").mkdir(parents=True)
    (tmp_path / ".git" / name).write_bytes(b"a\0b\n")
    assert worktrees_around([str(tmp_path)]) == [str(tmp_path)]
    assert other_worktrees(git_places(str(tmp_path))) == []


def test_a_nul_where_a_worktree_names_its_repository_is_no_path(tmp_path: Path) -> None:
    (tmp_path / ".git").write_bytes(b"gitdir: a\0b\n")
    assert worktrees_around([str(tmp_path)]) == [str(tmp_path)]
    assert git_places(str(tmp_path)).common is None


@pytest.mark.parametrize("marker", [".oacp", "workspace.json"])
def test_a_fifo_where_a_marker_should_be_names_no_project(tmp_path: Path, marker: str) -> None:
    os.mkfifo(tmp_path / marker)
    assert named_project(str(tmp_path)) == ""
    other = tmp_path / "other"
    other.mkdir()
    (tmp_path / "real").write_text('{"project_name": "p"}')
    (other / marker).symlink_to(tmp_path / "real")
    assert named_project(str(other)) == "p"


def test_a_file_that_is_larger_than_any_settings_is_none(tmp_path: Path) -> None:
    with (tmp_path / "settings.json").open("wb") as file:
        file.truncate(1 << 36)
    with pytest.raises(Unreadable, match="is over"):
        read_plain(str(tmp_path / "settings.json"), str(tmp_path))


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")
def test_a_directory_of_another_user_is_looked_into_by_nobody_but_root() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        top = Path(place)
        top.chmod(0o755)
        for name, owner in (("mine", _NOBODY), ("theirs", 0)):
            (top / name / ".git" / "worktrees" / "w").mkdir(parents=True)
            os.chown(top / name, owner, owner)
        # Whoever owns a repository can say that any directory is a worktree of it.
        (top / "mine" / ".git" / "worktrees" / "w" / "gitdir").write_text(f"{top}/theirs/.git\n")
        named = [str(top / "mine"), str(top / "theirs"), str(top / "missing"), "", "\0"]
        assert worktrees_around(named) == [str(top / "mine"), str(top / "theirs")]
        # Imported before, because the package may lie where only root looks.
        act = (
            "import os, sys, encodings.utf_8\n"
            "import restante.agents.regular, restante.stores.worktree.locate\n"
            "from restante.wiring.grounds import worktrees_around\n"
            f"os.setuid({_NOBODY})\n"
            "print(worktrees_around(sys.argv[1:]))"
        )
        done = subprocess.run([sys.executable, "-c", act, *named[:4]], capture_output=True, text=True, timeout=60)
        assert done.stdout.strip() == repr([str(top / "mine")]), done.stderr
        assert stat.S_IMODE((top / "theirs").stat().st_mode) & 0o005
