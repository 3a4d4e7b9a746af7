"""Sending: what is written is proven first, and stands in every inbox and in the outbox, or nowhere.

A message is first written whole as an *intent*, ``projects/<project>/state/restante/.sending/<file name>``, durably;
then it is put into the inboxes in the order of ``to``, and last the intent itself becomes the outbox's copy. Whoever is
killed on the way leaves the intent. The next one to send there finds that nobody holds its lock, and finishes what had
begun: if any recipient has the message, all get it and the outbox too; if none has, it was never sent.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from datetime import UTC, timedelta
from typing import TYPE_CHECKING, NamedTuple, cast

from restante.autonomy.vocabulary import MESSAGE_TYPES
from restante.domain.errors import NothingThere, Refused, RestanteError, UsageError
from restante.stores.files import failure
from restante.stores.oacp.layout import AGENTS, ARCHIVE, INBOX, OURS, OUTBOX, PROJECTS, STATE
from restante.stores.oacp.names import AGENT, NAME_HELP, SUFFIX, UNITS
from restante.stores.oacp.reading import MOST_BYTES, NotYaml, read_fields
from restante.stores.oacp.rendering import render
from restante.stores.oacp.threads import conversation_of
from restante.stores.oacp.validating import validate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from restante.stores.oacp.directory import Directory
    from restante.stores.oacp.layout import Tree

# No agent is called so: the directory stands beside those of agents.
SENDING = ".sending"
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


class Delivered(NamedTuple):
    """Where a message is now.

    Attributes:
        inboxes: Its path in each recipient's inbox, in the order of ``to``.
        outbox: The path of the sender's copy; empty where a person who has no place in the tree sent it.
    """

    inboxes: tuple[str, ...]
    outbox: str


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


def deliver(
    tree: Tree, prepared: Prepared, *, commit: Callable[[], None] | None = None, mailbox: str = ""
) -> Delivered:
    """Put a message into every inbox and the outbox, durably, or nowhere.

    Args:
        tree: The tree.
        prepared: The message.
        commit: Called once the message is sure to be delivered unless this fails, to note what belongs to it. What it
            raises takes the message back.
        mailbox: The agent whose mailbox keeps the intent, and mends it; empty for the project's.

    Raises:
        StorageFailed: It stands nowhere.
        Unsafe: A part of the way is a symbolic link.
    """
    if not mailbox:
        mend(tree, prepared.project)
    with _sending(tree, prepared.project, mailbox) as sending:
        fd = -1
        try:
            fd = _intend(sending, prepared)
            if commit:
                commit()
            _distribute(tree, prepared, sending, _recipients(prepared.fields))
        except OSError as error:
            raise failure(sending.at(prepared.name), error) from error
        finally:
            sending.drop(prepared.name)
            if fd >= 0:
                os.close(fd)
    return _places(tree, prepared)


def _intend(sending: Directory, prepared: Prepared) -> int:
    """Write the intent and return it open and locked: a mender takes what is locked for a live sender's."""
    hidden = f".{prepared.name}.{os.urandom(3).hex()}"
    fd = sending.write_new(hidden, prepared.raw)
    try:
        # Locked before it has the name that menders look for. Filesystems without locks have no menders either.
        with suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_EX)
        os.rename(hidden, prepared.name, src_dir_fd=sending.fd, dst_dir_fd=sending.fd)
        sending.sync()
    except BaseException:
        sending.drop(hidden)
        os.close(fd)
        raise
    return fd


def mend(tree: Tree, project: str, mailbox: str = "", *, promised: Callable[[str], bool] = lambda _: False) -> int:
    """Finish what killed senders left in a project; return how much that was.

    Args:
        tree: The tree.
        project: The project.
        mailbox: As in ``deliver``.
        promised: Whether a message of this file name is to be delivered although nobody has it yet.
    """
    try:
        sending = tree.open(PROJECTS, project, STATE, OURS, *([mailbox] if mailbox else []), SENDING)
    except RestanteError:
        return 0
    with sending:
        sending.sweep()
        return sum(_mend(tree, project, sending, name, promised=promised(name)) for name, _ in sending.messages())


