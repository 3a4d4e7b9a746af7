"""The form of the database: reached by migrations, refused where it is not ours, never half made."""

from __future__ import annotations

import os
import sqlite3
from typing import TYPE_CHECKING

import pytest

from restante.domain.errors import Damaged, MailboxDeleted, StorageFailed, Unreadable
from restante.domain.mailbox import Counts, Posted
from restante.domain.message import Sender
from restante.domain.receipt import Decision
from restante.stores.sql.schema import APPLICATION_ID, SCHEMA_VERSION, bring_up_to_date, migrate, migrations, version_of
from restante.testing import make_draft

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from restante.stores.sql.sqlite import SqliteDatabase, SqliteMailbox


def _form(connection: sqlite3.Connection) -> list[tuple[object, ...]]:
    """Return all that a form promises; where a column stands in the text of its table is none of it."""
    form: list[tuple[object, ...]] = []
    objects = connection.execute(
        "SELECT type, name, tbl_name, COALESCE(sql, '') FROM sqlite_master ORDER BY type, name"
    )
    for kind, name, table, sql in objects.fetchall():
        if kind != "table":
            form.append((kind, name, table, " ".join(sql.split())))
            continue
        for facts in ("table_info", "foreign_key_list", "index_list"):
            rows = connection.execute(f"SELECT * FROM pragma_{facts}(?)", (name,)).fetchall()
            # The first column numbers what was found, in the order it was made.
            form += sorted((name, facts, *row[facts == "index_list" :]) for row in rows)
        form.append((name, "WITHOUT ROWID" in sql))
    return form


