"""Which worktree a directory belongs to."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from restante.domain.errors import NoWorktree, Unsafe
from restante.stores.worktree.locate import find_worktree

if TYPE_CHECKING:
    from pathlib import Path

ENVIRONMENT = {
    "PATH": os.environ.get("PATH", ""),
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    **{f"GIT_{who}_{what}": "x@y" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
}


def git(where: Path, *words: str) -> None:
    if shutil.which("git") is None:
        pytest.skip("NOT TESTED: no git on this machine")
    subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *words], cwd=where, env=ENVIRONMENT, check=True, capture_output=True
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit and a subdirectory."""
    place = tmp_path / "repository"
    (place / "a" / "b").mkdir(parents=True)
    git(place, "init", "-q", "-b", "main")
    git(place, "commit", "-q", "--allow-empty", "-m", "first")
    return place


def root_of(start: Path | str) -> str:
    return find_worktree(str(start)).root


def test_a_worktree_is_found_from_any_subdirectory(repository: Path) -> None:
    for start in (repository, repository / "a", repository / "a" / "b", repository / ".git" / "hooks"):
        worktree = find_worktree(str(start))
        assert worktree.root == str(repository)
        assert worktree.git_dir == worktree.common_dir == str(repository / ".git")
    assert find_worktree(str(repository)).address == f"worktree:{repository}"


def test_gits_own_variables_point_nowhere_else(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", str(repository / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(repository / "a"))
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(repository))
    assert root_of(repository / "a" / "b") == str(repository)


def test_no_git_program_is_needed(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert root_of(repository / "a" / "b") == str(repository)


def test_each_linked_worktree_has_a_directory_of_its_own(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", "-b", "other", str(tmp_path / "other tree"))
    worktree = find_worktree(str(tmp_path / "other tree"))
    assert worktree.root == str(tmp_path / "other tree")
    assert worktree.git_dir == str(repository / ".git" / "worktrees" / "other-tree")
    assert worktree.common_dir == str(repository / ".git")


def test_a_container_of_worktrees_is_none_and_names_them(repository: Path, tmp_path: Path) -> None:
    container = tmp_path / "container"
    container.mkdir()
    git(container, "clone", "-q", "--bare", str(repository), ".bare")
    (container / ".git").write_text("gitdir: ./.bare\n")
    with pytest.raises(NoWorktree, match="bare repository"):
        root_of(container)
    git(container, "worktree", "add", "-q", "main")
    for start in (container, container / ".bare"):
        with pytest.raises(NoWorktree) as caught:
            root_of(start)
        assert str(container / "main") in caught.value.message
        assert str(container / "main") in caught.value.remedy
    assert root_of(container / "main") == str(container / "main")
    assert sorted(os.listdir(container)) == [".bare", ".git", "main"]


def test_a_bare_repository_called_git_is_none_either(repository: Path, tmp_path: Path) -> None:
    container = tmp_path / "container"
    container.mkdir()
    git(container, "clone", "-q", "--bare", str(repository), ".git")
    with pytest.raises(NoWorktree, match="bare repository"):
        root_of(container)


def test_a_submodule_has_a_mailbox_of_its_own(repository: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    git(outer, "submodule", "add", "-q", str(repository), "inner")
    worktree = find_worktree(str(outer / "inner"))
    assert worktree.root == str(outer / "inner")
    assert worktree.git_dir == str(outer / ".git" / "modules" / "inner")


@pytest.mark.parametrize("name", ["new\nline", "a space", "quote'\"", "trailing ", "umlaut-\u00e4", "\udcff"])
def test_any_name_of_a_directory_will_do(tmp_path: Path, name: str) -> None:
    place = tmp_path / name
    (place / "below").mkdir(parents=True)
    (place / ".git").mkdir()
    assert root_of(place / "below") == str(place)


def test_any_name_of_a_linked_worktree_will_do(repository: Path, tmp_path: Path) -> None:
    place = tmp_path / "odd\n name "
    git(repository, "worktree", "add", "-q", "-b", "odd", str(place))
    worktree = find_worktree(str(place))
    assert worktree.root == str(place)
    assert worktree.git_dir
    assert worktree.git_dir.startswith(str(repository / ".git" / "worktrees"))


def test_outside_of_any_repository_a_mailbox_makes_a_worktree(tmp_path: Path) -> None:
    (tmp_path / "plain" / "below").mkdir(parents=True)
    with pytest.raises(NoWorktree, match="not inside a worktree"):
        root_of(tmp_path / "plain" / "below")
    (tmp_path / "plain" / ".codex-mailbox").mkdir()
    worktree = find_worktree(str(tmp_path / "plain" / "below"))
    assert (worktree.root, worktree.git_dir, worktree.common_dir) == (str(tmp_path / "plain"), None, None)


def test_a_repository_counts_before_a_mailbox_inside_of_it(repository: Path) -> None:
    (repository / "a" / ".codex-mailbox").mkdir()
    assert root_of(repository / "a" / "b") == str(repository)


@pytest.mark.parametrize("content", ["", "gitdir: /nowhere/at/all\n", "nonsense", "gitdir:\n"])
def test_a_repository_that_is_not_to_be_found_from_here_is_no_reason_to_lose_mail(tmp_path: Path, content: str) -> None:
    (tmp_path / ".git").write_text(content)
    worktree = find_worktree(str(tmp_path))
    assert (worktree.root, worktree.git_dir) == (str(tmp_path), None)


def test_a_path_with_links_leads_to_the_real_one(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(repository / "a")
    assert root_of(tmp_path / "link") == str(repository)


@pytest.mark.parametrize("start", ["missing", "file", "bad\0path", ""])
def test_what_is_no_directory_has_no_worktree(tmp_path: Path, start: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(NoWorktree) as caught:
        root_of(start)
    assert caught.value.remedy


def test_a_directory_that_was_deleted_has_no_worktree(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    program = (
        "import os\nfrom restante.stores.worktree.locate import find_worktree\n"
        "from restante.domain.errors import NoWorktree\nos.rmdir(os.getcwd())\n"
        "try:\n    find_worktree('.')\nexcept NoWorktree as error:\n    print(error.message)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=gone, capture_output=True, text=True)
    assert "No such file or directory" in done.stdout
    assert done.stderr == ""
    assert not gone.exists()


@pytest.mark.parametrize("target", ["outside", "nowhere"])
def test_a_mailbox_that_is_a_link_out_of_the_worktree_is_refused(tmp_path: Path, root: Path, target: str) -> None:
    (tmp_path / "outside").mkdir()
    (root / ".codex-mailbox").symlink_to(tmp_path / target)
    with pytest.raises(Unsafe, match="symbolic link"):
        root_of(root)
    assert os.listdir(tmp_path / "outside") == []


def test_a_mailbox_that_is_a_link_inside_of_the_worktree_will_do(root: Path) -> None:
    (root / "mail").mkdir()
    (root / ".codex-mailbox").symlink_to("mail")
    assert root_of(root) == str(root)


def test_finding_creates_nothing(root: Path) -> None:
    (root / "below").mkdir()
    root_of(root / "below")
    assert sorted(os.listdir(root)) == [".git", "below"]
    assert os.listdir(root / ".git") == []


def test_a_fifo_in_place_of_the_repository_hangs_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".git")
    worktree = find_worktree(str(tmp_path))
    assert (worktree.root, worktree.git_dir) == (str(tmp_path), None)
