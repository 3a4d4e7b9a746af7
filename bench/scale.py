"""What an operation costs when a database is full of history, and how much each step of growth carries.

Run as ``python -m bench.scale``: it fills a SQLite database and a PostgreSQL database, where there is one, with 100,000
mailboxes and 1,000,000 acknowledged messages and compares them with empty ones, in turns. docs/scale.md quotes it.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import platform
import statistics
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests import postgres
from tests.faces.http.api import running

from restante.domain.limits import Limits
from restante.domain.mailbox import Acknowledgement
from restante.domain.message import Draft, Sender
from restante.domain.receipt import Decision
from restante.stores.sql.boxes import SqlBoxes
from restante.stores.sql.listening import PostgresWatcher
from restante.stores.sql.postgres import PostgresDatabase
from restante.stores.sql.sessions import SqlSessions
from restante.stores.sql.sqlite import SqliteDatabase
from restante.system.clock import SystemClock
from restante.system.ids import MonotonicIds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tests.faces.http.api import Actor, Running

    Database = SqliteDatabase | PostgresDatabase

LIMITS = Limits(16_384, 200, 1_048_576, 0.5)
TEXT = "The auth module is free again; the tests that failed are listed in the report of the second run. " * 3
GROUP = 20
_SENDERS = 50

_NUMBERS = "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < :count) "
# Everything that a life of ten answered messages leaves behind, for each mailbox; all belong to one owner.
_HISTORY = (
    "INSERT INTO counters (name, tag, last) VALUES ('mail:', '0a0b0c0d', :messages * 2)",
    _NUMBERS + "INSERT INTO mailboxes (address, tag, last_number, last_change, total, owner, event)"
    " SELECT 'session:h' || i, '0a0b0c0d', :each, :each * 2, :each, '', (i + 1) * :each * 2 FROM n",
    _NUMBERS + "INSERT INTO messages (mailbox, number, id, posted_change, created_ms, expires_ms, seen_ms, seen_by,"
    " unseen, closed, priority, scope, type, sender, sender_verified, client_id, subject, conversation, parent,"
    " body_bytes, body, owner)"
    " SELECT b.id, i + 1, 'msg_20250101T000000_' || (10000000 + b.id * :each + i), i + 1, 1735689600000,"
    " 1735732800000, 1735689600000, 'reader', 0, 'acknowledged', 'normal', 'current_task', 'guidance',"
    " 'session:h' || ((b.id * 7 + i) % :senders), 1, NULL, '', '', '', :size, :body, '' FROM mailboxes AS b, n",
    _NUMBERS + "INSERT INTO changes (mailbox, change, kind, at_ms, number, message_id)"
    " SELECT m.mailbox, m.number + i * :each, CASE i WHEN 0 THEN 'posted' ELSE 'receipt' END, m.created_ms, m.number,"
    " m.id FROM messages AS m, n",
    "INSERT INTO receipts (mailbox, change, number, id, message_id, seen_ms, decision, action, summary, notes, reader)"
    " SELECT m.mailbox, m.number + :each, m.number, 'receipt_' || m.id, m.id, m.created_ms, 'accepted', 'applied',"
    " 'done', '', 'reader' FROM messages AS m",
)


class Row(NamedTuple):
    """One line of a table."""

    what: str
    values: tuple[float, ...]


def fill(database: Database, mailboxes: int, each: int) -> None:
    """Fill a database with history."""
    values = {"each": each, "messages": mailboxes * each, "senders": _SENDERS, "size": len(TEXT), "body": TEXT.encode()}
    for statement, count in zip(_HISTORY, (0, mailboxes, each, 2, 0), strict=True):
        with database.writing(create=True) as run:
            assert run
            given = {**values, "count": count}
            run.raw(statement, [{name: given[name] for name in given if f":{name}" in statement}])


class Side:
    """One database under test.

    Args:
        database: The database.
        mailbox: The session to write to.
        sender: Who writes.
    """

    def __init__(self, database: Database, mailbox: str, sender: str) -> None:
        self.database = database
        self.boxes = SqlBoxes(database, SystemClock(), MonotonicIds(), LIMITS)
        self.box = self.boxes.box(mailbox, "")
        self.name = mailbox
        self.sender = sender
        self.waiting: list[str] = []

    def post(self) -> None:
        self.waiting.append(self.box.post(Draft(TEXT, sender=Sender(self.sender, verified=True))).message.id)

    def read(self) -> None:
        self.box.entries(pending_only=True, limit=50)

    def acknowledge(self) -> None:
        self.box.acknowledge([Acknowledgement(self.waiting.pop(), Decision.ACCEPTED)], "reader")

    def counts(self) -> None:
        self.boxes.counts("", [self.name])

    def watch(self) -> None:
        self.boxes.changed_since(self.boxes.tip("")[1], "")

    def traces(self) -> None:
        self.boxes.traces(self.sender, "", limit=20)


def timed(side: Side, act: Callable[[Side], None]) -> float:
    """Return the milliseconds of one operation, of a group that is made durable at once."""
    began = time.perf_counter()
    with side.database.together():
        for _ in range(GROUP):
            act(side)
    return (time.perf_counter() - began) * 1000 / GROUP


_ACTS = (
    ("post", Side.post),
    ("read what is pending", Side.read),
    ("count one mailbox", Side.counts),
    ("acknowledge", Side.acknowledge),
    ("ask what changed", Side.watch),
    ("last 20 receipts of a sender", Side.traces),
)


def compare(empty: Side, full: Side, rounds: int) -> list[Row]:
    """Return what each operation costs on both, measured in turns."""
    taken: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name, _ in _ACTS}
    for _ in range(rounds):
        for name, act in _ACTS:
            for place, side in enumerate((empty, full)):
                taken[name][place].append(timed(side, act))
    return [
        Row(name, (statistics.median(one), statistics.median(other), statistics.median(other) / statistics.median(one)))
        for name, (one, other) in taken.items()
    ]


def rate(databases: Sequence[Database], seconds: float, group: int) -> float:
    """Return durable posts a second of as many writers as there are databases, each with an owner of its own."""
    done = [0] * len(databases)
    end = time.perf_counter() + seconds

    def write(place: int) -> None:
        boxes = SqlBoxes(databases[place], SystemClock(), MonotonicIds(), Limits())
        box = boxes.box(f"w{place}", f"owner{place}")
        while time.perf_counter() < end:
            with databases[place].together():
                for _ in range(group):
                    box.post(Draft(TEXT))
            done[place] += group

    threads = [threading.Thread(target=write, args=(place,)) for place in range(len(databases))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / seconds


def wake(database: PostgresDatabase, rounds: int) -> float:
    """Return the median of milliseconds from before a post until another connection heard that it was committed."""
    box = database.mailbox("session:wake")
    watcher = PostgresWatcher(database)
    heard = threading.Event()

    def listen() -> None:
        for _ in watcher.ticks():
            heard.set()

    thread = threading.Thread(target=listen)
    thread.start()
    taken = []
    for _ in range(rounds):
        heard.wait(10)
        heard.clear()
        began = time.perf_counter()
        box.post(Draft(TEXT))
        heard.wait(10)
        taken.append((time.perf_counter() - began) * 1000)
        heard.set()
    watcher.close()
    thread.join()
    return statistics.median(taken)


def _post_over_http(actor: Actor, to: str, end: float, done: list[int]) -> None:
    """Post on one connection until the time is over."""
    connection = http.client.HTTPConnection(actor.api.host, actor.api.port, timeout=60)
    body = json.dumps({"text": TEXT})
    head = {**actor.proof, "Content-Type": "application/json"}
    while time.perf_counter() < end:
        connection.request("POST", f"/api/v1/sessions/{to}/inbox", body, head)
        answer = connection.getresponse()
        answer.read()
        done.append(answer.status)
    connection.close()


def served(servers: list[Running], seconds: float, clients: int) -> float:
    """Return the posts a second of clients that are shared out among servers; each writes to a session of its own."""
    done: list[int] = []
    actors = [servers[place % len(servers)].api().actor() for place in range(clients)]
    sinks = [actor.api.actor().id for actor in actors]
    end = time.perf_counter() + seconds
    threads = [
        threading.Thread(target=_post_over_http, args=(one, to, end, done))
        for one, to in zip(actors, sinks, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return done.count(200) / seconds


def over_http(title: str, count: int, arguments: argparse.Namespace, **settings: str) -> None:
    """Measure servers of ours."""
    settings |= {"RESTANTE_SERVER_RATE": "1000000", "RESTANTE_SESSIONS_MESSAGES": "1000000"}
    settings |= {"RESTANTE_SESSIONS_BYTES": "1000000000", "RESTANTE_SESSIONS_SHARE": "1"}
    with ExitStack() as stack:
        servers = []
        for _ in range(count):
            place = stack.enter_context(tempfile.TemporaryDirectory())
            with sqlite(place, "restante.db") as register:
                SqlSessions(register).set_setting("persistence", "on")
            servers.append(stack.enter_context(running(Path(place), **settings)))
        rows = [Row(f"{clients} clients", (served(servers, arguments.seconds, clients),)) for clients in (1, 16)]
        show(f"{title}, durable posts over HTTP", "    a second", rows, ",.0f")


def show(title: str, head: str, rows: list[Row], form: str) -> None:
    """Print a table."""
    print(f"\n{title}\n{'':34}{head}")
    for row in rows:
        print(f"{row.what:34}" + "".join(format(value, form).rjust(12) for value in row.values))


@contextmanager
def sqlite(directory: str, name: str) -> Iterator[SqliteDatabase]:
    """Open a SQLite database."""
    database = SqliteDatabase(os.path.join(directory, name), clock=SystemClock(), ids=MonotonicIds())
    try:
        yield database
    finally:
        database.close()


def on_sqlite(arguments: argparse.Namespace) -> None:
    """Measure SQLite."""
    with tempfile.TemporaryDirectory() as place, sqlite(place, "empty.db") as empty, sqlite(place, "full.db") as full:
        began = time.perf_counter()
        fill(full, arguments.mailboxes, arguments.each)
        print(f"SQLite filled in {time.perf_counter() - began:.0f} s")
        middle = f"h{arguments.mailboxes // 2}"
        sides = Side(empty, middle, "session:h7"), Side(full, middle, "session:h7")
        rows = compare(*sides, arguments.rounds)
        show("SQLite, ms for one operation (in groups of 20)", "       empty        full       ratio", rows, ".3f")
        ceilings = [
            Row(title, (rate([empty], arguments.seconds, group),))
            for title, group in (("one writer, each post by itself", 1), ("one writer, in groups of 20", 20))
        ]
        show("SQLite, durable posts a second", "    a second", ceilings, ",.0f")
    over_http("One server on SQLite", 1, arguments)


def on_postgres(arguments: argparse.Namespace) -> None:
    """Measure PostgreSQL."""
    if not postgres.binaries():
        print("\nPostgreSQL: not measured, there is none here")
        return
    settings = {"fsync": "on", "full_page_writes": "on", "shared_buffers": "256MB", "max_wal_size": "4GB"}
    with postgres.running(on_disk=True, **settings) as server, ExitStack() as stack:

        def connect(name: str, silence: float = 60.0) -> PostgresDatabase:
            url = server.url(name)
            database = PostgresDatabase(url, clock=SystemClock(), ids=MonotonicIds(), silence=silence)
            stack.callback(database.close)
            return database

        for name in ("bare", "filled"):
            server.run(f"CREATE DATABASE {name}")
        empty = connect("bare")
        ceilings = [
            Row("one writer, each post by itself", (rate([empty], arguments.seconds, 1),)),
            Row("one writer, in groups of 20", (rate([empty], arguments.seconds, 20),)),
        ]
        many = [connect("bare") for _ in range(8)]
        ceilings += [
            Row("eight owners, each post by itself", (rate(many, arguments.seconds, 1),)),
            Row("eight owners, in groups of 20", (rate(many, arguments.seconds, 20),)),
        ]
        show("PostgreSQL, durable posts a second", "    a second", ceilings, ",.0f")
        for count, title in ((1, "One server on PostgreSQL"), (2, "Two servers on PostgreSQL, one owner")):
            over_http(title, count, arguments, RESTANTE_DATABASE_URL=server.url("bare"))
        print(f"\nPostgreSQL: from before a post until another connection heard of it: {wake(empty, 100):.1f} ms")
        began = time.perf_counter()
        connect("filled").make()
        # What is made up here keeps by itself what foreign keys would check row by row.
        server.run("ALTER DATABASE filled SET session_replication_role = replica")
        fill(connect("filled", silence=600.0), arguments.mailboxes, arguments.each)
        server.run("ALTER DATABASE filled RESET session_replication_role")
        server.run("VACUUM ANALYZE", "filled")
        server.run("CHECKPOINT")
        print(f"\nPostgreSQL filled in {time.perf_counter() - began:.0f} s")
        middle = f"h{arguments.mailboxes // 2}"
        sides = Side(empty, middle, "session:h7"), Side(connect("filled"), middle, "session:h7")
        rows = compare(*sides, arguments.rounds)
        show("PostgreSQL, ms for one operation (in groups of 20)", "       empty        full       ratio", rows, ".3f")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("--mailboxes", type=int, default=100_000)
    parser.add_argument("--each", type=int, default=10, help="messages of history in each")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--seconds", type=float, default=3.0, help="how long each rate is measured")
    arguments = parser.parse_args()
    system = f"Python {platform.python_version()}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}"
    print(f"{arguments.mailboxes:,} mailboxes, {arguments.mailboxes * arguments.each:,} messages; {system}")
    on_sqlite(arguments)
    on_postgres(arguments)


if __name__ == "__main__":
    main()
