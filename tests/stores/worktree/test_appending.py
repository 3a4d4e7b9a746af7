"""A process that appends again and again: what it keeps from one append to the next, and what it must not."""

from __future__ import annotations

import gc
import os
import signal
import stat
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.stores.worktree import original
from tests.stores.worktree.test_render import BODIES
from tests.trying import examples

from restante.domain.errors import BadText, Busy, StorageFailed, Unsafe
from restante.domain.limits import Limits
from restante.domain.message import Draft, Message, Priority, Scope, Sender
from restante.stores.worktree import posting, spare
from restante.stores.worktree.locate import find_worktree
from restante.stores.worktree.lock import STALE_SECONDS, locked
from restante.stores.worktree.store import WorktreeMailbox
from restante.testing import FakeClock, SequentialIds

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Open = Callable[[], WorktreeMailbox]

LOCK, SPARE, QUEUE = "INBOX.md.lock", ".INBOX.md.spare", ".restante/INBOX.md.flock"


@pytest.fixture
def resident(mailbox: WorktreeMailbox) -> WorktreeMailbox:
    """A mailbox whose process has appended often."""
    # What other tests left to the collector keeps no file open.
    gc.collect()
    for number in range(4):
        mailbox.post(Draft(f"earlier {number}"))
    return mailbox


def bodies(mailbox: WorktreeMailbox) -> list[str]:
    return [entry.message.body for entry in mailbox.entries()]


def moves_here(tmp_path: Path) -> bool:
    (tmp_path / "one").mkdir()
    return (spare._move or spare._load())(str(tmp_path / "one"), str(tmp_path / "two"))


# -- the lock directory that is moved aside and back -------------------------------------------------------------------


def test_the_lock_of_a_process_that_appends_often_is_one_directory_that_comes_and_goes(
    resident: WorktreeMailbox, box: Path, tmp_path: Path
) -> None:
    if not moves_here(tmp_path):
        pytest.skip("this system cannot move without replacing")
    status = (box / SPARE).lstat()
    assert stat.S_IMODE(status.st_mode) == 0o500
    assert not (box / LOCK).exists()
    with locked(resident.layout, "INBOX.md") as held:
        assert (box / LOCK).lstat().st_ino == status.st_ino == held.inode
        assert not (box / SPARE).exists()
        assert held.is_ours()
    resident.post(Draft("more"))
    assert (box / SPARE).lstat().st_ino == status.st_ino
    assert not (box / LOCK).exists()


def test_a_lock_directory_that_comes_back_is_not_old(resident: WorktreeMailbox, box: Path) -> None:
    if (box / SPARE).exists():
        os.utime(box / SPARE, (0, 0))
    with locked(resident.layout, "INBOX.md"):
        assert time.time() - (box / LOCK).stat().st_mtime < STALE_SECONDS


def test_moving_the_lock_directory_replaces_no_lock_of_another_program(resident: WorktreeMailbox, box: Path) -> None:
    (box / LOCK).mkdir()
    theirs = (box / LOCK).stat()
    with pytest.raises(Busy), locked(resident.layout, "INBOX.md", wait=0.02):
        pytest.fail("two held it")
    assert os.path.samestat(theirs, (box / LOCK).stat())
    (box / LOCK).rmdir()
    resident.post(Draft("more"))
    assert bodies(resident)[-1] == "more"


@pytest.mark.parametrize("what", ["link", "file", "another mode"])
def test_what_is_no_lock_directory_of_ours_is_not_made_one(
    resident: WorktreeMailbox, box: Path, tmp_path: Path, what: str
) -> None:
    if (box / SPARE).exists():
        (box / SPARE).rmdir()
    if what == "link":
        (tmp_path / "elsewhere").mkdir(mode=0o500)
        (box / SPARE).symlink_to(tmp_path / "elsewhere")
    elif what == "file":
        (box / SPARE).touch()
    else:
        (box / SPARE).mkdir(mode=0o755)
    with locked(resident.layout, "INBOX.md") as held:
        assert stat.S_ISDIR((box / LOCK).lstat().st_mode)
        assert held.is_ours()
    assert not (box / LOCK).exists()


