"""What a sender says becomes a message whose bytes are proven to arrive as they were meant, before any is written."""

from __future__ import annotations

import os
from datetime import UTC, timedelta
from typing import TYPE_CHECKING, NamedTuple

from restante.autonomy.vocabulary import MESSAGE_TYPES
from restante.domain.errors import NothingThere, Refused, UsageError
from restante.stores.oacp.names import AGENT, NAME_HELP, SUFFIX, UNITS
from restante.stores.oacp.reading import MOST_BYTES
from restante.stores.oacp.rendering import render
from restante.stores.oacp.threads import conversation_of
from restante.stores.oacp.validating import validate

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from restante.stores.oacp.layout import Tree

# The person who uses the tree: the only sender that needs no place in it, and then keeps no copy.
PERSON = "human"


class Letter(NamedTuple):
    """What a sender says; see the format for what each may be.

    Attributes:
        sender: The agent it is from.
        to: The agents it is for, 1 to 10.
        type: One of the twelve types.
        subject: One line.
        body: The text, which arrives as it is.
        priority: ``P0`` to ``P3``.
        expires: When it is to be passed over; ``None`` for never. Whole seconds, rounded up.
        channel: A channel, or empty.
        autonomy_hint: Empty or ``auto_proceed``.
        related_packet: Any text, or empty.
        related_pr: Digits, or empty.
        conversation: The conversation's id, or empty.
        parent: Id of the message it answers, or empty.
        inherits: Whether the parent's conversation is looked up and gone on with.
        context_keys: Any text, or empty.
        suffix: What the file's name ends with, or empty.
    """

    sender: str
    to: tuple[str, ...]
    type: str
    subject: str
    body: str
    priority: str = "P2"
    expires: datetime | None = None
    channel: str = ""
    autonomy_hint: str = ""
    related_packet: str = ""
    related_pr: str = ""
    conversation: str = ""
    parent: str = ""
    inherits: bool = False
    context_keys: str = ""
    suffix: str = ""


class Prepared(NamedTuple):
    """A message that may be delivered.

    Attributes:
        project: The project it is for.
        name: Its file's name.
        raw: Its bytes, signed where it was to be.
        fields: What it says.
        warnings: What the sender should know.
    """

    project: str
    name: str
    raw: bytes
    fields: dict[str, str | list[str]]
    warnings: tuple[str, ...] = ()


def parse_expiry(text: str, now: datetime) -> datetime:
    """Return when a message expires that is to live for ``<n>m``, ``<n>h`` or ``<n>d``.

    Raises:
        UsageError: It is no such text, or no calendar goes that far.
    """
    count, unit = text[:-1], text[-1:]
    if unit not in UNITS or unit == "s" or not (count.isascii() and count.isdigit()):
        raise UsageError(f"{text!r} is not a time to live", remedy="write for example 30m, 12h or 7d")
    try:
        return now + timedelta(seconds=int(count) * UNITS[unit]) if len(count) < 12 else now + timedelta.max
    except OverflowError:
        raise UsageError(f"{text!r} is longer than any calendar", remedy="give a shorter one") from None


def prepare(
    tree: Tree,
    project: str,
    letter: Letter,
    *,
    now: datetime,
    sign: Callable[[bytes], bytes] | None = None,
    accept: Callable[[bytes], bool] | None = None,
    random: Callable[[int], bytes] = os.urandom,
) -> Prepared:
    """Make a message, prove that it arrives as it is, and write nothing.

    Args:
        tree: The tree.
        project: The project.
        letter: What is to be said.
        now: When it is sent.
        sign: Returns the bytes with a signature behind them.
        accept: Whether the bytes of a message in the sender's inbox may be believed, when its thread is looked up.
        random: Where chance comes from.

    Raises:
        NothingThere: The project, the sender or a recipient is unknown.
        UsageError: A name or a type is none.
        Refused: The format cannot hold it; every reason is named.
        BadText: A text holds a lone surrogate.
    """
    _check_people(tree, project, letter)
    if letter.suffix and not SUFFIX.fullmatch(letter.suffix):
        raise UsageError(f"{letter.suffix!r} is not a suffix", remedy=NAME_HELP)
    conversation, warnings = _thread(tree, project, letter, accept)
    if not conversation and (letter.inherits or not letter.parent):
        conversation = fresh_conversation(letter.sender, now, random)
    fields = _fields(letter, now, conversation, random(8).hex())
    raw = render(fields)
    if sign:
        raw = sign(raw)
    said: dict[str, object] = {name: value for name, value in fields.items() if value}
    problems = validate(said | _auth(raw), raw)
    if len(raw) > MOST_BYTES:
        problems.append(f"it has {len(raw):,} bytes, a message may have {MOST_BYTES:,}")
    if problems:
        raise Refused(
            "; ".join(problems), remedy="change what is named", details=tuple({"problem": one} for one in problems)
        )
    suffix = f"_{letter.suffix}" if letter.suffix else ""
    name = f"{now.astimezone(UTC):%Y%m%d%H%M%S}_{letter.sender}_{letter.type}_{random(8).hex()}{suffix}.yaml"
    return Prepared(project, name, raw, fields, warnings)


