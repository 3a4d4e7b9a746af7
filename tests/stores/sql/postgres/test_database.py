"""The PostgreSQL database: what is told as done is done, and every failure is one of ours that says what to do."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

import psycopg
import pytest
from tests.stores.sql.postgres.relay import Relay

from restante.domain.errors import BadConfig, Busy, RestanteError, StorageFailed, TooLarge, Unreadable, UsageError
from restante.domain.mailbox import Acknowledgement, Mark
from restante.domain.message import Sender
from restante.domain.receipt import Decision
from restante.domain.registry import Arrival, Latch
from restante.stores.sql.postgres import PostgresDatabase, form, open_postgres
from restante.stores.sql.postgres.dialect import definitions, escape, unescape
from restante.stores.sql.schema import SCHEMA_VERSION, migrations
from restante.stores.sql.sessions import SqlSessions
from restante.stores.sql.sqlite import open_sqlite
from restante.stores.sql.statements import read_sql
from restante.stores.sql.store import SqlMailbox
from restante.system.clock import SystemClock
from restante.system.ids import MonotonicIds
from restante.testing import TRICKY_TEXTS, FakeClock, SequentialIds, make_draft

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.postgres import Server


@pytest.fixture
def database(postgres_url: str, clock: FakeClock, ids: SequentialIds) -> Iterator[PostgresDatabase]:
    one = open_postgres(postgres_url, clock=clock, ids=ids)
    yield one
    one.close()


@pytest.fixture
def mailbox(database: PostgresDatabase) -> SqlMailbox:
    return database.mailbox("team/one")


@pytest.fixture
def run(postgres_server: Server, postgres_url: str) -> Callable[[str], list[tuple[object, ...]]]:
    """Does something behind the database's back."""
    return lambda sql: postgres_server.run(sql, postgres_url.rpartition("/")[2])


@pytest.fixture
def relay(postgres_server: Server) -> Iterator[Relay]:
    with Relay(postgres_server.port) as one:
        yield one


@pytest.fixture
def relayed(relay: Relay, postgres_url: str, clock: FakeClock, ids: SequentialIds) -> Iterator[PostgresDatabase]:
    """The same database, reached through the relay."""
    url = f"postgresql://restante@127.0.0.1:{relay.port}/{postgres_url.rpartition('/')[2]}"
    one = PostgresDatabase(url, clock=clock, ids=ids, silence=1.0)
    yield one
    one.close()


def _bodies(mailbox: SqlMailbox) -> list[str]:
    return [entry.message.body for entry in mailbox.entries()]


# -- texts


def test_bl19_a_nul_is_kept_in_every_text_as_it_is_on_sqlite(
    mailbox: SqlMailbox, tmp_path: Path, clock: FakeClock
) -> None:
    texts = ("a\0b", "\1", "\1\2", "\0\1\2\0", "a\1\1b", "plain", *(text for text in TRICKY_TEXTS if "\n" not in text))
    texts = tuple(text for text in texts if "\r" not in text)
    other = open_sqlite(str(tmp_path / "db"), address="team/one", clock=clock, ids=SequentialIds())
    answers = []
    for home in (mailbox, other):
        for number, text in enumerate(texts):
            name = f"{text[:50]}{number}"
            draft = make_draft(text, subject=text, client_id=name, conversation=text, sender=Sender(text))
            message = home.post(draft).message
            assert home.post(draft).duplicate
            home.acknowledge([Acknowledgement(message.id, Decision.DEFERRED, None, text, text)], text)
            home.reply(message.id, text, text or "x")
            home.mark([message.id], Mark.SEEN, text)
        answers.append(
            (
                [entry.message._replace(id="") for entry in home.entries()],
                [(receipt.summary, receipt.notes, receipt.by) for one in home.ids() for receipt in home.receipts(one)],
                [(reply.body, reply.sender) for reply in home.replies()],
            )
        )
    other.close()
    assert answers[0] == answers[1]
    assert [one.subject for one in answers[0][0]] == list(texts)


