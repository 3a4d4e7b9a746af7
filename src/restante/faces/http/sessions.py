"""Handlers of sessions: list, register, describe, turn, detach, delete."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from restante.domain.errors import UsageError
from restante.domain.wire import of_identity, of_row, of_session, of_state, of_summary
from restante.faces.http.requests import flag_in

if TYPE_CHECKING:
    from restante.domain.overview import Row
    from restante.domain.registry import Identity, Session
    from restante.exchange import Exchange
    from restante.exchange.window import LocalWindow
    from restante.faces.http.asking import Ask
    from restante.faces.http.requests import DescribeBody, RegisterBody, TurnBody


async def listed(ask: Ask) -> dict[str, Any]:
    """List the owner's sessions."""
    with_inbox = flag_in(ask.query, "inbox")
    rows = await _rows(ask)
    return {"sessions": [of_row(row) if with_inbox else of_state(row) for row in rows]}


async def summary(ask: Ask) -> dict[str, Any]:
    """Tell the numbers of the owner's mailboxes."""
    return of_summary(await _rows(ask))


async def one(ask: Ask) -> dict[str, Any]:
    """Tell one session."""
    with_inbox = flag_in(ask.query, "inbox")
    await ask.admit()

    def work(_: Exchange, window: LocalWindow) -> Row:
        return window.row(window.find(ask.params["id"]), is_whole=with_inbox)

    row = await ask.run(work)
    return of_row(row) if with_inbox else of_state(row)


async def register(ask: Ask) -> dict[str, Any]:
    """Register a session, or attach it again."""
    body: RegisterBody = await ask.body()
    await ask.admit()

    def work(_: Exchange, window: LocalWindow) -> Session:
        return window.register(body.arrival())

    return {"session": of_session(await ask.run(work, lambda session: _changed(ask, session)))}


async def describe(ask: Ask) -> dict[str, Any]:
    """Change what is known of a session."""
    body: DescribeBody = await ask.body()
    await ask.admit()

    def work(_: Exchange, window: LocalWindow) -> Session:
        return window.describe(
            ask.params["id"],
            name=body.name,
            blocked=body.blocked,
            open_todos=body.open_todos,
            total_todos=body.total_todos,
        )

    return {"session": of_session(await ask.run(work, lambda session: _changed(ask, session)))}


async def turn(ask: Ask) -> dict[str, Any]:
    """Record that a turn began or ended."""
    body: TurnBody = await ask.body()
    await ask.admit()

    def work(_: Exchange, window: LocalWindow) -> Session:
        return window.turn(ask.params["id"], has_ended=body.ended, source=body.source)

    return {"session": of_session(await ask.run(work, lambda session: _changed(ask, session)))}


async def detach(ask: Ask) -> dict[str, Any]:
    """Record that a session's process ended; its mail stays."""
    return await _ended(ask, is_detached=True)


async def delete(ask: Ask) -> dict[str, Any]:
    """Delete a session with its mail, or only detach it."""
    kill = ask.query.get("killMux", "true")
    if kill not in {"true", "false"}:
        raise UsageError(f"killMux={kill!r} is neither true nor false", remedy="correct it, or leave it out")
    return await _ended(ask, is_detached=flag_in(ask.query, "detach") or kill == "false")


async def _ended(ask: Ask, *, is_detached: bool) -> dict[str, Any]:
    await ask.admit()

    def work(_: Exchange, window: LocalWindow) -> Session:
        return window.detach(ask.params["id"]) if is_detached else window.delete(ask.params["id"])

    def tell(session: Session) -> None:
        ask.office.waits.dropped(session.owner, session.id)

    return {"session": of_session(await ask.run(work, tell))}


async def identity(ask: Ask) -> dict[str, Any]:
    """Tell the caller who it was taken for."""
    await ask.admit()

    def work(_: Exchange, window: LocalWindow) -> Identity:
        return window.identity

    return of_identity(await ask.run(work))


def _changed(ask: Ask, session: Session) -> None:
    ask.office.waits.changed(session.owner, session.id)


async def _rows(ask: Ask) -> list[Row]:
    await ask.admit()

    def work(_: Exchange, window: LocalWindow) -> list[Row]:
        return window.sessions()

    return await ask.run(work)
