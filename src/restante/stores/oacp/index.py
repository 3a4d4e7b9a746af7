"""What waits in an inbox, in the order of work, without reading again what was read before.

The index is a file of ours, ``projects/<project>/state/restante/<agent>/index``: a line for each message file with its
size, time and inode, and what it said, in the order of work. Whoever deletes it loses nothing; where it cannot be
written there is none.
"""

from __future__ import annotations

import gc
import os
import re
from contextlib import contextmanager, suppress
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import RestanteError
from restante.stores.files import read_file, replace
from restante.stores.oacp.layout import ARCHIVE, INBOX, OURS, PROJECTS, STATE
from restante.stores.oacp.names import place_of
from restante.stores.oacp.reading import MOST_BYTES, NotYaml, read_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from restante.stores.oacp.directory import Directory
    from restante.stores.oacp.layout import Tree

INDEX = "index"
_FORM = "restante index 1"
_SIGNS = {"\\": "\\", "t": "\t", "n": "\n"}
_PLAIN = re.compile(r"\\([\\tn])")
# Reading so few files again costs less than writing the index.
_FEW = 32


class Summary(NamedTuple):
    """What one file of an inbox says; fields that it lacks are empty.

    Attributes:
        name: The file's name.
        id: The message's id.
        sender: Its ``from``.
        to: Its recipients, with ``, `` between them.
        type: Its type.
        priority: ``P0`` to ``P3``.
        subject: Its subject.
        created: Its ``created_at_utc``.
        expires: Its ``expires_at``.
        conversation: Its ``conversation_id``.
        parent: Its ``parent_message_id``.
        channel: Its channel.
        error: Why it cannot be read; empty where it can.
        standing: What ``Examine`` said of it.
        stamp: The file's size, time and inode.
    """

    name: str
    id: str = ""
    sender: str = ""
    to: str = ""
    type: str = ""
    priority: str = ""
    subject: str = ""
    created: str = ""
    expires: str = ""
    conversation: str = ""
    parent: str = ""
    channel: str = ""
    error: str = ""
    standing: str = ""
    stamp: str = ""

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return int(self.stamp.split(" ")[0] or "0")

    @property
    def modified(self) -> int:
        """The file's time, in nanoseconds since 1970."""
        return int(self.stamp.split(" ")[1])


class Examine(NamedTuple):
    """A look at a message's bytes before anything else reads them.

    Attributes:
        key: Changes whenever the same bytes could be judged otherwise.
        judge: Returns a word that is kept with the message, and whether its fields may be shown.
    """

    key: str
    judge: Callable[[bytes], tuple[str, bool]]


def list_inbox(tree: Tree, project: str, agent: str, *, examine: Examine | None = None) -> list[Summary]:
    """Return what is pending in an inbox: P0, P1, then the rest; work before news; the oldest first.

    Files that vanish meanwhile are passed over; what cannot be read comes last of its priority, with the reason.

    Raises:
        NothingThere: The project, the agent or its inbox is unknown.
        Unsafe: A part of the way is a symbolic link.
        StorageFailed: It cannot be read.
    """
    place = tree.path(PROJECTS, project, STATE, OURS, agent, INDEX)
    key = examine.key if examine else ""
    with tree.open_agent(project, agent, INBOX) as inbox, _without_collector():
        known = _load(tree, project, agent, place, key)
        names = set(inbox.names())
        # Only what changed is put in its place; the rest was written down in order.
        kept = list(_unchanged(inbox, [one for one in known if one.name in names]))
        others = names.difference([one.name for one in kept])
        news = [
            summary
            for name, status in pending(inbox, inbox.messages(others))
            if (summary := _summary(inbox, name, stamp_of(status), examine))
        ]
    found = in_order(kept + news) if news else kept
    if len(news) > _FEW or len(news) * 4 > len(found) or len(known) > 2 * len(found) + _FEW:
        _save(tree, project, agent, key, found)
    return found


