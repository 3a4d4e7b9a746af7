"""What the window keeps for the next time."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from restante.domain.errors import RestanteError
from restante.wiring.desktop import MOST_CHOSEN, remember, remembered

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from restante.wiring.desktop import Workspace


class Memory:
    """Keeps every change at once; safe to use in threads.

    Args:
        environment: Where the data directory comes from.
        tell: Told in words when something could not be kept. The window goes on.
    """

    def __init__(self, environment: Mapping[str, str], tell: Callable[[str], None]) -> None:
        self._environment = environment
        self._tell = tell
        self._lock = threading.Lock()
        self._now = remembered(environment)

    @property
    def now(self) -> Workspace:
        """What is remembered."""
        return self._now

    def change(self, **values: Any) -> None:  # noqa: ANN401  fields of ``Workspace``
        """Remember something else."""
        with self._lock:
            changed = self._now._replace(**values)
            if changed == self._now:
                return
            self._now = changed
            try:
                remember(self._environment, changed)
            except RestanteError as error:
                self._tell(error.message)

    def choose(self, worktree: str) -> None:
        """Remember a worktree that the person chose, as the newest of those."""
        others = (one for one in self._now.chosen if one != worktree)
        self.change(chosen=(worktree, *others)[:MOST_CHOSEN])
