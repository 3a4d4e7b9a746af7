"""The one thread that asks the exchange. It takes every job that waits, runs them, commits once, then answers all.

A commit costs the same for one post as for a hundred, so the more callers there are at once, the less each one costs.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from restante.domain.errors import Busy, RestanteError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from restante.exchange import Exchange

Result = TypeVar("Result")

FINISH_SECONDS = 2.0
# Bounds what one commit holds, and with it how long the first of a batch waits for the last.
_MOST_AT_ONCE = 256


class Job(Generic[Result]):
    """One thing to ask the exchange.

    Args:
        ask: What to ask; runs in the worker's thread.
        then: What to do with the answer in the event loop, in the order of the jobs and before any other job's
            answer is looked at: checking and parking are one step because of it. What it raises is the job's error.
        alone: Run it outside of a common commit.
        future: Gets the answer.
    """

    __slots__ = ("alone", "ask", "error", "future", "then", "value")

    def __init__(
        self,
        ask: Callable[[Exchange], Result],
        then: Callable[[Result], None] | None,
        future: asyncio.Future[Result],
        *,
        alone: bool,
    ) -> None:
        self.ask = ask
        self.then = then
        self.alone = alone
        self.future = future
        self.value: Result | None = None
        self.error: BaseException | None = None

    def run(self, exchange: Exchange) -> None:
        """Ask; an error stays this job's own."""
        try:
            self.value = self.ask(exchange)
        except Exception as error:  # noqa: BLE001  it is told to whoever asked
            self.error = error

    def answer(self) -> None:
        """Tell the answer; runs in the event loop."""
        if self.error is None and self.then is not None:
            try:
                self.then(self.value)  # type: ignore[arg-type]
            except Exception as error:  # noqa: BLE001  it is told to whoever asked
                self.error = error
        if self.future.done():
            return
        if self.error is None:
            self.future.set_result(self.value)  # type: ignore[arg-type]
        else:
            self.future.set_exception(self.error)


class Worker:
    """Runs jobs in a thread of its own.

    Args:
        loop: Where answers are told.
        opener: Makes the exchange, in that thread: databases are bound to it.
        observe: Told the size of each batch, in that thread.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, opener: Callable[[], Exchange], observe: Callable[[int], None]
    ) -> None:
        self._loop = loop
        self._opener = opener
        self._observe = observe
        self._jobs: deque[Job[Any]] = deque()
        self._wake = threading.Event()
        self._is_stopping = False
        self._opened: asyncio.Future[None] = loop.create_future()
        self._thread = threading.Thread(target=self._run, name="restante-exchange", daemon=True)

    async def start(self) -> None:
        """Open the exchange.

        Raises:
            RestanteError: It cannot be opened.
        """
        self._thread.start()
        await self._opened

    def submit(
        self,
        ask: Callable[[Exchange], Result],
        then: Callable[[Result], None] | None = None,
        *,
        alone: bool = False,
    ) -> asyncio.Future[Result]:
        """Ask the exchange, after everything that was asked before; see ``Job``.

        Returns:
            A future of the answer, or of the error: what the job raised, or the commit, and then nothing of the whole
            batch was done.

        Raises:
            Busy: The server is stopping.
        """
        if self._is_stopping:
            raise Busy("the server is stopping", remedy="ask again in a moment")
        future: asyncio.Future[Result] = self._loop.create_future()
        self._jobs.append(Job(ask, then, future, alone=alone))
        self._wake.set()
        return future

    async def stop(self) -> None:
        """Finish what was asked for, and close the exchange. Stopping again changes nothing.

        What a database takes longer for than a few seconds, as one that can no longer be reached does, ends with the
        process: nothing of it was told as done.
        """
        self._is_stopping = True
        self._wake.set()
        if self._thread.is_alive():
            await self._loop.run_in_executor(None, self._thread.join, FINISH_SECONDS)

    def _run(self) -> None:
        try:
            exchange = self._opener()
        except BaseException as error:  # noqa: BLE001  whoever starts the server is told
            self._loop.call_soon_threadsafe(self._opened.set_exception, error)
            return
        self._loop.call_soon_threadsafe(self._opened.set_result, None)
        while True:
            self._wake.wait()
            self._wake.clear()
            while batch := self._take():
                self._work(exchange, batch)
            if self._is_stopping and not self._jobs:
                exchange.close()
                return

    def _take(self) -> list[Job[Any]]:
        batch: list[Job[Any]] = []
        while self._jobs and len(batch) < _MOST_AT_ONCE:
            if self._jobs[0].alone and batch:
                break
            batch.append(self._jobs.popleft())
            if batch[-1].alone:
                break
        return batch

    def _work(self, exchange: Exchange, batch: list[Job[Any]]) -> None:
        self._observe(len(batch))
        if batch[0].alone:
            batch[0].run(exchange)
        else:
            try:
                with exchange.together():
                    for job in batch:
                        job.run(exchange)
            except Exception as error:  # noqa: BLE001  it is told to everyone who asked
                for job in batch:
                    job.error = _shared(error)
        self._loop.call_soon_threadsafe(_answer, batch)


def _answer(batch: list[Job[Any]]) -> None:
    for job in batch:
        job.answer()


def _shared(error: Exception) -> Exception:
    """Return the error that everyone of a batch is told: one of ours as it is, any other as one to try again after."""
    if isinstance(error, RestanteError):
        return error
    again = Busy("the change could not be written down; nothing was done", remedy="ask again in a moment")
    again.__cause__ = error
    return again
