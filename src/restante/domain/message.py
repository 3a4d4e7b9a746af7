"""Message and Draft: who wrote, to whom, what, in answer to what. Both are frozen."""

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, TypeVar

from restante.domain.errors import UsageError

_Choice = TypeVar("_Choice", bound=StrEnum)


class Priority(StrEnum):
    """How urgent a message is; ``rank`` sorts the most urgent first."""

    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"

    @property
    def rank(self) -> int:
        """Place in a list that begins with the most urgent: 0, 1, 2."""
        return {"high": 0, "normal": 1, "low": 2}[self.value]


class Scope(StrEnum):
    """What a piece of guidance is about."""

    CURRENT_TASK = "current_task"
    WORKSPACE = "workspace"
    THREAD = "thread"
    QUESTION = "question"


class Sender(NamedTuple):
    """Who a message is from.

    Attributes:
        name: ``human``, or the name of a session or role.
        verified: Whether that was proven. A claim that was not proven never gains authority.
    """

    name: str = "human"
    verified: bool = False

    @property
    def label(self) -> str:
        """What a reader is told: the name, and that it was not proven where it was not. Not escaped."""
        return self.name if self.name == "human" or self.verified else f"{self.name} (unverified)"


class Draft(NamedTuple):
    """A message before the office gave it an id, a number and a time.

    Attributes:
        body: The text, kept byte for byte.
        sender: Who it is from.
        priority: How urgent it is.
        scope: What it is about.
        subject: One line, or empty.
        type: What kind of message it is; ``guidance`` when a person leaves it.
        conversation: Id of the conversation it belongs to, or empty.
        parent: Id of the message it answers, or empty.
        expires: When it stops being pending by itself; ``None`` for never.
        client_id: The sender's own name for it; posting twice under one name posts once.
    """

    body: str
    sender: Sender = Sender()
    priority: Priority = Priority.NORMAL
    scope: Scope = Scope.CURRENT_TASK
    subject: str = ""
    type: str = "guidance"
    conversation: str = ""
    parent: str = ""
    expires: datetime | None = None
    client_id: str = ""


class Message(NamedTuple):
    """What was posted. The attributes of ``Draft``, and what the office added.

    Attributes:
        id: See ``domain.ids``.
        number: Place in its mailbox, from 1; only ever grows. The newest unseen one is the high-water mark.
        mailbox: The address it was posted to, as text.
        created: When the office took it (UTC); time to live counts from here, never from a sender's clock.
    """

    id: str
    number: int
    mailbox: str
    created: datetime
    body: str
    sender: Sender = Sender()
    priority: Priority = Priority.NORMAL
    scope: Scope = Scope.CURRENT_TASK
    subject: str = ""
    type: str = "guidance"
    conversation: str = ""
    parent: str = ""
    expires: datetime | None = None
    client_id: str = ""


class Reply(NamedTuple):
    """The addressee's words on a message.

    Attributes:
        id: See ``domain.ids``.
        to: Id of the message it answers; empty when it answers none.
        created: When it was written (UTC); ``None`` when a hand-written one does not say.
        body: The text.
        sender: Who wrote it.
    """

    id: str
    to: str
    created: datetime | None
    body: str
    sender: Sender = Sender("agent")


def choose(choices: type[_Choice], text: str, *, what: str) -> _Choice:
    """Read one word of a closed list.

    Raises:
        UsageError: The word is not in the list; the list is named.
    """
    try:
        return choices(text)
    except ValueError:
        raise UsageError(
            f"unknown {what} {text!r}", remedy=f"use one of: {', '.join(one.value for one in choices)}"
        ) from None
