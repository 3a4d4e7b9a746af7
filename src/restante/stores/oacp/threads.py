"""Finding a message by its id, wherever its receiver or sender keeps it: inbox, outbox or archive."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from restante.domain.errors import NothingThere, RestanteError
from restante.stores.oacp.layout import ARCHIVE, INBOX, OUTBOX
from restante.stores.oacp.reading import MOST_BYTES, NotYaml, read_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from restante.stores.oacp.layout import Tree

_STAMPED = re.compile(r"msg-([0-9]{14})-")
_PLACES = ((INBOX,), (OUTBOX,), (INBOX, ARCHIVE))


class Found(NamedTuple):
    """A message that was looked for.

    Attributes:
        path: Where it is.
        raw: Its bytes.
        fields: What it says.
    """

    path: str
    raw: bytes
    fields: dict[str, object]


def find_message(
    tree: Tree, project: str, agent: str, message_id: str, *, accept: Callable[[bytes], bool] | None = None
) -> Found | None:
    """Return a message that an agent received or sent; ``None`` where it has none of this id.

    Args:
        tree: The tree.
        project: The project.
        agent: The agent.
        message_id: The message's id.
        accept: Whether the bytes of a received message may be believed; those that may not are passed over.

    Raises:
        NothingThere: The project or the agent is unknown.
    """
    tree.check_agent(project, agent)
    # An id begins with the second in which it was made, and so does its file's name: mostly one file is opened.
    stamp = match[1] if (match := _STAMPED.match(message_id)) else ""
    for near in (True, False) if stamp else (False,):
        for place in _PLACES:
            for found in _look(tree, project, agent, place, stamp, near=near):
                is_own = place == (OUTBOX,)
                if found.fields.get("id") == message_id and (is_own or accept is None or accept(found.raw)):
                    return found
    return None


def conversation_of(
    tree: Tree, project: str, agent: str, message_id: str, *, accept: Callable[[bytes], bool] | None = None
) -> str | None:
    """Return the conversation of a message, empty where it names none; ``None`` where there is no such message."""
    found = find_message(tree, project, agent, message_id, accept=accept)
    if found is None:
        return None
    conversation = found.fields.get("conversation_id")
    return conversation if isinstance(conversation, str) else ""


def _look(tree: Tree, project: str, agent: str, place: tuple[str, ...], stamp: str, *, near: bool) -> Iterator[Found]:
    try:
        directory = tree.open_agent(project, agent, *place)
    except NothingThere:
        return
    with directory:
        for name, _ in sorted(directory.messages(), reverse=True):
            if near and not name.startswith(stamp):
                continue
            try:
                found = directory.read(name, MOST_BYTES + 1)
                if found:
                    yield Found(directory.at(name), found[0], read_fields(found[0]))
            except (NotYaml, RestanteError):
                # What cannot be read cannot be what is looked for.
                continue
