"""Handlers of mail: post, read, acknowledge, receipts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from restante.domain.errors import Forbidden, NoSuchSession, UsageError
from restante.domain.lifecycle import Status
from restante.domain.mailbox import Counts
from restante.domain.wire import of_cleared, of_counts, of_handed, of_reading, of_trace
from restante.faces.http.asking import ClientGoneError
from restante.faces.http.handover import Handover, linger
from restante.faces.http.parking import Patience
from restante.faces.http.requests import MOST_IDS, flag_in, ids_in, milliseconds_in, number_in
from restante.faces.http.sending import BASIC_HEADERS, encode, enveloped
from restante.faces.http.waits import Why

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from restante.domain.overview import Cleared, Handed, Reading, Trace
    from restante.domain.registry import Identity, Session
    from restante.exchange import Exchange
    from restante.exchange.window import LocalWindow
    from restante.faces.http.asking import Ask
    from restante.faces.http.requests import AckBody, PostBody, SeenBody

# Reading no more than so many messages is done before anybody notices.
_MOST_BRIEF = 200


class Looked(NamedTuple):
    """What a look into a mailbox found, and who looked."""

    identity: Identity
    session: Session
    reading: Reading

    @property
    def is_own(self) -> bool:
        """Whether the addressee looked."""
        return self.identity.session == self.session.id


async def post(ask: Ask) -> dict[str, Any]:
    """Post to a session."""
    body: PostBody = await ask.body()
    await ask.admit(claimed=body.parent_session_id)
    office = ask.office

    def work(_: Exchange, window: LocalWindow) -> Handed:
        return window.post(ask.params["id"], body.draft(), allow_warnings=body.allow_warnings)

    def tell(handed: Handed) -> None:
        if handed.posted.duplicate:
            office.metrics.duplicates.inc()
        else:
            office.metrics.posts.inc()
            office.waits.posted(handed.to.owner, handed.to.id)

    return of_handed(await ask.run(work, tell, brief=True))


async def read(ask: Ask) -> dict[str, Any] | None:
    """Read a session's mail, waiting for some where that is asked for."""
    after = number_in(ask.query, "after", least=0) or 0
    limit = number_in(ask.query, "limit", least=1)
    seconds = milliseconds_in(ask.query, "wait")
    is_peek = flag_in(ask.query, "peek")
    await ask.admit()

    def look(_: Exchange, window: LocalWindow) -> Looked:
        session = window.find(ask.params["id"])
        return Looked(window.identity, session, window.read(session.id, after=after, limit=limit))

    if seconds is None:
        looked, is_over, waited = await ask.run(look, brief=_is_brief(ask, limit)), False, 0.0
    else:
        patience = Patience(ask, seconds, ask.office.parking)
        try:
            looked, is_over = await _patiently(ask, look, patience, after, brief=_is_brief(ask, limit))
            waited = patience.waited
        finally:
            patience.close()
    looked = looked._replace(reading=looked.reading._replace(timed_out=is_over, waited=waited))
    return of_reading(looked.reading) if is_peek else await _hand_over(ask, looked)


async def _patiently(
    ask: Ask,
    look: Callable[[Exchange, LocalWindow], Looked],
    patience: Patience,
    after: int,
    *,
    brief: bool,
) -> tuple[Looked, bool]:
    """Look until something is unseen or the time is over; return what was found, and whether the time was over."""

    def park(looked: Looked) -> None:
        if not _has_unseen(looked.reading, after):
            patience.park(looked.session.owner, looked.session.id, is_own=looked.is_own)

    looked = await ask.run(look, park, brief=brief)
    while patience.is_parked:
        why = await patience.released()
        if why is Why.ABORT:
            raise ClientGoneError
        if why is Why.STOP:
            return looked, False
        # However much may be asked for: little more than last time is there.
        is_brief = brief or looked.reading.counts.pending < _MOST_BRIEF // 2
        try:
            looked = await ask.run(look, park if why is Why.CHANGE else None, brief=is_brief)
        except NoSuchSession:
            # It was deleted, and its mail with it.
            return looked._replace(reading=looked.reading._replace(entries=(), counts=Counts(), left_out=0)), False
        if why is Why.TIMEOUT:
            return looked, True
    return looked, False


