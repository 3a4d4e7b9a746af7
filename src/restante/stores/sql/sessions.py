"""The register of sessions, what a person decided, and the accounts of multi-user mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.errors import BadText, NoSuchSession
from restante.domain.registry import Latch, Process, Session, TurnSource
from restante.stores.sql.counting import last_event, next_event
from restante.stores.sql.rows import to_ms, to_time

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from datetime import datetime

    from restante.domain.registry import Arrival
    from restante.ports import Clock
    from restante.stores.sql.rows import Row
    from restante.stores.sql.transaction import Database, Transaction

# Sorts after every id that begins as another text does.
_BEYOND = "\U0010ffff"


class SqlSessions:
    """``ports.sessions.Sessions`` in a database. May be shared between threads if its database may.

    Args:
        database: Where it is kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def attach(self, arrival: Arrival, owner: str, now: datetime, *, is_proven: bool) -> Session:
        """Register a session, or attach it again; see ``ports.sessions.Sessions.attach``.

        Raises:
            NoSuchSession: The id is another owner's.
            BadText: Something that it says of itself is not text.
        """
        check_words(owner, *(word for word in arrival if isinstance(word, str)), *(arrival.process or ()))
        with self._database.writing(create=True) as run:
            assert run is not None
            run.hold(_counter(owner))
            row = run.one("session", id=arrival.id)
            if row is None:
                _add(run, arrival, owner, to_ms(now))
            elif row[1] != owner:
                raise NoSuchSession(f"no session {arrival.id!r}")
            else:
                _attach_again(run, arrival, _read(row), to_ms(now), is_proven=is_proven)
            row = run.one("session", id=arrival.id)
            assert row is not None
            return _read(row)

    def session(self, session_id: str, owner: str) -> Session | None:
        """Return one session by its whole id."""
        if not _is_text(session_id):
            return None
        key = "session", session_id
        found: Session | None = self._database.recall(key)
        if found is None:
            with self._database.reading() as run:
                found = _one(run, key, "session", id=session_id) if run else None
        return found if found and found.owner == owner else None

    def named(self, reference: str, owner: str) -> list[Session]:
        """Return the sessions that have this name, or an id that begins with it, in the order of registration."""
        if not reference or not _is_text(reference):
            return []
        with self._database.reading() as run:
            beyond = reference + _BEYOND
            rows = run.all("sessions_named", owner=owner, reference=reference, beyond=beyond) if run else []
        return [_read(row) for row in rows]

    def proven_by(self, secret_digest: str) -> Session | None:
        """Return the session whose secret has this digest, whoever owns it."""
        if not secret_digest or not _is_text(secret_digest):
            return None
        key = "proven", secret_digest
        found: Session | None = self._database.recall(key)
        if found is None:
            with self._database.reading() as run:
                found = _one(run, key, "session_proven", digest=secret_digest) if run else None
        return found

    def all(self, owner: str) -> list[Session]:
        """Return an owner's sessions, in the order they were registered."""
        with self._database.reading() as run:
            if run is None:
                return []
            found: list[Session] | None = run.memory.get(("sessions", owner))
            if found is None:
                found = run.memory["sessions", owner] = [_read(row) for row in run.all("sessions", owner=owner)]
            return list(found)

    def owners(self) -> list[str]:
        """Return whose sessions there are, sorted."""
        with self._database.reading() as run:
            return [row[0] for row in run.all("owners_of_sessions")] if run else []

    def at(self, worktree: str) -> list[Session]:
        """Return the sessions of a worktree that are not detached, whoever owns them."""
        if not _is_text(worktree):
            return []
        with self._database.reading() as run:
            return [_read(row) for row in run.all("sessions_at", worktree=worktree)] if run else []

    def changed_since(self, event: int, owner: str) -> tuple[list[Session], list[str]]:
        """Return the sessions that changed after an event, and the ids of those deleted after it; both in order."""
        with self._database.reading() as run:
            if run is None:
                return [], []
            changed = run.all("sessions_changed", owner=owner, event=event)
            ended = run.all("sessions_ended", owner=owner, event=event)
        return [_read(row) for row in changed], [row[0] for row in ended]

    def tip(self, owner: str) -> tuple[str, int]:
        """Return the tag of the register and the number of the owner's last event; ``("0", 0)`` before the first."""
        with self._database.reading() as run:
            return last_event(run, _counter(owner))

    def latch(self, session_id: str, owner: str, latch: Latch, now: datetime) -> None:
        """Set the turn latch; see ``ports.sessions.Sessions.latch``. The same latch again gives no new event."""
        with self._database.writing() as run:
            session = _held(run, session_id, owner)
            kept = latch._replace(ended=latch.ended and to_time(to_ms(latch.ended)))
            if run is None or session is None or latch.turn < session.latch.turn or kept == session.latch:
                return
            run.do(
                "latch_session",
                id=session_id,
                event=next_event(run, _counter(owner)),
                now=to_ms(now),
                turn=latch.turn,
                ended_ms=_ms(latch.ended),
                source=latch.source and latch.source.value,
            )

    def describe(
        self,
        session_id: str,
        owner: str,
        now: datetime,
        *,
        name: str | None = None,
        blocked: str | None = None,
        open_todos: int | None = None,
        total_todos: int | None = None,
    ) -> None:
        """Change what is given; see ``ports.sessions.Sessions.describe``. No change gives no new event."""
        check_words(name or "", blocked or "")
        given = {"name": name, "blocked": blocked, "open_todos": open_todos, "total_todos": total_todos}
        with self._database.writing() as run:
            session = _held(run, session_id, owner)
            if run is None or session is None:
                return
            before = {word: getattr(session, word) for word in given}
            after = before | {word: value for word, value in given.items() if value is not None}
            if after != before:
                event = next_event(run, _counter(owner))
                run.do("describe_session", id=session_id, event=event, now=to_ms(now), **after)

    def beat(self, session_id: str, owner: str, now: datetime) -> None:
        """Record that a session was heard of. Gives no new event."""
        with self._database.writing() as run:
            if run and _is_text(session_id):
                run.do("beat_session", id=session_id, owner=owner, now=to_ms(now))

    def park(self, session_id: str, owner: str, since: datetime | None, until: datetime | None) -> None:
        """Record since and until when it counts as waiting for mail; ``None`` for not. Gives no new event."""
        with self._database.writing() as run:
            if run and _is_text(session_id):
                run.do("park_session", id=session_id, owner=owner, since_ms=_ms(since), until_ms=_ms(until))

    def lightly(self) -> AbstractContextManager[None]:
        """Write in the block what is no more than a hint; see ``transaction.Database.lightly``."""
        return self._database.lightly()

    def detach(self, session_id: str, owner: str, now: datetime) -> None:
        """Record that its process ended; its mail stays. Detaching again changes nothing."""
        with self._database.writing() as run:
            session = _held(run, session_id, owner)
            if run and session and session.detached is None:
                run.do("detach_session", id=session_id, event=next_event(run, _counter(owner)), now=to_ms(now))

    def delete(self, session_id: str, owner: str, now: datetime) -> None:
        """Forget a session; its id stays as a trace for who watches. Deleting again changes nothing."""
        with self._database.writing() as run:
            if run and _held(run, session_id, owner):
                event = next_event(run, _counter(owner))
                run.do("delete_session", id=session_id)
                run.do("add_ended", owner=owner, id=session_id, event=event, now=to_ms(now))

    def together(self, *, at_once: bool = False) -> AbstractContextManager[None]:
        """Make everything that this thread writes in the block durable at once; see ``transaction.Database``."""
        return self._database.together(at_once=at_once)

    def with_secrets(self, owner: str) -> set[str]:
        """Return the ids of an owner's sessions that a secret proves."""
        with self._database.reading() as run:
            return {row[0] for row in run.all("sessions_with_secrets", owner=owner)} if run else set()

    def setting(self, name: str) -> str | None:
        """Return a setting that a person made; ``None`` where none was made."""
        key = "setting", name
        # Most were never made, and are asked for with every post all the same: that there is none is remembered, too.
        row: Row | None = self._database.recall(key)
        if row is None:
            with self._database.reading() as run:
                if run is None:
                    return None
                row = run.memory.get(key)
                if row is None:
                    row = run.memory[key] = run.one("setting", name=name) or ()
        return row[0] if row else None

    def set_setting(self, name: str, value: str) -> None:
        """Keep a setting."""
        check_words(name, value)
        with self._database.writing(create=True) as run:
            assert run is not None
            run.do("keep_setting", name=name, value=value)


