"""A set of changes is made whole or not at all."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.agents.install.test_installer import snapshot

from restante.agents.files import apply_changes
from restante.domain.errors import Conflict, StorageFailed
from restante.domain.setup import FileChange

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Path:
    path = tmp_path / "place"
    path.mkdir()
    (path / "kept").write_bytes(b"old\n")
    (path / "gone").write_bytes(b"to go\n")
    (path / "kept").chmod(0o640)
    (path / "gone").chmod(0o600)
    return path


def changes_in(place: Path) -> list[FileChange]:
    return [
        FileChange(str(place / ".codex" / "new"), None, b"new\n", ""),
        FileChange(str(place / "kept"), b"old\n", b"changed\n", ""),
        FileChange(str(place / "gone"), b"to go\n", None, ""),
        FileChange(str(place / ".claude" / "deep" / "last"), None, b"last\n", ""),
    ]


def modes(place: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode for path in place.iterdir()}


def test_all_changes_are_made_and_nothing_else_is_left(place: Path) -> None:
    apply_changes(changes_in(place))
    assert {str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()} == {
        ".codex/new",
        "kept",
        ".claude/deep/last",
    }
    assert (place / "kept").read_bytes() == b"changed\n"
    assert (place / "kept").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("data", [b"other\n", None])
def test_a_file_that_changed_meanwhile_stops_everything(place: Path, data: bytes | None) -> None:
    changes = changes_in(place)
    if data is None:
        (place / "kept").unlink()
    else:
        (place / "kept").write_bytes(data)
    before = snapshot(place)
    with pytest.raises(Conflict, match="kept has changed"):
        apply_changes(changes)
    assert snapshot(place) == before


def test_a_file_that_became_a_link_meanwhile_stops_everything(place: Path) -> None:
    changes = changes_in(place)
    (place / "kept").rename(place / "elsewhere")
    (place / "kept").symlink_to("elsewhere")
    before = snapshot(place)
    with pytest.raises(Conflict, match="kept has changed"):
        apply_changes(changes)
    assert snapshot(place) == before


@pytest.mark.parametrize("step", ["fsync", "rename", "unlink", "mkdir", "fchmod"])
@pytest.mark.parametrize("nth", range(8))
def test_whichever_step_fails_every_file_is_as_it_was(
    place: Path, monkeypatch: pytest.MonkeyPatch, step: str, nth: int
) -> None:
    before, old_modes = snapshot(place), modes(place)
    real, count = getattr(os, step), 0

    def fails_once(*arguments: object, **named: object) -> object:
        nonlocal count
        count += 1
        if count == nth + 1:
            raise OSError(28, "No space left on device")
        return real(*arguments, **named)

    monkeypatch.setattr(os, step, fails_once)
    said = ""
    try:
        apply_changes(changes_in(place))
    except StorageFailed as error:
        said = error.message
    assert bool(said) == (count > nth)
    if said:
        assert "No space left on device; all files are as before" in said
        assert snapshot(place) == before
        assert modes(place) == old_modes
    assert not list(place.rglob("*.tmp"))


def test_an_interruption_puts_everything_back_too(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = snapshot(place)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "unlink", interrupted)
    with pytest.raises(KeyboardInterrupt):
        apply_changes([change for change in changes_in(place) if not change.path.endswith("new")][1:])
    monkeypatch.undo()
    assert snapshot(place) == before


def test_a_full_disk_leaves_every_byte(place: Path) -> None:
    changes = [*changes_in(place)[:2], FileChange(str(place / "big"), None, b"x" * 10_000, "")]
    code = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "from restante.agents.files import apply_changes; from restante.domain.setup import FileChange\n"
        "from restante.domain.errors import StorageFailed\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        f"changes = [FileChange(*one) for one in {[(c.path, c.before, c.after, c.what) for c in changes]!r}]\n"
        "try:\n    apply_changes(changes)\nexcept StorageFailed as error:\n    print(error.message)\n"
    )
    before = snapshot(place)
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=60)
    assert "File too large" in done.stdout, done.stderr
    assert snapshot(place) == before


# --- a single file that is bind-mounted, as containers do it --------------------------------------


def can_mount() -> bool:
    unshare = shutil.which("unshare")
    return unshare is not None and subprocess.run([unshare, "-m", "true"], capture_output=True).returncode == 0


mounts = pytest.mark.skipif(not can_mount(), reason="this user may not mount anything")

SCRIPT = """
import sys
from restante.agents.installer import FileInstaller
from restante.domain.errors import RestanteError
installer = FileInstaller(sys.argv[1], sys.argv[2], {})
try:
    for word in sys.argv[3:]:
        plan = installer.plan_install(["codex", "claude"]) if word == "install" else installer.plan_uninstall()
        installer.apply(plan)
