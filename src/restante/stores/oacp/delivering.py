"""Delivering: a message stands in every inbox and in the outbox, durably, or nowhere.

It is first written whole as an *intent*, ``projects/<project>/state/restante/.sending/<file name>``, and under a hidden
name into each inbox; when all that is on the disk, it gets its name in the inboxes in the order of ``to``, and last the
intent itself becomes the outbox's copy. Whoever is killed on the way, or loses power, leaves the intent: in one of the
two places it always is. The next one to send there finds that nobody holds its lock, and finishes what had begun: if
any recipient has the message, all get it and the outbox too; if none has, it was never sent.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, NamedTuple, Self, cast

from restante.domain.errors import NothingThere, RestanteError, UsageError
from restante.stores.files import failure
from restante.stores.oacp.layout import AGENTS, ARCHIVE, INBOX, OURS, OUTBOX, PROJECTS, STATE
from restante.stores.oacp.names import AGENT, NAME_HELP
from restante.stores.oacp.posting import Prepared, keeps_copies
from restante.stores.oacp.reading import MOST_BYTES, NotYaml, read_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from restante.stores.oacp.directory import Directory
    from restante.stores.oacp.layout import Tree

# No agent is called so: the directory stands beside those of agents.
SENDING = ".sending"


class Delivered(NamedTuple):
    """Where a message is now.

    Attributes:
        inboxes: Its path in each recipient's inbox, in the order of ``to``.
        outbox: The path of the sender's copy; empty where a person who has no place in the tree sent it.
    """

    inboxes: tuple[str, ...]
    outbox: str


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
    to = _recipients(prepared.fields)
    with _sending(tree, prepared.project, mailbox) as sending:
        if not mailbox:
            _mend_all(tree, prepared.project, sending, lambda _: False)
        fd = -1
        try:
            fd = _intend(sending, prepared)
            with _Copies(tree, prepared, to) as copies:
                # Only now, with what was written into the inboxes: a journal takes both in one go.
                sending.sync()
                if commit:
                    commit()
                copies.give(sending)
        except OSError as error:
            raise failure(sending.at(prepared.name), error) from error
        finally:
            sending.drop(prepared.name)
            if fd >= 0:
                os.close(fd)
    base = (PROJECTS, prepared.project, AGENTS)
    return Delivered(
        tuple(tree.path(*base, agent, INBOX, prepared.name) for agent in to),
        tree.path(*base, _sender(prepared), OUTBOX, prepared.name) if copies.outbox else "",
    )


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
        return _mend_all(tree, project, sending, promised)


class _Copies:
    """Everybody's copy of a message: written under hidden names, then given under the message's. A context.

    Args:
        tree: The tree.
        prepared: The message.
        to: Who is to get one now.

    Attributes:
        outbox: Where the sender's copy goes; ``None`` where a person sent it.
    """

    def __init__(self, tree: Tree, prepared: Prepared, to: Sequence[str]) -> None:
        self._tree = tree
        self._prepared = prepared
        self._to = to
        self._hidden = f".{prepared.name}.tmp-{os.getpid()}-{os.urandom(3).hex()}"
        self._inboxes: list[Directory] = []
        self.outbox: Directory | None = None

    def __enter__(self) -> Self:
        prepared, sender = self._prepared, _sender(self._prepared)
        with ExitStack() as stack:
            self._stack = stack
            agents = stack.enter_context(self._tree.open(PROJECTS, prepared.project, AGENTS))
            if keeps_copies(self._tree, prepared.project, sender):
                agent = stack.enter_context(agents.inside(sender))
                self.outbox = stack.enter_context(agent.make(OUTBOX))
            for one in self._to:
                inbox = stack.enter_context(_inbox(agents, one))
                stack.callback(inbox.drop, self._hidden)
                os.close(inbox.write_new(self._hidden, prepared.raw))
                self._inboxes.append(inbox)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def give(self, sending: Directory) -> None:
        """Give everybody the message, and make the intent the outbox's copy; nobody has it where this fails."""
        name, given = self._prepared.name, []
        try:
            for inbox in self._inboxes:
                inbox.link(self._hidden, inbox, name)
                given.append(inbox)
                inbox.drop(self._hidden)
                inbox.sync()
            if self.outbox:
                _file(self.outbox, sending, name)
        except BaseException:
            for inbox in given:
                inbox.drop(name)
            raise


def _inbox(agents: Directory, agent: str) -> Directory:
    if not AGENT.fullmatch(agent):
        raise UsageError(f"{agent!r} is not the name of an agent", remedy=NAME_HELP)
    with agents.inside(agent) as place:
        return place.inside(INBOX)


def _file(outbox: Directory, sending: Directory, name: str) -> None:
    """Make the intent the outbox's copy. A power loss may take this back: then the intent is where it was."""
    # It may be there, by a sender that was killed right after: no other message has this name.
    if outbox.status(name) is None:
        # Whoever mends what another user sent leaves its mode alone.
        with suppress(PermissionError):
            os.chmod(name, outbox.file_mode(), dir_fd=sending.fd)
        os.rename(name, name, src_dir_fd=sending.fd, dst_dir_fd=outbox.fd)


def _intend(sending: Directory, prepared: Prepared) -> int:
    """Write the intent and return it open and locked: a mender takes what is locked for a live sender's."""
    hidden = f".{prepared.name}.{os.urandom(3).hex()}"
    fd = sending.write_new(hidden, prepared.raw)
    try:
        # Locked before it has the name that menders look for. Filesystems without locks have no menders either.
        with suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_EX)
        os.rename(hidden, prepared.name, src_dir_fd=sending.fd, dst_dir_fd=sending.fd)
    except BaseException:
        sending.drop(hidden)
        os.close(fd)
        raise
    return fd


def _mend_all(tree: Tree, project: str, sending: Directory, promised: Callable[[str], bool]) -> int:
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
        left = to[have[-1] + 1 :] if have else to
        with _Copies(tree, Prepared(project, name, found[0], fields), left) as copies:
            copies.give(sending)


def _has(tree: Tree, project: str, agent: str, name: str) -> bool:
    with suppress(NothingThere), tree.open(PROJECTS, project, AGENTS, agent, INBOX) as inbox:
        if inbox.status(name):
            return True
        with suppress(NothingThere), inbox.inside(ARCHIVE) as archive:
            return archive.status(name) is not None
    return False


def _sending(tree: Tree, project: str, mailbox: str) -> Directory:
    with tree.open(PROJECTS, project) as place, place.make(STATE) as state, state.make(OURS) as ours:
        if not mailbox:
            return ours.make(SENDING)
        with ours.make(mailbox) as agent:
            return agent.make(SENDING)


def _sender(prepared: Prepared) -> str:
    return str(prepared.fields["from"])


def _recipients(fields: dict[str, str | list[str]]) -> list[str]:
    to = fields["to"]
    return [to] if isinstance(to, str) else list(dict.fromkeys(to))
