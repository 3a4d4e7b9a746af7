"""What a person fills in to leave a text somewhere, as it was typed."""

from datetime import datetime, timedelta
from typing import NamedTuple

from restante.domain.duration import instant_from, parse_duration
from restante.domain.errors import UsageError
from restante.domain.message import Draft, Priority, Scope, Sender


class Writing(NamedTuple):
    """A form; everything in it may be empty.

    Attributes:
        to: The address of a mailbox; a face may take what a session is called, too.
        text: The text.
        priority: How urgent it is; ``normal`` when empty.
        scope: What it is about; ``current_task`` when empty.
        subject: One line.
        conversation: Which conversation it belongs to.
        expires: When it stops being pending by itself, as ``90m`` or ``12h``; empty for the usual time.
        repeat: How often it is left again, as ``30m``; only in a worktree.
    """

    to: str = ""
    text: str = ""
    priority: str = ""
    scope: str = ""
    subject: str = ""
    conversation: str = ""
    expires: str = ""
    repeat: str = ""

    def draft(self, now: datetime) -> Draft:
        """Return the message.

        Raises:
            UsageError: Priority, scope or expiry is none.
        """
        expires = self.expires.strip()
        try:
            priority, scope = Priority(self.priority or "normal"), Scope(self.scope or "current_task")
        except ValueError:
            raise UsageError("priority or scope is not one of the list", remedy="choose one of the list") from None
        return Draft(
            self.text,
            Sender("human", True),
            priority=priority,
            scope=scope,
            subject=self.subject.strip(),
            conversation=self.conversation.strip(),
            expires=instant_from(expires, now, what="expiry") if expires else None,
        )

    @property
    def interval_ms(self) -> int | None:
        """How often it is left again, in milliseconds; ``None`` for once.

        Raises:
            UsageError: It is no duration.
        """
        every = self.repeat.strip()
        return parse_duration(every, what="interval") // timedelta(milliseconds=1) if every else None

    def check_once(self) -> None:
        """Check that it is not to be repeated.

        Raises:
            UsageError: It is.
        """
        if self.repeat.strip():
            raise UsageError("only what is left in a worktree can be repeated", remedy="leave the field empty")


class Left(NamedTuple):
    """What became of a text: where it is, under which id, and whether it had been there before."""

    name: str
    id: str
    duplicate: bool
