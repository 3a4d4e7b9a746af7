"""A checkpoint: a moment when an agent can look, and what is handed over then."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from restante.domain.session import Caller


class Moment(StrEnum):
    """When an agent can look."""

    SESSION_START = "session_start"
    PROMPT = "prompt"
    AFTER_TOOL = "after_tool"
    STOP = "stop"
    SESSION_END = "session_end"


@dataclass(frozen=True, slots=True)
class Checkpoint:
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


@dataclass(frozen=True, slots=True)
class Delivery:
    """What a checkpoint hands over.

    Attributes:
        text: For the model.
        holds: Whether the session's end is held up until the model has read it.
        message_ids: Which messages are in the text.
    """

    text: str
    holds: bool
    message_ids: tuple[str, ...]