@pytest.mark.parametrize("moves", [True, False])
def test_a_process_that_was_killed_with_a_lock_it_had_taken_often_blocks_nobody(
    mailbox: WorktreeMailbox, root: Path, box: Path, moves: bool
) -> None:
    program = (
        "import os, signal, sys\nfrom restante.domain.message import Draft\n"
        "from restante.stores.worktree import spare\n"
        "from restante.stores.worktree.lock import locked\nfrom restante.wiring import open_mailbox\n"
        f"if not {moves}: spare._load = lambda: spare._moves_nothing\n"
        "mailbox = open_mailbox('worktree:' + sys.argv[1])\nfor number in range(5): mailbox.post(Draft(str(number)))\n"
        "with locked(mailbox.layout, 'INBOX.md'): os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-B", "-c", program, str(root)], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert (box / LOCK).is_dir()
    with locked(mailbox.layout, "INBOX.md", wait=0):
        pass
    assert not (box / LOCK).exists()
    assert bodies(mailbox) == ["0", "1", "2", "3", "4"]


def test_nothing_is_left_beside_a_file_outside_of_the_mailbox(mailbox: WorktreeMailbox, root: Path, box: Path) -> None:
    box.mkdir()
    (root / "mail.md").touch()
    (box / "INBOX.md").symlink_to(root / "mail.md")
    for number in range(6):
        mailbox.post(Draft(str(number)))
    assert sorted(os.listdir(root)) == [".codex-mailbox", ".git", "mail.md"]


