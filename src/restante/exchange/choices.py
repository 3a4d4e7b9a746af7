"""What an owner decides for the own mailboxes, and what is in force there."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from restante.domain.account import Owner
from restante.domain.overview import Retention
from restante.services import identifying, lasting, searching, upkeep

if TYPE_CHECKING:
    from restante.domain.registry import Identity, Session
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

    def retention(self) -> Retention:
        """Return how long what concerns the owner's sessions is kept."""
        parts, owner = self._parts, self._identity.owner
        seconds = lasting.time_to_live(parts.sessions, owner, parts.settings.session_ttl)
        is_chosen = lasting.is_chosen(parts.sessions, owner)
        return Retention(timedelta(seconds=seconds), is_chosen, upkeep.REMEMBERED)

    def set_time_to_live(self, length: timedelta | None) -> None:
        """Decide how long mail to the owner's sessions lasts, for what is posted from now on.

        Args:
            length: From one minute to 365 days; ``None`` for what the configuration says.

        Raises:
            Forbidden: Who asks is a session, or nobody in particular.
            UsageError: It is too short, or too long.
        """
        lasting.choose(self._identity, self._parts.sessions, length)

    def owners(self) -> list[Owner]:
        """Return who has an account or sessions here, to the person whose server it is; to others, themselves alone."""
        sessions, made = self._parts.sessions, self._parts.accounts.made()
        is_host = self._identity.verified and not (self._identity.owner or self._identity.session)
        names = sorted({"", *made, *sessions.owners()}) if is_host else [self._identity.owner]
        return [Owner(name, made.get(name), len(sessions.all(name))) for name in names]

    def with_secrets(self) -> list[tuple[Session, bool]]:
        """Return the owner's sessions, the newest first, and whether a secret proves each."""
        sessions, owner = self._parts.sessions, self._identity.owner
        proven = sessions.with_secrets(owner)
        found = sorted(sessions.all(owner), key=lambda one: one.created, reverse=True)
        return [(one, one.id in proven) for one in found]

    def tokens(self) -> list[str]:
        """Return by what the person's tokens can be told that are taken for proof, the oldest first."""
        return identifying.tokens(self._parts.sessions, self._identity.owner)

    def distrust(self, mark: str) -> bool:
        """Take one of them for proof no longer, and tell whether it was.

        Raises:
            Forbidden: Who asks is no person.
        """
        return identifying.distrust(mark, self._identity, self._parts.sessions)
