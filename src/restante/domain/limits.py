"""Caps on what a mailbox takes. Sizes count UTF-8 bytes, as they are on disk."""

from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import BadText, MailboxFull, TooLarge, UsageError

if TYPE_CHECKING:
    from restante.domain.message import Draft


# A client id is looked up by, in indexes that hold no more of one entry than a few kilobytes.
MOST_CLIENT_ID_BYTES = 256


class Limits(NamedTuple):
    """What one mailbox takes. ``None`` means no limit.

    Attributes:
        message_bytes: Largest body, in UTF-8 bytes.
        pending_messages: Most messages that may be pending at once.
        pending_bytes: Most bytes of pending bodies.
        sender_share: The part of the two above that one sender's pending messages may take, from 0 to 1.
    """

    message_bytes: int = 16_384
    pending_messages: int | None = None
    pending_bytes: int | None = None
    sender_share: float | None = None


def check_head(draft: "Draft", limits: Limits) -> None:
    """Refuse a draft whose head no home could keep: a line end in a line of it, or an expiry without a zone.

    Raises:
        BadText: A line holds a lone surrogate.
        TooLarge: A line is over the limit of a message, or the client id over its own.
        UsageError: As above; what is wrong is named.
    """
    for name in ("subject", "type", "conversation", "parent", "client_id"):
        line = getattr(draft, name)
        if not line:
            continue
        check_text(line, limits, what=name)
        if "\n" in line or "\r" in line:
            raise UsageError(f"{name} {line!r} has a line end", remedy="write it on one line")
    check_client_id(draft.client_id, limits)
    check_text(draft.sender.name, limits, what="sender")
    if draft.expires is not None and draft.expires.tzinfo is None:
        raise UsageError(f"expires {draft.expires.isoformat()} has no time zone", remedy="give a time with its zone")


def check_client_id(client_id: str, limits: Limits) -> None:
    """Refuse a client id of more than 256 bytes: the same in all homes, whatever they could keep.

    Raises:
        BadText: It holds a lone surrogate.
        TooLarge: It is longer.
    """
    size = check_text(client_id, limits, what="client_id")
    if size > MOST_CLIENT_ID_BYTES:
        raise TooLarge(
            f"client_id has {size:,} bytes, the limit is {MOST_CLIENT_ID_BYTES}",
            remedy="take a shorter name, for example a digest of the long one",
        )


def check_text(text: str, limits: Limits, *, what: str = "message") -> int:
    """Return the size of a text in UTF-8 bytes.

    Raises:
        BadText: The text holds a lone surrogate, which has no UTF-8 form.
        TooLarge: The text is over the limit; both numbers are named.
    """
    try:
        size = len(text) if text.isascii() else len(text.encode())
    except UnicodeEncodeError as error:
        raise BadText(
            f"{what}: character {error.start} is a lone surrogate (U+{ord(text[error.start]):04X}), which is not text",
            remedy="send text that is valid UTF-8",
        ) from None
    if size > limits.message_bytes:
        raise TooLarge(
            f"{what} has {size:,} bytes, the limit is {limits.message_bytes:,}",
            remedy="shorten it, or leave the long part in a file of the worktree and name that file",
        )
    return size


def check_room(
    limits: Limits, size: int, *, address: str, held: tuple[int, int], sender: str, of_sender: tuple[int, int]
) -> None:
    """Refuse a message that a mailbox, or its sender's share of it, has no room for.

    A sender of whose mail nothing is pending is never over its share: else a message that the mailbox takes could be
    refused for good.

    Args:
        limits: What the mailbox takes.
        size: Of the new body, in UTF-8 bytes.
        address: The mailbox, for the error.
        held: How many messages are pending in it, and their bytes.
        sender: Whose the new one is.
        of_sender: The same as ``held``, of this sender's alone.

    Raises:
        MailboxFull: As above; the text says which it is.
    """
    if not _fits(limits.pending_messages, limits.pending_bytes, held, size):
        raise MailboxFull(
            f"{address} holds {_words(held)}, which is all it may",
            remedy="wait until some are acknowledged"
            + (", or withdraw one of yours: restante withdraw ID" if of_sender[0] else ""),
        )
    if limits.sender_share is None or not of_sender[0]:
        return
    part = [None if most is None else int(most * limits.sender_share + 1e-9) for most in limits[1:3]]
    if not _fits(part[0], part[1], of_sender, size):
        raise MailboxFull(
            f"{_words(of_sender)} from {sender} in {address}, which is all that the share of one sender holds",
            remedy="wait until some of them are acknowledged, or withdraw one: restante withdraw ID",
        )


def _words(held: tuple[int, int]) -> str:
    # Only for who is refused: even to find it loaded takes longer than to look for room.
    from restante.domain.text import counted

    return f"{counted(held[0], 'pending message')} ({held[1]:,} bytes)"


def _fits(most: int | None, most_bytes: int | None, held: tuple[int, int], size: int) -> bool:
    return (most is None or held[0] < most) and (most_bytes is None or held[1] + size <= most_bytes)