def fresh_conversation(sender: str, now: datetime, random: Callable[[int], bytes]) -> str:
    """Return the id of a new conversation: by the date, whoever opens it, and 67 bits of chance."""
    drawn = random(9)
    number = int.from_bytes(drawn[6:], "big") % 1_000_000
    return f"conv-{now.astimezone(UTC):%Y%m%d}-{sender[:51]}-{drawn[:6].hex()}-{number:06}"


def _check_people(tree: Tree, project: str, letter: Letter) -> None:
    if not letter.to:
        raise UsageError("no recipient is named", remedy="name 1 to 10 agents")
    for one in (letter.sender, *letter.to):
        if not AGENT.fullmatch(one):
            raise UsageError(f"{one!r} is not the name of an agent", remedy=NAME_HELP)
    if letter.type not in MESSAGE_TYPES:
        raise UsageError(f"unknown type {letter.type!r}", remedy=f"use one of: {', '.join(MESSAGE_TYPES)}")
    for one in letter.to:
        tree.check_agent(project, one)
    if letter.sender != PERSON:
        tree.check_agent(project, letter.sender)


def keeps_copies(tree: Tree, project: str, sender: str) -> bool:
    """Whether a sender has an outbox: a person needs no place in the tree."""
    try:
        tree.check_agent(project, sender)
    except NothingThere:
        return False
    return True


def _thread(
    tree: Tree, project: str, letter: Letter, accept: Callable[[bytes], bool] | None
) -> tuple[str, tuple[str, ...]]:
    """Return the conversation to go on with, empty for a fresh one, and what the sender should know of it."""
    if letter.conversation or not (letter.parent and letter.inherits):
        return letter.conversation, ()
    found = None
    if keeps_copies(tree, project, letter.sender):
        found = conversation_of(tree, project, letter.sender, letter.parent, accept=accept)
    if found is None:
        return "", (
            f"message {letter.parent!r} was not found in {letter.sender}'s inbox, outbox or archive; "
            "a new conversation begins",
        )
    return found, ()


def _fields(letter: Letter, now: datetime, conversation: str, token: str) -> dict[str, str | list[str]]:
    at = now.astimezone(UTC)
    return {
        "id": f"msg-{at:%Y%m%d%H%M%S}-{letter.sender}-{token}",
        "from": letter.sender,
        "to": letter.to[0] if len(letter.to) == 1 else [*letter.to],
        "type": letter.type,
        "priority": letter.priority,
        "created_at_utc": f"{at:%Y-%m-%dT%H:%M:%SZ}",
        "expires_at": second_text(letter.expires),
        "channel": letter.channel,
        "autonomy_hint": letter.autonomy_hint,
        "related_packet": letter.related_packet,
        "related_pr": letter.related_pr,
        "conversation_id": conversation,
        "parent_message_id": letter.parent,
        "context_keys": letter.context_keys,
        "subject": letter.subject,
        "body": letter.body,
    }


def second_text(time: datetime | None) -> str:
    """Return an instant as the format writes it, a begun second as the next one; empty for none."""
    if time is None:
        return ""
    up = time.astimezone(UTC) + timedelta(seconds=1 if time.microsecond else 0)
    return f"{up.replace(microsecond=0):%Y-%m-%dT%H:%M:%SZ}"


def _auth(raw: bytes) -> dict[str, str]:
    from restante.stores.oacp.trailer import split_trailer

    trailer = split_trailer(raw)
    return {"auth": trailer.value} if trailer.state == "ok" else {}