@contextmanager
def _without_collector() -> Iterator[None]:
    """Let the collector of cycles rest: it would look over thousands of rows again and again, which hold only text."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _unchanged(inbox: Directory, known: Iterable[Summary]) -> Iterator[Summary]:
    """Yield what is as it was read, and not archived: most of what a look costs that finds nothing new."""
    look, place = os.stat, inbox.fd
    for one in known:
        try:
            status = look(one.name, dir_fd=place, follow_symlinks=False)
        except OSError:
            continue
        # As ``stamp_of`` says it.
        is_same = f"{status.st_size} {status.st_mtime_ns} {status.st_ino}" == one.stamp
        if is_same and (status.st_nlink < 2 or not _is_archived(inbox, one.name, status)):
            yield one


def stamp_of(status: os.stat_result) -> str:
    """Return what changes whenever a file does: its size, time and inode."""
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ino}"


def in_order(found: Iterable[Summary]) -> list[Summary]:
    """Return summaries in the order in which a receiver works."""
    return sorted(found, key=lambda one: place_of(one.name, one.priority, one.type))


def pending(
    inbox: Directory, found: list[tuple[str, os.stat_result]] | None = None
) -> list[tuple[str, os.stat_result]]:
    """Return name and status of the files of an inbox that are not archived, or of those of them that were found.

    A file that has a second name may be one that a killed archiver had linked into the archive already.
    """
    return [
        one
        for one in (inbox.messages() if found is None else found)
        if one[1].st_nlink < 2 or not _is_archived(inbox, *one)
    ]


def _is_archived(inbox: Directory, name: str, status: os.stat_result) -> bool:
    with suppress(RestanteError), inbox.inside(ARCHIVE) as archive:
        other = archive.status(name)
        return other is not None and (other.st_dev, other.st_ino) == (status.st_dev, status.st_ino)
    return False


def _summary(inbox: Directory, name: str, stamp: str, examine: Examine | None) -> Summary | None:
    try:
        # One byte more than a message may have is enough to refuse it.
        read = inbox.read(name, MOST_BYTES + 1)
    except RestanteError as error:
        return Summary(name, error=error.message, stamp=stamp)
    if read is None:
        return None
    raw, status = read
    known = Summary(name, stamp=stamp_of(status))
    if examine:
        standing, is_shown = examine.judge(raw)
        known = known._replace(standing=standing)
        if not is_shown:
            return known
    return summarize(raw, known)


def summarize(raw: bytes, known: Summary) -> Summary:
    """Return a summary with what a message's bytes say."""
    try:
        fields = read_fields(raw)
    except NotYaml as error:
        return known._replace(error=error.message)
    text = {name: value for name, value in fields.items() if isinstance(value, str)}
    get = text.get
    to = fields.get("to", "")
    return Summary(
        known.name,
        get("id", ""),
        get("from", ""),
        to if isinstance(to, str) else ", ".join(map(str, to)) if isinstance(to, list) else "",
        get("type", ""),
        get("priority", ""),
        get("subject", ""),
        get("created_at_utc", ""),
        get("expires_at", ""),
        get("conversation_id", ""),
        get("parent_message_id", ""),
        get("channel", ""),
        "",
        *known[-2:],
    )


def _load(tree: Tree, project: str, agent: str, place: str, key: str) -> list[Summary]:
    try:
        tree.open(PROJECTS, project, STATE, OURS, agent).close()
        data = read_file(place) or b""
        head, *lines = data.decode().split("\n")
        if head != f"{_FORM} {key}" or lines.pop():
            return []
        split = map(_fields, lines) if b"\\" in data else map(str.split, lines, repeat("\t"))
        return list(map(Summary._make, split))
    except (RestanteError, ValueError, TypeError, IndexError):
        # Not ours, torn, or of another time: it is made again.
        return []


def _fields(line: str) -> list[str]:
    """Return the fields of a line in which some character may be written with a backslash."""
    fields = line.split("\t")
    return [_PLAIN.sub(lambda one: _SIGNS[one[1]], field) for field in fields] if "\\" in line else fields


def _escaped(field: str) -> str:
    if field.isprintable() and "\\" not in field:
        return field
    return field.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def _save(tree: Tree, project: str, agent: str, key: str, found: list[Summary]) -> None:
    lines = [f"{_FORM} {key}", *("\t".join(map(_escaped, one)) for one in found), ""]
    with suppress(RestanteError):
        make_ours(tree, project, agent)
        place = tree.path(PROJECTS, project, STATE, OURS, agent, INDEX)
        replace(place, "\n".join(lines).encode(errors="replace"), durable=False)


def make_ours(tree: Tree, project: str, agent: str) -> None:
    """Make the directory of ours for an agent; raises as ``Directory.make``."""
    with tree.open(PROJECTS, project) as place, place.make(STATE) as state, state.make(OURS) as ours:
        ours.make(agent).close()