class SqlAccounts:
    """Who may ask in multi-user mode. May be shared between threads if its database may.

    Args:
        database: Where they are kept.
        clock: Where time comes from.
    """

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def add(self, name: str, password_hash: str) -> None:
        """Make an account, or give the one of that name another password."""
        check_words(name, password_hash)
        with self._database.writing(create=True) as run:
            assert run is not None
            run.do("keep_account", name=name, password=password_hash, now=to_ms(self._clock.now()))

    def password_hash(self, name: str) -> str | None:
        """Return the hash of an account's password; ``None`` where there is no such account."""
        if not _is_text(name):
            return None
        with self._database.reading() as run:
            row = run.one("account", name=name) if run else None
        return row[0] if row else None

    def names(self) -> list[str]:
        """Return the names of all accounts, sorted."""
        with self._database.reading() as run:
            return [row[0] for row in run.all("accounts")] if run else []

    def made(self) -> dict[str, datetime]:
        """Return when each account was made, by their names in order."""
        with self._database.reading() as run:
            return {row[0]: to_time(row[1]) for row in run.all("accounts_made")} if run else {}

    def remove(self, name: str) -> bool:
        """Remove an account and tell whether there was one."""
        if not _is_text(name):
            return False
        with self._database.writing() as run:
            return bool(run and run.do("drop_account", name=name))


