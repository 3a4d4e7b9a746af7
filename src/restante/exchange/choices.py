"""What an owner decides for the own mailboxes, and what is in force there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.services import searching

if TYPE_CHECKING:
    from restante.domain.registry import Identity
    from restante.exchange import ExchangeParts


class Choices:
    """The choices of whoever asks.

    Args:
        parts: What the exchange is made of.
        identity: Who asks.
    """

    def __init__(self, parts: ExchangeParts, identity: Identity) -> None:
        self._parts = parts
        self._identity = identity

    @property
    def may_search(self) -> bool:
        """Whether the owner allows texts to be searched; not until that was decided."""
        return searching.is_allowed(self._parts.sessions, self._identity.owner)

    def allow_search(self, is_on: bool) -> None:
        """Decide it.

        Raises:
            Forbidden: Who asks is a session, or nobody in particular.
        """
        searching.allow(self._identity, self._parts.sessions, is_on=is_on)

    def check_search(self) -> None:
        """Refuse to search where the owner does not allow it, or does not ask.

        Raises:
            Forbidden: See above.
        """
        searching.check(self._identity, self._parts.sessions)