def _mend(tree: Tree, project: str, sending: Directory, name: str, *, promised: bool) -> bool:
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=sending.fd)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if sending.status(name) is None:
            return False
        # What is no message was cut by a power loss, before anything was told.
        with suppress(NotYaml):
            _finish(tree, project, sending, name, promised=promised)
        sending.drop(name)
    except (OSError, RestanteError):
        return False
    finally:
        os.close(fd)
    return True


def _finish(tree: Tree, project: str, sending: Directory, name: str, *, promised: bool) -> None:
    found = sending.read(name, MOST_BYTES)
    if found is None:
        return
    fields = cast("dict[str, str | list[str]]", read_fields(found[0]))
    to = _recipients(fields)
    have = [place for place, agent in enumerate(to) if _has(tree, project, agent, name)]
    for agent in to:
        with tree.open_agent(project, agent, INBOX) as inbox:
            inbox.sweep(f".{name}.")
    if have or promised:
        # They were served in order: whoever comes before one that has it had it too, and may be done with it.
        _distribute(tree, Prepared(project, name, found[0], fields), sending, to[have[-1] + 1 :] if have else to)


def _has(tree: Tree, project: str, agent: str, name: str) -> bool:
    with suppress(NothingThere), tree.open(PROJECTS, project, AGENTS, agent, INBOX) as inbox:
        if inbox.status(name):
            return True
        with suppress(NothingThere), inbox.inside(ARCHIVE) as archive:
            return archive.status(name) is not None
    return False


def _distribute(tree: Tree, prepared: Prepared, sending: Directory, to: Sequence[str]) -> None:
    """Give everybody a copy of their own, first under a hidden name, then all under the message's."""
    ready: list[tuple[Directory, str]] = []
    given: list[Directory] = []
    temporary = f".{prepared.name}.tmp-{os.getpid()}-{os.urandom(3).hex()}"
    try:
        for agent in to:
            inbox = tree.open_agent(prepared.project, agent, INBOX)
            ready.append((inbox, temporary))
            os.close(inbox.write_new(temporary, prepared.raw))
        for inbox, hidden in ready:
            inbox.link(hidden, inbox, prepared.name)
            given.append(inbox)
            inbox.drop(hidden)
            inbox.sync()
        _file(tree, prepared, sending)
    except BaseException:
        for inbox in given:
            inbox.drop(prepared.name)
        raise
    finally:
        for inbox, hidden in ready:
            inbox.drop(hidden)
            inbox.close()


def _file(tree: Tree, prepared: Prepared, sending: Directory) -> None:
    """Make the intent the outbox's copy."""
    sender = str(prepared.fields["from"])
    if not _keeps_copies(tree, prepared.project, sender):
        return
    with tree.open(PROJECTS, prepared.project, AGENTS, sender) as agent, agent.make(OUTBOX) as outbox:
        # It may be there, by a sender that was killed right after: no other message has this name.
        with suppress(FileExistsError):
            sending.link(prepared.name, outbox, prepared.name)
            os.chmod(prepared.name, outbox.file_mode(), dir_fd=outbox.fd)
        outbox.sync()


def _sending(tree: Tree, project: str, mailbox: str) -> Directory:
    with tree.open(PROJECTS, project) as place, place.make(STATE) as state, state.make(OURS) as ours:
        if not mailbox:
            return ours.make(SENDING)
        with ours.make(mailbox) as agent:
            return agent.make(SENDING)


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


def _keeps_copies(tree: Tree, project: str, sender: str) -> bool:
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
    if _keeps_copies(tree, project, letter.sender):
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


def _recipients(fields: dict[str, str | list[str]]) -> list[str]:
    to = fields["to"]
    return [to] if isinstance(to, str) else list(dict.fromkeys(to))


def _places(tree: Tree, prepared: Prepared) -> Delivered:
    sender = str(prepared.fields["from"])
    base = (PROJECTS, prepared.project, AGENTS)
    return Delivered(
        tuple(tree.path(*base, agent, INBOX, prepared.name) for agent in _recipients(prepared.fields)),
        tree.path(*base, sender, OUTBOX, prepared.name) if _keeps_copies(tree, prepared.project, sender) else "",
    )