def check_words(*words: object) -> None:
    """Refuse what cannot be kept as text.

    Raises:
        BadText: One of the words holds a lone surrogate.
    """
    for word in words:
        if isinstance(word, str) and not _is_text(word):
            raise BadText(f"{word!r} is not text", remedy="send text that is valid UTF-8")


def _is_text(word: str) -> bool:
    return word.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in word)


def _counter(owner: str) -> str:
    return f"sessions:{owner}"


def _one(run: Transaction, key: tuple[str, str], statement: str, **values: object) -> Session | None:
    """Return a session, from memory where it was read already. Only what is there is remembered: callers ask much."""
    found: Session | None = run.memory.get(key)
    if found is None and (row := run.one(statement, **values)):
        found = run.memory[key] = _read(row)
    return found


def _mine(run: Transaction, session_id: str, owner: str) -> Session | None:
    row = run.one("session", id=session_id)
    return _read(row) if row and row[1] == owner else None


def _held(run: Transaction | None, session_id: str, owner: str) -> Session | None:
    """Return a session that is about to be changed, after the counter of its owner was taken."""
    if run is None or not _is_text(session_id):
        return None
    run.hold(_counter(owner))
    return _mine(run, session_id, owner)


def _add(run: Transaction, arrival: Arrival, owner: str, now: int) -> None:
    run.do("drop_ended", owner=owner, id=arrival.id)
    run.do(
        "add_session",
        id=arrival.id,
        owner=owner,
        event=next_event(run, _counter(owner)),
        now=now,
        secret_digest=arrival.secret_digest,
        **_place(arrival.process),
        **{word: getattr(arrival, word) for word in ("vendor", "name", "worktree", "parent")},
    )


def _attach_again(run: Transaction, arrival: Arrival, session: Session, now: int, *, is_proven: bool) -> None:
    row = run.one("secret_of", id=session.id)
    secret = row[0] if row else ""
    # Who has a secret can prove itself: what anybody else says of it, such as whose child it is, is not believed.
    may_change = is_proven or not secret
    if arrival.secret_digest and may_change:
        secret = arrival.secret_digest
    said = arrival if may_change else session
    words = ("vendor", "name", "worktree", "parent")
    run.do(
        "attach_session",
        id=session.id,
        event=next_event(run, _counter(session.owner)),
        now=now,
        secret_digest=secret,
        **_place(arrival.process or session.process),
        **{word: getattr(said, word) or getattr(session, word) for word in words},
    )


def _place(process: Process | None) -> dict[str, str | int | None]:
    host, pid, started = process or (None, None, None)
    return {"host": host, "pid": pid, "started": started}


def _read(row: Row) -> Session:
    """Return a row of the columns ``{session}`` of queries.sql."""
    (id_, owner, event, vendor, name, worktree, parent, host, pid, started, created, heartbeat, detached) = row[:13]
    (turn, ended, source, blocked, open_todos, total_todos, parked_since, parked_until) = row[13:]
    return Session(
        id=id_,
        owner=owner,
        vendor=vendor,
        name=name,
        worktree=worktree,
        parent=parent,
        process=None if host is None else Process(host, pid, started),
        created=to_time(created),
        heartbeat=to_time(heartbeat),
        detached=_time(detached),
        latch=Latch(turn, _time(ended), TurnSource(source) if source else None),
        blocked=blocked,
        open_todos=open_todos,
        total_todos=total_todos,
        parked_since=_time(parked_since),
        parked_until=_time(parked_until),
        event=event,
    )


def _ms(time: datetime | None) -> int | None:
    return None if time is None else to_ms(time)


def _time(ms: int | None) -> datetime | None:
    return None if ms is None else to_time(ms)
