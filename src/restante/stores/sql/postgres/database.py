"""The SQL home on a PostgreSQL server: durable by the server's commit, shared by any number of machines.

A read is one ``REPEATABLE READ`` transaction. A write is one ``READ COMMITTED`` transaction that holds a lock on the
owner whose mail or sessions it changes from its first look until its commit, and is told as done after ``COMMIT``
returned. Nothing is created by reading.
"""

from __future__ import annotations

import threading
import zlib
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.pq import TransactionStatus

from restante.domain.errors import Busy
from restante.stores.sql.notebook import SqlNotebook
from restante.stores.sql.postgres import form
from restante.stores.sql.postgres.connecting import GREETING_SECONDS, LOCK_SECONDS, SILENCE_SECONDS, Connections
from restante.stores.sql.postgres.dialect import READING, WRITING, query_of
from restante.stores.sql.postgres.failures import AGAIN, AGAIN_SAME, committing, is_lost, translated
from restante.stores.sql.schema import SCHEMA_VERSION
from restante.stores.sql.store import NO_LIMITS, SqlMailbox

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager
    from typing import LiteralString

    from restante.domain.limits import Limits
    from restante.ports import Clock, Ids
    from restante.stores.sql.postgres.connecting import Link
    from restante.stores.sql.rows import Row

SCHEMA = "restante"
_BEGIN_READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; "
_BEGIN_WRITING = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; "
_LOCK_OWNER = "SELECT pg_advisory_xact_lock(%(kind)s::int, %(owner)s::int)"
_OWNERS = 0x4F776E72
_BEGINNINGS = 4


