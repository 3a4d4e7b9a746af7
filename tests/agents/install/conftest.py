"""An installation and worktrees to install into, all of them thrown away."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from restante.agents.installer import FileInstaller

SCRIPTS = Path(__file__).parents[3] / "scripts"
GIT = {
    "PATH": os.environ["PATH"],
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
}


def git(directory: Path, *words: str) -> str:
    """Run git, away from the configuration of whoever runs the tests."""
    return subprocess.run(["git", *words], cwd=directory, env=GIT, check=True, capture_output=True, text=True).stdout


@pytest.fixture(scope="session")
def first_commit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A git repository with one commit, for copies."""
    root = tmp_path_factory.mktemp("first") / "W"
    root.mkdir()
    git(root, "init", "-q", "--template=")
    git(root, "commit", "-q", "--allow-empty", "-m", "x")
    return root


@pytest.fixture
def repo(first_commit: Path, tmp_path: Path) -> Path:
    """A git repository with one commit."""
    return Path(shutil.copytree(first_commit, tmp_path / "W"))


@pytest.fixture
def bin_dir(tmp_path: Path) -> Path:
    """An installation: the scripts, and an interpreter that writes down how it was called."""
    directory = tmp_path / "inst all" / "bin"
    directory.mkdir(parents=True)
    for name in ("restante", "restante-hook"):
        shutil.copy(SCRIPTS / name, directory / name)
    python = directory / "python"
    python.write_text(
        "#!/bin/sh\n"
        f"here='{directory}'\n"
        'for word in "$@"; do printf "%s\\0" "$word"; done > "$here/words"\n'
        'printf "%s\\0" "$RESTANTE_WORKTREE" > "$here/worktree"\n'
        'cat > "$here/stdin"\n'
        'printf "answer"\n'
    )
    python.chmod(0o755)
    return directory


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """A person's environment, with a home of their own."""
    home = tmp_path / "home"
    home.mkdir()
    return {"HOME": str(home), "PATH": "/usr/bin:/bin", "SHELL": "/bin/sh"}


@pytest.fixture
def installer(repo: Path, bin_dir: Path, env: dict[str, str], tmp_path: Path) -> FileInstaller:
    """An installer for the repository."""
    return FileInstaller(str(repo), str(bin_dir), env, etc=str(tmp_path / "etc"))