def test_bl19_a_nul_does_not_shorten_what_is_counted(mailbox: SqlMailbox) -> None:
    with pytest.raises(TooLarge, match="20,003"):
        mailbox.post(make_draft("ab\0" + "x" * 20_000))


@pytest.mark.parametrize("text", ["", "a", "\0", "\1", "\2", "\1\2", "\0\1", "\1\1\2", "a\0\0b\1"])
def test_escaping_is_undone(text: str) -> None:
    assert unescape(escape(text)) == text
    assert "\0" not in escape(text)


def test_what_is_no_text_is_refused(database: PostgresDatabase) -> None:
    mailbox = SqlMailbox(database, "team/one", clock=FakeClock(), ids=SequentialIds())
    with pytest.raises(UsageError):
        mailbox.post(make_draft("x", subject="\ud800"))
    with pytest.raises(UsageError), database.writing(create=True) as run:
        assert run
        run.do("keep_setting", name="x", value="\ud800")


def test_a_name_that_no_index_takes_is_refused_and_leaves_nothing(mailbox: SqlMailbox) -> None:
    name = "".join(chr(0x4E00 + (number * 7919) % 20_000) for number in range(3_000))
    with pytest.raises(TooLarge):
        mailbox.post(make_draft("x", client_id=name))
    assert mailbox.entries() == []


# -- opening


@pytest.mark.parametrize("url", ["", "nonsense", "postgresql://user:secret@host:port:port/x?%", "mysql://a/b", "x=y"])
def test_what_is_no_url_is_refused_without_being_repeated(url: str) -> None:
    with pytest.raises(BadConfig) as refused:
        open_postgres(url, clock=FakeClock(), ids=SequentialIds())
    assert "secret" not in str(refused.value)


def test_a_password_is_never_named() -> None:
    url = "postgresql://me:secret@127.0.0.1:1,127.0.0.1:2/mail"
    database = open_postgres(url, clock=FakeClock(), ids=SequentialIds())
    assert database.name == "PostgreSQL database 'mail' at 127.0.0.1:1, 127.0.0.1:2"
    with pytest.raises(Busy) as failed:
        database.mailbox("team/one").counts()
    database.close()
    assert "secret" not in str(failed.value) + failed.value.remedy
    assert "127.0.0.1:1" in str(failed.value)


def test_what_cannot_get_better_by_itself_is_no_reason_to_try_again(postgres_server: Server) -> None:
    database = open_postgres(postgres_server.url("not_there"), clock=FakeClock(), ids=SequentialIds())
    with pytest.raises(StorageFailed, match="not_there") as failed:
        database.mailbox("team/one").post(make_draft())
    database.close()
    assert "create the database" in failed.value.remedy


def test_looking_into_an_empty_database_creates_nothing(
    mailbox: SqlMailbox, run: Callable[[str], list[tuple[object, ...]]]
) -> None:
    assert (mailbox.entries(), mailbox.ids(), mailbox.counts().total) == ([], [], 0)
    mailbox.mark(["msg_x"], Mark.SEEN, "agent")
    assert run("SELECT nspname FROM pg_namespace WHERE nspname = 'restante'") == []