class PostgresDatabase:
    """One database on a server, with any number of mailboxes. May be shared between threads; close it when done.

    Args:
        url: ``postgresql://USER@HOST:PORT/DATABASE``; several hosts by comma are tried for the one that takes writes.
        clock: Where time comes from.
        ids: Where ids come from.
        schema: Where in the database the tables are; it is made by the first write.
        connections: Most connections at once.
        silence: After how many seconds without an answer the server is taken for gone.

    Raises:
        BadConfig: It is no such URL.
    """

    def __init__(
        self,
        url: str,
        *,
        clock: Clock,
        ids: Ids,
        schema: str = SCHEMA,
        connections: int = 8,
        silence: float = SILENCE_SECONDS,
    ) -> None:
        self.connections = Connections(url, schema, most=connections, patience=2.0 * LOCK_SECONDS, silence=silence)
        self.schema = schema
        self._clock = clock
        self._ids = ids
        self._groups = threading.local()

    @property
    def name(self) -> str:
        """How messages name it: the database and its hosts, and no password."""
        return self.connections.name

    def mailbox(self, address: str, *, limits: Limits = NO_LIMITS, owner: str = "") -> SqlMailbox:
        """Return the mailbox of an address; nothing is created by it."""
        return SqlMailbox(self, address, clock=self._clock, ids=self._ids, limits=limits, owner=owner)

    def notebook(self, address: str, *, locks: str, owner: str = "") -> SqlNotebook:
        """Return what checkpoints showed of a mailbox.

        Args:
            address: The mailbox.
            locks: A directory of this machine: the checkpoints of one session run on one.
            owner: Whose mailbox it is.
        """
        return SqlNotebook(self, address, clock=self._clock, locks=locks, wait=2.0 * LOCK_SECONDS, owner=owner)

    @contextmanager
    def reading(self) -> Iterator[_Run | None]:
        """Read one consistent state; see ``transaction.Database.reading``."""
        group = self._group
        with translated(self.name):
            if group:
                with self._look(group) as run:
                    yield run
                return
            link = self._begin(_BEGIN_READING)
            if link is None:
                yield None
                return
            with self._given_back(link):
                yield _Run(link, READING)

    @contextmanager
    def writing(self, *, create: bool = False) -> Iterator[_Run | None]:
        """Write, alone and durably; see ``transaction.Database.writing``."""
        group = self._group
        with translated(self.name):
            if group:
                with self._step(group, create=create) as run:
                    yield run
                return
            link = self._begin(_BEGIN_WRITING, create=create)
            if link is None:
                yield None
                return
            with self._given_back(link):
                yield _Run(link, WRITING)
                self._commit(link)

    def lightly(self) -> AbstractContextManager[None]:
        """Write as ever: whether a commit waits is for the server's operator to say."""
        return self.together()

    def recall(self, key: object) -> Any:  # noqa: ANN401
        """Return what the group would find in memory; see ``transaction.Database.recall``."""
        group = self._group
        return group.look.memory.get(key) if group and group.look and not group.run else None

    @contextmanager
    def together(self, *, at_once: bool = False) -> Iterator[None]:  # noqa: ARG002  one always waits for a server
        """Make everything that this thread writes in the block durable at once, when it ends.

        A step within that fails is undone alone; an error on leaving undoes every step. What two threads or machines
        write together for the same owners in another order may wait for each other: one of them gets ``Busy`` then.
        """
        if self._group:
            yield
            return
        group = self._groups.current = _Group()
        try:
            yield
            if group.run:
                self._check_whole(group.run.link)
                self._commit(group.run.link)
        finally:
            self._groups.current = None
            self._leave_look(group)
            if group.run:
                self._end(group.run.link)

    def write_now(self) -> None:
        """Nothing is put off here."""

    def make(self) -> None:
        """Give the database our form where it has none, or an older one.

        Raises:
            Unreadable: The schema holds something else, or is from a newer Restante.
            StorageFailed: It cannot be made.
        """
        with translated(self.name):
            link = self.connections.take()
            try:
                form.bring_up_to_date(link, self.schema, self.name)
            finally:
                self._end(link)

    def close(self) -> None:
        """Close what is not in use; closing twice changes nothing, and what is asked for next opens it again."""
        self.connections.close()

    @property
    def _group(self) -> _Group | None:
        group: _Group | None = getattr(self._groups, "current", None)
        return group

    def _begin(self, how: LiteralString, *, create: bool = False) -> Link | None:
        """Begin a transaction; ``None`` where there is no database and none is to be made."""
        for _ in range(_BEGINNINGS):
            link = self.connections.take()
            silence, link.silence = link.silence, min(link.silence, GREETING_SECONDS)
            try:
                cursor = link.execute(how + form.VERSION, prepare=False)
                cursor.nextset()
                row = cursor.fetchone()
                version = int(row[0]) if row else 0
                form.check(version, self.name)
            except psycopg.errors.UndefinedTable:
                version = 0
            except psycopg.Error as error:
                self._end(link)
                # It lay there while the server went away, and all others did. Nothing was under way that could be
                # doubled by trying again.
                if is_lost(error):
                    self.connections.renew()
                    continue
                raise
            except BaseException:
                self._end(link)
                raise
            finally:
                link.silence = silence
            if version == SCHEMA_VERSION:
                return link
            self._end(link)
            if not version and not create:
                return None
            self.make()
        raise Busy(f"{self.name}: connections break as soon as they are opened", remedy=AGAIN)

    def _commit(self, link: Link) -> None:
        """Commit, and let nothing pass for a commit that is none."""
        link.warning = ""
        with committing(self.name):
            done = link.execute("COMMIT", prepare=False).statusmessage
        if done != "COMMIT":
            raise Busy(f"{self.name} undid this instead of storing it ({done}); nothing was changed", remedy=AGAIN)
        if link.warning:
            # It is stored here, and perhaps not where the operator wanted it before it counts.
            raise Busy(f"{self.name} stored this less safely than it should: {link.warning}", remedy=AGAIN_SAME)

    @contextmanager
    def _look(self, group: _Group) -> Iterator[_Run | None]:
        """Read as a part of a group: what it wrote is seen by nobody else yet; before that, one state serves all."""
        if group.run:
            yield group.run
            return
        if group.look is None and (link := self._begin(_BEGIN_READING)):
            group.look = _Run(link, READING)
        try:
            yield group.look
        except psycopg.Error:
            self._leave_look(group)
            raise

    def _leave_look(self, group: _Group) -> None:
        look, group.look = group.look, None
        if look:
            self._end(look.link)

    @contextmanager
    def _step(self, group: _Group, *, create: bool) -> Iterator[_Run | None]:
        """Write as a part of a group, undone alone when it fails."""
        if group.run is None:
            self._leave_look(group)
            link = self._begin(_BEGIN_WRITING, create=create)
            if link is None:
                yield None
                return
            group.run = _Run(link, WRITING)
        run = group.run
        self._check_whole(run.link)
        run.link.execute("RELEASE SAVEPOINT step; SAVEPOINT step" if group.steps else "SAVEPOINT step")
        group.steps += 1
        owners = set(run.owners)
        try:
            yield run
        except BaseException:
            run.owners = owners
            with suppress(psycopg.Error):
                run.link.execute("ROLLBACK TO SAVEPOINT step")
            raise

    def _check_whole(self, link: Link) -> None:
        """Refuse to go on with a group whose steps are lost.

        Raises:
            Busy: The connection broke, or a step could not be undone.
        """
        if link.pgconn.transaction_status != TransactionStatus.INTRANS:
            raise Busy(f"{self.name} was lost in the middle; nothing was changed", remedy=AGAIN)

    @contextmanager
    def _given_back(self, link: Link) -> Iterator[None]:
        try:
            yield
        finally:
            self._end(link)

    def _end(self, link: Link) -> None:
        """End what was not committed, and give the connection back; one that cannot even do that is let go."""
        if link.pgconn.transaction_status not in (TransactionStatus.IDLE, TransactionStatus.UNKNOWN):
            try:
                link.execute("ROLLBACK")
            except psycopg.Error:
                link.close()
        self.connections.give(link)


