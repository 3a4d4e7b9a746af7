"""A checkpoint: a moment when an agent can look, and what is handed over then."""

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.session import Caller

if TYPE_CHECKING:
    from datetime import datetime


class Moment(StrEnum):
    """When an agent can look."""

    SESSION_START = "session_start"
    PROMPT = "prompt"
    AFTER_TOOL = "after_tool"
    STOP = "stop"
    SESSION_END = "session_end"


class Checkpoint(NamedTuple):
    """One moment of one session.

    Attributes:
        moment: Which.
        caller: The session.
        already_held: Whether this end was held up before, as the agent program tells.
        other_holds: Whether another mailbox program's hook holds ends in this worktree.
    """

    moment: Moment
    caller: Caller
    already_held: bool = False
    other_holds: bool = False


class Manner(NamedTuple):
    """How a checkpoint shows mail.

    Attributes:
        max_bytes: Most UTF-8 bytes of one showing.
        show_again: How long a message that stays unacknowledged is not shown again.
        command: How an agent calls Restante.
        names: What the sessions that wrote are called, by their addresses.
    """

    max_bytes: int
    show_again: timedelta
    command: str = "restante"
    names: Mapping[str, str] = MappingProxyType({})


class Delivery(NamedTuple):
    """What a checkpoint hands over.

    Attributes:
        text: For the model.
        holds: Whether the session's end is held up until the model has read it.
        message_ids: Which messages are in the text.
    """

    text: str
    holds: bool
    message_ids: tuple[str, ...]


class Shown:
    """What one session was shown of one mailbox. Changed in place while its notebook page is open.

    Attributes:
        times: When each message was last shown, by id.
        held: Ids for which the session's end was held up once.
    """

    __slots__ = ("held", "times")

    def __init__(self, times: "dict[str, datetime] | None" = None, held: set[str] | None = None) -> None:
        self.times = {} if times is None else times
        self.held = set() if held is None else held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shown) and (self.times, self.held) == (other.times, other.held)

    __hash__ = None  # type: ignore[assignment]
