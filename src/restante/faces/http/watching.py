"""Handlers of overseeing: what changed since a cursor, and the wait for something to become true of one session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from restante.domain.errors import NoSuchSession, UsageError
from restante.domain.registry import Presence
from restante.domain.wire import of_row, of_watched
from restante.faces.http.asking import ClientGoneError
from restante.faces.http.parking import Patience
from restante.faces.http.requests import MOST_WATCHED, flag_in, ids_in, milliseconds_in
from restante.faces.http.waits import TURNS, Why
from restante.programs import PROGRAMS

if TYPE_CHECKING:
    from restante.domain.overview import Row, Watched
    from restante.domain.registry import Session
    from restante.exchange import Exchange
    from restante.exchange.window import LocalWindow
    from restante.faces.http.asking import Ask

SIGNALS = ("exit", "stop", "idle", "working", "blocked", "inbox")
DEFAULT_SIGNALS = ("stop", "idle", "exit")
DEFAULT_SECONDS = 60.0

_FROM_HOOKS = frozenset({"stop", "idle", "working", "blocked"})


async def watch(ask: Ask) -> dict[str, Any]:
    """Tell every session that changed since a cursor."""
    return of_watched(await _watched(ask))


async def agent_watch(ask: Ask) -> dict[str, Any]:
    """Tell the sessions that deserve a look since a cursor, in the older shape."""
    watched = await _watched(ask)
    return {
        "cursor": watched.cursor,
        "ended": [of_row(row) for row in watched.rows if row.reason],
        "gone": list(watched.gone),
        "timedOut": watched.timed_out,
    }


async def _watched(ask: Ask) -> Watched:
    since = ask.query.get("since", "")
    only = ids_in(ask.query, "sessions", MOST_WATCHED)
    seconds = milliseconds_in(ask.query, "wait")
    await ask.admit()
    owner = ""

    def look(_: Exchange, window: LocalWindow) -> Watched:
        nonlocal owner
        owner = window.identity.owner
        return window.look(since, only, only_news=seconds is not None)

    def last_look(_: Exchange, window: LocalWindow) -> Watched:
        watched = window.look(since, only)
        return watched._replace(timed_out=not watched.rows and (bool(only) or not watched.gone))

    if seconds is None:
        return await ask.run(look)
    patience = Patience(ask, seconds, ask.office.parking)

    def park(watched: Watched) -> None:
        if not watched.rows and not watched.gone:
            patience.park(owner, "")

    try:
        watched = await ask.run(look, park)
        while patience.is_parked:
            why = await patience.released()
            if why is Why.ABORT:
                raise ClientGoneError
            if why is Why.STOP:
                return watched
            if why is Why.TIMEOUT:
                return await ask.run(last_look)
            watched = await ask.run(look, park)
        return watched
    finally:
        patience.close()


class _Seen(NamedTuple):
    """A session at one look; ``row`` is ``None`` once it was deleted."""

    session: Session
    row: Row | None
    signal: str | None


async def wait(ask: Ask) -> dict[str, Any]:
    """Wait until something is true of a session."""
    asked = [one for one in ask.query.get("until", "").split(",") if one]
    if unknown := [one for one in asked if one not in SIGNALS]:
        raise UsageError(f"until={unknown[0]!r} is nothing to wait for", remedy=f"use: {', '.join(SIGNALS)}")
    seconds = milliseconds_in(ask.query, "timeout") or milliseconds_in(ask.query, "wait") or DEFAULT_SECONDS
    is_fresh = flag_in(ask.query, "fresh")
    await ask.admit()
    wanted = asked or list(DEFAULT_SIGNALS)
    patience = Patience(ask, seconds, ask.office.parking)
    first: _Seen | None = None

    def look(_: Exchange, window: LocalWindow) -> _Seen:
        nonlocal wanted
        if first is None:
            session = window.find(ask.params["id"])
            row = window.row(session, is_whole=False)
            wanted = _possible(row, wanted, is_explicit=bool(asked))
            return _Seen(session, row, None if is_fresh else _signal(row, wanted))
        try:
            row = window.row(first.session, is_whole=False)
        except NoSuchSession:
            return _Seen(first.session, None, "exit" if "exit" in wanted else None)
        return _Seen(first.session, row, _signal(row, wanted, since=first.row if is_fresh else None))

    def park(seen: _Seen) -> None:
        nonlocal first
        first = first or seen
        if seen.signal is None and seen.row is not None:
            patience.park(seen.session.owner, _turns_of(seen.session.id))

    why = None
    is_immediate = True
    try:
        seen = await ask.run(look, park)
        while patience.is_parked:
            is_immediate = False
            why = await patience.released()
            if why is Why.ABORT:
                raise ClientGoneError
            if why is Why.STOP:
                break
            seen = await ask.run(look, None if why is Why.TIMEOUT else park)
    finally:
        patience.close()
    is_over = seen.row is None or seen.row.presence in (Presence.GONE, Presence.DETACHED)
    return {
        "sessionId": seen.session.id,
        "status": "stopped" if is_over else "idle" if seen.row and seen.row.is_idle else "busy",
        "limitPaused": False,
        "wait": {
            "signal": seen.signal,
            "until": wanted,
            "timedOut": why is Why.TIMEOUT and seen.signal is None,
            "immediate": is_immediate and seen.signal is not None,
            "ended": is_over,
            "aborted": why is Why.STOP,
            "waitedMs": round(patience.waited * 1000),
            "timeoutMs": round(seconds * 1000),
        },
    }


def _turns_of(session: str) -> str:
    """Return the place where those wait who wait for a session's turns: they take none from those who wait for mail."""
    return TURNS + session


def _possible(row: Row, wanted: list[str], *, is_explicit: bool) -> list[str]:
    """Return the signals that can come at all from a session.

    Raises:
        UsageError: One was asked for that never can.
    """
    session = row.session
    if session.vendor in PROGRAMS or session.latch.source is not None or session.blocked:
        return wanted
    never = [one for one in wanted if one in _FROM_HOOKS]
    if is_explicit and never:
        raise UsageError(
            f"nothing tells of turns of {session.title}, so a wait for {never[0]} could not end",
            remedy="wait for exit or inbox; or install the hooks of the agent program",
        )
    return [one for one in wanted if one not in never]


def _signal(row: Row, wanted: list[str], since: Row | None = None) -> str | None:
    """Return the first signal that is true of a session; with a row of before, only what became true since."""
    now, before = _true_of(row), _true_of(since) if since else frozenset[str]()
    if since and row.session.latch.turn > since.session.latch.turn:
        before -= {"stop", "idle"}
    if since and row.counts.high_water > since.counts.high_water:
        before -= {"inbox"}
    return next((one for one in SIGNALS if one in wanted and one in now - before), None)


def _true_of(row: Row) -> frozenset[str]:
    is_over = row.presence in (Presence.GONE, Presence.DETACHED)
    truths = {
        "exit": is_over,
        "stop": row.is_idle,
        "idle": row.is_idle,
        "working": not row.is_idle and not is_over,
        "blocked": bool(row.session.blocked),
        "inbox": row.counts.unseen > 0,
    }
    return frozenset(name for name, is_true in truths.items() if is_true)