def _is_brief(ask: Ask, limit: int | None) -> bool:
    return (limit or ask.office.settings.session_messages) <= _MOST_BRIEF


def _has_unseen(reading: Reading, after: int) -> bool:
    if not reading.counts.unseen:
        return False
    return after <= 0 or reading.left_out > 0 or any(one.standing.status is Status.UNSEEN for one in reading.entries)


async def _hand_over(ask: Ask, looked: Looked) -> dict[str, Any] | None:
    """Answer a read; what its addressee took whole is seen from then on."""
    reading = looked.reading
    content = of_reading(reading)
    fresh = [one.message.id for one in reading.entries if one.standing.status is Status.UNSEEN]
    if reading.is_peek or not fresh:
        return content
    office = ask.office

    def confirm() -> asyncio.Future[None]:
        office.metrics.handed.inc(len(fresh))
        return office.worker.submit(
            lambda exchange: exchange.window(looked.identity).confirm(fresh, looked.session.id),
            lambda _: office.waits.changed(looked.session.owner),
            brief=True,
        )

    body = encode(enveloped(content))
    headers = [*BASIC_HEADERS, (b"content-length", b"%d" % len(body))]
    await ask.send({"type": "http.response.start", "status": 200, "headers": headers})
    await ask.send({"type": "http.response.body", "body": body, "more_body": True})
    connection = ask.connection
    was_taken = connection is None or await connection.flushed()
    if connection is not None and was_taken and ask.is_last:
        await linger(ask.hung_up)
        was_taken = not connection.was_broken()
    await ask.send({"type": "http.response.body", "body": b"", "more_body": False})
    if not was_taken:
        office.metrics.lost.inc()
    elif connection is None or ask.is_last:
        office.handovers.confirm(confirm)
    else:
        office.handovers.add(Handover(connection, confirm))
    return None


async def seen(ask: Ask) -> dict[str, Any]:
    """Take the addressee's word that it was given messages whole."""
    body: SeenBody = await ask.body()
    await ask.admit()

    def work(_: Exchange, window: LocalWindow) -> tuple[Session, Counts]:
        session = window.find(ask.params["id"])
        if window.identity.session != session.id:
            raise Forbidden(
                f"only session {session.title} says what it has seen", remedy="a look by anybody else is a peek"
            )
        window.confirm(body.ids, session.id, only_noticed=body.noticed)
        return session, window.read(session.id, limit=1).counts

    def tell(done: tuple[Session, Counts]) -> None:
        ask.office.waits.changed(done[0].owner)

    return of_counts((await ask.run(work, tell, brief=True))[1])


async def acknowledge(ask: Ask) -> dict[str, Any]:
    """Acknowledge messages."""
    body: AckBody = await ask.body()
    await ask.admit()
    if (body.ids is None) == (body.through is None):
        raise UsageError("say which messages: either ids or through", remedy='send {"ids": ["..."]}')
    office = ask.office

    def work(_: Exchange, window: LocalWindow) -> tuple[Session, Cleared]:
        session = window.find(ask.params["id"])
        cleared = window.acknowledge(
            body.ids or [body.through or ""],
            session.id,
            through=body.ids is None,
            decision=body.decision,
            action=body.action,
            summary=body.summary,
            late=body.late(),
        )
        return session, cleared

    def tell(done: tuple[Session, Cleared]) -> None:
        office.metrics.acknowledged.inc(done[1].removed)
        office.waits.changed(done[0].owner)

    return of_cleared((await ask.run(work, tell, brief=body.ids is not None))[1])


async def receipts(ask: Ask) -> dict[str, Any]:
    """Tell what became of what the caller posted."""
    ids = ids_in(ask.query, "ids", MOST_IDS)
    limit = number_in(ask.query, "limit", least=1, most=1000) or 100
    await ask.admit()

    def work(exchange: Exchange, window: LocalWindow) -> list[Trace]:
        from restante.roster.window import RosterWindow

        return RosterWindow(window, exchange.roster(window.identity)).receipts(ids, limit=limit)

    return {"receipts": [of_trace(one) for one in await ask.run(work)]}