def test_a_process_that_appends_once_leaves_no_lock_directory(root: Path, box: Path) -> None:
    program = (
        "import sys\nfrom restante.domain.message import Draft\nfrom restante.wiring import open_mailbox\n"
        "open_mailbox('worktree:' + sys.argv[1]).post(Draft('x'))\nassert 'ctypes' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program, str(root)], check=True)
    assert [name for name in os.listdir(box) if name.endswith((".lock", ".spare"))] == []


# -- files that stay open ----------------------------------------------------------------------------------------------


def test_a_mailbox_that_goes_closes_what_it_kept_open(root: Path, clock: FakeClock, ids: SequentialIds) -> None:
    gc.collect()
    before = len(os.listdir("/dev/fd"))
    mailbox = WorktreeMailbox(find_worktree(str(root)), clock, ids)
    for number in range(20):
        mailbox.post(Draft(str(number)))
    assert len(os.listdir("/dev/fd")) <= before + 4
    del mailbox
    gc.collect()
    assert len(os.listdir("/dev/fd")) == before


def test_mailboxes_of_one_append_each_keep_nothing_open(open_again: Open) -> None:
    before = len(os.listdir("/dev/fd"))
    mailboxes = [open_again() for _ in range(20)]
    for mailbox in mailboxes:
        mailbox.post(Draft("x"))
    assert len(os.listdir("/dev/fd")) == before


def test_many_mailboxes_keep_only_so_many_files_open(tmp_path: Path, clock: FakeClock, ids: SequentialIds) -> None:
    before = len(os.listdir("/dev/fd"))
    mailboxes = []
    for number in range(15):
        (tmp_path / str(number) / ".git").mkdir(parents=True)
        mailboxes.append(WorktreeMailbox(find_worktree(str(tmp_path / str(number))), clock, ids))
    for mailbox in mailboxes * 5:
        mailbox.post(Draft("x"))
    assert len(os.listdir("/dev/fd")) <= before + 32
    assert [mailbox.counts().total for mailbox in mailboxes] == [5] * 15


def test_a_lock_that_was_kept_open_still_excludes_its_own_process(resident: WorktreeMailbox) -> None:
    for _ in range(2):
        with (
            locked(resident.layout, "INBOX.md"),
            pytest.raises(Busy),
            locked(resident.layout, "INBOX.md", wait=0),
        ):
            pytest.fail("two held it")


def test_a_forked_process_does_not_share_the_lock(resident: WorktreeMailbox, box: Path) -> None:
    with locked(resident.layout, "INBOX.md"):
        child = os.fork()
        if child == 0:
            try:
                with locked(resident.layout, "INBOX.md", wait=0):
                    os._exit(1)
            except Busy:
                os._exit(0)
            finally:
                os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert (box / LOCK).is_dir()
    resident.post(Draft("more"))
    assert bodies(resident)[-1] == "more"


@pytest.mark.parametrize("name", ["INBOX.md", ".restante/INBOX.md.write", QUEUE, ".restante"])
def test_what_was_replaced_since_is_not_written_any_more(
    resident: WorktreeMailbox, open_again: Open, box: Path, name: str
) -> None:
    (box / name).rename(box / "old")
    if name == "INBOX.md":
        (box / name).write_bytes((box / "old").read_bytes())
    before = {path: path.read_bytes() for path in [box / "old", *(box / "old").glob("*")] if path.is_file()}
    resident.post(Draft("more"))
    assert (box / name).exists()
    assert {path: path.read_bytes() for path in before} == before
    assert bodies(resident) == bodies(open_again()) == [*(f"earlier {number}" for number in range(4)), "more"]


@pytest.mark.parametrize("name", ["INBOX.md", ".restante/INBOX.md.write", QUEUE, ".restante", ""])
def test_a_link_that_was_put_there_since_is_not_followed(
    resident: WorktreeMailbox, box: Path, tmp_path: Path, name: str
) -> None:
    (box / name).rename(tmp_path / "outside")
    before = {path: path.read_bytes() for path in (tmp_path / "outside").rglob("*") if path.is_file()}
    (box / name).symlink_to(tmp_path / "outside")
    with pytest.raises((Unsafe, StorageFailed)):
        resident.post(Draft("more"))
    assert {path: path.read_bytes() for path in before} == before


def test_a_trace_whose_directory_became_a_link_is_left_nowhere(
    resident: WorktreeMailbox, root: Path, tmp_path: Path
) -> None:
    (root / ".git" / "restante").rename(tmp_path / "outside")
    (tmp_path / "outside" / "posted").rename(tmp_path / "kept")
    (root / ".git" / "restante").symlink_to(tmp_path / "outside")
    before = (tmp_path / "kept").read_bytes()
    resident.post(Draft("more"))
    assert (tmp_path / "kept").read_bytes() == before
    assert os.listdir(tmp_path / "outside") == []


def test_new_rights_count_from_the_next_append_on(
    resident: WorktreeMailbox, box: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    real = os.open

    def spy(path: str, *rest: int) -> int:
        # By the whole path: what earlier tests left waiting in threads may look at mailboxes of its own.
        opened.append(os.fspath(path))
        return real(path, *rest)

    monkeypatch.setattr("os.open", spy)
    resident.post(Draft("more"))
    assert str(box / "INBOX.md") not in opened
    (box / "INBOX.md").chmod(0o400)
    resident.post(Draft("more"))
    assert str(box / "INBOX.md") in opened


# -- what was appended here is read when somebody asks -----------------------------------------------------------------


_STEPS = st.lists(
    st.sampled_from(["post", "post", "post", "post twice", "theirs", "look", "pending", "reopen", "other", "withdraw"]),
    max_size=25,
)


@settings(max_examples=examples(60))
@given(_STEPS, st.lists(BODIES, min_size=1, max_size=5))
def test_numbers_and_messages_are_the_same_however_appends_and_looks_follow_each_other(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], texts: list[str]
) -> None:
    root = tmp_path_factory.mktemp("tree")
    (root / ".git").mkdir()
    clock, ids = FakeClock(), SequentialIds()

    def open_it() -> WorktreeMailbox:
        return WorktreeMailbox(find_worktree(str(root)), clock, ids, Limits(message_bytes=100_000))

    mailbox, other = open_it(), open_it()
    numbers: list[int] = []
    expected: list[str] = []

    def post(where: WorktreeMailbox, client_id: str = "") -> None:
        text = "once" if client_id else texts[len(expected) % len(texts)]
        posted = where.post(Draft(text, client_id=client_id))
        if not posted.duplicate:
            expected.append(text)
            numbers.append(posted.message.number)
            assert posted.message.number == len(expected)

    for step in steps:
        if step == "post":
            post(mailbox)
        elif step == "post twice":
            post(mailbox, "c1")
        elif step == "other":
            post(other)
        elif step == "theirs":
            original.append(str(root / ".codex-mailbox"), "theirs")
            expected.append("theirs")
        elif step == "look":
            assert bodies(mailbox) == expected
        elif step == "pending":
            mailbox.counts()
        elif step == "reopen":
            mailbox = open_it()
        elif expected:
            ident = mailbox.entries()[-1].message.id
            mailbox.withdraw(ident)
    for one in (mailbox, other, open_it()):
        assert bodies(one) == expected
        assert [entry.message.number for entry in one.entries()] == list(range(1, len(expected) + 1))
        assert one.faults() == []


_WORDS = st.one_of(
    st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E), max_size=20).map(lambda text: text.strip(' "')),
    st.sampled_from(["", "a: b", "## x", "`x`", "~~~~", "body: fenced", "status: cancelled", "Mesaj:", 'a "b"', "---"]),
)


