"""The floorboard of the file rooms."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from restante.domain.errors import Busy, StorageFailed, Unsafe
from restante.stores import files

if TYPE_CHECKING:
    from pathlib import Path


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_replaced_file_has_the_new_content_and_the_old_permissions(tmp_path: Path) -> None:
    path = tmp_path / "file"
    files.replace(str(path), b"one")
    assert (path.read_bytes(), mode_of(path)) == (b"one", 0o600)
    path.chmod(0o644)
    files.replace(str(path), b"two")
    assert (path.read_bytes(), mode_of(path)) == (b"two", 0o644)
    assert os.listdir(tmp_path) == ["file"]


def test_replacing_a_link_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"kept")
    link.symlink_to(target)
    with pytest.raises(Unsafe, match="symbolic link"):
        files.replace(str(link), b"new")
    assert target.read_bytes() == b"kept"
    assert sorted(os.listdir(tmp_path)) == ["link", "target"]


def test_what_cannot_be_replaced_is_as_before_and_leaves_no_scraps(tmp_path: Path) -> None:
    (tmp_path / "place" / "inner").mkdir(parents=True)
    with pytest.raises(StorageFailed, match="place"):
        files.replace(str(tmp_path / "place"), b"new")
    assert os.listdir(tmp_path) == ["place"]


def test_a_full_disk_while_replacing_leaves_the_old_file_and_no_scraps(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")
    program = (
        "import resource, sys\n"
        "from restante.stores.files import replace\n"
        "from restante.domain.errors import StorageFailed\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))\n"
        "try:\n    replace(sys.argv[1], b'x' * 100)\n"
        "except StorageFailed as error:\n    print(error.remedy)\n"
    )
    done = subprocess.run([sys.executable, "-B", "-c", program, str(tmp_path / "file")], capture_output=True, text=True)
    assert done.stdout.strip() == "raise the limit on file sizes, or shorten the file"
    assert (tmp_path / "file").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["file"]


def test_only_one_of_many_creates_a_file(tmp_path: Path) -> None:
    path = str(tmp_path / "file")
    start = threading.Barrier(8)
    made: list[int] = []

    def create(number: int) -> None:
        start.wait()
        if files.create(path, b"%d" % number):
            made.append(number)

    threads = [threading.Thread(target=create, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert (tmp_path / "file").read_bytes() == b"%d" % made[0]
    assert os.listdir(tmp_path) == ["file"]


def test_a_created_file_replaces_no_dangling_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert not files.create(str(tmp_path / "link"), b"new")
    assert os.listdir(tmp_path) == ["link"]


@pytest.mark.parametrize("refusal", [errno.EPERM, errno.ENOTSUP])
def test_a_file_is_created_where_hard_links_do_not_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(refusal, os.strerror(refusal))

    monkeypatch.setattr(os, "link", refuse)
    assert files.create(str(tmp_path / "file"), b"new")
    assert (tmp_path / "file").read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["file"]


def test_a_line_after_a_torn_one_stands_alone(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"one\ntw")
    files.append_line(str(path), b"three\n", durable=True)
    assert path.read_bytes() == b"one\ntw" + files.CUT + b"\nthree\n"


@pytest.mark.parametrize("kind", ["fifo", "directory", "link"])
def test_only_regular_files_are_opened_and_nothing_hangs(tmp_path: Path, kind: str) -> None:
    path = tmp_path / kind
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    else:
        path.symlink_to("/etc/hostname")
    expected = Unsafe if kind == "link" else StorageFailed
    with pytest.raises(expected, match=kind):
        files.read_file(str(path))
    with pytest.raises(expected, match=kind):
        files.append_line(str(path), b"x\n", durable=False)


def test_a_missing_file_is_told_from_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert files.read_file(str(tmp_path / "empty")) == b""
    assert files.read_file(str(tmp_path / "missing")) is None
    assert files.read_file(str(tmp_path / "empty" / "below")) is None


def test_a_directory_is_made_once_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "place"
    assert files.make_directory(str(path))
    assert not files.make_directory(str(path))
    assert mode_of(path) == 0o700
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(Unsafe):
        files.make_directory(str(tmp_path / "link"))
    (tmp_path / "file").touch()
    with pytest.raises(StorageFailed, match="not a directory"):
        files.make_directory(str(tmp_path / "file"))


def test_removing_what_is_gone_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for _ in range(2):
        files.remove(str(tmp_path / "file"))
    assert os.listdir(tmp_path) == []


def test_every_error_names_the_path_and_a_remedy() -> None:
    for number in (errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT, errno.EBUSY):
        error = files.failure("/some/where", OSError(number, os.strerror(number)))
        assert isinstance(error, StorageFailed)
        assert error.message.startswith("/some/where: ")
        assert error.remedy


def test_a_lock_excludes_and_names_the_file_when_it_is_not_free_in_time(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    with files.flocked(path, 1), pytest.raises(Busy, match="lock"), files.flocked(path, 0.05):
        pytest.fail("two held it")
    # Whoever gave up may still stand in the kernel's queue, and has the lock for an instant when it is given back.
    with files.flocked(path, 60) as is_locked:
        assert is_locked


def test_whoever_waits_gets_the_lock_when_it_is_given_back(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    order: list[str] = []
    waiting = threading.Event()

    def wait() -> None:
        waiting.set()
        with files.flocked(path, 60):
            order.append("second")

    with files.flocked(path, 0):
        thread = threading.Thread(target=wait)
        thread.start()
        waiting.wait()
        order.append("first")
    thread.join()
    assert order == ["first", "second"]


def test_a_lock_that_was_given_up_on_is_free_for_the_next(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    with files.flocked(path, 0), pytest.raises(Busy), files.flocked(path, 0.01):
        pytest.fail("two held it")
    with files.flocked(path, 60):
        pass


def test_a_killed_holder_frees_the_lock(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    program = (
        "import sys, time\nfrom restante.stores.files import flocked\n"
        "with flocked(sys.argv[1], 1):\n    print('held', flush=True)\n    time.sleep(600)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(Busy), files.flocked(path, 0):
            pytest.fail("two held it")
        holder.kill()
        holder.wait()
    with files.flocked(path, 0):
        pass


def test_a_lock_on_a_removed_file_excludes_nobody_so_the_next_takes_a_new_one(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    entered = threading.Event()

    def wait() -> None:
        with files.flocked(str(path), 60):
            assert path.exists()
            entered.set()

    with files.flocked(str(path), 0):
        thread = threading.Thread(target=wait)
        thread.start()
        path.unlink()
    assert entered.wait(60)
    thread.join()


def test_a_filesystem_without_locks_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr("fcntl.flock", refuse)
    with files.flocked(str(tmp_path / "lock"), 0) as is_locked:
        assert not is_locked


def test_sweeping_removes_what_a_kill_left_and_nothing_else(tmp_path: Path) -> None:
    for name in ("file", "file.12.ab12cd34.tmp", "file.tmp.keep", "other.12.ab12cd34.tmp"):
        (tmp_path / name).touch()
    files.sweep(str(tmp_path / "file"))
    assert sorted(os.listdir(tmp_path)) == ["file", "file.tmp.keep", "other.12.ab12cd34.tmp"]
