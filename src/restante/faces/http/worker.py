"""Asks the exchange: takes every job that waits, runs them, commits once, then answers all.

A commit costs the same for one post as for a hundred, so the more callers there are at once, the less each one costs.

There is one thread for it beside the event loop's. What is brief does not go there where the databases are files of
this machine: two threads that both want to run Python hinder each other for longer than a post takes. Only the wait for
a disk that is slow does then, and whatever would have to wait for another process.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from restante.domain.errors import Busy, RestanteError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from restante.exchange import Exchange

Result = TypeVar("Result")

FINISH_SECONDS = 2.0
# Bounds what one commit holds, and with it how long the first of a batch waits for the last.
_MOST_AT_ONCE = 256
# Bounds how long the event loop does nothing else.
_MOST_BRIEF = 64
# A commit that takes longer is worth the way to another thread and back.
_QUICK_SECONDS = 0.001
# Leaving takes no longer where nothing was written.
_NO_COMMIT_SECONDS = 0.0001
# How much the newest commit counts for what the next one is expected to take.
_NEWEST = 0.2


class Job(Generic[Result]):
    """One thing to ask the exchange.

    Args:
        ask: What to ask; runs in the worker's thread.
        then: What to do with the answer in the event loop, in the order of the jobs and before any other job's
            answer is looked at: checking and parking are one step because of it. What it raises is the job's error.
        alone: Run it outside of a common commit.
        brief: It takes no longer than a few statements, and may be begun again where it was undone.
        future: Gets the answer.
    """

    __slots__ = ("alone", "ask", "brief", "error", "future", "then", "value")

    def __init__(
        self,
        ask: Callable[[Exchange], Result],
        then: Callable[[Result], None] | None,
        future: asyncio.Future[Result],
        *,
        alone: bool,
        brief: bool,
    ) -> None:
        self.ask = ask
        self.then = then
        self.alone = alone
        self.brief = brief
        self.future = future
        self.value: Result | None = None
        self.error: BaseException | None = None

    def run(self, exchange: Exchange) -> None:
        """Ask; an error stays this job's own."""
        self.error = None
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
    """Runs jobs, in their order.

    Args:
        loop: Where answers are told.
        opener: Makes the exchange, in the thread.
        observe: Told the size of each batch.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, opener: Callable[[], Exchange], observe: Callable[[int], None]
    ) -> None:
        self._loop = loop
        self._opener = opener
        self._observe = observe
        self._jobs: deque[Job[Any]] = deque()
        self._exchange: Exchange | None = None
        # What the thread is to do; ``None`` ends it.
        self._errands: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._is_called = False
        # How many jobs there were when it was last looked whether more come.
        self._gathered = 0
        self._is_out = False
        self._is_stopping = False
        self._commit_seconds = 0.0
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
        brief: bool = False,
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
        self._jobs.append(Job(ask, then, future, alone=alone, brief=brief))
        self._call()
        return future

    async def stop(self) -> None:
        """Finish what was asked for, and close the exchange. Stopping again changes nothing.

        What a database takes longer for than a few seconds, as one that can no longer be reached does, ends with the
        process: nothing of it was told as done.
        """
        self._is_stopping = True
        self._call()
        if self._thread.is_alive():
            await self._loop.run_in_executor(None, self._thread.join, FINISH_SECONDS)

    def _call(self) -> None:
        # Not at once: what else comes in this turn of the loop is to share the commit.
        if not self._is_called and not self._is_out:
            self._is_called, self._gathered = True, 0
            self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        if self._gathered < len(self._jobs) < _MOST_BRIEF and not self._is_stopping:
            # As long as each turn brings more it is worth another: a turn costs less than what a commit costs alone.
            self._gathered = len(self._jobs)
            self._loop.call_soon(self._turn)
            return
        self._is_called = False
        if self._is_out:
            return
        batch = self._take()
        if not batch:
            if self._is_stopping:
                self._errands.put(None)
            return
        self._observe(len(batch))
        exchange = self._exchange
        if exchange is not None and self._is_brief(batch[0]):
            self._work_here(exchange, batch)
        else:
            self._send_out(batch, partial(self._work, batch))

    def _take(self) -> list[Job[Any]]:
        """Return what is to be done next: one that is to be alone, or brief ones, or whatever there is."""
        jobs = self._jobs
        batch: list[Job[Any]] = []
        is_brief = bool(jobs) and self._is_brief(jobs[0])
        while jobs and len(batch) < (_MOST_BRIEF if is_brief else _MOST_AT_ONCE):
            if batch and (jobs[0].alone or (is_brief and not jobs[0].brief)):
                break
            batch.append(jobs.popleft())
            if batch[-1].alone:
                break
        return batch

    def _is_brief(self, job: Job[Any]) -> bool:
        return job.brief and self._exchange is not None and self._exchange.is_near

    def _work_here(self, exchange: Exchange, batch: list[Job[Any]]) -> None:
        """Run brief jobs in the event loop; what would have to wait for another process is begun anew in the thread."""
        group = exchange.together(at_once=True)
        try:
            group.__enter__()
        except Exception as error:  # noqa: BLE001  it is told to everyone who asked
            if isinstance(error, Busy):
                self._send_out(batch, partial(self._work, batch))
            else:
                _fail(batch, error)
                self._answer(batch)
            return
        for job in batch:
            job.run(exchange)
            if isinstance(job.error, Busy):
                _undo(group, job.error)
                self._send_out(batch, partial(self._work, batch))
                return
        # What was put off is Python's work, too. Where it fails, leaving says so.
        with suppress(RestanteError):
            exchange.write_now()
        if self._commit_seconds > _QUICK_SECONDS:
            self._send_out(batch, partial(self._leave, group))
            return
        try:
            self._leave(group)
        except Exception as error:  # noqa: BLE001  it is told to everyone who asked
            # Not begun anew: the mail may be stored, and only what the register says of it lost.
            _fail(batch, error)
        self._answer(batch)

    def _send_out(self, batch: list[Job[Any]], errand: Callable[[], None]) -> None:
        """Let the thread do something for a batch; until it has, nothing else is done."""
        self._is_out = True

        def run() -> None:
            try:
                errand()
            except Exception as error:  # noqa: BLE001  it is told to everyone who asked
                _fail(batch, error)
            self._loop.call_soon_threadsafe(self._back, batch)

        self._errands.put(run)

    def _back(self, batch: list[Job[Any]]) -> None:
        self._is_out = False
        self._answer(batch)

    def _answer(self, batch: list[Job[Any]]) -> None:
        for job in batch:
            job.answer()
        if self._jobs or self._is_stopping:
            self._call()

    # -- in the thread -------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            exchange = self._opener()
        except BaseException as error:  # noqa: BLE001  whoever starts the server is told
            self._loop.call_soon_threadsafe(self._opened.set_exception, error)
            return
        self._exchange = exchange
        self._loop.call_soon_threadsafe(self._opened.set_result, None)
        while errand := self._errands.get():
            errand()
        exchange.close()

    def _work(self, batch: list[Job[Any]]) -> None:
        exchange = self._exchange
        assert exchange is not None
        if batch[0].alone:
            batch[0].run(exchange)
            return
        group = exchange.together()
        group.__enter__()
        for job in batch:
            job.run(exchange)
        self._leave(group)

    def _leave(self, group: AbstractContextManager[None]) -> None:
        began = time.perf_counter()
        group.__exit__(None, None, None)
        seconds = time.perf_counter() - began
        if seconds > _NO_COMMIT_SECONDS:
            self._commit_seconds += _NEWEST * (seconds - self._commit_seconds)


def _undo(group: AbstractContextManager[None], error: Exception) -> None:
    with suppress(RestanteError):
        group.__exit__(type(error), error, error.__traceback__)


def _fail(batch: list[Job[Any]], error: Exception) -> None:
    for job in batch:
        job.error = _shared(error)


def _shared(error: Exception) -> Exception:
    """Return the error that everyone of a batch is told: one of ours as it is, any other as one to try again after."""
    if isinstance(error, RestanteError):
        return error
    again = Busy("the change could not be written down; nothing was done", remedy="ask again in a moment")
    again.__cause__ = error
    return again
