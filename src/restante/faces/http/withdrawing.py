"""The handler that takes a message back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from restante.domain.wire import of_trace

if TYPE_CHECKING:
    from restante.domain.overview import Trace
    from restante.exchange import Exchange
    from restante.exchange.window import LocalWindow
    from restante.faces.http.asking import Ask


async def withdraw(ask: Ask) -> dict[str, Any]:
    """Take back what the caller posted."""
    await ask.admit()
    office = ask.office

    def work(exchange: Exchange, window: LocalWindow) -> tuple[str, Trace]:
        from restante.roster.window import RosterWindow

        mail = RosterWindow(window, exchange.roster(window.identity))
        return window.identity.owner, mail.withdraw(ask.params["message"])

    def tell(done: tuple[str, Trace]) -> None:
        office.waits.changed(done[0])

    return of_trace((await ask.run(work, tell))[1])