def _version(path: str) -> tuple[int, int]:
    connection = sqlite3.connect(path)
    answer = [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
    connection.close()
    return answer[0], answer[1]


def _make(path: str, *statements: str) -> bytes:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()
    with open(path, "rb") as file:
        return file.read()


def _refuses(mailbox: SqliteMailbox, kind: type[Exception], *words: str) -> None:
    for act in (mailbox.entries, mailbox.counts, mailbox.faults, lambda: mailbox.post(make_draft())):
        with pytest.raises(kind) as caught:
            act()
        text = f"{caught.value} {getattr(caught.value, 'remedy', '')}"
        assert all(word in text for word in words), text


def test_the_schema_is_the_sum_of_the_migrations(mailbox: SqliteMailbox, path: str) -> None:
    mailbox.post(make_draft())
    made = sqlite3.connect(path)
    migrated = sqlite3.connect(":memory:", isolation_level=None)
    migrate(migrated, 0, migrations())
    assert _form(made) == _form(migrated)
    assert len(_form(made)) > 10
    made.close()
    migrated.close()


def _make_version_1(path: str) -> str:
    """Make a file as the first form was, with two mailboxes, and return the id of its pending message."""
    with open(os.path.join(os.path.dirname(__file__), "data", "schema-1.sql"), encoding="utf-8") as file:
        script = file.read()
    os.makedirs(os.path.dirname(path))
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript(script)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute("PRAGMA user_version = 1")
    connection.execute("INSERT INTO mailboxes VALUES (1, 'team/reviewer', 'aaaaaaaa', 2, 3, 2), (2, 'x', 'b', 1, 2, 0)")
    message = (
        "INSERT INTO messages (mailbox, number, id, posted_change, created_ms, unseen, closed, priority, scope, type,"
        " sender, sender_verified, client_id, subject, conversation, parent, body_bytes, body)"
        " VALUES (1, ?, ?, ?, 0, 1, ?, 'normal', 'current_task', 'guidance', 'human', 1, ?, '', '', '', 3, X'616263')"
    )
    connection.execute(message, (1, "msg_a", 1, "acknowledged", "one"))
    connection.execute(message, (2, "msg_b", 2, "", None))
    for change, (kind, number) in enumerate((("posted", 1), ("posted", 2), ("receipt", 1)), 1):
        row = (change, kind, number, "msg_a" if number == 1 else "msg_b")
        connection.execute("INSERT INTO changes VALUES (1, ?, ?, 0, ?, ?)", row)
    connection.execute("INSERT INTO receipts VALUES (1, 3, 1, 'receipt_a', 'msg_a', 5, 'accepted', NULL, '', '', 'r')")
    connection.execute("INSERT INTO deleted VALUES (2, 'msg_c', 7)")
    connection.close()
    return "msg_b"


def test_a_database_of_the_first_form_is_taken_over_with_all_that_is_in_it(mailbox: SqliteMailbox, path: str) -> None:
    pending = _make_version_1(path)
    assert [entry.message.id for entry in mailbox.entries(pending_only=True)] == [pending]
    assert _version(path) == (APPLICATION_ID, SCHEMA_VERSION)
    assert mailbox.receipts("msg_a")[0].decision is Decision.ACCEPTED
    with pytest.raises(MailboxDeleted):
        mailbox.database.mailbox("x").entry("msg_c")
    draft = make_draft("abc", client_id="one", sender=Sender("human", verified=True))
    assert mailbox.post(draft) == Posted(mailbox.entry("msg_a").message, duplicate=True)
    assert mailbox.post(make_draft()).message.number == 3
    made, fresh = sqlite3.connect(path), sqlite3.connect(":memory:", isolation_level=None)
    migrate(fresh, 0, migrations())
    assert _form(made) == _form(fresh)
    assert made.execute("PRAGMA foreign_key_check").fetchall() == []
    made.close()
    fresh.close()


def test_a_database_of_the_first_form_stays_as_it_is_where_it_cannot_be_written(
    mailbox: SqliteMailbox, path: str, read_only: Callable[[str], AbstractContextManager[None]]
) -> None:
    _make_version_1(path)
    # Whoever may only read is another user, who need not be able to read where Restante itself lies.
    migrations()
    with read_only(os.path.dirname(path)):
        _refuses(mailbox, StorageFailed, path, "writ")
    assert _version(path) == (APPLICATION_ID, 1)


def test_a_new_database_says_whose_it_is_and_which_form_it_has(mailbox: SqliteMailbox, path: str) -> None:
    mailbox.post(make_draft())
    assert _version(path) == (APPLICATION_ID, SCHEMA_VERSION)


def test_migrations_are_numbered_without_a_gap_up_to_the_version() -> None:
    assert [number for number, _ in migrations()] == list(range(1, SCHEMA_VERSION + 1))


def test_only_the_steps_beyond_a_version_are_run() -> None:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    migrate(connection, 0, migrations())
    steps = [*migrations(), (SCHEMA_VERSION + 1, "-- More; of it.\nALTER TABLE mailboxes ADD COLUMN more TEXT;\n")]
    migrate(connection, SCHEMA_VERSION, steps)
    assert connection.execute("PRAGMA user_version").fetchone()[0] == SCHEMA_VERSION + 1
    assert connection.execute("SELECT more FROM mailboxes").fetchall() == []
    connection.close()


def test_a_migration_that_fails_leaves_the_old_form(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "one.db", isolation_level=None)
    migrate(connection, 0, migrations())
    before = _form(connection)
    connection.execute("BEGIN IMMEDIATE")
    with pytest.raises(sqlite3.OperationalError):
        migrate(connection, SCHEMA_VERSION, [(SCHEMA_VERSION + 1, "CREATE TABLE extra (a);\nDROP TABLE missing;\n")])
    connection.execute("ROLLBACK")
    assert _form(connection) == before
    assert connection.execute("PRAGMA user_version").fetchone()[0] == SCHEMA_VERSION
    connection.close()


def test_a_newer_database_is_refused_with_both_versions_and_the_mend(mailbox: SqliteMailbox, path: str) -> None:
    mailbox.post(make_draft())
    mailbox.close()
    newer = SCHEMA_VERSION + 6
    before = _make(path, f"PRAGMA user_version = {newer}")
    _refuses(mailbox, Unreadable, path, f"version {newer}", f"version {SCHEMA_VERSION}", "upgrade")
    with open(path, "rb") as file:
        assert file.read() == before


def test_a_database_that_becomes_newer_while_it_is_open_is_refused(mailbox: SqliteMailbox, path: str) -> None:
    mailbox.post(make_draft())
    _make(path, f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    _refuses(mailbox, Unreadable, "upgrade")


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TABLE messages (id)"],
        ["PRAGMA application_id = 77"],
        ["PRAGMA user_version = 1", "CREATE TABLE messages (id)"],
    ],
)
def test_the_database_of_another_program_is_refused_and_left(
    mailbox: SqliteMailbox, path: str, statements: list[str]
) -> None:
    before = _make(path, *statements)
    _refuses(mailbox, Unreadable, path, "another program")
    with open(path, "rb") as file:
        assert file.read() == before
    assert os.listdir(os.path.dirname(path)) == ["restante.db"]


