"""A receiver's own inbox as the reader needs it: one bounded read, private copies, nothing moved or followed."""

from __future__ import annotations

import fcntl
import hashlib
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from restante.domain.errors import NothingThere, StorageFailed, Unsafe
from restante.domain.text import one_line
from restante.stores.files import append_line, failure, read_file, sync, translated, write_all
from restante.stores.oacp.directory import Directory
from restante.stores.oacp.layout import AGENTS, ARCHIVE, INBOX, OUTBOX, PROJECTS
from restante.stores.oacp.names import AGENT
from restante.stores.oacp.reading import MOST_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from restante.ports import Clock
    from restante.stores.oacp.layout import Tree

LETTERS = "dead_letter"
_MOST_NAME = 180
_MOST_COPIES = 999
# Whoever floods an inbox with mail that is held must not fill the disk with copies of it.
_MOST_LETTERS = 5_000
_MOST_KEPT = 256 << 20
TRACE = "restante-not-kept.log"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class OwnInbox:
    """A ``ports.intake.Inbox``: that of one agent of a project.

    A reference is a file's name, or a path whose directory is this very inbox.

    Args:
        tree: The tree.
        project: The project.
        agent: Whose inbox.
        clock: The time.
    """

    def __init__(self, tree: Tree, project: str, agent: str, clock: Clock) -> None:
        tree.check_agent(project, agent)
        self._tree = tree
        self._names = (PROJECTS, project, AGENTS, agent)
        self._clock = clock

    def read(self, reference: str) -> bytes:
        """See the port."""
        with self._tree.open(*self._names, INBOX) as inbox:
            name = _name_in(inbox, reference)
            found = inbox.read(name, MOST_BYTES + 1)
        if found is None:
            raise NothingThere(f"{reference} does not wait", remedy="look at the inbox again")
        return found[0]

    def keep_snapshot(self, reference: str, raw: bytes) -> None:
        """See the port."""
        with translated(reference):
            try:
                fd = os.open(reference, _NEW, 0o600)
            except FileExistsError:
                raise Unsafe(f"{reference} exists; nothing is overwritten", remedy="name a new file") from None
            try:
                os.fchmod(fd, 0o600)
                write_all(fd, raw)
                sync(fd)
            except OSError:
                with suppress(OSError):
                    os.unlink(reference)
                raise
            finally:
                os.close(fd)

    def quarantine(self, reference: str, raw: bytes) -> str:
        """See the port."""
        with self._tree.open(*self._names) as agent, agent.make(LETTERS) as letters:
            return keep_evidence(letters, os.path.basename(reference), raw, self._clock)


def keep_evidence(letters: Directory, name: str, raw: bytes, clock: Clock) -> str:
    """Keep a private copy of a message in an open ``dead_letter``; the same bytes under the same name are kept once.

    Where there is as much as may be, a line about it is kept instead: the message itself stays where it is anyway.

    Returns:
        The path of the copy, or of the file with the line.

    Raises:
        StorageFailed: It cannot be written.
    """
    digest = hashlib.sha256(raw).hexdigest()
    # The digest in it keeps names apart that are cut here.
    stem = f"{os.fsdecode(os.fsencode(name)[:_MOST_NAME])}.{digest[:8]}."
    try:
        # On the directory itself: what lies in it is evidence, and nothing else.
        fcntl.flock(letters.fd, fcntl.LOCK_EX)
        for other in sorted(os.listdir(letters.fd)):
            if other.startswith(stem) and _holds(letters, other, raw):
                return letters.at(other)
        stamp = f"{clock.now():%Y%m%dT%H%M%SZ}"
        if _is_full(letters, len(raw)):
            return _traced(letters, f"{stamp} sha256 {digest} bytes {len(raw)} {one_line(name, _MOST_NAME)}", digest)
        return letters.at(_added(letters, f"{stem}{stamp}", raw))
    except OSError as error:
        raise failure(letters.path, error) from error


def _is_full(letters: Directory, size: int) -> bool:
    with os.scandir(letters.fd) as found:
        sizes = [one.stat(follow_symlinks=False).st_size for one in found]
    return len(sizes) >= _MOST_LETTERS or sum(sizes) + size > _MOST_KEPT