except RestanteError as error:
    print(error.code, error.message)
"""


def with_mounts(repo: Path, bin_dir: Path, source: Path, target: Path, *words: str) -> str:
    line = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'
    call = ["unshare", "-m", "sh", "-c", line, "sh", str(source), str(target)]
    call += [sys.executable, "-I", "-c", SCRIPT, str(repo), str(bin_dir), *words]
    return subprocess.run(call, capture_output=True, text=True, check=True, timeout=60).stdout


@mounts
@pytest.mark.parametrize(
    ("name", "data"),
    [(".claude/settings.local.json", b'{\n "a": 1\n}\n'), (".codex/hooks.json", b"{}"), ("AGENTS.md", b"x\n")],
)
def test_a_bind_mounted_file_is_written_in_place_and_restored_in_place(
    repo: Path, bin_dir: Path, tmp_path: Path, name: str, data: bytes
) -> None:
    source, target = tmp_path / "source", repo / name
    target.parent.mkdir(exist_ok=True)
    target.touch()
    source.write_bytes(data)
    before, inode = snapshot(repo), source.stat().st_ino
    assert with_mounts(repo, bin_dir, source, target, "install", "install") == ""
    assert b"estante" in source.read_bytes()
    assert source.stat().st_ino == inode
    assert not list(tmp_path.rglob("*tmp"))
    assert with_mounts(repo, bin_dir, source, target, "uninstall") == ""
    assert source.read_bytes() == data
    assert source.stat().st_ino == inode
    assert snapshot(repo) == before


@mounts
def test_a_mount_that_cannot_be_removed_puts_everything_back(repo: Path, bin_dir: Path, tmp_path: Path) -> None:
    from restante.agents.installer import FileInstaller

    installer = FileInstaller(str(repo), str(bin_dir), {})
    installer.apply(installer.plan_install(["codex", "claude"]))
    source, target = tmp_path / "source", repo / ".codex" / "hooks.json"
    source.write_bytes(target.read_bytes())
    before = snapshot(repo)
    said = with_mounts(repo, bin_dir, source, target, "uninstall")
    assert said.startswith("storage_failed")
    assert str(target) in said
    assert "mount point" in said
    assert snapshot(repo) == before
    assert not list(repo.rglob("*tmp"))


def test_a_read_only_directory_is_named_and_nothing_is_half_done(repo: Path, bin_dir: Path, tmp_path: Path) -> None:
    if not can_mount():
        pytest.skip("this user may not mount anything")
    (repo / ".claude").mkdir()
    before = snapshot(repo)
    line = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" && shift && exec "$@"'
    call = ["unshare", "-m", "sh", "-c", line, "sh", str(repo / ".claude")]
    call += [sys.executable, "-I", "-c", SCRIPT, str(repo), str(bin_dir), "install"]
    said = subprocess.run(call, capture_output=True, text=True, check=True, timeout=60).stdout
    assert said.startswith("storage_failed")
    assert "settings.local.json: Read-only file system; all files are as before" in said
    assert snapshot(repo) == before
