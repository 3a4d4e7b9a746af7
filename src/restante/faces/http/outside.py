"""Notices what other processes do to the same sessions and mail, as long as anybody waits for it, and no longer."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

from restante.domain.errors import RestanteError
from restante.domain.registry import Identity

if TYPE_CHECKING:
    from restante.domain.overview import Watched
    from restante.exchange import Exchange
    from restante.faces.http.waits import Waits
    from restante.faces.http.worker import Worker
    from restante.ports import Watcher

# Hints can be missing or late (see ports.Watcher), and nothing hints at a process that died.
FALLBACK_SECONDS = 2.0
# Between two looks; a look at many sessions may take longer than this, and then the pause grows with it.
_LEAST_PAUSE = 0.005
_SLICE_SECONDS = 5.0


class Outside:
    """Looks for changes and tells who waits.

    Args:
        waits: Who waits.
        worker: Asks the exchange.
        watcher: Hints at changes.
    """

    def __init__(self, waits: Waits, worker: Worker, watcher: Watcher) -> None:
        self._loop = asyncio.get_running_loop()
        self._waits = waits
        self._worker = worker
        self._watcher = watcher
        self._cursors: dict[str, str] = {}
        self._hinted = asyncio.Event()
        self._needed = threading.Event()
        self._is_stopping = False
        self._task: asyncio.Task[None] | None = None
        self._thread: threading.Thread | None = None

    def look(self) -> None:
        """Begin to look, if nobody does: somebody waits from now on."""
        if self._is_stopping:
            return
        self._needed.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._listen, name="restante-watcher", daemon=True)
            self._thread.start()
        if self._task is None:
            self._task = self._loop.create_task(self._run())

    def stop(self) -> None:
        """End; the thread ends with its next hint."""
        self._is_stopping = True
        self._needed.set()
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        pause = _LEAST_PAUSE
        while len(self._waits):
            began = self._loop.time()
            for owner in self._waits.owners():
                await self._tell(owner)
            # Others ask, too: looking must not take more than a part of the time. A look that nobody answered took
            # long for another reason, and must not put the next one off beyond what is promised.
            pause = min(FALLBACK_SECONDS, max(_LEAST_PAUSE, 4 * (self._loop.time() - began)))
            await asyncio.sleep(pause)
            try:
                async with asyncio.timeout(FALLBACK_SECONDS):
                    await self._hinted.wait()
            except TimeoutError:
                pass
            self._hinted.clear()
        self._needed.clear()
        self._cursors.clear()
        self._task = None

    async def _tell(self, owner: str) -> None:
        cursor = self._cursors.get(owner, "")

        def watch(exchange: Exchange) -> Watched:
            return exchange.window(Identity(owner, verified=True)).watch(cursor)

        def tell(watched: Watched) -> None:
            self._cursors[owner] = watched.cursor
            for row in watched.rows:
                self._waits.changed(owner, row.session.id)
            for session in watched.gone:
                self._waits.dropped(owner, session)

        try:
            await self._worker.submit(watch, tell)
        except RestanteError:
            # Whoever waits is not told that a look failed: the next one comes.
            self._cursors.pop(owner, None)

    def _is_wanted(self) -> bool:
        return self._needed.is_set() and not self._is_stopping

    def _listen(self) -> None:
        while not self._is_stopping:
            self._needed.wait()
            for _ in self._watcher.ticks(_SLICE_SECONDS):
                if not self._is_wanted():
                    break
                self._loop.call_soon_threadsafe(self._hinted.set)