@settings(max_examples=examples(150))
@given(
    st.lists(
        st.tuples(
            BODIES,
            _WORDS.map(lambda word: Sender(word or "human")),
            st.sampled_from(Priority),
            st.sampled_from(Scope),
            _WORDS,
            _WORDS.map(lambda word: word or "guidance"),
            _WORDS,
            _WORDS,
        ).map(lambda fields: Draft(*fields)),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(["", "theirs", "# a heading", "~~~~\nan open fence", "<!-- an open comment", "text\n---", "    x"]),
)
def test_what_is_not_read_back_before_it_is_written_comes_back_all_the_same(
    tmp_path_factory: pytest.TempPathFactory, drafts: list[Draft], theirs: str
) -> None:
    root = tmp_path_factory.mktemp("tree")
    (root / ".git").mkdir()
    clock, ids = FakeClock(), SequentialIds()
    mailbox = WorktreeMailbox(find_worktree(str(root)), clock, ids, Limits(message_bytes=100_000))
    if theirs:
        original.append(str(root / ".codex-mailbox"), theirs)
    assert all(map(posting._is_ordinary, drafts))
    posted = [mailbox.post(draft).message for draft in drafts]
    again = WorktreeMailbox(find_worktree(str(root)), clock, ids, Limits(message_bytes=100_000))
    assert [entry.message for entry in again.entries()][bool(theirs) :] == posted
    assert again.faults() == []


@pytest.mark.parametrize("draft", [Draft("x", type=""), Draft("x", sender=Sender(""))])
def test_what_would_not_come_back_is_refused_before_it_is_written(
    mailbox: WorktreeMailbox, box: Path, draft: Draft
) -> None:
    with pytest.raises(BadText):
        mailbox.post(draft)
    assert not (box / "INBOX.md").exists()


@pytest.mark.parametrize("word", ["é", " x", "x ", '"x"', "a\tb", "\u2028", "\x7f"])
def test_a_head_that_is_written_in_another_form_is_read_back_first(
    mailbox: WorktreeMailbox, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    read: list[str] = []
    real = posting._read_back

    def spy(message: Message, data: bytes) -> None:
        read.append(message.subject)
        real(message, data)

    monkeypatch.setattr(posting, "_read_back", spy)
    mailbox.post(Draft("x", subject=word))
    mailbox.post(Draft("x", subject="plain words"))
    assert read == [word]
