"""Other faces below a path of this server: loaded when first asked for, and never in the way of the API."""

from __future__ import annotations

import asyncio
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

from restante.domain.errors import Refused, RestanteError
from restante.faces.http.sending import InternalError, send_error

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.types import ASGIApp, Message, Send

    from restante.faces.http.asking import Office


class Lodging(NamedTuple):
    """Where a guest is found.

    Attributes:
        module: Where its application is made.
        libraries: The modules that it needs, of an extra that not every installation has.
        refusal: What is said where they are missing.
        remedy: How to have them.
    """

    module: str
    libraries: tuple[str, ...]
    refusal: str
    remedy: str


class Guest:
    """A face that is loaded late. Whoever derives from it says how its application is made of its module.

    Args:
        office: What all requests of this server share.
        lodging: Where it is found.
    """

    def __init__(self, office: Office, lodging: Lodging) -> None:
        self._office = office
        self._lodging = lodging
        self._lock = asyncio.Lock()
        self._app: ASGIApp | None = None

    def told(self, error: Exception) -> RestanteError:
        """Return what is told of an error; a fault is written down, and nothing of it is told."""
        if isinstance(error, RestanteError):
            self._office.metrics.refused(error.code)
            return error
        self._office.metrics.refused(InternalError.code)
        self._office.log.fault("fault", error, route=self._lodging.module)
        return InternalError("the server failed to answer; it wrote down where", remedy="see its log")

    async def _made(self, module: Any) -> ASGIApp:  # noqa: ANN401  each guest's own
        """Return the application."""
        raise NotImplementedError

    async def _opened(self) -> ASGIApp:
        async with self._lock:
            if self._app is None:
                lodging = self._lodging
                if any(find_spec(name) is None for name in lodging.libraries):
                    raise Refused(lodging.refusal, remedy=lodging.remedy)
                # It may take a second, in which others are answered.
                self._app = await self._made(await asyncio.to_thread(import_module, lodging.module))
            return self._app

    async def _answering(
        self,
        send: Send,
        work: Callable[[Send], Awaitable[None]],
        refuse: Callable[[Send, RestanteError], Awaitable[None]] = send_error,
    ) -> None:
        """Have a request answered; what fails before anything was sent is told.

        Args:
            send: Where the answer goes.
            work: Answers, by what it is given to send with.
            refuse: Sends an error.
        """
        has_begun = False

        async def sending(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await work(sending)
        except Exception as error:  # noqa: BLE001  whatever it is, it is told in the envelope and written down
            told = self.told(error)
            if not has_begun:
                await refuse(send, told)