def _traced(letters: Directory, line: str, digest: str) -> str:
    """Note once that a message's bytes were not kept, as far as there is room for that."""
    path = letters.at(TRACE)
    known = read_file(path) or b""
    if digest.encode() not in known and len(known) < MOST_BYTES:
        append_line(path, line.encode() + b"\n", durable=True)
    return path


def _name_in(inbox: Directory, reference: str) -> str:
    """Return the name of a file of this directory.

    Raises:
        Unsafe: It is elsewhere, or no message's name.
    """
    place, name = os.path.split(reference)
    if not name.endswith(".yaml") or name.startswith("."):
        raise Unsafe(f"{reference} is no message: its name must end in .yaml")
    if place:
        with translated(reference):
            try:
                found = os.stat(place)
            except (FileNotFoundError, NotADirectoryError):
                found = None
            if found is None or not os.path.samestat(found, os.fstat(inbox.fd)):
                raise Unsafe(f"{reference} does not lie in {inbox.path}", remedy="read your own inbox's files only")
    return name


def _holds(letters: Directory, name: str, raw: bytes) -> bool:
    with suppress(StorageFailed, Unsafe):
        found = letters.read(name, len(raw) + 1)
        return found is not None and found[0] == raw
    return False


def _added(letters: Directory, name: str, raw: bytes) -> str:
    temporary = f".{os.getpid()}.{os.urandom(8).hex()}.tmp"
    fd = letters.write_new(temporary, raw)
    try:
        os.fchmod(fd, 0o600)
        for counter in range(_MOST_COPIES + 1):
            new = f"{name}.{counter}" if counter else name
            with suppress(FileExistsError):
                letters.link(temporary, letters, new)
                letters.sync()
                return new
    finally:
        os.close(fd)
        letters.drop(temporary)
    raise StorageFailed(f"{letters.at(name)}: {_MOST_COPIES} copies of that name", remedy="look through them")


def sent_elsewhere(tree: Tree, project: str, fields: Mapping[str, object], raw: bytes) -> str:
    """Return the name of another project in which a message was sent; empty where it was here, or nobody knows.

    A message says for whom it is, not in which project. The sender's own copy lies in the project where it was sent:
    a message whose copy lies in another project's outbox, and not in this one's, was carried here.

    Args:
        tree: The tree.
        project: Where the message was found.
        fields: The message.
        raw: Its bytes.
    """
    sender, stamp = str(fields.get("from")), "".join(c for c in str(fields.get("created_at_utc")) if c.isdecimal())
    stem = f"{stamp}_{sender}_{fields.get('type')}_"
    if _was_sent(tree, project, sender, stem, raw):
        return ""
    others = [one for one in tree.projects() if one != project]
    return next((one for one in others if _was_sent(tree, one, sender, stem, raw)), "")


def _was_sent(tree: Tree, project: str, sender: str, stem: str, raw: bytes) -> bool:
    if not AGENT.fullmatch(sender):
        return False
    try:
        with tree.open(PROJECTS, project, AGENTS, sender, OUTBOX) as outbox:
            names = [name for name in os.listdir(outbox.fd) if name.startswith(stem)]
            return any(_holds(outbox, name, raw) for name in names)
    except (NothingThere, Unsafe, StorageFailed, OSError):
        return False


def agent_directory_of(path: str) -> str:
    """Return the directory of the agent in whose inbox, or its archive, a message lies; empty for neither."""
    above = os.path.dirname(os.path.abspath(path))
    if os.path.basename(above) == ARCHIVE:
        above = os.path.dirname(above)
    return os.path.dirname(above) if os.path.basename(above) == INBOX else ""


def quarantine_in(agent_directory: str, name: str, raw: bytes, clock: Clock) -> str:
    """Keep a copy of a message in an agent's ``dead_letter``, as ``OwnInbox.quarantine`` does."""
    with Directory.open(agent_directory, ()) as agent, agent.make(LETTERS) as letters:
        return keep_evidence(letters, name, raw, clock)