def test_many_who_begin_at_once_make_one_database(
    postgres_url: str, run: Callable[[str], list[tuple[object, ...]]]
) -> None:
    line = threading.Barrier(8)
    failed: list[BaseException] = []

    def begin(number: int) -> None:
        database = open_postgres(postgres_url, clock=FakeClock(), ids=SequentialIds())
        try:
            line.wait(10)
            database.mailbox(f"team/{number}").post(make_draft())
        except BaseException as error:
            failed.append(error)
        finally:
            database.close()

    threads = [threading.Thread(target=begin, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert failed == []
    assert run("SELECT count(*) FROM restante.mailboxes") == [(8,)]
    assert run("SELECT version FROM restante.restante_form") == [(SCHEMA_VERSION,)]


def test_a_schema_of_another_program_is_left_alone(
    mailbox: SqlMailbox, run: Callable[[str], list[tuple[object, ...]]]
) -> None:
    run("CREATE SCHEMA restante CREATE TABLE restante.theirs (x INT)")
    assert mailbox.entries() == []
    with pytest.raises(Unreadable, match="another program"):
        mailbox.post(make_draft())
    assert run("SELECT tablename FROM pg_tables WHERE schemaname = 'restante'") == [("theirs",)]


def test_a_newer_form_is_refused_by_readers_and_writers_at_once(
    mailbox: SqlMailbox, run: Callable[[str], list[tuple[object, ...]]]
) -> None:
    mailbox.post(make_draft())
    run("UPDATE restante.restante_form SET version = 99")
    for act in (mailbox.entries, lambda: mailbox.post(make_draft())):
        with pytest.raises(Unreadable, match="version 99") as refused:
            act()
        assert "upgrade" in refused.value.remedy


def test_a_database_without_all_of_unicode_is_refused(postgres_server: Server) -> None:
    postgres_server.run("CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    database = open_postgres(postgres_server.url("latin"), clock=FakeClock(), ids=SequentialIds())
    with pytest.raises(StorageFailed, match="LATIN1"):
        database.mailbox("team/one").post(make_draft())
    database.close()


_SHAPE = """
SELECT table_name, column_name, data_type, is_nullable, collation_name, column_default FROM information_schema.columns
WHERE table_schema = 'restante' ORDER BY 1, 2
"""
_INDEXES = "SELECT indexdef FROM pg_indexes WHERE schemaname = 'restante' ORDER BY 1"


def test_the_steps_from_the_first_form_lead_to_the_present_one(
    database: PostgresDatabase, run: Callable[[str], list[tuple[object, ...]]]
) -> None:
    database.make()
    wanted = run(_SHAPE), run(_INDEXES)
    run("DROP SCHEMA restante CASCADE")
    run("CREATE SCHEMA restante")
    link = database.connections.take()
    with link.transaction():
        link.execute(definitions(read_sql("migrations", "0001_first.sql")))
        link.execute("CREATE TABLE restante_form (version BIGINT NOT NULL); INSERT INTO restante_form VALUES (1)")
        form.migrate(link, 1, migrations())
    database.connections.give(link)
    assert (run(_SHAPE), run(_INDEXES)) == wanted
    assert database.mailbox("team/one").post(make_draft()).message.number == 1


def test_a_commit_waits_for_the_disk_whatever_the_database_says(
    database: PostgresDatabase, postgres_url: str, run: Callable[[str], list[tuple[object, ...]]]
) -> None:
    run(f"ALTER DATABASE {postgres_url.rpartition('/')[2]} SET synchronous_commit = off")
    link = database.connections.take()
    assert link.execute("SHOW synchronous_commit").fetchall() == [("on",)]
    database.connections.give(link)


# -- connections


def test_threads_share_a_database(postgres_url: str) -> None:
    database = open_postgres(postgres_url, clock=SystemClock(), ids=MonotonicIds())
    mailbox = database.mailbox("team/one")
    failed: list[BaseException] = []

    def post(name: int) -> None:
        try:
            for number in range(10):
                mailbox.post(make_draft(f"{name} {number}"))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=post, args=(name,)) for name in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert failed == []
    assert [entry.message.number for entry in mailbox.entries()] == list(range(1, 121))
    database.close()


def test_a_child_process_opens_connections_of_its_own(postgres_url: str) -> None:
    database = open_postgres(postgres_url, clock=SystemClock(), ids=MonotonicIds())
    mailbox = database.mailbox("team/one")
    mailbox.post(make_draft("parent"))
    child = os.fork()
    if not child:
        try:
            mailbox.post(make_draft("child"))
            os._exit(0)
        except BaseException:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    mailbox.post(make_draft("parent again"))
    assert _bodies(mailbox) == ["parent", "child", "parent again"]
    database.close()


def test_connections_that_died_while_they_lay_there_are_not_noticed(
    database: PostgresDatabase, run: Callable[[str], list[tuple[object, ...]]]
) -> None:
    mailbox = database.mailbox("team/one")
    links = [database.connections.take() for _ in range(4)]
    for link in links:
        database.connections.give(link)
    mailbox.post(make_draft("one"))
    run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'restante'")
    assert _bodies(mailbox) == ["one"]
    run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'restante'")
    mailbox.post(make_draft("two"))
    assert _bodies(mailbox) == ["one", "two"]


def test_a_connection_lost_in_the_middle_changes_nothing_and_says_so(
    database: PostgresDatabase, mailbox: SqlMailbox, run: Callable[[str], list[tuple[object, ...]]]
) -> None:
    mailbox.post(make_draft("one"))
    with pytest.raises(Busy, match="nothing was changed"), database.writing() as write:
        assert write
        write.do("keep_setting", name="x", value="y")
        run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'restante'")
        write.do("keep_setting", name="x", value="z")
    assert SqlSessions(database).setting("x") is None


def test_a_lost_answer_to_a_commit_is_an_error_and_the_client_id_finds_what_was_stored(
    relay: Relay, relayed: PostgresDatabase, mailbox: SqlMailbox
) -> None:
    mailbox.post(make_draft("one"))
    through = relayed.mailbox("team/one")
    assert _bodies(through) == ["one"]
    relay.cut_after = b"COMMIT\0"
    with pytest.raises(Busy, match="did not say whether") as lost:
        through.post(make_draft("two", client_id="c2"))
    assert relay.was_cut.wait(5)
    assert "same client id" in lost.value.remedy
    assert through.post(make_draft("two", client_id="c2")).duplicate
    assert _bodies(mailbox) == ["one", "two"]


@pytest.mark.slow
def test_a_server_that_falls_silent_is_given_up_and_found_again(
    relay: Relay, relayed: PostgresDatabase, mailbox: SqlMailbox
) -> None:
    mailbox.post(make_draft("one"))
    through = relayed.mailbox("team/one")
    assert _bodies(through) == ["one"]
    relay.swallow()
    began = time.monotonic()
    assert _bodies(through) == ["one"]
    # One second of silence, not the minutes that TCP would take; the bound is wide for a machine that is busy.
    assert time.monotonic() - began < 20


def test_a_full_pool_is_told_from_a_server_that_is_gone(postgres_url: str) -> None:
    database = PostgresDatabase(postgres_url, clock=FakeClock(), ids=SequentialIds(), connections=1)
    database.connections._patience = 0.2
    link = database.connections.take()
    with pytest.raises(Busy, match="all 1 connections are in use"):
        database.mailbox("team/one").entries()
    database.connections.give(link)
    assert database.mailbox("team/one").entries() == []
    database.close()


# -- together


def test_what_is_written_together_is_there_together(
    database: PostgresDatabase, mailbox: SqlMailbox, postgres_url: str
) -> None:
    mailbox.post(make_draft("before"))
    other = open_postgres(postgres_url, clock=FakeClock(), ids=SequentialIds())
    outside = other.mailbox("team/one")
    with database.together():
        assert _bodies(mailbox) == ["before"]
        mailbox.post(make_draft("one", client_id="c1"))
        with pytest.raises(RestanteError):
            mailbox.post(make_draft("another", client_id="c1"))
        with database.together():
            mailbox.post(make_draft("two"))
        assert _bodies(mailbox) == ["before", "one", "two"]
        assert _bodies(outside) == ["before"]
    assert _bodies(outside) == ["before", "one", "two"]
    other.close()


def test_what_is_read_together_before_the_first_write_is_one_state(
    database: PostgresDatabase, mailbox: SqlMailbox, postgres_url: str
) -> None:
    mailbox.post(make_draft("one"))
    other = open_postgres(postgres_url, clock=FakeClock(), ids=MonotonicIds())
    with database.together():
        assert _bodies(mailbox) == ["one"]
        other.mailbox("team/one").post(make_draft("two"))
        assert mailbox.counts().total == 1
        with pytest.raises(StorageFailed), database.reading() as run:
            assert run
            run.raw("SELECT 1 / 0")
        assert _bodies(mailbox) == ["one", "two"]
        mailbox.post(make_draft("three"))
        assert _bodies(mailbox) == ["one", "two", "three"]
    other.close()


def test_an_error_on_leaving_undoes_every_step(database: PostgresDatabase, mailbox: SqlMailbox) -> None:
    mailbox.post(make_draft("before"))
    with pytest.raises(ZeroDivisionError), database.together():
        mailbox.post(make_draft("one"))
        raise ZeroDivisionError
    assert _bodies(mailbox) == ["before"]
    with database.together():
        mailbox.post(make_draft("two"))
    assert _bodies(mailbox) == ["before", "two"]


def test_a_group_whose_connection_is_lost_stores_nothing_and_says_so(
    database: PostgresDatabase, mailbox: SqlMailbox, run: Callable[[str], list[tuple[object, ...]]]
) -> None:
    mailbox.post(make_draft("before"))
    with pytest.raises(Busy), database.together():
        mailbox.post(make_draft("one"))
        run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'restante'")
        for text in ("two", "three"):
            with pytest.raises(Busy):
                mailbox.post(make_draft(text))
        with pytest.raises(Busy):
            mailbox.entries()
    assert _bodies(mailbox) == ["before"]


def test_groups_that_take_mail_and_sessions_of_one_owner_in_any_order_wait_and_do_not_fail(
    postgres_url: str, clock: FakeClock
) -> None:
    database = open_postgres(postgres_url, clock=clock, ids=SequentialIds())
    sessions, mailbox = SqlSessions(database), database.mailbox("session:a")
    sessions.attach(Arrival("a"), "", clock.now(), is_proven=False)
    mailbox.post(make_draft())
    failed: list[BaseException] = []
    acts: list[Callable[[int], object]] = [
        lambda turn: mailbox.post(make_draft()),
        lambda turn: sessions.latch("a", "", Latch(turn), clock.now()),
        lambda turn: sessions.beat("a", "", clock.now()),
    ]

    def work(order: list[int]) -> None:
        try:
            for turn in range(30):
                with database.together():
                    for one in order:
                        acts[one](turn)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(order,)) for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    database.close()
    assert failed == []


def test_groups_that_wait_for_each_other_lose_one_step_and_no_mail(database: PostgresDatabase) -> None:
    boxes = [
        SqlMailbox(database, f"session:{owner}", clock=FakeClock(), ids=SequentialIds(), owner=owner) for owner in "ab"
    ]
    for box in boxes:
        box.post(make_draft("first"))
    line = threading.Barrier(2)
    outcomes: list[str] = []

    def work(order: list[int]) -> None:
        with database.together():
            boxes[order[0]].post(make_draft("mine"))
            line.wait(10)
            try:
                boxes[order[1]].post(make_draft("other"))
            except Busy as error:
                outcomes.append(error.remedy)
            else:
                outcomes.append("posted")

    threads = [threading.Thread(target=work, args=(order,)) for order in ([0, 1], [1, 0])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(outcomes) == ["posted", "try again in a moment"]
    assert sorted(body for box in boxes for body in _bodies(box)) == ["first", "first", "mine", "mine", "other"]


def test_a_writer_that_stands_still_with_a_lock_is_ended_by_the_server(
    database: PostgresDatabase, run: Callable[[str], list[tuple[object, ...]]]
) -> None:
    link = database.connections.take()
    assert link.execute("SHOW idle_in_transaction_session_timeout").fetchall() == [("20s",)]
    database.connections.give(link)


def test_a_lock_that_another_program_holds_is_busy(
    database: PostgresDatabase, mailbox: SqlMailbox, postgres_url: str
) -> None:
    mailbox.post(make_draft("one"))
    link = database.connections.take()
    link.execute("SET lock_timeout = '100ms'")
    database.connections.give(link)
    with psycopg.connect(postgres_url) as other:
        other.execute("SELECT * FROM restante.mailboxes FOR UPDATE")
        with pytest.raises(Busy, match="locked"):
            mailbox.post(make_draft("two"))
        other.rollback()
    assert _bodies(mailbox) == ["one"]
