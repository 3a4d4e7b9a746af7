"""What each session was shown."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from restante.domain.errors import Busy, StorageFailed
from restante.stores.worktree import notebook as module
from restante.stores.worktree.locate import find_worktree
from restante.stores.worktree.notebook import FileNotebook

if TYPE_CHECKING:
    from pathlib import Path

    from restante.testing import FakeClock

AT = datetime(2026, 5, 20, 15, 30, tzinfo=UTC)
ID = "msg_20260520T123456_01jvqk8z4m3n5p7r9s1t3v5w7x"


@pytest.fixture
def notebook(root: Path, box: Path, clock: FakeClock) -> FileNotebook:
    box.mkdir()
    return FileNotebook(find_worktree(str(root)), clock)


@pytest.fixture
def sessions(box: Path) -> Path:
    return box / ".restante" / "sessions"


def write(notebook: FileNotebook, session: str) -> None:
    with notebook.page(session) as shown:
        shown.times[ID] = AT
        shown.held.add(ID)


def pages(sessions: Path) -> list[str]:
    return sorted(name for name in os.listdir(sessions) if name.endswith(".json"))


def test_a_page_is_kept_for_its_session_only(notebook: FileNotebook) -> None:
    write(notebook, "one")
    with notebook.page("one") as shown:
        assert (shown.times, shown.held) == ({ID: AT}, {ID})
    with notebook.page("two") as shown:
        assert (shown.times, shown.held) == ({}, set())


def test_times_at_the_end_of_time_count_as_nothing(notebook: FileNotebook, sessions: Path) -> None:
    write(notebook, "one")
    odd = dict.fromkeys("abcd", "9999-12-31T23:59:59-12:00") | {"e": "9999-12-31T23:59:59-12:00Z", ID: "1Z", "f": [1]}
    (sessions / "one.json").write_text(json.dumps({"version": 1, "times": odd, "held": [ID]}))
    with notebook.page("one") as shown:
        assert (shown.times, shown.held) == ({}, {ID})
        shown.times[ID] = AT
    with notebook.page("one") as shown:
        assert shown.times == {ID: AT}


def test_an_error_inside_changes_nothing(notebook: FileNotebook) -> None:
    write(notebook, "one")
    with pytest.raises(ZeroDivisionError), notebook.page("one") as shown:
        shown.times.clear()
        raise ZeroDivisionError
    with notebook.page("one") as shown:
        assert shown.times == {ID: AT}


def test_an_empty_page_is_not_kept(notebook: FileNotebook, sessions: Path) -> None:
    with notebook.page("one"):
        pass
    assert pages(sessions) == []


def test_where_there_is_no_mailbox_none_is_made(root: Path, box: Path, clock: FakeClock) -> None:
    write(FileNotebook(find_worktree(str(root)), clock), "one")
    FileNotebook(find_worktree(str(root)), clock).tear_out("one")
    assert not box.exists()


def test_a_page_that_is_torn_out_is_gone_and_twice_changes_nothing(notebook: FileNotebook, sessions: Path) -> None:
    write(notebook, "one")
    for _ in range(2):
        notebook.tear_out("one")
        assert os.listdir(sessions) == []


@pytest.mark.parametrize("session", ["../../../etc/x", "a/b", "", ".", "x" * 65, "new\nline", "\udcff", "\u00e4"])
def test_any_session_id_stays_inside_and_apart(notebook: FileNotebook, sessions: Path, session: str) -> None:
    write(notebook, session)
    (name,) = pages(sessions)
    assert len(name) == 32 + len(".json")
    with notebook.page(session) as shown:
        assert shown.held == {ID}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"7",
        b"null",
        b"\xff\xfe\x00",
        b"[" * 100_000,
        b'{"times": 7, "held": "x"}',
        b'{"times": {"a": 7, "b": "yesterday", "c": "2026-05-20T15:30:00"}, "held": [7, null, {}]}',
        b'{"times": [], "held": {"a": 1}}',
    ],
)
def test_a_page_that_is_none_counts_as_empty_and_can_be_written(
    notebook: FileNotebook, sessions: Path, content: bytes
) -> None:
    write(notebook, "one")
    (sessions / "one.json").write_bytes(content)
    with notebook.page("one") as shown:
        assert (shown.times, shown.held) == ({}, set())
    write(notebook, "one")
    assert json.loads((sessions / "one.json").read_bytes())["held"] == [ID]


def test_pages_of_sessions_that_ended_without_a_word_are_removed(notebook: FileNotebook, sessions: Path) -> None:
    write(notebook, "old")
    write(notebook, "new")
    long_ago = time.time() - module.MOST_SECONDS - 60
    for name in os.listdir(sessions):
        if name.startswith("old"):
            os.utime(sessions / name, (long_ago, long_ago))
    write(notebook, "newer")
    assert pages(sessions) == ["new.json", "newer.json"]
    assert sorted(os.listdir(sessions)) == ["new.json", "new.json.flock", "newer.json", "newer.json.flock"]


def test_there_are_never_more_pages_than_may_be(
    notebook: FileNotebook, sessions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_PAGES", 5)
    for number in range(9):
        write(notebook, f"session-{number}")
        os.utime(sessions / f"session-{number}.json", (time.time(), time.time() + number - 100))
    assert pages(sessions) == [f"session-{number}.json" for number in range(4, 9)]


def test_a_page_that_stays_open_is_busy_for_others(notebook: FileNotebook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "WAIT_SECONDS", 0.05)
    with notebook.page("one"), pytest.raises(Busy), notebook.page("one"):
        pytest.fail("two had it open")
    with notebook.page("one"), notebook.page("two"):
        pass


def test_a_disk_that_cannot_be_written_is_told(notebook: FileNotebook, box: Path) -> None:
    (box / ".restante").write_text("in the way")
    with pytest.raises(StorageFailed), notebook.page("one"):
        pytest.fail("opened")


def test_exactly_one_of_eight_checkpoints_at_once_shows_a_message(notebook: FileNotebook, root: Path) -> None:
    program = (
        "import sys\nfrom datetime import datetime, UTC\n"
        "from restante.stores.worktree.locate import find_worktree\n"
        "from restante.stores.worktree.notebook import FileNotebook\nfrom restante.system.clock import SystemClock\n"
        "book = FileNotebook(find_worktree(sys.argv[1]), SystemClock())\n"
        "print('ready', flush=True)\nsys.stdin.readline()\n"
        f"with book.page('one') as shown:\n    if {ID!r} not in shown.times:\n        print('shows')\n"
        f"        shown.times[{ID!r}] = datetime.now(UTC)\n"
    )
    command = [sys.executable, "-B", "-c", program, str(root)]
    running = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(8)]
    for one in running:
        assert one.stdout
        assert one.stdout.readline() == "ready\n"
    for one in running:
        assert one.stdin
        one.stdin.write("\n")
        one.stdin.flush()
    outputs = [one.communicate()[0] for one in running]
    assert [one.returncode for one in running] == [0] * 8
    assert sorted(outputs) == [""] * 7 + ["shows\n"]
    with notebook.page("one") as shown:
        assert list(shown.times) == [ID]
