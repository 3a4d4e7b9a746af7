"""Taking back what was posted to a session, before it was acknowledged."""

from __future__ import annotations

from typing import TYPE_CHECKING

from restante.domain.errors import Forbidden, MailboxDeleted, NoSuchMessage
from restante.domain.overview import Fate

if TYPE_CHECKING:
    from restante.domain.overview import Trace
    from restante.domain.registry import Identity
    from restante.ports.sessions import Boxes
    from restante.ports.teams import RoleBoxes


def withdraw(message_id: str, identity: Identity, boxes: Boxes | RoleBoxes) -> Trace:
    """Take back a message of the caller's own, and return what became of it. Taking back again changes nothing.

    Args:
        message_id: A whole id.
        identity: Who asks; a claim alone takes nothing back, since anybody could make it.
        boxes: Where mail is.

    Raises:
        Forbidden: Nothing proved who asks.
        NoSuchMessage: The caller posted no such message.
        MailboxDeleted: It went with its mailbox.
        IllegalStep: It was acknowledged or expired before.
    """
    if not identity.verified:
        raise Forbidden("nothing proved who wants a message back", remedy="ask as the one who posted it, proven")
    sender, owner = identity.sender.name, identity.owner
    found = boxes.traces(sender, owner, message_ids=[message_id])
    if not found:
        raise NoSuchMessage(f"you posted no message {message_id!r}", remedy="restante receipts")
    if found[0].fate is Fate.DELETED:
        raise MailboxDeleted(f"{message_id} went with the session it was posted to", remedy="nothing to do")
    boxes.box(found[0].to, owner).withdraw(message_id)
    return boxes.traces(sender, owner, message_ids=[message_id])[0]
