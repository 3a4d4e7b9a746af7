"""Locks of the shared files: among us, with the original program, and after a kill."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from restante.domain.errors import Busy, StorageFailed, Unsafe
from restante.domain.message import Draft
from restante.stores.worktree import lock
from restante.stores.worktree.layout import INBOX, Layout
from restante.stores.worktree.locate import find_worktree
from restante.stores.worktree.lock import locked
from restante.stores.worktree.record import Record, WriteRecord, read_record
from restante.stores.worktree.render import HEADERS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from restante.stores.worktree.store import WorktreeMailbox

HEADER = HEADERS[INBOX]
BLOCK = (
    b"\n---\n\n## msg_20260520T123456_01jvqk8z4m3n5p7r9s1t3v5w7x\n\nfrom: human\ncreated_at: 2026-05-20T12:34:56.000Z\n"
    b"priority: normal\nstatus: unread\nscope: current_task\nbody_bytes: 27\n\nMesaj:\nLeave the auth module alone.\n"
)
FOREIGN = BLOCK.replace(b"t3v5w7x", b"t3v5w7z").replace(b"body_bytes: 27\n", b"").replace(b"auth", b"docs")


@pytest.fixture
def layout(root: Path) -> Layout:
    return Layout(find_worktree(str(root)))


def dies_holding(root: Path, doing: str = "") -> None:
    """Let another process take the lock of INBOX.md, do something and be killed."""
    program = (
        "import os, signal, sys\n"
        "from restante.stores.worktree.layout import Layout\n"
        "from restante.stores.worktree.locate import find_worktree\n"
        "from restante.stores.worktree.lock import locked\n"
        "from restante.stores.worktree import lock\n"
        "die = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        f"HEADER, BLOCK = {HEADER!r}, {BLOCK!r}\n"
        "with locked(Layout(find_worktree(sys.argv[1])), 'INBOX.md') as held:\n"
        f"    {doing or 'pass'}\n"
        "    die()\n"
    )
    done = subprocess.run([sys.executable, "-B", "-c", program, str(root)], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr


def torn_append(cut: int) -> str:
    """Return program text that is killed after so many bytes of an append."""
    return f"lock.write_all = lambda fd, data: (os.write(fd, data[:{cut}]), die()); held.append(BLOCK, header=HEADER)"


def test_the_lock_is_the_original_programs_directory(layout: Layout, box: Path) -> None:
    with locked(layout, INBOX) as held:
        assert held.directory == str(box / "INBOX.md.lock")
        assert os.path.isdir(held.directory)
        assert held.is_ours()
    assert not os.path.exists(held.directory)


def test_another_program_that_holds_it_is_named(layout: Layout, box: Path) -> None:
    layout.make()
    (box / "INBOX.md.lock").mkdir()
    with pytest.raises(Busy, match=r"INBOX\.md\.lock") as caught, locked(layout, INBOX, wait=0.05):
        pytest.fail("two held it")
    assert caught.value.remedy
    assert (box / "INBOX.md.lock").is_dir()
    (box / "INBOX.md.lock").rmdir()
    with locked(layout, INBOX, wait=0):
        pass


def test_a_lock_that_was_not_renewed_is_taken_over(layout: Layout, box: Path) -> None:
    layout.make()
    (box / "INBOX.md.lock").mkdir()
    long_ago = time.time() - lock.STALE_SECONDS - 1
    os.utime(box / "INBOX.md.lock", (long_ago, long_ago))
    with locked(layout, INBOX, wait=0) as held:
        assert held.is_ours()


def test_a_lock_set_ahead_in_time_is_not_stale(layout: Layout, box: Path) -> None:
    layout.make()
    (box / "INBOX.md.lock").mkdir()
    os.utime(box / "INBOX.md.lock", (time.time() + 1, time.time() + 1))
    with pytest.raises(Busy), locked(layout, INBOX, wait=0):
        pytest.fail("two held it")


def test_whoever_waits_goes_on_when_the_other_program_is_done(layout: Layout, box: Path) -> None:
    layout.make()
    (box / "INBOX.md.lock").mkdir()
    got = threading.Event()

    def wait() -> None:
        with locked(layout, INBOX, wait=60):
            got.set()

    thread = threading.Thread(target=wait)
    thread.start()
    (box / "INBOX.md.lock").rmdir()
    assert got.wait(60)
    thread.join()


def test_a_killed_process_of_ours_blocks_nobody(layout: Layout, root: Path, box: Path) -> None:
    dies_holding(root)
    assert (box / "INBOX.md.lock").is_dir()
    with locked(layout, INBOX, wait=0):
        pass
    assert not (box / "INBOX.md.lock").exists()


def test_the_lock_of_another_program_is_never_taken_for_ours(layout: Layout, root: Path, box: Path) -> None:
    dies_holding(root)
    (box / "INBOX.md.lock").rmdir()
    (box / "INBOX.md.lock").mkdir(mode=0o755)
    with pytest.raises(Busy), locked(layout, INBOX, wait=0):
        pytest.fail("two held it")


def test_what_a_killed_process_left_of_a_rewrite_is_removed(layout: Layout, root: Path, box: Path) -> None:
    dies_holding(root, "open(held.path + '.1.aaaaaaaa.tmp', 'w').close()")
    with locked(layout, INBOX, wait=0):
        pass
    assert [name for name in os.listdir(box) if name.endswith(".tmp")] == []


@pytest.mark.parametrize("cut", [1, 6, 20, len(HEADER), len(HEADER) + 40, len(HEADER) + len(BLOCK) - 1])
def test_a_torn_append_is_taken_back(layout: Layout, root: Path, box: Path, cut: int) -> None:
    dies_holding(root, torn_append(cut))
    assert (box / "INBOX.md").stat().st_size == cut
    with locked(layout, INBOX, wait=0) as held:
        assert (box / "INBOX.md").read_bytes() == b""
        held.append(BLOCK, header=HEADER)
    assert (box / "INBOX.md").read_bytes() == HEADER + BLOCK
    assert read_record(layout, INBOX) is None


def test_an_append_that_was_whole_stays(layout: Layout, root: Path, box: Path) -> None:
    dies_holding(root, torn_append(10_000))
    with locked(layout, INBOX, wait=0):
        pass
    assert (box / "INBOX.md").read_bytes() == HEADER + BLOCK
    assert read_record(layout, INBOX) is None


@pytest.mark.parametrize("cut", [3, len(HEADER) + 3, len(HEADER) + 30, len(HEADER) + len(BLOCK) - 10])
def test_another_programs_message_behind_a_torn_append_stays_whole(
    layout: Layout, root: Path, box: Path, cut: int, mailbox: WorktreeMailbox
) -> None:
    dies_holding(root, torn_append(cut))
    with (box / "INBOX.md").open("ab") as file:
        file.write(FOREIGN)
    assert [entry.message.body for entry in mailbox.entries() if "auth" in entry.message.body] == []
    with locked(layout, INBOX, wait=0):
        assert (box / "INBOX.md").read_bytes().endswith(FOREIGN)
    assert [entry.message.body for entry in mailbox.entries()] == ["Leave the docs module alone."]
    mailbox.post(Draft("next"))
    assert [entry.message.number for entry in mailbox.entries()] == [1, 2]
    assert mailbox.faults() == []


def test_text_that_is_not_plainly_anothers_block_is_left(layout: Layout, root: Path, box: Path) -> None:
    dies_holding(root, torn_append(len(HEADER) + 30))
    with (box / "INBOX.md").open("ab") as file:
        file.write(b" by hand")
    before = (box / "INBOX.md").read_bytes()
    with locked(layout, INBOX, wait=0):
        assert (box / "INBOX.md").read_bytes() == before


def test_a_record_of_another_file_or_of_nothing_cuts_nothing(layout: Layout, box: Path) -> None:
    layout.make()
    (box / "INBOX.md").write_bytes(HEADER + BLOCK[:30])
    inode = (box / "INBOX.md").stat().st_ino
    for record in (
        WriteRecord(1, 1, inode + 1, len(HEADER), BLOCK),
        WriteRecord(1, 1, inode, len(HEADER) + 1000, BLOCK),
        WriteRecord(1, 1, inode, len(HEADER) + 30, BLOCK),
    ):
        Record(layout, INBOX).begin(record)
        with locked(layout, INBOX, wait=0):
            assert (box / "INBOX.md").read_bytes() == HEADER + BLOCK[:30]
    for junk in (b"", b"restante-write-1 1 2 3", b"restante-write-1 1 2 3 4 5\nab", b"\xff" * 100):
        (box / ".restante" / "INBOX.md.write").write_bytes(junk)
        with locked(layout, INBOX, wait=0):
            assert (box / "INBOX.md").read_bytes() == HEADER + BLOCK[:30]


def test_a_lock_that_is_held_long_is_renewed(layout: Layout, box: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lock, "RENEW_SECONDS", 0.01)
    with locked(layout, INBOX, long=True):
        os.utime(box / "INBOX.md.lock", (0, 0))
        deadline = time.monotonic() + 60
        while (box / "INBOX.md.lock").stat().st_mtime == 0 and time.monotonic() < deadline:
            time.sleep(0.005)
        assert (box / "INBOX.md.lock").stat().st_mtime > 0


def test_a_lock_that_was_taken_over_is_not_given_back(layout: Layout, box: Path) -> None:
    with locked(layout, INBOX) as held:
        (box / "INBOX.md.lock").rmdir()
        (box / "placeholder").mkdir()
        (box / "INBOX.md.lock").mkdir()
        assert not held.is_ours()
    assert (box / "INBOX.md.lock").is_dir()


def test_a_read_only_disk_is_told_from_a_busy_one(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    layout.make()

    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    monkeypatch.setattr("os.mkdir", refuse)
    with pytest.raises(StorageFailed, match="Read-only") as caught, locked(layout, INBOX):
        pytest.fail("locked on a read-only disk")
    assert caught.value.remedy


def test_a_file_in_place_of_the_lock_is_named(layout: Layout, box: Path) -> None:
    layout.make()
    (box / "INBOX.md.lock").touch()
    with pytest.raises(StorageFailed, match="not a directory"), locked(layout, INBOX, wait=0):
        pytest.fail("locked")


@pytest.mark.parametrize("name", ["INBOX.md", ".restante"])
def test_links_out_of_the_worktree_are_refused(tmp_path: Path, layout: Layout, box: Path, name: str) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").touch()
    box.mkdir()
    (box / name).symlink_to(tmp_path / "outside" / ("file" if name == "INBOX.md" else ""))
    with pytest.raises(Unsafe), locked(layout, INBOX):
        pytest.fail("followed a link")
    assert os.listdir(tmp_path / "outside") == ["file"]


def test_the_lock_of_a_linked_file_stands_beside_the_real_one(layout: Layout, root: Path, box: Path) -> None:
    (root / "mail.md").touch()
    box.mkdir()
    (box / "INBOX.md").symlink_to(root / "mail.md")
    with locked(layout, INBOX) as held:
        assert held.directory == str(root / "mail.md.lock")
        held.append(BLOCK, header=HEADER)
    assert (root / "mail.md").read_bytes() == HEADER + BLOCK
    assert (box / "INBOX.md").is_symlink()


def test_an_append_of_this_moment_is_read_when_it_is_whole(
    layout: Layout, box: Path, open_again: Callable[[], WorktreeMailbox]
) -> None:
    layout.make()
    (box / "INBOX.md").write_bytes(HEADER + FOREIGN + BLOCK[:-10])
    inode = (box / "INBOX.md").stat().st_ino
    record = Record(layout, INBOX)
    record.begin(WriteRecord(1, 1, inode, len(HEADER + FOREIGN), BLOCK))
    reader = open_again()
    assert len(reader.entries()) == 1
    assert reader.faults() == []
    with (box / "INBOX.md").open("ab") as file:
        file.write(BLOCK[-10:])
    assert len(reader.entries()) == 1
    record.settle()
    assert len(reader.entries()) == 2


@pytest.mark.slow
@pytest.mark.parametrize("count", [40])
def test_the_original_program_and_ours_lose_nothing_of_each_other(
    root: Path, box: Path, mailbox: WorktreeMailbox, count: int
) -> None:
    from tests.stores.worktree import original

    ours = (
        "import sys\nfrom restante.domain.message import Draft\nfrom restante.wiring import open_mailbox\n"
        "mailbox = open_mailbox('worktree:' + sys.argv[1])\nprint('ready', flush=True)\nsys.stdin.readline()\n"
        "for number in range(int(sys.argv[3])):\n"
        "    print(mailbox.post(Draft(f'{sys.argv[2]} {number}')).message.id, flush=True)\n"
    )
    # The first write of the original program can erase anything: that is a race of its own.
    mailbox.post(Draft("first"))
    commands = [
        *([sys.executable, "-B", original.__file__, str(box), f"theirs-{number}", str(count)] for number in range(3)),
        *([sys.executable, "-B", "-c", ours, str(root), f"ours-{number}", str(count)] for number in range(3)),
    ]
    running = [
        subprocess.Popen(one, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for one in commands
    ]
    for one in running:
        assert one.stdout
        assert one.stdout.readline() == "ready\n"
    for one in running:
        assert one.stdin
        one.stdin.write("\n")
        one.stdin.flush()
    reported: list[str] = []
    while any(one.poll() is None for one in running):
        mailbox.entries(pending_only=True)
    for one in running:
        out, err = one.communicate()
        assert (one.returncode, err) == (0, "")
        reported += out.split()
    assert len(reported) == len(set(reported)) == 6 * count
    entries = mailbox.entries()
    assert {entry.message.id for entry in entries} >= set(reported)
    assert [entry.message.number for entry in entries] == list(range(1, 6 * count + 2))
    bodies = {entry.message.body for entry in entries}
    assert bodies == {
        "first",
        *(f"{who}-{n} {i}" for who in ("theirs", "ours") for n in range(3) for i in range(count)),
    }
    assert mailbox.faults() == []
