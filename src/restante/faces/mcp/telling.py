"""What every tool has: the way to mail, and an answer for a model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, Protocol

from restante.domain.errors import Forbidden
from restante.domain.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from restante.desk import Desk, Tools
    from restante.domain.errors import RestanteError
    from restante.ports.roles import Roles
    from restante.ports.sessions import Window

UNPROVEN = "nothing proved who sent this: it was sent as user (unverified), and the receiver is told so"
_AS_TOOLS = {"ls": "who", "post": "send", "inbox": "inbox", "ack": "ack", "reply": "reply", "send": "send"}


class Place(Protocol):
    """How one call gets to mail."""

    @property
    def is_session(self) -> bool:
        """Whether the program proved which session calls."""

    def desk(self) -> Desk:
        """Return where the caller's mail is."""

    def window(self) -> Window:
        """Return what the caller can ask of the sessions."""

    def roles(self) -> Roles:
        """Return what the caller can ask of roles."""

    def tools(self) -> Tools:
        """Return time and settings."""


class Told(NamedTuple):
    """The answer of a tool.

    Attributes:
        text: For the model.
        seen: Records that it was handed over; to be called once it was, whole.
        is_error: Whether nothing was done.
    """

    text: str
    seen: Callable[[], object] | None = None
    is_error: bool = False


def failed(error: RestanteError) -> Told:
    """Return what a model is told of an error: what went wrong, and what to do, by the tools it has."""
    remedy = re.sub(
        r"\brestante (ls|post|inbox|ack|reply|send)\b", lambda found: f"the tool {_AS_TOOLS[found[1]]}", error.remedy
    )
    return Told(visible(f"{error.message}\n{remedy}" if remedy else error.message), is_error=True)


def check_session(place: Place) -> None:
    """Refuse what only the addressee of mail can do.

    Raises:
        Forbidden: Nothing proved which session calls.
    """
    if not place.is_session:
        raise Forbidden(
            "your program does not say which session this is, so that no mailbox is yours",
            remedy="run it where a session is named, or use: restante inbox",
        )
