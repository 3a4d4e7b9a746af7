"""The handler that says why a message was not answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from restante.domain.wire import of_explanation

if TYPE_CHECKING:
    from restante.domain.why import Explanation
    from restante.exchange import Exchange
    from restante.exchange.window import LocalWindow
    from restante.faces.http.asking import Ask


async def why(ask: Ask) -> dict[str, Any]:
    """Say why a message was not answered."""
    await ask.admit()

    def work(_: Exchange, window: LocalWindow) -> Explanation:
        return window.why(ask.params["message"])

    return of_explanation(await ask.run(work))
