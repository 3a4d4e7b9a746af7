"""Handlers of the server itself: persistence, accounts, health, metrics, the OpenAPI document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from restante import __version__
from restante.domain.errors import Forbidden
from restante.domain.wire import of_persistence
from restante.faces.http.requests import flag_in
from restante.faces.http.sending import SECURITY_HEADERS, send_json

if TYPE_CHECKING:
    from datetime import datetime

    from restante.domain.mailbox import Counts
    from restante.domain.overview import Persistence
    from restante.exchange import Exchange
    from restante.exchange.window import LocalWindow
    from restante.faces.http.asking import Ask
    from restante.faces.http.requests import AccountBody, PersistenceBody


async def health(_: Ask) -> dict[str, Any]:
    """Say that the server lives. Asks nothing of the exchange, so that its answer costs what an empty one costs."""
    return {"status": "ok", "version": __version__}


async def persistence(ask: Ask) -> dict[str, Any]:
    """Tell whether the mail of sessions is kept on disk."""
    await ask.admit()

    def work(_: Exchange, window: LocalWindow) -> Persistence:
        return window.persistence()

    return of_persistence(await ask.run(work))


async def set_persistence(ask: Ask) -> dict[str, Any]:
    """Switch it."""
    body: PersistenceBody = await ask.body()
    await ask.admit()

    def work(_: Exchange, window: LocalWindow) -> Persistence:
        return window.set_persistence(body.on)

    return of_persistence(await ask.run(work, alone=True))


async def accounts(ask: Ask) -> dict[str, Any]:
    """List the accounts."""
    await _check_person(ask)
    return {"accounts": [{"name": name} for name in await ask.office.accounts.listed()]}


async def add_account(ask: Ask) -> dict[str, Any]:
    """Add an account."""
    body: AccountBody = await ask.body()
    await _check_person(ask)
    await ask.office.accounts.add(body.name, body.password)
    ask.office.log.say("account added")
    return {"name": body.name}


async def delete_account(ask: Ask) -> dict[str, Any]:
    """Delete an account."""
    ends = flag_in(ask.query, "sessions")
    await _check_person(ask)
    name = ask.params["name"]
    dismissed = await ask.office.accounts.delete(name, ends_sessions=ends)
    ask.office.log.say("account deleted", sessions_ended=dismissed.ended)
    if dismissed.ended:
        ask.office.waits.changed(name)
    return {"name": name, "sessionsEnded": dismissed.ended, "sessionsLeft": dismissed.left}


async def metrics(ask: Ask) -> None:
    """Send the numbers of the server as Prometheus text; of all owners, so where there are several to the person."""
    await ask.admit()
    if ask.office.accounts.needs_owner:
        await _check_person(ask)

    def work(exchange: Exchange, _: LocalWindow) -> tuple[datetime, int, list[Counts]]:
        return exchange.clock.now(), exchange.expired(), exchange.tally()

    now, expired, counts = await ask.run(work)
    ask.office.metrics.expired(expired)
    unseen = [one for one in counts if one.unseen]
    oldest = min((one.oldest_unseen for one in unseen if one.oldest_unseen), default=now)
    ask.office.metrics.mail(
        pending=sum(one.pending for one in counts),
        unseen=sum(one.unseen for one in unseen),
        oldest_seconds=max(0.0, (now - oldest).total_seconds()),
    )
    body = ask.office.metrics.text()
    headers = [
        (b"content-type", b"text/plain; version=0.0.4; charset=utf-8"),
        *SECURITY_HEADERS,
        (b"content-length", b"%d" % len(body)),
    ]
    await ask.send({"type": "http.response.start", "status": 200, "headers": headers})
    await ask.send({"type": "http.response.body", "body": body})


async def _check_person(ask: Ask) -> None:
    """Let only the person through whose server it is.

    Raises:
        Forbidden: It is somebody else.
    """
    await ask.admit()

    def work(_: Exchange, window: LocalWindow) -> bool:
        identity = window.identity
        return identity.verified and not identity.session and not identity.owner

    # Whoever has an account proves an owner by it; the person whose server it is has the token.
    if not await ask.run(work):
        raise Forbidden(
            "only the person whose server this is may do this", remedy="let that person do it, by the token"
        )


async def openapi(ask: Ask) -> None:
    """Send the OpenAPI document."""
    await ask.admit()
    await ask.run(lambda _, __: None)
    await send_json(ask.send, ask.office.document())
