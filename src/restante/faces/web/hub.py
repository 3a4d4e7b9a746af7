"""What the pages need of the server that they stand on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from restante.config import Settings
    from restante.domain.account import Dismissed
    from restante.domain.errors import RestanteError
    from restante.domain.registry import Claim
    from restante.exchange import Exchange
    from restante.exchange.window import LocalWindow

Result = TypeVar("Result")


class Hub(Protocol):
    """The server, as the pages see it."""

    @property
    def environment(self) -> Mapping[str, str]:
        """Where settings and places come from."""

    @property
    def settings(self) -> Settings:
        """The values in force."""

    async def run(
        self, claim: Claim, work: Callable[[Exchange, LocalWindow], Result], *, alone: bool = False
    ) -> Result:
        """Ask the exchange in somebody's name.

        Args:
            claim: What that person shows.
            work: What to ask.
            alone: Ask it outside of a commit in common with others.

        Raises:
            Unauthorized: What was shown proves nothing any more.
        """

    def told(self, error: Exception) -> RestanteError:
        """Return what is told of an error; one that is no refusal of ours is a fault, which is written down."""

    def stirred(self, owner: str) -> None:
        """Let everyone look again who waits for anything of an owner's: a page changed something."""

    async def apart(self, work: Callable[[], Result]) -> Result:
        """Do something that may take long, as looking into files, in a thread of its own."""

    async def needs_owner(self) -> bool:
        """Whether there are accounts, so that a person needs a name and a password."""

    async def owner(self, name: str, password: str, address: str) -> str:
        """Return whose name and password these are.

        Raises:
            Unauthorized: They are nobody's.
            RateLimited: Too many were wrong.
        """

    async def dismiss(self, account: str, *, ends_sessions: bool) -> Dismissed:
        """Remove an account; its sessions stay, shut out, or end with their mail.

        Raises:
            NothingThere: There is none of this name.
        """

    async def proof_of(self, owner: str) -> bytes:
        """Return what only this server and that person's place know; empty where there is no such person.

        It changes when the password does, or the person's token: what was made of it is worth nothing from then on.
        """

    def ticks(self, claim: Claim) -> AsyncIterator[None]:
        """Yield whenever something changed for somebody; end when the server does."""
