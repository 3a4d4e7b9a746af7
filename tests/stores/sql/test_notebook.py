"""What checkpoints showed: saved whole or not at all, alone, per session and mailbox."""

from __future__ import annotations

import os
import sqlite3
import threading
from typing import TYPE_CHECKING

import pytest

from restante.domain.checkpoint import Shown
from restante.domain.errors import BadText, Busy
from restante.testing import FakeClock, make_draft

if TYPE_CHECKING:
    from collections.abc import Callable

    from restante.stores.sql.notebook import SqlNotebook
    from restante.stores.sql.sqlite import SqliteDatabase, SqliteMailbox

    Open = Callable[..., SqliteDatabase]


def _read(notebook: SqlNotebook, session: str) -> Shown:
    with notebook.page(session) as shown:
        return Shown(dict(shown.times), set(shown.held))


def test_a_page_is_saved_on_leaving(mailbox: SqliteMailbox, open_database: Open, clock: FakeClock) -> None:
    with mailbox.notebook.page("one") as shown:
        assert shown == Shown()
        shown.times = {"msg_1": clock.now(), "msg_2": clock.now()}
        shown.held = {"msg_2", "msg_3"}
    later = clock.advance(5)
    other = open_database().notebook(mailbox.address)
    with other.page("one") as shown:
        shown.times["msg_1"] = later
        del shown.times["msg_2"]
        shown.held = {"msg_3", "msg_1"}
    assert _read(mailbox.notebook, "one") == Shown({"msg_1": later}, {"msg_3", "msg_1"})


def test_pages_are_apart_by_session_and_by_mailbox(
    mailbox: SqliteMailbox, open_database: Open, clock: FakeClock
) -> None:
    with mailbox.notebook.page("one") as one, mailbox.notebook.page("two") as two:
        one.held.add("msg_1")
        two.held.add("msg_2")
    assert _read(mailbox.notebook, "one").held == {"msg_1"}
    assert _read(mailbox.notebook, "two").held == {"msg_2"}
    assert _read(open_database().notebook("team/other"), "one") == Shown()


def test_an_error_saves_nothing(mailbox: SqliteMailbox) -> None:
    with pytest.raises(ZeroDivisionError), mailbox.notebook.page("one") as shown:
        shown.held.add("msg_1")
        raise ZeroDivisionError
    assert _read(mailbox.notebook, "one") == Shown()


def test_a_page_that_stays_as_it_was_writes_nothing(mailbox: SqliteMailbox, path: str) -> None:
    mailbox.post(make_draft())
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert _read(mailbox.notebook, "one") == Shown()
    other.execute("ROLLBACK")
    other.close()


def test_a_page_is_open_to_one_at_a_time_and_mail_is_not_locked_by_it(
    mailbox: SqliteMailbox, open_database: Open
) -> None:
    entered, order = threading.Event(), []

    def second() -> None:
        entered.set()
        with open_database().notebook(mailbox.address).page("one") as shown:
            order.append(sorted(shown.held))

    with mailbox.notebook.page("one") as shown:
        thread = threading.Thread(target=second)
        thread.start()
        entered.wait()
        open_database().mailbox(mailbox.address).post(make_draft("posted meanwhile"))
        shown.held.add("msg_1")
        order.append(["first"])
        impatient = open_database(busy_seconds=0.05).notebook(mailbox.address)
        with pytest.raises(Busy), impatient.page("one"):
            pass
    thread.join()
    assert order == [["first"], ["msg_1"]]


def test_a_session_is_forgotten_with_its_lock(mailbox: SqliteMailbox, path: str) -> None:
    for session in ("one", "two"):
        with mailbox.notebook.page(session) as shown:
            shown.held.add("msg_1")
    for _ in range(2):
        mailbox.notebook.tear_out("one")
    assert len(os.listdir(path + "-pages")) == 1
    assert _read(mailbox.notebook, "one") == Shown()
    assert _read(mailbox.notebook, "two").held == {"msg_1"}


def test_a_session_is_forgotten_also_when_its_lock_was_removed(mailbox: SqliteMailbox, path: str) -> None:
    with mailbox.notebook.page("one") as shown:
        shown.held.add("msg_1")
    for name in os.listdir(path + "-pages"):
        os.unlink(os.path.join(path + "-pages", name))
    os.rmdir(path + "-pages")
    mailbox.notebook.tear_out("one")
    assert _read(mailbox.notebook, "one") == Shown()


def test_any_session_name_that_is_text_works(mailbox: SqliteMailbox) -> None:
    for session in ("../../etc", "a/b", "", "x" * 5000, "é\0"):
        with mailbox.notebook.page(session) as shown:
            assert shown == Shown()
            shown.held.add(f"of {len(session)}")
        assert _read(mailbox.notebook, session).held == {f"of {len(session)}"}
    with pytest.raises(BadText), mailbox.notebook.page("\ud800"):
        pass
