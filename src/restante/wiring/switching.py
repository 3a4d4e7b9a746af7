"""What installing decides for the whole machine: whether sessions are used, and whether their mail is kept on disk."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from restante.domain.errors import RestanteError
from restante.system.places import data_directory
from restante.system.turns import TurnFiles
from restante.wiring.sessions import open_exchange, open_window

if TYPE_CHECKING:
    from collections.abc import Mapping

    from restante.domain.overview import Persistence


def waiting_on_disk(environment: Mapping[str, str]) -> int:
    """Return how many messages to sessions wait for an answer, of all owners together."""
    exchange = open_exchange(environment)
    try:
        return sum(one.pending for one in exchange.tally())
    finally:
        exchange.close()


class Switches:
    """The two switches of a machine.

    Args:
        environment: Where the data directory is told.

    Raises:
        UsageError: There is no place for data.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._data = data_directory(environment)
        self._turns = TurnFiles(self._data)

    @property
    def place(self) -> str:
        """The data directory."""
        return self._data

    def sessions(self) -> bool | None:
        """Return whether hooks tell the register of sessions; ``None`` while nobody decided it."""
        if self._turns.is_refused:
            return False
        return True if self._turns.is_in_use else None

    def set_sessions(self, is_on: bool) -> None:
        """Decide it; deciding the same again changes nothing.

        Raises:
            StorageFailed: It cannot be written down.
        """
        if is_on:
            self._turns.enable()
        else:
            self._turns.disable()

    def persistence(self) -> Persistence | None:
        """Return whether the mail of sessions is kept on disk; ``None`` where that cannot be told."""
        try:
            return open_window(self._environment, os.sep, only_looks=True).persistence()
        except RestanteError:
            return None

    def set_persistence(self, is_on: bool) -> Persistence:
        """Decide it; see ``Window.set_persistence``."""
        return open_window(self._environment, os.sep).set_persistence(is_on)
