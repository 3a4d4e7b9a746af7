"""Putting a processed message into its inbox's archive: the same bytes under the same name, or not at all.

Nothing is copied, replaced or deleted. The file gets its second name, which must not exist, and then loses the first; a
kill between the two leaves one file with both names, which every reader of ours counts as archived and the next change
of that inbox finishes. Where a file cannot have two names, the second one is held for it by a file that says so, which
it then replaces: a kill between the two leaves that file, and the message where it was.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import stat
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import NothingThere, RestanteError, UsageError
from restante.stores.files import translated
from restante.stores.oacp.directory import NO_LINKS, Directory
from restante.stores.oacp.layout import AGENTS, ARCHIVE, INBOX, PROJECTS
from restante.stores.oacp.reading import MOST_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from restante.stores.oacp.layout import Tree


_HELD = b"restante: this name is held for a message that is moved here\n"


class Archived(NamedTuple):
    """A message that is in the archive, durably."""

    path: str


class Retained(NamedTuple):
    """A message that was left as it is."""

    reason: str


def archive_message(tree: Tree, project: str, agent: str, name: str, sha256: str) -> Archived | Retained:
    """Move a message into its inbox's archive.

    Args:
        tree: The tree.
        project: The project.
        agent: Whose inbox.
        name: The file's name.
        sha256: The digest of the bytes that were processed, in hexadecimal.
    """
    try:
        with tree.open(PROJECTS, project, AGENTS, agent, INBOX) as inbox:
            return move(inbox, name, sha256)
    except RestanteError as error:
        return Retained(error.message)


def archive(path: str, sha256: str) -> Archived | Retained:
    """Move the message at a path into the archive beside it; see ``archive_message``.

    Raises:
        UsageError: The path does not lie in an inbox.
    """
    place, name = os.path.split(os.path.abspath(path))
    above, inbox_name = os.path.split(place)
    if inbox_name != INBOX:
        raise UsageError(f"{path} does not lie in an inbox", remedy="name a file of an agent's inbox/")
    try:
        with Directory.open(above, (INBOX,)) as inbox:
            return move(inbox, name, sha256)
    except RestanteError as error:
        return Retained(error.message)


def move(inbox: Directory, name: str, sha256: str) -> Archived | Retained:
    """Move a message of an open inbox into its archive; see ``archive_message``."""
    if not name.endswith(".yaml") or "/" in name or name.startswith("."):
        return Retained(f"{name!r} is not the name of a message's file")
    try:
        shelf = inbox.inside(ARCHIVE)
    except NothingThere:
        return Retained("archive/ is missing")
    except RestanteError as error:
        return Retained(f"archive/ is not a real directory: {error.message}")
    with shelf, held(shelf):
        try:
            return transfer(inbox, shelf, name, sha256.lower())
        except OSError as error:
            return Retained(f"move failed: {error.strerror or error}")


@contextmanager
def held(shelf: Directory) -> Iterator[None]:
    """Keep other movers out of an archive; where a directory cannot be locked, they are not kept out."""
    with suppress(OSError):
        fcntl.flock(shelf.fd, fcntl.LOCK_EX)
    try:
        yield
    finally:
        with suppress(OSError):
            fcntl.flock(shelf.fd, fcntl.LOCK_UN)


def end_moves(inbox: Directory, found: list[tuple[str, os.stat_result]] | None = None) -> None:
    """Take the first name from the files of an inbox that killed movers left with two, one of them in the archive.

    Args:
        inbox: The inbox, open.
        found: Where to look, if not at all of it.

    Raises:
        StorageFailed: A name cannot be removed.
    """
    left = [one for one in (inbox.messages() if found is None else found) if one[1].st_nlink > 1]
    if not left:
        return
    try:
        shelf = inbox.inside(ARCHIVE)
    except NothingThere:
        return
    with shelf, held(shelf):
        for name, status in left:
            there, here = shelf.status(name), inbox.status(name)
            if there and here and _is_one(there, status) and _is_one(here, status):
                with translated(inbox.at(name)):
                    shelf.sync()
                    os.unlink(name, dir_fd=inbox.fd)
                    inbox.sync()


def transfer(inbox: Directory, shelf: Directory, name: str, wanted: str) -> Archived | Retained:
    """Move a message of an open directory into another, in steps that a kill leaves consistent.

    Raises:
        OSError: A step failed; the message still stands where it was.
    """
    if reason := obstacle(inbox, shelf, name, wanted):
        return Retained(reason)
    source, there = inbox.status(name), shelf.status(name)
    if source is None:
        return Retained("source missing or not a regular file")
    is_new = there is None or not _is_one(there, source)
    if is_new:
        _put(inbox, shelf, name)
        shelf.sync()
    # Whoever put another file in the source's place meanwhile had it moved, or keeps it where it is.
    moved, now = shelf.status(name), inbox.status(name)
    if moved is None or not _is_one(moved, source) or digest(shelf, name) != wanted:
        if is_new and moved is not None:
            _take_back(inbox, shelf, name, moved, now)
        return Retained("the source changed while it was moved")
    if now is not None and not _is_one(now, source):
        return Retained("another file took the source's place while it was moved")
    if now is not None:
        os.unlink(name, dir_fd=inbox.fd)
    inbox.sync()
    return Archived(shelf.at(name))


def _put(inbox: Directory, shelf: Directory, name: str) -> None:
    """Give a file its name in the archive, which nothing has: a second one, or where that cannot be its only one."""
    if _is_held(shelf, name):
        shelf.drop(name)
    try:
        os.link(name, name, src_dir_fd=inbox.fd, dst_dir_fd=shelf.fd, follow_symlinks=False)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise
        os.close(shelf.write_new(name, _HELD))
        try:
            os.rename(name, name, src_dir_fd=inbox.fd, dst_dir_fd=shelf.fd)
        except OSError:
            shelf.drop(name)
            raise


def _take_back(
    inbox: Directory, shelf: Directory, name: str, moved: os.stat_result, now: os.stat_result | None
) -> None:
    """Undo a move of what turned out to be another file, unless its name is taken by now."""
    if now is None:
        os.rename(name, name, src_dir_fd=shelf.fd, dst_dir_fd=inbox.fd)
    elif _is_one(moved, now):
        shelf.drop(name)


def _is_held(shelf: Directory, name: str) -> bool:
    """Whether a name is held for a file that a killed mover had not got there."""
    with suppress(RestanteError):
        found = shelf.read(name, len(_HELD) + 1)
        return found is not None and found[0] == _HELD
    return False


def obstacle(inbox: Directory, shelf: Directory, name: str, wanted: str) -> str:
    """Return why a message would stay where it is; empty where nothing stands in its way."""
    source, there = inbox.status(name), shelf.status(name)
    if source is None or not stat.S_ISREG(source.st_mode):
        return "source missing or not a regular file"
    if digest(inbox, name) != wanted:
        return "digest drift; verify it again before another attempt"
    # One file with both names is what a killed archiver left, or a name that it held.
    if there is not None and not _is_one(there, source) and not _is_held(shelf, name):
        return "destination exists; history is never replaced"
    return ""


def obstacle_to(inbox: Directory, name: str, wanted: str) -> str:
    """Return why a message could not be archived; empty where nothing stands in its way."""
    try:
        with inbox.inside(ARCHIVE) as shelf:
            return obstacle(inbox, shelf, name, wanted)
    except RestanteError as error:
        return error.message


def digest(directory: Directory, name: str) -> str:
    """Return the SHA-256 of a message's file in hexadecimal; empty where it cannot be read whole."""
    try:
        found = directory.read(name, MOST_BYTES + 1)
    except RestanteError:
        return ""
    return hashlib.sha256(found[0]).hexdigest() if found and len(found[0]) <= MOST_BYTES else ""


def _is_one(one: os.stat_result, other: os.stat_result) -> bool:
    return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
