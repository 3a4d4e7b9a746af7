"""Codex: ``codex queue --thread ID --message TEXT``, which an open thread takes as its own turn when it is idle.

Its exit code proves only that the message was queued, also for a thread that nobody has open. What proves the wake is
that the item has gone from ``queued_items`` of ``$CODEX_HOME/queue_1.sqlite``, or that the thread's own file holds the
wake's word (all seen with 0.171.0). An item of ours that still waits is never queued a second time.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import closing
from typing import TYPE_CHECKING

from restante.agents.app_server import find_codex
from restante.agents.codex import home_of
from restante.agents.regular import read_tail
from restante.agents.wake.running import last_line, start
from restante.domain.errors import RestanteError
from restante.domain.monitor import Wake, Woken
from restante.domain.registry import Presence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from restante.domain.monitor import Target

STARTS = ("queue", "--thread")

_THREAD = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_QUEUED = re.compile(r"Queued message (\S+) for thread")
_MARK = "[restante:"
_SECONDS = 10.0
_PATIENCE = 8.0
_LOOK_SECONDS = 0.1
# As much of the end of a thread's file as is looked through for the wake's word.
_TAIL = 1_048_576


class CodexQueue:
    """A ``ports.monitoring.Waker`` by Codex's own queue.

    Args:
        environment: Where the program and ``CODEX_HOME`` come from.
        presence: Tells of a session whether its process is proven to live.
        patience: Seconds to wait for the thread to take the message.
    """

    name = "codex-queue"
    is_default = True

    def __init__(
        self, environment: Mapping[str, str], presence: Callable[[str], Presence], *, patience: float = _PATIENCE
    ) -> None:
        self._environment = environment
        self._presence = presence
        self._patience = patience

    def can_wake(self, target: Target) -> str:
        """Return why it cannot wake this session; see ``Waker``."""
        if not _THREAD.fullmatch(target.session):
            return f"{target.session!r} is no id of a Codex thread"
        try:
            find_codex(environ=self._environment)
            home_of(self._environment)
        except RestanteError as error:
            return error.message
        found = self._presence(target.session)
        if found is not Presence.ALIVE:
            return f"the session's process is {found}, and Codex would queue a message that nobody takes"
        return ""

    def wake(self, target: Target, text: str) -> Woken:
        """Queue a message for the thread, and see whether it was taken; see ``Waker``."""
        reason = self.can_wake(target)
        if reason:
            return Woken(Wake.IMPOSSIBLE, reason)
        home = home_of(self._environment)
        waiting = _waiting(home, target.session)
        if waiting:
            return self._follow(home, target, waiting)
        ran = start(
            STARTS,
            find_codex(environ=self._environment),
            [*STARTS, target.session, "--message", f"{_MARK}{target.nonce}] {text}"],
            {**self._environment, "CODEX_HOME": home},
            _SECONDS,
        )
        queued = _QUEUED.search(ran.said)
        if ran.code != 0 or not queued:
            return Woken(Wake.UNCONFIRMED, f"codex queue refused, in {home}: {last_line(ran.said)}")
        return self._follow(home, target, queued[1])

    def _follow(self, home: str, target: Target, item: str) -> Woken:
        end = time.monotonic() + self._patience
        while True:
            is_there = _is_queued(home, item)
            if is_there is False or (is_there is None and _is_told(home, target)):
                return Woken(Wake.CONFIRMED, receipt=item)
            if time.monotonic() >= end:
                return Woken(
                    Wake.UNCONFIRMED, "the message is queued, and the thread has not taken it: is it open?", item
                )
            time.sleep(_LOOK_SECONDS)


def _waiting(home: str, thread: str) -> str:
    """Return the id of an item of ours that still waits for a thread; empty for none."""
    rows = _ask(home, "SELECT id FROM queued_items WHERE thread_id = ? AND instr(payload_json, ?)", thread, _MARK)
    return str(rows[0][0]) if rows else ""


def _is_queued(home: str, item: str) -> bool | None:
    rows = _ask(home, "SELECT 1 FROM queued_items WHERE id = ?", item)
    return None if rows is None else bool(rows)


def _ask(home: str, statement: str, *values: str) -> list[tuple[object, ...]] | None:
    """Ask Codex's queue without changing it; ``None`` where there is none that can be read."""
    import sqlite3
    from urllib.parse import quote

    path = os.path.join(home, "queue_1.sqlite")
    try:
        with closing(sqlite3.connect(f"file:{quote(path)}?mode=ro", uri=True, timeout=1.0)) as database:
            return database.execute(statement, values).fetchall()
    except sqlite3.Error:
        return None


def _is_told(home: str, target: Target) -> bool:
    """Tell whether the thread's own file holds the wake's word."""
    word = f"{_MARK}{target.nonce}]".encode()
    for place, _, names in os.walk(os.path.join(home, "sessions")):
        for name in names:
            if name.endswith(f"{target.session}.jsonl"):
                try:
                    return word in read_tail(os.path.join(place, name), _TAIL)
                except OSError:
                    return False
    return False