class _Group:
    """What one thread does together.

    Attributes:
        look: The transaction that it reads in before its first write.
        run: The one that it reads and writes in from then on.
        steps: How many steps were begun in that.
    """

    __slots__ = ("look", "run", "steps")

    def __init__(self) -> None:
        self.look: _Run | None = None
        self.run: _Run | None = None
        self.steps = 0


class _Run:
    """A transaction of PostgreSQL; see ``transaction.Transaction``.

    Args:
        link: Its connection.
        statements: The statements in PostgreSQL's words: those of a reader or a writer.

    Attributes:
        link: Its connection.
        owners: The owners that it holds the lock on.
    """

    __slots__ = ("_is_writing", "_memory", "_statements", "link", "owners")

    def __init__(self, link: Link, statements: dict[str, LiteralString]) -> None:
        self.link = link
        self.owners: set[str] = set()
        self._statements = statements
        self._is_writing = statements is WRITING
        self._memory: dict[object, Any] = {}

    @property
    def memory(self) -> dict[object, Any]:
        """What was read in this state; of a writer nothing, as others write meanwhile."""
        return {} if self._is_writing else self._memory

    def be_sure(self) -> None:
        """Nothing follows from it: what fails here is undone as ever."""

    def later(self, statement: str, key: object = None, **values: object) -> None:  # noqa: ARG002
        """Run a statement: here a group is one of steps that may each fail."""
        self._execute(statement, values)

    def keep(self) -> None:
        """Nothing is remembered beyond this transaction."""

    def all(self, statement: str, **values: object) -> list[Row]:
        """Run a statement and return its rows."""
        return self._execute(statement, values).fetchall()

    def one(self, statement: str, **values: object) -> Row | None:
        """Run a statement and return its first row."""
        return self._execute(statement, values).fetchone()

    def do(self, statement: str, **values: object) -> int:
        """Run a statement and return how many rows it changed."""
        return self._execute(statement, values).rowcount

    def raw(self, statement: str, rows: Sequence[dict[str, object]] = ({},)) -> list[Row]:
        """Run SQL that has no name, once for each row of values; return the rows of a single run."""
        query = query_of(statement)
        if len(rows) == 1:
            cursor = self.link.execute(query, rows[0], binary=True)
            return cursor.fetchall() if cursor.description else []
        self.link.cursor().executemany(query, rows)
        return []

    def hold(self, counter: str) -> None:
        """Keep other writers out; see ``transaction.Transaction.hold``.

        All counters of an owner are one lock: who writes mail and sessions together takes them in any order.
        """
        self._hold_owner(counter.partition(":")[2])

    def _hold_owner(self, owner: str) -> None:
        if owner not in self.owners:
            key = zlib.crc32(owner.encode()) - (1 << 31)
            self.link.execute(_LOCK_OWNER, {"kind": _OWNERS, "owner": key})
            self.owners.add(owner)

    def _execute(self, statement: str, values: dict[str, object]) -> psycopg.Cursor[Row]:
        if self._is_writing and isinstance(owner := values.get("owner"), str):
            # Also where no counter is used: no row of an owner may be locked before the owner is.
            self._hold_owner(owner)
        return self.link.execute(self._statements[statement], values, binary=True)


def open_postgres(url: str, *, clock: Clock, ids: Ids, schema: str = SCHEMA) -> PostgresDatabase:
    """Return a database on a server. Nothing is asked of it yet; the first write makes its tables.

    Args:
        url: See ``PostgresDatabase``; as all others.
        clock: Where time comes from.
        ids: Where ids come from.
        schema: Where in the database the tables are.

    Raises:
        BadConfig: It is no URL of a PostgreSQL database.
    """
    return PostgresDatabase(url, clock=clock, ids=ids, schema=schema)