@pytest.mark.parametrize(
    "content", [b"hello", b"# Notes\n" * 1000, b"SQLite format 3\0" + b"\xff" * 4080, b"\0" * 4096]
)
def test_what_is_no_database_is_damaged_and_left(mailbox: SqliteMailbox, path: str, content: bytes) -> None:
    os.makedirs(os.path.dirname(path))
    with open(path, "wb") as file:
        file.write(content)
    _refuses(mailbox, Damaged, path, "left as it is")
    with open(path, "rb") as file:
        assert file.read() == content
    assert os.listdir(os.path.dirname(path)) == ["restante.db"]


def test_a_fifo_or_a_directory_is_refused_without_waiting(mailbox: SqliteMailbox, path: str) -> None:
    os.makedirs(path)
    _refuses(mailbox, Unreadable, path, "not a regular file")
    os.rmdir(path)
    os.mkfifo(path)
    _refuses(mailbox, Unreadable, path, "not a regular file")


def test_an_empty_file_is_an_empty_mailbox_that_can_be_used(mailbox: SqliteMailbox, path: str) -> None:
    os.makedirs(os.path.dirname(path))
    open(path, "w").close()
    assert mailbox.counts() == Counts()
    assert os.path.getsize(path) == 0
    assert mailbox.post(make_draft()).message.number == 1


def test_pages_that_were_overwritten_are_damaged_and_never_nothing(
    mailbox: SqliteMailbox, path: str, open_database: Callable[..., SqliteDatabase]
) -> None:
    for number in range(200):
        mailbox.post(make_draft(f"{number} " * 200))
    mailbox.close()
    _make(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    with open(path, "r+b") as file:
        file.seek(4096)
        file.write(os.urandom(os.path.getsize(path) - 4096))
    other = open_database().mailbox("team/reviewer")
    for act in (other.entries, other.counts, lambda: other.post(make_draft())):
        with pytest.raises(Damaged, match=r"restante\.db"):
            act()


@pytest.mark.parametrize("moment", range(4))
def test_a_file_that_another_process_makes_while_it_is_looked_at_is_never_taken_for_a_strangers(
    tmp_path: Path, moment: int
) -> None:
    path = str(tmp_path / "restante.db")
    looking = sqlite3.connect(path, isolation_level=None)
    making = sqlite3.connect(path, isolation_level=None)
    for connection in (looking, making):
        connection.execute("PRAGMA journal_mode = WAL")
    statements: list[str] = []

    def make_before(statement: str) -> None:
        statements.append(statement)
        if len(statements) == moment + 1:
            bring_up_to_date(making, path)

    looking.set_trace_callback(make_before)
    assert version_of(looking, path) in {0, SCHEMA_VERSION}
    looking.set_trace_callback(None)
    assert version_of(looking, path) == SCHEMA_VERSION or len(statements) <= moment
    looking.close()
    making.close()
